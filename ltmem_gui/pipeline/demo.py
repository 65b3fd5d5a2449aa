"""The demo's own folder: sample rollouts with dates moved to the present, so that it works on any day."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.pipeline.ports import Adapters
from ltmem_gui.pipeline.requests import Request


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """The parts of one demo folder."""

    top: Path
    sessions: Path
    home: Path
    memory_root: Path


def demo_folder(top: Path) -> DemoFolder:
    """Name the parts of a demo folder; nothing is created."""
    return DemoFolder(top, top / "sessions", top / "home", top / "memory")


def lay_demo(folder: DemoFolder, adapters: Adapters) -> Request:
    """Create the demo folder (0700) with the sample rollouts, the newest a day old; return what to run on it."""
    folder.top.mkdir(mode=0o700)
    adapters.lay_samples(folder.sessions, adapters.clock())
    return Request(
        home=folder.home,
        memory_root=folder.memory_root,
        sources=(SourceSpec("codex", str(folder.sessions)),),
    )
