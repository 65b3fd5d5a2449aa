"""Render every panel of the window with the demo's data, in both schemes, at one and two times the size.

Works without a display. Everything happens in a private temporary folder that is removed at the end.
"""

from __future__ import annotations

import os
import sys

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.setdefault("QT_API", "pyside6")

import argparse
import asyncio
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "packaging"))

from picture_model import MODEL, picture_model  # noqa: E402
from PySide6.QtWidgets import QToolButton, QWidget  # noqa: E402

from ltmem_gui.domain.model_choice import ModelChoice  # noqa: E402
from ltmem_gui.domain.review import all_accepted  # noqa: E402
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet  # noqa: E402
from ltmem_gui.ui.dialogs.provider import ProviderPage  # noqa: E402
from ltmem_gui.ui.models.agent_work import Wish  # noqa: E402

if TYPE_CHECKING:
    from ltmem_gui.ui.application import Running
    from ltmem_gui.ui.main_window import MainWindow

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SCALES = (1, 2)
SIZE = (1280, 800)
TIMEOUT_SECONDS = 120


def main(argv: list[str]) -> int:
    """Render at both sizes, each in a process of its own: Qt reads the scale once."""
    parser = argparse.ArgumentParser(description="Render every panel of the window with the demo's data.")
    parser.add_argument("out", nargs="?", default=Path("screenshots"), type=Path, help="where the pictures go")
    parser.add_argument("--scale", type=int, choices=SCALES, help="this size only")
    asked = parser.parse_args(argv)
    out = asked.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    if asked.scale is not None:
        os.environ |= {"QT_SCALE_FACTOR": str(asked.scale), "LTMEM_REDACTOR": "layer"}
        return render(out, asked.scale)
    runs = [subprocess.Popen([sys.executable, __file__, str(out), "--scale", str(scale)]) for scale in SCALES]
    codes = [run.wait(TIMEOUT_SECONDS) for run in runs]
    names = sorted(path.name for path in out.glob("*.png"))
    print(f"{len(names)} pictures in {out}")
    return max(codes)


def render(out: Path, scale: int) -> int:
    """Run the demo in the window and take the pictures of one scale."""
    from ltmem_gui import bootstrap_gui
    from ltmem_gui.bootstrap import compose
    from ltmem_gui.pipeline.operations import Operations
    from ltmem_gui.ui import application

    with tempfile.TemporaryDirectory(prefix="ltmem-pictures-") as folder:
        adapters = compose(None)
        app = application.make_application(sys.argv[:1])
        tour = Tour(out, scale, Path(folder) / "ltmem-demo")
        options = application.ApplicationOptions(
            operations=Operations(adapters),
            demo=lambda top: bootstrap_gui.lay_demo_folder(adapters, top),
            approver=lambda: "demo",
            demo_hint="/tmp/ltmem-demo",
            scheme="light",
            close=lambda: bootstrap_gui.close_adapters(adapters),
            folders_named=lambda folders: bootstrap_gui.use_home(adapters, folders),
            started=tour.start,
        )
        application.run(app, options)
    return tour.code


class Tour:
    """Walk through the window as a person would, and picture what is seen."""

    def __init__(self, out: Path, scale: int, demo: Path) -> None:
        self.code = 1
        self._out = out
        self._scale = scale
        self._demo = demo
        self._task: asyncio.Task[None] | None = None

    def start(self, running: Running) -> None:
        """Begin once the window is shown."""
        self._task = asyncio.get_running_loop().create_task(self._walk(running))

    async def _walk(self, running: Running) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await self._visit(running)
            self.code = 0
        finally:
            running.shutdown.request("pictures taken")

    async def _visit(self, running: Running) -> None:
        window, controller = running.window, running.controller
        window.resize(*SIZE)
        await self._shoot(running, "start", window)
        window.folders.demo_asked.emit(self._demo)
        await running.supervisor.idle()
        self._select(window, "queued")
        await self._shoot(running, "queue", window)
        window.registry.trigger("run.start")
        await self._confirm(running, "confirm-extract")
        await running.supervisor.idle()
        await self._shoot(running, "review", window)
        plan = controller.workbench.plan
        assert plan is not None, controller.workbench.run_state
        window.review.apply_requested.emit((plan, all_accepted(plan)))
        await self._confirm(running, "confirm-apply")
        await running.supervisor.idle()
        await self._shoot(running, "history", window)
        window.messages.dismiss()
        controller.workbench.scan()
        await running.supervisor.idle()
        for name in ("citations", "memory", "inbox", "queue"):
            window.show_panel(name)
            await running.supervisor.idle()
            if name == "queue":
                self._select(window, "done")
            await self._shoot(running, "queue-done" if name == "queue" else name, window)
        for name in ("why", "keys"):
            window.registry.trigger(f"{name}.open")
            await asyncio.sleep(0.05)
            page = window.findChild(QWidget, name)
            assert page is not None
            await self._shoot(running, name, page)
            page.close()

        await self._visit_model(running)

    async def _visit_model(self, running: Running) -> None:
        """Choose a model, and let its agent work."""
        window, bench = running.window, running.controller.workbench
        bench.choose_model(ModelChoice(extract="ollama", consolidate="ollama", extract_model=MODEL))
        window.registry.trigger("provider.open")
        await asyncio.sleep(0.1)
        page = window.findChild(ProviderPage)
        assert page is not None
        await self._shoot(running, "provider", page)
        page.reject()
        await running.supervisor.idle()
        with picture_model() as url:
            choice = ModelChoice(consolidate="ollama", provider_url=url, extract_model=MODEL)
            bench.choose_model(choice)
            bench.regenerate(Wish(note="Say the summary in half the words."))
            await self._confirm(running, "confirm-agent")
            await running.supervisor.idle()
        window.show_panel("review")
        window.agent.view.table.selectRow(4)
        await self._shoot(running, "transcript", window)

    async def _confirm(self, running: Running, name: str) -> None:
        sheet = await self._armed_sheet(running)
        for toggle in sheet.findChildren(QToolButton, "confirmation.details")[:1]:
            toggle.setChecked(True)
        await self._shoot(running, name, sheet)
        (await self._armed_sheet(running)).yes_button.click()
        await asyncio.sleep(0.02)

    async def _armed_sheet(self, running: Running) -> ConfirmationSheet:
        while True:
            sheet = running.window.findChild(ConfirmationSheet)
            if sheet is not None and sheet.yes_button.isEnabled():
                return sheet
            await asyncio.sleep(0.02)

    def _select(self, window: MainWindow, state: str) -> None:
        for position in range(window.queue.model.rowCount()):
            row = window.queue.model.row_at(position)
            if row is not None and row.state.name.startswith(state):
                window.queue.select_key(row.key)
                return

    async def _shoot(self, running: Running, name: str, widget: QWidget) -> None:
        theme = running.window.theme
        for scheme in SCHEMES:
            theme.set_scheme(scheme)
            await asyncio.sleep(0.03)
            path = self._out / f"{name}-{scheme}-{self._scale}x.png"
            if not widget.grab().save(str(path)):
                raise OSError(f"cannot write {path}")
        theme.set_scheme("light")
        await asyncio.sleep(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
