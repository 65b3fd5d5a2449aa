"""`memory_summary.md`: what a future agent reads first (reference §8.5).

The reader sees at most 10,000 bytes of it, head and tail, so the text is made to fit: what does not fit moves from
the recent days into the older topics, then loses detail; every task group stays named. It is derived from the blocks
of `MEMORY.md`; only a person's own lines of the first three sections are taken over from the file that is there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ltmem_gui.domain.memory_document import (
    FAILURES,
    KNOWLEDGE,
    PREFERENCES,
    Bullet,
    Document,
    Group,
    Task,
    split_reference,
)
from ltmem_gui.domain.memory_summary import GENERAL_TIPS, INDEX, OLDER_TOPICS, PROFILE, SUMMARY_BYTES, VERSION_LINE
from ltmem_gui.llm.builtin.consolidation_claims import Statement, same
from ltmem_gui.llm.builtin.consolidation_merge import is_superseded, without_suffix

RECENT_DAYS = 3
MAX_PREFERENCES, PREFERENCE_BYTES = 30, 3_000
MANY_PROJECTS = 4
"""From here on more projects do not change the order, so that one more session does not reshuffle the list."""

MAX_TIPS, TIP_BYTES = 15, 1_600
_PROFILE_START = "Works on "
_MAX_NAMES = 40
_NOWHERE = ("", "unknown", "any")
_COUNT = re.compile(r" \([0-9]+ projects\)\Z")
_SAID_END = re.compile(r"; said [0-9]{4}-[0-9]{2}-[0-9]{2}(?=\)\Z)")
NOTE_TAG = "[ad-hoc note]"


@dataclass(frozen=True, slots=True)
class _Level:
    """How much detail the index shows; `rest`: name what a recent scope did before, too."""

    days: int
    topics: int
    learnings: int
    text: int
    keywords: int
    rest: bool = True


_LEVELS = (
    _Level(3, 100, 2, 140, 6),
    _Level(3, 5, 2, 140, 6),
    _Level(3, 3, 1, 120, 5),
    _Level(3, 2, 1, 100, 5, rest=False),
    _Level(3, 1, 1, 90, 4, rest=False),
    _Level(2, 1, 1, 90, 4, rest=False),
    _Level(1, 1, 1, 80, 3, rest=False),
    _Level(1, 1, 0, 60, 3, rest=False),
    _Level(0, 0, 0, 60, 3),
    _Level(0, 0, 0, 30, 1),
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One statement with the projects it was found in."""

    text: str
    projects: tuple[str, ...]
    order: int
    said: str = ""


def render_summary(document: Document, *, existing: str, before: Document) -> str:
    """Return the file for the blocks of `document`.

    `existing` is the file that is there; its lines that say what `before` (the `MEMORY.md` that is there) or
    `document` says are ours, the others a person's.
    """
    own = _own_lines(existing, (*before.groups, *document.groups))
    groups = document.groups
    lines = [VERSION_LINE, "", PROFILE, "", *_profile(groups), *own[PROFILE]]
    preferences = _collect(groups, (PREFERENCES,))
    lines += ["", f"## {PREFERENCES}", "", *_bullets(preferences, MAX_PREFERENCES, PREFERENCE_BYTES)]
    lines += own[f"## {PREFERENCES}"]
    tips = [line for line in _collect(groups, (FAILURES, KNOWLEDGE)) if not _is_in(line.text, preferences)]
    lines += ["", GENERAL_TIPS, "", *_bullets(tips, MAX_TIPS, TIP_BYTES), *own[GENERAL_TIPS], "", INDEX]
    shown = {Statement(line.text).joined for line in (*preferences[:MAX_PREFERENCES], *tips[:MAX_TIPS])}
    used = len("\n".join(lines).encode("utf-8", "surrogateescape")) + 1
    index: list[str] = []
    for level in _LEVELS:
        index = _index(groups, level, shown)
        if used + len("\n".join(index).encode("utf-8", "surrogateescape")) + 1 <= SUMMARY_BYTES:
            break
    return _squeeze([*lines, *index])


