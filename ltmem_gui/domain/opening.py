"""A place in a file, and the command that opens it in the person's editor. Nothing here starts anything."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import pairwise

from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.folders import folder_key, is_within
from ltmem_gui.domain.hazards import is_hidden

FILE_MARK, LINE_MARK = "{file}", "{line}"
EXAMPLE = "code -g {file}:{line}"
_MARKS = re.compile(r"\{file\}|\{line\}")
_FILE_WORD = re.compile(r"(?:(?P<option>--?[A-Za-z][A-Za-z0-9_-]*)=)?\{file\}(?:[:+,#@]\{line\}(?::[0-9]+)?)?")
_LINE_WORD = re.compile(r"[A-Za-z0-9+/=:,._-]*\{line\}[0-9:,.]*")
_LONG_COMMAND = r"--?(?:cmd|command|encodedcommand|eval|exec|execute|run)|/[ck]"
_BEFORE_COMMAND = re.compile(rf"-[ilnpsw]{{0,3}}[cex]|{_LONG_COMMAND}", re.IGNORECASE)
"""Options of any program whose value, or the word after which, may be carried out."""

_OF_INTERPRETER = re.compile(rf"-[a-z]{{0,3}}[ce]|-[prx]|--print|/r|{_LONG_COMMAND}", re.IGNORECASE)
_INTERPRETER = re.compile(
    r"(?:a|ba|c|da|el|fi|k|mk|oil|pdk|r|tc|xon|z)?sh|busybox|cmd|nu|powershell|pwsh|wscript|cscript|mshta"
    r"|[gmn]?awk|bun|deno|expect|java|julia|lua|node|nodejs|osascript|perl|php|pypy|pythonw?|py|rscript|ruby|tclsh|wish"
)
_HANDS_TO_SHELL = re.compile(r"ssh|mosh|wsl|watch|su|runuser")
_VERSION = re.compile(r"[0-9.]*(?:\.exe)?\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """A file below a folder that a person named, and a line in it.

    `root` is that folder, `path` is relative to it with `/` between its parts, `line` counts from 1.
    """

    root: str
    path: str
    line: int = 1

    @property
    def label(self) -> str:
        """Return the place as it is cited."""
        return f"{self.path}:{self.line}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of the path.

        Raises `RefusedError` for a path that is absolute, climbs, or holds characters that cannot be seen.
        """
        parts = tuple(self.path.split("/"))
        if any(part in ("", ".", "..") or "\\" in part for part in parts):
            raise RefusedError("the path leaves its folder", "only files inside a named folder are opened", self.path)
        if any(is_hidden(char) or char in "\n\t" for char in self.path):
            raise RefusedError(
                "the name holds characters that cannot be seen", "rename the file outside of this program", self.path
            )
        return parts


def place_below(root: str, file: str, line: int = 1) -> Place:
    """Return the place of an absolute `file` below `root`.

    Raises `RefusedError` for a file that is not inside. Nothing is looked up on disk.
    """
    top, name = folder_key(root), folder_key(file)
    if not is_within(file, root) or top == name:
        raise RefusedError("the file is not inside its folder", "only files inside a named folder are opened", file)
    return Place(root, name[len(top.rstrip("/")) + 1 :], line)


def check_editor(template: str) -> str:
    """Return the template of an editor's command as it is stored, without blanks around it; empty means none.

    It is split as a shell would, into a program and its arguments, and no shell ever sees it: a file's name is hostile,
    so the marks are plain arguments, and nothing that carries out the text of an argument is given one. Raises
    `ValueError`, in words for a person, unless it names a program and holds `{file}` and `{line}` like that.
    """
    text = template.strip()
    if not text:
        return ""
    try:
        program, *arguments = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"the command cannot be split: {error}".lower()) from error
    if not program or _MARKS.search(program):
        raise ValueError("the command must begin with the name of a program")
    rest = " ".join(arguments)
    missing = [mark for mark in (FILE_MARK, LINE_MARK) if mark not in rest]
    if missing:
        raise ValueError(f"the command lacks {' and '.join(missing)}, as in: {EXAMPLE}")
    _check_words([program, *arguments])
    return text


def _check_words(words: list[str]) -> None:
    """Raise `ValueError` where a value would be more than an argument of the editor."""
    for before, word in pairwise(words):
        found = _FILE_WORD.fullmatch(word)
        options = (before, found["option"] or "") if found else ()
        if FILE_MARK in word and (not found or any(map(_BEFORE_COMMAND.fullmatch, options))):
            raise ValueError(f"{FILE_MARK} must be an argument of its own, not part of a command, as in: {EXAMPLE}")
        if LINE_MARK in word and not found and not _LINE_WORD.fullmatch(word):
            raise ValueError(f"{LINE_MARK} must be an argument of its own, or follow an option, as in: {EXAMPLE}")
    for at, word in enumerate(words):
        if _carries_out(_program_name(word), words[at + 1 :]):
            raise ValueError(f"a shell or interpreter is no editor; name the editor itself, as in: {EXAMPLE}")


def _program_name(word: str) -> str:
    return _VERSION.sub("", re.split(r"[/\\]", word)[-1].lower())


def _carries_out(name: str, rest: list[str]) -> bool:
    """Tell whether a program reads the words after it as commands, or the file itself as its program."""
    if _HANDS_TO_SHELL.fullmatch(name):
        return bool(rest)
    if not _INTERPRETER.fullmatch(name):
        return False
    first = next((word for word in rest if not word.startswith("-")), "")
    return FILE_MARK in first or any(map(_OF_INTERPRETER.fullmatch, rest))


def editor_arguments(template: str, file: str, line: int) -> tuple[str, ...]:
    """Return program and arguments for a file and a line. Raises `ValueError` like `check_editor`."""
    # One pass: a file that is itself named "{line}" must stay as it is.
    values = {FILE_MARK: file, LINE_MARK: str(max(1, line))}
    words = shlex.split(check_editor(template))
    return tuple(_MARKS.sub(lambda mark: values[mark.group()], word) for word in words)
