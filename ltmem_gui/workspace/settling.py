"""The end of an operation, the same for an apply and for a recovery: receipt, undo image, clean-up, errors in words."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.consent import Receipt, ReceiptFile
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.jobs import Claim
from ltmem_gui.domain.watermark import advance
from ltmem_gui.pipeline.ports import ApplyLedger
from ltmem_gui.workspace.git_program import GitFailed
from ltmem_gui.workspace.journal import Journal, Operation
from ltmem_gui.workspace.steps import Reached
from ltmem_gui.workspace.transaction import Transaction
from ltmem_gui.workspace.undo import keep_image

_LOG = logging.getLogger(__name__)
_REMEDIES = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some of your quota",
    errno.EACCES: "check the rights of the folder",
    errno.EPERM: "check the rights of the folder",
    errno.EROFS: "mount the disk for writing",
    errno.EIO: "check the disk",
    errno.ELOOP: "remove the symlink that stands where a folder was",
    errno.EXDEV: "bring the folder onto one disk",
}


def record(ledger: ApplyLedger, claim: Claim, operation: Operation, commit: str | None, finished_at: int) -> Receipt:
    """Store the receipt, the watermark and the flags in one transaction; return the numbered receipt."""
    plan, approval = operation.plan, operation.approval
    watermark = None
    if plan.watermark is not None:
        watermark = advance(stored=0, claimed=claim.source_updated_at, source_updated_at=[plan.watermark])
    receipt = Receipt(
        operation_number=0,
        operation=plan.operation,
        kind=plan.kind,
        plan_digest=plan.digest,
        selection_digest=operation.selection.digest,
        approver=approval.approver,
        surface=approval.surface,
        started_at=operation.started_at,
        finished_at=finished_at,
        files=tuple(
            ReceiptFile(path=e.path, old_sha256=e.old_sha256, new_sha256=e.new_sha256) for e in operation.entries
        ),
        counts={
            "written": sum(1 for e in operation.entries if e.new_sha256 is not None),
            "deleted": sum(1 for e in operation.entries if e.new_sha256 is None),
        },
        baseline_commit=commit,
        watermark_after=watermark,
        overrides=operation.selection.overrides,
        notes=operation.selection.notes,
    )
    return ledger.finish(claim, plan, operation.selection, receipt, watermark=watermark, rows=plan.rows)


def clean_up(home: Path, journal: Journal, transaction: Transaction, reach: Reached, finished_at: int) -> None:
    """Remove what the operation no longer needs and keep its undo image. Raises `OSError`."""
    journal.note(Step.CLEANUP)
    reach(Step.CLEANUP)
    transaction.clean()
    reach(Step.CLEANUP)
    keep_image(home, journal, finished_at)
    reach(Step.UNLOCK)


def clean_up_or_leave(home: Path, journal: Journal, transaction: Transaction, reach: Reached, at: int) -> None:
    """Clean up after a recorded apply; what cannot be removed now stays named by `recover`."""
    try:
        clean_up(home, journal, transaction, reach, at)
    except OSError as error:
        _LOG.warning("applied, but not cleaned up (%s); run: ltmem-gui recover", error)


def in_words(
    error: OSError | GitFailed,
    operation: Operation,
    step: str,
    outcome: str,
    *,
    then: str = "apply again",
    place: str = "",
) -> InputError:
    """Return a system's error as one that names path and remedy; `outcome` says how the folder is left.

    `then` is what to do after the remedy; `place` the path that is named where the error names none.
    """
    place = place or operation.root
    if isinstance(error, GitFailed):
        reason, remedy, where = str(error), "check git and the space on the disk", place
    else:
        reason = error.strerror or str(error)
        remedy = _REMEDIES.get(error.errno or 0, "look into the cause")
        named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        where = named if named.startswith(os.sep) else place
    return InputError(f"{reason} (step {step}); {outcome}", f"{remedy}, then {then}", where)
