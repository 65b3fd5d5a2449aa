"""Known values: what was seen as a secret once is removed wherever it stands, keyword or not.

The model repeats `hunter2x9` in prose with nothing near that tells what it is; only an exact match finds it
(reference `redaction.md`, "What the app must add", 6). Values live in memory only.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote, quote_plus, unquote

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.context import acceptable
from ltmem_gui.domain.redaction.document import occurrences
from ltmem_gui.domain.redaction.edges import DecodedView
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, random_share
from ltmem_gui.domain.secrets import SecretFinding

_SHORTEST: Final = 6
_FREE_STANDING_FROM: Final = 10
_KEY_LINE: Final = 20
_ENVIRONMENT_FROM: Final = 8
_AROUND: Final = "# >*\t\r"


def usable(value: str) -> bool:
    """Tell whether a value can be searched for without eating ordinary words or numbers."""
    if len(value) < _SHORTEST or is_dummy(value) or "[REDACTED:" in value:
        return False
    digit = any(char.isdigit() for char in value)
    alpha = any(char.isalpha() for char in value)
    if digit and not alpha:
        return (len(value) >= 8 and not is_reference(value)) or len(value) >= 12
    if digit or any(not char.isalnum() and char not in " -_." for char in value):
        return True
    return (len(value) >= 8 and random_share(value) >= 0.5) or (len(value) >= 16 and not value.isalpha())


def collect_known(text: str, findings: Iterable[SecretFinding]) -> tuple[str, ...]:
    """Return the values that were found in an input, to be removed from the output made of it; first seen first."""
    seen: dict[str, None] = {}
    for finding in findings:
        value = text[finding.start : finding.end]
        for form in _decodings(value):
            for part in _parts(form):
                if usable(part):
                    seen.setdefault(part)
    return tuple(seen)


def _decodings(value: str) -> Iterator[str]:
    """Yield what a value means where it was written escaped: in JSON, in an address, in HTML."""
    yield value
    if "\\" in value:
        try:
            yield str(json.loads(f'"{value}"'))
        except ValueError:
            yield DecodedView(value).text
    if "%" in value:
        yield unquote(value)
    if "&" in value:
        yield html.unescape(value)


def _parts(value: str) -> Iterator[str]:
    """Yield a value, and the lines of one that has several: a key is recognised by any of its lines."""
    if "\n" not in value and "\\n" not in value:
        yield value.strip()
        return
    yield from (
        line
        for line in (raw.strip(_AROUND) for raw in value.replace("\\n", "\n").split("\n"))
        if len(line) >= _KEY_LINE
    )


def secret_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of environment variables whose names announce a secret: exact matches of them are removed."""
    values = {
        value
        for name, value in environment.items()
        if (kind := name_kind(name)) is not None
        and kind != LOOSE
        and len(value) >= _ENVIRONMENT_FROM
        and usable(value)
        and acceptable(value, kind, name, quoted=False, shell=True)
    }
    return tuple(sorted(values))


def known_findings(text: str, known: Sequence[str]) -> Iterator[SecretFinding]:
    """Yield every place where a known value stands, as it is, JSON-escaped, URL-encoded or HTML-escaped."""
    for form in _forms_of_all(tuple(known)):
        yield from _places(text, form)


@lru_cache(maxsize=64)
def _forms_of_all(known: tuple[str, ...]) -> tuple[str, ...]:
    """Return all spellings of all values; the same set is asked for once per text of a rollout."""
    parts = {part for value in known for part in _parts(value) if usable(part)}
    return tuple(sorted({form for part in parts for form in _forms(part)}))


def _forms(value: str) -> set[str]:
    whole = value.encode("utf-8", "replace")
    forms = {value, quote(whole, safe=""), quote_plus(whole), html.escape(value)}
    for _ in range(2):
        forms |= {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in forms for ascii_only in (True, False)}
    return forms | {form.replace("/", "\\/") for form in forms}


def _places(text: str, form: str) -> Iterator[SecretFinding]:
    for start in occurrences(text, form):
        end = start + len(form)
        if len(form) >= _FREE_STANDING_FROM or not (_joined(text, start - 1, start) or _joined(text, end - 1, end)):
            yield SecretFinding(start, end, kinds.KNOWN_VALUE, kinds.KNOWN)


def _joined(text: str, left: int, right: int) -> bool:
    """Tell whether a short value goes on beyond its edge as part of a longer word."""
    return left >= 0 and right < len(text) and _ascii_word(text[left]) and _ascii_word(text[right])


def _ascii_word(char: str) -> bool:
    return char.isascii() and char.isalnum()
