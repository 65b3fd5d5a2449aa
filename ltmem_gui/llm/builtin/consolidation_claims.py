"""Statements with their evidence: which are the same, which disagree.

Two statements are the same when they differ in small words, punctuation or endings only; numbers, names with
punctuation and negations must be equal. They disagree when one negates the other, swaps what is wanted with what is
not, replaces what the other names, or puts another value into the same sentence. All of it without a model, so it is
kept narrow: what is missed stays as two bullets, and nothing is ever lost by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from ltmem_gui.domain.citations import CitationEntry

_WORD = re.compile(r"\w+(?:[./:@#+=-]+\w+)*")
_HARD = re.compile(r"[0-9./:@#=_]")
_NEGATIONS = frozenset(
    (
        *("not", "no", "never", "none", "without", "instead", "rather", "dont", "cannot", "avoid", "stop"),
        *("nicht", "nie", "niemals", "kein", "keine", "keinen", "keiner", "ohne", "statt", "anstatt", "anstelle"),
        *("nunca", "jamás", "sin", "ne", "pas", "jamais", "sans"),
    )
)
_SMALL = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "is", "are", "be", "to", "of", "in", "on", "at", "for"),
        *(
            "and",
            "or",
            "with",
            "by",
            "as",
            "it",
            "its",
            "we",
            "i",
            "you",
            "they",
            "my",
            "our",
            "your",
            "please",
            "just",
        ),
        *("also", "should", "must", "will", "would", "can", "do", "does", "always", "all", "everything", "here"),
        *("der", "die", "das", "den", "dem", "ein", "eine", "einen", "ist", "sind", "und", "oder", "mit", "für", "im"),
        *("am", "zu", "bitte", "auch", "immer", "alle", "alles", "hier"),
        *("el", "la", "los", "las", "un", "una", "es", "son", "y", "o", "con", "para", "por", "siempre", "todo"),
        *("le", "les", "du", "de", "et", "ou", "toujours", "tout"),
    )
)
_VALUE_BEFORE = frozenset(
    (
        *(
            "is",
            "are",
            "use",
            "uses",
            "using",
            "called",
            "named",
            "prefer",
            "prefers",
            "want",
            "wants",
            "version",
            "port",
        ),
        *("ist", "sind", "heißt", "nutze", "nutzt", "verwende", "es", "son", "usa", "usar", "est", "sont", "utilise"),
    )
)
_NUMBER_BEFORE = frozenset(
    ["on", "at", "after", "every", "within", "of", "to", "auf", "nach", "alle", "en", "cada", "sur", "après"]
)
_CLAUSE = re.compile(r"[,.;:!?()\n—–]+(?:\s|\Z)|\s(?:but|and|sondern|und|aber|sino|pero|mais|et)\s")
_DENIES = re.compile(
    r"\b(?:instead of|rather than|no longer|not any more|not|never|no|nicht mehr|nicht|nie|niemals|kein\w*|"
    r"anstatt|anstelle von|statt|en lugar de|ya no|nunca|au lieu de|jamais)\s+(.*)"
)
_COMMON_VERBS = frozenset(
    ["use", "uses", "using", "run", "make", "keep", "nutze", "verwende", "usa", "utilise", "repo", "here", "hier"]
)
_MAX_POSTINGS = 60


@dataclass(frozen=True, slots=True)
class Support:
    """One place a statement comes from. `at` in Unix seconds; `task` counts the tasks of the session from 0."""

    thread_id: str
    task: int
    at: int
    entries: tuple[CitationEntry, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement with everything that supports it, oldest first."""

    section: str
    text: str
    supports: tuple[Support, ...]

    @property
    def newest(self) -> int:
        """Return when it was last said, in Unix seconds."""
        return max((support.at for support in self.supports), default=0)

    @property
    def entries(self) -> tuple[CitationEntry, ...]:
        """Return the citations of all supports, each once."""
        return tuple(dict.fromkeys(entry for support in self.supports for entry in support.entries))


class Statement:
    """The comparable form of a text: its words, and those that carry meaning."""

    __slots__ = ("affirmed", "content", "denied", "hard", "joined", "key", "negated", "words")

    def __init__(self, text: str) -> None:
        folded = text.casefold().replace("’", "'").replace("don't", "dont").replace("n't", " not")
        self.words = tuple(_WORD.findall(folded))
        self.joined = " ".join(self.words)
        self.negated = frozenset(word for word in self.words if word in _NEGATIONS)
        self.content = tuple(word for word in self.words if word not in _SMALL and word not in _NEGATIONS)
        self.hard = tuple(sorted(word for word in self.content if _HARD.search(word)))
        self.key = tuple(sorted(word[:3] for word in self.content))
        self.denied = _denied(folded) if self.negated else frozenset()
        self.affirmed = frozenset(self.content) - self.denied


