"""Redact a text: all rules, one value filter, union of spans, repeated until nothing new shows up."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.kinds import placeholder
from ltmem_gui.domain.redaction.known import known_findings
from ltmem_gui.domain.redaction.layer import layer_findings
from ltmem_gui.domain.redaction.policy import RedactionPolicy
from ltmem_gui.domain.redaction.spans import aligned, merge, outside, placeholders_of, replace
from ltmem_gui.domain.redaction.turns import turn_findings
from ltmem_gui.domain.redaction.values import is_dummy
from ltmem_gui.domain.redaction.vendors import windows
from ltmem_gui.domain.secrets import Redaction, SecretFinding

Engine = Callable[[str], Iterable[SecretFinding]]
"""A scanner beside our layer: returns findings in code points, kinds from our list."""

DEFAULT_POLICY: Final = RedactionPolicy()
_WHOLE_LINES: Final = frozenset((kinds.AUTH_HEADER, kinds.URL_PASSWORD))
_SHORTEST_TEXT: Final = 8
_MOST_PASSES: Final = 6
_USERINFO: Final = re.compile(r"://[^\s/@]*:([^\s@]+)@")


def redact_text(
    text: str,
    *,
    engine: Engine | None = None,
    known: Sequence[str] = (),
    policy: RedactionPolicy = DEFAULT_POLICY,
    before: str = "",
) -> Redaction:
    """Replace every secret by its placeholder; findings carry code points of `text`.

    The output of a redaction has no findings: what a placeholder uncovers beside it is taken out in the same call.
    `before` is the turn of a chat that `text` answers: when it asks for a password, a word alone is one.
    """
    found = merge(f for f in turn_findings(text, before) if not policy.keeps(f.kind, text[f.start : f.end]))
    clean = replace(text, found)
    for _ in range(_MOST_PASSES):
        fresh = find_secrets(clean, engine=engine, known=known, policy=policy)
        if not fresh:
            break
        found = merge((*found, *_in_original(fresh, found)))
        clean = replace(text, found)
    return Redaction(text=clean, findings=found)


def find_secrets(
    text: str, *, engine: Engine | None, known: Sequence[str], policy: RedactionPolicy
) -> tuple[SecretFinding, ...]:
    """Return merged findings of one pass, in order; those that touch a placeholder are left out."""
    ours: list[SecretFinding] = []
    theirs: list[SecretFinding] = []
    if len(text) >= _SHORTEST_TEXT:
        ours = layer_findings(text)
        theirs = _filtered(text, engine(text), ours) if engine is not None else []
    extra = [
        SecretFinding(start, end, kinds.CUSTOM, kinds.LAYER)
        for pattern in policy.extra
        for start, end in windows(text, pattern)
    ]
    exact = list(known_findings(text, known)) if known else []
    kept = placeholders_of(text)
    every = outside((aligned(text, f) for f in (*ours, *theirs, *extra, *exact)), kept)
    return merge(f for f in every if f.engine == kinds.KNOWN or not policy.keeps(f.kind, text[f.start : f.end]))


def _filtered(text: str, findings: Iterable[SecretFinding], ours: Sequence[SecretFinding]) -> list[SecretFinding]:
    """Apply the value filter to a foreign engine, and cut findings that take a whole address or block."""
    kept: list[SecretFinding] = []
    for finding in findings:
        value = text[finding.start : finding.end]
        if is_dummy(value):
            continue
        if finding.kind in _WHOLE_LINES or "://" in value or "\n" in value or " " in value:
            if any(finding.start <= own.start and own.end <= finding.end for own in ours):
                continue
            userinfo = _USERINFO.search(value)
            if userinfo is not None:
                start, end = (finding.start + at for at in userinfo.span(1))
                if not is_dummy(userinfo.group(1)):
                    kept.append(SecretFinding(start, end, kinds.URL_PASSWORD, finding.engine))
                continue
        kept.append(finding)
    return kept


def _in_original(fresh: Sequence[SecretFinding], found: Sequence[SecretFinding]) -> list[SecretFinding]:
    """Map findings of a redacted text back: none of them touches a placeholder."""
    if not found:
        return list(fresh)
    shifts = [0, *accumulate((f.end - f.start) - len(placeholder(f.kind)) for f in found)]
    starts = [f.end - shift for f, shift in zip(found, shifts[1:], strict=True)]
    mapped: list[SecretFinding] = []
    for finding in fresh:
        left = shifts[bisect_right(starts, finding.start)]
        mapped.append(SecretFinding(finding.start + left, finding.end + left, finding.kind, finding.engine))
    return mapped
