"""Merge findings and put the placeholders in: the result depends on the set of findings, never on their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ltmem_gui.domain.redaction.kinds import PLACEHOLDER, RANK, placeholder
from ltmem_gui.domain.secrets import SecretFinding


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
