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
    """What the command line names for the window; folders named here are shown, and read on a press."""

    home: Path | None
    memory_root: Path | None
    sources: tuple[SourceSpec, ...]
    settings: Settings


def register(commands: Subparsers, launch: Callable[[WindowOptions], int]) -> None:
    """Add the command that opens the window."""
    parser = commands.add_parser("gui", help="open the window (the default)")

    def run(args: argparse.Namespace, context: Context) -> int:
        del args
        return launch(WindowOptions(context.home, context.memory_root, context.sources, context.settings))

    parser.set_defaults(run=run)
