"""What the use cases need to know of a Codex home; part of `ports`, which adapters import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ltmem_gui.domain.taking_over import KeptRow


@dataclass(frozen=True, slots=True)
class ForeignLease:
    """A consolidation that another program runs on the same folder: who, and until when (Unix seconds)."""

    holder: str
    until: int


@dataclass(frozen=True, slots=True)
class ForeignMemories:
    """What Codex keeps in its own database `where`: its rows, how far it has worked, its lease while it consolidates.

    `done` maps thread id → the watermark up to which Codex has extracted it, also when it found nothing to remember;
    `watermark` is the consolidation's. Unix seconds.
    """

    where: str
    rows: tuple[KeptRow, ...]
    lease: ForeignLease | None = None
    done: Mapping[str, int] = field(default_factory=dict[str, int])
    watermark: int = 0


class CodexAdapters(Protocol):
    """Look into a Codex home through a private copy; nothing below it is changed, locked or created."""

    def foreign_memories(self, root: Path) -> ForeignMemories | None:
        """Return what Codex keeps for this memory folder, None where it is not Codex's. Raises `InputError`."""
        ...

    def codex_home(self, home: Path) -> ForeignMemories | None:
        """Return what Codex keeps in a home the person named, None where it keeps no memories. Raises `InputError`."""
        ...
