"""A text with what every rule asks of it: lower case at the same places, and the words that occur at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

PIECE: Final = 65_536
_OVERLAP: Final = 1_024
_LONG: Final = 12
_DIGIT: Final = re.compile(r"\d")


class Document:
    """Hold one text while the rules read it. Work is done in pieces of 64 KB, so that no call holds others up."""

    def __init__(self, text: str) -> None:
        """Index the text: one pass for its words, one for its lower case."""
        self.text = text
        self.low = lowered(text)
        self.words = _words(self.low)
        self._vocabulary = "\n".join(self.words)
        self._plain = self._vocabulary.isascii()
        self._places: dict[str, Sequence[int]] = {}
        self.long_words = [word for word in _words(text) if len(word) >= _LONG and _may_be_made(word)]

    def places(self, stem: str) -> Sequence[int]:
        """Return where a literal in lower case stands, whatever its case in the text; rules share the answer."""
        found = self._places.get(stem)
        if found is None:
            found = self._places[stem] = self._look_for(stem)
        return found

    def _look_for(self, stem: str) -> Sequence[int]:
        # Most of some two hundred literals stand in no text: the vocabulary tells, and it is shorter.
        head = stem if " " not in stem else stem.partition(" ")[0]
        if (self._plain and not head.isascii()) or head not in self._vocabulary:
            return ()
        return tuple(occurrences(self.low, stem))


def occurrences(text: str, anchor: str) -> Iterator[int]:
    """Yield where a literal stands, overlapping ones too."""
    position = text.find(anchor)
    while position >= 0:
        yield position
        position = text.find(anchor, position + 1)


def lowered(text: str) -> str:
    """Return the text in lower case with every code point at its place."""
    pieces: list[str] = []
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        low = piece.lower()
        pieces.append(low if len(low) == len(piece) else piece.replace("\u0130", "I").lower())
    return "".join(pieces)


def _may_be_made(word: str) -> bool:
    """Leave out what has neither digits nor capitals: no generator made it."""
    return not word.islower() or _DIGIT.search(word) is not None


def _words(text: str) -> set[str]:
    """Return the distinct blank-separated words; one that a piece cuts is whole in the overlap."""
    words: set[str] = set()
    for start in range(0, len(text), PIECE):
        words.update(text[start : start + PIECE + _OVERLAP].split())
    return words
