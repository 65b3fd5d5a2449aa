"""From a rollout to the text a provider reads: what is kept, how it is written, how it is cut to the budget.

Redaction stands between `memory_items` and `render_transcript` and is the caller's (reference: codex-memories §2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from ltmem_gui.domain.hazards import one_line, visible
from ltmem_gui.domain.rollouts import Rollout, RolloutItem

DEFAULT_ROLLOUT_TOKEN_LIMIT = 150_000
CONTEXT_WINDOW_PERCENT = 70
EFFECTIVE_WINDOW_PERCENT = 95
BYTES_PER_TOKEN = 4

_KEPT_KINDS = frozenset({"message", "tool_call", "tool_output", "image", "context", "notice", "command"})
_DROPPED_ROLES = frozenset({"developer", "harness"})
_CITATION = re.compile(r"\n*<(oai-mem-citation|citation)>.*?(?:</\1>|\Z)\s*", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MEMORY_FILES = re.compile(r"\b(?:MEMORY\.md|memory_summary\.md|raw_memories\.md|rollout_summaries/)")
_MEMORY_TOOLS = re.compile(r"\Amemor(?:y|ies)\b", re.IGNORECASE)


def memory_items(rollout: Rollout) -> tuple[RolloutItem, ...]:
    """Return the items Phase 1 may learn from, in source order.

    Left out: host instructions (AGENTS.md, skills, developer text), inherited and undone turns, and recalled memory
    (what memory tools and reads of memory files gave back). Kept: the environment and notices, flagged as injected.
    """
    recalled = _recalling_calls(rollout.items)
    kept: list[RolloutItem] = []
    for item in rollout.items:
        if item.inherited or item.undone or item.kind not in _KEPT_KINDS or item.role in _DROPPED_ROLES:
            continue
        if item.kind == "tool_output" and item.tool is not None and item.tool.call_id in recalled:
            continue
        if item.role == "assistant" and item.kind == "message":
            item = _without_citations(item)
        if item.text.strip() or item.kind != "message":
            kept.append(item)
    return tuple(kept)


def _recalling_calls(items: Iterable[RolloutItem]) -> frozenset[str]:
    """Return the ids of calls that read the long-term memory: their answers are no news."""
    return frozenset(
        item.tool.call_id
        for item in items
        if item.kind == "tool_call"
        and item.tool is not None
        and item.tool.call_id
        and (_MEMORY_TOOLS.match(item.tool.name) or _reads_memory(item))
    )


def _reads_memory(item: RolloutItem) -> bool:
    return "memories" in item.text and _MEMORY_FILES.search(item.text) is not None


def _without_citations(item: RolloutItem) -> RolloutItem:
    """Take citation blocks of recalled memory out of an answer; a quoted one (in a code fence) stays."""
    text = item.text
    if "citation>" not in text:
        return item
    fences = [(found.start(), found.end()) for found in _FENCE.finditer(text)]

    def cut(found: re.Match[str]) -> str:
        quoted = any(start <= found.start() < end for start, end in fences)
        return found[0] if quoted else ""

    return replace(item, text=_CITATION.sub(cut, text))


def tool_command(item: RolloutItem) -> str | None:
    """Return the shell command of a tool call, None when it is not one.

    Reads `{"cmd": …}`, `{"command": "…"}`, `{"command": ["bash", "-lc", "…"]}` and the `exec_command({cmd: "…"})` of a
    script cell.
    """
    if item.kind != "tool_call":
        return None
    try:
        value: object = json.loads(item.text)
    except (ValueError, RecursionError):
        found = _CELL_COMMAND.search(item.text)
        return _unquoted(found[1]) if found else None
    if not isinstance(value, dict):
        return None
    arguments: dict[object, object] = dict(value)  # pyright: ignore[reportUnknownArgumentType]
    for key in ("cmd", "command"):
        command = arguments.get(key)
        if isinstance(command, str):
            return command
        if isinstance(command, list):
            words = [str(word) for word in command]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            shell = len(words) > 2 and words[1].startswith("-") and words[1].endswith("c")
            return words[2] if shell else " ".join(words)
    return None


_CELL_COMMAND = re.compile(r'\bcmd:\s*("(?:[^"\\]|\\.)*")')


def _unquoted(text: str) -> str | None:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


# --- budget ---


def token_limit(context_window: int | None) -> int:
    """Return the tokens a rollout may take of a context window; 150,000 when the window is not known (None or 0)."""
    if context_window is None or context_window <= 0:
        return DEFAULT_ROLLOUT_TOKEN_LIMIT
    effective = context_window * EFFECTIVE_WINDOW_PERCENT // 100
    return max(effective * CONTEXT_WINDOW_PERCENT // 100, 1)


def requests_for_parts(tokens: int, part_tokens: int) -> int:
    """Return how many requests reading in parts makes at most: so many for the parts, and one that merges them.

    Parts are of whole items, so that any two neighbours together are larger than one part may be.
    """
    return 2 * -(-tokens // part_tokens) + 1


def estimate_tokens(text: str) -> int:
    """Estimate tokens as UTF-8 bytes / 4, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def truncate_middle(text: str, limit_tokens: int) -> tuple[str, bool]:
    """Keep head and tail of a text within `limit_tokens` and name the gap; return (text, whether it was cut).

    The cut respects characters; the marker comes on top of the budget (reference §2.3).
    """
    data = text.encode("utf-8", "replace")
    budget = max(limit_tokens, 0) * BYTES_PER_TOKEN
    if len(data) <= budget:
        return text, False
    gap = -(-(len(data) - budget) // BYTES_PER_TOKEN)
    marker = f"…{gap} tokens truncated…"
    if budget == 0:
        return marker, True
    left = budget // 2
    right = len(data) - (budget - left)
    while _inside_character(data, left):
        left -= 1
    while right < len(data) and _inside_character(data, right):
        right += 1
    return data[:left].decode("utf-8") + marker + data[right:].decode("utf-8"), True


def _inside_character(data: bytes, index: int) -> bool:
    return data[index] & 0xC0 == 0x80


# --- rendering ---


def render_row(item: RolloutItem) -> str:
    """Write one item: a head line `[<line> <role> <kind> …]`, then its text with `| ` before every line.

    Only heads begin with `[`, so no text can end the transcript, open a row or close a fence; characters that
    break or hide lines are made visible.
    """
    place = item.line if item.line is not None else item.row
    words = [str(place) if place is not None else "-", _speaker(item), item.kind]
    if item.tool is not None and item.tool.name:
        words.append(one_line(item.tool.name).replace("]", ")"))
    if item.tool is not None and item.tool.failed:
        words.append("failed")
    body = visible(item.text.replace("\r\n", "\n").replace("\r", "\n"))
    return f"[{' '.join(words)}]\n| " + body.replace("\n", "\n| ") + "\n"


def _speaker(item: RolloutItem) -> str:
    return "host" if item.injected and item.role == "user" else item.role


def transcript_tokens(items: Iterable[RolloutItem]) -> int:
    """Estimate the tokens of the whole transcript, uncut."""
    size = sum(len(render_row(item).encode("utf-8", "replace")) for item in items)
    return -(-size // BYTES_PER_TOKEN)


def render_transcript(items: Iterable[RolloutItem], limit_tokens: int) -> tuple[str, int, int, bool]:
    """Write all items and cut the middle to the budget.

    Returns (text, tokens before the cut, tokens after it, whether it was cut).
    """
    whole = "".join(render_row(item) for item in items)
    before = estimate_tokens(whole)
    text, truncated = truncate_middle(whole, limit_tokens)
    return text, before, estimate_tokens(text), truncated
