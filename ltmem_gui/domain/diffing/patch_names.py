"""File names in patches: quoted the way git quotes them, and read back."""

from __future__ import annotations

import re

_SHORT = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_LONG = {letter: byte for byte, letter in _SHORT.items()}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')


def quote_name(name: str) -> str:
    """Return a name as it stands in a patch header: quoted only where it has to be."""
    data = name.encode("utf-8", "surrogateescape")
    if not any(byte < 32 or byte in (34, 92, 127) for byte in data):
        return name
    parts = (f"\\{_SHORT[b]}" if b in _SHORT else f"\\{b:03o}" if b < 32 or b > 126 else chr(b) for b in data)
    return f'"{"".join(parts)}"'


def unquote_name(text: str) -> str:
    """Return the name that a header shows, quoted or not."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    data = _ESCAPE.sub(_byte, text[1:-1].encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def split_names(rest: str) -> tuple[str, str] | None:
    """Return both names of a `diff --git` line, prefixes taken off; None when they cannot be told apart.

    Unquoted names may hold blanks; both are the same file then, unless rename lines say otherwise.
    """
    if rest.startswith('"'):
        end = _end_of_quoted(rest)
        return None if end is None else (_bare(rest[:end]), _bare(rest[end + 1 :]))
    if rest.endswith('"'):
        start = rest.find(' "')
        return None if start < 0 else (_bare(rest[:start]), _bare(rest[start + 1 :]))
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " " and _bare(rest[:middle]) == _bare(rest[middle + 1 :]):
        return _bare(rest[:middle]), _bare(rest[middle + 1 :])
    names = rest.split(" ")
    return (_bare(names[0]), _bare(names[1])) if len(names) == 2 else None


def name_of_header(text: str) -> str | None:
    """Return the name of a `---` or `+++` line (its text after the sign); None for `/dev/null`."""
    name = text.split("\t", 1)[0] if not text.startswith('"') else text.rstrip("\t")
    return None if name == "/dev/null" else _bare(name)


def _bare(name: str) -> str:
    plain = unquote_name(name)
    return plain[2:] if plain[:2] in ("a/", "b/") else plain


def _end_of_quoted(text: str) -> int | None:
    escaped = False
    for at in range(1, len(text)):
        if text[at] == '"' and not escaped:
            return at + 1
        escaped = text[at] == "\\" and not escaped
    return None


def _byte(match: re.Match[bytes]) -> bytes:
    code = match[1].decode("ascii")
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else bytes([_LONG[code]])
