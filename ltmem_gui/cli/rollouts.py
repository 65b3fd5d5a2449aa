"""`scan` and `rollout`: what sessions there are, and what one of them holds. Neither loads the redaction engine."""

from __future__ import annotations

import argparse
import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.eligibility import assess
from ltmem_gui.domain.errors import ExitCode, InputError, UsageError
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.memory_items import render_row
from ltmem_gui.domain.rollouts import Eligibility, Rollout, RolloutItem, RolloutRef, SkippedFile, SourceSpec
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import ScannedRollout
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

# A scan needs no data folder; without one nothing is up to date. This path can never exist.
NO_HOME = Path(os.devnull) / "no-data-folder"
_MANY = 1_000_000


def register(commands: Subparsers) -> None:
    """Add the commands that look at sessions."""
    scan = commands.add_parser(
        "scan", help="list the sessions below the folders named with --source, each with reasons"
    )
    scan.add_argument("--json", action="store_true")
    scan.set_defaults(run=_run_scan)

    rollout = commands.add_parser("rollout", help="print one session: what was said, and why it is (not) taken")
    rollout.add_argument(
        "path",
        metavar="PATH",
        help="a session file, or a database of Codex (the state database beside it is read too)",
    )
    rollout.add_argument("--thread", metavar="ID", help="which session, where PATH holds several")
    rollout.add_argument("--json", action="store_true")
    rollout.set_defaults(run=_run_rollout)


def _run_scan(args: argparse.Namespace, context: Context) -> int:
    request = Request(
        home=context.home or NO_HOME,
        memory_root=context.memory_root,
        sources=context.sources,
        settings=context.settings,
    )
    report = asyncio.run(Operations(context.adapters).scan(request, cancel=CancelToken(), listen=ignore))
    if args.json:
        context.print_json(
            {
                "rollouts": [_scanned_json(rollout) for rollout in report.rollouts],
                "skipped_files": [_skipped_json(file) for file in report.skipped_files],
            }
        )
    else:
        for rollout in report.rollouts:
            _say_scanned(context, rollout)
        _say_totals(context, report.rollouts, report.skipped_files)
    if not report.rollouts:
        named = ", ".join(spec.path for spec in context.sources)
        context.warn(f"no sessions below {named}; name a Codex home, a Claude folder, or a folder of rollout files")
        return ExitCode.NOTHING_TO_DO
    return ExitCode.DONE


def _scanned_json(rollout: ScannedRollout) -> dict[str, Any]:
    return {
        "id": rollout.id,
        "agent": rollout.agent,
        "path": rollout.path,
        "cwd": rollout.cwd,
        "git_branch": rollout.git_branch,
        "title": rollout.title,
        "updated_at": rollout.updated_at,
        "eligible": rollout.eligibility.eligible,
        "reasons": _reasons(rollout.eligibility),
        "rules": _rules_json(rollout.eligibility),
        "items": rollout.items,
        "tokens": rollout.tokens,
        "skipped_lines": [{"line": line.line, "reason": line.reason} for line in rollout.skipped_lines],
        "warnings": list(rollout.warnings),
    }


def _skipped_json(file: SkippedFile) -> dict[str, str]:
    return {"path": file.path, "reason": file.reason}


def _reasons(eligibility: Eligibility) -> list[str]:
    return [reason.text for reason in eligibility.failed]


def _rules_json(eligibility: Eligibility) -> list[dict[str, Any]]:
    return [{"rule": r.rule, "passed": r.passed, "text": r.text} for r in eligibility.reasons]


def _say_scanned(context: Context, rollout: ScannedRollout) -> None:
    verdict = "take" if rollout.eligibility.eligible else "skip"
    context.say(f"{verdict}  {_day(rollout.updated_at)}  {rollout.id}  {rollout.cwd or '(no folder)'}")
    context.say(f"      {one_line(rollout.title)}  [{rollout.items} items, about {rollout.tokens} tokens]")
    for reason in _reasons(rollout.eligibility):
        context.say(f"      {reason}")
    for line in rollout.skipped_lines:
        context.say(f"      line {line.line} skipped: {line.reason}")
    for warning in rollout.warnings:
        context.say(f"      {warning}")


def _say_totals(context: Context, rollouts: tuple[ScannedRollout, ...], skipped: tuple[SkippedFile, ...]) -> None:
    taken = sum(1 for rollout in rollouts if rollout.eligibility.eligible)
    context.say(f"{len(rollouts)} sessions, {taken} to take, {len(rollouts) - taken} to skip")
    for file in skipped:
        context.say(f"not read: {file.path}: {file.reason}")


