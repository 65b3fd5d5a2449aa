"""Small plans that change rows of the database and never the memory folder: jobs, exclusions, inbox lines.

Each names the rows as the person saw them; what is not so any more when it is applied is left as it is. Planning reads
only, and takes no lock.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ltmem_gui.domain.effects import Effect, InboxDecision, JobMark, StoreInboxDecisions, StoreOutputs, UpdateJobs
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.plan import Plan, PlanState, Skip, SourceMark
from ltmem_gui.domain.queue_actions import JOB_ACTIONS, ROW_ACTIONS, QueueAction, RowFacts, Sorted, sort_rows
from ltmem_gui.domain.taking_over import TAKE_OVER
from ltmem_gui.pipeline.ports import Adapters
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

QUEUE: Final = "queue"
INBOX: Final = "inbox"
ROW_OPERATIONS: Final = frozenset({QUEUE, INBOX, TAKE_OVER})
LEFT_OUT: Final = "left out on a person's wish"

_NOTES: Final = {
    QueueAction.RETRY: "the next run takes them, with all tries; nothing is extracted now",
    QueueAction.HOLD: "no run takes them until they are released",
    QueueAction.RELEASE: "the next run takes them, with all tries",
    QueueAction.EXCLUDE: "the memory folder stays as it is until the next consolidation leaves them out",
    QueueAction.LIFT: "the next consolidation takes them in again",
}


@dataclass(frozen=True, slots=True)
class InboxWish:
    """What a person wants of one inbox line; `text` are the words of a reword."""

    line_id: int
    decision: Literal["take", "reword", "drop"]
    text: str = ""


async def plan_jobs_action(
    adapters: Adapters, request: Request, action: QueueAction, thread_ids: Sequence[str]
) -> Plan:
    """Plan to retry, hold or release jobs, to leave threads out of the memory or take them in again.

    Threads that the action is not for are in `skipped`, each with its reason. Raises `UsageError` for another action.
    """
    if action not in ROW_ACTIONS:
        raise UsageError(f"{action.value} is more than a change of rows", "run it as a plan of its own")
    found = sort_rows(action, await read_facts(adapters, request, thread_ids), adapters.clock())
    effects = _job_effects(action, found) if action in JOB_ACTIONS else _exclusions(action, found)
    return row_plan(adapters, request, QUEUE, effects, skipped(found), (_NOTES[action],))


async def read_facts(
    adapters: Adapters, request: Request, thread_ids: Sequence[str], newer: frozenset[str] = frozenset()
) -> tuple[RowFacts, ...]:
    """Read what preconditions look at, in the order given; a thread named twice counts once.

    `GLOBAL_KEY` names the consolidation.
    """
    async with open_store(adapters, request.home, writing=False) as call:
        jobs = {job.job_key: job for job in await call(call.store.jobs)}
        excluded = await call(call.store.excluded)
    return tuple(
        RowFacts(thread, jobs.get(thread), thread in newer, excluded.get(thread))
        for thread in dict.fromkeys(thread_ids)
    )


async def threads_of_group(adapters: Adapters, request: Request, group: str) -> tuple[str, ...]:
    """Return the threads whose jobs failed for the same cause, so that they can be retried together."""
    async with open_store(adapters, request.home, writing=False) as call:
        return tuple(job.job_key for job in await call(call.store.jobs) if group and job.error_group == group)


def mark_jobs(action: QueueAction, rows: Iterable[RowFacts]) -> UpdateJobs:
    """Return the effect that changes the jobs of these rows, each bound to the status it has now."""
    marks = tuple(JobMark(thread_id=row.thread_id, status=row.job.status) for row in rows if row.job is not None)
    return UpdateJobs(scope="stage1", count=len(marks), action=action.value, jobs=marks)


def skipped(found: Sorted) -> tuple[Skip, ...]:
    """Return the rows an action is not for, with the reason."""
    return tuple(
        Skip(id=row.thread_id, path=row.job.rollout_path if row.job else "", reasons=(reason,))
        for row, reason in found.others
    )


def is_row_plan(plan: Plan) -> bool:
    """Tell whether a plan changes rows alone: no memory folder is bound into it."""
    return plan.kind == "apply" and plan.operation in ROW_OPERATIONS and plan.base is None


async def read_inbox(adapters: Adapters, home: Path) -> tuple[InboxLine, ...]:
    """Return the lines that wait, best first."""
    async with open_store(adapters, home, writing=False) as call:
        return await call(call.store.inbox, adapters.clock())


async def plan_inbox(adapters: Adapters, request: Request, wishes: Sequence[InboxWish]) -> Plan:
    """Plan to take, reword or drop inbox lines; new words are redacted before they are in the plan.

    Lines that do not wait any more are in `skipped`. Raises `UsageError` for a line with two decisions or without
    words, `RedactionFailed` for words that cannot be checked.
    """
    twice = [line_id for line_id, count in Counter(wish.line_id for wish in wishes).items() if count > 1]
    if twice:
        raise UsageError(f"inbox line {twice[0]} has more than one decision", "decide it once")
    waiting = {line.id: line for line in await read_inbox(adapters, request.home)}
    decisions: list[InboxDecision] = []
    gone: list[Skip] = []
    redacted = 0
    for wish in wishes:
        line = waiting.get(wish.line_id)
        if line is None:
            gone.append(Skip(id=str(wish.line_id), reasons=("it does not wait any more",)))
            continue
        text, secrets = await _reworded(adapters, wish)
        redacted += secrets
        decisions.append(
            InboxDecision(line_id=line.id, thread_id=line.thread_id, decision=wish.decision, quote=line.text, text=text)
        )
    effects = (StoreInboxDecisions(count=len(decisions), decisions=tuple(decisions)),) if decisions else ()
    return row_plan(adapters, request, INBOX, effects, tuple(gone), tuple(_inbox_notes(decisions, redacted)))


def row_plan(
    adapters: Adapters,
    request: Request,
    operation: str,
    effects: tuple[Effect, ...],
    left_out: tuple[Skip, ...],
    notes: tuple[str, ...],
    sources: tuple[SourceMark, ...] = (),
) -> Plan:
    """Seal a plan without a memory folder; it is empty when it changes no row."""
    return Plan(
        kind="apply",
        operation=operation,
        id=uuid.uuid4().hex,
        created_at=adapters.clock(),
        state=PlanState.APPLYABLE if effects else PlanState.EMPTY,
        home=str(request.home),
        provider=adapters.extractor("builtin", request.settings).mark,
        settings=request.settings,
        sources=sources,
        effects=effects,
        skipped=left_out,
        notes=notes if effects else (),
    ).sealed()


def _job_effects(action: QueueAction, found: Sorted) -> tuple[Effect, ...]:
    return (mark_jobs(action, found.eligible),) if found.eligible else ()


def _exclusions(action: QueueAction, found: Sorted) -> tuple[Effect, ...]:
    reason = LEFT_OUT if action is QueueAction.EXCLUDE else ""
    edited = tuple({"thread_id": row.thread_id, "excluded": reason} for row in found.eligible)
    return (StoreOutputs(count=0, edited=edited),) if edited else ()


async def _reworded(adapters: Adapters, wish: InboxWish) -> tuple[str, int]:
    """Return the words to keep, redacted, and how many secrets were taken out."""
    if wish.decision != "reword":
        return "", 0
    if not wish.text.strip():
        raise UsageError(f"inbox line {wish.line_id} has no new words", "give some, or drop the line")
    redaction = await adapters.redact_text(wish.text.strip())
    return redaction.text, len(redaction.findings)


def _inbox_notes(decisions: Sequence[InboxDecision], redacted: int) -> Iterable[str]:
    if any(decision.decision != "drop" for decision in decisions):
        yield "what is kept becomes a bullet of its session's memory; the next consolidation takes it in"
    if any(decision.decision == "drop" for decision in decisions):
        yield "a dropped line never returns, wherever it is found again"
    if redacted:
        yield f"{redacted} secrets were taken out of the new words"
