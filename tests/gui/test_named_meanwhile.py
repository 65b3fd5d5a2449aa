"""What is planned beside the run is for the folders that were named: it is dropped, with words, when others are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.audit import Support
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.pipeline.audit_operations import AuditOperations
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import InterruptedOperation
from ltmem_gui.ui.bridge.holding import OtherFolders, held
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.models.audit_state import SittingWish
from ltmem_gui.ui.models.workbench import Folders
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom
from tests.gui.test_audit_desk import write_folder
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.reviews import plan_of_files
from tests.helpers.waiting import until

DROPPED = "other folders were named, so what was planned was dropped"
SECRET_LINE = f"the key is ghp_{'a1B2c3D4e5' * 3}f6G7h8\n"


class Other(QObject):
    """Name other folders."""

    changed = Signal(object)


def test_a_task_is_given_up_with_words_only_by_other_folders(harness: LoopHarness) -> None:
    other = Other()

    async def hold(waiting: Callable[[], Awaitable[object]]) -> str:
        with held(other.changed):
            await waiting()
        return "done"

    async def swallow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return

    async def outcome(waiting: Callable[[], Awaitable[object]], *, named: bool, cancelled: bool) -> object:
        task = asyncio.ensure_future(hold(waiting))
        await asyncio.sleep(0)
        if named:
            other.changed.emit(None)
            other.changed.emit(None)
        if cancelled:
            task.cancel()
        (found,) = await asyncio.gather(task, return_exceptions=True)
        return found if isinstance(found, str) else type(found)

    def wait() -> Awaitable[object]:
        return asyncio.sleep(60)

    def short() -> Awaitable[object]:
        return asyncio.sleep(0)

    async def all_of_them() -> list[object]:
        return [
            await outcome(short, named=False, cancelled=False),
            await outcome(wait, named=True, cancelled=False),
            await outcome(wait, named=False, cancelled=True),
            await outcome(wait, named=True, cancelled=True),
            await outcome(swallow, named=True, cancelled=False),
        ]

    cancelled = asyncio.CancelledError
    assert harness.run(all_of_them()) == ["done", OtherFolders, cancelled, cancelled, OtherFolders]


class Moving:
    """A window whose person names other folders while something else is being planned."""

    def __init__(self, room: QueueRoom, other: Folders) -> None:
        self.room, self.other = room, other

    def name_others(self) -> None:
        self.room.controller.name_folders(self.other)

    def during(self, monkeypatch: pytest.MonkeyPatch, owner: object, method: str) -> None:
        """Name the other folders once this is under way, and let it go on."""
        before = getattr(owner, method)

        async def slow(*args: Any, **more: Any) -> object:
            found = await before(*args, **more)
            self.name_others()
            await asyncio.sleep(0)
            return found

        monkeypatch.setattr(owner, method, slow)

    def while_open(self, press: Callable[[], object]) -> None:
        """Press, and name the other folders while the sheet or question is open."""

        async def both() -> None:
            press()
            await until(lambda: self.dialogs(), "the sheet")
            self.name_others()
            await asyncio.sleep(0)
            await self.room.harness.supervisor.idle()

        self.room.harness.run(both())

    def dialogs(self) -> list[QDialog]:
        return [dialog for dialog in self.room.window.findChildren(QDialog) if dialog.isVisible()]

    @property
    def said(self) -> str:
        return self.room.window.messages.text


@pytest.fixture
def moving(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Moving]:
    monkeypatch.setattr(confirmation, "ARM_MS", 20)
    bench = Bench(tmp_path / "bench")
    write_folder(bench, 2)
    (bench.memory / "own.md").write_text(SECRET_LINE)
    made = QueueRoom(qtbot, harness, tmp_path, real=True)
    first = Folders((), bench.memory, bench.home)
    made.harness.call(lambda: made.controller.name_folders(first))
    (tmp_path / "other").mkdir()
    guard.protect(bench.home, bench.memory, tmp_path / "other")
    yield Moving(made, Folders((), tmp_path / "other" / "memory", tmp_path / "other" / "home"))
    made.close()


def test_a_look_for_secrets_is_dropped(moving: Moving, monkeypatch: pytest.MonkeyPatch) -> None:
    moving.during(monkeypatch, Operations, "plan_redact")
    moving.room.act("memory.redact")
    assert moving.said == DROPPED
    assert moving.room.controller.workbench.plan is None


def test_a_question_for_a_codex_home_is_dropped(moving: Moving, tmp_path: Path) -> None:
    async def ask(title: str, start: Path | None, parent: QWidget) -> Path | None:
        moving.name_others()
        await asyncio.sleep(0)
        return tmp_path

    moving.room.controller.rooms.take_over.ask = ask
    moving.room.act("codex.take_over")
    assert moving.said == DROPPED


def test_the_sheet_of_a_sitting_is_closed(moving: Moving) -> None:
    session = moving.room.window.citations.session
    moving.while_open(lambda: session.begin(SittingWish("dev"), None))
    assert moving.dialogs() == []
    assert moving.said == DROPPED
    assert not session.is_open


def test_a_repair_is_dropped(moving: Moving, monkeypatch: pytest.MonkeyPatch) -> None:
    session, bench = moving.room.window.citations.session, moving.room.controller.workbench
    moving.room.harness.call(bench.read_folder)
    moving.during(monkeypatch, AuditOperations, "plan_repairs")
    row = moving.room.window.citations.model.rows[0]
    entry = row.entry
    assert entry is not None
    moving.room.harness.call(lambda: session.propose_place(row.file, entry, 2, 2))
    assert moving.said == DROPPED
    assert bench.plan is None


def test_a_report_is_dropped(moving: Moving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = moving.room.window.citations.session
    assert session.copies is not None

    async def choose(title: str, name: str) -> Path | None:
        await asyncio.sleep(0)
        return tmp_path / name

    session.copies.choose = choose
    moving.during(monkeypatch, AuditOperations, "report")
    moving.room.harness.call(lambda: session.save_report("md", None))
    assert moving.said == DROPPED
    assert not (tmp_path / "citations.md").exists()


def test_a_dry_run_is_dropped(moving: Moving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    home = moving.room.controller.workbench.folders.home
    named = Folders((SourceSpec("codex", str(tmp_path / "sessions")),), None, home)
    moving.room.harness.call(lambda: moving.room.controller.name_folders(named))
    moving.during(monkeypatch, Operations, "plan_extract")
    moving.room.act("run.dry")
    assert moving.said == DROPPED
    assert moving.dialogs() == []


def test_the_sheet_that_lets_a_review_be_judged_is_closed(moving: Moving) -> None:
    verdicts = moving.room.window.review.verdicts
    verdicts._plan, _ = plan_of_files({}, {"MEMORY.md": b"# Task Group: app\n"})
    item: Any = None
    moving.while_open(
        lambda: moving.room.harness.supervisor.spawn("judge", verdicts._begin(item, Support.SUPPORTS, ""))
    )
    assert moving.dialogs() == []
    assert moving.said == DROPPED


def test_a_question_for_the_layout_is_closed(moving: Moving, guard: Guard) -> None:
    layout = moving.room.controller.rooms.layout
    assert layout is not None
    home = moving.room.controller.workbench.folders.home
    assert home is not None
    with guard.grant():
        home.mkdir()
    moving.while_open(lambda: layout._on_remember_asked(True))
    assert moving.dialogs() == []
    assert moving.said == DROPPED
    assert not layout.keeper.remembers


@pytest.mark.parametrize("finish", [True, False])
def test_the_question_of_what_was_interrupted_is_closed(moving: Moving, finish: bool) -> None:
    desk, root = moving.room.controller.rooms.recovery, str(moving.room.controller.workbench.folders.memory_root)
    cut_off = InterruptedOperation("0" * 64, "write", ("MEMORY.md",), root, "consolidate", recorded=True)
    moving.while_open(lambda: moving.room.harness.supervisor.spawn("recovery", desk._end(cut_off, finish)))
    assert moving.dialogs() == []
    assert moving.said == DROPPED


def test_a_sitting_ends_with_its_folders_while_a_repair_is_planned(
    moving: Moving, monkeypatch: pytest.MonkeyPatch, guard: Guard
) -> None:
    session = moving.room.window.citations.session

    async def yes(plan: Plan, selection: Selection) -> bool:
        await asyncio.sleep(0)
        return True

    monkeypatch.setattr(session, "_powers", replace(session._lent(), confirm=yes))
    moving.room.harness.call(moving.room.controller.workbench.read_folder)
    moving.room.harness.call(lambda: session.begin(SittingWish("dev"), None))
    assert session.is_open
    moving.during(monkeypatch, AuditOperations, "plan_repairs")
    moving.room.harness.call(lambda: session.propose("remove claim"))
    assert not session.is_open
    assert moving.room.controller.workbench.plan is None
