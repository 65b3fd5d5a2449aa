"""The steps of an apply by name: for messages, journals and the faults that tests ask for."""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """The sequence of an apply; `journal` is the last step after which nothing has happened to the folder."""

    CLAIM = "claim"
    LOCK = "lock"
    RECHECK = "recheck"
    JOURNAL = "journal"
    STAGE = "stage"
    WRITE = "write"
    DELETE = "delete"
    REMOVE_DIFF = "remove-diff"
    OWNERSHIP = "ownership"
    BASELINE = "baseline"
    RECORD = "record"
    CLEANUP = "cleanup"
    UNLOCK = "unlock"
