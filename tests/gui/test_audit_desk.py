"""The desk: one confirmation, then verdicts by keyboard alone, each stored; undo, skip, resume and repairs."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.audit import Support
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import KnownError, RedactionFailed
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.bridge.excepthook import BugReporter
from ltmem_gui.ui.controller import Controller, WindowParts
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.citation_table import VERDICT_COLUMN
from ltmem_gui.ui.models.sittings import AuditPowers
from ltmem_gui.ui.models.workbench import Folders, Notice, Seen
from ltmem_gui.ui.panels.citations import CitationsPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.conftest import LoopHarness
from tests.helpers.bench import NOW, Bench
from tests.helpers.guard import Guard

COUNT = 120


@dataclass
class Table:
    """A citations panel on real adapters; `answer` is what the person says to the confirmation."""

    panel: CitationsPanel
    bench: Bench
    harness: LoopHarness
    answer: bool = True
    asked: list[Plan] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    errors: list[KnownError] = field(default_factory=list)

    async def confirm(self, plan: Plan, selection: Selection) -> bool:
        self.asked.append(plan)
        return self.answer

    def press(self, *keys: Qt.Key | str) -> None:
        """Press keys one after the other where the keyboard is, with time to store in between."""
        for key in keys:
            code = getattr(Qt.Key, f"Key_{key}") if isinstance(key, str) else key
            self.harness.call(lambda code=code: QTest.keyClick(self.panel.focusWidget(), code))

    def type(self, text: str) -> None:
        """Type where the keyboard is."""
        self.harness.call(lambda: QTest.keyClicks(self.panel.focusWidget(), text))

    def click(self, name: str) -> None:
        button = self.panel.desk.findChild(QPushButton, name)
        assert button is not None, name
        self.harness.call(button.click)

    def begin(self, **fields: str) -> None:
        self.click("audit.open")
        for name, text in fields.items():
            getattr(self.panel.desk, name).setText(text)
        self.click("audit.begin")

    def records(self) -> tuple[VerdictRecord, ...]:
        with self.bench.stores.reading(self.bench.home) as store:
            return store.verdicts()


def write_folder(bench: Bench, count: int) -> None:
    """Write claims that each cite one line of one summary; one of them cites it from far away."""
    summaries = bench.memory / "rollout_summaries"
    summaries.mkdir(parents=True)
    lines = [f"- fact number {number} was said in the session" for number in range(1, count + 1)]
    (summaries / "a.md").write_text("\n".join(lines) + "\n")
    (bench.memory / "memory_summary.md").write_text("v1\n")
    bullets = [f"- fact number {number} holds here [c{number}]" for number in range(1, count + 1)]
    cited = [f"rollout_summaries/a.md:{n}-{n} |note=[c{n} said]" for n in range(1, count + 1)]
    rows = ["# Task Group: app", "scope: x", "", "## User preferences", *bullets, ""]
    rows += ["<citation_entries>", *cited, "</citation_entries>", ""]
    (bench.memory / "MEMORY.md").write_text("\n".join(rows))


@pytest.fixture
def table(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard) -> Iterator[Table]:
    bench = Bench(tmp_path)
    write_folder(bench, COUNT)
    guard.protect(bench.home, bench.memory)
    theme = Theme.load()
    panel = CitationsPanel(Operations(bench), harness.supervisor, theme, ActionRegistry(theme.icon))
    qtbot.addWidget(panel)
    panel.resize(1180, 720)
    made = Table(panel, bench, harness)
    panel.session._clock = lambda: NOW
    panel.session.lend(AuditPowers(lambda: bench.request(sources=()), made.confirm, lambda: "ann"))
    panel.session.plan_made.connect(made.plans.append)
    panel.session.noticed.connect(made.notices.append)
    harness.supervisor.known_raised.connect(made.errors.append)
    panel.show()
    panel.activateWindow()
    panel.table.setFocus()
    harness.call(lambda: panel.show_seen(Seen(snapshot=bench.workspace.read(bench.memory))))
    yield made
    panel.desk._timer.stop()
    panel.hide()


def test_a_hundred_verdicts_by_keyboard_alone(table: Table) -> None:
    before = (table.bench.memory / "MEMORY.md").read_bytes()
    table.begin()
    assert table.panel.session.is_open
    keys = "1234" * 25
    table.press(*keys)
    records = table.records()
    assert len(records) == 100
    assert [record.verdict for record in records[:4]] == ["supports", "partly", "does not support", "wrong place"]
    assert {record.rater for record in records} == {"ann"}
    assert len({record.item for record in records}) == 100
    assert table.panel.desk._progress.text() == f"100 of {COUNT} judged"
    assert len(table.asked) == 1
    assert (table.bench.memory / "MEMORY.md").read_bytes() == before
    table.panel.desk.show_coverage()
    assert "Supported: 25 of 100" in table.panel.desk._coverage.full_text
    table.click("audit.end")
    assert not table.panel.session.is_open
    assert table.notices[-1].text.startswith("The sitting has ended: 100 of 120 judged; 100 records stored")
    with table.bench.stores.reading(table.bench.home) as store:
        assert store.receipts()[-1].counts == {"verdicts": 100, "places_kept": COUNT}


def test_the_list_follows_the_verdicts_and_the_desk_follows_the_list(table: Table) -> None:
    table.begin()
    assert table.panel.desk._claim.full_text == "Claim: fact number 1 holds here"
    assert table.panel.evidence.marked_labels == ("1",)
    table.press("1")
    assert table.panel.table.currentIndex().row() == 1
    assert table.panel.evidence.marked_labels == ("2",)
    table.press("Down", "Down")
    assert table.panel.desk._claim.full_text == "Claim: fact number 4 holds here"
    table.press("2")
    assert [record.verdict for record in table.records()] == ["supports", "partly"]
    table.harness.call(lambda: table.panel.filter.setText("a.md:9-9"))
    table.press("1", "1")
    assert table.panel.filter.text() == ""
    table.click("audit.end")


def test_the_list_shows_and_filters_verdicts(table: Table) -> None:
    model, view = table.panel.model, table.panel.table
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert view.isColumnHidden(VERDICT_COLUMN)
    table.begin()
    table.press("1", "3", "3", "Z")
    assert not view.isColumnHidden(VERDICT_COLUMN)
    assert [model.index(row, VERDICT_COLUMN).data() for row in range(4)] == [
        "supports", "does not support", "pending", "pending",
    ]  # fmt: skip
    table.harness.call(lambda: table.panel.filter.setText("does not"))
    assert model.rowCount() == 1
    table.harness.call(lambda: table.panel.filter.setText("pending"))
    assert model.rowCount() == COUNT - 2
    table.press("1")
    table.harness.call(lambda: table.panel.filter.setText("a.md:11"))
    table.press("1", "1")
    assert table.panel.desk._claim.full_text == "Claim: fact number 111 holds here"
    assert table.panel.filter.text() == "a.md:11"
    table.harness.call(table.panel.filter.clear)
    model.sort(VERDICT_COLUMN)
    assert model.index(0, VERDICT_COLUMN).data() == "does not support"
    model.sort(-1)
    table.click("audit.end")
    assert view.isColumnHidden(VERDICT_COLUMN)
    assert model.index(0, VERDICT_COLUMN).data() == ""
    del tester


def test_hints_can_be_filtered_where_they_may_be_seen(table: Table, guard: Guard) -> None:
    with guard.grant():
        path = table.bench.memory / "MEMORY.md"
        path.write_text(path.read_text().replace("[c7 said]", "[c7]"))
    table.harness.call(lambda: table.panel.show_seen(Seen(snapshot=table.bench.workspace.read(table.bench.memory))))
    for blind, shown in ((True, 0), (False, 1)):
        table.click("audit.open")
        table.panel.desk.blind.setChecked(blind)
        table.click("audit.begin")
        table.harness.call(lambda: table.panel.filter.setText("empty note"))
        assert table.panel.model.rowCount() == shown
        table.harness.call(table.panel.filter.clear)
        table.click("audit.end")


def test_notes_skip_and_undo_by_keyboard(table: Table) -> None:
    table.begin(rater="bob")
    table.press("T")
    table.type("12 half of it")
    assert table.records() == ()
    table.press("Return", "2", "S", "5")
    assert [(record.verdict, record.note) for record in table.records()] == [
        ("partly", "12 half of it"), ("cannot judge", ""),
    ]  # fmt: skip
    assert table.panel.desk._progress.text() == f"2 of {COUNT} judged, 1 skipped"
    table.press("Z", "Z")
    assert [record.verdict for record in table.records()][2:] == ["undo", "undo"]
    assert table.panel.desk._claim.full_text == "Claim: fact number 1 holds here"
    table.press("Z")
    assert len(table.records()) == 4
    table.click("audit.end")


def test_a_sitting_is_resumed_where_it_was_left(table: Table) -> None:
    table.begin()
    table.press("1", "1")
    table.click("audit.end")
    table.begin()
    assert table.panel.desk._claim.full_text == "Claim: fact number 3 holds here"
    assert table.panel.desk._progress.text() == f"2 of {COUNT} judged"
    table.click("audit.end")
    table.begin(rater="bob")
    assert table.panel.desk._progress.text() == f"0 of {COUNT} judged"
    assert table.panel.session.others == ()
    assert table.panel.session.hints == ""
    table.press("3", "Up")
    assert "You said: does not support · ann: supports · Hints, not verdicts: " in table.panel.desk._said.full_text
    table.click("audit.end")


def test_what_raters_differ_in_is_settled_by_a_third(table: Table) -> None:
    for rater, keys in (("ann", "1123"), ("bob", "1213")):
        table.begin(rater=rater)
        table.press(*keys)
        table.click("audit.end")
    table.click("audit.open")
    desk = table.panel.desk
    desk.method.setCurrentIndex(3)
    assert desk.blind.isHidden()
    desk.rater.setText("judge")
    table.click("audit.begin")
    assert desk._progress.text() == "0 of 2 judged"
    assert desk._claim.full_text == "Claim: fact number 2 holds here"
    assert desk._said.full_text.startswith("ann: supports · bob: partly")
    table.press("2", "1")
    assert [record.verdict for record in table.records()[-2:]] == ["final: partly", "final: supports"]
    table.click("audit.end")
    table.click("audit.open")
    desk.method.setCurrentIndex(3)
    table.click("audit.begin")
    assert table.notices[-1].text == "There is nothing to judge: raters do not differ in anything."


def test_without_a_yes_nothing_is_stored_and_keys_do_nothing(table: Table) -> None:
    table.answer = False
    table.begin()
    table.press("1", "T", "S", "Z")
    assert not table.panel.session.is_open
    assert not table.bench.home.exists()
    assert table.panel.desk.page == 1
    table.click("audit.not_now")
    assert table.panel.desk.page == 0


def test_a_sample_is_drawn_by_its_seed(table: Table) -> None:
    desk = table.panel.desk
    table.click("audit.open")
    assert desk.rater.text() == "ann"
    assert desk.number.isHidden()
    desk.method.setCurrentIndex(1)
    assert not desk.number.isHidden()
    assert desk.by.isHidden()
    for wrong in ("", "0", "x", "²"):
        desk.number.setText(wrong)
        table.click("audit.begin")
        assert desk._refusal.text() == "Say how many"
    desk.number.setText("7")
    desk.seed.setText("-1")
    table.click("audit.begin")
    assert desk._refusal.text() == "A seed is a whole number"
    desk.seed.setText("3")
    desk.rater.setText(" ")
    table.click("audit.begin")
    assert desk._refusal.text() == "A rater needs a name"
    desk.rater.setText("ann")
    desk.method.setCurrentIndex(2)
    assert not desk.by.isHidden()
    table.click("audit.begin")
    frame = table.panel.session.frame
    assert frame is not None
    assert (frame.method, frame.drawn, frame.seed, frame.by) == ("stratified", 7, 3, "file")
    table.press(*"1111111")
    assert desk._claim.full_text.startswith("Everything in this frame is judged")
    table.click("audit.end")


def test_a_verdict_that_cannot_be_stored_ends_the_sitting(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.begin()
    table.press("1")

    async def fail(*_: object, **__: object) -> None:
        raise RedactionFailed("no")

    monkeypatch.setattr(Bench, "redact_text", fail)
    table.panel.desk.note.setText("a note")
    table.press("2")
    assert not table.panel.session.is_open
    assert [error.what for error in table.errors] == ["no"]
    assert len(table.records()) == 1


def test_repairs_become_plans_for_the_review(table: Table) -> None:
    table.begin()
    table.harness.call(lambda: table.panel.session.propose("remove claim"))
    (plan,) = table.plans
    assert plan.operation == "reanchor"
    assert any("fact number 1 holds" in line for hunk in plan.changes[0].hunks for line in hunk.old)
    table.panel.desk.note.setText("better words")
    actions = {action.objectName(): action for action in table.panel.desk.repairs.actions()}
    table.click("audit.propose")
    assert table.panel.desk.repairs.isVisible()
    table.panel.desk.repairs.close()
    table.harness.call(actions["audit.propose.fix note"].trigger)
    assert any("c1 better words" in line for hunk in table.plans[1].changes[0].hunks for line in hunk.new)
    table.harness.call(actions["audit.propose.re-anchor"].trigger)
    assert "no other certain place" in table.errors[-1].what
    assert table.records() == ()
    table.click("audit.end")


def test_evidence_that_moved_is_shown_where_it_is(table: Table, guard: Guard) -> None:
    root = table.bench.memory
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    with guard.grant():
        for arguments in (("init", "-q"), ("add", "-A"), (*name, "commit", "-q", "-m", "baseline")):
            subprocess.run(["git", *arguments], cwd=root, check=True)
        path = root / "rollout_summaries" / "a.md"
        path.write_text("new\n" + path.read_text().replace("- fact number 2 was said in the session", "gone"))
    table.harness.call(lambda: table.panel.show_seen(Seen(snapshot=table.bench.workspace.read(root))))
    table.begin()
    assert table.panel.evidence.marked_labels == ("2",)
    assert table.panel._evidence_title.full_text.startswith("Evidence · rollout_summaries/a.md:1-1 — moved +1")
    actions = {action.objectName(): action for action in table.panel.desk.repairs.actions()}
    table.harness.call(actions["audit.propose.re-anchor"].trigger)
    assert any("a.md:2-2 |note=[c1 said]" in line for hunk in table.plans[0].changes[0].hunks for line in hunk.new)
    table.press("1")
    assert table.panel.evidence.marked_labels == ()
    assert " — ambiguous" in table.panel._evidence_title.full_text
    table.click("audit.end")


def test_a_sitting_ends_when_the_folder_changes_and_not_when_it_is_read_again(table: Table, guard: Guard) -> None:
    table.begin()
    table.press("1")
    read = table.bench.workspace.read
    table.harness.call(lambda: table.panel.show_seen(Seen(snapshot=read(table.bench.memory))))
    assert table.panel.session.is_open
    with guard.grant():
        path = table.bench.memory / "MEMORY.md"
        path.write_text(path.read_text().replace("scope: x", "scope: x\nmore: y"))
    table.harness.call(lambda: table.panel.show_seen(Seen(snapshot=read(table.bench.memory))))
    assert not table.panel.session.is_open
    assert "1 records stored" in table.notices[-1].text
    table.begin()
    assert table.panel.desk._progress.text() == f"1 of {COUNT} judged"
    table.click("audit.end")


def test_nothing_to_judge_is_said(table: Table, guard: Guard) -> None:
    with guard.grant():
        (table.bench.memory / "MEMORY.md").write_text("# Task Group: x\n")
    table.begin()
    assert table.notices[-1].text.startswith("There is nothing to judge")
    assert table.asked == []


def test_the_guide_and_the_buttons(table: Table) -> None:
    table.begin()
    desk = table.panel.desk
    assert desk._rules.isHidden()
    table.click("audit.guide")
    assert "The cited lines alone say what is claimed" in desk._rules.text()
    assert not desk._rules.isHidden()
    table.click("audit.wrong_place")
    table.click("audit.skip")
    table.click("audit.undo")
    assert [record.verdict for record in table.records()] == [str(Support.WRONG_PLACE), "undo"]
    table.click("audit.end")


def test_a_permalink_names_the_baseline(table: Table) -> None:
    table.press("P")
    assert QGuiApplication.clipboard().text() == "rollout_summaries/a.md#L1"


# the whole window


async def say_yes(window: MainWindow) -> ConfirmationSheet:
    """Press the sheet's yes once it is armed."""
    while True:
        sheet = window.findChild(ConfirmationSheet)
        if sheet is not None and sheet.yes_button.isEnabled():
            QTest.mouseClick(sheet.yes_button, Qt.MouseButton.LeftButton)
            return sheet
        await asyncio.sleep(0.01)


