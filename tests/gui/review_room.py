"""A review panel in a window, with its keys and with operations that answer from memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.consent import Decision, Selection
from ltmem_gui.domain.errors import WorkspaceMoved
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, RolloutRef
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.ui.panels.review import ReviewPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.conftest import LoopHarness
from tests.helpers.reviews import plan_of_files
from tests.helpers.waiting import PATIENCE_MS, wait_for

A, X, U, E = Decision.ACCEPT, Decision.REJECT, Decision.UNDECIDED, Decision.EDITED
K = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@dataclass
class FakeOperations:
    """Answer what the panel asks for, and keep what was asked."""

    base: dict[str, bytes] = field(default_factory=dict)
    after: tuple[Finding, ...] = ()
    moved: bool = False
    looked: int = 0
    checked: list[Selection] = field(default_factory=list)
    read: list[Path] = field(default_factory=list)

    async def read_folder(self, root: Path) -> WorkspaceSnapshot:
        self.read.append(root)
        files = {path: WorkspaceFile(path, data, 0o644) for path, data in self.base.items()}
        return WorkspaceSnapshot(str(root), True, files, None, {})

    async def check(self, plan: Plan, selection: Selection) -> tuple[Finding, ...]:
        self.checked.append(selection)
        if self.moved:
            raise WorkspaceMoved("the memory folder moved: MEMORY.md")
        return self.after

    async def require_unmoved(self, plan: Plan) -> None:
        self.looked += 1
        if self.moved:
            raise WorkspaceMoved("the memory folder moved: MEMORY.md")

    async def load_rollout(self, ref: RolloutRef) -> Rollout:
        items = (
            RolloutItem("user", "message", "never use npm\nalways pnpm", line=9),
            RolloutItem("assistant", "message", "noted", line=11),
        )
        return Rollout(id="t1", agent="codex", path=ref.path, items=items)


@dataclass
class Room:
    """A panel in a window, with its keys."""

    panel: ReviewPanel
    operations: FakeOperations
    harness: LoopHarness
    asked: list[tuple[Plan, Selection]]

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key, modifier)

    def call(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.harness.call(lambda: self.press(key, modifier))

    @property
    def decisions(self) -> list[Decision]:
        review = self.panel.state.review
        assert review is not None
        return [review.mark(unit.key).decision for unit in review.deciding]

    def row_of(self, text: str) -> int:
        document = self.panel.model.document
        return next(at for at in range(document.count) if document.row(at).text == text)


def make_room(harness: LoopHarness, qtbot: QtBot) -> Iterator[Room]:
    theme = Theme.load("light")
    theme.apply()
    operations = FakeOperations()
    panel = ReviewPanel(operations, harness.supervisor, theme)  # type: ignore[arg-type]
    qtbot.addWidget(panel)
    asked: list[tuple[Plan, Selection]] = []
    panel.apply_requested.connect(asked.append)
    panel.resize(1112, 720)
    panel.show()
    panel.activateWindow()
    QTest.qWaitForWindowActive(panel, PATIENCE_MS)
    yield Room(panel, operations, harness, asked)
    QGuiApplication.clipboard().clear()


def load(room: Room, before: Any, after: Any, findings: Any = ()) -> Plan:
    plan, base = plan_of_files(before, after, findings)
    room.operations.base = base
    room.panel.load(plan, base)
    room.panel.focus_diff()
    return plan


def child(panel: QWidget, name: str) -> QWidget:
    found = panel.findChild(QWidget, name)
    assert isinstance(found, QWidget), name
    return found


def activate(window: QWidget) -> None:
    """Make a window the active one, as a window manager does."""
    window.activateWindow()
    # What Qt itself waits for is true as soon as the window it belongs to is active.
    wait_for(lambda: QApplication.processEvents() or window.isActiveWindow(), "an active window")
