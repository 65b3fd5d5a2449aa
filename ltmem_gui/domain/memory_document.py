"""`MEMORY.md` as blocks, tasks, sections and bullets (reference §8.4, design §5.3).

Reading is tolerant and total: what is not understood is kept as loose lines in its place. A block that did not change
is written back as it was, byte for byte; only changed blocks are laid out anew. Lines end at 0x0A only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ltmem_gui.domain import citations
from ltmem_gui.domain.citations import CitationEntry, ParsedCitations

GROUP_PREFIX = "# Task Group:"
PREFERENCES = "User preferences"
KNOWLEDGE = "Reusable knowledge"
FAILURES = "Failures and how to do differently"
SECTION_ORDER = (PREFERENCES, KNOWLEDGE, FAILURES)
FILES_HEADING = "### rollout_summary_files"
KEYWORDS_HEADING = "### keywords"

_TASK = re.compile(r"## Task ([0-9]{1,6})\s*:?\s*(.*)\Z")
_REFERENCE = re.compile(r"\s*\[\s*((?:Task\s+[0-9]{1,6}|c[0-9]{1,9})(?:\s*,\s*(?:Task\s+)?c?[0-9]{1,9})*)\s*\]\s*\Z")
_ATTRIBUTE = re.compile(r"(?:\A|, )(cwd|rollout_path|updated_at|thread_id)=")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_FILE = re.compile(r"- (?P<path>\S.*?)(?: \((?P<note>.*)\))?\s*\Z")


@dataclass(frozen=True, slots=True)
class Bullet:
    """One `- ` line of a section: its text, and the tasks and citations named at its end."""

    text: str
    tasks: tuple[int, ...] = ()
    claims: tuple[int, ...] = ()
    more: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Loose:
    """Lines that belong to no known form, in their place."""

    lines: tuple[str, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FileReference:
    """One line below `### rollout_summary_files`; `note` is the text in parentheses."""

    path: str
    note: str = ""
    line: int = field(default=0, compare=False)

    @property
    def attributes(self) -> dict[str, str]:
        """Return cwd, rollout_path, updated_at and thread_id as far as they are given."""
        found = list(_ATTRIBUTE.finditer(self.note))
        ends = [*(match.start() for match in found[1:]), len(self.note)]
        return {match[1]: self.note[match.end() : end] for match, end in zip(found, ends, strict=False)}

    @property
    def thread_id(self) -> str:
        """Return the thread named, empty without one."""
        return self.attributes.get("thread_id", "").partition(",")[0].strip()


@dataclass(frozen=True, slots=True)
class Task:
    """One `## Task n:` with its two sub-sections; `keywords` are the lines as they stand."""

    number: int
    title: str
    files: tuple[FileReference, ...] = ()
    keywords: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    has_files: bool = True
    has_keywords: bool = True
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Section:
    """One block-level section such as `## User preferences`."""

    title: str
    items: tuple[Bullet | Loose, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """One `# Task Group:` block. `raw` are its lines as read; a changed block has none."""

    title: str
    header: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    sections: tuple[Section, ...] = ()
    citations: ParsedCitations = field(default_factory=ParsedCitations)
    line: int = field(default=0, compare=False)
    raw: tuple[str, ...] = field(default=(), compare=False)

    def value_of(self, name: str) -> str:
        """Return the text after `name:` in the header, empty without it."""
        for text in self.header:
            key, colon, value = text.partition(":")
            if colon and key.strip() == name:
                return value.strip()
        return ""

    @property
    def cwd(self) -> str:
        """Return the folder of `applies_to: cwd=…`, empty without it."""
        value = self.value_of("applies_to")
        at = value.find("cwd=")
        if at < 0:
            return ""
        until = "; reuse_rule=" if "; reuse_rule=" in value else ";"
        return value[at + 4 :].partition(until)[0].strip()

    @property
    def entries_by_claim(self) -> dict[int, tuple[CitationEntry, ...]]:
        """Return the citation entries of each numbered bullet."""
        found: dict[int, tuple[CitationEntry, ...]] = {}
        for entry in self.citations.entries:
            if entry.claim is not None:
                found[entry.claim] = (*found.get(entry.claim, ()), entry)
        return found


@dataclass(frozen=True, slots=True)
class Document:
    """The whole file: task groups, and everything else as loose lines, in order."""

    parts: tuple[Group | Loose, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """Return the task groups in order."""
        return tuple(part for part in self.parts if isinstance(part, Group))


def split_reference(text: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Split `… [Task 1] [c2]` into the text, the task numbers and the citation numbers."""
    tasks: list[int] = []
    claims: list[int] = []
    while (match := _REFERENCE.search(text)) is not None:
        is_claim = match[1].startswith("c")
        numbers = [int(item) for item in re.findall(r"[0-9]+", match[1])]
        (claims if is_claim else tasks)[:0] = numbers
        text = text[: match.start()]
    return text.rstrip(), tuple(dict.fromkeys(tasks)), tuple(dict.fromkeys(claims))


