"""Derive task groups from stage-1 outputs: one per working directory, with tasks, statements and their evidence."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rapidfuzz import fuzz

from ltmem_gui.domain.citations import ROLLOUT_PREFIX, CitationEntry
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.memory_document import FileReference
from ltmem_gui.llm.builtin.consolidation_claims import Claim, ClaimIndex, Support
from ltmem_gui.llm.builtin.consolidation_raw import MAX_TITLE, RawBullet, RawTask, clean_line, read_raw_memory

SUMMARIES = "rollout_summaries/"
MAX_KEYWORDS = 8
_HOUSE_IMPLICATION = re.compile(r"\s*→ keep to this in [^→]*\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PLACEHOLDERS = frozenset({"", "task", "untitled request", "misc", "general", "unknown", "todo"})


@dataclass(frozen=True, slots=True)
class DerivedTask:
    """One task of one session; `ordinal` counts the tasks of the session from 0. `at` in Unix seconds."""

    thread_id: str
    ordinal: int
    title: str
    outcome: str
    keywords: tuple[str, ...]
    reference: FileReference
    at: int

    @property
    def heading(self) -> str:
        """Return title and outcome as the heading names them."""
        plain = self.title.rstrip(" .!?:;,…。！？") or self.title
        return f"{plain}, {self.outcome}" if self.outcome else plain


@dataclass(slots=True)
class DerivedGroup:
    """Everything known about one working directory, in ascending thread-id order."""

    key: str
    cwd: str
    tasks: list[DerivedTask] = field(default_factory=list[DerivedTask])
    claims: ClaimIndex = field(default_factory=ClaimIndex)

    @property
    def newest(self) -> int:
        """Return when a session of this directory was last updated, in Unix seconds."""
        return max((task.at for task in self.tasks), default=0)


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """One rendered summary: where it is and its lines."""

    path: str
    lines: tuple[str, ...]


def date_of(at: int) -> str:
    """Return the UTC day of a time in Unix seconds."""
    return _utc(at).strftime("%Y-%m-%d")


def normal_cwd(cwd: str) -> str:
    """Return the form of a working directory that equal directories share; empty for an unknown one."""
    text = cwd.strip()
    if text.casefold() in ("", "unknown", "."):
        return ""
    if _DRIVE.match(text) or text.startswith("\\\\"):
        text = text.replace("\\", "/").casefold()
    return posixpath.normpath(text)


def summary_files(inputs: Mapping[str, bytes]) -> dict[str, SummaryFile]:
    """Return thread id → rendered summary."""
    found: dict[str, SummaryFile] = {}
    for path in sorted(inputs):
        if path.startswith(SUMMARIES):
            lines = inputs[path].decode("utf-8", "replace").split("\n")
            if lines[-1] == "":
                lines.pop()
            if lines and lines[0].startswith("thread_id: "):
                found[lines[0].removeprefix("thread_id: ").strip()] = SummaryFile(path, tuple(lines))
    return found


def derive_groups(outputs: Iterable[StageOneOutput], inputs: Mapping[str, bytes]) -> dict[str, DerivedGroup]:
    """Return key → group; a row whose summary was not rendered is left out, since nothing could be cited."""
    files = summary_files(inputs)
    groups: dict[str, DerivedGroup] = {}
    for output in sorted(outputs, key=lambda row: row.thread_id):
        file = files.get(output.thread_id)
        if file is None:
            continue
        raw = read_raw_memory(output.raw_memory)
        cwd = one_line(output.cwd if normal_cwd(output.cwd) else raw.fields.get("cwd", ""), 400)
        key = normal_cwd(cwd)
        group = groups.setdefault(key, DerivedGroup(key, cwd if key else "unknown"))
        tasks = raw.tasks or (RawTask("", "", ()),)
        for ordinal, task in enumerate(tasks):
            _add_task(group, output, ordinal, task, _keywords(raw.keywords, task, group.cwd), file, raw.fields)
    return groups


def group_titles(groups: Sequence[DerivedGroup], taken: Mapping[str, str]) -> dict[str, str]:
    """Return key → title: the last part of the directory, with as many parts before it as make it unique.

    `taken` maps keys to titles that are in use and stay.
    """
    titles = dict(taken)
    used = {title.casefold() for title in taken.values()}
    for group in groups:
        if group.key in titles:
            continue
        parts = [part for part in re.split(r"[\\/]+", group.cwd) if part] or ["root"]
        names = [one_line("/".join(parts[-size:]), MAX_TITLE) for size in range(1, len(parts) + 1)]
        title = next((name for name in names if name.casefold() not in used), group.cwd)
        titles[group.key] = title if group.key else "unknown folder"
        used.add(title.casefold())
    return titles


def _add_task(
    group: DerivedGroup,
    output: StageOneOutput,
    ordinal: int,
    task: RawTask,
    keywords: tuple[str, ...],
    file: SummaryFile,
    fields: Mapping[str, str],
) -> None:
    title = next(
        (t for t in (task.title, *_titles(fields, file)) if t.casefold() not in _PLACEHOLDERS), "session of this folder"
    )
    outcome = task.outcome or (clean_line(fields.get("task_outcome", ""), 40) if not task.title else "")
    reference = FileReference(file.path, _annotation(output))
    group.tasks.append(
        DerivedTask(output.thread_id, ordinal, title, outcome, keywords, reference, output.source_updated_at)
    )
    for bullet in task.bullets:
        text = _HOUSE_IMPLICATION.sub("", bullet.text)
        entries = _evidence(bullet, output, file)
        support = Support(output.thread_id, ordinal, output.source_updated_at, entries)
        group.claims.add(Claim(bullet.section, text, (support,)))


def _titles(fields: Mapping[str, str], file: SummaryFile) -> Iterable[str]:
    yield clean_line(fields.get("task", ""), MAX_TITLE)
    yield clean_line(fields.get("description", ""), MAX_TITLE)
    heading = next((line for line in file.lines if line.startswith("# ")), "")
    yield clean_line(heading.lstrip("# "), MAX_TITLE)


def _annotation(output: StageOneOutput) -> str:
    updated = _utc(output.source_updated_at).isoformat()
    cwd = one_line(output.cwd, 400) or "unknown"
    path = one_line(output.rollout_path, 400) or "unknown"
    return f"cwd={cwd}, rollout_path={path}, updated_at={updated}, thread_id={one_line(output.thread_id, 200)}"


def _keywords(given: tuple[str, ...], task: RawTask, cwd: str) -> tuple[str, ...]:
    """Return the keywords that this task speaks of first, then the others of the session."""
    given = tuple(word for word in given if re.search(r"\w\w", word) and ": " not in word)
    spoken = " ".join([task.title, *(bullet.text for bullet in task.bullets)]).casefold()
    ranked = sorted(given, key=lambda word: word.casefold() not in spoken)[:MAX_KEYWORDS]
    if len(ranked) > 1:
        return tuple(ranked)
    words = [word for word in re.findall(r"[\w./-]{4,40}", task.title) if not word.isdigit()]
    folder = [part for part in re.split(r"[\\/]+", cwd) if part][-1:]
    found = dict.fromkeys([*ranked, *folder, *(word.strip("./-") for word in words)])
    return tuple(found)[:MAX_KEYWORDS] or ("session",)


def _evidence(bullet: RawBullet, output: StageOneOutput, file: SummaryFile) -> tuple[CitationEntry, ...]:
    own = f"{ROLLOUT_PREFIX}{output.thread_id}"
    entries = tuple(entry for entry in bullet.entries if entry.path == own)
    if entries:
        return entries
    start, end = _summary_lines(bullet.text, file)
    return (CitationEntry(file.path, start, end),)


def _summary_lines(text: str, file: SummaryFile) -> tuple[int, int]:
    """Return the line of the summary that says it, else the lines of its whole body."""
    body = next((i for i, line in enumerate(file.lines) if not line.strip()), 0)
    wanted = text.casefold().strip("\"'“”„ ")
    best, best_score = 0, 0.0
    for number, line in enumerate(file.lines[body:], body + 1):
        plain = line.casefold().lstrip("-*# ").strip()
        score = fuzz.token_set_ratio(wanted, plain) if len(plain) >= 12 else 0.0
        if score > best_score:
            best, best_score = number, score
    if best_score >= 70:
        return best, best
    filled = [number for number, line in enumerate(file.lines[body:], body + 1) if line.strip()]
    return (filled[0], filled[-1]) if filled else (1, len(file.lines))


def _utc(at: int) -> datetime:
    # Rows of other programs may hold any integer.
    return datetime.fromtimestamp(min(max(at, 0), 253_402_300_799), UTC)
