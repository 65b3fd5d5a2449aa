"""Open in the editor and in the file manager: shown to the letter, confirmed, started once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.outside import FileThere, OutsideAct, OutsideGrant, StartProgram, WriteCopy
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.act_sheet import ActSheet, ask_act
from ltmem_gui.ui.models.opening import PlaceOpener
from ltmem_gui.ui.models.outside_text import describe_act
from ltmem_gui.ui.models.workbench import Notice
from ltmem_gui.ui.theme import Theme
from tests.gui.conftest import LoopHarness
from tests.helpers.waiting import PATIENCE_MS

START = StartProgram(("/usr/bin/code", "-g", "/m/MEMORY.md:3"), "editor", Place("/m", "MEMORY.md", 3))
COPY = WriteCopy("/home/dev/review.md", 1_234, "0" * 64, "The review as Markdown", FileThere(99), 2)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(armed, "ARM_MS", 30)


@pytest.fixture
def adapters() -> Iterator[Composition]:
    made = compose(None)
    yield made
    made.close()


def words(sheet: QWidget) -> str:
    labels = [label.text() for label in sheet.findChildren(QLabel)]
    return "\n".join([*labels, *(field.toPlainText() for field in sheet.findChildren(QPlainTextEdit))])


def shown(qtbot: QtBot, act: OutsideAct) -> ActSheet:
    Theme.load("light").apply()
    sheet = ActSheet("outside", describe_act(act))
    qtbot.addWidget(sheet)
    sheet.open()
    sheet.activateWindow()
    qtbot.waitUntil(sheet.isActiveWindow, timeout=PATIENCE_MS)
    return sheet


def arm(qtbot: QtBot, sheet: ActSheet) -> None:
    """Let the time pass that the button sleeps."""
    sheet._timer.start(0)
    qtbot.waitUntil(sheet.yes_button.isEnabled, timeout=PATIENCE_MS)


def test_the_sheet_shows_the_exact_command_and_cancel_is_default(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(armed, "ARM_MS", 3_600_000)
    sheet = shown(qtbot, START)
    assert "/usr/bin/code -g /m/MEMORY.md:3" in words(sheet)
    assert "never executed" in words(sheet)
    assert not sheet.yes_button.isEnabled()
    cancel = sheet.findChild(QPushButton, "outside.cancel")
    assert cancel is not None
    assert cancel.hasFocus()
    arm(qtbot, sheet)
    sheet.yes_button.setFocus()
    QTest.keyClick(sheet.yes_button, Qt.Key.Key_Return)
    assert not sheet.confirmed
    assert sheet.isVisible()
    QTest.keyClick(sheet.yes_button, Qt.Key.Key_Space)
    assert sheet.confirmed
    assert not sheet.isVisible()


def test_return_and_escape_on_a_fresh_sheet_mean_no(qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space):
        sheet = shown(qtbot, START)
        arm(qtbot, sheet)
        QTest.keyClick(sheet.focusWidget(), key)
        assert not sheet.confirmed
        assert not sheet.isVisible()


def test_a_copy_says_where_how_much_and_what_is_lost(qtbot: QtBot) -> None:
    text = words(shown(qtbot, COPY))
    for part in ("/home/dev/review.md", "1.2 KiB", "Replaces the file", "2 secrets"):
        assert part in text, part
    manager = StartProgram(("xdg-open", "/m"), "file manager", START.place)
    assert "Show this file in the file manager?" in words(shown(qtbot, manager))
    plain = WriteCopy("/x", 1, "0" * 64, "The review as JSON", redactions=0)
    assert "No secret was found" in words(shown(qtbot, plain))
    unseen = WriteCopy("/x", 1, "0" * 64, "The choice of a model")
    assert "secret" not in words(shown(qtbot, unseen)).lower()


def test_what_is_long_scrolls_and_what_is_short_takes_a_line(qtbot: QtBot) -> None:
    heights: list[int] = []
    for path in ("/x", "/x/" + "a" * 2_000, "/x/" + "a" * 3_900):
        sheet = shown(qtbot, WriteCopy(path, 1, "0" * 64, "The review as JSON"))
        exact = sheet.findChild(QPlainTextEdit, "outside.exact")
        assert exact is not None
        assert exact.toPlainText() == path
        assert exact.accessibleDescription() == path
        assert exact.isReadOnly()
        heights.append(exact.height())
        assert sheet.height() < 400
    assert heights[0] < heights[1] == heights[2]


class Recorder:
    def __init__(self, inner: object) -> None:
        self._inner = inner
        self.started: list[OutsideAct] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def start(self, grant: OutsideGrant) -> None:
        grant.consume()
        self.started.append(grant.act)


Make = Callable[[str], tuple[PlaceOpener, list[Notice], QWidget]]


@pytest.fixture
def recorder(adapters: Composition) -> Recorder:
    made = Recorder(adapters.outside)
    adapters._built["outside"] = made
    return made


@pytest.fixture
def make(qtbot: QtBot, harness: LoopHarness, adapters: Composition) -> Make:
    def build(editor: str) -> tuple[PlaceOpener, list[Notice], QWidget]:
        window = QWidget()
        qtbot.addWidget(window)
        window.show()
        opener = PlaceOpener(
            Operations(adapters),
            harness.supervisor,
            editor=lambda: editor,
            confirm=lambda act: ask_act("outside", describe_act(act), window),
            parent=window,
        )
        notices: list[Notice] = []
        opener.noticed.connect(notices.append)
        return opener, notices, window

    return build


async def answer(window: QWidget, name: str) -> None:
    while True:
        sheet = window.findChild(ActSheet)
        if sheet is not None and sheet.yes_button.isEnabled():
            break
        await asyncio.sleep(0.01)
    button = sheet.findChild(QPushButton, name)
    assert button is not None
    QTest.keyClick(button, Qt.Key.Key_Space)


@pytest.mark.parametrize("said", ["yes", "cancel"])
def test_a_start_needs_a_yes(make: Make, harness: LoopHarness, recorder: Recorder, tmp_path: Path, said: str) -> None:
    (tmp_path / "MEMORY.md").write_text("a\n")
    opener, notices, window = make("git {file} {line}")

    async def both() -> None:
        opener.open_in_editor(Place(str(tmp_path), "MEMORY.md", 3))
        await answer(window, f"outside.{said}")
        await harness.supervisor.idle()

    harness.run(both())
    assert len(recorder.started) == (said == "yes")
    if said == "yes":
        (act,) = recorder.started
        assert isinstance(act, StartProgram)
        assert act.argv[1:] == (str(tmp_path / "MEMORY.md"), "3")
        assert notices[0].text.endswith("for MEMORY.md:3.")


def test_without_an_editor_it_says_where_to_set_one(make: Make, recorder: Recorder) -> None:
    opener, notices, _ = make("")
    opener.open_in_editor(Place("/m", "MEMORY.md"))
    assert "No editor is set" in notices[0].text
    assert "--set 'editor=" in notices[0].remedy
    assert recorder.started == []


def test_the_file_manager_is_asked_for_too(
    make: Make, harness: LoopHarness, recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "MEMORY.md").write_text("a\n")
    monkeypatch.setattr(recorder._inner, "manager_command", lambda file: ("git", str(Path(file).parent)))
    opener, _, window = make("")

    async def both() -> None:
        opener.show_in_file_manager(Place(str(tmp_path), "MEMORY.md"))
        await answer(window, "outside.yes")
        await harness.supervisor.idle()

    harness.run(both())
    (act,) = recorder.started
    assert isinstance(act, StartProgram)
    assert act.argv[1:] == (str(tmp_path),)


@pytest.mark.log_expected
def test_a_link_is_told_and_nothing_is_asked(
    make: Make, harness: LoopHarness, recorder: Recorder, tmp_path: Path
) -> None:
    (tmp_path / "x.md").symlink_to("/etc/passwd")
    opener, _, window = make("git {file} {line}")
    known: list[object] = []
    harness.supervisor.known_raised.connect(known.append)
    harness.call(lambda: opener.open_in_editor(Place(str(tmp_path), "x.md")))
    assert "symlink" in str(known[0])
    assert window.findChild(ActSheet) is None
    assert recorder.started == []
