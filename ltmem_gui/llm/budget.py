"""Fit a rollout into a model's context: measure an overflow, cut again once, or split into parts."""

from __future__ import annotations

import re
from dataclasses import replace

from ltmem_gui.domain.extraction import ExtractionInput
from ltmem_gui.domain.memory_items import estimate_tokens, render_row, truncate_middle

SAFETY_PERCENT = 90
SMALLEST_BUDGET = 256
MAX_PARTS = 16

_NAMED_LIMIT = re.compile(r"\bn_ctx\D{0,6}(\d{3,9})")
_LIMIT = re.compile(
    r"(?:maximum context length|context (?:length|size|window)|n_ctx|limit)\D{0,40}?(\d{3,9})", re.IGNORECASE
)
_ASKED = re.compile(
    r"(?:resulted in|requested|request \(|prompt(?: is| has)?|n_prompt_tokens|contains?|messages? ha(?:s|ve))"
    r"\D{0,30}?(\d{3,9})",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ](?:size|window)|maximum context|too many tokens|prompt is too long"
    r"|exceeds? the (?:available )?context|n_ctx|input is too (?:long|large)|string_above_max",
    re.IGNORECASE,
)


def is_overflow(code: str, message: str) -> bool:
    """Tell whether a server's refusal means "too much text"."""
    return code in ("context_length_exceeded", "string_above_max_length", "exceed_context_size_error") or bool(
        _OVERFLOW.search(message)
    )


def measured(message: str) -> tuple[int | None, int | None]:
    """Return (tokens the server takes, tokens it was asked to take) as far as its message names them."""
    limit, asked = _NAMED_LIMIT.search(message) or _LIMIT.search(message), _ASKED.search(message)
    return (int(limit[1]) if limit else None), (int(asked[1]) if asked else None)


def smaller_budget(request: ExtractionInput, prompt_tokens: int, message: str) -> int:
    """Return the transcript tokens to try next after an overflow.

    `prompt_tokens` is what everything but the transcript takes. The server's own measure corrects our estimate;
    without figures half of what was sent is tried.
    """
    limit, asked = measured(message)
    if limit is None:
        return max(request.tokens // 2, SMALLEST_BUDGET)
    ours = request.tokens + prompt_tokens
    swell = asked / ours if asked and asked > ours > 0 else 1.0
    room = int(limit * SAFETY_PERCENT / 100 / swell) - prompt_tokens
    return max(min(room, request.tokens * SAFETY_PERCENT // 100), SMALLEST_BUDGET)


def cut_to(request: ExtractionInput, limit_tokens: int) -> ExtractionInput:
    """Return the input with its transcript cut to a smaller budget."""
    text, cut = truncate_middle(request.transcript, limit_tokens)
    return replace(request, transcript=text, tokens=estimate_tokens(text), truncated=request.truncated or cut)


def split(request: ExtractionInput, limit_tokens: int) -> tuple[ExtractionInput, ...]:
    """Cut a rollout into parts of whole items that each fit; a single item that does not fit is cut in its middle.

    At most `MAX_PARTS`: what is more than that is packed into larger parts, to be cut in turn.
    """
    whole = sum(estimate_tokens(render_row(item)) for item in request.items)
    limit = max(limit_tokens, SMALLEST_BUDGET, -(-whole // MAX_PARTS))
    parts: list[ExtractionInput] = []
    rows: list[str] = []
    used = 0
    first = 0
    for index, item in enumerate(request.items):
        row, _ = truncate_middle(render_row(item), limit)
        size = estimate_tokens(row)
        if rows and used + size > limit:
            parts.append(_part(request, first, index, rows))
            rows, used, first = [], 0, index
        rows.append(row if row.endswith("\n") else row + "\n")
        used += size
    if rows:
        parts.append(_part(request, first, len(request.items), rows))
    return tuple(parts)


def _part(request: ExtractionInput, start: int, end: int, rows: list[str]) -> ExtractionInput:
    text = "".join(rows)
    return replace(request, items=request.items[start:end], transcript=text, tokens=estimate_tokens(text))
