"""Findings sit on lines: what a reviewer must look at before a yes."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Severity(StrEnum):
    """Only `BLOCKING` keeps an apply from happening."""

    BLOCKING = "blocking"
    WARNING = "warning"
    INFO = "info"


class Finding(BaseModel):
    """One remark on a proposed or existing file.

    `rule`: secret, hidden-character, bidi, look-alike, instruction, unresolved-citation, path-escape, duplicate,
    order-churn, loss, size, schema, relative-date, uncited, missing-file, … `line` counts 0x0A from 1 in the proposed
    file. `text` never holds a secret's value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    rule: str
    severity: Severity
    path: str
    line: int | None = None
    text: str
