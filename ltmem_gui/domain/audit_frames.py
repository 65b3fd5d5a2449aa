"""Which items are judged: all, a random number, or a stratified number, the same for the same seed (ui-features C8)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.audit import AuditItem
from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.errors import UsageError

Method = Literal["all", "random", "stratified"]
Stratum = Literal["file", "age", "new", "smell"]
METHODS: tuple[Method, ...] = ("all", "random", "stratified")
STRATA: tuple[Stratum, ...] = ("file", "age", "new", "smell")
DAY = 86_400
AGES = ((7, "up to 7 days"), (30, "up to 30 days"), (90, "up to 90 days"))
NAME = "(?P<method>all|random|stratified) (?P<drawn>[0-9]+) of (?P<population>[0-9]+)"
_NAME = re.compile(
    NAME + r"(?: by (?P<by>file|age|new|smell))?, seed (?P<seed>[0-9]+), population (?P<digest>[0-9a-f]{12})"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """How a sample was drawn; its name is what every verdict of the sitting carries.

    `drawn` of `population` items; `digest` names exactly which population it was.
    """

    method: Method
    drawn: int
    population: int
    seed: int
    digest: str
    by: Stratum | None = None

    @property
    def name(self) -> str:
        """Return everything needed to draw the same sample again, in words."""
        by = f" by {self.by}" if self.by else ""
        return f"{self.method} {self.drawn} of {self.population}{by}, seed {self.seed}, population {self.digest}"


def read_frame(name: str) -> Frame | None:
    """Read the name of a frame, None for a text that is none."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    method, by = match["method"], match["by"]
    return Frame(
        next(item for item in METHODS if item == method),
        int(match["drawn"]),
        int(match["population"]),
        int(match["seed"]),
        match["digest"],
        next((item for item in STRATA if item == by), None),
    )


def draw(
    items: Sequence[AuditItem], method: Method, *, size: int = 0, seed: int = 0, by: Stratum | None = None, now: int = 0
) -> tuple[Frame, tuple[AuditItem, ...]]:
    """Draw a sample; the items come back in their own order.

    The order of chance follows from the seed and each item's key alone, on every platform. A stratified sample takes
    from each stratum in proportion, at least one where `size` allows. `now` is what ages are counted from. Raises
    `UsageError` for a negative seed or size, a size of 0, or a stratified sample without strata.
    """
    if size < 0 or seed < 0:
        raise UsageError("a sample needs a size and a seed that are not negative")
    if method != "all" and not size:
        raise UsageError("a sample needs a size", "say how many items are to be judged")
    if method == "stratified" and by is None:
        raise UsageError("a stratified sample needs strata", f"choose one of: {', '.join(STRATA)}")
    if method == "all":
        chosen, by = {item.key for item in items}, None
    elif method == "random":
        chosen, by = _first(items, size, seed), None
    else:
        chosen = _stratified(items, size, seed, lambda item: stratum_of(item, by or "file", now))
    drawn = tuple(item for item in items if item.key in chosen)
    population = digest(sorted(item.key for item in items))[:12]
    return Frame(method, len(drawn), len(items), seed, population, by), drawn


def stratum_of(item: AuditItem, by: Stratum, now: int) -> str:
    """Return the name of the stratum an item belongs to."""
    if by == "file":
        return item.file
    if by == "new":
        return "new since the last apply" if item.is_new else "older"
    if by == "smell":
        return item.smells[0] if item.smells else "no smell"
    if item.cited_at is None:
        return "age unknown"
    days = (now - item.cited_at) / DAY
    return next((name for limit, name in AGES if days <= limit), "older than 90 days")


def _first(items: Sequence[AuditItem], size: int, seed: int) -> set[str]:
    def chance(key: str) -> str:
        return hashlib.sha256(f"{seed}:{key}".encode()).hexdigest()

    return set(sorted((item.key for item in items), key=chance)[:size])


def _stratified(items: Sequence[AuditItem], size: int, seed: int, name: Callable[[AuditItem], str]) -> set[str]:
    strata: dict[str, list[AuditItem]] = {}
    for item in items:
        strata.setdefault(name(item), []).append(item)
    shares = _shares({key: len(part) for key, part in strata.items()}, min(size, len(items)))
    return {key for part, share in shares.items() for key in _first(strata[part], share, seed)}


def _shares(sizes: dict[str, int], size: int) -> dict[str, int]:
    """Divide `size` by largest remainders, at least 1 each as long as it lasts; never more than there are."""
    total = sum(sizes.values())
    shares = {name: size * count // total for name, count in sizes.items()}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name))[:size]:
        shares[name] = max(shares[name], 1)
    over = sum(shares.values()) - size
    while over > 0:
        largest = max(shares, key=lambda name: (shares[name], name))
        shares[largest] -= 1
        over -= 1
    for name in sorted(sizes, key=lambda name: (-((size * sizes[name]) % total), name)):
        if over < 0 and shares[name] < sizes[name]:
            shares[name] += 1
            over += 1
    return shares
