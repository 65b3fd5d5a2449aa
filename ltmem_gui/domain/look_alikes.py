"""Words that are not what they look like: Latin words with letters of another script that are drawn the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
# Letter → the Latin letter it is drawn like. Only pairs that common fonts draw alike: a word of a second script that is
# joined to a Latin one ("API" with a Russian ending) has letters that are not in here, and is left alone.
_PAIRS = (
    ("АВЕКМНОРСТУХІЈЅԌԚԜ", "ABEKMHOPCTYXIJSGQW"),
    ("аеорсухіјѕһԁԛԝӏ", "aeopcyxijshdqwl"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("ονϲϳ", "ovcj"),
    ("օոս", "onu"),
)
_LIKE = {
    **{letter: like for letters, likes in _PAIRS for letter, like in zip(letters, likes, strict=True)},
    **{chr(code + 0xFEE0): chr(code) for code in (*range(0x41, 0x5B), *range(0x61, 0x7B))},  # full width
}


def look_alike_words(line: str) -> Iterator[tuple[str, str]]:
    """Yield (word as it reads, the foreign letters in it as code points) for words that mix Latin with its doubles."""
    if line.isascii():
        return
    for match in _WORD.finditer(line):
        word = match[0]
        foreign = [char for char in word if not _LATIN.fullmatch(char)]
        if word.isascii() or len(foreign) == len(word) or any(char not in _LIKE for char in foreign):
            continue
        codes = ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(foreign))
        yield "".join(_LIKE.get(char, char) for char in word), codes
