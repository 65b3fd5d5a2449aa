"""`gui`, the default command: hand over to the window."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings


@dataclass(frozen=True)
class WindowOptions:
    """What the command line names for the window; folders named here are shown, and read on a press.

    `demo` opens the demo at once, in a fresh folder of its own: asking for it is the confirmation, for that folder.
    """

    home: Path | None
    memory_root: Path | None
    sources: tuple[SourceSpec, ...]
    settings: Settings
    demo: bool = False


def register(commands: Subparsers, launch: Callable[[WindowOptions], int]) -> None:
    """Add the command that opens the window."""
    parser = commands.add_parser("gui", help="open the window (the default)")

    parser.add_argument("--demo", action="store_true", help="open the demo, in a fresh folder of its own")

    def run(args: argparse.Namespace, context: Context) -> int:
        folders = (context.home, context.memory_root, context.sources)
        return launch(WindowOptions(*folders, context.settings, demo=getattr(args, "demo", False)))

    parser.set_defaults(run=run)
