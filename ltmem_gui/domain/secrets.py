"""What the redactor answers: clean text and findings with exact spans, never with values."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast, overload


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """One redacted span, in code points of the input text; `kind` from the closed list of `domain/redaction`."""

    start: int
    end: int
    kind: str
    engine: str


class PackedFindings(Sequence[SecretFinding]):
    """Findings as numbers, each made when it is asked for.

    Sixty thousand objects at once make Python look through all it holds, which stops every thread for as long as that
    takes. `spans` holds start and end in turn, `labels` one index into `names` (kind and engine) per finding.
    """

    __slots__ = ("_labels", "_names", "_spans")

    def __init__(self, spans: array[int], labels: array[int], names: Sequence[tuple[str, str]]) -> None:
        """Take the numbers over; they must not change any more."""
        self._spans = spans
        self._labels = labels
        self._names = tuple(names)

    def __len__(self) -> int:
        return len(self._labels)

    @overload
    def __getitem__(self, index: int) -> SecretFinding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SecretFinding, ...]: ...
    def __getitem__(self, index: int | slice) -> SecretFinding | tuple[SecretFinding, ...]:
        if isinstance(index, slice):
            return tuple(self._at(each) for each in range(*index.indices(len(self))))
        return self._at(range(len(self))[index])

    def __iter__(self) -> Iterator[SecretFinding]:
        return map(self._at, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedFindings | tuple):
            return NotImplemented
        theirs = cast("Sequence[object]", other)
        return len(self) == len(theirs) and all(mine == each for mine, each in zip(self, theirs, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _at(self, index: int) -> SecretFinding:
        kind, engine = self._names[self._labels[index]]
        return SecretFinding(self._spans[2 * index], self._spans[2 * index + 1], kind, engine)


@dataclass(frozen=True, slots=True)
class Redaction:
    """Clean text and what was taken out of it."""

    text: str
    findings: Sequence[SecretFinding] = ()