def read_document(text: str) -> Document:
    """Read `MEMORY.md`; total over all texts."""
    parts: list[Group | Loose] = []
    for start, lines in _split(text.split("\n")):
        if lines[0].startswith(GROUP_PREFIX):
            parts.append(_GroupReader(lines, start).read())
        elif len(lines) > 1 or lines[0]:
            parts.append(Loose(tuple(lines), start))
    return Document(tuple(parts))


def render_group(group: Group) -> list[str]:
    """Lay a block out in the canonical form, without a blank line at its end."""
    lines = [f"{GROUP_PREFIX} {group.title}".rstrip(), *group.header]
    for task in group.tasks:
        lines += ["", f"## Task {task.number}: {task.title}".rstrip()]
        if task.has_files:
            lines += [FILES_HEADING, *map(render_file, task.files)]
        if task.has_keywords:
            lines += [KEYWORDS_HEADING, *task.keywords]
        if task.extra:
            lines += ["", *task.extra]
    for section in group.sections:
        lines += ["", f"## {section.title}"]
        for index, item in enumerate(section.items):
            apart = index > 0 and (isinstance(item, Loose) or isinstance(section.items[index - 1], Loose))
            lines += [""] if apart else []
            lines += render_bullet(item) if isinstance(item, Bullet) else item.lines
    # A stray tag would open a block that swallows what follows.
    lines = [citations.defuse(line) for line in lines]
    cited = group.citations
    if cited.entries or cited.rollout_ids or cited.rejected:
        block = citations.format(cited).split("\n")[:-1]
        at = block.index(citations.ENTRIES_CLOSE)
        lines += ["", *block[:at], *(item.text for item in cited.rejected), *block[at:]]
    return lines


def render_bullet(bullet: Bullet) -> list[str]:
    """Write one bullet with its references at the end of its first line."""
    marks = [f" [Task {number}]" for number in bullet.tasks] + [f" [c{number}]" for number in bullet.claims]
    return [f"- {bullet.text}{''.join(marks)}", *bullet.more]


def render_file(reference: FileReference) -> str:
    """Write one line of `### rollout_summary_files`."""
    return f"- {reference.path} ({reference.note})" if reference.note else f"- {reference.path}"


def render_document(parts: Sequence[Group | Loose]) -> str:
    """Write the file: unchanged parts as they were, one blank line around changed ones, one newline at the end."""
    lines: list[str] = []
    fresh = False
    for part in parts:
        raw = part.lines if isinstance(part, Loose) else part.raw
        body = list(raw) if raw else render_group(part)  # type: ignore[arg-type]
        changed = not raw
        if lines and (fresh or changed):
            while lines and not lines[-1].strip():
                lines.pop()
            if lines:
                lines.append("")
        lines += body
        fresh = changed
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines) + "\n" if lines else ""


def _split(lines: list[str]) -> Iterable[tuple[int, list[str]]]:
    """Yield (first line number, lines) of each top-level block; headings inside code fences are text."""
    start = 0
    for index, (line, fenced) in enumerate(zip(lines, _fences(lines), strict=True)):
        if not fenced and index > start and line.startswith("# "):
            yield start + 1, lines[start:index]
            start = index
    yield start + 1, lines[start:]


def _fences(lines: Sequence[str]) -> list[bool]:
    """Tell of each line whether it is part of a code fence.

    A fence that is not closed before the next task group is none: one stray mark must not hide the rest of the file.
    """
    flags = [False] * len(lines)
    stray: set[str] = set()
    at = 0
    while at < len(lines):
        if lines[at].startswith(GROUP_PREFIX):
            stray.clear()
        match = _FENCE.match(lines[at])
        end = _fence_end(lines, at, match[1]) if match and match[1] not in stray else None
        if end is None:
            # Later marks of the same length cannot be closed either, and are not looked up again.
            stray.update([match[1]] if match else [])
            at += 1
        else:
            flags[at : end + 1] = [True] * (end + 1 - at)
            at = end + 1
    return flags


def _fence_end(lines: Sequence[str], start: int, mark: str) -> int | None:
    for index in range(start + 1, len(lines)):
        stripped = lines[index].strip()
        if lines[index].startswith(GROUP_PREFIX):
            return None
        if stripped.startswith(mark) and set(stripped) == {mark[0]}:
            return index
    return None


