"""What verdicts add up to: shares with intervals, coverage, and how far two raters agree (ui-features C9, C10)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from ltmem_gui.domain.audit import AuditItem, Claim, Standing, Support, Verdicts

CONFIDENCE = 0.95
SKEW = 0.9
"""From this share of one verdict on, κ says little."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share that is never shown bare: `hits` of `total`, with the Wilson interval (two-sided, 95 %)."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def counted(self) -> str:
        """Return the share of something that was counted whole, in words."""
        return f"{self.hits} of {self.total} ({100 * self.hits / self.total:.0f} %)" if self.total else "none yet"

    @property
    def words(self) -> str:
        """Return the share of a sample in words, with its interval."""
        if not self.total:
            return self.counted
        low, high = 100 * self.low, 100 * self.high
        return f"{self.counted[:-1]}; 95 % interval {low:.1f} to {high:.1f} %)"


def share(hits: int, total: int) -> Share:
    """Return a share with its Wilson interval. Raises `ValueError` unless 0 ≤ hits ≤ total."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no share")
    if not total:
        return Share(0, 0, 0.0, 1.0)
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    p, spread = hits / total, z * z / total
    middle = (p + spread / 2) / (1 + spread)
    half = z * math.sqrt(p * (1 - p) / total + spread / (4 * total)) / (1 + spread)
    # Rounding must not push the ends past the share itself.
    return Share(hits, total, min(p, max(0.0, middle - half)), max(p, min(1.0, middle + half)))


def at_most_wrong(judged: int) -> float:
    """Return how large the wrong share may still be (95 %) when none of `judged` was wrong; 59 give 5 %."""
    return 1.0 if judged < 1 else float(1 - (1 - CONFIDENCE) ** (1 / judged))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the memory is cited, how much of the sample is judged, and what was found."""

    cited: Share
    not_checked: int
    broken: int
    uncited: tuple[Claim, ...]
    sessions_never_cited: tuple[str, ...]
    judged: Share
    stale: int
    supported: Share

    @property
    def words(self) -> tuple[str, ...]:
        """Return the header of the desk, line by line."""
        lines = [
            f"Claims with a citation that is in its place: {self.cited.counted}",
            f"Claims without citation: {len(self.uncited)}; with broken ones only: {self.broken};"
            f" with unchecked ones only: {self.not_checked}",
            f"Judged: {self.judged.counted}; gone stale: {self.stale}",
            f"Supported: {self.supported.words}",
        ]
        if self.supported.total and self.supported.hits == self.supported.total:
            most = 100 * at_most_wrong(self.supported.total)
            lines.append(f"{self.supported.total} with no error: at most {most:.1f} % are wrong (95 %)")
        return tuple(lines)


def coverage(
    claims: Sequence[Claim],
    drawn: Sequence[AuditItem],
    verdicts: Verdicts,
    *,
    rater: str | None = None,
    sessions: Iterable[str] = (),
    cited_sessions: Iterable[str] = (),
) -> Coverage:
    """Count; with `rater` only that person's verdicts and the adjudications.

    *Supported* counts items whose verdict is `supports` among those judged otherwise than `cannot judge`.
    """
    states = Counter(claim.state for claim in claims)
    standings = [standing_of(item, verdicts, rater) for item in drawn]
    fresh = [standing.support for standing in standings if standing is not None and not standing.is_stale]
    judged = [support for support in fresh if support is not Support.CANNOT_JUDGE]
    known = {session.lower() for session in cited_sessions}
    return Coverage(
        cited=share(states["cited"], len(claims)),
        not_checked=states["not checked"],
        broken=states["broken"],
        uncited=tuple(claim for claim in claims if claim.state == "uncited"),
        sessions_never_cited=tuple(sorted(s for s in set(sessions) if s.lower() not in known)),
        judged=share(len(fresh), len(drawn)),
        stale=sum(1 for standing in standings if standing is not None and standing.is_stale),
        supported=share(sum(1 for support in judged if support is Support.SUPPORTS), len(judged)),
    )


def standing_of(item: AuditItem, verdicts: Verdicts, rater: str | None = None) -> Standing | None:
    """Return what counts for an item: the adjudication, else the rater's verdict (any rater's, the strictest first)."""
    final = verdicts.final(item)
    if final is not None and not final.is_stale:
        return final
    found = verdicts.all_of(item) if rater is None else tuple(s for s in (verdicts.of(item, rater),) if s)
    order = list(Support)
    return max(found, key=lambda s: (not s.is_stale, order.index(s.support)), default=final)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree on what both judged. `kappa` is None where it is not defined; `words` say why."""

    raters: tuple[str, str]
    both: int
    same: Share
    kappa: float | None
    words: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One item that two raters judge differently, and the adjudication if there is one."""

    item: AuditItem
    first: Standing
    second: Standing
    final: Standing | None


def agreement(items: Iterable[AuditItem], verdicts: Verdicts, first: str, second: str) -> Agreement:
    """Return raw agreement and Cohen's κ over the fresh verdicts of both raters."""
    pairs = [(one.support, two.support) for _, one, two in _pairs(items, verdicts, first, second)]
    same = share(sum(one is two for one, two in pairs), len(pairs))
    if not pairs:
        return Agreement((first, second), 0, same, None, "κ is not defined: no item was judged by both")
    ones, twos = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    expected = sum(ones[support] * twos[support] for support in Support) / len(pairs) ** 2
    if expected == 1:
        words = f"κ is not defined: both raters said “{pairs[0][0]}” of everything"
        return Agreement((first, second), len(pairs), same, None, words)
    kappa = (same.hits / same.total - expected) / (1 - expected)
    words = f"κ = {kappa:.2f} ({_strength(kappa)})"
    support, count = (ones + twos).most_common(1)[0]
    if count >= SKEW * 2 * len(pairs):
        percent = 100 * count / (2 * len(pairs))
        words += f"; {percent:.0f} % of all verdicts are “{support}”, so κ says little: look at the raw agreement"
    return Agreement((first, second), len(pairs), same, kappa, words)


def differences(items: Iterable[AuditItem], verdicts: Verdicts, first: str, second: str) -> tuple[Difference, ...]:
    """Return what the two raters do not agree on, in the order of the items."""
    return tuple(
        Difference(item, one, two, verdicts.final(item))
        for item, one, two in _pairs(items, verdicts, first, second)
        if one.support is not two.support
    )


def unsettled(items: Iterable[AuditItem], verdicts: Verdicts) -> tuple[AuditItem, ...]:
    """Return the items that any two raters judge differently and nobody has settled, in their order."""

    def differs(item: AuditItem) -> bool:
        final = verdicts.final(item)
        fresh = {standing.support for standing in verdicts.all_of(item) if not standing.is_stale}
        return len(fresh) > 1 and (final is None or final.is_stale)

    return tuple(item for item in items if differs(item))


def _pairs(
    items: Iterable[AuditItem], verdicts: Verdicts, first: str, second: str
) -> Iterable[tuple[AuditItem, Standing, Standing]]:
    for item in items:
        one, two = verdicts.of(item, first), verdicts.of(item, second)
        if one is not None and two is not None and not one.is_stale and not two.is_stale:
            yield item, one, two


def _strength(kappa: float) -> str:
    """Name a κ in the words of Landis and Koch (1977)."""
    if kappa < 0:
        return "worse than chance"
    names = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
    return next((name for limit, name in names if kappa <= limit), "almost perfect")
