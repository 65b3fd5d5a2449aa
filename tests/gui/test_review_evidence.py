from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ltmem_gui.domain.rollouts import RolloutRef
from tests.gui.review_room import SHIFT, K, Room, child, load, make_room

room = pytest.fixture(make_room)


MEMORY = (
    "# Task Group: a\nscope: a\n\n## User preferences\n"
    "- {} [Task 1] [c1]\n- no source here [Task 1]\n- in a rollout [c2]\n\n"
    "<citation_entries>\nrollout_summaries/a.md:3-4 |note=[c1 the user said so]\n"
    "rollout:t1:9-9 |note=[c2 in passing]\nmissing.md:1-2 |note=[c1 gone]\nrollout_summaries/a.md:9-90 |note=[c1 far]\n"
    "</citation_entries>\n<rollout_ids>\nt1\n</rollout_ids>\n"
)


def test_the_line_under_the_cursor_shows_where_it_comes_from(room: Room) -> None:
    summary = "thread_id: t1\n\n- never npm\n- always pnpm\n"
    load(
        room,
        {"MEMORY.md": MEMORY.format("use npm"), "rollout_summaries/a.md": summary},
        {"MEMORY.md": MEMORY.format("use pnpm"), "rollout_summaries/a.md": summary},
    )
    panel = room.panel
    title, note = child(panel, "review.evidence.title"), child(panel, "review.evidence.note")
    evidence = child(panel, "review.evidence")
    panel.view.set_cursor_row(room.row_of("- use pnpm [Task 1] [c1]"))
    assert title.text() == "rollout_summaries/a.md:3-4 (1 of 3)"  # type: ignore[attr-defined]
    assert [line.text for line in evidence.lines if line.marked] == ["- never npm", "- always pnpm"]  # type: ignore[attr-defined]
    child(panel, "review.evidence.next").click()  # type: ignore[attr-defined]
    assert "not in the memory folder" in note.text()  # type: ignore[attr-defined]
    panel.view.setFocus()
    room.press(K.Key_S, SHIFT)
    assert "has only 4 lines" in note.text()  # type: ignore[attr-defined]
    panel.view.set_cursor_row(room.row_of("- no source here [Task 1]"))
    assert title.text() == "▲ no source"  # type: ignore[attr-defined]
    panel.view.set_cursor_row(room.row_of("- in a rollout [c2]"))
    assert title.text() == "rollout t1"  # type: ignore[attr-defined]
    room.press(K.Key_S)
    assert "scan the sessions folder" in note.text()  # type: ignore[attr-defined]
    panel.focus_diff()
    panel.show_rollouts({"t1": RolloutRef(agent="codex", path="/r.jsonl", size=0, mtime_ns=0)})
    panel.view.set_cursor_row(room.row_of("- in a rollout [c2]"))
    room.call(K.Key_S)
    assert evidence.lines[0].text == "never use npm"  # type: ignore[attr-defined]
    panel.view.set_cursor_row(panel.model.document.headers[0])
    assert title.text() == "rollout_summaries/a.md:3-4 (1 of 3)"  # type: ignore[attr-defined]
    panel.view.set_cursor_row(room.row_of("## User preferences"))
    assert title.text() == "Nothing to cite on this line"  # type: ignore[attr-defined]


def test_an_input_names_its_session(room: Room) -> None:
    load(room, {}, {"rollout_summaries/a.md": "thread_id: t1\n\nx\n"})
    panel = room.panel
    title = child(panel, "review.evidence.title")
    assert title.text() == "rollout t1"  # type: ignore[attr-defined]
    panel.show_rollouts({"t1": RolloutRef(agent="codex", path="/r.jsonl", size=0, mtime_ns=0)})
    room.call(K.Key_S)
    lines = child(panel, "review.evidence").lines  # type: ignore[attr-defined]
    assert [line.text for line in lines] == ["never use npm", "always pnpm"]
    QTest.keyClick(child(panel, "review.evidence"), K.Key_Escape)
    assert QApplication.focusWidget() is panel.view