class _GroupReader:
    """Read one block line by line; each line goes to the innermost part that takes it."""

    def __init__(self, lines: list[str], start: int) -> None:
        self._lines = lines
        self._start = start
        self._header: list[str] = []
        self._tasks: list[Task] = []
        self._sections: list[Section] = []
        self._citations = ParsedCitations()

    def read(self) -> Group:
        body, self._citations = _take_citations(self._lines, self._start)
        chunk: list[tuple[int, str]] = []
        flags = _fences([line for _, line in body])
        for (number, line), fenced in zip(body[1:], flags[1:], strict=True):
            if not fenced and line.startswith("## "):
                self._close(chunk)
                chunk = []
            chunk.append((number, line))
        self._close(chunk)
        return Group(
            self._lines[0][len(GROUP_PREFIX) :].strip(),
            tuple(self._header),
            tuple(self._tasks),
            tuple(self._sections),
            self._citations,
            self._start,
            tuple(self._lines),
        )

    def _close(self, chunk: list[tuple[int, str]]) -> None:
        if not chunk:
            return
        number, head = chunk[0]
        task = _TASK.match(head.rstrip())
        if not head.startswith("## "):
            self._header += [text for _, text in _trim(chunk)]
        elif task:
            self._tasks.append(_read_task(int(task[1]), task[2], chunk))
        else:
            self._sections.append(Section(head[3:].strip(), tuple(_items(chunk[1:])), number))


def _take_citations(lines: list[str], start: int) -> tuple[list[tuple[int, str]], ParsedCitations]:
    """Split the block into its other lines and what its citation blocks say."""
    rest: list[tuple[int, str]] = []
    taken: list[str] = []
    tags = {citations.ENTRIES_OPEN: citations.ENTRIES_CLOSE, citations.IDS_OPEN: citations.IDS_CLOSE}
    index = 0
    while index < len(lines):
        closing = tags.get(lines[index].strip())
        end = _block_end(lines, index, closing) if closing else None
        if end is None:
            rest.append((start + index, lines[index]))
            taken.append("")
            index += 1
        else:
            taken += lines[index : end + 1]
            index = end + 1
    parsed = citations.parse("\n".join(taken))
    moved = tuple(
        CitationEntry(item.path, item.start, item.end, item.note, item.line + start - 1) for item in parsed.entries
    )
    return rest, ParsedCitations(moved, parsed.rollout_ids, parsed.rejected)


def _block_end(lines: list[str], start: int, closing: str) -> int | None:
    """Return where a citation block ends; one that meets a heading or another tag first is none."""
    for index in range(start + 1, len(lines)):
        text = lines[index].strip()
        if text == closing:
            return index
        if text.startswith(("# ", "## ", "### ")) or citations.defuse(text) != text:
            return None
    return None


def _read_task(number: int, title: str, chunk: list[tuple[int, str]]) -> Task:
    parts: dict[str, list[tuple[int, str]]] = {"": []}
    current = ""
    for position, line in chunk[1:]:
        stripped = line.strip()
        if stripped in (FILES_HEADING, KEYWORDS_HEADING) and stripped not in parts:
            current = stripped
            parts[current] = []
        elif stripped.startswith("### "):
            current = ""
            parts[current].append((position, line))
        else:
            parts[current].append((position, line))
    files: list[FileReference] = []
    extra = [text for _, text in _trim(parts[""])]
    keywords = [line for _, line in parts.get(KEYWORDS_HEADING, []) if line.startswith("- ")]
    extra += [text for _, text in _trim([row for row in parts.get(KEYWORDS_HEADING, []) if row[1] not in keywords])]
    for position, line in parts.get(FILES_HEADING, []):
        match = _FILE.match(line)
        if match:
            files.append(FileReference(match["path"], match["note"] or "", position))
        elif line.strip():
            extra.append(line)
    return Task(
        number,
        title.strip(),
        tuple(files),
        tuple(keywords),
        tuple(extra),
        FILES_HEADING in parts,
        KEYWORDS_HEADING in parts,
        chunk[0][0],
    )


def _items(chunk: list[tuple[int, str]]) -> list[Bullet | Loose]:
    items: list[Bullet | Loose] = []
    loose: list[tuple[int, str]] = []
    flags = _fences([line for _, line in chunk])
    for (number, line), fenced in zip(chunk, flags, strict=True):
        last = items[-1] if items and not loose else None
        if fenced:
            loose.append((number, line))
        elif line.startswith("- "):
            _flush(items, loose)
            text, tasks, claims = split_reference(line[2:].rstrip())
            items.append(Bullet(text, tasks, claims, (), number))
        elif isinstance(last, Bullet) and line.startswith((" ", "\t")) and line.strip():
            items[-1] = Bullet(last.text, last.tasks, last.claims, (*last.more, line), last.line)
        else:
            loose.append((number, line))
    _flush(items, loose)
    return items


def _flush(items: list[Bullet | Loose], loose: list[tuple[int, str]]) -> None:
    kept = _trim(loose)
    if kept:
        items.append(Loose(tuple(text for _, text in kept), kept[0][0]))
    loose.clear()


def _trim(chunk: list[tuple[int, str]]) -> list[tuple[int, str]]:
    start, end = 0, len(chunk)
    while start < end and not chunk[start][1].strip():
        start += 1
    while end > start and not chunk[end - 1][1].strip():
        end -= 1
    return chunk[start:end]
