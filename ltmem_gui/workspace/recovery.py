"""After a crash: name what was cut off, then finish it or take it back; the folder is old or new, never a mixture."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.errors import AlreadyApplied, RefusedError
from ltmem_gui.domain.jobs import Claim, Owner
from ltmem_gui.pipeline.ports import ApplyLedger, Clock, InterruptedOperation
from ltmem_gui.workspace.git_program import GitFailed
from ltmem_gui.workspace.heartbeat import Heartbeat
from ltmem_gui.workspace.journal import Journal, journals, remove_incomplete
from ltmem_gui.workspace.locking import Cover, RootLocks
from ltmem_gui.workspace.settling import clean_up, in_words, record
from ltmem_gui.workspace.steps import Faults, Reached
from ltmem_gui.workspace.transaction import Transaction

_CUT_OFF = "nothing is lost: the operation can still be finished or rolled back"


class Recovery:
    """Implement the port `ApplyRecovery` for one data folder. Each method may be repeated after a crash of its own."""

    def __init__(
        self,
        home: Path,
        *,
        ledger: ApplyLedger,
        locks: RootLocks,
        owner: Owner,
        clock: Clock,
        faults: Reached | None = None,
        cover: Cover = nullcontext,
    ) -> None:
        """Look below `home`, which need not exist."""
        self._home = home
        self._ledger = ledger
        self._locks = locks
        self._owner = owner
        self._clock = clock
        self._reach: Reached = faults if faults is not None else Faults()
        self._cover = cover

    def pending(self) -> tuple[InterruptedOperation, ...]:
        """List the interrupted operations; one whose process still works on it is not interrupted. Writes nothing."""
        return tuple(
            InterruptedOperation(
                digest=journal.operation.digest,
                step=journal.step,
                files=tuple(entry.path for entry in journal.operation.entries),
                root=journal.operation.root,
                operation=journal.operation.plan.operation,
                recorded=self._ledger.recorded(journal.operation.digest) is not None,
            )
            for journal in journals(self._home)
            if self._locks.holder(Path(journal.operation.root)) is None
        )

    def finish(self, digest: str) -> Receipt:
        """Carry an operation to its end and return its receipt.

        Raises `RefusedError` when there is no such operation, `WorkspaceMoved` when a file was changed since,
        `LockBusy`, `LeaseLost`, or `InputError` naming path and remedy.
        """
        journal = self._find(digest)
        root = Path(journal.operation.root)
        receipt = self._ledger.recorded(digest)
        claim = self._ledger.claim(journal.operation.plan) if receipt is None else None
        try:
            with self._cover(root), self._locks.acquire(root, self._owner):
                transaction = Transaction(journal, self._reach)
                if claim is not None:
                    receipt = self._carry_on(journal, transaction, claim)
                clean_up(self._home, journal, transaction, self._reach, self._clock())
                remove_incomplete(self._home)
        except (OSError, GitFailed) as error:
            raise in_words(error, journal.operation, journal.step, _CUT_OFF, then="run recover again") from error
        finally:
            if claim is not None and receipt is None:
                self._ledger.release(claim)
        if receipt is None:
            raise AssertionError("an operation without a receipt was carried on without a claim")
        return receipt

    def roll_back(self, digest: str) -> None:
        """Restore the folder as it was before the operation.

        Raises `AlreadyApplied` when its receipt exists (finish it, then undo), else like `finish`.
        """
        journal = self._find(digest)
        root = Path(journal.operation.root)
        if self._ledger.recorded(digest) is not None:
            what = "the apply is recorded already; only its clean-up is left"
            raise AlreadyApplied(what, f"run: ltmem-gui recover --finish --digest {digest}, then undo it", str(root))
        claim = self._ledger.claim(journal.operation.plan)
        try:
            with self._cover(root), self._locks.acquire(root, self._owner):
                Transaction(journal, self._reach).roll_back()
                journal.remove()
                remove_incomplete(self._home)
        except OSError as error:
            raise in_words(error, journal.operation, journal.step, _CUT_OFF, then="run recover again") from error
        finally:
            self._ledger.release(claim)

    def _find(self, digest: str) -> Journal:
        for journal in journals(self._home):
            if journal.operation.digest == digest:
                journal.operation.plan.verify()
                return journal
        raise RefusedError(
            f"no interrupted apply has the digest {digest}", "list them: ltmem-gui recover", str(self._home)
        )

    def _carry_on(self, journal: Journal, transaction: Transaction, claim: Claim) -> Receipt:
        with Heartbeat(self._ledger, claim) as beat:
            transaction.stage()
            transaction.write()
            transaction.delete()
            transaction.remove_diff()
            self._reach(Step.OWNERSHIP)
            beat.check()
            commit = transaction.reset_baseline(self._clock())
            self._reach(Step.RECORD)
            return record(self._ledger, claim, journal.operation, commit, self._clock())
