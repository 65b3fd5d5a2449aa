"""The window mid-run as a program: it names folders, confirms an extraction that never ends, and waits to be closed.

Arguments: sessions, data folder, memory folder, and `real` for the real limits of time.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from ltmem_gui import bootstrap_gui
from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.domain.events import JobStarted
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.ui import application
from ltmem_gui.ui.application import Running
from ltmem_gui.ui.bridge import shutdown
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from tests.helpers.waiting import PATIENCE_SECONDS

TASKS: set[asyncio.Task[None]] = set()


class Endless:
    """An extractor that never answers."""

    mark = ProviderMark(name="builtin", label="never answers")

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        """Wait for ever."""
        await asyncio.sleep(3_600)
        raise AssertionError


class SlowComposition(Composition):
    """The real adapters with the endless extractor."""

    def extractor(self, provider: str, settings_model: str) -> Endless:
        """Return it."""
        return Endless()


def be_patient(running: Running) -> None:
    """Take the limits of closing away: that work is given back must not depend on how fast the machine is."""
    bootstrap_gui.EXIT_LIMIT_SECONDS = shutdown.GRACE_SECONDS = running.shutdown._limit = PATIENCE_SECONDS


async def confirm(running: Running) -> None:
    """Press yes as soon as it can be pressed."""
    while True:
        await asyncio.sleep(0.02)
        sheet = running.window.findChild(ConfirmationSheet)
        if sheet is not None and sheet.yes_button.isEnabled():
            sheet.yes_button.click()
            return


def started(running: Running) -> None:
    """Press Run and tell the parent when jobs run."""

    def tell(events: tuple[object, ...]) -> None:
        if any(isinstance(event, JobStarted) for event in events):
            print("running", flush=True)

    running.controller.workbench.events_arrived.connect(tell)
    TASKS.add(asyncio.get_running_loop().create_task(confirm(running)))
    running.window.registry.trigger("run.start")


def main(argv: list[str]) -> int:
    """Run the window as the program does."""
    sessions, home, root = map(Path, argv[:3])

    def begin(running: Running) -> None:
        if argv[3:] != ["real"]:
            be_patient(running)
        started(running)

    adapters = SlowComposition(home, eager_workers=False)
    options = WindowOptions(home, root, (SourceSpec("codex", str(sessions)),), Settings())
    app = application.make_application(["ltmem-gui"])
    return application.run(app, replace(bootstrap_gui.application_options(adapters, options), started=begin))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
