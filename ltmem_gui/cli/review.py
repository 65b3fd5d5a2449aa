"""`review`: a plan with decisions, put into a form to keep or hand on."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.cli.plans import read_plan
from ltmem_gui.domain.diffing.files import decode_text
from ltmem_gui.domain.errors import ExitCode, RefusedError
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.review import review_from_flags
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.review_export import TITLES, ReviewExport, ReviewFormat, export_review


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("review", help="a plan with your decisions as Markdown, JSON or a patch; redacted")
    parser.add_argument("--plan", required=True, metavar="FILE|-")
    parser.add_argument("--format", choices=tuple(TITLES), default="markdown", help="default: markdown")
    parser.add_argument("--accept", action="append", default=[], metavar="FILE:HUNK")
    parser.add_argument("--reject", action="append", default=[], metavar="FILE:HUNK")
    parser.add_argument("--rest", choices=("accept", "reject"), help="what becomes of the hunks not named")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a new file (default: standard output)")
    parser.add_argument("--replace", action="store_true", help="let --out replace a file that is there")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace, context: Context) -> int:
    plan = read_plan(args.plan, context)
    made = asyncio.run(_export(args, context, plan))
    if args.out is None:
        context.out.write(made.text)
        return int(ExitCode.DONE)
    asyncio.run(_write(args, context, plan, made))
    return int(ExitCode.DONE)


async def _export(args: argparse.Namespace, context: Context, plan: Plan) -> ReviewExport:
    """Put the review into its form; the memory folder is read for the lines around a patch."""
    operations = Operations(context.adapters)
    base: dict[str, bytes] = {}
    if plan.memory_root:
        snapshot = await operations.read_folder(Path(plan.memory_root))
        base = {path: file.data for path, file in snapshot.files.items()}
    texts = {path: text for path, data in base.items() if (text := decode_text(data)) is not None}
    review = review_from_flags(plan, accept=args.accept, reject=args.reject, rest=args.rest, texts=texts)
    form: ReviewFormat = args.format
    return await export_review(context.adapters, review, base, form)


async def _write(args: argparse.Namespace, context: Context, plan: Plan, made: ReviewExport) -> None:
    outside = Operations(context.adapters).outside
    data = made.text.encode("utf-8", "surrogateescape")
    roots = tuple(Path(name) for name in (plan.memory_root, plan.home) if name)
    act = await outside.plan_copy(args.out.absolute(), data, "review", roots=roots, redactions=made.redactions)
    if act.replaces is not None and not args.replace:
        raise RefusedError("the file is there already", "name a new file, or add --replace", act.path)
    await outside.write(outside.approve(act), data)
    context.say(f"written: {act.path}")
