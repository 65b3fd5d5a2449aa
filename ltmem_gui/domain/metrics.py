"""Metrics of runs under Codex's counter names (reference §3.11), kept in receipts and never sent.

A counter is one whole number under `name` or `name{tag=value}`. Times in milliseconds, tokens as a provider reported
them. What a provider does not report is not counted as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, Literal

from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.jobs import GLOBAL_KIND, JobOutcome, JobRecord
from ltmem_gui.domain.prices import Money
from ltmem_gui.domain.tokens import TokenUsage as TokenUsage

STARTUP: Final = "codex.memory.startup"
PHASE1: Final = "codex.memory.phase1"
PHASE2: Final = "codex.memory.phase2"
Phase = Literal["codex.memory.phase1", "codex.memory.phase2"]

_UNCLAIMED = frozenset({JobOutcome.SKIPPED.value, "pruned", "credited"})
_FAILED = (JobOutcome.FAILED, JobOutcome.SOURCE_MISSING, JobOutcome.LEASE_LOST)
_PHASE2_FAILED = frozenset({JobOutcome.FAILED.value, JobOutcome.CRASHED.value, JobOutcome.LEASE_LOST.value})


class Meter:
    """Sum up what one run used. Belongs to one run; used on its thread alone."""

    def __init__(self) -> None:
        self._tokens: Counter[str] = Counter()

    def add(self, usage: TokenUsage) -> None:
        """Count one answer, also one that could not be used afterwards."""
        self._tokens.update(usage.by_type())

    def tokens(self, phase: Phase) -> dict[str, int]:
        """Return the counters of a phase."""
        return {tagged(f"{phase}.token_usage", "token_type", kind): n for kind, n in sorted(self._tokens.items())}


def tagged(name: str, tag: str, value: str) -> str:
    """Return the name of a counter with one tag."""
    return f"{name}{{{tag}={value}}}"


def phase1_metrics(outcomes: Mapping[str, int], meter: Meter, *, milliseconds: int) -> dict[str, int]:
    """Return the counters of an extraction run from its outcomes (values of `JobOutcome`)."""
    claimed = sum(count for name, count in outcomes.items() if name not in _UNCLAIMED)
    counters = {STARTUP: 1, f"{PHASE1}.e2e_ms": max(milliseconds, 0)}
    if not claimed:
        return counters | {_status(PHASE1, "skipped_no_candidates"): 1}
    succeeded = outcomes.get(JobOutcome.SUCCEEDED, 0)
    by_status = {
        "claimed": claimed,
        "succeeded": succeeded,
        "succeeded_no_output": outcomes.get(JobOutcome.NO_OUTPUT, 0),
        "failed": sum(outcomes.get(outcome, 0) for outcome in _FAILED),
    }
    counters |= {_status(PHASE1, name): count for name, count in by_status.items() if count}
    if succeeded:
        counters[f"{PHASE1}.output"] = succeeded
    return counters | meter.tokens(PHASE1)


def phase2_metrics(
    status: Literal["succeeded", "succeeded_no_output", ""],
    *,
    claimed: bool = True,
    inputs: int,
    milliseconds: int,
    meter: Meter | None = None,
) -> dict[str, int]:
    """Return the counters of a consolidation; `inputs` counts memories, the empty status a run that is not over."""
    counters = {f"{PHASE2}.e2e_ms": max(milliseconds, 0)}
    if claimed:
        counters |= {_status(PHASE2, "claimed"): 1, f"{PHASE2}.input": inputs}
    if status:
        counters[_status(PHASE2, status)] = 1
    return counters | (meter.tokens(PHASE2) if meter else {})


def total(receipts: Iterable[Receipt], jobs: Iterable[JobRecord] = ()) -> dict[str, int]:
    """Sum the counters of all runs; failures of Phase 2, which leave no receipt, are counted from its attempts."""
    summed: Counter[str] = Counter()
    for receipt in receipts:
        summed.update(receipt.metrics)
    lost = sum(attempt.outcome in _PHASE2_FAILED for job in jobs if job.kind == GLOBAL_KIND for attempt in job.attempts)
    if lost:
        summed[_status(PHASE2, "claimed")] += lost
        summed[_status(PHASE2, "failed")] += lost
    return dict(sorted(summed.items()))


def total_cost(receipts: Iterable[Receipt]) -> tuple[Money, ...]:
    """Sum what all runs cost, as far as it is known: one amount per currency."""
    sums: dict[str, Decimal] = {}
    for receipt in receipts:
        for currency, amount in receipt.costs.items():
            sums[currency] = sums.get(currency, Decimal(0)) + Decimal(amount)
    return tuple(Money(amount, currency) for currency, amount in sorted(sums.items()))


def _status(phase: Phase, status: str) -> str:
    return tagged(phase, "status", status)
