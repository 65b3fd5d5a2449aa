"""Tokens of one answer by type, as a provider reported them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens by type; None where they were not reported. `cached` is part of `input`, `reasoning` of `output`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None

    def by_type(self) -> dict[str, int]:
        """Return the reported counts under Codex's token types."""
        counted = {
            "total": self.total,
            "input": self.input,
            "cached_input": self.cached,
            "output": self.output,
            "reasoning_output": self.reasoning,
        }
        return {name: count for name, count in counted.items() if count is not None}

    @property
    def total(self) -> int | None:
        """Return input and output together, None when neither was reported."""
        return None if self.input is None and self.output is None else (self.input or 0) + (self.output or 0)


def together(usages: Iterable[TokenUsage]) -> TokenUsage:
    """Sum up several answers; a type is None when any answer lacks it: a part is no sum."""
    known = tuple(usages)

    def total(counts: Iterable[int | None]) -> int | None:
        found = tuple(counts)
        numbers = [count for count in found if count is not None]
        return sum(numbers) if numbers and len(numbers) == len(found) else None

    return TokenUsage(
        total(usage.input for usage in known),
        total(usage.output for usage in known),
        total(usage.cached for usage in known),
        total(usage.reasoning for usage in known),
    )
