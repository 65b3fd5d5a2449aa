"""`explain`: why the memory is empty, the whole chain in words. Reads only."""

from __future__ import annotations

import argparse
import asyncio

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.errors import ExitCode
from ltmem_gui.pipeline.explain import explain_all
from ltmem_gui.pipeline.requests import Request


def register(commands: Subparsers) -> None:
    """Add the command that explains an empty memory."""
    explain = commands.add_parser("explain", help="say why the memory is empty, from the folders to the files")
    explain.add_argument("--json", action="store_true")
    explain.set_defaults(run=_run_explain)


def _run_explain(args: argparse.Namespace, context: Context) -> int:
    request = Request(
        home=context.need_home(),
        memory_root=context.memory_root,
        sources=context.sources,
        settings=context.settings,
    )
    lines = asyncio.run(explain_all(context.adapters, request))
    if args.json:
        context.print_json({"lines": list(lines)})
    else:
        for line in lines:
            context.say(line)
    return int(ExitCode.DONE)
