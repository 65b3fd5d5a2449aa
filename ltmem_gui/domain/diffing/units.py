"""What is decided together: a hunk, a part of one, a whole file, or everything a plan says of one thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.sections import thread_at, thread_of_section, thread_of_summary
from ltmem_gui.domain.naming import RAW_MEMORIES_FILENAME, WORKSPACE_DIFF_FILENAME
from ltmem_gui.domain.plan import FileChange, Hunk, Plan

WHOLE = "*"

UnitKind = Literal["hunk", "part", "file", "thread", "header"]
Cut = tuple[int, int]


class Member(NamedTuple):
    """One piece of a unit: a hunk, or of it the lines `old[a:b]` and `new[c:d]`, or a whole file (`hunk` is `*`)."""

    path: str
    hunk: str
    old: Cut = (0, 0)
    new: Cut = (0, 0)


class Unit(NamedTuple):
    """What one decision is about. `key` is stable; `content` tells whether it is the same change in another plan."""

    key: str
    kind: UnitKind
    members: tuple[Member, ...]
    content: tuple[str, ...]

    @property
    def path(self) -> str:
        """Return the file it is listed under."""
        return self.members[0].path


def units_of(
    plan: Plan, texts: Mapping[str, str] | None = None, splits: Mapping[tuple[str, str], tuple[Cut, ...]] | None = None
) -> tuple[Unit, ...]:
    """Return the units of a plan in the order of its changes.

    `texts` holds proposed texts by path (of deleted files: the old one) and helps to find the thread of a change that
    does not name it. `splits` maps (path, hunk id) to cut points (old, new) inside that hunk.
    """
    threads: dict[str, list[tuple[Member, str]]] = {}
    units: list[Unit | str] = []
    for change in plan.changes:
        if change.path == WORKSPACE_DIFF_FILENAME:
            continue
        for unit, thread in _units_of_change(change, (texts or {}).get(change.path), splits or {}):
            if thread is None:
                units.append(unit)
                continue
            if thread not in threads:
                threads[thread] = []
                units.append(thread)
            threads[thread] += zip(unit.members, unit.content, strict=True)
    return tuple(_thread(unit, threads[unit]) if isinstance(unit, str) else unit for unit in units)


def _thread(thread: str, pieces: list[tuple[Member, str]]) -> Unit:
    members, content = zip(*pieces, strict=True)
    return Unit(f"thread:{thread}", "thread", members, content)


def _units_of_change(
    change: FileChange, text: str | None, splits: Mapping[tuple[str, str], tuple[Cut, ...]]
) -> Iterable[tuple[Unit, str | None]]:
    """Yield units with the thread they belong to, None for those of their own."""
    if change.path == RAW_MEMORIES_FILENAME and change.unit == "thread":
        yield from _sections(change, text)
    elif change.unit != "hunk":
        yield _file(change), _thread_of_file(change, text)
    else:
        for hunk in change.hunks:
            cuts = splits.get((change.path, hunk.id), ()) if splits else ()
            if cuts:
                yield from ((unit, None) for unit in _parts(change.path, hunk, cuts))
                continue
            name = hunk.id
            yield Unit(f"{change.path}:{name}", "hunk", (_member(change.path, hunk),), (name,)), None


def _file(change: FileChange) -> Unit:
    content = f"{change.change}:{change.old_sha256}:{change.new_sha256}:{change.old_mode}:{change.new_mode}"
    return Unit(f"{change.path}:{WHOLE}", "file", (Member(change.path, WHOLE),), (content,))


def _thread_of_file(change: FileChange, text: str | None) -> str | None:
    if not change.path.startswith("rollout_summaries/"):
        return None
    for hunk in change.hunks:
        thread = thread_of_summary(hunk.new) or thread_of_summary(hunk.old)
        if thread is not None:
            return thread
    return thread_of_summary(split_lines(text)) if text else None


def _sections(change: FileChange, text: str | None) -> Iterable[tuple[Unit, str | None]]:
    lines = split_lines(text) if text else []
    for hunk in change.hunks:
        thread = next((t for line in (*hunk.new, *hunk.old) if (t := thread_of_section(line)) is not None), None)
        if thread is None and lines:
            thread = thread_at(lines, hunk.new_start)
        unit = Unit(f"{change.path}:{hunk.id}", "header", (_member(change.path, hunk),), (hunk.id,))
        yield unit, thread


def _member(path: str, hunk: Hunk) -> Member:
    return Member(path, hunk.id, (0, len(hunk.old)), (0, len(hunk.new)))


def _parts(path: str, hunk: Hunk, cuts: tuple[Cut, ...]) -> Iterable[Unit]:
    a = c = 0
    for b, d in (*cuts, (len(hunk.old), len(hunk.new))):
        name = f"{hunk.id}@{a}-{b}+{c}-{d}"
        yield Unit(f"{path}:{name}", "part", (Member(path, hunk.id, (a, b), (c, d)),), (name,))
        a, c = b, d
