"""The writer: the only module that changes a memory folder, and only with a fresh grant (design §2, invariant I2)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.consent import ApplyGrant, Receipt
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    GrantMissing,
    InputError,
    KnownError,
    RefusedError,
    StalePlan,
    WrongDigest,
)
from ltmem_gui.domain.jobs import Claim, Owner
from ltmem_gui.domain.leases import StageTwo
from ltmem_gui.domain.naming import STAGING_PREFIX
from ltmem_gui.domain.plan import PlanState
from ltmem_gui.pipeline.ports import ApplyLedger, Clock, RootLock, WorkspaceSnapshot
from ltmem_gui.workspace.git_program import GitFailed
from ltmem_gui.workspace.heartbeat import Heartbeat
from ltmem_gui.workspace.journal import Journal, journals, remove_incomplete
from ltmem_gui.workspace.locking import Cover
from ltmem_gui.workspace.preparing import Prepared, prepare, require_unmoved, require_writable
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.settling import clean_up_or_leave, in_words, record
from ltmem_gui.workspace.steps import Faults, Reached
from ltmem_gui.workspace.transaction import Transaction

_LOG = logging.getLogger(__name__)


class Writer:
    """Implement the port `WorkspaceWriter` for one data folder. One apply at a time; any thread."""

    def __init__(
        self,
        home: Path,
        *,
        ledger: ApplyLedger,
        locks: RootLock,
        owner: Owner,
        clock: Clock,
        faults: Reached | None = None,
        cover: Cover = nullcontext,
        heartbeat_seconds: float = StageTwo.JOB_HEARTBEAT_SECONDS,
    ) -> None:
        """Keep journal and undo image below `home`, which exists. Nothing is created before a grant is used."""
        self._home = home
        self._ledger = ledger
        self._locks = locks
        self._owner = owner
        self._clock = clock
        self._reach: Reached = faults if faults is not None else Faults()
        self._cover = cover
        self._heartbeat_seconds = heartbeat_seconds

    def apply(self, grant: ApplyGrant) -> Receipt:
        """Carry out the selection of the grant: all of it or nothing.

        Raises `GrantMissing`, `GrantReused`, `GrantExpired`, `WrongDigest`, `WorkspaceMoved`, `StalePlan`, `LockBusy`,
        `LeaseLost`, `AlreadyApplied` or `RefusedError` with the folder untouched or restored, `InputError` naming path
        and remedy for what the system refuses.
        """
        if not isinstance(grant, ApplyGrant):  # pyright: ignore[reportUnnecessaryIsInstance] - the last line of defence
            raise GrantMissing("a folder is only changed with a grant", "confirm the plan first")
        grant.consume()
        self._check(grant)
        claim = self._ledger.claim(grant.plan)
        with Heartbeat(self._ledger, claim, self._heartbeat_seconds) as beat:
            try:
                self._reach(Step.CLAIM)
                root = Path(grant.plan.memory_root)
                with self._cover(root), self._locks.acquire(root, self._owner):
                    self._reach(Step.LOCK)
                    receipt = self._apply_locked(grant, claim, beat)
            except KnownError:
                # Nothing is left of the try, so that a person may repeat it at once: no back-off.
                self._give_back(self._ledger.release, claim)
                raise
            except OSError as error:
                self._give_back(self._ledger.release, claim)
                where = str(error.filename or grant.plan.memory_root)
                raise InputError(error.strerror or str(error), "nothing was changed; apply again", where) from error
            except BaseException as error:
                self._give_back(self._ledger.fail, claim, str(error) or type(error).__name__)
                raise
        return receipt

    def _give_back(self, end: Callable[..., None], *arguments: object) -> None:
        try:
            end(*arguments)
        except (OSError, KnownError) as error:
            # What is told is why the apply failed; the lease of a process that ended is taken over.
            _LOG.warning("the lease could not be given back: %s", error)

    def _check(self, grant: ApplyGrant) -> None:
        plan, selection, approval = grant.plan, grant.selection, grant.approval
        plan.verify()
        bound = (approval.plan_digest, selection.plan_digest) == (plan.digest, plan.digest)
        if not bound or approval.selection_digest != selection.digest:
            raise WrongDigest("the approval is not for this plan and selection", "confirm again")
        if plan.kind != "apply" or plan.state is not PlanState.APPLYABLE:
            raise RefusedError(f"a plan of kind {plan.kind}, state {plan.state}, is not written", "make a new plan")
        if plan.base is None or approval.fingerprint != plan.base.fingerprint():
            raise WrongDigest("the approval is for another state of the folder", "confirm again", plan.memory_root)
        if Path(plan.home).absolute() != self._home.absolute():
            raise RefusedError("the plan is for another data folder", f"give --home {plan.home}", str(self._home))
        if self._ledger.recorded(plan.digest) is not None:
            raise AlreadyApplied("the plan was applied already", "make a new plan")

    def _apply_locked(self, grant: ApplyGrant, claim: Claim, beat: Heartbeat) -> Receipt:
        started_at = self._clock()
        snapshot = self._recheck(grant)
        prepared = prepare(grant.plan, grant.selection, grant.approval, snapshot, started_at)
        remove_incomplete(self._home)
        try:
            journal = Journal.write(self._home, prepared.operation, prepared.pre, prepared.new, self._reach)
        except OSError as error:
            outcome, place = "nothing was changed", str(self._home)
            raise in_words(error, prepared.operation, Step.JOURNAL, outcome, place=place) from error
        transaction = Transaction(journal, self._reach)
        try:
            receipt = self._carry_out(prepared, transaction, journal, claim, beat)
        except BaseException as error:
            # Only the last transaction can have been carried out although it raised.
            recorded = self._ledger.recorded(grant.plan.digest) if journal.step == Step.RECORD else None
            if recorded is None:
                self._restore(transaction, journal, error)
                raise
            receipt = recorded
        clean_up_or_leave(self._home, journal, transaction, self._reach, self._clock())
        return receipt

    def _recheck(self, grant: ApplyGrant) -> WorkspaceSnapshot:
        self._reach(Step.RECHECK)
        root = grant.plan.memory_root
        for journal in journals(self._home):
            what = f"an earlier apply was interrupted ({journal.operation.digest[:8]}, step {journal.step})"
            raise StalePlan(what, "run: ltmem-gui recover", journal.operation.root)
        snapshot = read(Path(root))
        if any(problem.startswith(STAGING_PREFIX) for problem in snapshot.problems):
            raise StalePlan("an apply from another data folder was interrupted", "run: ltmem-gui recover there", root)
        require_unmoved(grant.plan, snapshot)
        require_writable(snapshot)
        return snapshot

    def _carry_out(
        self, prepared: Prepared, transaction: Transaction, journal: Journal, claim: Claim, beat: Heartbeat
    ) -> Receipt:
        transaction.stage()
        transaction.write()
        transaction.delete()
        transaction.remove_diff()
        journal.note(Step.OWNERSHIP)
        self._reach(Step.OWNERSHIP)
        beat.check()
        commit = transaction.reset_baseline(self._clock(), prepared.after)
        journal.note(Step.RECORD)
        self._reach(Step.RECORD)
        return record(self._ledger, claim, prepared.operation, commit, self._clock())

    def _restore(self, transaction: Transaction, journal: Journal, error: BaseException) -> None:
        """Bring the old state back; turn a system's error into words."""
        step = journal.step
        try:
            transaction.roll_back()
            journal.remove()
        except (OSError, KnownError) as second:
            cause = second if isinstance(second, OSError) else OSError(str(second))
            then = f"run: ltmem-gui recover --roll-back --digest {journal.operation.digest}"
            outcome = "the old state could not be restored"
            raise in_words(cause, journal.operation, step, outcome, then=then) from error
        if isinstance(error, OSError | GitFailed):
            raise in_words(error, journal.operation, step, "the folder is as it was") from error
