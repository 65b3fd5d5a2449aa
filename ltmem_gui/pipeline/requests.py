"""What a surface asks for: where to work, what to read, with which settings and provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.rollouts import SkippedFile, SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import ScannedRollout


@dataclass(frozen=True, slots=True)
class Request:
    """One wish of a person.

    `exclude` and `lift` hold thread ids that consolidation is to leave out or take in again; `edits` maps thread ids to
    the raw memory a person wrote instead; `take_again` holds keys of rejected hunks that may be proposed again. `note`
    and `refused` go with a new run of the agent: the person's remark on the last proposal, and what they turned down
    in it and in those before it. `projects` are folders of projects that were named, to look up cited files at their
    commits.
    """

    home: Path
    memory_root: Path | None = None
    sources: tuple[SourceSpec, ...] = ()
    settings: Settings = field(default_factory=Settings)
    provider: str = "builtin"
    exclude: frozenset[str] = frozenset()
    lift: frozenset[str] = frozenset()
    take_again: frozenset[str] = frozenset()
    edits: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    refused: tuple[RefusedHunk, ...] = ()
    projects: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanReport:
    """Every session that was found, newest first, each with every rule; and what could not be read."""

    rollouts: tuple[ScannedRollout, ...]
    skipped_files: tuple[SkippedFile, ...] = ()
