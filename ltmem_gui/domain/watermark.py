"""The watermark of Phase 2: bookkeeping that only ever rises (mission §4, design §4)."""

from __future__ import annotations

from collections.abc import Iterable


def advance(*, stored: int, claimed: int, source_updated_at: Iterable[int]) -> int:
    """Return max(claimed, max(source_updated_at)), and never less than `stored`. Unix seconds."""
    return max(stored, claimed, max(source_updated_at, default=0))
