"""Made-up items, claims and verdicts for tests of the audit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ltmem_gui.domain.anchors import Location, LocationStatus
from ltmem_gui.domain.audit import AuditItem, Support, verdict_record
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.verdicts import VerdictRecord

MEMORY = """\
# Task Group: shop
scope: work in shop

## Task 1: Dates
### rollout_summary_files
- rollout_summaries/a.md (thread_id=t-1)
### keywords
- dates

## User preferences
- use pnpm, never npm [Task 1] [c1]
- pin the lock file
  with every change [c2]
- nobody said this
- also pnpm [c1]
- points nowhere [c9]
- far away [c3]

<citation_entries>
rollout_summaries/a.md:5-5 |note=[c1 said so]
rollout:t-1:3-4 |note=[c2]
rollout_summaries/a.md:90-91 |note=[c3 out]
rollout_summaries/a.md:6-6 |note=[a note alone]
broken line
</citation_entries>
<rollout_ids>
t-1
</rollout_ids>
"""
SUMMARY = "thread_id: t-1\nupdated_at: 2026-03-01T10:00:00+00:00\ncwd: /shop\n\n- use pnpm, never npm here\n- tabs\n"


def item(number: int = 1, **changes: Any) -> AuditItem:
    """Return a well-behaved item."""
    made = AuditItem(
        key=f"k{number:04}",
        file="MEMORY.md",
        line=100 + number,
        claim=f"claim number {number}",
        claim_lines=(number,),
        entry=CitationEntry("rollout_summaries/a.md", number, number, f"c{number} why", 100 + number),
        location=Location(LocationStatus.EXACT, number, number),
        evidence=f"the evidence of {number}",
        threads=("t-1",),
    )
    return replace(made, **changes)


def items(count: int, **changes: Any) -> list[AuditItem]:
    return [item(number, **changes) for number in range(1, count + 1)]


def said(made: AuditItem, support: Support, rater: str = "ann", **more: Any) -> VerdictRecord:
    """Return a verdict of an item."""
    return verdict_record(made, support, **({"rater": rater, "frame": "f", "at": 10} | more))
