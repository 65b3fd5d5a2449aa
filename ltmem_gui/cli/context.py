"""What a command gets: where it works, what it may ask for, and where it prints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.hazards import visible
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import Adapters

Subparsers = Any  # argparse keeps the real type private


@dataclass(frozen=True)
class Context:
    """One call of the command line. Paths are as the person gave them; None where not given."""

    adapters: Adapters
    home: Path | None
    memory_root: Path | None
    sources: tuple[SourceSpec, ...]
    settings: Settings
    stdin: TextIO
    out: TextIO
    err: TextIO

    def need_home(self) -> Path:
        """Return the data folder. Raises `UsageError` when none was named."""
        if self.home is None:
            raise UsageError("no data folder was named", "give --home DIR")
        return self.home

    def need_memory_root(self) -> Path:
        """Return the memory folder. Raises `UsageError` when none was named."""
        if self.memory_root is None:
            raise UsageError("no memory folder was named", "give --memory-root DIR")
        return self.memory_root

    def say(self, text: str = "") -> None:
        """Print a line for a person; hidden characters are made visible."""
        self.out.write(visible(text) + "\n")

    def warn(self, text: str) -> None:
        """Print a line beside the result."""
        self.err.write(visible(text) + "\n")

    def print_json(self, value: object) -> None:
        """Print one JSON document, ASCII only, so that any terminal and any text survives."""
        self.out.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


Command = Callable[[argparse.Namespace, Context], int]