def _squeeze(lines: Sequence[str]) -> str:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return "\n".join(kept) + "\n"


def _texts(groups: Iterable[Group]) -> list[str]:
    return [without_suffix(item.text) for group in groups for item in _all_bullets(group)]


def _all_bullets(group: Group) -> list[Bullet]:
    return [item for section in group.sections for item in section.items if isinstance(item, Bullet)]


def _own_lines(existing: str, groups: Sequence[Group]) -> dict[str, list[str]]:
    """Return the lines a person wrote, by heading; nothing of a file with a wrong first line."""
    own: dict[str, list[str]] = {PROFILE: [], f"## {PREFERENCES}": [], GENERAL_TIPS: []}
    lines = existing.split("\n")
    if lines[0] != VERSION_LINE:
        return own
    ours = _Ours(groups, next((line for line in lines if line.startswith(_PROFILE_START)), ""))
    current = ""
    for line in lines[1:]:
        if line.startswith("## "):
            current = line.strip()
        elif current in own and line.strip() and not ours.wrote(line):
            own[current].append(line)
    return own


class _Ours:
    """Tell the lines of an earlier summary of ours from a person's.

    Ours say what a block says or said, or end with the projects they were found in. The projects come from the blocks
    and from the profile of that summary, so that what was forgotten since is known as ours too.
    """

    def __init__(self, groups: Sequence[Group], profile: str) -> None:
        self._by_key: dict[tuple[str, ...], list[Statement]] = {}
        for text in _texts(groups):
            statement = Statement(text)
            self._by_key.setdefault(statement.key, []).append(statement)
        named = profile.partition(": ")[2].removesuffix(".").split(", ")
        titles = {group.title for group in groups} | set(named)
        self._endings = tuple(f"{before}{title}" for title in titles for before in (" (", ", "))

    def wrote(self, line: str) -> bool:
        """Tell whether a line is ours."""
        text = split_reference(line.removeprefix("- "))[0]
        if line.startswith(_PROFILE_START) or text.startswith(NOTE_TAG):
            return True
        where = _SAID_END.sub("", text)
        if where.endswith(")") and (_COUNT.search(where) or where[:-1].endswith(self._endings)):
            return True
        statement = Statement(text)
        return any(same(statement, other) for other in self._by_key.get(statement.key, ()))


def _profile(groups: Sequence[Group]) -> list[str]:
    names = sorted((group.title for group in groups if group.cwd not in _NOWHERE), key=str.casefold)
    if not names:
        return []
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    count = "1 project" if len(names) == 1 else f"{len(names)} projects"
    return [f"{_PROFILE_START}{count}: {', '.join(names[:_MAX_NAMES])}{more}."]


def _collect(groups: Sequence[Group], sections: tuple[str, ...]) -> list[_Line]:
    """Return statements, those of many projects first, then as the blocks stand; superseded ones are left out."""
    found: dict[tuple[str, ...], list[tuple[Statement, _Line]]] = {}
    order = 0
    for group in groups:
        for section in group.sections:
            for item in section.items if section.title in sections else ():
                if not isinstance(item, Bullet) or is_superseded(item.text):
                    continue
                order += 1
                _merge_line(found, item, group, order)
    lines = [line for entries in found.values() for _, line in entries]
    return sorted(lines, key=lambda line: (-_rank(line), -min(len(line.projects), MANY_PROJECTS), line.order))


def _rank(line: _Line) -> int:
    return 1 if line.text.startswith(NOTE_TAG) else 0


def _merge_line(
    found: dict[tuple[str, ...], list[tuple[Statement, _Line]]], item: Bullet, group: Group, order: int
) -> None:
    text = without_suffix(item.text)
    statement = Statement(text)
    entries = found.setdefault(statement.key, [])
    for index, (other, line) in enumerate(entries):
        if same(statement, other):
            projects = tuple(dict.fromkeys((*line.projects, group.title)))
            entries[index] = (other, replace(line, projects=projects))
            return
    entries.append((statement, _Line(text, (group.title,), order, _said(item.text))))


