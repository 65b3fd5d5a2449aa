"""Merge findings and put the placeholders in: the result depends on the set of findings, never on their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ltmem_gui.domain.redaction.kinds import PLACEHOLDER, RANK, placeholder
from ltmem_gui.domain.secrets import SecretFinding

_SPLIT_LEFT: Final = re.compile(
    r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[\d;:?]*[A-Za-z]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[nrtbfv\"'/]|%[0-9A-Fa-f]{2}"
)


def placeholders_of(text: str) -> list[tuple[int, int]]:
    """Return the spans of placeholders that stand in a text already."""
    if "[REDACTED:" not in text:
        return []
    return [match.span() for match in PLACEHOLDER.finditer(text)]


def outside(findings: Iterable[SecretFinding], kept: Sequence[tuple[int, int]]) -> list[SecretFinding]:
    """Drop findings that touch a placeholder: it would be redacted again, and grow."""
    if not kept:
        return list(findings)
    return [f for f in findings if not any(f.start < end and start < f.end for start, end in kept)]


def aligned(text: str, finding: SecretFinding) -> SecretFinding:
    """Move edges off the middle of an escape or a colour code: cut there, JSON would no longer be JSON."""
    start, end = finding.start, finding.end
    lead = _SPLIT_LEFT.search(text, max(0, start - 12), min(end, start + 12))
    while lead is not None and lead.start() < start < lead.end():
        start = lead.end()
        lead = _SPLIT_LEFT.search(text, max(0, start - 1), min(end, start + 12))
    if text[end - 1 : end] == "\\" and text[end : end + 1] in ("n", "r", "t", '"', "'", "u", "/", "b", "f", "x"):
        end -= len(text[start:end]) - len(text[start:end].rstrip("\\"))
    if start >= end:
        return finding
    return finding if (start, end) == (finding.start, finding.end) else replace_span(finding, start, end)


def replace_span(finding: SecretFinding, start: int, end: int) -> SecretFinding:
    """Return the finding with another span."""
    return SecretFinding(start, end, finding.kind, finding.engine)


def merge(findings: Iterable[SecretFinding]) -> tuple[SecretFinding, ...]:
    """Return the union of overlapping spans in order; the kind that ranks first names the whole."""
    ordered = sorted((f for f in findings if f.start < f.end), key=lambda f: (f.start, f.end, RANK[f.kind], f.engine))
    merged: list[SecretFinding] = []
    for finding in ordered:
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            first = min(last, finding, key=lambda f: (RANK[f.kind], f.engine))
            merged[-1] = SecretFinding(last.start, max(last.end, finding.end), first.kind, first.engine)
        else:
            merged.append(finding)
    return tuple(merged)


def replace(text: str, findings: Sequence[SecretFinding]) -> str:
    """Put placeholders where the findings are; these are merged and in order."""
    parts: list[str] = []
    last = 0
    for finding in findings:
        parts += (text[last : finding.start], placeholder(finding.kind))
        last = finding.end
    parts.append(text[last:])
    return "".join(parts)
