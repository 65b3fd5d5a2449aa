"""Patches in git's unified format, read and written to the byte.

Bytes that are no UTF-8 pass through as surrogate escapes. The lengths in an `@@` line decide where a hunk ends, never
the look of its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.patch_names import name_of_header, split_names, unquote_name
from ltmem_gui.domain.errors import InputError

Sign = Literal[" ", "-", "+"]
Kind = Literal["added", "modified", "deleted", "renamed", "copied", "mode"]

NO_NEWLINE = "\\ No newline at end of file\n"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_SIGNS: dict[str, Sign] = {" ": " ", "-": "-", "+": "+"}
_EXTENDED = (
    "old mode ",
    "new mode ",
    "deleted file mode ",
    "new file mode ",
    "copy from ",
    "copy to ",
    "rename from ",
    "rename to ",
    "similarity index ",
    "dissimilarity index ",
    "index ",
)


@dataclass(frozen=True, slots=True)
class PatchLine:
    """One line of a hunk; `text` is the line of the file with its end, which the last one may lack."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """One `@@` hunk; starts and counts as written (lines from 1), `section` what stands after the second `@@`."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    lines: tuple[PatchLine, ...]
    header: str = ""


@dataclass(frozen=True, slots=True)
class PatchFile:
    """One file of a patch. `header` keeps the lines before the hunks, `tail` what follows (binary data)."""

    old_path: str | None
    new_path: str | None
    kind: Kind
    hunks: tuple[PatchHunk, ...] = ()
    old_mode: int | None = None
    new_mode: int | None = None
    binary: bool = False
    similarity: int | None = None
    header: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Return the name a person knows the file by."""
        return self.new_path or self.old_path or ""

    def count(self, sign: Sign) -> int:
        """Return the number of added (`+`) or removed (`-`) lines."""
        return sum(1 for hunk in self.hunks for line in hunk.lines if line.sign == sign)


def parse_patch(data: bytes) -> tuple[PatchFile, ...]:
    """Read a patch. Raises `InputError` with the line (from 1) for a hunk that is cut or malformed.

    Text before the first file is skipped, as git does.
    """
    return tuple(_Parser(split_lines(data.decode("utf-8", "surrogateescape"))).files())


def write_patch(files: Iterable[PatchFile]) -> bytes:
    """Write files back; `write_patch(parse_patch(x)) == x` for every patch that begins with its first file."""
    return "".join(_texts(files)).encode("utf-8", "surrogateescape")


def hunk_header(hunk: PatchHunk) -> str:
    """Return the `@@` line of a hunk."""
    old = f"{hunk.old_start}" if hunk.old_count == 1 else f"{hunk.old_start},{hunk.old_count}"
    new = f"{hunk.new_start}" if hunk.new_count == 1 else f"{hunk.new_start},{hunk.new_count}"
    return f"@@ -{old} +{new} @@{hunk.section}\n"


def _texts(files: Iterable[PatchFile]) -> Iterator[str]:
    for file in files:
        yield from file.header
        for hunk in file.hunks:
            yield hunk.header or hunk_header(hunk)
            for line in hunk.lines:
                yield line.sign + line.text
                if not line.text.endswith("\n"):
                    yield "\n" + NO_NEWLINE
        yield from file.tail


class _Parser:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def files(self) -> Iterator[PatchFile]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --git ") or self._plain_header():
                yield self._file()
            else:
                self._at += 1

    def _peek(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _plain_header(self) -> bool:
        """Tell whether a patch without a `diff --git` line begins here."""
        after = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        return self._peek().startswith("--- ") and after.startswith("+++ ")

    def _file(self) -> PatchFile:
        first = self._at
        names: tuple[str, str] | None = None
        if self._peek().startswith("diff --git "):
            names = split_names(self._peek()[len("diff --git ") :].rstrip("\n"))
            self._at += 1
        facts = self._extended()
        binary = self._peek().startswith(("Binary files ", "GIT binary patch"))
        old_name: str | None = names[0] if names else None
        new_name: str | None = names[1] if names else None
        if self._plain_header():
            old_name = name_of_header(self._peek()[4:].rstrip("\n"))
            new_name = name_of_header(self._lines[self._at + 1][4:].rstrip("\n"))
            self._at += 2
        header = tuple(self._lines[first : self._at])
        hunks: list[PatchHunk] = []
        while self._peek().startswith("@@ -"):
            hunks.append(self._hunk())
        return _assembled(facts, old_name, new_name, tuple(hunks), binary, header, self._tail())

    def _extended(self) -> dict[str, str]:
        facts: dict[str, str] = {}
        while (prefix := next((p for p in _EXTENDED if self._peek().startswith(p)), None)) is not None:
            facts[prefix.strip()] = self._peek()[len(prefix) :].rstrip("\n")
            self._at += 1
        return facts

    def _tail(self) -> tuple[str, ...]:
        """Take what is neither hunk nor next file: binary data and blank lines."""
        first = self._at
        while self._at < len(self._lines) and not self._peek().startswith("diff --git ") and not self._plain_header():
            self._at += 1
        return tuple(self._lines[first : self._at])

    def _hunk(self) -> PatchHunk:
        header = self._peek()
        match = _HUNK.fullmatch(header.rstrip("\n"))
        if match is None:
            raise InputError("not a hunk header", "the patch is damaged", "patch", self._at + 1)
        old_start, new_start = int(match[1]), int(match[3])
        old_count = 1 if match[2] is None else int(match[2])
        new_count = 1 if match[4] is None else int(match[4])
        self._at += 1
        lines = tuple(self._body(old_count, new_count))
        made = PatchHunk(old_start, old_count, new_start, new_count, match[5], lines)
        return made if hunk_header(made) == header else PatchHunk(*_fields(made), header=header)

    def _body(self, old: int, new: int) -> Iterator[PatchLine]:
        while old > 0 or new > 0:
            line = self._peek()
            # Some mailers strip the blank of an empty context line.
            sign = _SIGNS.get(line[:1]) if line != "\n" else " "
            if sign is None or (old <= 0 and sign != "+") or (new <= 0 and sign != "-"):
                raise InputError("the hunk ends before its length", "the patch is damaged", "patch", self._at + 1)
            self._at += 1
            text = line[1:] if line != "\n" else line
            if self._peek().startswith("\\ "):
                text = text.removesuffix("\n")
                self._at += 1
            old -= sign != "+"
            new -= sign != "-"
            yield PatchLine(sign, text)


def _fields(hunk: PatchHunk) -> tuple[int, int, int, int, str, tuple[PatchLine, ...]]:
    return hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, hunk.section, hunk.lines


def _assembled(
    facts: dict[str, str],
    old_name: str | None,
    new_name: str | None,
    hunks: tuple[PatchHunk, ...],
    binary: bool,
    header: tuple[str, ...],
    tail: tuple[str, ...],
) -> PatchFile:
    if "rename from" in facts or "copy from" in facts:
        old_name = unquote_name(facts.get("rename from") or facts["copy from"])
        new_name = unquote_name(facts.get("rename to") or facts.get("copy to", ""))
    kind: Kind = "modified"
    if "new file mode" in facts or (old_name is None and new_name is not None):
        kind, old_name = "added", None
    elif "deleted file mode" in facts or (new_name is None and old_name is not None):
        kind, new_name = "deleted", None
    elif "rename from" in facts or "copy from" in facts:
        kind = "renamed" if "rename from" in facts else "copied"
    elif "old mode" in facts and not hunks and not binary:
        kind = "mode"
    old_mode = facts.get("old mode") or facts.get("deleted file mode")
    new_mode = facts.get("new mode") or facts.get("new file mode")
    similarity = facts.get("similarity index", "").rstrip("%")
    return PatchFile(
        old_name,
        new_name,
        kind,
        hunks,
        int(old_mode, 8) if old_mode else None,
        int(new_mode, 8) if new_mode else None,
        binary,
        int(similarity) if similarity.isdigit() else None,
        header,
        tail,
    )
