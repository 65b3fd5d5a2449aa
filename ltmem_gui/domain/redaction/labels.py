"""A label made of a text: a title is its first words, cut, so that what tells a secret may be gone from it.

"Use maple7731 here" is a title; only "the password is maple7731", further down in the session, tells what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ltmem_gui.domain.redaction.core import redact_text
from ltmem_gui.domain.redaction.document import occurrences
from ltmem_gui.domain.redaction.known import usable
from ltmem_gui.domain.redaction.layer import layer_findings

_AROUND: Final = 300
_FIRST: Final = 2
_MOST: Final = 12
"""In how many places a word is looked at closely: the first two, then where something near names a secret."""
_EDGES: Final = "\"'`.,;:!?()[]{}<>*_…"
_PARTS: Final = re.compile(r"[^\s/\\]+")
_MADE: Final = re.compile(r"\d|\S{20}")
_TELLING: Final = re.compile(
    r"(?i)pass|pwd|\bpw\b|secret|token|key|cred|auth|log[ -]?in|sign|\bpin\b|otp|code|cookie|session|curl|://"
    r"|密|口令|令牌|パス|トークン|비밀|암호|парол|токен|ключ|kennwort|contrase|senha|parola|hasło|סיסמ|مرور"
)


def redact_labels(labels: Sequence[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Return labels without secrets, and without the words that any of the texts they stand for shows to be one."""
    candidates = {part.strip(_EDGES) for label in labels for part in _PARTS.findall(label)}
    left = dict.fromkeys(sorted(word for word in candidates if usable(word)), 0)
    told: list[str] = []
    for text in texts:
        if not left:
            break
        for word in tuple(left):
            seen, is_told = _look(word, text, left[word])
            left[word] = seen
            if is_told:
                told.append(word)
            if is_told or seen >= _MOST:
                del left[word]
    return tuple(redact_text(label, known=told).text if told or not _is_plain(label) else label for label in labels)


def _is_plain(label: str) -> bool:
    """Tell whether no rule can find anything: no digit, no long word, nothing that names a secret."""
    return _TELLING.search(label) is None and _MADE.search(label) is None


def _look(word: str, text: str, seen: int) -> tuple[int, bool]:
    """Return in how many places the word was looked at by now, and whether one shows that it is a secret."""
    for at in occurrences(text, word):
        left = max(0, at - _AROUND)
        window = text[left : at + len(word) + _AROUND]
        if seen >= _FIRST and _TELLING.search(window) is None:
            continue
        seen += 1
        if any(left + f.start < at + len(word) and at < left + f.end for f in layer_findings(window)):
            return seen, True
        if seen >= _MOST:
            break
    return seen, False
