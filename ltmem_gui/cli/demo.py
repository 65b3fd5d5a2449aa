"""`demo`: the main job on sample rollouts, in a fresh folder of its own.

Starting it is the confirmation, for that folder only: the folder and the effects are named first, an existing folder is
refused, and every approval is marked `demo` in the receipts. Real folders have no such path.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.cli.render import describe_plan, describe_receipt
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.errors import ExitCode, InputError
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.pipeline.demo import DemoFolder, demo_folder, lay_demo
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request


def register(commands: Subparsers) -> None:
    """Add the demo."""
    parser = commands.add_parser("demo", help="run the main job on sample rollouts in a fresh folder of its own")
    parser.add_argument("--into", metavar="DIR", help="the folder to create (default: a new temporary folder)")
    parser.set_defaults(run=_run_demo)


def _run_demo(args: argparse.Namespace, context: Context) -> int:
    folder = demo_folder(Path(args.into).absolute() if args.into else _fresh_name())
    if folder.top.exists():
        raise InputError(
            "the folder exists; the demo only works in one of its own", "name another: --into DIR", str(folder.top)
        )
    context.say(f"The demo creates this folder and writes only below it: {folder.top}")
    context.say("  sessions/  sample rollouts    home/  queue, memories, receipts    memory/  the memory folder")
    context.say("  Built-in rules, no AI model, nothing leaves this computer. Receipts are marked: demo.")
    context.say()
    asyncio.run(_run(folder, context))
    return ExitCode.DONE


def _fresh_name() -> Path:
    with tempfile.TemporaryDirectory(prefix="ltmem-demo-") as name:
        return Path(name)


async def _run(folder: DemoFolder, context: Context) -> None:
    operations = Operations(context.adapters)
    request: Request = lay_demo(folder, context.adapters)
    context.say("== Phase 1: extract ==")
    await _confirm(context, operations, await operations.plan_extract(request, cancel=CancelToken(), listen=ignore))
    context.say("== Phase 2: consolidate ==")
    await _confirm(context, operations, await operations.plan_consolidate(request, cancel=CancelToken(), listen=ignore))
    snapshot = await operations.read_folder(folder.memory_root)
    context.say(f"== The memory folder {folder.memory_root} ==")
    for path, file in sorted(snapshot.files.items()):
        context.say(f"  {len(file.data):>7}  {path}")
    for name in ("memory_summary.md", "MEMORY.md"):
        context.say()
        context.say(f"== {name} ==")
        context.say(snapshot.files[name].data.decode("utf-8"))
    context.say(f"Kept in {folder.top}; delete the folder when you are done.")


async def _confirm(context: Context, operations: Operations, plan: Plan) -> Receipt | None:
    describe_plan(context, plan)
    if plan.state is PlanState.EMPTY:
        return None
    grant = await operations.approve(plan, all_accepted(plan), approver="demo", surface="demo")
    receipt = await operations.apply(grant, cancel=CancelToken(), listen=ignore)
    describe_receipt(context, receipt)
    context.say()
    return receipt
