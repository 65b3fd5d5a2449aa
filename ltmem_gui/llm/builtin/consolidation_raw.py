"""Read raw memories, ours and those models wrote (reference §8.1), into tasks, bullets and citations.

Tolerant: labels with or without Markdown around them, `-`, `*` or numbered bullets, plain paragraphs where nothing
else is there. Every text that comes out is one clean line: no hidden characters, no protocol tags, bounded length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ltmem_gui.domain import citations
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.hazards import is_hidden
from ltmem_gui.domain.memory_document import FAILURES, KNOWLEDGE, PREFERENCES, split_reference
from ltmem_gui.domain.memory_wording import BOLD

MAX_TEXT = 500
MAX_TITLE = 100

_TASK = re.compile(r"#{2,4}\s*Task\s+[0-9]+\s*[:.–-]?\s*(.*)\Z", re.IGNORECASE)
_BULLET = re.compile(r"(\s*)(?:[-*+•]|[0-9]{1,3}[.)])\s+(.*)\Z")
_LABEL = re.compile(r"[#*_\s]*([A-Za-z][A-Za-z /]{2,60}?)[*_\s]*:?[*_\s]*\Z")
_FRONT = re.compile(r"([a-z_]+):\s*(.*)\Z")
_LABELS = {
    "preference signals": PREFERENCES,
    "user preferences": PREFERENCES,
    "preferences": PREFERENCES,
    "reusable knowledge": KNOWLEDGE,
    "knowledge": KNOWLEDGE,
    "facts": KNOWLEDGE,
    "failures and how to do differently": FAILURES,
    "failures": FAILURES,
    "pitfalls": FAILURES,
    "references": "",
    "key steps": "",
    "rollout context": "",
    "outcome": "",
}
_FIELDS = ("task", "task_group", "task_outcome", "cwd", "keywords", "description")


@dataclass(frozen=True, slots=True)
class RawBullet:
    """One statement; `entries` are the rollout lines it was taken from, without notes."""

    section: str
    text: str
    entries: tuple[CitationEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class RawTask:
    """One task of a session; the title may be empty."""

    title: str
    outcome: str
    bullets: tuple[RawBullet, ...]


@dataclass(frozen=True, slots=True)
class RawMemory:
    """One raw memory, read."""

    fields: dict[str, str]
    tasks: tuple[RawTask, ...]

    @property
    def keywords(self) -> tuple[str, ...]:
        """Return the keywords in order, each once."""
        parts = (clean_line(part, 40) for part in self.fields.get("keywords", "").split(","))
        return tuple({part.casefold(): part for part in parts if part}.values())


def clean_line(text: str, limit: int = MAX_TEXT) -> str:
    """Return the text on one line that is safe to quote: nothing hidden, no tags, no reference-like ending."""
    seen = "".join(" " if c in "\n\t\r\x0b\x0c\x85\u2028\u2029" else "" if is_hidden(c) else c for c in text)
    flat = BOLD.sub(r"\1", citations.defuse(" ".join(seen.split())))
    flat = split_reference(flat)[0]
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def read_raw_memory(text: str) -> RawMemory:
    """Read a raw memory; total over all texts."""
    lines = text.split("\n")
    fields, at = _front_matter(lines)
    cited: dict[int, list[CitationEntry]] = {}
    for entry in citations.parse(text).entries:
        if entry.claim is not None and entry.status == "ok" and entry.thread_id:
            cited.setdefault(entry.claim, []).append(CitationEntry(entry.path, entry.start, entry.end))
    reader = _Body(cited)
    for line in lines[at:]:
        reader.take(line.rstrip())
    tasks = reader.tasks()
    if not any(task.bullets for task in tasks):
        tasks = _plain(citations.strip_blocks("\n".join(lines[at:])).split("\n"), tasks)
    return RawMemory(fields, tasks)


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    start = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if not lines[start].strip() or lines[start].strip() != "---":
        return {}, 0
    fields: dict[str, str] = {}
    for index in range(start + 1, len(lines)):
        stripped = lines[index].strip()
        if stripped == "---":
            return fields, index + 1
        match = _FRONT.match(stripped)
        if match:
            fields.setdefault(match[1], match[2].strip().strip("\"'"))
    return {}, 0


class _Body:
    def __init__(self, cited: dict[int, list[CitationEntry]]) -> None:
        self._cited = cited
        self._tasks: list[RawTask] = []
        self._title = ""
        self._outcome = ""
        self._section = KNOWLEDGE
        self._open: list[str] = []
        self._bullets: list[RawBullet] = []
        self._started = False
        self._in_block = False

    def take(self, line: str) -> None:
        stripped = line.strip()
        if stripped in (citations.ENTRIES_OPEN, citations.IDS_OPEN, citations.LEGACY_IDS_OPEN):
            self._in_block = True
        task, bullet = _TASK.match(stripped), _BULLET.match(line)
        if self._in_block:
            self._in_block = not stripped.startswith("</")
        elif task:
            self._close_task()
            self._title, self._started = task[1], True
        elif bullet and (len(bullet[1]) < 2 or not self._open):
            self._close_bullet()
            self._open = [bullet[2]]
        elif bullet or (self._open and line.startswith((" ", "\t")) and stripped):
            self._open.append(bullet[2] if bullet else stripped)
        else:
            self._close_bullet()
            self._take_label(stripped)

    def tasks(self) -> tuple[RawTask, ...]:
        self._close_task()
        return tuple(self._tasks)

    def _take_label(self, stripped: str) -> None:
        key, colon, value = stripped.partition(":")
        if colon and key in _FIELDS:
            if key == "task_outcome":
                self._outcome = clean_line(value, 40)
            if key == "task" and not self._title:
                self._title = value
            return
        label = _label(stripped)
        if label is not None:
            self._section = label

    def _close_bullet(self) -> None:
        parts, self._open = self._open, []
        if not parts or not self._section:
            return
        _, _, claims = split_reference(parts[0])
        joined = " ".join([split_reference(part)[0] for part in parts])
        text = clean_line(joined)
        if text:
            claims = claims or split_reference(parts[-1])[2]
            entries = dict.fromkeys(entry for number in claims for entry in self._cited.get(number, ()))
            self._bullets.append(RawBullet(self._section, text, tuple(entries)))

    def _close_task(self) -> None:
        self._close_bullet()
        if self._started or self._bullets:
            self._tasks.append(RawTask(clean_line(self._title, MAX_TITLE), self._outcome, tuple(self._bullets)))
        self._title, self._outcome, self._section, self._bullets = "", "", KNOWLEDGE, []


def _label(text: str) -> str | None:
    """Return the section a label opens, empty for one that is passed over, None where the text is no label."""
    match = _LABEL.match(text)
    return _LABELS.get(match[1].strip().lower()) if match else None


def _plain(lines: list[str], tasks: tuple[RawTask, ...]) -> tuple[RawTask, ...]:
    """Take paragraphs as knowledge where there is no bullet at all."""
    texts = [clean_line(line) for line in lines if line.strip() and not line.lstrip().startswith(("#", "<", "---"))]
    texts = [text for text in texts if text and text.partition(":")[0] not in _FIELDS and _label(text) is None]
    if not texts:
        return tasks
    first = tasks[0] if tasks else RawTask("", "", ())
    bullets = tuple(RawBullet(KNOWLEDGE, text) for text in texts)
    return (RawTask(first.title, first.outcome, bullets), *tasks[1:])
