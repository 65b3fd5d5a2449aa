"""What a surface asks for: where to work, what to read, with which settings and provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ltmem_gui.domain.rollouts import SkippedFile, SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import ScannedRollout


@dataclass(frozen=True, slots=True)
class Request:
    """One wish of a person; `exclude` holds thread ids that consolidation is to leave out."""

    home: Path
    memory_root: Path | None = None
    sources: tuple[SourceSpec, ...] = ()
    settings: Settings = field(default_factory=Settings)
    provider: str = "builtin"
    exclude: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ScanReport:
    """Every session that was found, newest first, each with every rule; and what could not be read."""

    rollouts: tuple[ScannedRollout, ...]
    skipped_files: tuple[SkippedFile, ...] = ()
