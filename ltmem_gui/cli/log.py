"""`log` and `jobs`: the operation log with its check, and the queue as stored. Both only read."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.agent_kept import BINDS, KeptState, KeptSteps, as_json, in_lines, steps_of
from ltmem_gui.domain.chain import ChainBreak, ChainEntry
from ltmem_gui.domain.consent import KeptTranscript
from ltmem_gui.domain.errors import ExitCode
from ltmem_gui.domain.hazards import one_line, visible
from ltmem_gui.domain.jobs import STAGE1_KIND, JobRecord
from ltmem_gui.domain.prices import plain, spent, spent_in_words

_SHORT = 12
_LONGEST_LINE = 4_000


def register(commands: Subparsers) -> None:
    """Add the commands that look at what was done and at the queue."""
    log = commands.add_parser(
        "log",
        help="print the approvals and receipts, oldest first, with the calls of agents, and check their hash chain",
    )
    log.add_argument("--json", action="store_true")
    log.add_argument("--verify", action="store_true", help="check the chain; exit code 1 when it is broken")
    log.set_defaults(run=_run_log)

    refused = commands.add_parser("refused", help="list the hunks you rejected, each with its key")
    refused.add_argument("--json", action="store_true")
    refused.set_defaults(run=_run_refused)

    jobs = commands.add_parser("jobs", help="list the queue of both phases with every attempt")
    jobs.add_argument("--json", action="store_true")
    jobs.set_defaults(run=_run_jobs)


def _run_log(args: argparse.Namespace, context: Context) -> int:
    with context.adapters.stores.reading(context.need_home(), strict=True) as store:
        entries = store.log()
        broken = store.verify_log()
        texts = store.transcripts()
    if args.json:
        context.print_json(
            {
                "operations": [_entry_json(entry, texts) for entry in entries],
                "intact": broken is None,
                "broken_at": None if broken is None else {"number": broken.number, "reason": broken.reason},
            }
        )
    elif args.verify:
        context.say(_verdict(entries, broken))
    else:
        for entry in entries:
            context.say(_entry_line(entry))
            body = _body(entry)
            for line in _steps_lines(_steps(entry, body, texts), body):
                context.say(f"       {line}")
        context.say(_verdict(entries, broken))
    return int(ExitCode.ERROR if args.verify and broken is not None else ExitCode.DONE)


def _run_refused(args: argparse.Namespace, context: Context) -> int:
    with context.adapters.stores.reading(context.need_home(), strict=True) as store:
        hunks = store.refused_hunks()
    if args.json:
        rows = [
            {"key": h.key, "path": h.path, "old": h.old, "new": h.new, "refused_at": h.refused_at, "note": h.note}
            for h in hunks
        ]
        context.print_json({"refused": rows})
        return ExitCode.DONE
    for hunk in hunks:
        words = one_line("".join(hunk.new or hunk.old))
        context.say(f"{hunk.key[:12]}  {hunk.path}: {words}")
    return ExitCode.DONE


def _run_jobs(args: argparse.Namespace, context: Context) -> int:
    with context.adapters.stores.reading(context.need_home(), strict=True) as store:
        records = store.jobs()
    if args.json:
        context.print_json({"jobs": [_job_json(record) for record in records]})
        return int(ExitCode.DONE)
    for record in records:
        context.say(_job_line(record))
    if not records:
        context.say("the queue is empty")
    return int(ExitCode.DONE)


def _entry_json(entry: ChainEntry, texts: Mapping[int, KeptTranscript]) -> dict[str, Any]:
    body = _body(entry)
    return {
        "number": entry.number,
        "at": entry.at,
        "type": entry.type,
        "plan_digest": entry.plan_digest,
        "operation_number": entry.operation_number or None,
        "previous": entry.previous,
        "hash": entry.hash,
        "body": body,
        **_steps_json(_steps(entry, body, texts)),
    }


def _entry_line(entry: ChainEntry) -> str:
    body = _body(entry)
    head = f"{entry.number:>5}  {_time(entry.at)}  {entry.type:<8}  plan {entry.plan_digest[:_SHORT]}"
    who = f"{body.get('approver', '?')} on the {body.get('surface', '?')}"
    if entry.type != "receipt":
        return f"{head}  by {one_line(who)}"
    files = body.get("files", [])
    count = len(files) if isinstance(files, list) else "?"
    what = f"{body.get('kind', '?')}/{body.get('operation', '?')}, {count} files"
    return f"{head}  operation {entry.operation_number}: {one_line(what)}, by {one_line(who)}"


def _steps(entry: ChainEntry, body: Mapping[str, Any], texts: Mapping[int, KeptTranscript]) -> KeptSteps | None:
    """Return what is kept of the calls of an agent's run, None for any other entry."""
    if entry.type != "receipt" or not body.get("steps") or not isinstance(body["steps"], list):
        return None
    return steps_of(body.get(BINDS), texts.get(entry.operation_number))


def _steps_json(kept: KeptSteps | None) -> dict[str, Any]:
    if kept is None:
        return {}
    calls = {"state": kept.state.value, "steps": as_json(kept.steps), "calls_left_out": kept.left_out}
    return {"transcript": calls}


def _steps_lines(kept: KeptSteps | None, body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the calls of an agent's run; where their texts are gone, what its receipt says of them."""
    if kept is None:
        return
    if kept.state is not KeptState.WHOLE:
        yield from (one_line(f"step {step}", _LONGEST_LINE) for step in body["steps"])
        yield kept.state.words
        return
    yield from (visible(f"step {line}", keep="") for line in in_lines(kept.steps, results=True))
    if kept.left_out:
        yield f"{kept.left_out:,} calls more are not kept"


def _verdict(entries: tuple[ChainEntry, ...], broken: ChainBreak | None) -> str:
    if broken is not None:
        return f"the log is broken at entry {broken.number}: {broken.reason}"
    if not entries:
        return "nothing was approved or applied yet"
    return f"the log is whole: {len(entries)} entries, the last is {entries[-1].hash[:_SHORT]}"


def _body(entry: ChainEntry) -> dict[str, Any]:
    """Read the body; one that was damaged by hand is shown as it is, and found by the check."""
    try:
        value = json.loads(entry.body)
    except ValueError:
        return {"unreadable": entry.body}
    return value if isinstance(value, dict) else {"unreadable": entry.body}


def _job_json(record: JobRecord) -> dict[str, Any]:
    """Write a job; what it cost is a decimal number as text, None where it is not known."""
    attempts = [
        {**asdict(attempt), "cost": None if attempt.cost is None else plain(attempt.cost)}
        for attempt in record.attempts
    ]
    costs = {each.currency: plain(each.amount) for each in spent(record.attempts)}
    return asdict(record) | {"attempts": attempts, "cost": costs}


def _job_line(record: JobRecord) -> str:
    name = record.job_key if record.kind == STAGE1_KIND else "consolidation"
    tries = f"attempt {len(record.attempts)}, {record.retry_remaining} tries left"
    parts = [f"{record.status.value:<8}", one_line(name), tries]
    if record.last_outcome:
        parts.append(record.last_outcome)
    if record.lease_until is not None:
        parts.append(f"held by {one_line(record.owner)} until {_time(record.lease_until)}")
    if spent(record.attempts):
        parts.append(f"cost {spent_in_words(record.attempts)}")
    if record.retry_at is not None:
        parts.append(f"next try {_time(record.retry_at)}")
    if record.last_error:
        parts.append(one_line(record.last_error))
    return "  ".join(parts)


def _time(at: int) -> str:
    """Write Unix seconds as UTC; a time no calendar holds stays a number."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return str(at)
