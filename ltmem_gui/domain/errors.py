"""The three classes of error: known (in words), bug (anything else), cancelled (silent).

A known error names what happened, where, and what to do about it. Whatever is raised and is not one of
these is a bug and goes to the crash report (design §"Errors").
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from ltmem_gui.domain.tokens import TokenUsage


class ExitCode(IntEnum):
    """Name the exit codes of the command line; they are an interface and never change."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    NOTHING_TO_DO = 3
    REFUSED = 4


@dataclass(eq=False)
class KnownError(Exception):
    """Tell a person what went wrong, where, and what they can do.

    `where` is a path, a setting or a host; `line` counts bytes 0x0A from 1.
    """

    what: str
    remedy: str = ""
    where: str = ""
    line: int | None = None
    exit_code: ClassVar[ExitCode] = ExitCode.ERROR

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        parts = [f"{place}: {self.what}" if place else self.what]
        if self.remedy:
            parts.append(self.remedy)
        return " — ".join(parts)


class UsageError(KnownError):
    """A command line, setting or request that cannot be meant as written."""

    exit_code = ExitCode.USAGE


class InputError(KnownError):
    """A file or folder that cannot be used as it is; it costs only itself."""


class DatabaseDamaged(InputError):
    """The database cannot be read any more; the next confirmed run sets it aside and starts a new one."""


class NothingToDo(KnownError):
    """A request that would change nothing; a success of its own name."""

    exit_code = ExitCode.NOTHING_TO_DO


@dataclass(eq=False)
class ProviderError(KnownError):
    """A model provider did not give a usable answer.

    `group` is the failure group of the queue (`rate_limit`, `quota`, `timeout`, …); `retry_after` is in
    seconds when the server named a time. `usage` is what the answers took all the same.
    """

    group: str = "provider"
    retry_after: int | None = None
    usage: TokenUsage | None = None


class RedactionFailed(KnownError):
    """The redactor raised: the text at hand is neither sent nor written (fail closed)."""


class RefusedError(KnownError):
    """An effect that was asked for and is not carried out."""

    exit_code = ExitCode.REFUSED


class StalePlan(RefusedError):
    """The world moved since the plan was made."""


class WrongDigest(RefusedError):
    """The digest given is not the plan's, or the plan was altered."""


class AlreadyApplied(RefusedError):
    """The plan has a receipt already."""


class GrantMissing(RefusedError):
    """An effect was asked for without a grant."""


class GrantReused(RefusedError):
    """A grant is good for one apply."""


class GrantExpired(RefusedError):
    """Too much time passed since the approval."""


class WorkspaceMoved(StalePlan):
    """A file, its mode or the baseline is not what the plan was made from."""


class LockBusy(RefusedError):
    """Another run holds the global lock."""


class LeaseLost(RefusedError):
    """Another worker took the lease over; the result of this one is refused."""


class BlockedByFindings(RefusedError):
    """A blocking finding is open."""


class Undecided(RefusedError):
    """Not every hunk has a decision."""


class Cancelled(Exception):
    """A person or a shutdown ended the work; shown nowhere."""
