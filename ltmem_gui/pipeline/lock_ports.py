"""What the use cases need to know of the lock of a memory folder; part of `ports`, which adapters import."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ltmem_gui.domain.jobs import Owner


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who holds the lock of a memory root."""

    owner: str
    since: int


class RootLock(Protocol):
    """The OS lock of a memory root, the same for every data folder of this person."""

    def acquire(self, root: Path, owner: Owner) -> AbstractContextManager[None]:
        """Hold the root. Raises `LockBusy` naming the holder."""
        ...

    def holder(self, root: Path) -> LockHolder | None:
        """Return who holds the root; None when nobody does, or its holder died on this host. Writes nothing."""
        ...


class LockAdapters(Protocol):
    """What of the adapters looks at locks."""

    @property
    def locks(self) -> RootLock: ...
