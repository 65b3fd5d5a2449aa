"""Weigh what a sentence says: points per cue and per term, fitted to labelled sentences.

A linear model, so that every point can be read: `weights.json` holds logits per cue (the kinds of `scoring.py`) and
per term: words, their first place (`^word`) and the three-letter pieces of words (`~<ne`), which hold across endings
and compounds; for Chinese, characters and pairs of them. The file is made from the labelled sentences in
`tests/fixtures/extraction` by `python -m tests.helpers.fitting` and from nothing else. Stems, longer pieces and word
pairs were measured too and added nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[a-z0-9_./@-]+")
_TERM = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!:;,/=`\"]")
_EDGES = " .!。！\n"
TERM_SHARE = 3.0  # all terms of a kind together weigh as much as this many cues, however long the sentence is
MAX_WORD = 24
MAX_CACHED = 20_000


@dataclass(frozen=True, slots=True)
class Weights:
    """Logits: of nothing at all, per cue, and per term; `pieces_of` sums a word's pieces once."""

    bias: float
    cues: Mapping[str, float]
    terms: Mapping[str, float]
    known: dict[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]], compare=False)

    def pieces_of(self, word: str) -> tuple[float, int]:
        """Return the weight of a word's pieces together, and their number."""
        found = self.known.get(word)
        if found is None:
            names = pieces(word)
            found = sum(self.terms.get(name, 0.0) for name in names), len(names)
            if len(self.known) < MAX_CACHED:
                self.known[word] = found
        return found


@dataclass(frozen=True, slots=True)
class Reading:
    """The distinct words of a sentence (signs and pairs of signs for Chinese), in order."""

    words: tuple[str, ...]
    chinese: bool


@cache
def fitted() -> Weights:
    """Return the weights that come with the program."""
    value = json.loads(files("ltmem_gui.llm.builtin").joinpath("weights.json").read_text("utf-8"))
    return Weights(value["bias"], MappingProxyType(value["cues"]), MappingProxyType(value["terms"]))


def read(plain: str) -> Reading:
    """Cut a sentence into the words the weights know."""
    text = plain.lower().replace("’", "'").strip(_EDGES)
    if _HAN.search(text):
        signs = f"^{_LATIN.sub('x', text)}$"
        pairs = (signs[at : at + 2] for at in range(len(signs) - 1))
        return Reading(tuple(dict.fromkeys([*signs[1:-1], *pairs])), chinese=True)
    words = ["0" if word.isdigit() else word for word in _TERM.findall(text)]
    return Reading(tuple(dict.fromkeys([*(f"^{word}" for word in words[:1]), *words])), chinese=False)


def pieces(word: str) -> list[str]:
    """Return the three-letter pieces of a word, its edges marked."""
    if len(word) < 2 or word[0] == "^":
        return []
    edged = f"<{word[:MAX_WORD]}>"
    return [f"~{edged[at : at + 3]}" for at in range(len(edged) - 2)]


def share(count: int) -> float:
    """Return what one of `count` terms weighs."""
    return TERM_SHARE / math.sqrt(count) if count else 0.0


def terms_of(reading: Reading) -> list[tuple[str, float]]:
    """Return each term of a sentence with what it weighs; `logit` sums these by the weights."""
    whole = share(len(reading.words))
    found = [(word, whole) for word in reading.words]
    if not reading.chinese:
        parts = [piece for word in reading.words for piece in pieces(word)]
        found += [(piece, share(len(parts))) for piece in parts]
    return found


def logit(cues: Iterable[str], reading: Reading, weights: Weights) -> float:
    """Return the log-odds that a sentence with these cues and words outlives its session."""
    total = weights.bias + sum(weights.cues.get(cue, 0.0) for cue in cues)
    total += share(len(reading.words)) * sum(weights.terms.get(word, 0.0) for word in reading.words)
    if reading.chinese:
        return total
    weighed = [weights.pieces_of(word) for word in reading.words]
    return total + share(sum(count for _, count in weighed)) * sum(weight for weight, _ in weighed)
