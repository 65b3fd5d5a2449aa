"""What the detail of a row says in words: the reason, what to do, and the facts. Pure; the clock is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ltmem_gui.domain.effects import ClaimJobs
from ltmem_gui.domain.events import JobPrepared
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import Attempt, JobStatus, Owner
from ltmem_gui.domain.leases import StageOne
from ltmem_gui.domain.plan import Plan
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_log import redacted_in_words, sizes_in_words
from ltmem_gui.ui.models.job_rows import PHASE_TWO, JobRow, cost_in_words
from ltmem_gui.ui.models.job_state import StateKind

# What a person can do, by the first rule that failed.
_RULES: Mapping[str, str] = {
    "interactive": "To take such sessions too: --set include_non_interactive=true.",
    "age": "To take older sessions: --set max_rollout_age_days=N.",
    "idle": "It is taken once it has rested; or --set min_rollout_idle_hours=0.",
    "up_to_date": "Nothing to do: it is taken again when the session goes on.",
    "memory_mode": "The agent's own setting for this session; it is respected.",
    "root_session": "Runs of sub-agents belong to their parent session.",
    "own_run": "Memory runs are never learnt from.",
    "memory_root": "What happens inside the memory folder is never learnt from.",
    "data_folder": "What happens inside this program's own folder is never learnt from.",
    "archived": "Take it out of the agent's archive to have it read.",
    "ephemeral": "The agent was told to keep nothing of this session; that is respected.",
    "empty": "Nothing to do: a session counts once a person has typed something.",
    "current": "It is taken by a later run, when this session is over.",
}
# Why the consolidation is in its state.
_PHASE_TWO: Mapping[str, str] = {
    "to consolidate": "Newer memories wait to be merged into the memory folder: press Run or Consolidate.",
    "running": "An agent works in a copy of the memory folder, or a plan is being written.",
    "heartbeat late": "Its holder has not renewed the lock in time. It is taken over when the lease ends, not before.",
    "done": "Everything that was extracted is merged, and nothing is newer.",
}
# What a person can do, by the cause of a failure.
_FAILURES: Mapping[str, str] = {
    "rate_limit": "Wait: the next run after the delay takes it again.",
    "quota": "Look at your account with the provider, or choose the built-in rules.",
    "auth": "Check the key of the provider.",
    "timeout": "Retry it, or raise request_timeout_seconds.",
    "connection": "Check that the provider runs and that its address is right.",
    "too_large": "Split it, or retry it with a smaller budget.",
    "schema": "The model did not keep to the form of the answer: retry it, or choose another model.",
    "redaction": "Nothing was sent or stored. Please report it.",
    "source": "The file is gone: name the folder it is in now.",
    "crash": "The program ended while it worked on this. Retry it; after three times it is held.",
    "bug": "A fault of this program: please report it, then retry.",
}


@dataclass(frozen=True, slots=True)
class InputFacts:
    """How large an input is after filtering, how much of it is sent, and what was replaced; tokens, estimated."""

    before: int
    sent: int
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def cut(self) -> bool:
        """Tell whether the input was cut to the budget."""
        return self.sent < self.before


def inputs_of(plan: Plan) -> dict[str, InputFacts]:
    """Return what a plan says of the inputs of its rollouts."""
    jobs = [job for effect in plan.effects_of(ClaimJobs) for job in effect.jobs]
    return {
        job.thread_id: InputFacts(max(job.tokens, job.tokens_sent), job.tokens_sent, job.redactions) for job in jobs
    }


def input_of(event: JobPrepared) -> InputFacts:
    """Return what a run says of an input."""
    return InputFacts(event.tokens_before, event.tokens_sent, event.redactions)


def reason_of(row: JobRow) -> str:
    """Say why a row is in its state."""
    if row.reason:
        return row.reason
    if row.phase == PHASE_TWO:
        return _PHASE_TWO.get(row.state.name, "")
    match row.state.kind:
        case StateKind.WAITING:
            return "It passes every rule and will be in the next run."
        case StateKind.GOOD if row.state.name == "nothing to keep":
            return "It was read, and nothing in it would help a future agent. That is a success."
        case StateKind.GOOD:
            return "It was extracted; nothing has changed since."
        case StateKind.RUNNING if row.state.name == "heartbeat late":
            return "Its worker has not renewed the lease in time. It is taken over when the lease ends, not before."
        case StateKind.RUNNING:
            return "It is being extracted now."
        case _:
            return ""


def remedy_of(row: JobRow) -> str:
    """Say what a person can do about it; empty where nothing is to be done."""
    if row.state.kind is StateKind.BAD:
        return _FAILURES.get(row.error_group, "")
    failed = row.scanned.eligibility.failed if row.scanned else ()
    return _RULES.get(failed[0].rule, "") if failed and row.state.kind is not StateKind.WAITING else ""


def facts_of(row: JobRow, now: int, given: InputFacts | None = None) -> list[tuple[str, str]]:
    """List the facts of a row, each with its name."""
    if row.phase == PHASE_TWO:
        return list(_of_job(row, now))
    facts = [("Session", row.thread_id), ("Folder", one_line(row.cwd, 400) or formats.DASH)]
    facts.extend(_of_scan(row, now))
    facts.extend(_of_input(row, given))
    facts.extend(_of_job(row, now))
    return facts


def attempt_cells(attempt: Attempt) -> list[str]:
    """Return the cells of one attempt: number, outcome, started, took, tokens, cost, owner, reason."""
    took = formats.DASH if attempt.ended_at is None else formats.span(attempt.ended_at - attempt.started_at)
    used = None
    if attempt.tokens_in is not None or attempt.tokens_out is not None:
        used = (attempt.tokens_in or 0) + (attempt.tokens_out or 0)
    cost = formats.DASH if attempt.cost is None else f"{attempt.cost.normalize():f} {attempt.currency}"
    return [
        str(attempt.number),
        attempt.outcome or "not ended",
        formats.absolute(attempt.started_at),
        took,
        formats.tokens(used),
        cost,
        owner_in_words(attempt.owner),
        one_line(attempt.error, 300),
    ]


def owner_in_words(text: str) -> str:
    """Say who holds or held a lease: host, process and worker."""
    owner = Owner.parse(text)
    if not owner.host:
        return one_line(text, 80) or formats.DASH
    return f"{one_line(owner.host, 40)}, process {owner.pid}"


def _of_scan(row: JobRow, now: int) -> Iterator[tuple[str, str]]:
    scanned = row.scanned
    if scanned is None:
        if row.job is not None and row.job.rollout_path:
            yield "File", one_line(row.job.rollout_path, 400)
        return
    yield "File", one_line(scanned.path, 400)
    if scanned.git_branch:
        yield "Branch", one_line(scanned.git_branch)
    yield "Changed", f"{formats.absolute(scanned.updated_at)}  ({formats.ago(scanned.updated_at, now)})"
    yield "Size", f"{formats.size(scanned.ref.size)} on disk, {formats.plural(scanned.items, 'item')}"
    if scanned.skipped_lines:
        first = scanned.skipped_lines[0]
        lines = formats.plural(len(scanned.skipped_lines), "line")
        yield "Unreadable", f"{lines}; line {first.line}: {one_line(first.reason)}"
    for warning in scanned.warnings:
        yield "Warning", one_line(warning, 300)


def _of_input(row: JobRow, given: InputFacts | None) -> Iterator[tuple[str, str]]:
    if given is None:
        if row.scanned is not None:
            size = formats.tokens(row.scanned.tokens)
            yield "Input", f"~{size} tokens after filtering; Show the input tells what is sent"
        return
    yield "Input", ", ".join(sizes_in_words(given.before, given.sent))
    yield "Redacted", redacted_in_words(dict(given.redactions))


def _of_job(row: JobRow, now: int) -> Iterator[tuple[str, str]]:
    if row.owner and row.lease_until is not None:
        left = formats.span(row.lease_until - now) if row.lease_until > now else "over"
        yield "Lease", f"{owner_in_words(row.owner)}, until {formats.absolute(row.lease_until)} ({left})"
    job = row.job
    if job is None:
        return
    tries = f"{job.retry_remaining} of {StageOne.RETRIES} left" if job.status is not JobStatus.DONE else ""
    if tries:
        later = f", next at {formats.absolute(job.retry_at)}" if job.retry_at and job.retry_at > now else ""
        yield "Tries", tries + later
    if job.crash_count:
        yield "Crashes", f"{job.crash_count} in a row"
    if job.started_at is not None and job.input_watermark and job.started_at > job.input_watermark:
        yield "Waited", f"{formats.span(job.started_at - job.input_watermark)} from the last change to the last start"
    yield "Cost", cost_in_words(row)
