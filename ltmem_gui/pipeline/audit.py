"""Read a memory folder and the sessions it rests on for an audit; opens only what was named, writes nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ltmem_gui.domain.anchors import EvidenceSnapshot
from ltmem_gui.domain.audit import Verdicts
from ltmem_gui.domain.audit_evidence import EXTRACTED, KeptEvidence
from ltmem_gui.domain.audit_items import AuditSet, AuditSources, SessionText, collect, with_secrets
from ltmem_gui.domain.audit_usage import Usage, Use, standing_words, usage_by_session, uses_in
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.citation_check import Snapshots, citing_files
from ltmem_gui.domain.citations import parse
from ltmem_gui.domain.errors import InputError, KnownError
from ltmem_gui.domain.events import Listener, ScanProgressed
from ltmem_gui.domain.evidence import lines_of
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.audit_drift import baseline_snapshots
from ltmem_gui.pipeline.evidence_keeping import places_of
from ltmem_gui.pipeline.folder_plans import named_folder
from ltmem_gui.pipeline.ports import Adapters, Redactor, WorkspaceSnapshot
from ltmem_gui.pipeline.project_reading import read_projects
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Audit:
    """What can be judged and what was said so far.

    `uses` are the citations in agents' answers, of the sessions that were read for it; `kept` says of each stored
    memory, by thread id, why it is kept or stale. `notes` say what could not be told and why. `evidence` is what is
    kept of the citations, `extracted` what cited lines of sessions said when they were extracted, `texts` what the
    sessions that were read say now.
    """

    found: AuditSet
    records: tuple[VerdictRecord, ...]
    snapshot: WorkspaceSnapshot
    sessions: frozenset[str] = frozenset()
    uses: tuple[Use, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()
    evidence: tuple[KeptEvidence, ...] = ()
    texts: Mapping[str, SessionText] = field(default_factory=dict[str, SessionText])
    extracted: Snapshots = field(default_factory=dict[tuple[str, int, int], EvidenceSnapshot])

    @property
    def verdicts(self) -> Verdicts:
        """Return what all records say of these items."""
        return Verdicts(self.records, (item.key for item in self.found.items))

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Return thread id in lower case → how often agents cited it."""
        return usage_by_session(self.uses)


@dataclass(slots=True)
class _Read:
    """What reading the sessions gave."""

    texts: dict[str, SessionText] = field(default_factory=dict[str, SessionText])
    known: set[str] = field(default_factory=set[str])
    uses: list[Use] = field(default_factory=list[Use])
    notes: list[str] = field(default_factory=list[str])


async def load_audit(
    adapters: Adapters,
    request: Request,
    *,
    cancel: CancelToken,
    listen: Listener,
    refs: Sequence[RolloutRef] | None = None,
    with_usage: bool = False,
    snapshots: Snapshots | None = None,
) -> Audit:
    """Pair every claim with its citations, look up the evidence, and read the verdicts.

    `refs` are sessions that were scanned already; without them those below the request's sources are looked up (none
    named, none opened). Only cited sessions are read, all of them `with_usage`. `snapshots` keep what was cited;
    without them the baseline tells it. Raises `UsageError` without a memory folder, `InputError` for one that is
    missing or unreadable.
    """
    snapshot = await named_folder(adapters, request)
    if not snapshot.exists:
        raise InputError("there is no such folder", "give --memory-root DIR", snapshot.root)
    files = {path: file.data for path, file in snapshot.files.items()}
    complete = False
    if refs is None:
        refs, complete = await _discover(adapters, request, cancel, listen)
    read = await _read_sessions(adapters, refs, cited_places(files), with_usage, cancel, listen)
    complete = complete and not read.notes
    if snapshots is None:
        snapshots = await _at_baseline(adapters, snapshot, read.notes)
    async with open_store(adapters, request.home, writing=False) as call:
        records = await call(call.store.verdicts)
        outputs = await call(call.store.outputs)
        evidence = await call(call.store.evidence, snapshot.root)
        extracted = places_of(await call(call.store.evidence, EXTRACTED))
    new_lines = await _new_lines(adapters, request, snapshot, read.notes)
    kept_texts = {record.key: record.taken for record in evidence}
    projects = await adapters.offload.thread(read_projects, adapters.project_files, request.projects, files)
    sources = AuditSources(
        files, read.texts, frozenset(read.known), complete, {**snapshots, **extracted}, new_lines, kept_texts, projects
    )
    found = await adapters.offload.cpu(collect, sources)
    keys = await adapters.offload.cpu(partial(keys_with_secrets, adapters.layer_redactor()), found)
    if keys:
        found = with_secrets(found, keys, read.known)
    kept = _kept(outputs, usage_by_session(read.uses), request, adapters.clock())
    return Audit(
        found,
        records,
        snapshot,
        frozenset(read.known),
        tuple(read.uses),
        kept,
        tuple(read.notes),
        evidence,
        dict(read.texts),
        extracted,
    )


