"""The checks of `MEMORY.md` (reference §8.4), and those of any memory text: hidden characters, dates, instructions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ltmem_gui.domain.citations import parse_entry
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.hazards import BIDI, is_hidden, one_line
from ltmem_gui.domain.look_alikes import look_alike_words
from ltmem_gui.domain.memory_document import SECTION_ORDER, Bullet, Document, Group, Loose, Task
from ltmem_gui.domain.memory_wording import BOLD, has_relative_date, reads_like_an_instruction

_PLACEHOLDER = re.compile(r"(?:misc(?:ellaneous)?|general|other|task|todo|untitled|various|stuff)\s*[0-9]*\W*\Z", re.I)
_REFERENCE = re.compile(
    r"(?<![\w/.-])(?:rollout_summaries/[^\s()\[\]|,;`\"'<>]+?\.md|skills/[a-z0-9-]+/SKILL\.md)(?!\w)"
)
_FIELDS = ("cwd", "rollout_path", "updated_at")


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding before it has an id."""

    rule: str
    severity: Severity
    path: str
    line: int | None
    text: str


def check_memory(path: str, document: Document) -> Iterator[Remark]:
    """Yield what breaks the form of `MEMORY.md`."""
    for part in document.parts:
        if isinstance(part, Loose):
            line = next((i for i, text in enumerate(part.lines, part.line) if text.strip()), None)
            if line is not None:
                yield _form(path, line, "text outside of any task group", Severity.INFO)
        else:
            yield from _check_group(path, part)


def check_text(path: str, text: str) -> Iterator[Remark]:
    """Yield lines that hide something, steer the reader or speak of a day only their writer knew."""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r")
        if not line.isprintable():
            yield from _hidden(path, number, line)
        for word, codes in look_alike_words(line):
            words = f"reads as “{word}” but holds look-alike letters: {codes}"
            yield Remark("look-alike", Severity.WARNING, path, number, words)
        if reads_like_an_instruction(line):
            words = f"reads like an instruction: {one_line(line, 80)}"
            yield Remark("instruction", Severity.WARNING, path, number, words)
        if has_relative_date(line) and isinstance(parse_entry(line), str):
            yield Remark("relative-date", Severity.WARNING, path, number, f"no date named: {one_line(line, 80)}")


def check_references(path: str, text: str, files: Mapping[str, bytes]) -> Iterator[Remark]:
    """Yield mentions of summaries and skills that do not exist."""
    for number, line in enumerate(text.split("\n"), 1):
        for name in dict.fromkeys(match[0] for match in _REFERENCE.finditer(line)):
            if name not in files and "|note=[" not in line:
                yield Remark("missing-file", Severity.WARNING, path, number, f"{name} does not exist (pruned?)")


def _hidden(path: str, number: int, line: str) -> Iterator[Remark]:
    found = [char for at, char in enumerate(line) if char != "\t" and is_hidden(char) and not _joins(line, at)]
    if not found:
        return
    bidi = any(char in BIDI for char in found)
    codes = ", ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in found))
    yield Remark("bidi" if bidi else "hidden-character", Severity.WARNING, path, number, f"holds hidden {codes}")


def _joins(line: str, at: int) -> bool:
    """Tell whether a joiner stands between parts of one emoji, or of one word of a script that needs it."""
    if line[at] not in "\u200c\u200d" or not 0 < at < len(line) - 1:
        return False
    return all(
        ord(c) > 0x2FF and unicodedata.category(c) in ("So", "Sk", "Mn", "Mc", "Lo")
        for c in (line[at - 1], line[at + 1])
    )


def _check_group(path: str, group: Group) -> Iterator[Remark]:
    if not group.title or _PLACEHOLDER.match(group.title):
        yield _form(path, group.line, f"the task group needs a telling name, not {group.title or 'an empty one'!r}")
    for name in ("scope", "applies_to"):
        if not group.value_of(name):
            yield _form(path, group.line, f"{name}: is missing in this task group")
    if not group.tasks:
        yield _form(path, group.line, "the task group has no task")
    for number, task in {task.number: task for task in group.tasks[::-1]}.items():
        twins = [other.line for other in group.tasks if other.number == number and other.line != task.line]
        for line in twins:
            yield _form(path, line, f"Task {number} stands twice in this task group, first on line {task.line}")
    first_section = min((section.line for section in group.sections), default=0)
    for task in group.tasks:
        if first_section and task.line > first_section:
            yield _form(path, task.line, "tasks stand before the sections of the group")
        yield from _check_task(path, task)
    yield from _check_sections(path, group)
    yield from _check_bullets(path, group)


def _check_task(path: str, task: Task) -> Iterator[Remark]:
    if not task.title or _PLACEHOLDER.match(task.title):
        yield _form(path, task.line, f"the task needs a telling name, not {task.title or 'an empty one'!r}")
    if not task.has_files or not task.files:
        yield _form(path, task.line, "the task names no file below ### rollout_summary_files")
    if not task.has_keywords or not task.keywords:
        yield _form(path, task.line, "the task has no ### keywords")
    elif len(task.keywords) > 1:
        yield _form(path, task.line, "the keywords are one comma-separated bullet", Severity.INFO)
    for reference in task.files:
        missing = [name for name in _FIELDS if name not in reference.attributes]
        if missing:
            yield _form(path, reference.line, f"{', '.join(missing)} missing in the file's parentheses")


def _check_sections(path: str, group: Group) -> Iterator[Remark]:
    reached = -1
    seen: set[str] = set()
    for section in group.sections:
        if section.title in seen:
            yield _form(path, section.line, f"## {section.title} stands twice in this task group")
        seen.add(section.title)
        if section.title not in SECTION_ORDER:
            yield _form(path, section.line, f"## {section.title} is not a section of a task group", Severity.INFO)
            continue
        place = SECTION_ORDER.index(section.title)
        if place < reached:
            yield _form(path, section.line, f"## {section.title} stands after ## {SECTION_ORDER[reached]}")
        reached = max(reached, place)


def _check_bullets(path: str, group: Group) -> Iterator[Remark]:
    numbers = {task.number for task in group.tasks}
    entries = group.entries_by_claim
    said: dict[str, int] = {}
    for section in group.sections:
        for item in section.items:
            if isinstance(item, Loose):
                for number, line in enumerate(item.lines, item.line):
                    if line.lstrip().startswith("* "):
                        yield _form(path, number, "bullets begin with -, not *")
                continue
            yield from _check_bullet(path, item, numbers, entries)
            first = said.setdefault(item.text.casefold(), item.line)
            if first != item.line:
                yield Remark("duplicate", Severity.INFO, path, item.line, f"says the same as line {first}")


def _check_bullet(path: str, item: Bullet, tasks: set[int], entries: Mapping[int, object]) -> Iterator[Remark]:
    for number in item.tasks:
        if number not in tasks:
            yield _form(path, item.line, f"[Task {number}] is not a task of this group")
    for number in item.claims:
        if number not in entries:
            yield Remark("uncited", Severity.WARNING, path, item.line, f"[c{number}] has no citation in this group")
    if BOLD.search(item.text):
        yield _form(path, item.line, "no bold text in bullets", Severity.INFO)


def _form(path: str, line: int, text: str, severity: Severity = Severity.WARNING) -> Remark:
    return Remark("schema", severity, path, line, text)
