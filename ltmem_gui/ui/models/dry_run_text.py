"""What a dry run says: what each phase would do, what it would leave out and why. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ltmem_gui.domain.effects import ClaimJobs, SendToModel
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.effects_text import EffectGroupText, describe, provider_text

MAX_ROWS = 200
MAX_REASONS = 8


@dataclass(frozen=True, slots=True)
class PhaseText:
    """One phase: its title, the answer in one sentence, lines below it, and the effects it would ask a yes for."""

    title: str
    answer: str
    lines: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    effects: tuple[EffectGroupText, ...] = ()


def first_phase(plan: Plan) -> PhaseText:
    """Say what an extraction would claim, how large it is, and what it would leave out."""
    jobs = [job for effect in plan.effects_of(ClaimJobs) for job in effect.jobs]
    if plan.state is PlanState.EMPTY or not jobs:
        answer = "No rollout would be extracted."
        return PhaseText("Phase 1, extraction", answer, _left_out(plan))
    tokens = sum(job.tokens_sent or job.tokens for job in jobs)
    at_once = max(effect.concurrency for effect in plan.effects_of(ClaimJobs))
    answer = f"{formats.plural(len(jobs), 'rollout')} would be extracted, ~{formats.tokens(tokens)} tokens."
    lines = (
        f"{provider_text(plan)}; at most {min(at_once, len(jobs))} at once.",
        *(
            f"{effect.requests} requests to {one_line(effect.host)}: {effect.price}."
            for effect in plan.effects_of(SendToModel)
        ),
        *_left_out(plan),
    )
    rows = tuple(
        f"{one_line(job.title, 120) or job.thread_id}  ·  ~{formats.tokens(job.tokens_sent or job.tokens)} tokens"
        for job in jobs[:MAX_ROWS]
    )
    more = (f"and {len(jobs) - MAX_ROWS} more",) if len(jobs) > MAX_ROWS else ()
    return PhaseText("Phase 1, extraction", answer, lines, (*rows, *more), describe(plan))


def second_phase(plan: Plan | None) -> PhaseText:
    """Say what a consolidation of what is stored now would change."""
    title = "Phase 2, consolidation"
    if plan is None:
        return PhaseText(title, "No memory folder is named, so nothing would be consolidated.")
    now = "It counts what is stored now; what phase 1 would add is not in it."
    if plan.state is PlanState.EMPTY:
        return PhaseText(title, "Nothing would change: the memory folder is up to date.", (now, *_left_out(plan)))
    if plan.kind == "consolidate":
        answer = "An agent would work in a copy of the memory folder; what it proposes is not known before it runs."
        return PhaseText(title, answer, (provider_text(plan), now, *_left_out(plan)), (), describe(plan))
    changes = Counter(change.change for change in plan.changes)
    words = ", ".join(f"{count} {name}" for name, count in sorted(changes.items()))
    answer = f"{formats.plural(len(plan.changes), 'file')} would change ({words}), each reviewed by you first."
    found = f"{formats.plural(len(plan.findings), 'finding')} to look at." if plan.findings else "No findings."
    rows = tuple(f"{change.change}  {one_line(change.path, 200)}" for change in plan.changes[:MAX_ROWS])
    return PhaseText(title, answer, (found, now, *_left_out(plan)), rows, describe(plan))


def _left_out(plan: Plan) -> tuple[str, ...]:
    if not plan.skipped:
        return ()
    counts = Counter(one_line(skip.reasons[0], 160) if skip.reasons else "no reason given" for skip in plan.skipped)
    lines = [f"Left out: {formats.plural(len(plan.skipped), 'rollout')}."]
    lines += [f"    {count} × {reason}" for reason, count in counts.most_common(MAX_REASONS)]
    rest = len(counts) - MAX_REASONS
    return (*lines, f"    and {rest} other reasons") if rest > 0 else tuple(lines)
