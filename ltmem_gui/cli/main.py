"""The command line: global options anywhere, one module per group of commands, one place for errors and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ltmem_gui import __version__
from ltmem_gui.cli import (
    citations,
    demo,
    explain,
    gui,
    log,
    metrics,
    plans,
    preview,
    providers,
    queue,
    recover,
    redaction,
    review,
    rollouts,
)
from ltmem_gui.cli.context import Context
from ltmem_gui.domain.errors import Cancelled, ExitCode, KnownError, UsageError
from ltmem_gui.domain.hazards import visible
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.failure_words import TRACEBACK, checked_by, checked_words
from ltmem_gui.pipeline.ports import Adapters

AGENTS = ("codex", "claude")
INTERRUPTED = 130

GLOBAL_HELP = """\
global options, anywhere on the line:
  --home DIR            the data folder (queue, memories, receipts); need not exist
  --memory-root DIR     the memory folder (MEMORY.md, …); need not exist
  --source AGENT=DIR    a Codex home, a Claude folder, or any folder of session files; repeatable
  --set KEY=VALUE       override a setting for this call, e.g. max_rollout_age_days=3650; repeatable

exit codes: 0 done, 1 error or findings, 2 usage, 3 nothing to do, 4 refused (stale, busy, applied already)
"""


@dataclass(frozen=True)
class Surfaces:
    """What the composition root hands to the command line."""

    compose: Callable[[Path | None], Adapters]
    launch_window: Callable[[gui.WindowOptions], int]


def main(argv: Sequence[str], surfaces: Surfaces) -> int:
    """Run one command and return its exit code."""
    return run(argv, surfaces, sys.stdin, sys.stdout, sys.stderr)


def run(argv: Sequence[str], surfaces: Surfaces, stdin: TextIO, out: TextIO, err: TextIO) -> int:
    """Run one command on the given streams; what it prints of an error has passed the rules of redaction."""
    redact: Callable[[str], Redaction] = _by_the_rules
    try:
        shared, rest = _global_parser().parse_known_args(argv)
        args = _parser(surfaces).parse_args(rest or ["gui"])
        with closing(surfaces.compose(shared.home)) as adapters:
            redact = _by_the_settings(adapters)
            context = _context(shared, adapters, stdin, out, err)
            adapters.use_settings(context.settings)
            return int(args.run(args, context))
    except KnownError as error:
        err.write(f"ltmem-gui: {visible(str(checked_by(redact, error)))}\n")
        return int(error.exit_code)
    except (Cancelled, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`); pointing stdout at nothing keeps the interpreter's own flush quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except Exception:  # noqa: BLE001 - the outermost frame: a bug is reported in full
        err.write("ltmem-gui: an error in the program, not in your data; please report what follows\n")
        err.write(checked_words(redact, traceback.format_exc()[:TRACEBACK]))
        return int(ExitCode.ERROR)


def _by_the_rules(text: str) -> Redaction:
    # Imported on demand: most calls end without an error, and the rules take a while to load.
    from ltmem_gui.domain.redaction import redact_text

    return redact_text(text)


def _by_the_settings(adapters: Adapters) -> Callable[[str], Redaction]:
    """Return the redactor of this call, with the person's own patterns once the settings are read."""
    return lambda text: adapters.layer_redactor().redact(text)


def _global_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ltmem-gui", add_help=False, allow_abbrev=False)
    parser.add_argument("--home", type=_absolute)
    parser.add_argument("--memory-root", type=_absolute)
    parser.add_argument("--source", action="append", default=[], metavar="AGENT=DIR")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    return parser


def _parser(surfaces: Surfaces) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ltmem-gui",
        description="Long-term memory for coding agents: every effect is shown first and runs only on your yes.",
        epilog=GLOBAL_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ltmem-gui {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    gui.register(commands, surfaces.launch_window)
    for module in (
        demo,
        rollouts,
        preview,
        providers,
        plans,
        review,
        queue,
        citations,
        redaction,
        recover,
        log,
        metrics,
        explain,
    ):
        module.register(commands)
    return parser


def _context(shared: argparse.Namespace, adapters: Adapters, stdin: TextIO, out: TextIO, err: TextIO) -> Context:
    return Context(
        adapters=adapters,
        home=shared.home,
        memory_root=shared.memory_root,
        sources=tuple(_source(text) for text in shared.source),
        settings=Settings().with_overrides(shared.set),
        stdin=stdin,
        out=out,
        err=err,
    )


def _source(text: str) -> SourceSpec:
    agent, separator, path = text.partition("=")
    if not separator or agent not in AGENTS or not path:
        raise UsageError(f"--source {text!r} is not AGENT=DIR", f"AGENT is one of: {', '.join(AGENTS)}")
    return SourceSpec(agent, str(_absolute(path)))


def _absolute(text: str) -> Path:
    """Make a path absolute without resolving links: a symlinked folder must stay visible as one."""
    return Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100 - Path.absolute keeps `..`
