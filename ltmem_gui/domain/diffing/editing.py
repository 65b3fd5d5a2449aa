"""Text on its way through an edit field and back: what the field cannot hold is refused, not changed (D3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ltmem_gui.domain.diffing.lines import split_lines

_CHANGED_BY_FIELD = {
    "\r": "carriage returns",
    "\u00a0": "no-break spaces",
    "\u2028": "line separators",
    "\u2029": "paragraph separators",
    "\0": "NUL characters",
    "\ufdd0": "reserved code points",
    "\ufdd1": "reserved code points",
    "\ufffc": "object replacement characters",
}


@dataclass(frozen=True, slots=True)
class EditText:
    """Lines as an edit field can hold them: `text` with `\\n` ends; `crlf` and `terminated` bring the bytes back."""

    text: str
    crlf: bool
    terminated: bool


def refusal(text: str) -> str | None:
    """Say why a text cannot be edited in the field, or None when it comes back as it went in."""
    for char, name in _CHANGED_BY_FIELD.items():
        if char in text:
            line = text.count("\n", 0, text.index(char)) + 1
            return f"line {line} holds {name} (U+{ord(char):04X}), which an edit field would change"
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "the text holds half of a surrogate pair, which an edit field would change"
    return None


def open_for_edit(lines: Sequence[str]) -> EditText | str:
    """Return the lines for the edit field, or the reason why they cannot be edited there.

    Lines that all end in CR LF are edited without the CR and get it back.
    """
    crlf = bool(lines) and all(line.endswith("\r\n") for line in lines)
    text = "".join(f"{line[:-2]}\n" if crlf else line for line in lines)
    terminated = not lines or lines[-1].endswith("\n")
    return refusal(text) or EditText(text, crlf, terminated)


def close_edit(edited: str, opened: EditText) -> tuple[str, ...]:
    """Return the lines that an edited text stands for, with the line ends and the last terminator of the original.

    An emptied field means no lines at all.
    """
    if not edited:
        return ()
    lines = split_lines(edited if edited.endswith("\n") or not opened.terminated else f"{edited}\n")
    if opened.crlf:
        lines = [f"{line[:-1]}\r\n" if line.endswith("\n") else line for line in lines]
    return tuple(lines)
