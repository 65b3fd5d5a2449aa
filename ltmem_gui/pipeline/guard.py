"""The rate guard before any claim: what is left of a limit is left to the person's own work (reference §3.10).

Exactly the limit is allowed; a window or a snapshot that is missing allows; a reached limit refuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ltmem_gui.domain.limits import LimitWindow, ProviderLimits
from ltmem_gui.domain.rollouts import RateLimits

CODEX_LIMIT_ID: Final = "codex"
_FUTURE_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a run may claim jobs, the figures in words, and the snapshot they come from."""

    allowed: bool
    text: str
    limits: RateLimits | None = None


def guard(limits: Iterable[RateLimits | None], *, min_remaining_percent: int, now: int) -> GuardVerdict:
    """Judge the newest snapshot: that of `CODEX_LIMIT_ID` where there is one, else the newest of all.

    `limits` are what the scanned sessions recorded (None where a session recorded nothing), or a provider's own
    limits; `now` in Unix seconds: snapshots dated more than a day ahead are passed over.
    """
    chosen = newest(limits, now)
    if chosen is None:
        return GuardVerdict(True, "no limit was recorded, so none holds this run back")
    least = min(max(min_remaining_percent, 0), 100)
    if chosen.reached:
        return GuardVerdict(False, f"the limit {_name(chosen)} is reached ({chosen.reached})", chosen)
    windows = (("primary", chosen.primary_used_percent), ("secondary", chosen.secondary_used_percent))
    known = [(window, used) for window, used in windows if used is not None]
    figures = "; ".join(f"{used:g} % of the {window} window is used, {_left(used)} % is left" for window, used in known)
    if not known:
        return GuardVerdict(True, f"the limit {_name(chosen)} names no figures, so it holds nothing back", chosen)
    short = [window for window, used in known if used > 100 - least]
    rule = f"at least {least} % must be left"
    if short:
        return GuardVerdict(False, f"too little of the limit {_name(chosen)} is left: {figures}; {rule}", chosen)
    return GuardVerdict(True, f"enough of the limit {_name(chosen)} is left: {figures}; {rule}", chosen)


def newest(limits: Iterable[RateLimits | None], now: int) -> RateLimits | None:
    """Return the snapshot that counts, None when there is none."""
    known = [one for one in limits if one is not None and one.at <= now + _FUTURE_SECONDS]
    own = [one for one in known if one.limit_id == CODEX_LIMIT_ID]
    return max(own or known, key=lambda one: one.at, default=None)


def _name(limits: RateLimits) -> str:
    return f"“{limits.limit_id}”" if limits.limit_id else "without a name"


def _left(used: float) -> str:
    return f"{round(100 - used, 6):g}"


def guard_provider(limits: ProviderLimits | None, *, min_remaining_percent: int, now: int) -> GuardVerdict:
    """Judge what a provider's own answers said, by the same rule; what is over or missing holds nothing back."""
    if limits is None:
        return GuardVerdict(True, "the provider names no limit, so none holds this run back")
    until = limits.waits_until(now)
    if until is not None:
        return GuardVerdict(False, f"the provider asked not to be called before {moment(until)}")
    least = min(max(min_remaining_percent, 0), 100)
    current = limits.current(now)
    short = [window for window in current if window.falls_short(least)]
    rule = f"at least {least} % must be left"
    if short:
        figures = "; ".join(_window_in_words(window) for window in short)
        return GuardVerdict(False, f"too little of the provider's limit is left: {figures}; {rule}")
    if not current:
        return GuardVerdict(True, "what the provider said of its limits is over, so it holds nothing back")
    figures = "; ".join(_window_in_words(window) for window in current)
    return GuardVerdict(True, f"enough of the provider's limit is left: {figures}; {rule}")


def limits_in_words(limits: ProviderLimits, now: int) -> str:
    """Say what is left of a provider's limits."""
    until = limits.waits_until(now)
    waits = [f"not before {moment(until)}"] if until is not None else []
    return "; ".join([*waits, *(_window_in_words(window) for window in limits.current(now))]) or "nothing that counts"


def moment(at: int) -> str:
    """Write a time in words, UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _window_in_words(window: LimitWindow) -> str:
    left = f"{window.remaining} {window.kind}" if window.remaining else f"no {window.kind}"
    percent = window.left_percent
    share = "" if percent is None else f" of {window.limit} ({percent:.3g} %)"
    anew = "" if window.resets_at is None else f", anew at {moment(window.resets_at)}"
    return f"{left}{share} left{anew}"
