"""What the use cases need of the database of a data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol

from ltmem_gui.domain.audit_evidence import EvidenceChange, KeptEvidence
from ltmem_gui.domain.chain import ChainBreak, ChainEntry
from ltmem_gui.domain.consent import Approval, KeptTranscript, Receipt
from ltmem_gui.domain.effects import PlannedJob, TakeOverJobs, TakeOverRow
from ltmem_gui.domain.extraction import ExtractionReply, StageOneOutput
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.jobs import Claim, ClaimResult, JobRecord, JobStatus, Owner
from ltmem_gui.domain.limits import ProviderLimits, ServerForms
from ltmem_gui.domain.plan import ProviderMark, SelectedRow
from ltmem_gui.domain.prices import Bill
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.verdicts import VerdictRecord


class Store(Protocol):
    """Jobs, outputs and the operation log of one data folder. Used on the store thread only."""

    # outputs
    def outputs(self) -> tuple[StageOneOutput, ...]: ...
    def excluded(self) -> Mapping[str, str]: ...
    def selected_rows(self) -> tuple[SelectedRow, ...]: ...
    def prunable(
        self,
        now: int,
        max_unused_days: int,
        limit: int,
        recency_fallback: Literal["generated_at", "source_updated_at"] = "generated_at",
    ) -> tuple[str, ...]:
        """Return the stalest rows that are unused and not in the last baseline (reference §3.9, design §5.1)."""
        ...

    def output(self, thread_id: str) -> StageOneOutput | None:
        """Return the row of one thread."""
        ...

    def edit_output(self, thread_id: str, *, source_updated_at: int, changes: Mapping[str, str], now: int) -> bool:
        """Change text columns of a row if it still is of this source; Phase 2 is enqueued."""
        ...

    def exclude(self, thread_id: str, *, reason: str, now: int) -> None:
        """Leave a thread out of consolidation until lifted."""
        ...

    def lift(self, thread_id: str) -> bool:
        """Take a thread in again; False when it was not left out."""
        ...

    def credit_usage(self, citations: Sequence[Mapping[str, str]], *, now: int) -> int:
        """Credit citations (see `domain.usage.credits_of`), each once ever; return updated rows."""
        ...

    def uncredited(self, citations: Sequence[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
        """Return those of the citations that were never credited, in order."""
        ...

    # what Codex keeps, taken over (rules in domain/taking_over)
    def take_over_row(self, row: TakeOverRow, *, now: int) -> bool:
        """Take a memory of Codex's over unless the stored one is as new or left out; tell whether a row changed.

        Phase 2 is enqueued when a text changed.
        """
        ...

    def take_over_jobs(self, jobs: TakeOverJobs, *, now: int) -> int:
        """Raise the watermarks of jobs to Codex's; return how many were lower."""
        ...

    # stage-1 jobs (reference §3.4–3.8)
    def up_to_date(self, thread_id: str, source_updated_at: int) -> bool: ...
    def claim_stage1(self, job: PlannedJob, owner: Owner, *, now: int, cap: int) -> ClaimResult: ...
    def heartbeat_stage1(self, claim: Claim, now: int) -> bool: ...
    def succeed_stage1(
        self, claim: Claim, output: StageOneOutput, reply: ExtractionReply, *, now: int, bill: Bill | None = None
    ) -> None:
        """Store the output and enqueue Phase 2, in one transaction. Raises `LeaseLost` for a lost token.

        `bill` says what the attempt took; without it the tokens of the reply are kept.
        """
        ...

    def succeed_stage1_no_output(
        self, claim: Claim, reply: ExtractionReply, *, now: int, bill: Bill | None = None
    ) -> None:
        """Record the no-op; an earlier row is deleted and Phase 2 enqueued. Raises `LeaseLost`."""
        ...

    def fail_stage1(
        self,
        claim: Claim,
        *,
        outcome: str,
        group: str,
        reason: str,
        now: int,
        retry_after: int | None,
        bill: Bill | None = None,
    ) -> None:
        """Record a failure and when to try again; `bill` is what answers took all the same."""
        ...

    def release_stage1(self, claim: Claim, *, outcome: str, reason: str, now: int) -> None:
        """Give a lease back without costing a try (cancelled, changed since planning)."""
        ...

    def claim_stage1_batch(
        self, jobs: Sequence[PlannedJob], owner: Owner, *, now: int, cap: int
    ) -> tuple[ClaimResult, ...]:
        """Claim several threads in one transaction; one result per job, in order."""
        ...

    def reap_stage1(self, now: int) -> int:
        """Free the jobs whose holder died on this host, counting the crash; return how many."""
        ...

    def prune(self, thread_ids: Sequence[str]) -> int: ...
    def jobs(self) -> tuple[JobRecord, ...]: ...

    def job(self, kind: str, job_key: str) -> JobRecord | None:
        """Return one job with its attempts."""
        ...

    def interrupted(self) -> tuple[JobRecord, ...]:
        """Return the running jobs whose holder died on this host; changes nothing."""
        ...

    def hold_job(self, thread_id: str, *, expected: JobStatus, now: int) -> bool:
        """Hold a job for a person, if it still is as `expected`."""
        ...

    def release_job(self, thread_id: str, *, now: int) -> bool:
        """Let a held job be claimed again, with all tries."""
        ...

    def retry_job(self, thread_id: str, *, expected: JobStatus, now: int) -> bool:
        """End the back-off of a job and give it all tries, if it still is as `expected`."""
        ...

    # the global job (reference §4.1)
    def enqueue_global(self, watermark: int) -> None:
        """Call for consolidation; the input watermark always rises."""
        ...

    def reap_global(self, now: int) -> int:
        """Free the global job when its holder died on this host; return 1 when it did."""
        ...

    def claim_global(self, owner: Owner, *, now: int, ignore_cooldown: bool) -> ClaimResult: ...
    def heartbeat_global(self, claim: Claim, now: int) -> bool: ...
    def owns_global(self, claim: Claim) -> bool: ...
    def finish_global(
        self,
        claim: Claim,
        *,
        watermark: int,
        rows: Sequence[SelectedRow],
        receipt: Receipt,
        now: int,
        bill: Bill | None = None,
    ) -> Receipt:
        """Record success, watermark, selection flags and receipt in one transaction; return the numbered receipt."""
        ...

    def fail_global(self, claim: Claim, *, reason: str, now: int, bill: Bill | None = None) -> None: ...
    def release_global(self, claim: Claim, *, now: int, bill: Bill | None = None) -> None: ...
    def watermark(self) -> int:
        """Return the last success watermark, 0 before the first."""
        ...

    # the operation log: append-only, hash-chained, without memory text
    def record_approval(self, approval: Approval) -> None: ...
    def record_receipt(self, receipt: Receipt) -> Receipt:
        """Append a receipt that needs no other row; return it with its number."""
        ...

    def record_work(self, work: Callable[[], Receipt]) -> Receipt:
        """Do `work` on rows of this store and append the receipt it returns, in one transaction.

        What `work` raises undoes it.
        """
        ...

    def receipt_of(self, plan_digest: str) -> Receipt | None: ...
    def receipts(self) -> tuple[Receipt, ...]: ...
    def log(self) -> tuple[ChainEntry, ...]:
        """Return approvals and receipts, oldest first."""
        ...

    def verify_log(self) -> ChainBreak | None:
        """Return the first break of the hash chain, or what is kept beside it and is not bound; None: all is whole."""
        ...

    def transcripts(self) -> Mapping[int, KeptTranscript]:
        """Return what was kept of the calls of agents, by the number of the receipt."""
        ...

    # the inbox of uncertain lines (rules in domain/inbox)
    def inbox(self, now: int) -> tuple[InboxLine, ...]:
        """Return the open lines, best first. They come in with the replies of Phase 1."""
        ...

    def take_inbox(self, line_id: int, *, now: int, text: str | None = None) -> str:
        """Add a line (reworded and redacted: `text`) to its thread's raw memory; return the thread.

        Raises `InputError` when the line does not wait any more.
        """
        ...

    def drop_inbox(self, line_id: int, *, now: int) -> str:
        """Drop a line for good; return the thread. Raises `InputError`."""
        ...

    # rejected hunks, verdicts
    def refuse_hunks(self, hunks: Iterable[RefusedHunk]) -> int:
        """Keep rejected hunks by content; return how many were new."""
        ...

    def refused_hunks(self) -> tuple[RefusedHunk, ...]:
        """Return the rejected hunks that were not lifted, oldest first."""
        ...

    def lift_refusal(self, key: str) -> bool:
        """Let a hunk be proposed again."""
        ...

    def add_verdicts(self, verdicts: Iterable[VerdictRecord]) -> int:
        """Append verdicts of an audit sitting."""
        ...

    def verdicts(self, frame: str | None = None) -> tuple[VerdictRecord, ...]:
        """Return the verdicts of a frame, or all, oldest first."""
        ...

    # what cited places said
    def evidence(self, root: str) -> tuple[KeptEvidence, ...]:
        """Return what is kept of the citations of a memory folder."""
        ...

    def keep_evidence(self, root: str, records: Iterable[KeptEvidence]) -> int:
        """Add records of citations that have none; return how many."""
        ...

    def change_evidence(self, root: str, change: EvidenceChange) -> None:
        """Delete and put records after an apply, in one transaction."""
        ...

    # what providers said of their limits
    def keep_limits(self, mark: ProviderMark, limits: ProviderLimits) -> None:
        """Keep what the last answer said, in place of what was kept before."""
        ...

    def limits_of(self, mark: ProviderMark) -> ProviderLimits | None:
        """Return what is kept of a provider's limits, None where nothing is."""
        ...

    def keep_forms(self, mark: ProviderMark, forms: ServerForms) -> None:
        """Keep what a server was found to take, in place of what was kept before."""
        ...

    def forms_of(self, mark: ProviderMark) -> ServerForms | None:
        """Return what a server was found to take, None where nothing is kept."""
        ...

    # forgetting
    def forget(self, thread_id: str, *, reason: str, now: int) -> dict[str, int]:
        """Delete every trace of a thread, in the file and its log; it stays excluded with `reason`."""
        ...

    def clear_all(self) -> dict[str, int]:
        """Delete all memory rows and the jobs of both phases.

        Exclusions, the operation log and a global lease that is held at the moment stay.
        """
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a person must be told of the opening (a damaged file was set aside)."""
        ...


class StoreOpener(Protocol):
    """Open the database of a data folder."""

    def writing(self, home: Path) -> AbstractContextManager[Store]:
        """Open for change; the folder exists (a confirmed effect made it).

        Raises `InputError` naming the true cause.
        """
        ...

    def reading(self, home: Path, *, strict: bool = False) -> AbstractContextManager[Store]:
        """Open for reading without creating or touching any file; a missing folder is an empty store.

        So is a damaged file, with `notices` that say so; with `strict` it raises `DatabaseDamaged`.
        """
        ...

    def empty(self) -> AbstractContextManager[Store]:
        """Open an empty store in memory, for a plan beside a damaged file."""
        ...

    def create_home(self, home: Path) -> None:
        """Create the data folder (0700) and its database: the `CreateDataFolder` effect."""
        ...
