"""Read what an answer's headers say of a provider's limits (`x-ratelimit-…`, `retry-after`).

Headers are a server's words: at most a few kinds are kept, and what cannot be read is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from ltmem_gui.domain.limits import LimitWindow, ProviderLimits

MAX_WAIT_SECONDS: Final = 86_400
MAX_KINDS: Final = 8
UNIX_SECONDS_FROM: Final = 1_000_000_000
_LARGEST = 10**15
_REMAINING = re.compile(r"x-ratelimit-remaining-([a-z][a-z0-9-]{0,30})")
_DURATION = re.compile(
    r"(?:(?P<d>[0-9.]+)d)?(?:(?P<h>[0-9.]+)h)?(?:(?P<m>[0-9.]+)m)?(?:(?P<s>[0-9.]+)s)?(?:(?P<ms>[0-9.]+)ms)?"
)
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def limits_of(headers: Mapping[str, str], now: float, *, refused: bool) -> ProviderLimits | None:
    """Return what an answer says, None when it says nothing; `refused` for an answer with status 429."""
    windows: list[LimitWindow] = []
    for name in headers:
        kind = _REMAINING.fullmatch(name.lower()) if name[:2] in ("x-", "X-") else None
        window = None if kind is None or len(windows) >= MAX_KINDS else _window(headers, kind[1], now)
        if window is not None:
            windows.append(window)
    wait = retry_after(headers, now) if refused else None
    if not windows and wait is None:
        return None
    retry_at = None if wait is None else math.ceil(now) + wait
    return ProviderLimits(at=int(now), windows=tuple(windows), retry_at=retry_at)


def retry_after(headers: Mapping[str, str], now: float) -> int | None:
    """Return the wait a server asked for, in seconds rounded up; None when it named none or nonsense."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return _bounded(seconds)
    at = _date(text)
    return None if at is None else _bounded(at - now)


def _window(headers: Mapping[str, str], kind: str, now: float) -> LimitWindow | None:
    remaining = _count(headers.get(f"x-ratelimit-remaining-{kind}"))
    if remaining is None:
        return None
    resets_at = _reset(headers.get(f"x-ratelimit-reset-{kind}"), now)
    return LimitWindow(
        kind=kind,
        limit=_count(headers.get(f"x-ratelimit-limit-{kind}")),
        remaining=remaining,
        resets_at=resets_at,
    )


def _reset(text: str | None, now: float) -> int | None:
    """Read when a limit starts anew: a duration (`6m0s`, `20ms`), seconds, Unix seconds, or a date."""
    seconds = _number(text)
    if seconds is not None:
        at = seconds if seconds >= UNIX_SECONDS_FROM else now + seconds
    else:
        waited = _duration(text)
        found = _date(text) if waited is None else now + waited
        if found is None:
            return None
        at = found
    # A limit that starts anew in more than a day would hold runs back for as long as a server likes.
    return max(math.ceil(min(at, now + MAX_WAIT_SECONDS)), 0)


def _duration(text: str | None) -> float | None:
    found = _DURATION.fullmatch(text.strip()) if text and text.strip() else None
    if found is None:
        return None
    parts = {unit: _number(value) for unit, value in found.groupdict().items() if value is not None}
    if any(value is None for value in parts.values()):
        return None
    return sum(_SECONDS[unit] * (value or 0.0) for unit, value in parts.items())


def _date(text: str | None) -> float | None:
    if not text:
        return None
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            at = read(text.strip())
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _count(text: str | None) -> int | None:
    value = _number(text)
    return None if value is None else int(min(value, _LARGEST))


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def _bounded(seconds: float) -> int:
    return int(min(max(math.ceil(seconds), 0), MAX_WAIT_SECONDS))
