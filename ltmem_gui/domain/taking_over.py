"""Which of the memories that Codex keeps are taken over: newer ones, and never backwards (reference §3.1, §3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.extraction import StageOneOutput

TAKE_OVER = "take-over"
MAX_ID_CHARACTERS = 200

Change = Literal["added", "replaced", "usage"]


@dataclass(frozen=True, slots=True)
class KeptRow:
    """One memory as Codex keeps it.

    `selected_at` is the `source_updated_at` it was selected with last, None when it is not in Codex's last baseline.
    `known`: Codex's threads still name the session; it is never selected otherwise.
    """

    output: StageOneOutput
    selected_at: int | None = None
    known: bool = True


def change_of(kept: StageOneOutput, ours: StageOneOutput | None) -> Change | None:
    """Tell what a kept row would change here, None where it would not; ours stays when it is as new.

    Usage is taken by its larger count and later time: both programs may have counted the same citations.
    """
    if ours is None:
        return "added"
    if kept.source_updated_at > ours.source_updated_at:
        return "replaced"
    more = (kept.usage_count or 0) > (ours.usage_count or 0) or (kept.last_usage or 0) > (ours.last_usage or 0)
    return "usage" if more else None


def headline(summary: str) -> str:
    """Return what a summary calls its session: its first line that says something, without the mark of a heading."""
    return next((line.lstrip("# ").strip() for line in summary.split("\n") if line.strip("# \r\t")), "")


def is_thread_id(text: str) -> bool:
    """Tell whether a text can name a thread: short, not blank, on one line and visible."""
    return bool(text.strip()) and len(text) <= MAX_ID_CHARACTERS and text.isprintable()


def unfit(kept: KeptRow) -> str:
    """Say why a row is not taken over whatever is kept here, empty when nothing speaks against it."""
    output = kept.output
    if not is_thread_id(output.thread_id):
        return "its thread id is none"
    if not kept.known:
        return "its session is not among Codex's threads any more, so that Codex leaves it out too"
    if not output.raw_memory.strip() and not output.rollout_summary.strip():
        return "it holds no text"
    return ""
