"""Choose which extracted memories Phase 2 works from (design §4, §5.1; reference §4.2)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Literal

from ltmem_gui.domain.extraction import StageOneOutput

SECONDS_PER_DAY = 86_400

RecencyFallback = Literal["generated_at", "source_updated_at"]


def select(
    outputs: Iterable[StageOneOutput],
    *,
    now: int,
    limit: int,
    max_unused_days: int,
    recency_fallback: RecencyFallback = "generated_at",
) -> list[StageOneOutput]:
    """Return the best `limit` outputs in ascending thread-id order, whatever the order they came in.

    Taken are rows with any text, of enabled threads, last used (or, if never used, made: `recency_fallback`) within
    `max_unused_days` before `now`, the edge included. Rank: usage count, recency, `source_updated_at`, thread id, all
    descending. `now` in Unix seconds. Raises `ValueError` for an unknown fallback.
    """
    if recency_fallback not in ("generated_at", "source_updated_at"):
        raise ValueError(f"unknown recency fallback {recency_fallback!r}")
    if limit <= 0:
        return []
    cutoff = now - max_unused_days * SECONDS_PER_DAY
    by_generation = recency_fallback == "generated_at"
    ranked: list[tuple[int, int, int, str, int]] = []
    rows = list(outputs)
    for index, row in enumerate(rows):
        recency = row.last_usage
        if recency is None:
            recency = row.generated_at if by_generation else row.source_updated_at
        if recency >= cutoff and row.memory_mode == "enabled" and _has_text(row):
            ranked.append((row.usage_count or 0, recency, row.source_updated_at, row.thread_id, index))
    best = heapq.nlargest(limit, ranked)
    return sorted((rows[item[-1]] for item in best), key=lambda row: row.thread_id)


def _has_text(row: StageOneOutput) -> bool:
    return _is_text(row.raw_memory) or _is_text(row.rollout_summary)


def _is_text(text: str) -> bool:
    # isspace stops at the first letter, while strip would copy every memory of a large store
    return bool(text) and not text.isspace()
