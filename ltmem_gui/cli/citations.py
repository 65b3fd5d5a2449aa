"""`cite` and `check`: read citations, ask where their lines are, and check a memory folder. All of it only reads."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ltmem_gui.cli.audit import add_audit
from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain import citations
from ltmem_gui.domain.anchors import EvidenceSnapshot, line_count
from ltmem_gui.domain.audit_evidence import EXTRACTED, KeptEvidence
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.citation_check import (
    CheckedCitation,
    CitationKey,
    Sessions,
    Snapshots,
    check_citations,
    citation_key,
    count_by_status,
    take_snapshots,
)
from ltmem_gui.domain.citations import ROLLOUT_PREFIX
from ltmem_gui.domain.errors import ExitCode, InputError
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.evidence import lines_of
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.pipeline.audit_drift import baseline_snapshots
from ltmem_gui.pipeline.evidence_keeping import places_of
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.pipeline.project_reading import read_projects

_ALL = 1_000_000


def register(commands: Subparsers) -> None:
    """Add the commands about citations and the checks."""
    cite = commands.add_parser("cite", help="read citations and ask where their lines are now")
    kinds = cite.add_subparsers(dest="cite_command", required=True, metavar="COMMAND")
    parse = kinds.add_parser("parse", help="list the citations of a text, and the lines that are none")
    parse.add_argument("file", metavar="FILE", help="a text file, or - for standard input")
    parse.add_argument("--json", action="store_true")
    parse.set_defaults(run=_run_parse)
    check = kinds.add_parser("check", help="check every citation of --memory-root; exit 1 when one does not resolve")
    check.add_argument("--against", metavar="FILE", type=Path, help="earlier output of --json --snapshots: tell moves")
    check.add_argument("--snapshots", action="store_true", help="with --json: add what each citation says now")
    check.add_argument(
        "--project",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="look up citations path@commit in the git objects of this project; may be given again",
    )
    check.add_argument("--json", action="store_true")
    check.set_defaults(run=_run_check)
    add_audit(kinds)

    checks = commands.add_parser("check", help="check a folder; exit 1 on findings")
    what = checks.add_subparsers(dest="check_command", required=True, metavar="WHAT")
    memory = what.add_parser("memory", help="check the files of --memory-root against their form")
    memory.add_argument("--json", action="store_true")
    memory.set_defaults(run=_run_memory)


def _run_parse(args: argparse.Namespace, context: Context) -> int:
    parsed = citations.parse(_read(args.file, context).decode("utf-8", "replace"))
    if args.json:
        context.print_json(
            {
                "entries": [asdict(entry) | {"status": entry.status} for entry in parsed.entries],
                "rollout_ids": list(parsed.rollout_ids),
                "rejected": [asdict(item) for item in parsed.rejected],
            }
        )
        return int(ExitCode.DONE)
    for entry in parsed.entries:
        mark = "" if entry.status == "ok" else f"  ({entry.status})"
        context.say(f"{entry.line}: {one_line(entry.location, 400)}  {one_line(entry.note)}{mark}")
    for thread in parsed.rollout_ids:
        context.say(f"session {one_line(thread)}")
    for item in parsed.rejected:
        context.say(f"{item.line}: not a citation: {item.reason}: {one_line(item.text)}")
    return int(ExitCode.DONE)


def _run_check(args: argparse.Namespace, context: Context) -> int:
    folder = _folder(context)
    files = {path: file.data for path, file in folder.files.items()}
    earlier = _earlier(args.against)
    kept, extracted = _kept(context, folder) if args.against is None else ({}, {})
    known = earlier if args.against is not None else asyncio.run(_at_baseline(context, folder))
    known = {**known, **extracted}
    paths = {*(key[1] for key in kept), *(place[0] for place in extracted)}
    sessions = _sessions(context, {path.removeprefix(ROLLOUT_PREFIX).lower() for path in paths})
    taken = {key: record.taken for key, record in kept.items()}
    projects = read_projects(context.adapters.project_files, args.project, files) if args.project else {}
    checked = check_citations(files, sessions=sessions, snapshots=known, kept=taken, projects=projects)
    bad = [item for item in checked if not item.location.status.resolves]
    counts = count_by_status(checked)
    if args.json:
        document: dict[str, Any] = {
            "total": len(checked),
            "resolved": len(checked) - len(bad),
            "counts": counts,
            "citations": [_checked_json(item) | _against(item, kept) for item in checked],
        }
        if args.snapshots:
            now = take_snapshots(files, checked, folder.baseline)
            document["snapshots"] = [asdict(item) for item in now.values()]
        context.print_json(document)
    else:
        for item in bad:
            context.say(f"{item.file}:{item.line}: {item.location.label}: {one_line(item.text, 200)}")
        words = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
        context.say(f"{len(checked)} citations: {words}" if checked else "no citations")
    return int(ExitCode.ERROR if bad else ExitCode.DONE)


def _run_memory(args: argparse.Namespace, context: Context) -> int:
    folder = _folder(context)
    files = {path: file.data for path, file in folder.files.items()}
    findings = [
        *_problems(folder),
        *context.adapters.validate(files, before={}, loss_limit_percent=100, known_threads=frozenset()),
    ]
    if args.json:
        counts = {str(level): sum(1 for item in findings if item.severity is level) for level in Severity}
        context.print_json(
            {
                "ok": not findings,
                "counts": counts,
                "findings": [item.model_dump(mode="json") | {"file": item.path} for item in findings],
            }
        )
    else:
        for item in findings:
            place = item.path if item.line is None else f"{item.path}:{item.line}"
            context.say(f"{place}: {item.severity}: {item.rule}: {item.text}")
        context.say(f"{len(findings)} findings" if findings else "no findings")
    return int(ExitCode.ERROR if findings else ExitCode.DONE)


def _read(name: str, context: Context) -> bytes:
    if name == "-":
        raw = getattr(context.stdin, "buffer", None)
        return raw.read() if raw is not None else context.stdin.read().encode("utf-8", "surrogateescape")
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "name a text file", name) from error


def _folder(context: Context) -> WorkspaceSnapshot:
    root = context.need_memory_root()
    folder = context.adapters.workspace.read(root)
    if not folder.exists:
        raise InputError("there is no such folder", "give --memory-root DIR", str(root))
    return folder


def _problems(folder: WorkspaceSnapshot) -> list[Finding]:
    return [
        Finding(id=f"problem-{number}", rule="problem", severity=Severity.WARNING, path="", text=text)
        for number, text in enumerate(folder.problems, 1)
    ]


def _sessions(context: Context, kept: Collection[str]) -> Sessions:
    """Count the lines of the sessions below the folders that were named; none named, none opened.

    Of the `kept` ones it is known what their cited lines said: those are read whole.
    """
    if not context.sources:
        return Sessions({})
    found = context.adapters.rollouts.discover(context.sources, limit=_ALL, cancel=CancelToken(), listen=ignore)
    lines: dict[str, int | None] = {}
    texts: dict[str, Mapping[int, str]] = {}
    for ref in found.refs:
        thread, count = _session_lines(context, ref)
        if thread:
            lines[thread] = count
        if thread.lower() in kept:
            with suppress(InputError):  # its lines were counted; what they say stays unknown
                texts[thread] = lines_of(context.adapters.rollouts.load(ref).items)
    return Sessions(lines, complete=not found.skipped, texts=texts)


def _kept(context: Context, folder: WorkspaceSnapshot) -> tuple[dict[CitationKey, KeptEvidence], Snapshots]:
    """Return what the data folder keeps of the citations, and of the lines its extractions cited. Only reads."""
    if context.home is None:
        return {}, {}
    with context.adapters.stores.reading(context.home) as store:
        for notice in store.notices:
            context.warn(notice)
        kept = {record.key: record for record in store.evidence(folder.root)}
        return kept, places_of(store.evidence(EXTRACTED))


async def _at_baseline(context: Context, folder: WorkspaceSnapshot) -> Snapshots:
    try:
        return await baseline_snapshots(context.adapters, folder)
    except InputError as error:
        context.warn(f"what the citations said at the baseline cannot be told: {error.what}")
        return {}


def _session_lines(context: Context, ref: RolloutRef) -> tuple[str, int | None]:
    if ref.thread_id and ref.path.endswith(".jsonl"):
        try:
            return ref.thread_id, line_count(Path(ref.path).read_bytes())
        except OSError:
            return ref.thread_id, None
    if ref.thread_id:
        return ref.thread_id, None
    try:
        rollout = context.adapters.rollouts.load(ref)
    except InputError:
        return "", None
    return rollout.id, max((item.line for item in rollout.items if item.line), default=None)


def _earlier(path: Path | None) -> Snapshots:
    if path is None:
        return {}
    try:
        document = json.loads(path.read_bytes())
        taken = [EvidenceSnapshot(**item) for item in document["snapshots"]]
        return {(item.path, item.start, item.end): item for item in taken}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "", str(path)) from error
    except (ValueError, TypeError, KeyError) as error:
        remedy = "make it with: ltmem-gui cite check --memory-root DIR --json --snapshots"
        raise InputError("holds no snapshots of citations", remedy, str(path)) from error


def _checked_json(item: CheckedCitation) -> dict[str, Any]:
    entry, location = item.entry, item.location
    return {
        "file": item.file,
        "line": item.line,
        "status": str(location.status),
        "resolves": location.status.resolves,
        "path": entry.path if entry else None,
        "start": entry.start if entry else None,
        "end": entry.end if entry else None,
        "note": entry.note if entry else None,
        "text": item.text,
        "detail": location.detail.strip(" :"),
        "now": [location.start, location.end] if entry and location.status.resolves else None,
        "likeness": location.likeness,
        "candidates": [list(place) for place in location.candidates],
    }


def _against(item: CheckedCitation, kept: Mapping[CitationKey, KeptEvidence]) -> dict[str, Any]:
    """Say what the place was compared with, and since when that is known (Unix seconds)."""
    record = kept.get(citation_key(item.file, item.entry)) if item.entry else None
    word = "snapshot" if item.taken is not None else None
    is_file = item.entry is not None and item.entry.thread_id is None
    return {
        "against": record.origin if record is not None else word,
        "known_since": record.at if record is not None else None,
        "commit": item.taken.baseline if item.taken is not None and is_file else None,
    }