def test_in_the_window_a_sitting_is_confirmed_and_a_repair_is_reviewed(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmation, "ARM_MS", 30)
    bench = Bench(tmp_path)
    write_folder(bench, 3)
    guard.protect(bench.home, bench.memory)
    theme = Theme.load()
    operations = Operations(bench)
    window = MainWindow(operations, harness.supervisor, theme)
    qtbot.addWidget(window)

    async def no_demo(top: Path) -> Request:
        raise NotImplementedError

    parts = WindowParts(operations, harness.supervisor, theme, BugReporter(), Settings(), lambda: "dev", no_demo)
    controller = Controller(window, parts)
    window.show()
    window.activateWindow()
    controller.workbench.name_folders(Folders(memory_root=bench.memory, home=bench.home))
    harness.call(controller.workbench.read_folder)
    window.show_panel("citations")
    desk = window.citations.desk
    desk.opener.click()
    assert desk.rater.text() == "dev"
    seen: list[str] = []

    async def begin() -> None:
        desk.begin.click()
        sheet = await say_yes(window)
        seen.extend(label.text() for label in sheet.findChildren(QLabel))
        await asyncio.sleep(0)
        await harness.supervisor.idle()

    harness.run(begin())
    assert any("verdicts of dev are appended" in text for text in seen)
    assert window.citations.session.is_open
    harness.call(window.activateWindow)
    assert window.focusWidget() is window.citations.table
    harness.call(lambda: QTest.keyClick(window.citations.table, Qt.Key.Key_1))
    harness.call(lambda: window.citations.session.propose("remove claim"))
    assert window.shown_panel == "review"
    harness.call(lambda: window.citations.session.propose("remove claim"))
    assert "Another plan waits" in window.messages.text
    harness.call(window.citations.session.end)
    assert "1 of 3 judged" in window.messages.text
    assert controller.workbench.seen.receipts is not None
    assert controller.workbench.seen.receipts[-1].operation == "audit"
    desk._timer.stop()
    window.hide()
