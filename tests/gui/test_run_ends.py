"""One notification per run, whatever the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.domain.events import RunSpent
from ltmem_gui.domain.plan import PlanState
from ltmem_gui.domain.prices import Money
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench import RECEIPTS_TASK, Notice
from tests.gui.builders import all_of, apply_plan, extract_plan
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom
from tests.helpers.waiting import until


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path)

    async def yes(*_: object) -> bool:
        await asyncio.sleep(0)
        return True

    made.controller.workbench._confirm = yes
    made.ended = []  # type: ignore[attr-defined]
    made.controller.rooms.ends.ended.connect(made.ended.append)  # type: ignore[attr-defined]
    yield made
    made.close()


def ended(room: QueueRoom) -> list[str]:
    return room.ended  # type: ignore[attr-defined]


def test_a_scan_and_an_estimate_are_not_told_of(room: QueueRoom) -> None:
    room.scan()
    room.act("run.estimate")
    assert ended(room) == []


def test_a_run_over_both_phases_is_told_of_once(room: QueueRoom) -> None:
    notices: list[Notice] = []
    room.controller.rooms.ends.noticed.connect(notices.append)
    room.act("run.start")
    words = "The run has ended. 2 rollouts: 1 gave a memory, 1 held nothing to keep; a plan waits for your review."
    assert ended(room) == [words]
    assert room.said == [words]
    assert [notice.text for notice in notices] == [words]


def test_the_end_of_an_apply_and_of_a_run_without_work(room: QueueRoom) -> None:
    plan = apply_plan(room.home, room.root)
    room.controller.workbench.plan = plan
    room.harness.call(lambda: room.controller.workbench.apply(plan, all_of(plan)))
    assert ended(room) == ["The run has ended. done."]
    room.fake.extract = extract_plan(room.home, state=PlanState.EMPTY)
    room.fake.consolidated = apply_plan(room.home, room.root, state=PlanState.EMPTY)
    room.act("run.start")
    assert ended(room)[1:] == ["The run has ended. nothing is left to do."]


def test_failure_and_cancel_are_each_one(room: QueueRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    async def cancelled(cancel: CancelToken) -> None:
        room.controller.workbench.cancel()
        await asyncio.sleep(0)
        raise Cancelled

    room.fake.gate = cancelled  # type: ignore[assignment]
    room.act("run.start")
    assert [words.split("; ")[-1] for words in ended(room)] == ["The run has ended. it was cancelled."]

    async def fails(*_: object, **__: object) -> None:
        raise InputError("the folder is gone")

    monkeypatch.setattr(room.fake, "plan_consolidate", fails)
    room.act("run.consolidate")
    assert ended(room)[1:] == ["The run has ended. it failed: the folder is gone."]


def test_other_work_that_ends_meanwhile_is_not_the_end(room: QueueRoom) -> None:
    said: list[int] = []

    async def read(cancel: CancelToken) -> None:
        room.controller.workbench.read_receipts()
        await until(lambda: not room.harness.supervisor.is_running(RECEIPTS_TASK), "the end of the other work")
        said.append(len(ended(room)))

    room.fake.gate = read  # type: ignore[assignment]
    room.act("run.start")
    assert (said, len(ended(room))) == ([0], 1)


def test_what_was_spent_is_said_at_the_end(room: QueueRoom) -> None:
    async def spend(cancel: CancelToken) -> None:
        await asyncio.sleep(0)
        room.controller.workbench._events.publish(RunSpent(1_200, Money(Decimal("0.0124"), "USD")))

    room.fake.gate = spend  # type: ignore[assignment]
    room.act("run.start")
    assert ended(room)[0].endswith("a plan waits for your review. 0.012 USD spent, 1,200 tokens.")


def test_actions_on_rows_are_no_runs(room: QueueRoom) -> None:
    room.controller.workbench._set_run(RunState(RunPhase.APPLYING))
    room.controller.workbench._set_run(RunState(RunPhase.DONE))
    room.act("run.estimate")
    assert ended(room) == []


def test_the_window_is_marked_only_where_wished_and_unseen(room: QueueRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    marks: list[str] = []
    monkeypatch.setattr(room.window, "ask_for_attention", lambda: marks.append("mark"))
    room.act("run.consolidate")
    monkeypatch.setattr(QGuiApplication, "focusWindow", lambda: None)
    room.act("run.consolidate")
    assert marks == []
    room.queue.views.attention = True
    room.act("run.consolidate")
    assert marks == ["mark"]
