"""Citations that an agent made in a session: what raises the usage of the cited memories (reference §5.2).

A citation is credited once ever per (thread, record, cited id). The record is the message that cites, by the id that a
session's file and its database share, else its place in the session: so a second scan finds the same. Copies that
forks, resumed sessions and compaction make are marked `inherited` by the readers and count for nobody, and neither do
turns that were rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from ltmem_gui.domain import citations
from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.naming import ROLLOUT_SUMMARIES_SUBDIR, summary_stems
from ltmem_gui.domain.rollouts import Rollout, RolloutItem

_MARKS = (citations.ENTRIES_OPEN, citations.IDS_OPEN, citations.LEGACY_IDS_OPEN)
_LINE = "line "
_ROW = "row "
_MESSAGE = "message "


@dataclass(frozen=True, slots=True)
class CitedUse:
    """One message that cites: `record` is its place in the session, `cited` names threads, or files of the memory.

    `at` in Unix seconds, None when neither the message nor the session says; `message` names it wherever the session
    is read from, "" where the agent gave it no id.
    """

    record: str
    cited: tuple[str, ...]
    at: int | None = None
    message: str = ""


def cited_in(rollout: Rollout) -> tuple[CitedUse, ...]:
    """Return what the agent cited in this session, in order."""
    uses: list[CitedUse] = []
    for item in rollout.items:
        if not _is_answer(item) or not any(mark in item.text for mark in _MARKS):
            continue
        found = citations.parse(item.text)
        named = (entry.thread_id or entry.path for entry in found.entries)
        cited = citations.unique_ids([*found.rollout_ids, *named])
        if cited:
            at = item.at if item.at is not None else rollout.updated_at
            uses.append(CitedUse(_place(item), cited, at, _message(item)))
    return tuple(uses)


def credits_of(thread_id: str, uses: Iterable[CitedUse], known: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the credits for citations of threads that have a row; `known` comes from `cited_names`.

    `record` is what a credit is kept under; where that is the message's id, `place` says where it stands.
    """
    found: list[dict[str, str]] = []
    for use in uses:
        where = {"record": use.message, "place": use.record} if use.message else {"record": use.record}
        when = {} if use.at is None else {"used_at": str(use.at)}
        cited = dict.fromkeys(known[name.lower()] for name in use.cited if name.lower() in known)
        found.extend({"thread_id": thread_id, "cited_id": one} | where | when for one in cited)
    return found


def names_of(credit: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a credit may be kept under: its record, and its place, which stood for it in older ledgers."""
    return (credit["record"], credit["place"]) if "place" in credit else (credit["record"],)


def not_kept(
    found: Iterable[Mapping[str, str]], kept: Callable[[str, str], Collection[str]]
) -> tuple[Mapping[str, str], ...]:
    """Return those of the credits that were never kept, in order, each once.

    `kept` tells the records a ledger keeps of a (thread, cited id). An older ledger knows a message by its place alone,
    a line or a row, which says nothing of the other: each such record stands for one message of the other kind.
    """
    ledgers: dict[tuple[str, str], _Ledger] = {}
    due: list[Mapping[str, str]] = []
    for credit in found:
        key = (credit["thread_id"], credit["cited_id"])
        if key not in ledgers:
            ledgers[key] = _Ledger(kept(*key))
        if ledgers[key].takes(credit):
            due.append(credit)
    return tuple(due)


class _Ledger:
    """What is kept of one cited id in one session, and how many messages its lines and rows may still stand for."""

    def __init__(self, records: Collection[str]) -> None:
        self._records: set[str] = set()
        self._spare = {_LINE: 0, _ROW: 0}
        for record in records:
            self._keep(record)

    def takes(self, credit: Mapping[str, str]) -> bool:
        """Keep a credit unless it was kept already, and tell whether it is new."""
        names = names_of(credit)
        if not self._records.isdisjoint(names) or self._stood_for(names[-1]):
            return False
        self._keep(credit["record"])
        return True

    def _keep(self, record: str) -> None:
        self._records.add(record)
        for kind in self._spare:
            self._spare[kind] += record.startswith(kind)

    def _stood_for(self, place: str) -> bool:
        """Let a record of the other kind stand for the message at this place, if one is left."""
        other = _ROW if place.startswith(_LINE) else _LINE
        left = self._spare[other] > 0
        self._spare[other] -= left
        return left


def cited_names(outputs: Iterable[StageOneOutput]) -> dict[str, str]:
    """Return name in lower case → thread id: the ids themselves, and the summary files that are theirs."""
    stems = summary_stems(outputs)
    files = {f"{ROLLOUT_SUMMARIES_SUBDIR}/{stem}.md".lower(): thread for thread, stem in stems.items()}
    return files | {thread.lower(): thread for thread in stems}


def _is_answer(item: RolloutItem) -> bool:
    copied = item.inherited or item.undone or item.injected
    return item.role == "assistant" and item.kind == "message" and not copied


def _place(item: RolloutItem) -> str:
    return f"{_LINE}{item.line}" if item.line is not None else f"{_ROW}{item.row}"


def _message(item: RolloutItem) -> str:
    """Return the name of a message: a digest of its id, which may be any text and would be kept unchecked."""
    return f"{_MESSAGE}{digest(item.message_id)}" if item.message_id else ""
