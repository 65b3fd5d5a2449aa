"""What the redactor answers: clean text and findings with exact spans, never with values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """One redacted span, in code points of the input text; `kind` from the closed list of `domain/redaction`."""

    start: int
    end: int
    kind: str
    engine: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """Clean text and what was taken out of it."""

    text: str
    findings: tuple[SecretFinding, ...] = ()
