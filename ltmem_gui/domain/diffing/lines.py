"""Lines as everything cited or diffed counts them: each ends at byte 0x0A and at nothing else (design §7)."""

from __future__ import annotations

from io import StringIO


def split_lines(text: str) -> list[str]:
    """Split at `\\n` only and keep the terminators; the last line may lack one.

    `"".join(split_lines(text)) == text` for every text. An empty text has no line.
    """
    return StringIO(text, newline="\n").readlines()


def count_lines(text: str) -> int:
    """Return how many lines `split_lines` would make."""
    return text.count("\n") + (0 if not text or text.endswith("\n") else 1)
