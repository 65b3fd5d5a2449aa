"""Actions on the queue and the inbox from the command line: small plans, confirmed like any other, and a listing."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ltmem_gui.cli.context import Command, Context, Subparsers
from ltmem_gui.cli.render import describe_plan
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import ExitCode, UsageError
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.jobs import GLOBAL_KEY
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.row_plans import InboxWish, threads_of_group

# What `ltmem-gui jobs` calls the one job of Phase 2.
CONSOLIDATION = "consolidation"

_ROW_HELP = {
    QueueAction.RETRY: "end the back-off of failed jobs and give them all tries",
    QueueAction.HOLD: "let no run take these jobs until they are released",
    QueueAction.RELEASE: "let held jobs be taken again",
    QueueAction.EXCLUDE: "leave sessions out of the memory until lifted; the folder changes with the next plan",
    QueueAction.LIFT: "take sessions in again",
}
_RUN_HELP = {
    "run": (QueueAction.RUN, "extract these sessions now, whatever their age"),
    "larger": (QueueAction.LARGER, "extract them again with twice the context window"),
    "smaller": (QueueAction.SMALLER, "extract them again with half the context window"),
    "split": (QueueAction.SPLIT, "extract sessions that are too large in parts, and merge them"),
}


def register(commands: Subparsers) -> None:
    """Add the command that lists the inbox."""
    inbox = commands.add_parser("inbox", help="list the uncertain lines that wait for you")
    inbox.add_argument("--json", action="store_true")
    inbox.set_defaults(run=_run_inbox)


def add_queue_plans(kinds: Subparsers) -> None:
    """Add the plans that change rows, and those for sessions a person points at, below `plan`."""
    for action, text in _ROW_HELP.items():
        parser = _plan_parser(kinds, action.value, text)
        named = "THREAD, or consolidation" if action is QueueAction.RETRY else "THREAD"
        parser.add_argument("threads", nargs="*", metavar="THREAD", help=named)
        if action is QueueAction.RETRY:
            parser.add_argument("--group", default="", help="every job that failed for this cause, e.g. rate_limit")
        parser.set_defaults(run=_of_action(action), provider="builtin")
    for name, (action, text) in _RUN_HELP.items():
        parser = _plan_parser(kinds, name, text)
        parser.add_argument("threads", nargs="+", metavar="THREAD")
        parser.add_argument("--provider", default="builtin", help="builtin (default; no AI model) or a name")
        parser.set_defaults(run=_of_action(action))
    inbox = _plan_parser(kinds, "inbox", "take, reword or drop lines of the inbox (their ids: ltmem-gui inbox)")
    inbox.add_argument("--take", action="append", default=[], type=int, metavar="ID")
    inbox.add_argument("--drop", action="append", default=[], type=int, metavar="ID")
    inbox.add_argument("--reword", action="append", default=[], metavar="ID=TEXT")
    inbox.set_defaults(run=_run_plan_inbox, provider="builtin")


def _plan_parser(kinds: Subparsers, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(name, help=text)
    parser.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
    return parser


def _of_action(action: QueueAction) -> Command:
    def run(args: argparse.Namespace, context: Context) -> int:
        return _print(args, context, _plan_action(action, args, context))

    return run


async def _plan_action(action: QueueAction, args: argparse.Namespace, context: Context) -> Plan:
    operations = Operations(context.adapters)
    request = _request(args, context)
    threads: Sequence[str] = [GLOBAL_KEY if thread == CONSOLIDATION else thread for thread in args.threads]
    if getattr(args, "group", ""):
        threads = (*threads, *await threads_of_group(context.adapters, request, args.group))
    elif not threads:
        raise UsageError("no thread was named", "name threads; ltmem-gui jobs lists them")
    return await operations.plan_queue_action(request, action, threads, cancel=CancelToken(), listen=ignore)


def _run_plan_inbox(args: argparse.Namespace, context: Context) -> int:
    wishes = [InboxWish(line, "take") for line in args.take]
    wishes += [InboxWish(line, "drop") for line in args.drop]
    wishes += [_reword(text) for text in args.reword]
    if not wishes:
        raise UsageError(
            "no line was named", "give --take ID, --drop ID or --reword ID=TEXT; ltmem-gui inbox lists them"
        )
    return _print(args, context, Operations(context.adapters).plan_inbox(_request(args, context), wishes))


def _reword(text: str) -> InboxWish:
    line, separator, words = text.partition("=")
    if not separator or not line.strip().isascii() or not line.strip().isdecimal():
        raise UsageError(f"--reword {text!r} is not ID=TEXT", "write --reword ID=TEXT")
    return InboxWish(int(line), "reword", words)


def _run_inbox(args: argparse.Namespace, context: Context) -> int:
    lines = asyncio.run(Operations(context.adapters).inbox(context.need_home()))
    now = context.adapters.clock()
    if args.json:
        context.print_json({"inbox": [_line_json(line) for line in lines]})
        return int(ExitCode.DONE)
    for line in lines:
        context.say(_line_text(line, now))
    if not lines:
        context.say("the inbox is empty")
    return int(ExitCode.DONE)


def _line_json(line: InboxLine) -> dict[str, Any]:
    return asdict(line) | {"expires_at": line.expires_at}


def _line_text(line: InboxLine, now: int) -> str:
    place = line.thread_id if line.line is None else f"{line.thread_id}:{line.line}"
    until = datetime.fromtimestamp(line.expires_at, UTC).strftime("%Y-%m-%d")
    age = max(0, now - line.created_at) // 86_400
    head = f"{line.id:>5}  score {line.score}  {one_line(line.kind)}  {age} days old, until {until}  {place}"
    return f"{head}\n       {one_line(line.text, 400)}"


def _request(args: argparse.Namespace, context: Context) -> Request:
    return Request(
        home=context.need_home(),
        memory_root=context.memory_root,
        sources=context.sources,
        settings=context.settings,
        provider=args.provider,
    )


def _print(args: argparse.Namespace, context: Context, planning: Coroutine[Any, Any, Plan]) -> int:
    plan = asyncio.run(planning)
    if args.json:
        context.print_json(plan.model_dump(mode="json"))
    else:
        describe_plan(context, plan)
    return int(ExitCode.NOTHING_TO_DO if plan.state is PlanState.EMPTY else ExitCode.DONE)
