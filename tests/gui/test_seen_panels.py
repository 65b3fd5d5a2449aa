"""What was read is shown at once where a person looks, and elsewhere in later turns; facts keep their labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.seen_panels import SeenPanels
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.widgets.facts import Fact, FactGrid
from tests.gui.builders import FakeOperations
from tests.helpers.waiting import PATIENCE_MS


@pytest.fixture
def told(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[MainWindow, SeenPanels, list[tuple[str, Seen]]]:
    """Give a window whose panels only note what they are told."""
    window = MainWindow(FakeOperations(tmp_path, tmp_path), Supervisor(), Theme.load("light"))  # type: ignore[arg-type]
    qtbot.addWidget(window)
    noted: list[tuple[str, Seen]] = []
    for name in ("queue", "inbox", "history", "citations", "memory"):
        panel = getattr(window, name)
        monkeypatch.setattr(panel, "show_seen", lambda seen, name=name: noted.append((name, seen)))
    return window, SeenPanels(window), noted


def test_the_panel_in_sight_is_first_and_counted_ones_follow(
    qtbot: QtBot, told: tuple[MainWindow, SeenPanels, list[tuple[str, Seen]]]
) -> None:
    window, panels, noted = told
    window.show_panel("history")
    seen = Seen(receipts=())
    panels.show_seen(seen)
    assert noted == [("history", seen)]
    qtbot.waitUntil(lambda: len(noted) == 4, timeout=PATIENCE_MS)
    assert [name for name, _ in noted] == ["history", "queue", "inbox", "citations"]
    window.show_panel("memory")
    assert noted[-1] == ("memory", seen)
    window.show_panel("history")
    window.show_panel("memory")
    assert len(noted) == 5


def test_what_was_read_of_other_folders_is_never_shown_later(
    qtbot: QtBot, told: tuple[MainWindow, SeenPanels, list[tuple[str, Seen]]]
) -> None:
    window, panels, noted = told
    window.show_panel("queue")
    panels.show_seen(Seen(receipts=()))
    fresh = Seen()
    panels.show_seen(fresh)
    noted.clear()
    qtbot.waitUntil(lambda: len(noted) == 2, timeout=PATIENCE_MS)
    window.show_panel("history")
    assert {id(seen) for _, seen in noted} == {id(fresh)}


def test_facts_keep_their_labels_and_show_no_more_than_they_are_given(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    grid = FactGrid(horizontal=8, vertical=2)
    page.setLayout(grid)
    page.show()
    grid.show_facts([Fact("Agent", "codex"), Fact("Lease", "none"), Fact("Why", "<b>words</b>", whole=True)])
    assert grid.facts == (("Agent", "codex"), ("Lease", "none"), ("Why", "<b>words</b>"))
    labels = page.findChildren(QLabel)
    grid.show_facts([Fact("Agent", "claude"), Fact("Tokens", "7")])
    assert grid.facts == (("Agent", "claude"), ("Tokens", "7"))
    assert page.findChildren(QLabel) == labels
    # A sentence takes the place of a short fact: another kind of label, and the old one goes.
    grid.show_facts([Fact("Why", "a sentence", whole=True)])
    assert grid.facts == (("Why", "a sentence"),)
    QApplication.processEvents()
    assert [label.text() for label in page.findChildren(QLabel) if label.isVisible()][:1] == ["Why"]
    assert sum(label.isVisible() for label in page.findChildren(QLabel)) == 2