def _day(seconds: int | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC") if seconds else "no time"


def _run_rollout(args: argparse.Namespace, context: Context) -> int:
    source = context.adapters.rollouts
    path = str(Path(args.path).expanduser())
    found = source.discover([SourceSpec("codex", path)], limit=_MANY, cancel=CancelToken(), listen=ignore)
    rollout = source.load(_pick(found.refs, path, args.thread))
    if args.thread and rollout.id != args.thread:
        raise InputError(f"this file holds the session {rollout.id!r}, not {args.thread!r}", "leave --thread out", path)
    eligibility = assess(
        rollout,
        context.settings,
        context.adapters.clock(),
        memory_root=str(context.memory_root) if context.memory_root else None,
        home=str(context.home) if context.home else None,
        up_to_date=asyncio.run(_is_up_to_date(context, rollout)),
    )
    if args.json:
        context.print_json(_rollout_json(rollout, eligibility))
    else:
        _say_rollout(context, rollout, eligibility)
    return ExitCode.DONE


def _pick(refs: tuple[RolloutRef, ...], path: str, thread: str | None) -> RolloutRef:
    named = [ref for ref in refs if thread is None or ref.thread_id in (thread, None)]
    if len(named) == 1:
        return named[0]
    if not named:
        raise InputError(f"no session {thread!r} is here" if thread else "no session is here", "check the id", path)
    ids = ", ".join(sorted(ref.thread_id or ref.path for ref in named)[:20])
    raise UsageError(f"{len(named)} sessions are here", f"name one with --thread: {ids}", path)


async def _is_up_to_date(context: Context, rollout: Rollout) -> bool:
    if context.home is None:
        return False
    async with open_store(context.adapters, context.home, writing=False) as call:
        return await call(call.store.up_to_date, rollout.id, rollout.updated_at or 0)


def _rollout_json(rollout: Rollout, eligibility: Eligibility) -> dict[str, Any]:
    return {
        "id": rollout.id,
        "agent": rollout.agent,
        "path": rollout.path,
        "cwd": rollout.cwd,
        "git_branch": rollout.git_branch,
        "title": rollout.title,
        "source": rollout.source,
        "source_detail": rollout.source_detail,
        "parent": rollout.parent,
        "memory_mode": rollout.memory_mode,
        "archived": rollout.archived,
        "started_at": rollout.started_at,
        "updated_at": rollout.updated_at,
        "eligible": eligibility.eligible,
        "reasons": _reasons(eligibility),
        "rules": _rules_json(eligibility),
        "items": [_item_json(item) for item in rollout.items],
        "user_texts": list(rollout.user_texts),
        "assistant_texts": list(rollout.assistant_texts),
        "skipped_lines": [{"line": line.line, "reason": line.reason} for line in rollout.skipped_lines],
        "incomplete_tail_line": rollout.incomplete_tail_line,
        "warnings": list(rollout.warnings),
    }


def _item_json(item: RolloutItem) -> dict[str, Any]:
    tool = item.tool
    return {
        "line": item.line,
        "row": item.row,
        "role": item.role,
        "kind": item.kind,
        "text": item.text,
        "injected": item.injected,
        "inherited": item.inherited,
        "undone": item.undone,
        "tool": None if tool is None else {"name": tool.name, "call_id": tool.call_id, "failed": tool.failed},
        "at": item.at,
    }


def _say_rollout(context: Context, rollout: Rollout, eligibility: Eligibility) -> None:
    context.say(f"{rollout.id}  {rollout.agent}  {rollout.cwd or '(no folder)'}  {_day(rollout.updated_at)}")
    for reason in eligibility.reasons:
        context.say(f"  {'ok ' if reason.passed else 'NO '} {reason.text}")
    for line in rollout.skipped_lines:
        context.say(f"  line {line.line} skipped: {line.reason}")
    if rollout.incomplete_tail_line is not None:
        context.say(f"  line {rollout.incomplete_tail_line} is not finished yet")
    for warning in rollout.warnings:
        context.say(f"  {warning}")
    for item in rollout.items:
        marks = [name for name in ("inherited", "undone") if getattr(item, name)]
        context.say((f"({', '.join(marks)}) " if marks else "") + render_row(item).rstrip("\n"))
