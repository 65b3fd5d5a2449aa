"""The inbox: lines the built-in provider was unsure of, for a person to take, reword or drop.

At most 6 open lines a rollout and 200 in all, for 30 days; a dropped line never returns, wherever it is found again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.extraction import Candidate

INBOX_PER_ROLLOUT: Final = 6
INBOX_TOTAL: Final = 200
INBOX_EXPIRY_SECONDS: Final = 30 * 86_400


@dataclass(frozen=True, slots=True)
class InboxLine:
    """One open line: quoted text, where it was said, and since when it waits (Unix seconds). `line` as in rollouts."""

    id: int
    thread_id: str
    text: str
    line: int | None
    kind: str
    score: int
    created_at: int

    @property
    def expires_at(self) -> int:
        """Return when the line goes unseen."""
        return self.created_at + INBOX_EXPIRY_SECONDS


def line_key(text: str) -> str:
    """Return what makes two lines the same: the words, without case and spacing, as a hash."""
    return digest(" ".join(text.split()).casefold())


def is_open(line: InboxLine, now: int) -> bool:
    """Tell whether a line still waits."""
    return now < line.expires_at


def admit(candidates: Iterable[Candidate], decided: Collection[str]) -> tuple[Candidate, ...]:
    """Return the candidates of one rollout that may wait, best first; `decided` holds keys of decided lines."""
    taken: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=_rank):
        key = line_key(candidate.text)
        if candidate.text.strip() and key not in decided and key not in taken:
            taken[key] = candidate
    return tuple(taken.values())[:INBOX_PER_ROLLOUT]


def overflow(lines: Sequence[InboxLine]) -> tuple[int, ...]:
    """Return the ids of the lines that are too many: the lowest scores go first, then the oldest."""
    surplus = max(0, len(lines) - INBOX_TOTAL)
    worst = sorted(lines, key=lambda line: (line.score, line.created_at, line.id))
    return tuple(line.id for line in worst[:surplus])


def bullet(text: str, thread_id: str, line: int | None) -> str:
    """Return the bullet that a taken line becomes; the citation has the form of design §5.3."""
    flat = " ".join(text.split())
    if line is None:
        return f"- {flat}"
    return f"- {flat} (rollout:{thread_id}:{line}-{line} |note=[taken from the inbox])"


def with_bullet(raw_memory: str, taken: str, kind: str) -> str:
    """Return a raw memory with one more bullet at its end, under the label of its kind (reference §8.1)."""
    body = raw_memory.rstrip()
    label = _label(kind)
    lines = body.split("\n")
    labels = [line for line in lines if line in _LABELS]
    if labels[-1:] != [label] or not (lines[-1] == label or lines[-1].startswith("-")):
        body = f"{body}\n\n{label}"
    return f"{body}\n{taken}\n"


def first_memory(cwd: str) -> tuple[str, str]:
    """Return raw memory and summary of a thread of which only taken lines are kept (reference §8.1, §8.2)."""
    title = "Lines kept from the inbox"
    head = (
        f"---\ndescription: {title}\ntask: {title}\ntask_group: {cwd or 'unknown'}\ntask_outcome: uncertain\n"
        f"cwd: {cwd or 'unknown'}\nkeywords: inbox\n---\n\n### Task 1: {title}\n\n"
        f"task: {title}\ntask_group: {cwd or 'unknown'}\ntask_outcome: uncertain\n"
    )
    summary = f"# {title}\n\nRollout context: a person kept single lines of this session.\n"
    return head, summary


_FAILURES = "Failures and how to do differently:"
_PREFERENCES = "Preference signals:"
_KNOWLEDGE = "Reusable knowledge:"
_LABELS = frozenset({_FAILURES, _PREFERENCES, _KNOWLEDGE})


def _label(kind: str) -> str:
    if "fail" in kind:
        return _FAILURES
    if any(word in kind for word in ("preference", "correction", "constraint")):
        return _PREFERENCES
    return _KNOWLEDGE


def _rank(candidate: Candidate) -> tuple[int, int, str]:
    return (-candidate.score, candidate.line if candidate.line is not None else 0, candidate.text)
