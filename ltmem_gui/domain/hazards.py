"""Characters that make text look like something it is not: shown as visible tags wherever hostile text is drawn."""

from __future__ import annotations

import unicodedata

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ZERO_WIDTH = frozenset("\u00ad\u180e\u200b\u200c\u200d\u2060\ufeff")
SEPARATORS = frozenset("\u0085\u2028\u2029")


def is_hidden(char: str) -> bool:
    """Tell whether a character cannot be seen, or changes how its neighbours are seen."""
    if char in BIDI or char in ZERO_WIDTH or char in SEPARATORS:
        return True
    category = unicodedata.category(char)
    return category in ("Cc", "Cf", "Cs", "Co") and char not in "\n\t"


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Write hidden characters as `⟨U+XXXX⟩`; those in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(c if c in keep or not is_hidden(c) else f"⟨U+{ord(c):04X}⟩" for c in text)


def one_line(text: str, limit: int = 120) -> str:
    """Return the text on one line, hidden characters visible, cut with an ellipsis at `limit` code points."""
    flat = visible(" ".join(text.split()), keep="")
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