def same(one: Statement, other: Statement) -> bool:
    """Tell whether two statements say the same in nearly the same words."""
    if one.joined == other.joined:
        return True
    if one.key != other.key or one.hard != other.hard or bool(one.negated) != bool(other.negated):
        return False
    if not one.content or (one.negated and one.content != other.content):
        return False
    pairs = zip(sorted(one.content), sorted(other.content), strict=True)
    if not all(a == b or (min(len(a), len(b)) >= 5 and fuzz.ratio(a, b) >= 80) for a, b in pairs):
        return False
    return fuzz.ratio(" ".join(one.content), " ".join(other.content)) >= 75


def disagree(newer: Statement, older: Statement) -> bool:
    """Tell whether the newer statement speaks against the older one, as far as words alone show it."""
    if newer.joined == older.joined:
        return False
    mine, theirs = set(newer.content), set(older.content)
    common = mine & theirs
    if len(common) >= 2 and len(common) / len(mine | theirs) >= 0.75:
        if bool(newer.negated) != bool(older.negated):
            return True
        if newer.negated and mine == theirs and newer.content != older.content:
            return True
    return _takes_back(newer, older) or _other_value(newer.words, older.words)


class ClaimIndex:
    """Find a statement that says the same; each lookup looks at a handful of candidates."""

    def __init__(self, claims: Iterable[Claim] = ()) -> None:
        self._by_key: dict[tuple[str, ...], list[tuple[Statement, int]]] = {}
        self.claims: list[Claim] = []
        for claim in claims:
            self.add(claim)

    def find(self, text: str) -> int | None:
        """Return the position of the claim that says the same."""
        statement = Statement(text)
        for candidate, position in self._by_key.get(statement.key, ()):
            if same(statement, candidate):
                return position
        return None

    def add(self, claim: Claim) -> int:
        """Add a statement, or its evidence to the one that says the same; return its position."""
        found = self.find(claim.text)
        if found is None:
            self.claims.append(claim)
            found = len(self.claims) - 1
            statement = Statement(claim.text)
            self._by_key.setdefault(statement.key, []).append((statement, found))
            return found
        known = self.claims[found]
        supports = tuple(dict.fromkeys((*known.supports, *claim.supports)))
        self.claims[found] = Claim(known.section, known.text, supports)
        return found


def disagreements(claims: Sequence[Claim]) -> list[tuple[int, ...]]:
    """Return clusters of positions that disagree, each newest first, in order of their first member."""
    statements = [Statement(claim.text) for claim in claims]
    parent = list(range(len(claims)))
    for one, other in _candidates(statements):
        a, b = claims[one], claims[other]
        newer, older = (one, other) if (a.newest, one) >= (b.newest, other) else (other, one)
        if a.section == b.section and disagree(statements[newer], statements[older]):
            parent[_root(parent, one)] = _root(parent, other)
    clusters: dict[int, list[int]] = {}
    for position in range(len(claims)):
        clusters.setdefault(_root(parent, position), []).append(position)
    found = (sorted(c, key=lambda p: (-claims[p].newest, p)) for c in clusters.values() if len(c) > 1)
    return sorted((tuple(cluster) for cluster in found), key=min)


def _candidates(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """Yield pairs that share a word that is not everywhere."""
    postings: dict[str, list[int]] = {}
    for position, statement in enumerate(statements):
        for word in set(statement.content):
            postings.setdefault(word, []).append(position)
    seen: set[tuple[int, int]] = set()
    for positions in postings.values():
        recent = positions[-_MAX_POSTINGS:]
        for index, one in enumerate(recent):
            for other in recent[index + 1 :]:
                if (one, other) not in seen:
                    seen.add((one, other))
                    yield one, other


def _root(parent: list[int], position: int) -> int:
    while parent[position] != position:
        parent[position] = parent[parent[position]]
        position = parent[position]
    return position


def _denied(folded: str) -> frozenset[str]:
    """Return the words a text speaks against: the first after each negation, within its clause."""
    found: set[str] = set()
    for clause in _CLAUSE.split(folded):
        match = _DENIES.search(clause)
        if match:
            words = [w for w in _WORD.findall(match[1]) if w not in _SMALL and w not in _NEGATIONS]
            found.update(words[:1])
    return frozenset(found)


def _takes_back(newer: Statement, older: Statement) -> bool:
    """Tell whether one wants what the other does not: both ways round, or one way in a sentence about the same."""
    back, forth = newer.denied & older.affirmed, older.denied & newer.affirmed
    if not back and not forth:
        return False
    if back and forth:
        return True
    affirming = older if back else newer
    rest = (newer.affirmed & older.affirmed) - _COMMON_VERBS
    return bool(rest) or len(affirming.affirmed - _COMMON_VERBS) <= 1


def _other_value(one: Sequence[str], other: Sequence[str]) -> bool:
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    mine, theirs = one[start : len(one) - end], other[start : len(other) - end]
    if not start or start + end < 3 or not (1 <= len(mine) <= 2 and 1 <= len(theirs) <= 2):
        return False
    numbers = any(c.isdigit() for c in mine[0]) and any(c.isdigit() for c in theirs[0])
    before = one[start - 1]
    return before in _VALUE_BEFORE or (numbers and before in _NUMBER_BEFORE)
