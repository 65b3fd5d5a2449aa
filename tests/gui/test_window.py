"""The main job in the window by actions and object names: from an empty HOME to a written memory folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QListWidget, QTableView, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui import bootstrap_gui
from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import InboxDecision, StoreInboxDecisions
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.row_plans import InboxWish
from ltmem_gui.ui.bridge.excepthook import BugReporter
from ltmem_gui.ui.controller import Controller, WindowParts
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.main_window import PANELS, MainWindow
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.widgets.line_view import LineView
from tests.gui.builders import NOW, extract_plan
from tests.gui.conftest import LoopHarness
from tests.helpers.guard import Guard
from tests.helpers.waiting import PATIENCE_MS, until


@dataclass
class Desk:
    """A window on real adapters, and where it works."""

    window: MainWindow
    controller: Controller
    harness: LoopHarness
    reporter: BugReporter
    top: Path

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def root(self) -> Path:
        return self.top / "memory"

    def find(self, name: str) -> QWidget:
        found = self.window.findChild(QWidget, name)
        assert isinstance(found, QWidget), name
        return found

    def press(self, name: str) -> None:
        """Press a button by its object name and let the work end."""
        button = self.find(name)
        assert isinstance(button, QAbstractButton)
        self.harness.call(button.click)

    def act(self, id_: str) -> None:
        """Do an action by its id and let the work end."""
        assert self.window.registry.action(id_).isEnabled(), self.window.registry.action(id_).toolTip()
        self.harness.call(lambda: self.window.registry.trigger(id_))

    async def answer(self, name: str) -> ConfirmationSheet:
        """Press a button of the sheet once it is armed."""
        while True:
            sheet = self.window.findChild(ConfirmationSheet)
            if sheet is not None and sheet.yes_button.isEnabled():
                break
            await asyncio.sleep(0.01)
        button = sheet.findChild(QAbstractButton, name)
        assert isinstance(button, QAbstractButton)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        return sheet

    def act_and_answer(self, id_: str, name: str) -> None:
        """Do an action that asks, and answer."""

        async def both() -> None:
            registry = self.window.registry if id_ in {s.id for s in self.window.registry.specs} else None
            (registry or self.window.review.registry).trigger(id_)
            await self.answer(name)
            await asyncio.sleep(0)
            await self.harness.supervisor.idle()

        self.harness.run(both())


@pytest.fixture
def adapters() -> Iterator[Composition]:
    made = compose(None)
    yield made
    made.close()


@pytest.fixture
def desk(
    qtbot: QtBot,
    harness: LoopHarness,
    adapters: Composition,
    tmp_path: Path,
    guard: Guard,
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    monkeypatch.setattr(confirmation, "ARM_MS", 30)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    theme = Theme.load("light")
    theme.apply()
    operations = Operations(adapters)
    reporter = BugReporter()
    window = MainWindow(operations, harness.supervisor, theme)
    qtbot.addWidget(window)
    parts = WindowParts(
        operations=operations,
        supervisor=harness.supervisor,
        theme=theme,
        reporter=reporter,
        settings=Settings(),
        approver=lambda: "dev",
        demo=lambda top: bootstrap_gui.lay_demo_folder(adapters, top),
    )
    controller = Controller(window, parts)
    controller.workbench.folders_changed.connect(lambda folders: bootstrap_gui.use_home(adapters, folders))
    window.show()
    window.activateWindow()
    top = tmp_path / "desk"
    top.mkdir()
    adapters.lay_samples(top / "sessions", adapters.clock())
    guard.protect(top / "home", top / "memory", top / "sessions")
    return Desk(window, controller, harness, reporter, top)


def name_folders(desk: Desk) -> None:
    """Type the folders into the start page."""
    for name, path in (("sessions", desk.top / "sessions"), ("memory", desk.root), ("home", desk.home)):
        line = desk.find(f"folders.{name}")
        assert isinstance(line, QLineEdit)
        line.setFocus()
        line.clear()
        QTest.keyClicks(line, str(path))


def accept_everything(desk: Desk) -> None:
    """Decide every file of the review by its action."""
    review = desk.window.review
    for path in list(review.state.files):
        desk.harness.call(lambda path=path: review.open_file(path))
        desk.harness.call(lambda: review.registry.trigger("review.accept_file"))
    assert desk.window.sidebar.item(PANELS.index("review")).text() == "Review"


def files_below(root: Path) -> dict[str, bytes]:
    """Return every file of a memory folder but the baseline."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def test_first_launch_reads_and_writes_nothing(desk: Desk, guard: Guard) -> None:
    guard.watch(desk.top)
    for name in PANELS:
        desk.act(f"panel.{name}")
        assert desk.window.shown_panel == name
    desk.act("folders.open")
    name_folders(desk)
    desk.controller.name_folders(desk.window.folders.folders())
    assert desk.window.shown_panel == "queue"
    assert guard.reads == []
    assert not desk.home.exists()
    assert not desk.root.exists()
    assert not desk.window.registry.action("run.cancel").isEnabled()


