"""A label made of a text: a title is its first words, cut, so that what tells a secret may be gone from it.

"Use maple7731 here" is a title; only "the password is maple7731", further down in the session, tells what it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from ltmem_gui.domain.redaction.core import redact_text
from ltmem_gui.domain.redaction.document import occurrences
from ltmem_gui.domain.redaction.known import usable
from ltmem_gui.domain.redaction.layer import layer_findings

_AROUND: Final = 300
_MOST_PLACES: Final = 20
_EDGES: Final = "\"'`.,;:!?()[]{}<>*_…"


def redact_label(label: str, texts: Iterable[str]) -> str:
    """Return a label without secrets, and without the words that any of the texts it is made of shows to be one."""
    candidates = [word for word in {raw.strip(_EDGES) for raw in label.split()} if usable(word)]
    if not candidates:
        return redact_text(label).text
    told: set[str] = set()
    for text in texts:
        told.update(word for word in candidates if word not in told and _is_told(word, text))
    return redact_text(label, known=sorted(told)).text


def _is_told(word: str, text: str) -> bool:
    for at in islice(occurrences(text, word), _MOST_PLACES):
        left = max(0, at - _AROUND)
        found = layer_findings(text[left : at + len(word) + _AROUND])
        if any(left + f.start < at + len(word) and at < left + f.end for f in found):
            return True
    return False
