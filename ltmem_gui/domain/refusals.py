"""Hunks a person rejected: kept by content, so that they are known again wherever they return."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.memory_document import Group, read_document


@dataclass(frozen=True, slots=True)
class RefusedHunk:
    """One rejected change.

    `old` and `new` are whole lines with their terminators; `thread_ids` name the threads the lines may rest on, so
    that forgetting one of them forgets the text, and without any each forgetting does; `refused_at` in Unix seconds.
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


def resting_on(
    old: Sequence[str], new: Sequence[str], *, selected: Collection[str], known: Iterable[str]
) -> tuple[str, ...]:
    """Return the threads that the lines of a change may rest on, sorted.

    Whole task groups name theirs. Any other lines may rest on each thread that was `selected` for the proposal, and on
    those of the `known` ones that they name.
    """
    found: set[str] = set()
    for text in filter(None, ("".join(old), "".join(new))):
        named = _named_by_groups(text)
        found.update(selected if named is None else ())
        found.update(named or ())
        lower = text.lower()
        found.update(thread for thread in known if thread.lower() in lower)
    return tuple(sorted(found))


def _named_by_groups(text: str) -> set[str] | None:
    """Return the threads that task groups name, None where a line is outside of a whole one."""
    found: set[str] = set()
    for part in read_document(text).parts:
        if not isinstance(part, Group) or not part.citations.rollout_ids:
            return None
        found.update(part.citations.rollout_ids)
        found.update(entry.thread_id for entry in part.citations.entries if entry.thread_id)
        found.update(reference.thread_id for task in part.tasks for reference in task.files if reference.thread_id)
    return found
