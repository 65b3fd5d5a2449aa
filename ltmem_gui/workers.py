"""Work that must not hold the event loop: parsing, redaction and the built-in rules, in worker processes.

Threads would not do: regular expressions and JSON decoding hold the interpreter for a whole call (reference
performance.md §9). Processes are spawned, two of them, at low priority, and only once there is enough to do.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ltmem_gui.domain.anchors import line_hashes
from ltmem_gui.domain.eligibility import assess
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.evidence import lines_of
from ltmem_gui.domain.extraction import ExtractionInput
from ltmem_gui.domain.memory_items import memory_items, render_transcript, transcript_tokens
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.domain.usage import cited_in
from ltmem_gui.low_processes import lower_this, worker_context
from ltmem_gui.pipeline.ports import Offload, ScannedRollout, ScanRules
from ltmem_gui.sources.library import load_rollout

if TYPE_CHECKING:
    from ltmem_gui.domain.redaction import RedactionPolicy
    from ltmem_gui.redactor.parcels import Parcel
    from ltmem_gui.redactor.service import SecretRedactor

T = TypeVar("T")
EngineName = Literal["full", "layer"]


@dataclass(frozen=True, slots=True)
class RedactorChoice:
    """Which redactor a process is to use; crosses to the workers. No `policy` is the default one."""

    engine: EngineName
    cache_dir: str = ""
    policy: RedactionPolicy | None = None


PROCESSES = 2
# Below this many calls a run is over before two interpreters have started.
CALLS_BEFORE_PROCESSES = 24

_BUILDING = threading.Lock()


class Workers:
    """The executors of one program run; implements the `Offload` port.

    Threads: `store` has one thread, so that SQLite and git see one caller; `thread` only waits. `cpu` runs on worker
    processes from the first call (`eager`, the window) or once enough calls were made (the command line).
    """

    def __init__(self, *, eager: bool) -> None:
        self._store = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="wait")
        self._single = ThreadPoolExecutor(1, thread_name_prefix="cpu")
        self._processes: ProcessPoolExecutor | None = None
        self._calls = CALLS_BEFORE_PROCESSES if eager else 0

    async def store(self, function: Callable[..., T], *args: Any) -> T:
        """Run on the store thread."""
        return await self._run(self._store, function, *args)

    async def thread(self, function: Callable[..., T], *args: Any) -> T:
        """Run on a thread that only waits."""
        return await self._run(self._threads, function, *args)

    async def cpu(self, function: Callable[..., T], *args: Any) -> T:
        """Run a picklable function in a worker process, or on one thread while there is little to do."""
        self._calls += 1
        if self._calls <= CALLS_BEFORE_PROCESSES:
            return await self._run(self._single, function, *args)
        try:
            return await self._run(self._pool(), function, *args)
        except BrokenProcessPool as error:
            self._processes = None
            raise InputError("a worker process died", "run it again; if it happens again, report it") from error

    def start(self) -> None:
        """Start the worker processes where they are wanted from the first call; from any thread."""
        if self._calls >= CALLS_BEFORE_PROCESSES:
            for _ in range(PROCESSES):
                self._pool().submit(os.getpid)

    def close(self) -> None:
        """Shut every executor down; threads are waited for, waiting work is dropped.

        Worker processes hold nothing but pure work whose result nobody waits for any more: they are ended.
        """
        if self._processes is not None:
            running: dict[int, BaseProcess] = getattr(self._processes, "_processes", None) or {}
            for process in tuple(running.values()):
                process.terminate()
            self._processes.shutdown(wait=True, cancel_futures=True)
        for executor in (self._single, self._threads, self._store):
            executor.shutdown(wait=True, cancel_futures=True)

    async def _run(self, executor: Executor, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, functools.partial(function, *args))

    def _pool(self) -> ProcessPoolExecutor:
        if self._processes is None:
            self._processes = ProcessPoolExecutor(
                PROCESSES,
                mp_context=worker_context(),
                initializer=lower_this,
            )
        return self._processes


class Preparer:
    """Read, judge and redact sessions on the workers; implements the `RolloutPreparer` port."""

    def __init__(self, offload: Offload, choice: Callable[[], RedactorChoice]) -> None:
        self._offload = offload
        self._choice = choice

    async def scan(self, ref: RolloutRef, rules: ScanRules) -> ScannedRollout:
        """Read one session and judge it."""
        return await self._offload.cpu(scan_rollout, ref, rules)

    async def prepare(self, ref: RolloutRef, *, token_limit: int) -> ExtractionInput:
        """Return the redacted, budgeted input of one session."""
        return await self._offload.cpu(prepare_rollout, ref, token_limit, self._choice())


def scan_rollout(ref: RolloutRef, rules: ScanRules) -> ScannedRollout:
    """Read one session and judge it; the text stays in the worker."""
    rollout = load_rollout(ref)
    kept = memory_items(rollout)
    eligibility = assess(
        rollout, rules.settings, rules.now, memory_root=rules.memory_root or None, home=rules.home or None
    )
    title, cwd, branch = _labels(rollout)
    return ScannedRollout(
        ref=replace(ref, thread_id=rollout.id),
        id=rollout.id,
        agent=rollout.agent,
        path=rollout.path,
        cwd=cwd,
        title=title,
        git_branch=branch,
        updated_at=rollout.updated_at,
        eligibility=eligibility,
        items=len(rollout.items),
        tokens=transcript_tokens(kept),
        skipped_lines=rollout.skipped_lines,
        warnings=rollout.warnings,
        rate_limits=rollout.rate_limits,
        citations=cited_in(rollout),
    )


def _labels(rollout: Rollout) -> tuple[str, str, str | None]:
    """Return title, folder and branch without secrets: plans and job rows keep them; the whole session tells them."""
    # Imported here: the rules take a while to load, and a process that scans nothing does not need them.
    from ltmem_gui.domain.redaction.labels import redact_labels

    labels = (rollout.title, rollout.cwd, rollout.git_branch or "")
    title, cwd, branch = redact_labels(labels, (item.text for item in rollout.items))
    return title, cwd, None if rollout.git_branch is None else branch


def prepare_rollout(ref: RolloutRef, token_limit: int, choice: RedactorChoice) -> ExtractionInput:
    """Read, filter, redact, then budget: redaction comes before truncation, so that no secret is cut in half."""
    from ltmem_gui.domain.redaction.known import collect_known

    rollout = load_rollout(ref)
    redactor = process_redactor(choice)
    found: Counter[str] = Counter()
    known: set[str] = set()
    items = []
    asked = ""
    for item in memory_items(rollout):
        redaction = redactor.redact(item.text, before=asked)
        asked = item.text
        found.update(finding.kind for finding in redaction.findings)
        known.update(collect_known(item.text, redaction.findings))
        items.append(replace(item, text=redaction.text))
    known_values = tuple(sorted(known))
    if known_values:
        items = [replace(item, text=redactor.redact(item.text, known=known_values).text) for item in items]
    transcript, before, tokens, truncated = render_transcript(tuple(items), token_limit)
    return ExtractionInput(
        thread_id=rollout.id,
        agent=rollout.agent,
        rollout_path=rollout.path,
        cwd=redactor.redact(rollout.cwd, known=known_values).text,
        git_branch=_branch(redactor, rollout, known_values),
        started_at=rollout.started_at,
        updated_at=rollout.updated_at or 0,
        items=tuple(items),
        transcript=transcript,
        tokens_before=before,
        tokens=tokens,
        truncated=truncated,
        redactions=dict(sorted(found.items())),
        known_values=known_values,
        line_hashes=line_hashes(lines_of(rollout.items)),
    )


def _branch(redactor: SecretRedactor, rollout: Rollout, known: tuple[str, ...]) -> str | None:
    return None if rollout.git_branch is None else redactor.redact(rollout.git_branch, known=known).text


def redact_text(text: str, known: tuple[str, ...], choice: RedactorChoice) -> Redaction:
    """Redact one text. Raises `RedactionFailed`."""
    return process_redactor(choice).redact(text, known=known)


def redact_texts(texts: tuple[str, ...], known: tuple[str, ...], choice: RedactorChoice) -> tuple[Redaction, ...]:
    """Redact several texts in one go: a call to a worker costs more than a short text. Raises `RedactionFailed`."""
    redactor = process_redactor(choice)
    return tuple(redactor.redact(text, known=known) for text in texts)


def redact_parcel(pieces: tuple[bytes, ...], known: tuple[str, ...], choice: RedactorChoice) -> Parcel:
    """Redact one long text that came in pieces. Raises `RedactionFailed`."""
    from ltmem_gui.redactor.parcels import pack, unpack_text

    return pack(redact_text(unpack_text(pieces), known, choice))


def process_redactor(choice: RedactorChoice) -> SecretRedactor:
    """Return this process's redactor; its rules take seconds to compile, so each process builds them once."""
    with _BUILDING:
        return _redactor(choice)


@functools.lru_cache(maxsize=2)
def _redactor(choice: RedactorChoice) -> SecretRedactor:
    # Imported here: a scan reads thousands of sessions and must not wait for rules it never uses.
    from ltmem_gui.domain.redaction import DEFAULT_POLICY
    from ltmem_gui.redactor.service import SecretRedactor

    cache = Path(choice.cache_dir) if choice.cache_dir else None
    return SecretRedactor(engine=choice.engine, cache_dir=cache, policy=choice.policy or DEFAULT_POLICY)
