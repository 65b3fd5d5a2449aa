"""Drifted citations in the window: what they said beside where they may be, walking between places, opening, usage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.anchors import Location, LocationStatus
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import InputError, KnownError
from ltmem_gui.domain.opening import Place as DiskPlace
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.usage import CitedUse
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import ScanReport
from ltmem_gui.store.opening import SqliteStores
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.citation_look import changed_spans
from ltmem_gui.ui.models.citation_rows import CitationRow, Place, cited_range
from ltmem_gui.ui.models.sittings import AuditPowers
from ltmem_gui.ui.models.text_lines import TextLine
from ltmem_gui.ui.models.workbench import Notice, Seen
from ltmem_gui.ui.panels.citation_evidence import before_lines
from ltmem_gui.ui.panels.citations import CitationsPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.builders import scanned
from tests.gui.conftest import LoopHarness
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.sessions import thread_id
from tests.helpers.stores import extracted
from tests.helpers.waiting import PATIENCE_MS

FIRST = thread_id(0, NOW - DAY)
LINES = [
    "- the viewer loads tiles one level below",
    "- run the tile tests before every release",
    "- the cache key holds the level and the place",
    "- never call the tile server in a unit test",
    "- palettes are viridis and nothing else",
]
MEMORY = """# Task Group: tiles
scope: tiles
## Task 1: Tiles
### rollout_summary_files
- {summary} (thread_id=t)
### keywords
- tiles

## User preferences
- load tiles one level below [Task 1] [c1] [c2]
- palettes are viridis [c3]
- the tests come first [c4]

