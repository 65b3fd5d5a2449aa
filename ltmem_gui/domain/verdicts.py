"""The stored form of one verdict of an audit sitting (what it means is the audit's matter)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One line of the append-only table of verdicts.

    `item` names the citation, `binding` the hashes of claim and evidence it was given for; `at` in Unix seconds;
    `thread_ids` the threads the note may speak of, so that forgetting them forgets it.
    """

    at: int
    rater: str
    frame: str
    item: str
    verdict: str
    note: str = ""
    binding: str = ""
    thread_ids: tuple[str, ...] = ()
