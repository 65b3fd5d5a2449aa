"""What a person may change: extra patterns, an allow-list, switches by kind. Private keys always go."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.settings import Settings

_TIME_LIMIT: Final = 0.05
_LONGEST_PATTERN: Final = 1_000
_PROBE_SIZES: Final = (*range(8, 33, 2), 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192)


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
    """Settings of one run. `allowed` holds salted digests (`allow_digest`) of exact values that are to stay."""

    off: frozenset[str] = frozenset()
    extra: tuple[re.Pattern[str], ...] = ()
    salt: bytes = b""
    allowed: frozenset[str] = frozenset()
    allowed_patterns: tuple[re.Pattern[str], ...] = ()

    def keeps(self, kind: str, value: str) -> bool:
        """Tell whether a finding is to stay in the text after all."""
        if kind in kinds.ALWAYS_ON:
            return False
        if kind in self.off:
            return True
        if self.allowed and allow_digest(self.salt, value) in self.allowed:
            return True
        return any(pattern.fullmatch(value) is not None for pattern in self.allowed_patterns)


def policy_of(settings: Settings, clock: Callable[[], float]) -> RedactionPolicy:
    """Return the policy of a run's settings. Raises `UsageError` for a switch or a pattern that is not accepted."""
    return RedactionPolicy(
        off=check_switches(settings.redaction_off),
        extra=tuple(check_pattern(source, clock) for source in settings.redaction_patterns),
        salt=settings.redaction_salt.encode(),
        allowed=frozenset(settings.redaction_allowed),
    )


def allow_digest(salt: bytes, value: str) -> str:
    """Return what an allow-list stores instead of a value: HMAC-SHA-256, hexadecimal."""
    return hmac.new(salt, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def check_switches(off: Iterable[str]) -> frozenset[str]:
    """Return the kinds that are switched off. Raises `UsageError` for an unknown kind and for private keys."""
    names = frozenset(off)
    unknown = sorted(names - set(kinds.KINDS))
    if unknown:
        raise UsageError(f"unknown kind of secret {unknown[0]!r}", "known: " + ", ".join(kinds.KINDS))
    fixed = sorted(names & kinds.ALWAYS_ON)
    if fixed:
        raise UsageError(f"{fixed[0]} cannot be switched off", "allow a single value instead")
    return names


def check_pattern(source: str, clock: Callable[[], float]) -> re.Pattern[str]:
    """Compile an extra pattern and try it. `clock` returns seconds.

    Raises `UsageError` when it is no regular expression, matches the empty text, matches ordinary text wholesale, or
    is slow: probes grow step by step, so that a pattern of exponential cost is stopped at its first slow step.
    """
    if not source or len(source) > _LONGEST_PATTERN:
        raise UsageError("the pattern is empty or longer than 1,000 characters", "shorten it", where=source[:40])
    try:
        pattern = re.compile(source)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(
            f"not a regular expression: {error}", "see the syntax of Python's re", where=source[:40]
        ) from error
    if pattern.search("") is not None or pattern.search(" \n ") is not None:
        raise UsageError("the pattern matches an empty text", "ask for at least one character", where=source[:40])
    for size in _PROBE_SIZES:
        for probe in _probes(source, size):
            started = clock()
            pattern.search(probe)
            if clock() - started > _TIME_LIMIT:
                raise UsageError(
                    f"the pattern is too slow on {size} characters", "avoid repeats inside repeats", where=source[:40]
                )
    return pattern


def _probes(source: str, size: int) -> list[str]:
    """Return texts that make backtracking visible: repeats of what the pattern names, with an end that fails."""
    letters = sorted({char for char in source if char.isalnum()})[:12]
    units = ["a", "0", " ", "-", "a0", "aA0_-", *letters, "".join(letters)]
    return [(unit * (size // len(unit) + 1))[:size] + "\x00" for unit in units if unit]
