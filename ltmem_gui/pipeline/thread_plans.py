"""Plans of kind `extract` for sessions a person points at: run now, again with another budget, or in parts.

A session that is pointed at is taken whatever its age, and while it is fresh; every other rule holds. A failed job gets
its tries back as the first effect of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import Effect
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.plan import Plan, Skip
from ltmem_gui.domain.queue_actions import (
    ALLOWED,
    RUN_ACTIONS,
    QueueAction,
    RowFacts,
    budget_of,
    row_state,
    sort_rows,
)
from ltmem_gui.pipeline.planner import Chosen, plan_chosen
from ltmem_gui.pipeline.ports import Adapters, ScannedRollout
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.row_plans import mark_jobs, read_facts, skipped
from ltmem_gui.pipeline.scanning import scan

WAIVED: Final = frozenset({"age", "idle"})
_NOT_FOUND: Final = "its session is not in the folders that were named"


async def plan_threads(
    adapters: Adapters,
    request: Request,
    action: QueueAction,
    thread_ids: Sequence[str],
    *,
    cancel: CancelToken,
    listen: Listener,
) -> Plan:
    """Plan to extract the sessions that are pointed at; those that cannot be are in `skipped`, with the reason.

    The budget of a retry is bound into the plan's settings. Raises what `scan` raises, and `UsageError` for an action
    that extracts nothing or a provider that cannot split.
    """
    if action not in RUN_ACTIONS:
        raise UsageError(f"{action.value} extracts nothing", "plan it as a change of rows")
    request = replace(request, settings=budget_of(action, request.settings))
    report = await scan(adapters, request, cancel=cancel, listen=listen)
    seen = {rollout.id: rollout for rollout in reversed(report.rollouts)}
    newer = frozenset(thread for thread, rollout in seen.items() if _has_news(rollout))
    now = adapters.clock()
    found = sort_rows(action, await read_facts(adapters, request, thread_ids, newer), now)
    left_out = list(skipped(found))
    taken: list[RowFacts] = []
    for row in found.eligible:
        reasons = _reasons(seen.get(row.thread_id))
        if reasons:
            left_out.append(Skip(id=row.thread_id, path=_path(row, seen), reasons=reasons))
        else:
            taken.append(row)
    rollouts = tuple(seen[row.thread_id] for row in taken)
    chosen = Chosen(
        rollouts=rollouts,
        skipped=tuple(left_out),
        before=_retries(taken, now),
        notes=(*_waived(rollouts), *_budget_notes(action, request)),
        split=action is QueueAction.SPLIT,
    )
    return await plan_chosen(adapters, request, report, chosen, cancel=cancel, listen=listen)


def _has_news(rollout: ScannedRollout) -> bool:
    return all(reason.passed for reason in rollout.eligibility.reasons if reason.rule == "up_to_date")


def _reasons(rollout: ScannedRollout | None) -> tuple[str, ...]:
    if rollout is None:
        return (_NOT_FOUND,)
    return tuple(reason.text for reason in rollout.eligibility.failed if reason.rule not in WAIVED)


def _path(row: RowFacts, seen: dict[str, ScannedRollout]) -> str:
    rollout = seen.get(row.thread_id)
    if rollout is not None:
        return rollout.path
    return row.job.rollout_path if row.job else ""


def _retries(rows: Sequence[RowFacts], now: int) -> tuple[Effect, ...]:
    failed = [row for row in rows if row_state(row.job, now, newer=row.newer) in ALLOWED[QueueAction.RETRY]]
    return (mark_jobs(QueueAction.RETRY, failed),) if failed else ()


def _waived(rollouts: Sequence[ScannedRollout]) -> tuple[str, ...]:
    waived = [r.text for rollout in rollouts for r in rollout.eligibility.failed if r.rule in WAIVED]
    return tuple(f"taken all the same, because you chose it: {text}" for text in dict.fromkeys(waived))


def _budget_notes(action: QueueAction, request: Request) -> tuple[str, ...]:
    window = request.settings.context_window
    match action:
        case QueueAction.LARGER | QueueAction.SMALLER:
            return (f"budget for a context window of {window} tokens",)
        case QueueAction.SPLIT:
            return ("each rollout is extracted in parts; one more request merges what they gave",)
        case _:
            return ()
