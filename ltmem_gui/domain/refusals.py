"""Hunks a person rejected: kept by content, so that they are known again wherever they return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ltmem_gui.domain.canonical import digest


@dataclass(frozen=True, slots=True)
class RefusedHunk:
    """One rejected change.

    `old` and `new` are whole lines with their terminators; `thread_ids` name the threads the new lines rest on, so
    that forgetting one of them forgets the text; `refused_at` in Unix seconds.
    """

    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    refused_at: int
    note: str = ""
    thread_ids: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return what makes two hunks the same: path and content, not position."""
        return hunk_key(self.path, self.old, self.new)


def hunk_key(path: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Return the content key of a hunk."""
    return digest([path, list(old), list(new)])
