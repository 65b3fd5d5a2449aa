"""The layout of the queue: views, columns, and the one file that is written after a yes."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QMenu, QPlainTextEdit
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.errors import InputError, KnownError
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.act_sheet import ActSheet
from ltmem_gui.ui.dialogs.view_name import ViewName
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.job_table import COLUMNS
from ltmem_gui.ui.models.layout_keeper import LayoutKeeper
from ltmem_gui.ui.models.saved_views import DEFAULT_VIEWS, with_view, without_view
from ltmem_gui.ui.models.window_state import (
    MAX_VIEWS,
    ColumnLook,
    QueueView,
    SortLook,
    WindowState,
    from_bytes,
    to_bytes,
)
from ltmem_gui.ui.models.workbench import Folders, Seen
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.window_layout import WindowLayout
from ltmem_gui.workspace.window_file import MAX_BYTES, WindowFile
from tests.gui.builders import FakeOperations, report
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom
from tests.helpers.guard import Guard
from tests.helpers.waiting import PATIENCE_SECONDS


class Place:
    """A window with a data folder, and another one after a restart."""

    def __init__(self, qtbot: QtBot, harness: LoopHarness, top: Path) -> None:
        self.qtbot, self.harness, self.home = qtbot, harness, top / "home"
        self.errors: list[KnownError] = []
        harness.supervisor.known_raised.connect(self.errors.append)

    def window(self) -> tuple[MainWindow, WindowLayout]:
        theme = Theme.load("light")
        theme.apply()
        operations = FakeOperations(self.home, self.home.parent / "memory")
        window = MainWindow(operations, self.harness.supervisor, theme)  # type: ignore[arg-type]
        self.qtbot.addWidget(window)
        layout = WindowLayout(window, WindowFile(), self.harness.supervisor)
        layout.open(Folders((SourceSpec("codex", "/s"),), None, self.home))
        window.show()
        window.show_panel("queue")
        return window, layout

    @property
    def file(self) -> Path:
        return self.home / "window.json"

    def answer(self, act: Callable[[], None], kind: type[QDialog], reply: Callable[[QDialog], None]) -> None:
        """Do something that opens a dialog, and answer it."""

        async def both() -> None:
            act()
            while True:
                dialog = self.find(kind)
                armed = not isinstance(dialog, ActSheet) or dialog.yes_button.isEnabled()
                if dialog is not None and dialog.isVisible() and armed:
                    break
                await asyncio.sleep(0.01)
            reply(dialog)
            await asyncio.sleep(0)
            await self.harness.supervisor.idle()

        self.harness.run(both())

    def find(self, kind: type[QDialog]) -> QDialog | None:
        for widget in self.qtbot._request.node.qt_widgets:
            window = widget[0]()
            found = window.findChild(kind) if window is not None else None
            if found is not None:
                return found
        return None

    def remember(self, layout: WindowLayout, views: object, guard: Guard) -> None:
        with guard.grant():
            self.answer(lambda: layout._on_remember_asked(True), ActSheet, _yes)
            layout.keeper.close()


def _yes(dialog: QDialog) -> None:
    assert isinstance(dialog, ActSheet)
    QTest.mouseClick(dialog.yes_button, Qt.MouseButton.LeftButton)


@pytest.fixture
def place(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(armed, "ARM_MS", 20)
    made = Place(qtbot, harness, tmp_path)
    guard.protect(made.home)
    guard.watch(made.home)
    return made


def _make_home(place: Place, guard: Guard) -> None:
    with guard.grant():
        place.home.mkdir()


def test_nothing_is_read_or_written_before_a_yes(place: Place, guard: Guard) -> None:
    window, layout = place.window()
    window.queue.views.set_hidden("agent", True)
    place.harness.call(lambda: layout._on_remember_asked(True))
    assert "a confirmed run creates it" in place.errors[-1].what
    assert not place.home.exists()
    _make_home(place, guard)
    place.answer(lambda: layout._on_remember_asked(True), ActSheet, lambda dialog: QTest.keyClick(dialog, _RETURN))
    place.answer(lambda: layout._on_remember_asked(True), ActSheet, lambda dialog: QTest.keyClick(dialog, _ESCAPE))
    window.queue.filter.setText("npm")
    layout.close()
    assert list(place.home.iterdir()) == []
    assert guard.reads[1:] == []  # the look just before


_RETURN, _ESCAPE = Qt.Key.Key_Return, Qt.Key.Key_Escape


def test_the_sheet_names_the_file_and_only_its_button_means_yes(place: Place, guard: Guard) -> None:
    _make_home(place, guard)
    window, layout = place.window()
    seen: list[str] = []

    def look(dialog: QDialog) -> None:
        assert isinstance(dialog, ActSheet)
        seen.extend(field.toPlainText() for field in dialog.findChildren(QPlainTextEdit, "keep_layout.exact"))
        assert dialog.focusWidget() is dialog._cancel
        QTest.keyClick(dialog, _RETURN)

    place.answer(lambda: layout._on_remember_asked(True), ActSheet, look)
    assert str(place.file) in seen
    assert not place.file.exists()
    place.remember(layout, window, guard)
    assert json.loads(place.file.read_bytes())["remember"] is True
    assert place.file.stat().st_mode & 0o777 == 0o600


def test_a_restart_brings_everything_back(place: Place, guard: Guard) -> None:
    _make_home(place, guard)
    window, layout = place.window()
    window.resize(960, 700)
    queue = window.queue
    queue.model.set_rows([])
    queue.show_seen(_seen(5))
    queue.views.set_hidden("agent", True)
    queue.table.horizontalHeader().moveSection(1, 3)
    queue.table.setColumnWidth(3, 321)
    queue.table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    queue.table.sortByColumn(9, Qt.SortOrder.DescendingOrder)
    queue.filter.setText("pnpm")
    queue.chips._buttons["waiting"].click()
    key = queue.model.row_at(2).key  # type: ignore[union-attr]
    queue.select_key(key)
    place.answer(lambda: queue.views.save_asked.emit(""), ViewName, lambda d: _type(d, "Mine & yours"))
    queue.splitter.setSizes([300, 200])
    before = layout.current()
    place.remember(layout, window, guard)
    window.hide()

    again, later = place.window()
    assert later.keeper.remembers
    again.queue.show_seen(_seen(5))
    after = later.current()
    assert after.queue == before.queue
    assert after.views == before.views
    assert (after.width, after.height) == (960, 700)
    assert again.queue.model.orders == window.queue.model.orders
    assert [order.column for order in again.queue.model.orders] == ["tokens", "project"]
    assert again.queue.table.horizontalHeader().isSectionHidden(1)
    assert again.queue.current_row().key == key  # type: ignore[union-attr]
    assert again.queue.views.shown_name() == "Mine & yours"


def _type(dialog: QDialog, name: str) -> None:
    assert isinstance(dialog, ViewName)
    assert not dialog.save.isEnabled()
    QTest.keyClicks(dialog.line, name)
    QTest.keyClick(dialog.line, _RETURN)


def _seen(count: int) -> Seen:
    return Seen(report=report(count))


def test_changes_are_written_by_themselves_and_a_no_ends_that(place: Place, guard: Guard) -> None:
    _make_home(place, guard)
    window, layout = place.window()
    place.remember(layout, window, guard)
    with guard.grant():

        async def wait() -> None:
            layout.keeper._timer.setInterval(1)
            window.queue.views.set_hidden("cost", True)
            while True:
                if b'"hidden": true' in place.file.read_bytes():
                    break
                await asyncio.sleep(0.01)
            await place.harness.supervisor.idle()

        place.harness.run(wait())
        layout._on_remember_asked(False)
        assert json.loads(place.file.read_bytes())["remember"] is False
        kept = place.file.read_bytes()
        window.queue.views.set_hidden("cost", False)
        layout.close()
    assert place.file.read_bytes() == kept
    _, later = place.window()
    assert not later.keeper.remembers


def test_the_last_layout_wins_over_a_write_that_is_under_way(
    place: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_home(place, guard)
    window, layout = place.window()
    place.remember(layout, window, guard)
    write, begun, last = WindowFile.write, threading.Event(), threading.Event()
    current = layout.keeper._current

    def slow(self: WindowFile, home: Path, data: bytes) -> None:
        begun.set()
        assert last.wait(PATIENCE_SECONDS)
        write(self, home, data)

    def looked_at() -> WindowState:
        if begun.is_set():  # it is the last one that is put together now; it will have to wait for the slow one
            last.set()
        return current()

    monkeypatch.setattr(WindowFile, "write", slow)
    monkeypatch.setattr(layout.keeper, "_current", looked_at)
    with guard.grant():

        async def both() -> None:
            layout.keeper._timer.setInterval(1)
            window.queue.views.set_hidden("cost", True)
            assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
            window.queue.views.set_hidden("lease", True)
            layout.close()
            window.queue.views.set_hidden("tokens", True)
            await place.harness.supervisor.idle()

        place.harness.run(both())
    hidden = [column["id"] for column in json.loads(place.file.read_bytes())["queue"]["columns"] if column["hidden"]]
    assert sorted(hidden) == ["cost", "lease"]
    assert not layout.keeper._timer.isActive()


class Files:
    """Files of layouts in memory; a write beside the window waits for `gate`."""

    def __init__(self) -> None:
        self.held = {Path("/a"): to_bytes(WindowState(remember=True, width=1))}
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()

    def path(self, home: Path) -> Path:
        return home / "window.json"

    def read(self, home: Path) -> bytes | None:
        return self.held.get(home)

    def write(self, home: Path, data: bytes) -> None:
        if threading.current_thread() is not threading.main_thread():
            self.begun.set()
            assert self.gate.wait(PATIENCE_SECONDS)
        self.held[home] = data

    def state(self) -> WindowState:
        return from_bytes(self.held[Path("/a")])


def test_a_write_belongs_to_the_folder_it_was_meant_for(harness: LoopHarness, qtbot: QtBot) -> None:
    files, width = Files(), [1]
    keeper = LayoutKeeper(files, harness.supervisor, lambda: WindowState(width=width[0]))

    async def turn() -> None:
        keeper.open(Path("/a"))
        width[0] = 5
        keeper._on_timer_fired()
        keeper.open(Path("/b"))
        await harness.supervisor.idle()

    harness.run(turn())
    assert list(files.held) == [Path("/a")]
    assert files.state().width == 5


def test_a_slow_write_neither_outlives_a_change_back_nor_hides_a_new_yes(harness: LoopHarness, qtbot: QtBot) -> None:
    files, width = Files(), [1]
    keeper = LayoutKeeper(files, harness.supervisor, lambda: WindowState(width=width[0]))

    async def write_slowly(meanwhile: Callable[[], None]) -> None:
        files.begun.clear()
        files.gate.clear()
        keeper._on_timer_fired()
        assert await asyncio.to_thread(files.begun.wait, PATIENCE_SECONDS)
        files.gate.set()
        meanwhile()
        await harness.supervisor.idle()

    def change_back() -> None:
        width[0] = 1
        keeper.close()

    keeper.open(Path("/a"))
    width[0] = 5
    harness.run(write_slowly(change_back))
    assert files.state().width == 1
    width[0] = 7
    harness.run(write_slowly(keeper.stop))
    assert not files.state().remember
    keeper.allow()
    keeper.close()
    assert files.state() == WindowState(remember=True, width=7)


def test_what_cannot_be_written_is_told_and_the_window_goes_on(place: Place, guard: Guard) -> None:
    _make_home(place, guard)
    window, layout = place.window()
    place.remember(layout, window, guard)
    with guard.grant():
        place.file.unlink()
        place.file.mkdir()
        window.queue.views.attention_asked.emit(True)
        layout.close()
    assert "cannot be written" in place.errors[-1].what
    assert layout.current().attention


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 2}',
        b'{"version": 1, "remember": "yes"}',
        b'{"version": 1, "width": 99999999}',
        b'{"version": 1, "views": [{"name": "a\\u202eb"}]}',
        b'{"version": 1, "unknown": 1}',
        b"[" * 100_000,
        b"\xff\xfe",
        b" " * (MAX_BYTES + 1),
    ],
)
def test_a_broken_file_is_told_and_kept(place: Place, guard: Guard, data: bytes) -> None:
    with guard.grant():
        place.home.mkdir()
        place.file.write_bytes(data)
    window, layout = place.window()
    assert len(place.errors) == 1
    assert place.errors[0].where == str(place.file)
    assert not layout.keeper.remembers
    window.queue.views.set_hidden("agent", True)
    layout.close()
    assert place.file.read_bytes() == data


def test_a_link_or_pipe_is_never_opened(place: Place, guard: Guard, tmp_path: Path) -> None:
    with guard.grant():
        place.home.mkdir()
        (tmp_path / "other.json").write_bytes(to_bytes(WindowState(remember=True)))
        place.file.symlink_to(tmp_path / "other.json")
        place.window()
        assert "no regular file" in place.errors[-1].what
        place.file.unlink()
        os.mkfifo(place.file)
    place.window()
    assert "no regular file" in place.errors[-1].what


def test_what_this_program_does_not_know_is_passed_over(place: Place) -> None:
    window, layout = place.window()
    view = QueueView(
        name="x",
        kinds=("gone", "bad"),
        orders=(SortLook(column="nothing"), SortLook(column="lease")),
        columns=(ColumnLook(id="nothing", width=90), ColumnLook(id="state", width=90, hidden=True)),
    )
    window.queue.views.apply(view)
    now = layout.current().queue
    assert now.kinds == ("bad",)
    assert [order.column for order in now.orders] == ["lease"]
    assert len(now.columns) == len(COLUMNS)
    assert not next(column for column in now.columns if column.id == "state").hidden


def test_views_of_the_program_and_of_a_person(place: Place) -> None:
    window, _ = place.window()
    views = window.queue.views
    assert views.shown_name() == "All rollouts"
    failed = next(view for view in DEFAULT_VIEWS if view.name == "Failed")
    views.apply(failed)
    assert views.shown_name() == "Failed"
    window.queue.filter.setText("x")
    assert views.shown_name() == ""
    views.save("Mine")
    assert views.shown_name() == "Mine"
    menu = views.menu()
    checked = [action.text() for action in menu.actions() if action.isChecked()]
    assert checked == ["Mine"]
    titles = [action.text() for action in menu.actions() if action.text()]
    assert {"Needs a person", "Not taken", "Save this view…", "Columns", "Remove a view"} <= set(titles)
    columns = next(a.menu() for a in menu.actions() if a.text() == "Columns")
    assert isinstance(columns, QMenu)
    next(action for action in columns.actions() if action.text() == "Agent").trigger()
    assert window.queue.table.isColumnHidden(1)
    next(action for action in columns.actions() if action.text() == "Reset columns").trigger()
    assert not window.queue.table.isColumnHidden(1)
    assert not next(action for action in columns.actions() if action.text() == "State").isEnabled()
    menu.deleteLater()
    views.remove("Mine")
    assert views.saved == ()
    views.apply(DEFAULT_VIEWS[0])
    assert window.queue.model.orders == ()


def test_names_of_views_are_checked() -> None:
    mine = with_view((), QueueView(name="mine"))
    assert [view.name for view in with_view(mine, QueueView(name="MINE"))] == ["MINE"]
    assert without_view(mine, "mine") == ()
    for name in ("failed", "  ", "a\u202eb"):
        with pytest.raises(InputError):
            with_view((), QueueView.model_construct(name=name))
    many = tuple(QueueView(name=f"v{number}") for number in range(MAX_VIEWS))
    with pytest.raises(InputError):
        with_view(many, QueueView(name="one more"))


def test_the_whole_window_takes_its_layout_from_the_folder_that_is_named(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard
) -> None:
    with guard.grant():
        (tmp_path / "home").mkdir()
        state = WindowState(remember=True, attention=True, queue=QueueView(name="x", text="npm", kinds=("bad",)))
        (tmp_path / "home" / "window.json").write_bytes(to_bytes(state))
        room = QueueRoom(qtbot, harness, tmp_path)
        try:
            assert room.queue.filter.text() == "npm"
            assert room.queue.chips.checked == {"bad"}
            assert room.queue.views.attention
            room.queue.views.remember_asked.emit(False)
            assert "not remembered any more" in room.window.messages.text
        finally:
            room.close()
    assert json.loads((tmp_path / "home" / "window.json").read_bytes())["remember"] is False


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(
        lambda value: json.dumps({"version": 1, "queue": value}).encode()
    )
)
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_a_state_or_an_error(data: bytes) -> None:
    try:
        state = from_bytes(data)
    except InputError:
        return
    assert from_bytes(to_bytes(state)) == state


def test_write_needs_a_data_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        WindowFile().write(tmp_path / "none", b"{}")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "window.json").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        WindowFile().write(tmp_path / "home", b"{}")