def test_other_folders_wait_for_the_task_that_runs(desk: Desk) -> None:
    name_folders(desk)
    page = desk.window.folders
    page.demo.setText(str(desk.top / "demo"))
    assert page.go.isEnabled()
    desk.controller.workbench._set_run(RunState(RunPhase.EXTRACTING))
    assert not page.go.isEnabled()
    assert not page.open_demo.isEnabled()
    assert page._hint.text() == page.open_demo.toolTip() == "A task is running: wait until it is done, or cancel it."
    desk.controller.workbench._set_run(RunState(RunPhase.DONE))
    assert page.go.isEnabled()
    assert page.open_demo.isEnabled()
    assert page._hint.text() == ""


def test_from_an_empty_home_to_a_written_folder(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    assert desk.window.queue.model.rowCount() == 12
    states = {row.state.name for row in desk.window.queue.model.rows}
    assert {"queued", "sub-agent", "memory off"} <= states
    assert not desk.home.exists()

    desk.act_and_answer("run.start", "confirmation.cancel")
    assert not desk.home.exists()
    desk.act_and_answer("run.start", "confirmation.yes")
    assert not desk.reporter.reports, desk.reporter.reports
    assert desk.controller.workbench.run_state.phase is RunPhase.PLAN_READY
    assert desk.window.shown_panel == "review"
    assert not desk.root.exists()

    assert {row.state.name for row in desk.window.queue.model.rows} >= {"done", "nothing to keep"}
    assert "queued" not in {row.state.name for row in desk.window.queue.model.rows}
    review = desk.window.review
    assert not review.registry.action("review.apply").isEnabled()
    accept_everything(desk)
    named = desk.controller.workbench.folders
    desk.harness.call(lambda: desk.controller.name_folders(Folders(home=named.home)))
    assert review.state.plan is None
    assert desk.window.run_bar.run.text() == "Run…"
    desk.harness.call(lambda: desk.controller.name_folders(named))
    desk.act("run.scan")
    desk.act("run.consolidate")
    accept_everything(desk)
    desk.act_and_answer("review.apply", "confirmation.cancel")
    assert not desk.root.exists()
    desk.act_and_answer("review.apply", "confirmation.yes")
    assert (desk.root / "MEMORY.md").is_file()
    assert (desk.root / "memory_summary.md").read_bytes().startswith(b"v1\n")
    assert (desk.root / ".git").is_dir()
    assert desk.window.shown_panel == "history"
    assert desk.window.messages.text.startswith("Receipt no. 2:")

    desk.act("panel.citations")
    desk.harness.idle()
    table = desk.find("citations.table")
    assert isinstance(table, QTableView)
    assert table.model().rowCount() > 10
    assert desk.window.citations.evidence.marked_labels
    desk.act("run.start")
    assert desk.controller.workbench.run_state.phase is RunPhase.NOTHING_TO_DO
    assert desk.reporter.reports == ()
    same_as_the_other_surface(desk)


def test_the_last_apply_is_undone_by_a_plan_like_any_other(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    desk.act_and_answer("run.start", "confirmation.yes")
    accept_everything(desk)
    desk.act_and_answer("review.apply", "confirmation.yes")
    assert (desk.root / "MEMORY.md").is_file()
    assert desk.window.shown_panel == "history"
    desk.press("history.changes")
    written = desk.window.history.written
    assert written.isVisible()
    shown = written.model.document
    assert any("pnpm" in shown.row(at).text for at in range(shown.count))
    desk.press("history.undo")
    assert desk.window.shown_panel == "review"
    assert (desk.root / "MEMORY.md").is_file()
    accept_everything(desk)
    desk.act_and_answer("review.apply", "confirmation.yes")
    assert not (desk.root / "MEMORY.md").exists()
    assert desk.window.messages.text.startswith("Receipt no. 3:")
    assert desk.reporter.reports == ()


def test_rows_are_held_released_and_run_by_small_plans(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    queue = desk.window.queue
    registry = desk.window.registry
    done = next(row for row in queue.model.rows if row.title.startswith("Add a nullable"))
    queue.select_key(done.key)
    assert not registry.action("queue.hold").isEnabled()
    assert "exclude it instead" in registry.action("queue.hold").toolTip()
    desk.act_and_answer("queue.run_now", "confirmation.yes")
    assert queue.model.row_of(done.key).state.name == "done"  # type: ignore[union-attr]
    assert sum(row.state.name == "done" for row in queue.model.rows) == 1
    queue.select_key(done.key)
    desk.act_and_answer("queue.hold", "confirmation.cancel")
    assert queue.model.row_of(done.key).state.name == "done"  # type: ignore[union-attr]
    desk.act_and_answer("queue.hold", "confirmation.yes")
    assert queue.model.row_of(done.key).state.name == "held"  # type: ignore[union-attr]
    assert "hold" in desk.window.messages.text
    queue.table.selectAll()
    assert registry.action("queue.release").isEnabled()
    assert "one row at a time" in registry.action("queue.forget").toolTip()
    desk.act_and_answer("queue.release", "confirmation.yes")
    assert queue.model.row_of(done.key).state.name != "held"  # type: ignore[union-attr]
    assert "it is not held" in desk.window.messages._remedy.text()
    assert "it is not left out" in registry.action("queue.lift").toolTip()
    queue.select_key(done.key)
    desk.act_and_answer("queue.exclude", "confirmation.yes")
    queue.select_key(done.key)
    assert "it is left out already" in registry.action("queue.exclude").toolTip()
    desk.act_and_answer("queue.lift", "confirmation.yes")
    assert not registry.action("queue.lift").isEnabled()
    assert desk.reporter.reports == ()


def test_the_inbox_is_decided_by_keyboard_and_confirmed_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    operations = desk.window.review._operations
    lines = tuple(InboxLine(n, "t", f"maybe line {n}", n, "preference", 50 - n, NOW) for n in range(1, 5))
    asked: list[tuple[tuple[int, str, str], ...]] = []

    async def inbox(home: Path) -> tuple[InboxLine, ...]:
        return lines

    async def plan_inbox(request: Request, wishes: Sequence[InboxWish]) -> Plan:
        asked.append(tuple((wish.line_id, wish.decision, wish.text) for wish in wishes))
        decisions = tuple(
            InboxDecision(line_id=w.line_id, thread_id="t", decision=w.decision, quote="q", text=w.text) for w in wishes
        )
        effect = StoreInboxDecisions(count=len(decisions), decisions=decisions)
        return extract_plan(desk.home).model_copy(update={"kind": "apply", "effects": (effect,)}).sealed()

    monkeypatch.setattr(operations, "inbox", inbox, raising=False)
    monkeypatch.setattr(operations, "plan_inbox", plan_inbox, raising=False)
    name_folders(desk)
    desk.press("folders.scan")
    panel = desk.window.inbox
    assert desk.window.sidebar.item(PANELS.index("inbox")).text() == "Inbox   4"
    desk.act("panel.inbox")
    for key in (Qt.Key.Key_T, Qt.Key.Key_D, Qt.Key.Key_T, Qt.Key.Key_T):
        desk.harness.call(lambda key=key: QTest.keyClick(panel.list, key))
    desk.harness.call(lambda: QTest.keyClick(panel.list, Qt.Key.Key_U))
    panel.list.setCurrentItem(panel.list.topLevelItem(2))
    desk.harness.call(lambda: QTest.keyClick(panel.list, Qt.Key.Key_W))
    QTest.keyClicks(panel.words, "Deploy from the release branch")
    QTest.keyClick(panel.words, Qt.Key.Key_Return)
    assert panel.list.topLevelItem(2).text(1) == "Deploy from the release branch"
    assert panel.confirm.text() == "Confirm 3 decisions…"

    async def confirm() -> None:
        panel.confirm.click()
        await desk.answer("confirmation.cancel")
        await asyncio.sleep(0)
        await desk.harness.supervisor.idle()

    desk.harness.run(confirm())
    assert asked == [((1, "take", ""), (2, "drop", ""), (3, "reword", "Deploy from the release branch"))]
    assert len(panel.wishes) == 3


def test_an_inbox_line_is_shown_where_it_was_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    row = next(row for row in desk.window.queue.model.rows if row.title.startswith("Plot"))
    assert row.scanned is not None
    rollout = asyncio.run(desk.controller.workbench.operations.load_rollout(row.scanned.ref))
    line = next(item.line for item in rollout.items if item.role == "assistant")
    lines = tuple(InboxLine(n, t, "maybe", line, "fact", 50, NOW) for n, t in ((1, row.thread_id), (2, "elsewhere")))

    async def inbox(home: Path) -> tuple[InboxLine, ...]:
        return lines

    monkeypatch.setattr(desk.controller.workbench.operations, "inbox", inbox)
    desk.act("run.scan")
    panel = desk.window.inbox
    desk.act("panel.inbox")
    desk.act("inbox.rollout")
    text = desk.find("rollout.text")
    assert isinstance(text, LineView)
    assert text.marked_labels[0] == str(line)
    panel.list.setCurrentItem(panel.list.topLevelItem(1))
    desk.act("inbox.rollout")
    assert "not in the scan" in desk.window.messages.text


def test_the_empty_memory_is_explained(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    desk.act("why.open")
    page = desk.find("why")
    words = "\n".join(label.text() for label in page.findChildren(QLabel))
    assert "✓" in words
    assert "✕" in words
    page.close()


def same_as_the_other_surface(desk: Desk) -> None:
    """The facade alone, as the command line uses it, gives the same files from the same sessions."""
    home, root = desk.top / "home2", desk.top / "memory2"
    operations = desk.window.review._operations
    request = Request(home, root, (SourceSpec("codex", str(desk.top / "sessions")),), Settings())

    async def carry_out(plan: Plan) -> None:
        assert plan.state is not PlanState.EMPTY
        grant = await operations.approve(plan, all_accepted(plan), approver="dev", surface="command line")
        await operations.apply(grant, cancel=CancelToken(), listen=ignore)

    async def main() -> None:
        await carry_out(await operations.plan_extract(request, cancel=CancelToken(), listen=ignore))
        await carry_out(await operations.plan_consolidate(request, cancel=CancelToken(), listen=ignore))

    desk.harness.run(main())
    assert files_below(root) == files_below(desk.root)


def test_the_demo_opens_in_a_folder_of_its_own(desk: Desk, tmp_path: Path) -> None:
    line = desk.find("folders.demo")
    assert isinstance(line, QLineEdit)
    line.setText(str(tmp_path / "demo"))
    desk.press("folders.open_demo")
    assert desk.controller.workbench.folders.demo
    assert desk.window.queue.model.rowCount() == 12
    assert (tmp_path / "demo").stat().st_mode & 0o777 == 0o700
    desk.act("folders.open")
    desk.press("folders.open_demo")
    assert "the folder exists" in desk.window.messages.text


def test_known_errors_stand_in_the_bar_and_bugs_in_a_report(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Folders((SourceSpec("codex", str(desk.top / "missing")),), desk.root, desk.home)
    desk.controller.name_folders(missing)
    desk.act("run.scan")
    assert "missing" in desk.window.messages.text
    assert desk.controller.workbench.run_state.phase is RunPhase.FAILED
    desk.press("message_bar.close")
    assert desk.window.messages.text == ""

    async def explode(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(desk.controller.workbench.operations, "scan", explode, raising=False)
    desk.act("run.scan")
    report = desk.find("error_report")
    assert report.isVisible()
    desk.act("run.scan")
    assert len(desk.reporter.reports) == 1
    report.close()
    assert desk.window.isVisible()


def test_keys_open_what_they_name(desk: Desk) -> None:
    desk.window.queue.table.setFocus()
    QTest.keyClick(desk.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.shown_panel == "citations"

    def open_and_choose() -> None:
        desk.window.registry.trigger("palette.open")

    async def palette() -> None:
        open_and_choose()
        await until(lambda: desk.window.findChild(QWidget, "palette.line"), "the palette")
        line = desk.find("palette.line")
        QTest.keyClicks(line, "receipts")
        listed = desk.find("palette.list")
        assert isinstance(listed, QListWidget)
        assert listed.count() == 1
        QTest.keyClick(line, Qt.Key.Key_Down)
        QTest.keyClick(line, Qt.Key.Key_Return)
        await asyncio.sleep(0)
        await desk.harness.supervisor.idle()

    desk.harness.run(palette())
    assert desk.window.shown_panel == "history"
    for id_ in ("keys.open", "about.open"):
        desk.act(id_)
        dialog = desk.find(id_.split(".")[0])
        assert dialog.isVisible()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert not dialog.isVisible()


def test_the_queue_by_keyboard(qtbot: QtBot, desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    window = desk.window
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is window.queue.filter
    QTest.keyClicks(window.queue.filter, "state:sub")
    assert window.queue.model.rowCount() == 1
    QTest.keyClick(window.queue.filter, Qt.Key.Key_Return)
    QTest.keyClick(window.queue.table, Qt.Key.Key_Down)
    assert "sub-agent" in window.queue.detail._reason.text()
    desk.harness.call(lambda: QTest.keyClick(window.queue.table, Qt.Key.Key_I))
    assert QApplication.clipboard().text() == window.queue.current_row().thread_id  # type: ignore[union-attr]
    desk.harness.call(lambda: QTest.keyClick(window.queue.table, Qt.Key.Key_L))
    rollout = desk.find("rollout")
    assert rollout.isVisible()
    rollout.close()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=PATIENCE_MS)
    QTest.keyClick(window.queue.table, Qt.Key.Key_Return)
    assert QApplication.focusWidget().objectName() == "queue.detail.rules"
    window.queue._on_menu_requested(window.queue.table.rect().center())
    menu = window.queue.findChild(QWidget, "queue.menu")
    assert menu.isVisible()
    menu.close()


def test_selection_is_kept_by_key(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    queue = desk.window.queue
    key = queue.model.row_at(6).key  # type: ignore[union-attr]
    queue.select_key(key)
    queue.table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    assert queue.current_row().key == key  # type: ignore[union-attr]
    desk.act("run.scan")
    assert queue.current_row().key == key  # type: ignore[union-attr]
    queue.filter.setText("state:sub-agent")
    assert queue.current_row() is None or queue.current_row().key != key  # type: ignore[union-attr]


def test_every_focusable_widget_has_a_name(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    nameless: list[str] = []
    for panel in (*PANELS, "folders"):
        desk.window.show_panel(panel)
        nameless += [
            f"{panel}: {type(widget).__name__} {widget.objectName()}"
            for widget in desk.window.findChildren(QWidget)
            if widget.isVisible()
            and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not widget.accessibleName()
            and not (isinstance(widget, QAbstractButton) and widget.text())
            and not _is_inner(widget)
        ]
    assert not nameless, nameless


def _is_inner(widget: QWidget) -> bool:
    """Scroll bars, viewports and headers belong to the view that is named."""
    parent = widget.parentWidget()
    return parent is not None and (
        type(widget).__name__ in ("QHeaderView", "QScrollBar", "QTableCornerButton", "QSplitter", "QStackedWidget")
        or (parent.objectName().startswith("qt_scrollarea"))
    )


def test_no_key_has_two_meanings(desk: Desk) -> None:
    seen: dict[tuple[str, str], str] = {}
    for registry in (desk.window.registry, desk.window.review.registry):
        for spec in registry.specs:
            for key in registry.action(spec.id).shortcuts():
                place = (spec.context, key.toString(QKeySequence.SequenceFormat.PortableText))
                assert place not in seen, (place, seen[place], spec.id)
                seen[place] = spec.id


def test_both_schemes_and_small_windows_hold(desk: Desk) -> None:
    name_folders(desk)
    desk.press("folders.scan")
    desk.window.resize(960, 600)
    desk.act("theme.toggle")
    for name in (*PANELS, "folders"):
        desk.window.show_panel(name)
        assert not desk.window.grab().isNull()
    desk.act("theme.toggle")


def test_closing_asks_nothing_and_hands_over(desk: Desk) -> None:
    reasons: list[str] = []
    desk.window.closed.connect(reasons.append)
    desk.window.close()
    assert reasons == ["window closed"]
    assert desk.window.isVisible()


def test_home_comes_from_the_system_only_as_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert bootstrap_gui.default_home() == tmp_path / "data" / "ltmem"
    assert not (tmp_path / "data").exists()
    monkeypatch.setattr("getpass.getuser", _no_user)
    assert bootstrap_gui.person() == "unknown"
    assert not bootstrap_gui.fresh_demo_name().exists()
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"


def _no_user() -> str:
    raise OSError("no such user")
