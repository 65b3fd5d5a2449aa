"""The strip of the second phase and the consolidation's own row: every state, in words, each with a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.domain.leases import StageTwo
from ltmem_gui.domain.plan import SelectedRow
from ltmem_gui.pipeline.standing import FolderLock, Standing
from ltmem_gui.ui.models import workbench
from ltmem_gui.ui.models.phase_two import lock_in_words, pieces
from ltmem_gui.ui.models.run_state import RunPhase
from ltmem_gui.ui.models.workbench import Seen
from tests.gui.builders import NOW, all_of, apply_plan, receipt_of, snapshot
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom, job
from tests.helpers.waiting import until

OWNER = "box:77:1:ltmem"


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QueueRoom]:
    monkeypatch.setattr("ltmem_gui.ui.panels.run_bar.time.time", lambda: NOW)
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def consolidation(status: JobStatus, **more: object) -> JobRecord:
    return JobRecord(GLOBAL_KIND, GLOBAL_KEY, status, **more)  # type: ignore[arg-type]


def _shorts(seen: Seen, **more: object) -> dict[str, str]:
    return {piece.name: piece.short for piece in pieces(seen, None, NOW, **more)}  # type: ignore[arg-type]


DONE = consolidation(JobStatus.DONE, finished_at=NOW - 3_600, last_outcome="succeeded")
FAILED = consolidation(
    JobStatus.ERROR, finished_at=NOW - 60, retry_at=NOW + 3_540, last_error="the model gave up", retry_remaining=2
)
STATES: dict[str, tuple[Standing, tuple[JobRecord, ...], str, str]] = {
    "free": (Standing(), (), "lock free", ""),
    "held-by-a-run": (Standing(FolderLock("another run", OWNER, NOW - 60, NOW + 3_540)), (), "held by another run", ""),
    "held-by-codex": (
        Standing(FolderLock("another program", "Codex", until=NOW + 900)),
        (),
        "held by another program until",
        "",
    ),
    "left-behind": (Standing(jobs=(consolidation(JobStatus.RUNNING, owner=OWNER),)), (), "lock left behind", ""),
    "resting": (Standing(), (DONE,), "lock free", "rests until"),
    "backing-off": (Standing(), (FAILED,), "lock free", "again at"),
}


@pytest.mark.parametrize("name", STATES)
def test_each_state_is_in_the_strip_with_a_picture(room: QueueRoom, tmp_path: Path, name: str) -> None:
    standing, jobs, lock, rest = STATES[name]
    room.fake.standings = [standing]
    room.fake.job_records = jobs
    room.scan()
    shown = room.window.findChild(QLabel, "status.lock")
    resting = room.window.findChild(QLabel, "status.rest")
    assert shown is not None
    assert resting is not None
    assert lock in shown.text()
    assert shown.accessibleName().startswith("Lock: ")
    assert resting.isVisible() is bool(rest)
    assert rest in resting.text()
    assert room.picture(name, tmp_path).stat().st_size > 10_000


def test_what_was_not_read_is_a_dash() -> None:
    shown = _shorts(Seen())
    assert shown == {"Lock": "lock –", "Watermark": "watermark –", "Baseline": "baseline –"}
    running = consolidation(JobStatus.RUNNING, owner=OWNER, finished_at=NOW - 10)
    assert _shorts(Seen(jobs=(running,), standing=Standing()))["Lock"] == "lock held by this run"
    assert _shorts(Seen(standing=Standing()), waiting=True)["Lock"] == "waiting for the lock"


def test_the_watermark_before_and_after(tmp_path: Path) -> None:
    seen = Seen(watermark=0, standing=Standing())
    assert _shorts(seen)["Watermark"] == "watermark none"
    waiting = consolidation(JobStatus.PENDING, input_watermark=NOW)
    assert _shorts(replace(seen, jobs=(waiting,)))["Watermark"].startswith("watermark none → ")
    plan = apply_plan(tmp_path / "home", tmp_path / "memory")
    piece = next(p for p in pieces(replace(seen, watermark=NOW - 90_000), plan, NOW) if p.name == "Watermark")
    assert " → " in piece.short
    assert piece.whole.endswith("with the plan that waits")
    assert _shorts(replace(seen, watermark=NOW, jobs=(waiting,)))["Watermark"].count("→") == 0


def test_baseline_and_receipt(tmp_path: Path) -> None:
    plan = apply_plan(tmp_path / "home", tmp_path / "memory")
    receipt = receipt_of(plan, 3).model_copy(update={"baseline_commit": "abcdef0123456789"})
    seen = Seen(receipts=(receipt,))
    assert _shorts(seen)["Baseline"] == "baseline abcdef0"
    assert _shorts(seen)["Receipt"].startswith("receipt 3, ")
    read = replace(seen, snapshot=snapshot(tmp_path, {}))
    assert _shorts(read)["Baseline"] == "baseline 3f9c1a0"
    assert _shorts(replace(read, snapshot=replace(read.snapshot, baseline=None)))["Baseline"] == "baseline none"  # type: ignore[type-var]


def test_the_lock_is_said_in_words() -> None:
    assert lock_in_words(FolderLock()) == "the lock is free"
    held = lock_in_words(FolderLock("another run", OWNER, NOW, NOW + 60))
    assert held.startswith("another run (box, process 77) holds the memory folder, since ")
    assert "(Codex)" in lock_in_words(FolderLock("another program", "Codex"))


def test_the_consolidation_has_a_row_of_its_own(room: QueueRoom) -> None:
    attempt = Attempt(1, OWNER, NOW - 4_000, NOW - 3_600, "succeeded")
    room.fake.job_records = (replace(DONE, status=JobStatus.PENDING, attempts=(attempt,), input_watermark=NOW),)
    room.fake.done = [receipt_of(apply_plan(room.home, room.root), 3)]
    room.scan()
    first = room.queue.model.row_at(0)
    assert first is not None
    assert (first.phase, first.state.name) == (2, "to consolidate")
    assert room.queue._shown.text() == "4 rows"
    room.queue.select_key(GLOBAL_KEY)
    facts = room.facts()
    assert facts["Lock"] == "the lock is free"
    assert "Your own Run passes this" in facts["Rest"]
    assert " now, " not in facts["Watermark"]
    assert facts["Receipt"].startswith("no. 3, consolidate by dev")
    assert "press Run" in room.queue.detail._reason.text()
    assert "it is the consolidation" in room.tip("queue.output")
    room.queue.filter.setText("phase:2")
    assert room.queue.model.rowCount() == 1
    room.queue.filter.setText("phase:1")
    assert room.queue.model.rowCount() == 3


def test_a_plan_that_waits_is_said_in_the_row(room: QueueRoom) -> None:
    room.fake.job_records = (consolidation(JobStatus.PENDING, input_watermark=NOW),)
    room.scan()
    room.queue.select_key(GLOBAL_KEY)
    room.act("run.consolidate")
    row = room.queue.model.row_of(GLOBAL_KEY)
    assert row is not None
    assert row.state.name == "plan to review"
    assert "nothing is written before" in room.queue.detail._reason.text()
    room.act("run.scan")
    assert room.queue.model.row_at(0).state.name == "plan to review"  # type: ignore[union-attr]
    room.queue.show_plan(None)
    assert room.queue.model.row_of(GLOBAL_KEY).state.name == "to consolidate"  # type: ignore[union-attr]


def test_how_many_memories_a_plan_works_from(tmp_path: Path) -> None:
    rows = tuple(SelectedRow(thread_id=str(number), source_updated_at=NOW) for number in range(2))
    plan = apply_plan(tmp_path / "home", tmp_path / "memory").model_copy(update={"rows": rows})
    jobs = tuple(job(number, JobStatus.DONE, last_outcome="succeeded") for number in range(3))
    found = next(piece for piece in pieces(Seen(jobs=jobs), plan, NOW) if piece.name == "Selected")
    assert found.whole == "2 of 3 stored memories are in the plan that waits"


def test_a_run_waits_for_the_lock_and_goes_on(room: QueueRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbench, "LOCK_WAIT_SECONDS", 0.01)
    held = Standing(FolderLock("another program", "Codex", until=NOW + StageTwo.JOB_LEASE_SECONDS))
    room.fake.standings = [held, held, Standing()]
    phases: list[RunPhase] = []
    texts: list[str] = []

    def note(state: object) -> None:
        phases.append(room.controller.workbench.run_state.phase)
        texts.append(room.window.findChild(QLabel, "status.lock").text())  # type: ignore[union-attr]

    room.controller.workbench.run_changed.connect(note)
    room.act("run.consolidate")
    at = phases.index(RunPhase.WAITING_FOR_LOCK)
    assert phases[at:] == [
        RunPhase.WAITING_FOR_LOCK,
        RunPhase.WAITING_FOR_LOCK,
        RunPhase.CONSOLIDATING,
        RunPhase.PLAN_READY,
    ]
    assert "waiting for the lock" in texts[at]
    assert room.fake.calls[-1] == "plan_consolidate"


def test_waiting_can_be_cancelled_and_a_plan_stays(room: QueueRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbench, "LOCK_WAIT_SECONDS", 0.01)
    room.fake.standings = [Standing(FolderLock("another run", OWNER))]
    bench = room.controller.workbench
    plan = bench.plan = apply_plan(room.home, room.root)

    async def yes(*_: object) -> bool:
        return True

    bench._confirm = yes

    async def run() -> None:
        bench.apply(plan, all_of(plan))
        await until(lambda: bench.run_state.phase is RunPhase.WAITING_FOR_LOCK, "the waiting for the lock")
        assert "box, process 77" in bench.run_state.detail
        bench.cancel()
        await room.harness.supervisor.idle()

    room.harness.run(run())
    assert bench.run_state.phase is RunPhase.PLAN_READY
    assert bench.plan is plan
    assert "apply apply" not in room.fake.calls
