"""The hash chain of the operation log: each entry binds the one before it, so that a change is found.

Pure: the store keeps the entries, this module links and checks them. An entry holds no memory text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.canonical import canonical_json, digest

GENESIS = "0" * 64

EntryType = Literal["approval", "receipt"]


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The number and hash of the newest entry, kept apart so that a cut-off tail is found."""

    number: int
    hash: str


EMPTY = ChainHead(0, GENESIS)


@dataclass(frozen=True, slots=True)
class ChainEntry:
    """One line of the operation log.

    `number` counts from 1 without gaps; `at` in Unix seconds; `operation_number` counts receipts only (0 for an
    approval); `body` is canonical JSON.
    """

    number: int
    at: int
    type: str
    plan_digest: str
    operation_number: int
    body: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """Where the chain is broken, and how."""

    number: int
    reason: str


def link(
    head: ChainHead, *, at: int, kind: EntryType, plan_digest: str, operation_number: int, body: object
) -> ChainEntry:
    """Return the entry that follows `head`. Raises `ValueError` for a body with floats."""
    entry = ChainEntry(
        number=head.number + 1,
        at=at,
        type=kind,
        plan_digest=plan_digest,
        operation_number=operation_number,
        body=canonical_json(body),
        previous=head.hash,
        hash="",
    )
    return _sealed(entry)


def verify(entries: Iterable[ChainEntry], head: ChainHead) -> ChainBreak | None:
    """Return the first break of the chain, None when it is whole and ends at `head`."""
    last = EMPTY
    for entry in entries:
        if entry.number != last.number + 1:
            return ChainBreak(last.number + 1, f"entry {last.number + 1} is missing (entry {entry.number} follows)")
        if entry.previous != last.hash:
            return ChainBreak(entry.number, "it does not follow from the entry before it")
        if _sealed(entry).hash != entry.hash:
            return ChainBreak(entry.number, "its content was changed after it was written")
        last = ChainHead(entry.number, entry.hash)
    if last != head:
        return ChainBreak(last.number + 1, f"the log ends at entry {last.number}, but entry {head.number} was written")
    return None


def _sealed(entry: ChainEntry) -> ChainEntry:
    value = digest(
        {
            "number": entry.number,
            "at": entry.at,
            "type": entry.type,
            "plan_digest": entry.plan_digest,
            "operation_number": entry.operation_number,
            "body": entry.body,
            "previous": entry.previous,
        }
    )
    return ChainEntry(
        entry.number, entry.at, entry.type, entry.plan_digest, entry.operation_number, entry.body, entry.previous, value
    )