def keys_with_secrets(redactor: Redactor, found: AuditSet) -> frozenset[str]:
    """Return the items whose evidence holds a secret, by the rules alone. Raises `RedactionFailed`."""
    seen: dict[str, bool] = {}
    for item in found.items:
        if item.evidence not in seen:
            seen[item.evidence] = bool(item.evidence) and bool(redactor.redact(item.evidence).findings)
    return frozenset(item.key for item in found.items if seen[item.evidence])


async def _at_baseline(adapters: Adapters, snapshot: WorkspaceSnapshot, notes: list[str]) -> Snapshots:
    try:
        return await baseline_snapshots(adapters, snapshot)
    except InputError as error:
        notes.append(f"what the citations said at the baseline cannot be told: {error.what}")
        return {}


def _kept(outputs: Sequence[StageOneOutput], usage: Mapping[str, Usage], request: Request, now: int) -> dict[str, str]:
    days, fallback = request.settings.max_unused_days, request.settings.recency_fallback
    return {
        output.thread_id: standing_words(
            output, usage.get(output.thread_id.lower(), Usage()), now=now, max_unused_days=days, fallback=fallback
        )
        for output in outputs
    }


async def _discover(
    adapters: Adapters, request: Request, cancel: CancelToken, listen: Listener
) -> tuple[tuple[RolloutRef, ...], bool]:
    if not request.sources:
        return (), False
    limit = request.settings.scan_limit
    found = await adapters.offload.thread(
        lambda: adapters.rollouts.discover(request.sources, limit=limit, cancel=cancel, listen=listen)
    )
    return found.refs, not found.skipped and len(found.refs) < limit


def cited_places(files: Mapping[str, bytes]) -> dict[str, int]:
    """Return thread id in lower case → the last line that is cited of it."""
    last: dict[str, int] = {}
    for path in citing_files(files):
        for entry in parse(files[path].decode("utf-8", "surrogateescape")).entries:
            if entry.thread_id:
                thread = entry.thread_id.lower()
                last[thread] = max(last.get(thread, 0), entry.end)
    return last


async def _read_sessions(
    adapters: Adapters,
    refs: Sequence[RolloutRef],
    cited: Mapping[str, int],
    with_usage: bool,
    cancel: CancelToken,
    listen: Listener,
) -> _Read:
    read = _Read(known={ref.thread_id for ref in refs if ref.thread_id})
    wanted = [ref for ref in refs if with_usage or not ref.thread_id or ref.thread_id.lower() in cited]
    for number, ref in enumerate(wanted, 1):
        cancel.check()
        try:
            rollout = await adapters.offload.cpu(adapters.rollouts.load, ref)
        except InputError as error:
            read.notes.append(f"{ref.path}: {error.what}")
            continue
        read.known.add(rollout.id)
        if with_usage:
            read.uses += uses_in(rollout)
        last = cited.get(rollout.id.lower())
        if last is not None:
            read.texts[rollout.id] = await _session_text(adapters, rollout, last)
        listen(ScanProgressed(number, len(wanted), ref.path))
    return read


async def _session_text(adapters: Adapters, rollout: Rollout, last: int) -> SessionText:
    """Take what can be cited; the file's lines are counted only where a citation points behind the last item."""
    lines = lines_of(rollout.items)
    reached = max((*lines, *(line.line for line in rollout.skipped_lines)), default=0)
    count: int | None = reached
    if reached < last:
        plain = rollout.path.endswith(".jsonl") and all(item.row is None for item in rollout.items)
        count = await adapters.offload.thread(_count_lines, Path(rollout.path)) if plain else None
    return SessionText(lines, count, rollout.updated_at)


def _count_lines(path: Path) -> int | None:
    """Return the lines of a file, a last one without its end too; None when it is gone."""
    try:
        with path.open("rb") as file:
            count, end = 0, b"\n"
            while chunk := file.read(_CHUNK):
                count += chunk.count(b"\n")
                end = chunk[-1:]
            return count + (end != b"\n")
    except OSError:
        return None


async def _new_lines(
    adapters: Adapters, request: Request, snapshot: WorkspaceSnapshot, notes: list[str]
) -> frozenset[tuple[str, int]]:
    """Return which lines came with the last apply, while its undo image lives."""
    try:
        offer = await adapters.offload.store(adapters.undo.offer, request.home, adapters.clock(), snapshot)
    except KnownError as error:
        notes.append(f"what is new since the last apply cannot be told: {error.what}")
        return frozenset()
    if offer is None:
        return frozenset()
    return frozenset(line for change in offer.changes for line in _added(change, snapshot))


def _added(change: FileChange, snapshot: WorkspaceSnapshot) -> list[tuple[str, int]]:
    """Return the lines of a file that were not in it before the last apply. An undo leads from now to before."""
    file = snapshot.files.get(change.path)
    if file is None:
        return []
    lines = file.data.split(b"\n")
    if change.change == "deleted":
        return [(change.path, number) for number in range(1, len(lines) + 1)]
    if change.content is not None:
        before = set(base64.b64decode(change.content).split(b"\n"))
        return [(change.path, number) for number, line in enumerate(lines, 1) if line not in before]
    return [(change.path, hunk.old_start + offset) for hunk in change.hunks for offset in range(1, len(hunk.old) + 1)]
