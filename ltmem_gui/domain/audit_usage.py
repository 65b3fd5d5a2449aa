"""How often and when last a memory was cited, from what agents wrote in their sessions (ui-features C16)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ltmem_gui.domain.citations import CitationStream
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.domain.selection import SECONDS_PER_DAY, RecencyFallback


@dataclass(frozen=True, slots=True)
class Use:
    """One citation in an agent's answer: of a session (`cited_id`) or of lines of a memory file.

    `by` is the session it was made in; `at` in Unix seconds.
    """

    by: str
    at: int | None
    cited_id: str = ""
    path: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """How often something was cited, and when last (Unix seconds, None where no session says)."""

    count: int = 0
    last: int | None = None


def uses_in(rollout: Rollout) -> tuple[Use, ...]:
    """Return what the agent cited in a session; what was inherited or taken back counts for nobody."""
    found: list[Use] = []
    for item in rollout.items:
        if item.role != "assistant" or item.kind != "message" or item.inherited or item.undone:
            continue
        stream = CitationStream()
        stream.feed(item.text)
        stream.finish()
        at = item.at if item.at is not None else rollout.updated_at
        cited = stream.citations
        found += [Use(rollout.id, at, cited_id=thread) for thread in cited.rollout_ids]
        found += [Use(rollout.id, at, "", entry.path, entry.start, entry.end) for entry in cited.entries]
    return tuple(found)


def usage_by_session(uses: Iterable[Use]) -> Mapping[str, Usage]:
    """Return thread id, in lower case → how often it was cited."""
    groups: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        if use.cited_id:
            groups[use.cited_id.lower()].append(use)
    return {thread: _usage(group) for thread, group in groups.items()}


def usage_of_lines(uses: Iterable[Use], path: str, start: int, end: int) -> Usage:
    """Return how often any of these lines of a memory file was cited."""
    return _usage([use for use in uses if use.path == path and use.start <= end and start <= use.end])


def standing_words(
    output: StageOneOutput, seen: Usage, *, now: int, max_unused_days: int, fallback: RecencyFallback = "generated_at"
) -> str:
    """Say why a memory is kept or stale, by the rule of the selection. `now` in Unix seconds."""
    recency = output.last_usage
    if recency is None:
        recency = output.generated_at if fallback == "generated_at" else output.source_updated_at
        since = f"never used; {'made' if fallback == 'generated_at' else 'from a session of'} {_day(recency)}"
    else:
        times = output.usage_count or 0
        since = f"used {times} time{'' if times == 1 else 's'}, last {_day(recency)}"
    until = recency + max_unused_days * SECONDS_PER_DAY
    verdict = f"kept until {_day(until)}" if until >= now else f"stale since {_day(until)}: not in the next selection"
    if output.memory_mode != "enabled":
        verdict = f"left out: the session's memory mode is {output.memory_mode}"
    cited = f"; cited {seen.count}× in the sessions that were read" if seen.count else ""
    last = f", last {_day(seen.last)}" if seen.count and seen.last is not None else ""
    return f"{since}{cited}{last}; {verdict}"


def _usage(uses: list[Use]) -> Usage:
    return Usage(len(uses), max((use.at for use in uses if use.at is not None), default=None))


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
