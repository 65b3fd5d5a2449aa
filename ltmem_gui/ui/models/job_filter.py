"""Filter and order of the queue: pure, cancellable, and polite to the thread that paints.

Query language: words that must all occur, `"two words"`, `-word` to leave out, and the prefixes `state:`, `agent:`,
`project:`, `id:`, `phase:`, `error:`, `age>7d`, `age<12h` (units s, min, h, d, w).
"""

from __future__ import annotations

import heapq
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.ui.models.job_rows import JobRow
from ltmem_gui.ui.models.job_state import ORDER, TITLES, StateKind

Test = Callable[[JobRow], bool]

# Small enough that one C call of `sort` never holds the interpreter lock for long.
_CHUNK = 2_048
_TERM = re.compile(r'(-?)(?:([a-z]+)([:<>]))?(?:"([^"]*)"?|(\S+))', re.IGNORECASE)
_AGE = re.compile(r"([0-9]{1,9})(s|min|m|h|d|w)?\Z", re.IGNORECASE)
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled filter; `problem` tells in words what could not be understood (that part filters nothing)."""

    tests: tuple[Test, ...] = ()
    kinds: frozenset[StateKind] = frozenset()
    problem: str = ""

    def matches(self, row: JobRow) -> bool:
        """Tell whether a row is shown."""
        if self.kinds and row.state.kind not in self.kinds:
            return False
        return all(test(row) for test in self.tests)


def compile_query(text: str, now: int, kinds: frozenset[StateKind] = frozenset()) -> Query:
    """Read a query; nothing is an error, what is not understood is named in `problem`."""
    tests: list[Test] = []
    problem = ""
    for minus, prefix, operator, quoted, word in _TERM.findall(text):
        value = (quoted or word).lower()
        test: Test | None = None
        if prefix.lower() == "age" and operator in "<>":
            test = _age_test(operator, value, now)
            if test is None:
                problem = f"age{operator}{value}: expected a number with s, min, h, d or w"
                continue
        elif operator == ":" and prefix.lower() in _FIELDS:
            test = _field_test(_FIELDS[prefix.lower()], value)
        else:
            test = _field_test(_haystack, f"{prefix}{operator}{value}".lower())
        tests.append(_negated(test) if minus else test)
    return Query(tuple(tests), kinds, problem)


SORT_KEYS: dict[str, Callable[[JobRow], Any]] = {
    "state": lambda row: (ORDER[row.state.kind], row.state.name),
    "agent": lambda row: row.agent,
    "project": lambda row: row.project.lower(),
    "title": lambda row: row.title.lower(),
    "updated": lambda row: -(row.updated_at or 0),
    "attempt": lambda row: row.attempt,
    "lease": lambda row: row.lease_until or 0,
    "started": lambda row: -(row.started_at or 0),
    "took": lambda row: row.took or -1,
    "tokens": lambda row: row.tokens or -1,
    "phase": lambda row: row.phase,
    "cost": lambda row: row.cost_order,
    "reason": lambda row: row.state.reason.lower(),
}


@dataclass(frozen=True, slots=True)
class Order:
    """One sort column and its direction."""

    column: str
    descending: bool = False


def arrange(
    rows: Sequence[JobRow], query: Query, orders: Sequence[Order], cancel: CancelToken | None = None
) -> list[int]:
    """Return the indices of the rows to show, in order; earlier orders count first, ties keep the scan's order.

    Raises `Cancelled` soon after the token was set. Cuts the work into pieces so that the thread that paints is
    never kept waiting for the interpreter lock.
    """
    token = cancel or CancelToken()
    shown: list[int] = []
    for start in range(0, len(rows), _CHUNK):
        token.check()
        shown.extend(
            index
            for index in range(start, min(start + _CHUNK, len(rows)))
            if not (query.tests or query.kinds) or query.matches(rows[index])
        )
    for order in reversed(orders):
        shown = _sorted(rows, shown, order, token)
    return shown


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What is shown: `shown` maps position → index, `positions` index → position (-1: not shown)."""

    shown: Sequence[int]
    positions: Sequence[int]


def arrangement(
    rows: Sequence[JobRow], query: Query, orders: Sequence[Order], cancel: CancelToken | None = None
) -> Arrangement:
    """Arrange the rows and the way back. Raises `Cancelled` as `arrange` does."""
    if not query.tests and not query.kinds and not orders:
        return Arrangement(range(len(rows)), range(len(rows)))
    shown = arrange(rows, query, orders, cancel)
    positions = array("l", [-1]) * len(rows)
    for position, index in enumerate(shown):
        positions[index] = position
    return Arrangement(shown, positions)


def _sorted(rows: Sequence[JobRow], indices: list[int], order: Order, cancel: CancelToken) -> list[int]:
    key = SORT_KEYS[order.column]

    def of(index: int) -> Any:
        return key(rows[index])

    chunks: list[list[int]] = []
    for start in range(0, len(indices), _CHUNK):
        cancel.check()
        chunks.append(sorted(indices[start : start + _CHUNK], key=of, reverse=order.descending))
    if len(chunks) < 2:
        return chunks[0] if chunks else []
    merged: list[int] = []
    for count, index in enumerate(heapq.merge(*chunks, key=of, reverse=order.descending)):
        if count % _CHUNK == 0:
            cancel.check()
        merged.append(index)
    return merged


def _haystack(row: JobRow) -> str:
    return (
        f"{row.title}\n{row.cwd}\n{row.agent}\n{row.thread_id}\n{row.state.name}\n{row.state.reason}\n{row.error_group}"
    )


def _state_text(row: JobRow) -> str:
    return f"{row.state.kind.value}\n{TITLES[row.state.kind]}\n{row.state.name}"


_FIELDS: dict[str, Callable[[JobRow], str]] = {
    "state": _state_text,
    "agent": lambda row: row.agent,
    "project": lambda row: row.cwd,
    "id": lambda row: row.thread_id,
    "phase": lambda row: str(row.phase),
    "error": lambda row: f"{row.error_group}\n{row.state.reason}" if row.state.kind is StateKind.BAD else "",
}


def _field_test(read: Callable[[JobRow], str], value: str) -> Test:
    return lambda row: value in read(row).lower()


def _negated(test: Test) -> Test:
    return lambda row: not test(row)


def _age_test(operator: str, value: str, now: int) -> Test | None:
    match = _AGE.match(value)
    if match is None:
        return None
    limit = int(match[1]) * _UNITS[(match[2] or "d").lower()]
    if operator == ">":
        return lambda row: row.updated_at is not None and now - row.updated_at > limit
    return lambda row: row.updated_at is not None and now - row.updated_at < limit
