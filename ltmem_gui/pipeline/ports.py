"""What the use cases need from the world. Adapters implement these; the composition root wires them.

Adapters are synchronous unless a method is `async`; the pipeline runs them through `Offload`, never on the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import ApplyGrant, Receipt, Selection
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply, StageOneOutput
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.jobs import Claim, Owner
from ltmem_gui.domain.plan import FileChange, FileMark, Plan, ProviderMark, SelectedRow, WorkspaceMark
from ltmem_gui.domain.rollouts import (
    Eligibility,
    RateLimits,
    Rollout,
    RolloutRef,
    SkippedFile,
    SkippedLine,
    SourceSpec,
)
from ltmem_gui.domain.secrets import Redaction, SecretFinding
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.usage import CitedUse
from ltmem_gui.pipeline.agent_ports import AgentAdapters as AgentAdapters
from ltmem_gui.pipeline.agent_ports import AgentModel as AgentModel
from ltmem_gui.pipeline.agent_ports import StagedFolder as StagedFolder
from ltmem_gui.pipeline.codex_ports import ForeignLease as ForeignLease
from ltmem_gui.pipeline.codex_ports import ForeignMemories as ForeignMemories
from ltmem_gui.pipeline.lock_ports import LockAdapters as LockAdapters
from ltmem_gui.pipeline.lock_ports import LockHolder as LockHolder
from ltmem_gui.pipeline.lock_ports import RootLock as RootLock
from ltmem_gui.pipeline.outside_ports import OutsideAdapters as OutsideAdapters
from ltmem_gui.pipeline.storage import Store as Store
from ltmem_gui.pipeline.storage import StoreOpener as StoreOpener

T = TypeVar("T")

Clock = Callable[[], int]
"""Return Unix seconds, UTC."""


class Offload(Protocol):
    """Run blocking work off the event loop."""

    async def store(self, function: Callable[..., T], *args: Any) -> T:
        """Run on the one store thread (SQLite and git)."""
        ...

    async def cpu(self, function: Callable[..., T], *args: Any) -> T:
        """Run a picklable module-level function where it cannot hold the UI thread (worker process or thread)."""
        ...

    async def thread(self, function: Callable[..., T], *args: Any) -> T:
        """Run on a thread that only waits."""
        ...


# --- rollouts ---


@dataclass(frozen=True, slots=True)
class Discovery:
    """References newest first, duplicates (live, archived, copied, database) merged; and what was not taken."""

    refs: tuple[RolloutRef, ...]
    skipped: tuple[SkippedFile, ...] = ()


class RolloutSource(Protocol):
    """Find and read sessions; never writes, never opens a foreign database in place."""

    def discover(self, specs: Sequence[SourceSpec], *, limit: int, cancel: CancelToken, listen: Listener) -> Discovery:
        """List the newest `limit` sessions below the folders the person named.

        Raises `InputError` naming the folder when it is missing or unreadable.
        """
        ...

    def load(self, ref: RolloutRef) -> Rollout:
        """Read one session whole. Raises `InputError` when the file is gone or unreadable."""
        ...

    def fingerprint(self, ref: RolloutRef) -> RolloutRef | None:
        """Stat the file again; None when it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class ScannedRollout:
    """One session as the queue lists it, without its text. `tokens` estimates what a provider would get."""

    ref: RolloutRef
    id: str
    agent: str
    path: str
    cwd: str
    title: str
    git_branch: str | None
    updated_at: int | None
    eligibility: Eligibility
    items: int
    tokens: int
    skipped_lines: tuple[SkippedLine, ...] = ()
    warnings: tuple[str, ...] = ()
    rate_limits: RateLimits | None = None
    citations: tuple[CitedUse, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanRules:
    """What eligibility is judged by; `now` in Unix seconds."""

    settings: Settings
    now: int
    memory_root: str
    home: str


class RolloutPreparer(Protocol):
    """Read, filter, redact and budget one rollout, off the event loop."""

    async def scan(self, ref: RolloutRef, rules: ScanRules) -> ScannedRollout:
        """Read one session and judge it; never loads the redaction engine. Raises `InputError`."""
        ...

    async def prepare(self, ref: RolloutRef, *, token_limit: int) -> ExtractionInput:
        """Return the redacted input of one session. Raises `InputError` or `RedactionFailed`."""
        ...


# --- redaction ---


class Redactor(Protocol):
    """The one choke point. Raises `RedactionFailed` rather than let a text through unchecked."""

    def redact(self, text: str, *, known: Sequence[str] = ()) -> Redaction:
        """Replace secrets by placeholders; `known` values go by exact match too."""
        ...

    def redact_json(self, value: Any, *, known: Sequence[str] = ()) -> tuple[Any, tuple[SecretFinding, ...]]:
        """Redact the decoded leaves of a JSON value (JSON in JSON too); the result is always valid JSON."""
        ...


# --- providers ---


class Extractor(Protocol):
    """Phase 1 of a provider."""

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it; `host` is empty when nothing leaves this computer."""
        ...

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        """Answer with the untrusted reply. Raises `ProviderError` with the failure group."""
        ...

    async def close(self) -> None:
        """Close connections; harmless when nothing was opened."""
        ...


@runtime_checkable
class SplittingExtractor(Extractor, Protocol):
    """A provider that can extract a rollout in parts."""

    async def extract_split(self, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
        """Extract parts of at most `part_tokens` and merge them through one more call. Raises `ProviderError`."""
        ...


@dataclass(frozen=True, slots=True)
class ConsolidationRequest:
    """What consolidation works from.

    `outputs` in ascending thread-id order; `inputs` are the rendered files of exactly these outputs; `existing` holds
    the artifacts (`MEMORY.md`, `memory_summary.md`, …) as they are on disk; `notes` the ad-hoc notes by path;
    `refused` the texts of hunks that were rejected earlier.
    """

    outputs: tuple[StageOneOutput, ...]
    inputs: Mapping[str, bytes]
    existing: Mapping[str, bytes]
    notes: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    diff: str = ""
    refused: tuple[str, ...] = ()
    now: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """Untrusted output of consolidation: new bytes per path, None where a file should go."""

    files: Mapping[str, bytes | None]
    notes: tuple[str, ...] = ()


class Consolidator(Protocol):
    """Phase 2 of the built-in provider: pure, deterministic."""

    def __call__(self, request: ConsolidationRequest) -> Proposal:
        """Merge the outputs into the artifacts with minimal churn."""
        ...


class MemoryValidator(Protocol):
    """Check a memory folder's files against the rules of reference §8.4–8.6 (missing artifacts, `v1`, citations, …)."""

    def __call__(
        self,
        files: Mapping[str, bytes],
        *,
        before: Mapping[str, bytes],
        loss_limit_percent: int,
        known_threads: frozenset[str],
    ) -> tuple[Finding, ...]:
        """Return findings with file and line; blocking ones keep the plan from being applied."""
        ...


# --- memory folder ---


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """One regular file below the memory root; `path` with forward slashes, `mode` permission bits."""

    path: str
    data: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class WorkspaceSnapshot:
    """A memory folder as it is on disk, `.git` left out.

    `baseline` is the commit id, None without a usable one; `baseline_blobs` maps path → (git blob id, git mode) of its
    tree; `problems` names symlinks (never followed), unreadable entries, a broken `.git`. `leftover` tells that
    `phase2_workspace_diff.md` was found (it is never in `files`).
    """

    root: str
    exists: bool
    files: Mapping[str, WorkspaceFile]
    baseline: str | None
    baseline_blobs: Mapping[str, tuple[str, str]]
    leftover: bool = False
    problems: tuple[str, ...] = ()

    def mark(self) -> WorkspaceMark:
        """Return the fingerprint that plans bind."""
        files = {f.path: FileMark(sha256=content_hash(f.data), mode=f.mode) for f in self.files.values()}
        return WorkspaceMark(root=self.root, exists=self.exists, baseline=self.baseline, files=files)


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """One line of the workspace status: A, M or D, and the path."""

    status: str
    path: str


class Workspace(Protocol):
    """Read a memory folder and render what belongs into it; writes nothing."""

    def read(self, root: Path) -> WorkspaceSnapshot:
        """Read the folder. Raises `InputError` for a symlinked or unreadable root; a missing one is `exists=False`."""
        ...

    def render_inputs(self, outputs: Sequence[StageOneOutput]) -> dict[str, bytes]:
        """Return `raw_memories.md` and `rollout_summaries/…`, equal to Codex's bytes."""
        ...

    def stale_paths(self, snapshot: WorkspaceSnapshot, inputs: Mapping[str, bytes], now: int) -> dict[str, str]:
        """Return path → reason for summaries and extension resources that are to be pruned."""
        ...

    def baseline_changes(self, snapshot: WorkspaceSnapshot, files: Mapping[str, bytes]) -> tuple[BaselineChange, ...]:
        """Compare a tree with the baseline without writing any object."""
        ...

    def workspace_diff(self, snapshot: WorkspaceSnapshot, files: Mapping[str, bytes]) -> str:
        """Render `phase2_workspace_diff.md` of a tree against the baseline (capped, fence-safe)."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """One thing that git keeps of a memory folder.

    `name` is an object id, or a path below `.git`; `kind` is blob, tree, commit, tag, or file.
    """

    name: str
    kind: str
    data: bytes


class WorkspaceWriter(Protocol):
    """The only thing that changes a memory folder."""

    def apply(self, grant: ApplyGrant) -> Receipt:
        """Carry out the selection of the grant: all of it or nothing.

        Raises a `RefusedError` of its own kind for a missing, reused, expired, wrong or stale grant.
        """
        ...


class ApplyLedger(Protocol):
    """The database side of an apply: one global lease, and one transaction at the end. Used from several threads."""

    def recorded(self, plan_digest: str) -> Receipt | None:
        """Return the receipt of a plan that was carried out, None when there is none."""
        ...

    def claim(self, plan: Plan) -> Claim:
        """Take the global lease; a dead holder on this host is taken over at once.

        Raises `LockBusy` naming the holder, `AlreadyApplied` when the plan has a receipt.
        """
        ...

    def heartbeat(self, claim: Claim) -> bool:
        """Renew the lease; False when it is another's by now."""
        ...

    def owns(self, claim: Claim) -> bool:
        """Tell whether the lease is still this claim's."""
        ...

    def finish(
        self,
        claim: Claim,
        plan: Plan,
        selection: Selection,
        receipt: Receipt,
        *,
        watermark: int | None,
        rows: Sequence[SelectedRow],
    ) -> Receipt:
        """Record success, watermark (never lower than stored), flags, rejected hunks, database effects and receipt.

        One transaction; returns the numbered receipt. Raises `LeaseLost` for a lost lease.
        """
        ...

    def fail(self, claim: Claim, reason: str) -> None:
        """End the lease as a failure with its reason."""
        ...

    def release(self, claim: Claim) -> None:
        """Give the lease back: nothing was begun."""
        ...


@dataclass(frozen=True, slots=True)
class InterruptedOperation:
    """An apply that was cut off: digest of its plan, last step reached, paths it touches."""

    digest: str
    step: str
    files: tuple[str, ...]
    root: str
    operation: str
    recorded: bool


class ApplyRecovery(Protocol):
    """Finish or take back what a crash cut off. `pending` writes nothing."""

    def pending(self) -> tuple[InterruptedOperation, ...]:
        """List the interrupted operations of the data folder."""
        ...

    def finish(self, digest: str) -> Receipt:
        """Carry an operation to its end. May be repeated."""
        ...

    def roll_back(self, digest: str) -> None:
        """Restore the folder as it was. May be repeated. Raises `AlreadyApplied` when the receipt exists."""
        ...


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """What would take the last apply back: the digest of its plan, until when (Unix seconds), and the changes."""

    digest: str
    expires_at: int
    changes: tuple[FileChange, ...]


class UndoSource(Protocol):
    """Look at the undo image of a data folder; writes nothing."""

    def offer(self, home: Path, now: int, snapshot: WorkspaceSnapshot) -> UndoOffer | None:
        """Return what can be undone, None without a usable image. Raises `WorkspaceMoved` for files changed since."""
        ...

    def expired(self, home: Path, now: int) -> str:
        """Return the folder of an image past its time, nothing when there is none."""
        ...

    def discard(self, home: Path) -> None:
        """Remove the image: an effect of a confirmed plan. Raises `OSError`."""
        ...


class Adapters(AgentAdapters, OutsideAdapters, LockAdapters, Protocol):
    """Everything a use case may ask for; each is built when it is first asked for."""

    @property
    def clock(self) -> Clock: ...
    @property
    def offload(self) -> Offload: ...
    @property
    def rollouts(self) -> RolloutSource: ...
    @property
    def preparer(self) -> RolloutPreparer: ...
    @property
    def redactor(self) -> Redactor: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def stores(self) -> StoreOpener: ...
    @property
    def consolidate(self) -> Consolidator: ...
    @property
    def validate(self) -> MemoryValidator: ...
    @property
    def undo(self) -> UndoSource: ...
    @property
    def owner(self) -> Owner: ...

    def use_home(self, home: Path) -> None:
        """Tell which data folder the work is for: caches inside it may be used once it exists."""
        ...

    def use_settings(self, settings: Settings) -> None:
        """Tell which settings the work is under. Raises `UsageError` for redaction settings that are not accepted."""
        ...

    async def redact_text(self, text: str, known: tuple[str, ...] = ()) -> Redaction:
        """Pass a text through the choke point, off the event loop. Raises `RedactionFailed`."""
        ...

    async def redact_texts(self, texts: tuple[str, ...], known: tuple[str, ...] = ()) -> tuple[Redaction, ...]:
        """Pass several texts through the choke point in one go. Raises `RedactionFailed`."""
        ...

    async def redact_labels(self, labels: tuple[str, ...]) -> tuple[Redaction, ...]:
        """Pass labels a plan shows through the rules alone, all in one go. Raises `RedactionFailed`.

        Without the engine, which takes seconds to start: for folders, branches, titles and names, never for a text.
        """
        ...

    def layer_redactor(self) -> Redactor:
        """Return the rules alone, without the engine."""
        ...

    def memory_objects(self, root: Path) -> Iterable[MemoryObject]:
        """Read everything git keeps below a memory root. Raises `InputError` where that cannot be read whole."""
        ...

    def extractor(self, provider: str, settings: Settings) -> Extractor:
        """Return the Phase-1 side of a provider. Raises `UsageError` for an unknown or incomplete one."""
        ...

    def writer(self, home: Path, ledger: ApplyLedger) -> WorkspaceWriter: ...
    def recovery(self, home: Path) -> ApplyRecovery: ...

    def close(self) -> None:
        """Shut down what was started: threads and worker processes."""
        ...

    def lay_samples(self, sessions: Path, now: int) -> None:
        """Write the demo's sample rollouts into `sessions`, a folder that must not exist."""
        ...
