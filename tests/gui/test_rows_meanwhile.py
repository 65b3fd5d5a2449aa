"""The queue is true of what happened while its rows were being made or put in order, and of rows that are gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.events import JobFinished, JobStarted, LeaseRenewed
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND, JobRecord, JobStatus
from ltmem_gui.domain.plan import PlanState
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.pipeline.standing import Standing
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench import Folders, Seen
from ltmem_gui.ui.panels.queue import PIECE
from tests.gui.builders import NOW, apply_plan, report, scanned
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom

MANY = 4 * PIECE
DONE = JobRecord(GLOBAL_KIND, GLOBAL_KEY, JobStatus.DONE)


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def _label(room: QueueRoom, key: str) -> str:
    row = room.queue.model.row_of(key)
    assert row is not None
    return row.state.name


def test_a_plan_that_comes_while_rows_are_made_is_said(room: QueueRoom) -> None:
    plan = apply_plan(room.home, room.root)

    def both() -> None:
        room.queue.show_seen(Seen(report=report(MANY), jobs=(DONE,)))
        room.queue.show_plan(plan)

    room.harness.call(both)
    assert _label(room, GLOBAL_KEY) == "plan to review"

    def neither() -> None:
        room.queue.show_seen(Seen(report=report(MANY), jobs=(DONE,)))
        room.queue.show_plan(None)

    room.harness.call(neither)
    assert _label(room, GLOBAL_KEY) != "plan to review"


def test_what_a_run_tells_while_rows_are_made_is_shown(room: QueueRoom) -> None:
    begun, ended = scanned(0).id, scanned(MANY - 1).id

    def both() -> None:
        room.queue.show_seen(Seen(report=report(MANY)))
        room.queue.take_events((JobStarted(begun, 1), JobStarted(ended, 1)))
        room.queue.take_events((JobFinished(ended, "succeeded"),))

    room.harness.call(both)
    assert _label(room, begun) == "running"
    assert _label(room, ended) == "done"
    # What was told is of that list alone.
    room.harness.call(lambda: room.queue.show_seen(Seen(report=report(MANY))))
    assert _label(room, begun) != "running"


def test_a_large_list_in_an_order_keeps_row_scroll_and_keyboard_when_read_again(room: QueueRoom) -> None:
    queue = room.queue
    queue.model.sort(4)
    room.harness.call(lambda: room.controller._on_seen_changed(Seen(report=report(6_000))))
    key = scanned(3_000).id
    queue.select_key(key)
    queue.table.setFocus()
    assert queue.table.hasFocus()
    top = queue.model.row_at(queue.table.rowAt(0))
    assert top is not None
    said: list[object] = []
    queue.row_chosen.connect(said.append)
    room.harness.call(lambda: room.controller._on_seen_changed(Seen(report=report(6_001))))
    row = queue.current_row()
    assert row is not None
    assert row.key == key
    assert [each.key for each in queue.selected_rows()] == [key]
    after = queue.model.row_at(queue.table.rowAt(0))
    assert after is not None
    assert after.key == top.key
    assert queue.table.hasFocus()
    assert None not in said


def test_a_plan_leaves_the_mark_of_what_was_interrupted(room: QueueRoom) -> None:
    cut = JobRecord(GLOBAL_KIND, GLOBAL_KEY, JobStatus.RUNNING, owner="box:1:1:ltmem")
    room.harness.call(lambda: room.queue.show_seen(Seen(jobs=(cut,), standing=Standing(jobs=(cut,)))))
    assert _label(room, GLOBAL_KEY) == "interrupted"
    room.queue.show_plan(apply_plan(room.home, room.root))
    room.queue.show_plan(None)
    assert _label(room, GLOBAL_KEY) == "interrupted"


def test_no_action_of_a_row_is_left_on_when_the_row_is_gone(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(1).id)
    assert room.window.registry.action("queue.rollout").isEnabled()
    other = Folders((SourceSpec("codex", "/elsewhere"),), room.root, room.home)
    room.harness.call(lambda: room.controller.name_folders(other))
    assert room.queue.current_row() is None
    on = [
        spec.id
        for spec in room.window.registry.specs
        if spec.context == "queue" and room.window.registry.action(spec.id).isEnabled()
    ]
    assert not [id_ for id_ in on if id_ not in ("queue.detail",)]
    assert "no row is selected" in room.tip("queue.rollout")


def test_citations_of_a_row_are_offered_once_the_folder_was_read(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(0).id)
    assert "not read yet" in room.tip("queue.citations")
    room.harness.call(room.controller.workbench.read_folder)
    assert room.window.registry.action("queue.citations").isEnabled()


def test_the_others_of_no_action_are_not_offered(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(1).id)
    assert not room.window.registry.trigger("queue.others")
    assert "no action" in room.tip("queue.others")


def test_nothing_can_be_stopped_after_the_run_was_cancelled(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(0).id)
    bench = room.controller.workbench
    bench._set_run(RunState(RunPhase.EXTRACTING))
    room.tell(JobStarted(scanned(0).id, 1))  # a job that is given back with its run tells no end
    assert room.window.registry.action("queue.cancel").isEnabled()
    bench._set_run(RunState(RunPhase.CANCELLING))
    bench._set_run(RunState())
    assert not room.window.registry.action("queue.cancel").isEnabled()


def test_a_change_is_said_once_however_soon_the_next_events_come(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(0).id)
    room.queue.take_events((JobStarted(scanned(0).id, 1),))
    room.queue.take_events((LeaseRenewed(scanned(0).id, NOW + 60),))
    room.queue.take_events((JobFinished(scanned(0).id, "succeeded"),))
    assert [words.partition(": ")[2] for words in room.said] == ["running", "done"]


def test_what_is_stored_is_shown_after_a_run_and_not_the_last_it_told(room: QueueRoom) -> None:
    held = JobRecord(STAGE1_KIND, scanned(0).id, JobStatus.HELD, last_error="a person holds it")
    room.scan()
    bench = room.controller.workbench

    async def yes(*_: object) -> bool:
        room.fake.job_records = (held,)
        return True

    bench._confirm = yes
    room.fake.consolidated = apply_plan(room.home, room.root, state=PlanState.EMPTY)
    room.act("run.start")
    assert _label(room, scanned(0).id) == "held"


def test_each_second_shows_the_time_of_what_runs_and_paints_nothing_else(room: QueueRoom) -> None:
    room.scan()
    running, ended = scanned(1).id, scanned(2).id
    room.tell(JobStarted(running, 1), JobStarted(ended, 1), JobFinished(ended, "succeeded"))
    shown: list[tuple[int, int]] = []
    room.queue.model.dataChanged.connect(lambda first, last, _: shown.append((first.row(), last.row())))
    room.queue._ticker.timeout.emit()
    place = room.queue.model.position_of(running)
    assert shown == [(place, place)]
