"""Characters that make text look like something it is not: shown as visible tags wherever hostile text is drawn."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ZERO_WIDTH = frozenset("\u00ad\u180e\u200b\u200c\u200d\u2060\ufeff")
SEPARATORS = frozenset("\u0085\u2028\u2029")
ODD_SPACES = frozenset(c for c in map(chr, range(0x00A0, 0x3001)) if c.isspace() and c not in SEPARATORS)

_NAMES = {
    "\t": ("TAB", "tab"),
    "\r": ("CR", "stray carriage return"),
    "\0": ("NUL", "NUL character"),
    "\u0085": ("NEL", "next line"),
    "\u00a0": ("NBSP", "no-break space"),
    "\u00ad": ("SHY", "soft hyphen"),
    "\u061c": ("ALM", "Arabic letter mark"),
    "\u200b": ("ZWSP", "zero width space"),
    "\u200c": ("ZWNJ", "zero width non-joiner"),
    "\u200d": ("ZWJ", "zero width joiner"),
    "\u200e": ("LRM", "left-to-right mark"),
    "\u200f": ("RLM", "right-to-left mark"),
    "\u2028": ("LS", "line separator"),
    "\u2029": ("PS", "paragraph separator"),
    "\u202a": ("LRE", "left-to-right embedding"),
    "\u202b": ("RLE", "right-to-left embedding"),
    "\u202c": ("PDF", "pop directional formatting"),
    "\u202d": ("LRO", "left-to-right override"),
    "\u202e": ("RLO", "right-to-left override"),
    "\u202f": ("NNBSP", "narrow no-break space"),
    "\u2060": ("WJ", "word joiner"),
    "\u2066": ("LRI", "left-to-right isolate"),
    "\u2067": ("RLI", "right-to-left isolate"),
    "\u2068": ("FSI", "first strong isolate"),
    "\u2069": ("PDI", "pop directional isolate"),
    "\ufeff": ("BOM", "byte order mark"),
}
_PLAIN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u02ff]*")


@dataclass(frozen=True, slots=True)
class Tag:
    """A character to be shown as a tag: its place in code points, a short label, and how it is spoken."""

    at: int
    label: str
    spoken: str


def is_hidden(char: str) -> bool:
    """Tell whether a character cannot be seen, or changes how its neighbours are seen."""
    if char in BIDI or char in ZERO_WIDTH or char in SEPARATORS:
        return True
    category = unicodedata.category(char)
    return category in ("Cc", "Cf", "Cs", "Co") and char not in "\n\t"


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Write hidden characters as `⟨U+XXXX⟩`; those in `keep` stay."""
    shown = text
    for kept in keep:
        shown = shown.replace(kept, "")
    if shown.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep or not (is_hidden(c) or c in "\n\t") else f"⟨U+{ord(c):04X}⟩" for c in text
    )


def one_line(text: str, limit: int = 120) -> str:
    """Return the text on one line, hidden characters visible, cut with an ellipsis at `limit` code points."""
    flat = visible(" ".join(text.split()), keep="")
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def tags(text: str) -> tuple[Tag, ...]:
    """Return the characters of one line (without its end) that must be shown as tags, in order."""
    if _PLAIN.fullmatch(text):
        return ()
    return tuple(_tag(at, char) for at, char in enumerate(text) if char == "\t" or _needs_tag(char))


def line_end(line: str) -> str:
    """Return the end of a line: `\\r\\n`, `\\n`, or nothing for a last line without one."""
    if line.endswith("\r\n"):
        return "\r\n"
    return "\n" if line.endswith("\n") else ""


def usual_line_end(lines: Iterable[str]) -> str:
    """Return the more frequent end of the lines, `\\n` when there is none."""
    text = "".join(lines)
    if "\r" not in text:
        return "\n"
    crlf = text.count("\r\n")
    return "\r\n" if 2 * crlf > text.count("\n") else "\n"


def _needs_tag(char: str) -> bool:
    return char in ODD_SPACES or is_hidden(char)


def _tag(at: int, char: str) -> Tag:
    code = f"U+{ord(char):04X}"
    label, spoken = _NAMES.get(char, (code, unicodedata.name(char, code).lower()))
    return Tag(at, label, spoken)
