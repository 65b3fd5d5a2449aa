"""Phase 1: what goes to a provider, what may come back, and when it is nothing.

The reply is strict (mission: "deny unknown fields"): exactly three text fields. One code fence around it may be
removed; nothing else is repaired. Blank `raw_memory` or `rollout_summary` is the no-op (design §5.6a).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.domain.tokens import TokenUsage

SELF_QUESTION = "Will a future agent plausibly act better because of what I write here?"


@dataclass(frozen=True, slots=True)
class StageOneOutput:
    """One extracted memory row per thread; times in Unix seconds (reference §3.1)."""

    thread_id: str
    source_updated_at: int
    raw_memory: str
    rollout_summary: str
    rollout_slug: str | None = None
    generated_at: int = 0
    usage_count: int | None = None
    last_usage: int | None = None
    cwd: str = ""
    rollout_path: str = ""
    git_branch: str | None = None
    memory_mode: str = "enabled"


class StageOneReply(BaseModel):
    """The strict output of a Phase-1 model: these fields and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    raw_memory: str
    rollout_summary: str
    rollout_slug: str

    @field_validator("rollout_slug", mode="before")
    @classmethod
    def _null_is_empty(cls, value: object) -> object:
        return "" if value is None else value

    @classmethod
    def nothing(cls) -> Self:
        """Return the answer that there is nothing to remember."""
        return cls(raw_memory="", rollout_summary="", rollout_slug="")

    @property
    def is_no_op(self) -> bool:
        """Tell whether there is nothing to remember."""
        return not self.raw_memory.strip() or not self.rollout_summary.strip()


class BadReply(InputError):
    """A reply that could not be read: a failure with a reason, never "nothing to remember"."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One durable statement the built-in provider found: quoted text, its line in the rollout, kind, score 0–100."""

    text: str
    line: int | None
    kind: str
    score: int


@dataclass(frozen=True, slots=True)
class ExtractionInput:
    """One redacted, budgeted rollout, ready for a provider.

    `items` are redacted and in source order. `transcript` is their rendering within the token budget.
    `known_values` are secrets seen in the input: removed from the output by exact match, never shown or stored.
    `line_hashes` maps the session's lines to hashes of what is said there, so that a later check can tell changes.
    """

    thread_id: str
    agent: str
    rollout_path: str
    cwd: str
    git_branch: str | None
    started_at: int | None
    updated_at: int
    items: tuple[RolloutItem, ...]
    transcript: str
    tokens_before: int
    tokens: int
    truncated: bool = False
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])
    known_values: tuple[str, ...] = field(default=(), repr=False)
    line_hashes: Mapping[int, str] = field(default_factory=dict[int, str], repr=False)


@dataclass(frozen=True, slots=True)
class ExtractionReply:
    """What a provider answered: `text` is the untrusted JSON; token counts are None when not reported.

    `tokens_cached` is a part of `tokens_in`, `tokens_reasoning` of `tokens_out`.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    proposed: tuple[Candidate, ...] = ()
    inbox: tuple[Candidate, ...] = ()
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None

    @property
    def usage(self) -> TokenUsage:
        """Return the tokens by type."""
        return TokenUsage(self.tokens_in, self.tokens_out, self.tokens_cached, self.tokens_reasoning)


_FENCE = re.compile(r"\A\s*```[A-Za-z0-9_-]*[ \t]*\n(?P<body>.*?)\n```[ \t]*(?:\n.*)?\Z", re.DOTALL)


def decode_reply(text: str) -> StageOneReply:
    """Decode the reply of a model.

    Raises `BadReply` with the reason for anything that is not exactly the three fields.
    """
    fenced = _FENCE.match(text)
    body = fenced["body"] if fenced else text
    try:
        value = json.loads(body)
    except ValueError as error:
        raise BadReply(f"the reply is not JSON: {error}", "it is retried after the delay") from error
    try:
        return StageOneReply.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "reply"
        raise BadReply(f"the reply breaks the schema at {name}: {first['msg']}") from error
