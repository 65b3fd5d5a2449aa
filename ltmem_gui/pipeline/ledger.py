"""The database side of an apply: the global lease, and one transaction that records success (design §1, last row)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ltmem_gui.domain.consent import Approval, Receipt
from ltmem_gui.domain.errors import AlreadyApplied, LockBusy
from ltmem_gui.domain.jobs import Claim
from ltmem_gui.domain.plan import Plan, SelectedRow
from ltmem_gui.pipeline.ports import Adapters


class StoreLedger:
    """Implement the port `ApplyLedger` over the store of one data folder.

    Threads: any. The heartbeat calls from a thread of its own, so each call opens the store, uses it and closes it.
    """

    def __init__(self, adapters: Adapters, home: Path, approval: Approval | None = None) -> None:
        self._adapters = adapters
        self._home = home
        self._approval = approval

    def recorded(self, plan_digest: str) -> Receipt | None:
        """Return the receipt of a plan that was carried out."""
        with self._adapters.stores.reading(self._home) as store:
            return store.receipt_of(plan_digest)

    def claim(self, plan: Plan) -> Claim:
        """Record the approval and take the global lease. Raises `AlreadyApplied` or `LockBusy` naming the holder."""
        with self._adapters.stores.writing(self._home) as store:
            if store.receipt_of(plan.digest) is not None:
                raise AlreadyApplied("this plan was applied already", "make a new plan", plan.memory_root)
            if self._approval is not None:
                store.record_approval(self._approval)
            result = store.claim_global(self._adapters.owner, now=self._adapters.clock(), ignore_cooldown=True)
        if result.claim is None:
            holder = f", held by {result.held_by}" if result.held_by else ""
            raise LockBusy(
                f"the global lock: {result.outcome.value}{holder}", "wait, then apply again", str(self._home)
            )
        return result.claim

    def heartbeat(self, claim: Claim) -> bool:
        """Renew the lease."""
        with self._adapters.stores.writing(self._home) as store:
            return store.heartbeat_global(claim, self._adapters.clock())

    def owns(self, claim: Claim) -> bool:
        """Tell whether the lease is still ours."""
        with self._adapters.stores.reading(self._home) as store:
            return store.owns_global(claim)

    def finish(
        self, claim: Claim, plan: Plan, receipt: Receipt, *, watermark: int | None, rows: Sequence[SelectedRow]
    ) -> Receipt:
        """Record success, watermark, flags and receipt in one transaction; return the numbered receipt."""
        del plan
        with self._adapters.stores.writing(self._home) as store:
            return store.finish_global(
                claim, watermark=watermark or 0, rows=rows, receipt=receipt, now=self._adapters.clock()
            )

    def fail(self, claim: Claim, reason: str) -> None:
        """End the lease as a failure."""
        with self._adapters.stores.writing(self._home) as store:
            store.fail_global(claim, reason=reason, now=self._adapters.clock())

    def release(self, claim: Claim) -> None:
        """Give the lease back."""
        with self._adapters.stores.writing(self._home) as store:
            store.release_global(claim, now=self._adapters.clock())
