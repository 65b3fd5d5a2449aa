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
_SHORTEST_SALT: Final = 6
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_ORDINARY: Final = (
    "The build of 2026-03-14 failed in tests/unit/test_orders.py:42 because the port 8080 was taken; Anna and Bo "
    "agreed to run `make check` first.\n\ndef total(items: list[Item], *, tax: float = 0.19) -> float:\n    return "
    'sum(item.price * item.count for item in items) * (1 + tax)\n\n{"version": "1.4.2", "files": 317, '
    '"commit": "3f2a9c1d4e5b6a7980112233445566778899aabb", "url": "https://git.example/shop/app"}\n'
)
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
        allowed=check_allowed(settings.redaction_allowed, settings.redaction_salt),
        allowed_patterns=tuple(check_pattern(source, clock) for source in settings.redaction_allowed_patterns),
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


def check_allowed(digests: Iterable[str], salt: str) -> frozenset[str]:
    """Return the allow-list. Raises `UsageError` for what is no salted digest: a secret does not belong in settings."""
    allowed = frozenset(digests)
    if any(_DIGEST.fullmatch(digest) is None for digest in allowed):
        raise UsageError(
            "redaction_allowed takes digests, never the values themselves",
            "print one with: ltmem-gui redact --digest SALT < value",
        )
    if allowed and len(salt) < _SHORTEST_SALT:
        raise UsageError(
            f"redaction_allowed needs a redaction_salt of {_SHORTEST_SALT} characters or more",
            "choose a random one, and make the digests with it",
        )
    return allowed


def check_pattern(source: str, clock: Callable[[], float]) -> re.Pattern[str]:
    """Compile an extra pattern and try it; `clock` returns seconds of this thread's processor time.

    Raises `UsageError` when it is no regular expression, matches the empty text, takes a fifth of ordinary text or
    more, or is slow: probes grow step by step, so that a pattern of exponential cost is stopped at its first slow step.
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
    taken = sum(match.end() - match.start() for match in pattern.finditer(_ORDINARY))
    if taken * 5 >= len(_ORDINARY):
        raise UsageError(
            "the pattern matches ordinary text wholesale", "name what the values begin with", where=source[:40]
        )
    return pattern


def _probes(source: str, size: int) -> list[str]:
    """Return texts that make backtracking visible: repeats of what the pattern names, with an end that fails."""
    letters = sorted({char for char in source if char.isalnum()})[:12]
    marks = sorted({char for char in source if not char.isalnum() and char not in "\\^$|?*+()[]{}"})[:8]
    units = ["a", "0", " ", "-", "a0", "aA0_-", "a ", "0.", *letters, *marks, "".join(letters), "".join(marks)]
    return [(unit * (size // len(unit) + 1))[:size] + "\x00" for unit in units if unit]
