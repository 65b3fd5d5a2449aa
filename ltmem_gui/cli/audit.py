"""`cite audit`: list what can be judged, export reports, and plan the import of verdicts."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from ltmem_gui import __version__
from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.cli.render import describe_plan
from ltmem_gui.domain.audit_frames import METHODS, STRATA
from ltmem_gui.domain.audit_repairs import anchorings
from ltmem_gui.domain.audit_report import AuditReport, read_json_lines
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import ExitCode, InputError, RefusedError
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.pipeline.audit import Audit
from ltmem_gui.pipeline.audit_reports import FORMATS, ReportWish, make_report
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request

MAX_REPORT_BYTES = 512 * 1024 * 1024


def add_audit(kinds: Subparsers) -> None:
    """Add the commands about the audit of citations below `cite`."""
    audit = kinds.add_parser("audit", help="what people say of citations: figures, reports, import")
    what = audit.add_subparsers(dest="audit_command", required=True, metavar="COMMAND")
    show = what.add_parser("show", help="coverage, agreement, and the claims without citation")
    export = what.add_parser("export", help="write a report; sessions below --source are read for the evidence")
    for parser in (show, export):
        parser.add_argument("--method", choices=METHODS, default="all", help="which citations (default: all)")
        parser.add_argument("--size", type=int, default=0, metavar="N", help="how many, of a sample")
        parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same sample")
        parser.add_argument("--by", choices=STRATA, help="what a stratified sample is divided by")
        parser.add_argument("--rater", help="count this person's verdicts only")
        parser.add_argument(
            "--project", action="append", default=[], type=Path, metavar="DIR", help="where cited path@commit are read"
        )
    show.add_argument("--usage", action="store_true", help="how often each session was cited, and why it is kept")
    show.add_argument(
        "--differences", action="store_true", help="what raters judge differently, and how it was settled"
    )
    show.set_defaults(run=_run_show)
    export.add_argument("--format", choices=tuple(FORMATS), required=True)
    export.add_argument("--out", type=Path, metavar="FILE", help="a new file (default: standard output)")
    export.set_defaults(run=_run_export)
    anchor = what.add_parser("reanchor", help="plan to point citations to where their lines are after edits by hand")
    anchor.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
    anchor.set_defaults(run=_run_reanchor)
    keep = what.add_parser("keep", help="plan to keep what cited places say now, so that later checks tell changes")
    keep.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
    keep.set_defaults(run=_run_keep)
    take = what.add_parser("import", help="plan to add the verdicts of a report in JSON lines; apply adds them")
    take.add_argument("file", metavar="FILE|-")
    take.add_argument("--json", action="store_true", help="print the plan as JSON, to be saved for apply")
    take.set_defaults(run=_run_import)


def _run_show(args: argparse.Namespace, context: Context) -> int:
    audit, report = _report(args, context, with_usage=args.usage)
    for line in (report.head.frame, *report.head.coverage, *report.head.agreement, *report.head.notes):
        context.say(line)
    for claim in report.claims:
        context.say(f"{claim.file}:{claim.line}: {claim.state}: {one_line(claim.text, 200)}")
    if args.differences:
        _say_differences(report, context)
    if args.usage:
        for thread, words in sorted(audit.kept.items()):
            context.say(f"session {one_line(thread)}: {words}")
    return int(ExitCode.DONE)


def _say_differences(report: AuditReport, context: Context) -> None:
    for item in report.items:
        fresh = [verdict for verdict in item.verdicts if not verdict.stale]
        if len({verdict.verdict for verdict in fresh if not verdict.final}) > 1:
            said = "; ".join(f"{v.rater}: {v.verdict}{' (settles it)' if v.final else ''}" for v in fresh)
            context.say(f"{item.file}:{item.line}: {one_line(item.claim)}: {one_line(said, 400)}")


def _run_export(args: argparse.Namespace, context: Context) -> int:
    out: Path | None = args.out
    if out is not None:
        _refuse_inside(out, context)
    text = FORMATS[args.format](_report(args, context)[1])
    if out is None:
        context.out.write(text)
        return int(ExitCode.DONE)
    try:
        # An existing file is never overwritten, and a link never followed.
        with out.open("xb") as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", "name a new file", str(out)) from error
    context.say(f"written: {out}")
    return int(ExitCode.DONE)


def _run_import(args: argparse.Namespace, context: Context) -> int:
    report = read_json_lines(_read(args.file, context), where=args.file)
    request = Request(home=context.need_home(), memory_root=context.memory_root, settings=context.settings)
    plan = asyncio.run(Operations(context.adapters).audit.plan_import(request, report.verdict_records))
    return _print_plan(args, context, plan)


def _run_reanchor(args: argparse.Namespace, context: Context) -> int:
    request = Request(home=context.need_home(), memory_root=context.need_memory_root(), settings=context.settings)

    async def plan() -> Plan:
        operations = Operations(context.adapters)
        audit = await operations.audit.load(request, cancel=CancelToken(), listen=ignore)
        return await operations.audit.plan_repairs(request, anchorings(audit.found.items))

    return _print_plan(args, context, asyncio.run(plan()))


def _run_keep(args: argparse.Namespace, context: Context) -> int:
    request = Request(
        home=context.need_home(),
        memory_root=context.need_memory_root(),
        sources=context.sources,
        settings=context.settings,
    )

    async def plan() -> Plan:
        operations = Operations(context.adapters)
        audit = await operations.audit.load(request, cancel=CancelToken(), listen=ignore)
        return await operations.audit.plan_keeping(request, audit)

    return _print_plan(args, context, asyncio.run(plan()))


def _print_plan(args: argparse.Namespace, context: Context, plan: Plan) -> int:
    if args.json:
        context.print_json(plan.model_dump(mode="json"))
    else:
        describe_plan(context, plan)
    return int(ExitCode.NOTHING_TO_DO if plan.state is PlanState.EMPTY else ExitCode.DONE)


def _report(args: argparse.Namespace, context: Context, *, with_usage: bool = False) -> tuple[Audit, AuditReport]:
    request = Request(
        home=context.need_home(),
        memory_root=context.need_memory_root(),
        sources=context.sources,
        settings=context.settings,
        projects=tuple(args.project),
    )
    wish = ReportWish(args.method, args.size, args.seed, args.by, args.rater)
    return asyncio.run(_load_and_report(context, request, wish, with_usage))


async def _load_and_report(
    context: Context, request: Request, wish: ReportWish, with_usage: bool
) -> tuple[Audit, AuditReport]:
    operations = Operations(context.adapters)
    context.adapters.use_home(request.home)
    audit = await operations.audit.load(request, cancel=CancelToken(), listen=ignore, with_usage=with_usage)
    return audit, await make_report(context.adapters, audit, wish, program=f"LTMem {__version__}")


def _refuse_inside(out: Path, context: Context) -> None:
    """A report is no part of the memory: below the folders of the program only a confirmed plan writes."""
    place = out.absolute().parent.resolve()
    for root in (context.memory_root, context.home):
        if root is not None and (place == root.resolve() or root.resolve() in place.parents):
            raise RefusedError(
                "a report is not written into the memory or data folder", "name a file elsewhere", str(out)
            )


def _read(name: str, context: Context) -> str:
    if name == "-":
        return context.stdin.read()
    path = Path(name)
    try:
        if path.stat().st_size > MAX_REPORT_BYTES:
            raise InputError("too large to be a report", "", name)
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot be read: {reason}", "check the name", name) from error
