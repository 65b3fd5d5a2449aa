"""A hint without a model: how many of a claim's rare words stand in the cited lines, and where its quotations do.

The score tells right lines from random ones well and from neighbouring ones fairly; it is a colour, never a verdict.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from rapidfuzz import fuzz

QUOTE_LIKENESS = 85.0
MIN_QUOTE = 12
WEAK_BELOW = 0.3
"""Below this a score is shown as weak."""

_WORD = re.compile(r"[^\W_\u3040-\u30ff\u4e00-\u9fff]{2,}|[\u3040-\u30ff\u4e00-\u9fff]")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」|`([^`\n]+)`")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text; each character of a script without blanks is one."""
    return frozenset(_WORD.findall(text.casefold()))


class RareWords:
    """Weigh words by how few of the texts hold them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._total = 0
        for text in texts:
            self._counts.update(words_of(text))
            self._total += 1

    def weight(self, word: str) -> float:
        """Return a weight above 0, larger for rarer words."""
        return math.log(1 + (self._total + 1) / (self._counts[word] + 1))

    def score(self, claim: str, evidence: str) -> float | None:
        """Return the weight of the claim's words that the evidence holds, as a share 0 to 1; None without words."""
        wanted = words_of(claim)
        if not wanted or not evidence.strip():
            return None
        # Sorted, so that rounding is the same in every process.
        found = math.fsum(self.weight(word) for word in sorted(wanted & words_of(evidence)))
        return found / math.fsum(self.weight(word) for word in sorted(wanted))


def quote_spans(claim: str, evidence: str) -> tuple[tuple[int, int], ...]:
    """Return where the claim's quotations stand in the evidence, in code points, merged and in order.

    A quotation is found word by word whatever blanks and letter case; else as one run that is at least 85 % alike. One
    of fewer than 12 characters proves nothing and is not looked for.
    """
    found: list[tuple[int, int]] = []
    for match in _QUOTED.finditer(claim):
        quote = next(part for part in match.groups() if part).rstrip("…. ")
        if len(quote) < MIN_QUOTE:
            continue
        pattern = r"\s+".join(map(re.escape, quote.split()))
        exact = re.search(pattern, evidence, re.IGNORECASE)
        if exact is not None:
            found.append(exact.span())
        elif len(quote) <= len(evidence):
            alike = fuzz.partial_ratio_alignment(quote, evidence, score_cutoff=QUOTE_LIKENESS)
            found += [_trimmed(evidence, alike.dest_start, alike.dest_end)] if alike is not None else []
    return _merged(found)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
