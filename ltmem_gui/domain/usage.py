"""Citations that an agent made in a session: what raises the usage of the cited memories (reference §5.2).

A citation is credited once ever per (thread, record, cited id). The record is the place in the session, so a second
scan finds the same; copies that forks, resumed sessions and compaction make are marked `inherited` by the readers and
count for nobody, and neither do turns that were rolled back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ltmem_gui.domain import citations
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.naming import ROLLOUT_SUMMARIES_SUBDIR, summary_stems
from ltmem_gui.domain.rollouts import Rollout, RolloutItem

_MARKS = (citations.ENTRIES_OPEN, citations.IDS_OPEN, citations.LEGACY_IDS_OPEN)


@dataclass(frozen=True, slots=True)
class CitedUse:
    """One message that cites: `record` is its place in the session, `cited` names threads, or files of the memory.

    `at` in Unix seconds, None when neither the message nor the session says.
    """

    record: str
    cited: tuple[str, ...]
    at: int | None = None


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
            uses.append(CitedUse(_record(item), cited, item.at if item.at is not None else rollout.updated_at))
    return tuple(uses)


def credits_of(thread_id: str, uses: Iterable[CitedUse], known: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the credits for citations of threads that have a row; `known` comes from `cited_names`."""
    found: list[dict[str, str]] = []
    for use in uses:
        for cited in dict.fromkeys(known[name.lower()] for name in use.cited if name.lower() in known):
            when = {} if use.at is None else {"used_at": str(use.at)}
            found.append({"thread_id": thread_id, "record": use.record, "cited_id": cited} | when)
    return found


def cited_names(outputs: Iterable[StageOneOutput]) -> dict[str, str]:
    """Return name in lower case → thread id: the ids themselves, and the summary files that are theirs."""
    stems = summary_stems(outputs)
    files = {f"{ROLLOUT_SUMMARIES_SUBDIR}/{stem}.md".lower(): thread for thread, stem in stems.items()}
    return files | {thread.lower(): thread for thread in stems}


def _is_answer(item: RolloutItem) -> bool:
    copied = item.inherited or item.undone or item.injected
    return item.role == "assistant" and item.kind == "message" and not copied


def _record(item: RolloutItem) -> str:
    return f"line {item.line}" if item.line is not None else f"row {item.row}"
