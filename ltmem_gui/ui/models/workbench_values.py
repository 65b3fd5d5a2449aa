"""What the workbench knows and says, as values: the folders a person named, what was read of them, a line to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ltmem_gui.domain.consent import Receipt, Surface
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.jobs import JobRecord
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.standing import Standing


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders a person named; None and empty where none was. Naming is not reading."""

    sources: tuple[SourceSpec, ...] = ()
    memory_root: Path | None = None
    home: Path | None = None
    demo: bool = False

    @property
    def can_scan(self) -> bool:
        """Tell whether there is something to scan."""
        return bool(self.sources)


@dataclass(frozen=True, slots=True)
class Task:
    """What one task is for, taken once when it starts: folders, settings and models, and the place of its approvals."""

    request: Request
    consolidator: str
    surface: Surface


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read so far, on request only."""

    report: ScanReport | None = None
    jobs: tuple[JobRecord, ...] = ()
    receipts: tuple[Receipt, ...] | None = None
    watermark: int | None = None
    snapshot: WorkspaceSnapshot | None = None
    inbox: tuple[InboxLine, ...] | None = None
    excluded: Mapping[str, str] = field(default_factory=dict[str, str])
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A line for the message bar; `kind` is info, good, warning or error."""

    kind: str
    text: str
    remedy: str = ""
    action: str = ""
