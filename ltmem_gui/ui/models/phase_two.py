"""How the second phase stands, in words: the lock, the rest after a success, watermark, baseline, last receipt.

Pure; the clock is given. A short text is for the strip, the whole sentence for its tooltip and the detail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import UpdateJobs
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import GLOBAL_KIND, JobOutcome, JobRecord, JobStatus
from ltmem_gui.domain.leases import StageTwo, backing_off
from ltmem_gui.domain.plan import Plan
from ltmem_gui.pipeline.standing import FolderLock
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_facts import owner_in_words
from ltmem_gui.ui.models.job_state import clock
from ltmem_gui.ui.models.workbench_values import Seen

NOT_READ = formats.DASH


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of the strip: its name in the detail, a short text, the whole of it, and whether a person is needed."""

    name: str
    short: str
    whole: str
    needs: bool = False


def pieces(seen: Seen, plan: Plan | None, now: int, *, waiting: bool = False) -> tuple[Piece, ...]:
    """Return lock, rest, watermark, baseline and receipt; `waiting` tells that a run of this window waits."""
    job = next((job for job in seen.jobs if job.kind == GLOBAL_KIND), None)
    return (
        _lock(seen, job, waiting=waiting),
        *_rest(job, now),
        _watermark(seen, job, plan),
        *_selected(seen, plan),
        _baseline(seen),
        *_receipt(seen.receipts or (), now),
    )


def lock_in_words(lock: FolderLock) -> str:
    """Say who holds the lock, and until when at most."""
    if not lock.held:
        return "the lock is free"
    who = owner_in_words(lock.holder) if lock.kind == "another run" else one_line(lock.holder, 60)
    until = f", until {clock(lock.until)} at most" if lock.until else ""
    since = f", since {clock(lock.since)}" if lock.since else ""
    return f"{lock.kind} ({who}) holds the memory folder{since}{until}"


def _lock(seen: Seen, job: JobRecord | None, *, waiting: bool) -> Piece:
    if seen.standing is None:
        return Piece("Lock", f"lock {NOT_READ}", "whether the lock is free was not read yet")
    lock = seen.standing.lock
    if any(left.kind == GLOBAL_KIND for left in seen.standing.jobs):
        text = "the program that held the lock has ended; the next run takes it over"
        return Piece("Lock", "lock left behind", text, needs=True)
    if waiting:
        return Piece("Lock", "waiting for the lock", f"waiting: {lock_in_words(lock)}", needs=True)
    if lock.held:
        short = "held by another program" if lock.kind == "another program" else "held by another run"
        until = f" until {clock(lock.until)}" if lock.until else ""
        return Piece("Lock", f"lock {short}{until}", lock_in_words(lock), needs=True)
    if job is not None and job.status is JobStatus.RUNNING:
        return Piece("Lock", "lock held by this run", f"this run holds it, {owner_in_words(job.owner)}")
    return Piece("Lock", "lock free", "the lock is free")


def _rest(job: JobRecord | None, now: int) -> Iterator[Piece]:
    """Say when an unattended run may follow: after a failure's delay, or six hours after a success."""
    if job is None or job.finished_at is None or job.status is JobStatus.RUNNING:
        return
    if backing_off(job.retry_at, job.finished_at, now) and job.retry_at is not None:
        text = f"it failed at {clock(job.finished_at)}: {one_line(job.last_error, 160)}; next try {clock(job.retry_at)}"
        yield Piece("Rest", f"again at {clock(job.retry_at)}", text, needs=True)
        return
    until = job.finished_at + StageTwo.COOLDOWN_SECONDS
    if not job.last_error and job.finished_at <= now < until:
        text = (
            f"the last success was at {clock(job.finished_at)}; unattended plans rest until {clock(until)}, six hours "
            "after it. Your own Run passes this"
        )
        yield Piece("Rest", f"rests until {clock(until)}", text)


def _watermark(seen: Seen, job: JobRecord | None, plan: Plan | None) -> Piece:
    if seen.watermark is None:
        return Piece("Watermark", f"watermark {NOT_READ}", "the watermark was not read yet")
    before = _time(seen.watermark) if seen.watermark else "none"
    after = next((e.watermark for e in plan.effects_of(UpdateJobs) if e.watermark), None) if plan is not None else None
    source = "with the plan that waits"
    if after is None and job is not None and job.status is not JobStatus.DONE:
        after, source = job.input_watermark, "with the next consolidation"
    if after is None or after <= seen.watermark:
        whole = "no consolidation has ended yet" if not seen.watermark else f"consolidated up to {before}"
        return Piece("Watermark", f"watermark {before}", whole)
    return Piece("Watermark", f"watermark {before} → {_time(after)}", f"{before} now, {_time(after)} {source}")


def _selected(seen: Seen, plan: Plan | None) -> Iterator[Piece]:
    """Say how many of the stored memories a plan works from."""
    if plan is None or not plan.rows:
        return
    stored = sum(job.kind != GLOBAL_KIND and job.last_outcome == JobOutcome.SUCCEEDED for job in seen.jobs)
    whole = f"{len(plan.rows)} of {max(stored, len(plan.rows))} stored memories are in the plan that waits"
    yield Piece("Selected", f"{len(plan.rows)} selected", whole)


def _baseline(seen: Seen) -> Piece:
    if seen.snapshot is None:
        newest = next((r.baseline_commit for r in reversed(seen.receipts or ()) if r.baseline_commit), None)
        if newest:
            return Piece("Baseline", f"baseline {newest[:7]}", f"{newest}, as of the last receipt; not read since")
        return Piece("Baseline", f"baseline {NOT_READ}", "the memory folder was not read yet")
    commit = seen.snapshot.baseline
    return Piece("Baseline", f"baseline {commit[:7] if commit else 'none'}", commit or "the folder has no baseline yet")


def _receipt(receipts: Sequence[Receipt], now: int) -> Iterator[Piece]:
    last = next((receipt for receipt in reversed(receipts) if receipt.kind != "extract"), None)
    if last is not None:
        text = f"no. {last.operation_number}, {last.operation} by {one_line(last.approver, 40)}"
        when = f"{formats.absolute(last.finished_at)}, {formats.plural(len(last.files), 'file')}"
        yield Piece(
            "Receipt", f"receipt {last.operation_number}, {formats.ago(last.finished_at, now)}", f"{text}, {when}"
        )


def _time(at: int) -> str:
    return formats.absolute(at)[5:16]