<citation_entries>
{summary}:1-1 |note=[c1 who said so]
notes.md:1-1 |note=[c1 level]
notes.md:2-2 |note=[c2 tests]
notes.md:4-4 |note=[c3 server]
notes.md:1-2 |note=[c4 both]
notes.md:5-5 |note=[palettes]
</citation_entries>
"""


class Opener:
    def __init__(self) -> None:
        self.opened: list[tuple[str, DiskPlace]] = []

    def open_in_editor(self, place: DiskPlace) -> None:
        self.opened.append(("editor", place))

    def show_in_file_manager(self, place: DiskPlace) -> None:
        self.opened.append(("file manager", place))


@dataclass
class Room:
    panel: CitationsPanel
    bench: Bench
    harness: LoopHarness
    plans: list[Plan] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    errors: list[KnownError] = field(default_factory=list)
    opener: Opener = field(default_factory=Opener)

    def read(self, report: ScanReport | None = None) -> None:
        async def read() -> None:
            folder = await Operations(self.bench).read_folder(self.bench.memory)
            self.panel.show_seen(Seen(report=report, snapshot=folder))
            await self.harness.supervisor.idle()

        self.harness.run(read())

    def go_to(self, note: str) -> None:
        model = self.panel.model
        rows = [model.row_at(at) for at in range(model.rowCount())]
        at = next(at for at, row in enumerate(rows) if row is not None and row.note == note)
        self.harness.call(lambda: self.panel.table.setCurrentIndex(model.index(at, 0)))

    @property
    def note(self) -> str:
        row = self.panel.current_row()
        return row.note if row is not None else ""

    def label(self, note: str) -> str:
        return next(row.label for row in self.panel.model.rows if row.note == note)


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard) -> Iterator[Room]:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    guard.granted = True
    summaries = bench.memory / "rollout_summaries"
    summaries.mkdir(parents=True)
    (summaries / "a.md").write_text(f"thread_id: {FIRST}\nupdated_at: x\ncwd: /p\n\n- run pnpm test\n", "utf-8")
    (bench.memory / "notes.md").write_text("\n".join(LINES) + "\n", "utf-8")
    (bench.memory / "MEMORY.md").write_text(MEMORY.format(summary="rollout_summaries/a.md"), "utf-8")
    bench.sessions.mkdir()
    bench.stores.create_home(bench.home)
    with SqliteStores().writing(bench.home) as store:
        extracted(store, FIRST, NOW - DAY)

    async def fill() -> None:
        operations = Operations(bench)
        request = bench.request()
        audit = await operations.audit.load(request, cancel=CancelToken(), listen=bench.events.append)
        plan = await operations.audit.plan_keeping(request, audit)
        grant = await operations.approve(plan, all_accepted(plan), approver="me", surface="window")
        await operations.apply(grant, cancel=CancelToken(), listen=bench.events.append)

    harness.run(fill())
    guard.granted = False
    theme = Theme.load()
    panel = CitationsPanel(Operations(bench), harness.supervisor, theme, ActionRegistry(theme.icon))
    qtbot.addWidget(panel)
    made = Room(panel, bench, harness)
    harness.supervisor.known_raised.connect(made.errors.append)

    async def no(plan: Plan, selection: Selection) -> bool:
        return False

    panel.session.lend(AuditPowers(bench.request, no, lambda: "me"))
    panel.session.plan_made.connect(made.plans.append)
    panel.looker.lend(bench.request)
    panel.commands.opener = made.opener  # type: ignore[assignment]
    panel.commands.noticed.connect(made.notices.append)
    panel.resize(1280, 760)
    panel.show()
    yield made
    panel.hide()
    assert made.errors == []


def drift(room: Room, guard: Guard) -> None:
    """Move what is cited, edit one line, put one line in twice, take one away."""
    with guard.grant():
        new = ["- a new first line", *LINES[:1], "- run all of the tile tests before every release", LINES[2]]
        new += ["- a line", LINES[4], "- between", LINES[4], "- end"]
        (room.bench.memory / "notes.md").write_text("\n".join(new) + "\n", "utf-8")


def test_what_drifted_is_told_in_the_list_without_a_sitting(room: Room, guard: Guard) -> None:
    room.read()
    assert {row.place for row in room.panel.model.rows if row.entry and not row.thread_id} == {Place.FOUND}
    drift(room, guard)
    room.read()
    assert room.label("c1 level") == "→ moved +1"
    assert room.label("c2 tests").startswith("≈ edited (0.")
    assert room.label("palettes") == "? ambiguous (2 places)"
    assert room.label("c3 server") == "✕ missing text"
    room.harness.call(lambda: room.panel.chips._buttons["drift"].setChecked(True))
    assert room.panel.model.rowCount() == 5
    assert "Drifted 5" in room.panel.chips._buttons["drift"].text()


def test_drifted_lines_stand_beside_what_they_said(room: Room, guard: Guard) -> None:
    drift(room, guard)
    room.read()
    pane = room.panel.pane
    room.go_to("c1 level")
    assert pane.before.isVisible()
    assert pane.before.marked_labels == ("1",)
    assert room.panel.evidence.marked_labels == ("2",)
    assert pane.candidates.words == "Now line 2"
    room.go_to("c2 tests")
    (changed,) = room.panel.evidence.extraSelections()
    assert changed.cursor.selectedText() == "all of"
    assert pane.candidates.words == "Now line 3"
    room.go_to("c3 server")
    assert room.panel.evidence.marked_labels == ()
    assert not pane.point.isVisible()
    assert "not in this file any more" in pane.candidates.words
    room.go_to("c1 who said so")
    assert not pane.before.isVisible()
    assert not pane.point.isVisible()


def test_one_of_several_places_is_chosen_and_becomes_a_plan(room: Room, guard: Guard) -> None:
    drift(room, guard)
    room.read()
    room.go_to("palettes")
    pane = room.panel.pane
    assert pane.candidates.words == "Place 1 of 2: line 6"
    assert pane.before.toPlainText().endswith(LINES[4])
    room.harness.call(pane._next.click)
    assert pane.candidates.words == "Place 2 of 2: line 8"
    assert room.panel.evidence.marked_labels == ("8",)
    room.harness.call(pane._next.click)
    room.harness.call(pane._previous.click)
    room.harness.call(pane.point.click)
    (plan,) = room.plans
    assert plan.operation == "reanchor"
    (hunk,) = plan.changes[0].hunks
    assert hunk.new == ("notes.md:8-8 |note=[palettes]\n",)


def test_alt_and_arrows_walk_between_the_places_of_a_claim_and_who_cites_the_lines(room: Room) -> None:
    room.read()
    room.panel.table.setFocus()
    room.go_to("c1 who said so")

    def press(key: Qt.Key, *, shift: bool = False) -> str:
        keys = Qt.KeyboardModifier.AltModifier
        keys |= Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        room.harness.call(lambda: QTest.keyClick(room.panel.table, key, keys))
        return room.note

    assert [press(Qt.Key.Key_Down) for _ in range(3)] == ["c1 level", "c2 tests", "c1 who said so"]
    assert press(Qt.Key.Key_Up) == "c2 tests"
    assert [press(Qt.Key.Key_Down, shift=True) for _ in range(2)] == ["c4 both", "c1 level"]
    room.harness.call(lambda: room.panel.filter.setText("c2"))
    room.go_to("c2 tests")
    assert press(Qt.Key.Key_Up, shift=True) == "c4 both"
    assert room.panel.filter.text() == ""
    room.go_to("palettes")
    assert press(Qt.Key.Key_Down) == press(Qt.Key.Key_Down, shift=True) == "palettes"
    assert [notice.text for notice in room.notices] == [
        "This claim is cited at one place only.",
        "Nothing else cites these lines.",
    ]


def test_arrows_lead_into_the_evidence_and_back(room: Room) -> None:
    room.read()
    room.panel.activateWindow()
    room.panel.table.setFocus()
    room.harness.call(lambda: QTest.keyClick(room.panel.table, Qt.Key.Key_Right))
    assert room.panel.focusWidget() is room.panel.evidence
    room.harness.call(lambda: QTest.keyClick(room.panel.evidence, Qt.Key.Key_Down))
    room.harness.call(lambda: QTest.keyClick(room.panel.evidence, Qt.Key.Key_Left))
    assert room.panel.focusWidget() is room.panel.table


def test_use_and_why_it_is_kept_stand_with_the_evidence(room: Room) -> None:
    uses = (CitedUse("line 9", (FIRST.upper(),), NOW), CitedUse("line 12", (FIRST, FIRST), NOW - DAY))
    room.read(ScanReport((replace(scanned(1), citations=uses),)))
    room.go_to("c1 who said so")
    words = room.panel.pane.usage.full_text
    assert "cited 2× in the sessions that were read, last 2026-05-28" in words
    assert "kept until" in words
    room.go_to("palettes")
    assert not room.panel.pane.usage.isVisible()


def test_places_are_opened_where_the_lines_are_now(room: Room, guard: Guard) -> None:
    drift(room, guard)
    session = replace(scanned(1), id=FIRST)
    root = str(room.bench.sessions)
    ref = replace(session.ref, path=f"{root}/a.jsonl", root=root)
    room.read(ScanReport((replace(session, ref=ref),)))
    commands = room.panel.commands
    room.go_to("c1 level")
    commands.open_in_editor()
    room.go_to("c3 server")
    commands.show_in_file_manager()
    memory = str(room.bench.memory)
    assert room.opener.opened == [
        ("editor", DiskPlace(memory, "notes.md", 2)),
        ("file manager", DiskPlace(memory, "notes.md", 4)),
    ]
    row = room.panel.model.rows[0]
    assert row.entry is not None
    cited = replace(row, thread_id=FIRST, entry=replace(row.entry, path=f"rollout:{FIRST}", start=3))
    commands._view = replace(commands._view, row=lambda: cited)
    assert commands.place() == DiskPlace(root, "a.jsonl", 3)
    elsewhere = replace(ref, path="/elsewhere/a.jsonl")
    commands._view = replace(commands._view, session=lambda thread: elsewhere)
    assert commands.place() is None
    assert "not inside" in room.notices[-1].text
    commands._view = replace(commands._view, session=lambda thread: None)
    assert commands.place() == DiskPlace(memory, row.file, row.line)
    commands._view = replace(commands._view, row=lambda: None)
    assert commands.place() is None
    commands.open_in_editor()
    commands.show_in_file_manager()
    commands.copy_location()
    commands.copy_permalink()
    commands.copy_quote()
    assert "no cited lines" in room.notices[-1].text
    assert len(room.opener.opened) == 2


def test_the_cited_lines_are_copied_with_their_place(room: Room) -> None:
    room.read()
    room.go_to("c4 both")
    room.panel.commands.copy_quote()
    assert QGuiApplication.clipboard().text() == f"{LINES[0]}\n{LINES[1]}\n— notes.md:1-2"
    room.panel.commands.copy_permalink()
    assert QGuiApplication.clipboard().text() == "notes.md#L1-2"
    assert [notice.text for notice in room.notices] == ["Copied to the clipboard."] * 2


def test_a_long_quote_is_looked_through_beside_the_window(room: Room, qtbot: QtBot) -> None:
    room.read()
    room.go_to("c4 both")
    lines = tuple(TextLine(str(number), "plain words " * 5, marked=True) for number in range(3_000))
    room.panel.commands._view = replace(room.panel.commands._view, evidence=lambda: lines)
    QGuiApplication.clipboard().setText("before")
    room.panel.commands.copy_quote()
    assert QGuiApplication.clipboard().text() == "before"
    qtbot.waitUntil(lambda: bool(room.notices), timeout=PATIENCE_MS)
    assert QGuiApplication.clipboard().text().startswith("plain words")


def test_changed_words_are_marked_and_a_hash_says_so() -> None:
    text = "run all of the\ntests"
    assert [text[start:end] for start, end in changed_spans(text, "run the tests now")] == ["all of"]
    assert changed_spans("", "x") == []


def test_what_is_kept_as_a_hash_alone_shows_no_text(room: Room, guard: Guard) -> None:
    with room.bench.stores.reading(room.bench.home) as store:
        records = store.evidence(str(room.bench.memory))
    taken = next(record.taken for record in records if record.taken.start == 5)
    lines = before_lines(taken)
    assert [(line.label, line.marked) for line in lines][-2:] == [("4", False), ("5", True)]
    assert "only its hash" in before_lines(replace(taken, quote=""))[0].text


def test_a_projects_file_is_read_by_a_press_and_only_then(
    room: Room, guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Path, str, str]] = []

    class Projects:
        def read(self, folder: Path, commit: str, path: str) -> bytes:
            asked.append((folder, commit, path))
            if commit.startswith("0"):
                raise InputError("the repository has no commit 0123abcd")
            return b"one\ntwo\nthree\n"

    monkeypatch.setattr(Bench, "project_files", Projects())
    with guard.grant():
        text = "a.py@abcdef1:2-2 |note=[there]\na.py@abcdef1:2-9 |note=[past]\na.py@0123abcd:1-1 |note=[gone]"
        (room.bench.memory / "MEMORY.md").write_text(f"<citation_entries>\n{text}\n</citation_entries>\n")
    panel = room.panel
    room.read()
    room.go_to("there")
    assert "press O to read it from the git objects below /p" in panel._evidence_title.full_text
    assert room.label("there") == "○ project file"
    assert asked == []
    panel.activateWindow()
    panel.table.setFocus()
    room.harness.call(lambda: QTest.keyClick(panel.table, Qt.Key.Key_O))
    assert asked == [(Path("/p"), "abcdef1", "a.py")]
    assert panel.evidence.marked_labels == ("2",)
    assert panel.focusWidget() is panel.evidence
    room.go_to("past")
    assert "the file has 3 lines" in panel._evidence_title.full_text
    room.go_to("gone")
    assert "no commit 0123abcd" in panel._evidence_title.full_text
    assert panel.evidence.toPlainText() == ""
    assert panel.projects.opened == (Path("/p"),)


def test_without_a_named_folder_no_project_is_looked_for(room: Room, guard: Guard) -> None:
    with guard.grant():
        (room.bench.memory / "MEMORY.md").write_text(
            "<citation_entries>\na.py@abcdef1:2-2 |note=[there]\n</citation_entries>\n"
        )
        for path in (room.bench.memory / "rollout_summaries").iterdir():
            path.unlink()
    room.read()
    room.go_to("there")
    assert "no session names a project folder" in room.panel._evidence_title.full_text
    room.harness.call(room.panel.open_evidence)
    assert room.panel.projects.opened == ()


def test_one_press_opens_one_folder_the_one_that_is_named(
    room: Room, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Projects:
        def read(self, folder: Path, commit: str, path: str) -> bytes:
            asked.append(str(folder))
            if str(folder) != "/p1":
                raise InputError("there is no git repository")
            return b"one\ntwo\n"

    monkeypatch.setattr(Bench, "project_files", Projects())
    with guard.grant():
        (room.bench.memory / "MEMORY.md").write_text(
            "<citation_entries>\na.py@abcdef1:2-2 |note=[there]\n</citation_entries>\n"
        )
        for path in (room.bench.memory / "rollout_summaries").iterdir():
            path.unlink()
    named = [
        *(f"/p{number}" for number in range(3)),
        "/" + "x" * 200,
        "/hidden\u202efolder",
        "/two  blanks",
        "relative",
    ]
    room.read(ScanReport(tuple(replace(scanned(number), cwd=cwd) for number, cwd in enumerate(named))))
    panel = room.panel
    room.go_to("there")
    assert "below /p0, the first of 3 that" in panel._evidence_title.full_text
    room.harness.call(panel.open_evidence)
    assert asked == ["/p0"]
    title = panel._evidence_title.full_text
    assert title.index("below /p1, the first of 2") < title.index("/p0: there is no git repository")
    room.harness.call(panel.open_evidence)
    assert asked[1:] == ["/p0", "/p1"]
    assert panel.evidence.marked_labels == ("2",)
    for _ in range(2):
        room.harness.call(panel.open_evidence)  # what is shown already needs no further folder
    assert panel.projects.opened == (Path("/p0"), Path("/p1"))
    assert "/p2" not in asked


def test_the_list_is_grouped_and_groups_open_and_close(room: Room, qtbot: QtBot) -> None:
    tester = QAbstractItemModelTester(room.panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    room.read(ScanReport((replace(scanned(1), id=FIRST, title="pnpm"),)))
    panel, model = room.panel, room.panel.model
    panel.activateWindow()
    panel.table.setFocus()
    room.go_to("palettes")
    count = model.rowCount()
    titles: dict[str, list[str]] = {}
    for choice, words in enumerate(("One list", "By file", "By session", "By place")):
        room.harness.call(lambda choice=choice: panel.groups.setCurrentIndex(choice))
        heads = [str(model.data(model.index(at, 0))) for at in model.group_positions]
        titles[words] = heads
        assert model.rowCount() == count + len(heads)
        assert room.note == "palettes"
    assert titles["One list"] == []
    assert titles["By file"][0].startswith("▾ MEMORY.md · ")
    assert any(title.startswith("▾ pnpm · ") for title in titles["By session"])
    assert "▾ no session · 5" in titles["By session"]
    assert titles["By place"][0].startswith("▾ found · ")
    head = model.group_positions[0]
    assert panel.table.columnSpan(head, 0) == model.columnCount()
    assert model.data(model.index(head, 1)) is None
    assert model.data(model.index(head, 0), Qt.ItemDataRole.FontRole) is not None
    room.harness.call(lambda: panel.table.setCurrentIndex(model.index(head, 0)))
    assert panel.current_row() is None
    assert panel.evidence.toPlainText() == ""
    rows = model.rowCount()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Return):
        room.harness.call(lambda key=key: QTest.keyClick(panel.table, key))
        closed = str(model.data(model.index(head, 0), Qt.ItemDataRole.AccessibleTextRole)).endswith("closed")
        assert closed == (key == Qt.Key.Key_Left)
        assert (model.rowCount() < rows) == closed
        assert panel.table.currentIndex().row() == head
        assert panel.focusWidget() is panel.table
    room.harness.call(lambda: panel.table.clicked.emit(model.index(head, 0)))
    assert model.rowCount() < rows
    room.harness.call(lambda: panel._go_to("MEMORY.md", next(row.line for row in model.rows if row.note == "palettes")))
    assert room.note == "palettes"
    assert not model.toggle(panel.table.currentIndex().row())
    room.harness.call(lambda: QTest.keyClick(panel.table, Qt.Key.Key_Left))
    assert room.note == "palettes"
    del tester


def test_claims_without_citation_are_rows_of_their_own(room: Room, guard: Guard) -> None:
    with guard.grant():
        path = room.bench.memory / "MEMORY.md"
        path.write_text(path.read_text().replace("- the tests", "- nobody said this\n- the tests"))
    room.read()
    row = next(row for row in room.panel.model.rows if row.place is Place.UNCITED)
    assert (row.note, row.label) == ("nobody said this", "∅ no citation")
    room.harness.call(lambda: room.panel.chips._buttons["uncited"].setChecked(True))
    assert room.panel.model.rowCount() == 1
    assert room.panel.claim.marked_labels == (str(row.line),)
    assert "no citation stands behind this claim" in room.panel._evidence_title.full_text
    assert room.panel.commands.place() == DiskPlace(str(room.bench.memory), "MEMORY.md", row.line)


def test_a_row_is_read_in_the_order_in_which_it_is_judged(room: Room) -> None:
    room.read()
    room.go_to("c1 level")
    index = room.panel.model.index(room.panel.table.currentIndex().row(), 0)
    words = str(room.panel.model.data(index, Qt.ItemDataRole.AccessibleTextRole))
    assert words == f"{room.panel.current_row().standing}; c1 level; notes.md:1-1; ✓ found"  # type: ignore[union-attr]


def test_the_folder_is_checked_again_on_a_press(room: Room, qtbot: QtBot) -> None:
    room.read()
    room.panel.activateWindow()
    room.panel.table.setFocus()
    with qtbot.waitSignal(room.panel.read_asked, timeout=PATIENCE_MS):
        QTest.keyClick(room.panel.table, Qt.Key.Key_F5)


def test_a_report_is_saved_where_the_person_says(room: Room, tmp_path: Path) -> None:
    saved: list[tuple[Path, bytes, str]] = []

    class Copies:
        target: Path | None = tmp_path / "report.md"

        async def choose(self, title: str, name: str) -> Path | None:
            assert (title, name) == ("Save: Report of the citations as Markdown", "citations.md")
            return self.target

        async def save(self, target: Path, data: bytes, what: str, *, redactions: int = 0) -> bool:
            assert redactions == 0
            saved.append((target, data, what))
            return True

    room.read()
    desk = room.panel.desk
    entry = next(action for action in desk.reports.actions() if action.objectName() == "audit.report.md")
    room.harness.call(entry.trigger)
    assert saved == []
    copies = Copies()
    room.panel.session.copies = copies  # type: ignore[assignment]
    room.harness.call(entry.trigger)
    ((target, data, what),) = saved
    assert (target, what) == (tmp_path / "report.md", "Report of the citations as Markdown")
    assert b"palettes" in data
    copies.target = None
    room.harness.call(entry.trigger)
    assert len(saved) == 1
    room.harness.call(desk._on_report_clicked)
    desk.reports.close()


def test_the_desk_says_what_a_sample_can_tell(room: Room) -> None:
    room.read()
    desk = room.panel.desk
    room.harness.call(desk.opener.click)
    desk.method.setCurrentIndex(1)
    assert desk._power.text() == "59 with no error: at most 5.0 % are wrong (95 %)"
    desk.number.setText("x")
    assert desk._power.text() == ""
    desk.method.setCurrentIndex(0)
    assert not desk._power.isVisible()


def test_in_a_sitting_a_rewritten_session_marks_nothing(room: Room) -> None:
    row = CitationRow("MEMORY.md", 9, Place.ROLLOUT, "t:3-4", entry=CitationEntry("rollout:t", 3, 4))
    moved = Location(LocationStatus.MOVED, 5, 6, detail=" +2")
    assert cited_range(row) == range(3, 5)
    assert cited_range(row, moved) == range(5, 7)
    assert cited_range(row, Location(LocationStatus.MISSING_TEXT, 3, 4)) == range(0)
    assert cited_range(replace(row, entry=None)) == range(0)
