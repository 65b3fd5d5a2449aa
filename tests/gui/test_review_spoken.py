"""A walk through the review with the ears: every row, decision and refusal is said."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from ltmem_gui.domain.diffing.rows import RowKind
from ltmem_gui.domain.findings import Severity
from tests.gui.review_room import SHIFT, K, Room, load, make_room
from tests.helpers.reviews import finding, many_hunks

room = pytest.fixture(make_room)

OLD, NEW = many_hunks(2, 40)
FILES = {"MEMORY.md": OLD + "last", "blob.bin": b"\0\1", "mixed.md": "a\nb\r\nc\u00a0d\n"}
AFTER = {"MEMORY.md": NEW + "last\n", "blob.bin": b"\0\2", "mixed.md": "a\nb\nc d\u200b\n\u202eev\tx\n"}


def walk(room: Room) -> dict[RowKind, list[str]]:
    """Go down row by row by key, and take down what is said of each."""
    panel, view = room.panel, room.panel.view
    heard: dict[RowKind, list[str]] = {}
    view.set_cursor_row(0)
    for at in range(panel.model.document.count):
        assert view.cursor_row == at
        words = view.accessibleDescription()
        assert words == view.speaker.words
        heard.setdefault(panel.model.document.row(at).kind, []).append(words)
        room.press(K.Key_Down)
    return heard


def test_every_row_of_every_kind_is_said(room: Room) -> None:
    load(room, FILES, AFTER, [finding("mixed.md", 2, severity=Severity.WARNING)])
    heard: dict[RowKind, list[str]] = {}
    for row in room.panel.files_model.rows:
        room.panel.open_file(row.change.path)
        assert room.panel.view.accessibleName() == f"Diff of {row.change.path}"
        for kind, words in walk(room).items():
            heard.setdefault(kind, []).extend(words)
    assert set(heard) == set(RowKind)
    assert all(words.strip() for said in heard.values() for words in said)
    everything = "\n".join(words for said in heard.values() for words in said)
    for part in (
        "unchanged lines, folded",
        "added, line",
        "removed, old line",
        "unchanged, line",
        "change 1 of",
        "undecided",
        "no newline at end of file",
        "no-break space at character",
        "zero width space at character",
        "right-to-left override at character",
        "tab at character",
        "carriage return",
        "warning finding, secret",
        "before: 2 bytes",
    ):
        assert part in everything, part


def test_a_decision_is_said_where_the_cursor_stays(room: Room) -> None:
    load(room, {"MEMORY.md": OLD}, {"MEMORY.md": NEW})
    view, headers = room.panel.view, room.panel.model.document.headers
    said: list[str] = []
    view.speaker.said.connect(said.append)
    view.set_cursor_row(headers[0])
    room.press(K.Key_A)
    assert view.speaker.words.startswith("change 2 of 2, undecided")
    room.press(K.Key_F7, SHIFT)
    assert view.speaker.words.startswith("change 1 of 2, accepted")
    room.press(K.Key_U)
    assert view.speaker.words.startswith("change 1 of 2, undecided")
    view.set_cursor_row(1)
    room.press(K.Key_A)
    assert view.accessibleDescription() == "No change on this row: F7 goes to the next one"
    assert all(one != other for one, other in pairwise(said))


def test_tools_are_told_of_the_text_that_changed(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    load(room, {"MEMORY.md": OLD}, {"MEMORY.md": NEW})
    events: list[tuple[QAccessible.Event, QWidget]] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: events.append((event.type(), event.object())))
    room.press(K.Key_Down)
    kinds = [kind for kind, _ in events]
    assert kinds == [QAccessible.Event.TextUpdated, QAccessible.Event.Announcement]
    assert all(widget is room.panel.view for _, widget in events)
    events.clear()
    room.panel.view.set_cursor_row(room.panel.view.cursor_row)
    assert events == []
