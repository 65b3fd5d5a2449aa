"""Numbers, sizes and lengths of time in words, the same on every surface."""

from __future__ import annotations

DASH = "–"
_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def count(number: int) -> str:
    """Return a whole number with thin spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def tokens(number: int | None) -> str:
    """Return a token count in thousands with one digit, small ones exact."""
    if number is None:
        return DASH
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)


def size(number: int) -> str:
    """Return bytes in a readable unit."""
    if number < 1024:
        return f"{number} B"
    if number < 1024 * 1024:
        return f"{number / 1024:.1f} KiB"
    return f"{number / 1024 / 1024:.1f} MiB"


def span(seconds: float) -> str:
    """Return a length of time with its largest unit."""
    for unit, name in _STEPS:
        if seconds >= unit:
            return f"{int(seconds // unit)} {name}"
    return f"{max(0, int(seconds))} s"


def plural(number: int, word: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count(number)} {word if number == 1 else many or word + 's'}"
