"""Citations: where they point, what a click shows, and that no cited path is ever opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.citation_rows import (
    CitationRow,
    Place,
    citation_rows,
    claim_lines,
    evidence_lines,
    inside_path,
)
from ltmem_gui.ui.models.text_lines import lines_around, lines_of, rollout_lines
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.panels.citations import CitationsPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.builders import MEMORY, FakeOperations, report, scanned, snapshot
from tests.gui.conftest import LoopHarness
from tests.helpers.guard import Guard

FILES = {"MEMORY.md": MEMORY, "memory_summary.md": "v1\nsummary\n", "notes.txt": MEMORY}


def rows(tmp_path: Path) -> list[CitationRow]:
    return citation_rows(snapshot(tmp_path, FILES), [scanned(0).id.upper()])


def test_every_citation_is_listed_with_its_place(tmp_path: Path) -> None:
    places = [row.place for row in rows(tmp_path)]
    assert places == [
        Place.ROLLOUT,
        Place.FOUND,
        Place.OUT_OF_RANGE,
        Place.MISSING,
        Place.OUTSIDE,
        Place.INVALID,
        Place.MALFORMED,
        Place.SESSION,
    ]
    assert rows(tmp_path)[0].standing == "MEMORY.md:6"
    assert citation_rows(snapshot(tmp_path, FILES))[0].place is Place.NOT_SCANNED


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("MEMORY.md", "MEMORY.md"),
        ("./a/../MEMORY.md", "MEMORY.md"),
        ("../x", None),
        ("a/../../x", None),
        ("/etc/passwd", None),
        ("~/x", None),
        ("C:/x", None),
        ("..\\x", None),
        ("", None),
    ],
)
def test_paths_never_leave_the_root(path: str, inside: str | None) -> None:
    assert inside_path(path) == inside


def test_claim_and_evidence_are_marked(tmp_path: Path) -> None:
    listed, folder = rows(tmp_path), snapshot(tmp_path, FILES)
    assert [line.label for line in claim_lines(listed[0], folder) if line.marked] == ["2", "6"]
    assert [line.label for line in evidence_lines(listed[1], folder) if line.marked] == ["1", "2"]
    assert evidence_lines(listed[4], folder) == ()
    assert claim_lines(listed[0], snapshot(tmp_path, {})) == ()


def test_lines_end_at_newlines_only() -> None:
    lines = lines_of("a\r\u2028b\x0cc\nlast", range(2, 3))
    assert [(line.label, line.marked) for line in lines] == [("1", False), ("2", True)]
    assert lines_of("") == ()


def test_of_a_long_text_the_lines_around_the_marks_are_shown() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 101))
    shown = lines_around(text, {50}, most=20)
    assert [line.label for line in shown] == ["…", *map(str, range(46, 66)), "…"]
    assert [line.label for line in shown if line.marked] == ["50"]
    assert (shown[0].text, shown[-1].text) == ("(45 lines before are not shown)", "(35 more lines are not shown)")
    assert lines_around(text, {2}, most=20)[0].label == "1"
    assert lines_around(text, {100}, most=20)[-1].label == "100"
    assert len(lines_around(text, ())) == 100
    assert lines_around("", {1}) == ()


@pytest.fixture
def panel(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> CitationsPanel:
    theme = Theme.load()
    actions = ActionRegistry(theme.icon)
    made = CitationsPanel(FakeOperations(tmp_path, tmp_path), harness.supervisor, theme, actions)  # type: ignore[arg-type]
    made._test_actions = actions  # type: ignore[attr-defined]
    qtbot.addWidget(made)
    made.resize(1000, 600)
    return made


def seen(tmp_path: Path) -> Seen:
    return Seen(report=report(2), snapshot=snapshot(tmp_path, FILES))


def test_a_click_shows_the_rollout_at_its_line(
    qtbot: QtBot, harness: LoopHarness, panel: CitationsPanel, tmp_path: Path, guard: Guard
) -> None:
    tester = QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    guard.watch(Path("/etc"))
    harness.call(lambda: panel.show_seen(seen(tmp_path)))
    assert panel.evidence.marked_labels == ("9", "", "")
    assert "No, never use npm here." in panel.evidence.toPlainText()
    assert "⟨U+202E⟩" in panel.evidence.toPlainText()
    harness.call(lambda: panel.table.setCurrentIndex(panel.model.index(1, 0)))
    assert panel.evidence.marked_labels == ("1", "2")
    harness.call(lambda: panel.table.setCurrentIndex(panel.model.index(4, 0)))
    assert panel.evidence.toPlainText() == ""
    assert "leaves the memory folder" in panel._evidence_title.full_text
    assert not guard.reads
    del tester


def test_filter_sort_and_copy(qtbot: QtBot, harness: LoopHarness, panel: CitationsPanel, tmp_path: Path) -> None:
    harness.call(lambda: panel.show_seen(seen(tmp_path)))
    harness.call(lambda: panel.filter.setText("summary"))
    assert panel.model.rowCount() == 3
    harness.call(lambda: panel.filter.setText(""))
    for chip, count in (("bad", 5), ("good", 3), ("open", 0)):
        harness.call(lambda chip=chip: panel.chips._buttons[chip].setChecked(True))
        assert panel.model.rowCount() == count
        harness.call(panel.chips.clear)
    harness.call(lambda: panel.model.sort(0, Qt.SortOrder.DescendingOrder))
    assert panel.model.row_at(0).place is Place.SESSION  # type: ignore[union-attr]
    harness.call(lambda: panel.model.sort(-1))
    harness.call(lambda: panel.table.setCurrentIndex(panel.model.index(3, 0)))
    panel.commands.copy_location()
    assert QGuiApplication.clipboard().text() == "gone.md:1-2"
    panel.show()
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    panel.hide()


def test_quotations_are_underlined_and_others_who_cite_the_lines_are_named(
    qtbot: QtBot, harness: LoopHarness, panel: CitationsPanel, tmp_path: Path
) -> None:
    files = {
        "MEMORY.md": '# Task Group: x\n## User preferences\n- "use the 😀 viridis palette" [c1]\n- other [c2]\n'
        "<citation_entries>\na.md:2-3 |note=[c1 said]\n./a.md:3-3 |note=[c2 said]\na.md:4-4 |note=[c3]\n"
        "</citation_entries>\n",
        "a.md": "one\n- 😀 Use  the 😀 viridis\n  palette, please\nend\n",
    }
    harness.call(lambda: panel.show_seen(Seen(snapshot=snapshot(tmp_path, files))))
    (underlined,) = panel.evidence.extraSelections()
    assert underlined.cursor.selectedText() == "Use  the 😀 viridis\u2029  palette"
    assert panel._evidence_title.full_text == "Evidence · a.md:2-3 · also cited at MEMORY.md:7"
    harness.call(lambda: panel.table.setCurrentIndex(panel.model.index(2, 0)))
    assert panel.evidence.extraSelections() == []
    assert panel._evidence_title.full_text == "Evidence · a.md:4-4"
    panel.evidence.show_lines(())
    panel.evidence.underline(lambda text: [(0, len(text))])
    assert panel.evidence.extraSelections() == []


def test_an_empty_folder_teaches(qtbot: QtBot, harness: LoopHarness, panel: CitationsPanel, tmp_path: Path) -> None:
    panel.teach("Not read", "Reading changes nothing.", "Read")
    asked: list[bool] = []
    panel.read_asked.connect(lambda: asked.append(True))
    panel._empty._button.click()
    assert asked == [True]
    harness.call(lambda: panel.show_seen(Seen(snapshot=snapshot(tmp_path, {}))))
    assert panel.model.rowCount() == 0


def test_rollout_text_names_speakers() -> None:
    from ltmem_gui.domain.rollouts import Rollout, RolloutItem, ToolUse

    items = (
        RolloutItem("user", "message", "hi", line=3, injected=True, inherited=True),
        RolloutItem("tool", "tool_output", "no", row=4, tool=ToolUse("shell", failed=True)),
    )
    lines = rollout_lines(Rollout("t", "codex", "p", items=items), range(4, 5))
    assert lines[0].text == "USER · written by the host · inherited"
    assert lines[3].text == "TOOL · tool output · shell (failed)"
    assert [line.marked for line in lines] == [False, False, False, True, True, False]
