"""`plan`, `show` and `apply`: a plan is printed, looked at, and applied exactly as its digest names it."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
from dataclasses import replace
from pathlib import Path

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.cli.queue import add_queue_plans
from ltmem_gui.cli.render import describe_plan, describe_receipt
from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.agent_kept import in_lines
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Receipt, Selection
from ltmem_gui.domain.errors import ExitCode, InputError, StalePlan, UsageError, WrongDigest
from ltmem_gui.domain.events import Event, JobFinished, Listener, RunSpent, ignore
from ltmem_gui.domain.hazards import visible
from ltmem_gui.domain.jobs import JobOutcome
from ltmem_gui.domain.plan import Plan, PlanState, load_plan, newly_left_out
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.domain.review import from_flags, review_from_flags
from ltmem_gui.domain.turned_down import rejected
from ltmem_gui.pipeline.maintenance import FORGOTTEN
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request

MAX_PLAN_BYTES = 512 * 1024 * 1024


def register(commands: Subparsers) -> None:
    """Add the commands that make, show and apply plans."""
    plan = commands.add_parser("plan", help="work out what would happen; writes nothing, takes no lock")
    kinds = plan.add_subparsers(dest="kind", required=True, metavar="KIND")
    add_queue_plans(kinds)
    extract = kinds.add_parser("extract", help="which rollouts would be extracted, and what would leave this computer")
    consolidate = kinds.add_parser("consolidate", help="what the memory folder would become")
    for parser in (extract, consolidate):
        parser.add_argument(
            "--provider", default="builtin", help="builtin (default; no AI model, no network) or a name"
        )
        parser.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
    consolidate.add_argument(
        "--exclude", action="append", default=[], metavar="THREAD", help="leave this thread's memory out"
    )
    extract.set_defaults(run=_run_plan_extract)
    consolidate.add_argument(
        "--take-again", action="append", default=[], metavar="KEY", help="let a rejected hunk be proposed again"
    )
    consolidate.add_argument("--lift", action="append", default=[], metavar="THREAD", help="take it in again")
    consolidate.add_argument(
        "--edit", action="append", default=[], metavar="THREAD=FILE", help="replace this thread's raw memory"
    )
    consolidate.add_argument("--note", default="", help="a remark for a model that proposes anew")
    consolidate.add_argument(
        "--proposal", metavar="FILE|-", help="the proposal to be made anew; what was rejected before it goes along"
    )
    consolidate.add_argument(
        "--reject",
        action="append",
        default=[],
        metavar="FILE:HUNK",
        help="a hunk of --proposal that you reject: it is told, and found when it returns",
    )
    consolidate.set_defaults(run=_run_plan_consolidate)
    undo = kinds.add_parser("undo", help="take the last apply back, within 24 hours")
    forget = kinds.add_parser("forget", help="forget one session: rows, files, citations, git objects")
    forget.add_argument("thread", metavar="THREAD")
    taken = kinds.add_parser(
        "take-over", help="take over the memories Codex keeps in its own home; newer ones here stay"
    )
    taken.add_argument("--codex-home", required=True, type=Path, metavar="DIR", help="e.g. ~/.codex; only read")
    taken.set_defaults(run=_run_plan_take_over, provider="builtin")
    taken.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
    clear = kinds.add_parser("clear", help="empty the memory folder and delete every row")
    redact = kinds.add_parser("redact", help="take the secrets out of the memory folder and out of its git objects")
    beside = ((undo, _run_plan_undo), (forget, _run_plan_forget), (clear, _run_plan_clear), (redact, _run_plan_redact))
    for parser, run in beside:
        parser.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
        parser.set_defaults(run=run, provider="builtin")

    show = commands.add_parser("show", help="show a plan in words")
    show.add_argument("--plan", required=True, metavar="FILE|-")
    show.add_argument("--json", action="store_true")
    show.set_defaults(run=_run_show)

    apply = commands.add_parser("apply", help="carry out exactly the plan that --digest names")
    apply.add_argument("--plan", required=True, metavar="FILE|-")
    apply.add_argument("--digest", required=True, help="the digest printed in the plan: your confirmation")
    apply.add_argument("--accept", action="append", default=[], metavar="FILE:HUNK")
    apply.add_argument("--reject", action="append", default=[], metavar="FILE:HUNK")
    apply.add_argument("--rest", choices=("accept", "reject"), help="what becomes of the hunks not named")
    apply.add_argument("--override", action="append", default=[], metavar="ID=REASON", help="pass a blocking finding")
    apply.add_argument("--json", action="store_true", help="print the receipt as JSON; for an agent, its proposal")
    apply.set_defaults(run=_run_apply)


def _run_plan_extract(args: argparse.Namespace, context: Context) -> int:
    operations = Operations(context.adapters)
    return _print_plan(
        args,
        context,
        asyncio.run(operations.plan_extract(_request(args, context), cancel=CancelToken(), listen=ignore)),
    )


def _run_plan_consolidate(args: argparse.Namespace, context: Context) -> int:
    operations = Operations(context.adapters)
    request = _made_anew(args, context, _request(args, context))
    return _print_plan(
        args, context, asyncio.run(operations.plan_consolidate(request, cancel=CancelToken(), listen=ignore))
    )


def _made_anew(args: argparse.Namespace, context: Context, request: Request) -> Request:
    """Return the request with what was turned down in a proposal, and left out of it."""
    if args.proposal is None:
        if args.reject:
            raise UsageError("--reject names hunks of no proposal", "add --proposal FILE")
        return request
    if request.provider == BUILTIN:
        raise UsageError("the built-in rules make no proposal anew", "apply it with --reject, or name --provider")
    proposal = read_plan(args.proposal, context)
    if (proposal.kind, proposal.operation) != ("apply", "consolidate"):
        raise UsageError("it is no proposal of a consolidation", "name the plan that you would apply", args.proposal)
    _require_same_place("--home", context.home, proposal.home)
    _require_same_place("--memory-root", context.memory_root, proposal.memory_root)
    _require_nothing_forgotten(proposal, context, args.proposal)
    review = review_from_flags(proposal, reject=args.reject, rest="accept")
    told = {hunk.key: hunk for hunk in proposal.refused}
    for hunk in rejected(review, context.adapters.clock()):
        told.setdefault(hunk.key, hunk)  # once more: its first day and its note stay
    return replace(request, exclude=request.exclude | newly_left_out(proposal), refused=tuple(told.values()))


def _require_nothing_forgotten(proposal: Plan, context: Context, where: str) -> None:
    """Refuse a proposal with the words of a session that was forgotten: they would be sent with what was rejected."""
    with context.adapters.stores.reading(context.need_home(), strict=True) as store:
        excluded = store.excluded()
    if any(excluded.get(row.thread_id) == FORGOTTEN for row in proposal.rows):
        raise StalePlan("a session of this proposal was forgotten since", "plan anew without --proposal", where)


def _run_plan_undo(args: argparse.Namespace, context: Context) -> int:
    return _print_plan(args, context, asyncio.run(Operations(context.adapters).plan_undo(_request(args, context))))


def _run_plan_clear(args: argparse.Namespace, context: Context) -> int:
    return _print_plan(args, context, asyncio.run(Operations(context.adapters).plan_clear(_request(args, context))))


def _run_plan_redact(args: argparse.Namespace, context: Context) -> int:
    planning = Operations(context.adapters).plan_redact(_request(args, context), cancel=CancelToken())
    return _print_plan(args, context, asyncio.run(planning))


def _run_plan_forget(args: argparse.Namespace, context: Context) -> int:
    request = _request(args, context)
    planning = Operations(context.adapters).plan_forget(request, args.thread, cancel=CancelToken(), listen=ignore)
    return _print_plan(args, context, asyncio.run(planning))


def _run_plan_take_over(args: argparse.Namespace, context: Context) -> int:
    codex_home = args.codex_home.expanduser().absolute()
    planning = Operations(context.adapters).plan_take_over(
        _request(args, context), codex_home, cancel=CancelToken(), listen=ignore
    )
    return _print_plan(args, context, asyncio.run(planning))


def _request(args: argparse.Namespace, context: Context) -> Request:
    return Request(
        home=context.need_home(),
        memory_root=context.memory_root,
        sources=context.sources,
        settings=context.settings,
        provider=args.provider,
        exclude=frozenset(getattr(args, "exclude", ())),
        lift=frozenset(getattr(args, "lift", ())),
        take_again=frozenset(getattr(args, "take_again", ())),
        edits=dict(_edit(text) for text in getattr(args, "edit", ())),
        note=getattr(args, "note", ""),
    )


def _edit(text: str) -> tuple[str, str]:
    thread, separator, name = text.partition("=")
    if not separator:
        raise UsageError(f"--edit {text!r} is not THREAD=FILE", "write --edit THREAD=FILE")
    try:
        return thread, Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("the edited memory cannot be read", "check the name; it must be UTF-8 text", name) from error


def _print_plan(args: argparse.Namespace, context: Context, plan: Plan) -> int:
    if args.json:
        context.print_json(plan.model_dump(mode="json"))
    else:
        describe_plan(context, plan)
    return ExitCode.NOTHING_TO_DO if plan.state is PlanState.EMPTY else ExitCode.DONE


def _run_show(args: argparse.Namespace, context: Context) -> int:
    plan = read_plan(args.plan, context)
    if args.json:
        context.print_json(plan.model_dump(mode="json"))
    else:
        describe_plan(context, plan, details=True)
    return ExitCode.DONE


def _run_apply(args: argparse.Namespace, context: Context) -> int:
    plan = read_plan(args.plan, context)
    if args.digest != plan.digest:
        raise WrongDigest("the digest given is not the plan's", f"look at the plan: ltmem-gui show --plan {args.plan}")
    _require_same_place("--home", context.home, plan.home)
    _require_same_place("--memory-root", context.memory_root, plan.memory_root)
    selection = _selection(args, plan)
    if plan.kind == "consolidate":
        if not args.json:
            context.warn("the proposal is only shown; to keep and apply it, add --json and save what is printed")
        return _print_plan(args, context, asyncio.run(_approve_and_propose(context, plan, selection)))
    receipt = asyncio.run(_approve_and_apply(context, plan, selection))
    if args.json:
        context.print_json(receipt.model_dump(mode="json"))
    else:
        describe_receipt(context, receipt)
    return ExitCode.DONE


async def _approve_and_apply(context: Context, plan: Plan, selection: Selection) -> Receipt:
    operations = Operations(context.adapters)
    grant = await operations.approve(plan, selection, approver=getpass.getuser(), surface="command line")
    listen = _teller(context) if plan.kind == "extract" and plan.provider.host else ignore
    return await operations.apply(grant, cancel=CancelToken(), listen=listen)


def _teller(context: Context) -> Listener:
    """Tell beside the result what the run takes while it works, and once each why it left sessions out."""
    told: set[str] = set()

    def tell(event: Event) -> None:
        if isinstance(event, RunSpent):
            context.warn(str(event))
        elif isinstance(event, JobFinished) and event.outcome == JobOutcome.SKIPPED.value and event.reason not in told:
            told.add(event.reason)
            context.warn(f"left out, no try lost: {event.reason}")

    return tell


async def _approve_and_propose(context: Context, plan: Plan, selection: Selection) -> Plan:
    """Run the agent that a plan of kind `consolidate` names; its steps are told beside the result."""
    operations = Operations(context.adapters)

    def tell(event: Event) -> None:
        if isinstance(event, AgentStep):
            for line in in_lines((event,)):
                context.warn(f"step {visible(line, keep='')}")

    grant = await operations.approve(plan, selection, approver=getpass.getuser(), surface="command line")
    return await operations.propose(grant, cancel=CancelToken(), listen=tell)


def _selection(args: argparse.Namespace, plan: Plan) -> Selection:
    overrides: dict[str, str] = {}
    for text in args.override:
        name, separator, reason = text.partition("=")
        if not separator or not reason.strip():
            raise UsageError(f"--override {text!r} has no reason", "write --override ID=REASON")
        overrides[name] = reason.strip()
    return from_flags(plan, accept=args.accept, reject=args.reject, rest=args.rest, overrides=overrides)


def _require_same_place(option: str, given: Path | None, planned: str) -> None:
    if given is not None and planned and str(given) != planned:
        raise StalePlan(f"{option} {given} is not the folder of the plan ({planned})", "make a plan for this folder")


def read_plan(name: str, context: Context) -> Plan:
    """Return the plan of a file, or of standard input for `-`. Raises `InputError`, `WrongDigest`."""
    if name == "-":
        return load_plan(context.stdin.read(), where="standard input")
    path = Path(name)
    try:
        if path.stat().st_size > MAX_PLAN_BYTES:
            raise InputError("too large to be a plan", "make one with: ltmem-gui plan … --json", name)
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"the plan cannot be read: {reason}", "check the name", name) from error
    try:
        return load_plan(text, where=name)
    except json.JSONDecodeError as error:
        raise InputError(f"not a plan: {error}", "make one with: ltmem-gui plan … --json", name) from error