def _said(text: str) -> str:
    """Return the remark on when something was said, where its words need it."""
    remark = text[len(without_suffix(text)) :]
    return remark[2:].partition(";")[0].rstrip(")") if remark.startswith(" (said ") else ""


def _is_in(text: str, lines: Iterable[_Line]) -> bool:
    return any(line.text == text for line in lines)


def _bullets(lines: Sequence[_Line], count: int, budget: int) -> list[str]:
    bullets: list[str] = []
    for line in lines[:count]:
        where = line.projects[0] if len(line.projects) == 1 else f"{len(line.projects)} projects"
        if 1 < len(line.projects) <= 3:
            where = ", ".join(line.projects)
        remarks = "; ".join(part for part in ("" if _rank(line) else where, line.said) if part)
        bullet = f"- {_cut(line.text, 220)}" + (f" ({remarks})" if remarks else "")
        budget -= len(bullet.encode("utf-8", "surrogateescape")) + 1
        if budget < 0:
            break
        bullets.append(bullet)
    return bullets


def _day(task: Task) -> str:
    return max((reference.attributes.get("updated_at", "")[:10] for reference in task.files), default="")


def _index(groups: Sequence[Group], level: _Level, shown_above: Collection[str]) -> list[str]:
    days = sorted({_day(task) for group in groups for task in group.tasks} - {""}, reverse=True)[: level.days]
    lines: list[str] = []
    older: list[str] = []
    for group in groups:
        shown: list[Task] = []
        part: list[str] = []
        for day in days:
            tasks = [task for task in reversed(group.tasks) if _day(task) == day][: level.topics]
            if tasks:
                part += [f"#### {day}", *(line for task in tasks for line in _topic(group, task, level, shown_above))]
                shown += tasks
        if part:
            lines += ["", f"### {_scope(group)}", *part]
        rest = sorted((task for task in group.tasks if task not in shown), key=_day, reverse=True)
        if not part or (rest and level.rest):
            older += [f"#### {_scope(group)}", *_older(group, rest, level)]
    return [*lines, *(["", OLDER_TOPICS, *older] if older else [])]


def _scope(group: Group) -> str:
    return group.cwd if group.cwd not in _NOWHERE else group.title


def _topic(group: Group, task: Task, level: _Level, shown_above: Collection[str]) -> list[str]:
    lines = [f"- {_cut(task.title, level.text)}: {', '.join(_keywords([task], level.keywords))}"]
    lines.append(f"  - desc: {group.title}, Task {task.number}, {_sessions(task)}")
    learnt = [
        " ".join(filter(None, (_cut(without_suffix(bullet.text), level.text), _said(bullet.text))))
        for bullet in reversed(_all_bullets(group))
        if task.number in bullet.tasks
        and not is_superseded(bullet.text)
        and Statement(without_suffix(bullet.text)).joined not in shown_above
    ]
    learnings = "; ".join(learnt[: level.learnings])
    return [*lines, f"  - learnings: {learnings}"] if learnings else lines


def _older(group: Group, tasks: Sequence[Task], level: _Level) -> list[str]:
    words = ", ".join(_keywords(tasks, level.keywords))
    if not tasks:
        return [f"- {group.title}", "  - desc: statements without a task"]
    name = _cut(tasks[0].title, level.text)
    more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
    return [f"- {name}: {words}", f"  - desc: Task {tasks[0].number}{more}, last on {_day(tasks[0]) or 'unknown day'}"]


def _sessions(task: Task) -> str:
    return "1 session" if len(task.files) == 1 else f"{len(task.files)} sessions"


def _keywords(tasks: Sequence[Task], count: int) -> list[str]:
    words = (word.strip() for task in tasks for line in task.keywords for word in line.removeprefix("- ").split(","))
    return list({word.casefold(): word for word in words if word}.values())[:count]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
