"""Read the value that follows a separator: quoted in any depth of escaping, or bare up to where its syntax ends it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_OPEN: Final = re.compile(r"(?:[rbfuRBFU@$]{1,2}(?=[\"'`]))?(\\*)(\"\"\"|'''|[\"'`]|&quot;|&#39;|&#34;|«|“|”|‘|「|『)")
_CLOSERS: Final = {"«": "»", "“": "”", "”": "”", "‘": "’", "「": "」", "『": "』"}
_BODY: Final = {
    '"': re.compile(r'(?:[^"\\\n\r]++|\\.)*+'),
    "'": re.compile(r"(?:[^'\\\n\r]++|\\.)*+"),
    "`": re.compile(r"(?:[^`\\\n\r]++|\\.)*+"),
}
_OTHER_SCRIPT: Final = (
    "\u2000-\u206f\u2190-\u2bff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff"
)
_BARE: Final = re.compile(rf"(?:[^\s\"'`<>\\\x00\x1b{_OTHER_SCRIPT}]++|\\(?![nrtbfuvx\"'`/\\0\s]))+")
_LINE: Final = re.compile(
    rf"(?:[^\s\"'`\\\x00\x1b{_OTHER_SCRIPT}]++|\\(?![nrtbfuvx\"'`/\\0\s])|['\"`](?=[^\s,;)\]}}]))+"
)
_MORE: Final = re.compile(r"[A-Za-z0-9+/_.~%-]*={0,2}")
_CUT: Final = re.compile(
    r"[,;&|](?=[\w.\-$\[\]]{1,48}\s?[=:]|$|\s|&|--)|;(?=[A-Za-z][\w ]{1,32}=)|[,;](?=[\[{(])"
    r"|%(?:26|22|3[bB])|\\u00(?:26|22|3[cC])|&(?:amp|quot|lt|gt|nbsp|\#\d+);"
    r"|\\$|\|\||&&|\)[;,]|\*\*$|__$|\]\("
)
_CUTTING: Final = re.compile(r"[,;&|%\\)*_\]]")
_LONGEST_BARE: Final = 512
_ENDS: Final = ".,;:!?"
_PAIRS: Final = {")": "(", "]": "[", "}": "{", ">": "<", "*": "\0", "_": "\0"}


@dataclass(frozen=True, slots=True)
class Literal:
    """A value's span, whether it is quoted, and the quote with its backslashes."""

    start: int
    end: int
    quote: str

    @property
    def quoted(self) -> bool:
        """Tell whether the value stands between quotes."""
        return bool(self.quote)


def read_literal(text: str, position: int, *, line: bool = False, limit: int = 8192) -> Literal | None:
    """Return the value at `position`, None when there is none.

    `line` reads a bare value as shells and env files do: up to the next blank.
    """
    opening = _OPEN.match(text, position)
    if opening is not None:
        return _quoted(text, opening, limit)
    value = _bare(text, position, line=line, limit=limit)
    cut = _CUT.search(value) if _CUTTING.search(value) is not None else None
    if cut is not None and not (line and cut.group() in ("&", "|", ",") and not _names_follow(value, cut.end())):
        value = value[: cut.start()]
    value = _trim(value)
    return Literal(position, position + len(value), "") if value else None


def _bare(text: str, position: int, *, line: bool, limit: int) -> str:
    """Return a run without blanks; beyond 512 characters it has to be one token, or `a=a=a=…` would cost its square."""
    run = (_LINE if line else _BARE).match(text, position, position + _LONGEST_BARE)
    if run is None:
        return ""
    if run.end() - position < _LONGEST_BARE:
        return run.group()
    more = _MORE.match(text, run.end(), position + limit)
    return run.group() if more is None else text[position : more.end()]


def _names_follow(value: str, position: int) -> bool:
    return re.match(r"[\w.-]{1,48}=", value[position:]) is not None


def _trim(value: str) -> str:
    """Take off full stops and closing brackets that belong to the sentence around."""
    while value:
        last = value[-1]
        closes = last in _PAIRS and value.count(last) > value.count(_PAIRS[last])
        if not (closes or last in _ENDS):
            break
        value = value[:-1]
    return value


def _quoted(text: str, opening: re.Match[str], limit: int) -> Literal:
    depth, quote = opening.groups()
    start = opening.end()
    if not depth and quote in _BODY:
        body = _BODY[quote].match(text, start, start + limit)
        end = body.end() if body is not None else start
        end = _before_escaped_close(text, start, end) if text[end : end + 1] != quote else end
        return Literal(start, end, quote)
    closing = depth + _CLOSERS.get(quote, quote)
    end = text.find(closing, start, start + limit)
    newline = text.find("\n", start, start + limit)
    if end < 0 or (0 <= newline < end and len(quote) != 3):
        bare = _BARE.match(text, start)
        end = bare.end() if bare is not None else start
    return Literal(start, end, depth + quote)


def _before_escaped_close(text: str, start: int, end: int) -> int:
    """End an unclosed value (cut text, or a lone quote) at the first escaped quote, line break or bracket."""
    stop = re.compile(r"\\[nr\"']|[\"']").search(text, start, end)
    return stop.start() if stop is not None else end
