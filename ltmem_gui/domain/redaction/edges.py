"""Where a token may begin: after escapes, colour codes and letters of scripts without blanks; and same-length copies.

A raw transcript line holds `\\nghp_…`, where the `n` of the escape is a word character: rules that ask for a word
border miss it (reference `redaction.md`, "Recall by class and by the token's edge").
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction.document import PIECE

_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_BEFORE: Final = re.compile(
    r"(?:\\[nrtbfvae0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[0-7]{3}|%[0-9A-Fa-f]{2}|[\x1b\x9b]\[?[\d;:?]*[A-Za-z]"
    r"|(?:\\u001[bB]|\\x1[bB]|\\033|\\e|\^\[|\u241b)\[[\d;:?]*[A-Za-z]|(?<!\w)-[a-zA-Z])\Z"
)
_ENTITY_ENDS: Final = ";"


def free_left(text: str, start: int, *, glued: bool = False) -> bool:
    """Tell whether a token may begin at `start`.

    `glued` also accepts `_` and `-` before it, for prefixes that no word contains.
    """
    if start == 0:
        return True
    before = text[start - 1]
    if before not in _WORD:
        return True
    if before in "_-":
        if glued:
            return True
        rest = text[max(0, start - 16) : start].rstrip("_-")
        if (not rest and start <= 16) or (rest and rest[-1] not in _WORD):
            return True
    return _BEFORE.search(text, max(0, start - 16), start) is not None


_ESCAPED: Final = re.compile(
    rb"\\{1,4}(?:u[0-9a-fA-F]{4}(?:\[[\d;]*[A-Za-z])?|x1[bB]\[[\d;]*[A-Za-z]|033\[[\d;]*[A-Za-z]|[nrtbfv\"'/])"
)
_COLOUR: Final = re.compile(rb"\x1b\[[\d;:?]*[A-Za-z]")
_TO_BLANK: Final = bytes(32 if i >= 0x80 or i in b"\x00()[]{}<>|*`," else i for i in range(256))
_SAFE: Final = bytes(32 if i == 0 else i for i in range(256))


def encoded(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates become the three bytes they would have."""
    return text.encode("utf-8", "surrogatepass")


def engine_bytes(data: bytes) -> bytes:
    """Return a copy of the same length that no engine takes for a binary or for UTF-16: no NUL, no leading BOM."""
    data = data.translate(_SAFE)
    return b"   " + data[3:] if data.startswith(b"\xef\xbb\xbf") else data


def neutral_bytes(data: bytes) -> bytes:
    """Return a copy of the same length in which all that can hide a token's edge is blank."""
    if len(data) <= PIECE:
        return _neutral(data)
    pieces: list[bytes] = []
    start = 0
    while start < len(data):
        end = start + PIECE
        blank = data.find(b" ", end, end + 4_096)
        end = blank if blank >= 0 else end
        pieces.append(_neutral(data[start:end]))
        start = end
    return b"".join(pieces)


def _neutral(data: bytes) -> bytes:
    if b"\x1b" in data:
        data = _COLOUR.sub(_blank, data)
    if b"\\" in data:
        data = _ESCAPED.sub(_blank, data)
    data = data.translate(_TO_BLANK)
    for mark in (b". ", b".\n", b".\r", b"; ", b": ", b"! ", b"? "):
        data = data.replace(mark, b" " * len(mark) if mark[1] == 32 else b" " + mark[1:])
    return data


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match.group())


class Offsets:
    """Turn byte offsets of UTF-8 into code points; built once per text, queries in any order."""

    def __init__(self, text: str, data: bytes) -> None:
        """Index every 4096 code points; ASCII text needs no index."""
        self._data = None if len(text) == len(data) else data
        self._marks = [0]
        if self._data is not None:
            # No mark at the very end: an offset there belongs to the last, perhaps shorter, block.
            for i in range(4096, len(text), 4096):
                self._marks.append(self._marks[-1] + len(encoded(text[i - 4096 : i])))

    def code_point(self, offset: int) -> int:
        """Return the index of the code point that holds the byte at `offset`."""
        if self._data is None:
            return offset
        block = bisect_right(self._marks, offset) - 1
        part = self._data[self._marks[block] : offset]
        return block * 4096 + sum((byte & 0xC0) != 0x80 for byte in part)


_DECODABLE: Final = re.compile(
    r"\\u00([2-7][0-9a-fA-F])|\\x([2-7][0-9a-fA-F])|\\(/)|%([2-7][0-9A-Fa-f])|&#x?([0-9a-fA-F]{2,3});"
)


class DecodedView:
    """A text with its printable escapes decoded (`\\u002d`, `\\/`, `%2B`), and the way back to the original."""

    def __init__(self, text: str) -> None:
        """Decode every escape of a printable ASCII character."""
        parts: list[str] = []
        self._at = [0]
        self._source = [0]
        last = length = 0
        for match in _DECODABLE.finditer(text):
            char = _decoded(match)
            plain = text[last : match.start()]
            parts += (plain, char)
            length += len(plain)
            self._at += (length, length + 1)
            self._source += (match.start(), match.end())
            length += 1
            last = match.end()
        parts.append(text[last:])
        self.text = "".join(parts)
        self._step = frozenset(self._at[1::2])

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of the view to the span of the original that spells it."""
        return self._map(start), self._map(end)

    def _map(self, position: int) -> int:
        index = bisect_right(self._at, position) - 1
        return self._source[index] + (position - self._at[index])


def _decoded(match: re.Match[str]) -> str:
    unicode, byte, slash, percent, entity = match.groups()
    if slash:
        return "/"
    if entity:
        number = int(entity, 16 if "x" in match.group() else 10) if _is_number(entity, match.group()) else 32
        return chr(number) if 32 <= number < 127 else " "
    return chr(int(unicode or byte or percent, 16))


def _is_number(digits: str, whole: str) -> bool:
    return "x" in whole or digits.isdecimal()


_HIDING: Final = (
    (re.compile(r"\\u00[2-7][0-9a-fA-F]"), "\\u00"),
    (re.compile(r"\\/"), "\\/"),
    (re.compile(r"%(?:2[bBdDfF]|3[dD]|5[fF])"), "%"),
    (re.compile(r"&#"), "&#"),
)


def neighbourhoods(text: str, around: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text, `around` characters to each side, where an escape hides a printable character."""
    places = sorted(at for pattern, anchor in _HIDING for at in _places(text, pattern, anchor))
    if not places:
        return
    left = max(0, places[0] - around)
    right = places[0] + around
    for at in places:
        if at - around > right:
            yield left, right
            left = at - around
        right = min(len(text), at + around)
    yield left, right


def _places(text: str, pattern: re.Pattern[str], anchor: str) -> Iterator[int]:
    at = text.find(anchor)
    while at >= 0:
        if pattern.match(text, at) is not None:
            yield at
        at = text.find(anchor, at + 1)
