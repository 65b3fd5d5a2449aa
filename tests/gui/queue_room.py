"""A whole window over operations that answer from memory: for tests of the queue."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from ltmem_gui.bootstrap import compose
from ltmem_gui.domain.events import Event
from ltmem_gui.domain.jobs import STAGE1_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.audit_operations import AuditOperations
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.ui.bridge.excepthook import BugReporter
from ltmem_gui.ui.controller import Controller, WindowParts
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Scheme, Theme
from ltmem_gui.workspace.window_file import WindowFile
from tests.gui.builders import NOW, FakeOperations, scanned
from tests.gui.conftest import LoopHarness
from tests.helpers.waiting import PATIENCE_MS


class QueueRoom:
    """A window with a scanned queue of three rollouts."""

    def __init__(
        self, qtbot: QtBot, harness: LoopHarness, top: Path, scheme: Scheme = "light", *, real: bool = False
    ) -> None:
        self.harness = harness
        self.home, self.root = top / "home", top / "memory"
        self.adapters = compose(None)
        self.fake = FakeOperations(self.home, self.root)
        self.fake.adapters = self.adapters  # type: ignore[attr-defined]
        self.fake.audit = AuditOperations(self.adapters)  # type: ignore[attr-defined]
        theme = Theme.load(scheme)
        theme.apply()
        operations = Operations(self.adapters) if real else self.fake
        self.window = MainWindow(operations, harness.supervisor, theme)  # type: ignore[arg-type]
        if not real:
            self.window.queue._clock = lambda: NOW
            self.window.queue.model._clock = lambda: NOW
        self._qtbot = qtbot
        qtbot.addWidget(self.window)
        self.controller = Controller(self.window, _parts(operations, harness, theme))
        self.window.resize(1280, 800)
        self.window.show()
        self.window.activateWindow()
        folders = Folders((SourceSpec("codex", str(top / "sessions") if real else "/sessions"),), self.root, self.home)
        harness.call(lambda: self.controller.name_folders(folders))
        self.fake.calls.clear()
        self.queue = self.window.queue
        self.said: list[str] = []
        self.queue.announcer.said.connect(self.said.append)

    def close(self) -> None:
        """End what was started."""
        self.adapters.close()

    def scan(self) -> None:
        self.act("run.scan")

    def act(self, id_: str) -> None:
        """Do an action by its id and let the work end."""
        action = self.window.registry.action(id_)
        assert action.isEnabled(), action.toolTip()
        self.harness.call(lambda: self.window.registry.trigger(id_))
        self.settle()

    def tip(self, id_: str) -> str:
        return self.window.registry.action(id_).toolTip()

    def tell(self, *events: Event) -> None:
        self.queue.take_events(events)
        self.settle()

    def settle(self) -> None:
        """Let the detail follow, which it does in a turn of its own."""
        self._qtbot.waitUntil(lambda: not self.queue._retold.isActive(), timeout=PATIENCE_MS)

    def facts(self) -> dict[str, str]:
        """Return the facts of the detail as they are shown."""
        self.settle()
        return dict(self.queue.detail._facts.facts)

    def dialog(self, name: str) -> QDialog:
        found = self.window.findChild(QDialog, name)
        assert isinstance(found, QDialog), name
        return found

    def picture(self, name: str, folder: Path) -> Path:
        """Grab the window as it is."""
        QApplication.processEvents()
        path = folder / f"{name}.png"
        assert self.window.grab().save(str(path))
        return path


def _parts(operations: FakeOperations | Operations, harness: LoopHarness, theme: Theme) -> WindowParts:
    async def demo(top: Path) -> Request:
        await asyncio.sleep(0)
        raise AssertionError(top)

    return WindowParts(
        operations=operations,  # type: ignore[arg-type]
        supervisor=harness.supervisor,
        theme=theme,
        reporter=BugReporter(),
        settings=Settings(),
        approver=lambda: "dev",
        demo=demo,
        layout=WindowFile(),
    )


def job(number: int, status: JobStatus, *attempts: Attempt, **more: object) -> JobRecord:
    """Return the job of a scanned rollout."""
    return JobRecord(STAGE1_KIND, scanned(number).id, status, attempts=attempts, **more)  # type: ignore[arg-type]
