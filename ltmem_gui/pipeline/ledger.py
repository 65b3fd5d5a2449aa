"""The database side of an apply: the global lease, and one transaction that records success (design §1, last row)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ltmem_gui.domain.audit_evidence import EvidenceChange
from ltmem_gui.domain.consent import ApplyGrant, Receipt, Selection
from ltmem_gui.domain.effects import PruneOutputs, StoreOutputs
from ltmem_gui.domain.errors import AlreadyApplied, LockBusy
from ltmem_gui.domain.jobs import Claim
from ltmem_gui.domain.metrics import phase2_metrics
from ltmem_gui.domain.naming import utc
from ltmem_gui.domain.plan import Plan, SelectedRow
from ltmem_gui.domain.prices import Bill
from ltmem_gui.domain.refusals import RefusedHunk, resting_on
from ltmem_gui.pipeline.beside_codex import require_no_other
from ltmem_gui.pipeline.evidence_keeping import write_evidence
from ltmem_gui.pipeline.failure_words import LONGEST, SHOWN, checked_words
from ltmem_gui.pipeline.ports import Adapters, Store


class StoreLedger:
    """Implement the port `ApplyLedger` over the store of one data folder.

    Threads: any. The heartbeat calls from a thread of its own, so each call opens the store, uses it and closes it.
    """

    def __init__(
        self,
        adapters: Adapters,
        home: Path,
        grant: ApplyGrant | None = None,
        evidence: EvidenceChange | None = None,
    ) -> None:
        """Record the approval of `grant` with the claim; without one (recovery) it was recorded already.

        `evidence` is what becomes of the records of cited places.
        """
        self._adapters = adapters
        self._home = home
        self._approval = grant.approval if grant else None
        self._evidence = evidence

    def recorded(self, plan_digest: str) -> Receipt | None:
        """Return the receipt of a plan that was carried out."""
        with self._adapters.stores.reading(self._home) as store:
            return store.receipt_of(plan_digest)

    def claim(self, plan: Plan) -> Claim:
        """Record the approval and take the global lease. Raises `AlreadyApplied` or `LockBusy` naming the holder."""
        require_no_other(self._adapters, Path(plan.memory_root))
        with self._adapters.stores.writing(self._home) as store:
            if store.receipt_of(plan.digest) is not None:
                raise AlreadyApplied("this plan was applied already", "make a new plan", plan.memory_root)
            if self._approval is not None:
                store.record_approval(self._approval)
            result = store.claim_global(self._adapters.owner, now=self._adapters.clock(), ignore_cooldown=True)
        if result.claim is None:
            holder = f", held by {result.held_by}" if result.held_by else ""
            if result.until is not None:
                holder += f", until {utc(result.until):%Y-%m-%d %H:%M:%S} UTC"
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
        self,
        claim: Claim,
        plan: Plan,
        selection: Selection,
        receipt: Receipt,
        *,
        watermark: int | None,
        rows: Sequence[SelectedRow],
    ) -> Receipt:
        """Record success, watermark, flags and receipt in one transaction; return the numbered receipt."""
        with self._adapters.stores.writing(self._home) as store:
            # Each of these may be repeated: after a crash the recovery comes here again.
            now = self._adapters.clock()
            write_evidence(store, plan, self._evidence, receipt.baseline_commit)
            change_rows(store, plan, now)
            store.refuse_hunks(self._told(refused_hunks(plan, selection, now)))
            reasons = {finding: self._words(reason) for finding, reason in receipt.overrides.items()}
            notes = {hunk: self._words(note) for hunk, note in receipt.notes.items()}
            told = {"metrics": _metrics(plan, receipt), "overrides": reasons, "notes": notes}
            metered = receipt.model_copy(update=told)
            return store.finish_global(
                claim, watermark=watermark or 0, rows=rows, receipt=metered, now=self._adapters.clock()
            )

    def fail(self, claim: Claim, reason: str, bill: Bill | None = None) -> None:
        """End the lease as a failure; whatever the reason quotes is checked for secrets before it is stored.

        `bill` is what an agent's answers took all the same.
        """
        with self._adapters.stores.writing(self._home) as store:
            words = self._words(reason[:LONGEST])[:SHOWN]
            store.fail_global(claim, reason=words, now=self._adapters.clock(), bill=bill)

    def release(self, claim: Claim, bill: Bill | None = None) -> None:
        """Give the lease back."""
        with self._adapters.stores.writing(self._home) as store:
            store.release_global(claim, now=self._adapters.clock(), bill=bill)

    def _told(self, hunks: Iterable[RefusedHunk]) -> list[RefusedHunk]:
        """Take the secrets out of rejected hunks: what was rejected may be that one is replaced."""
        return [
            replace(hunk, old=self._lines(hunk.old), new=self._lines(hunk.new), note=self._words(hunk.note))
            for hunk in hunks
        ]

    def _lines(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Take the secrets out of whole lines, read as one text: a key may go over several."""
        *whole, rest = self._words("".join(lines)).split("\n")
        return (*(f"{line}\n" for line in whole), *([rest] if rest else []))

    def _words(self, text: str) -> str:
        return checked_words(self._adapters.layer_redactor().redact, text)


def _metrics(plan: Plan, receipt: Receipt) -> dict[str, int]:
    """Return the counters of a consolidation that was written; an agent's run counted its claim and inputs itself."""
    if plan.operation != "consolidate":
        return {}
    took = (receipt.finished_at - receipt.started_at) * 1000
    own = not plan.provider.host
    return phase2_metrics("succeeded", claimed=own, inputs=len(plan.rows), milliseconds=took)


def change_rows(store: Store, plan: Plan, now: int) -> None:
    """Carry out what a plan changes in the rows: exclusions, edits, forgotten threads, a cleared memory."""
    for effect in plan.effects_of(StoreOutputs):
        for change in effect.edited:
            _change_row(store, change, now)
        for key in effect.lifted:
            store.lift_refusal(key)
    for effect in plan.effects_of(PruneOutputs):
        if plan.operation == "clear":
            store.clear_all()
            continue
        for thread in effect.thread_ids:
            store.forget(thread, reason=effect.reason, now=now)


def _change_row(store: Store, change: Mapping[str, str], now: int) -> None:
    thread = change["thread_id"]
    if "raw_memory" in change:
        text = {"raw_memory": change["raw_memory"]}
        store.edit_output(thread, source_updated_at=int(change["source_updated_at"]), changes=text, now=now)
    elif change["excluded"]:
        store.exclude(thread, reason=change["excluded"], now=now)
    else:
        store.lift(thread)


def refused_hunks(plan: Plan, selection: Selection, now: int) -> list[RefusedHunk]:
    """Return the hunks that were rejected, by content, so that they are known again."""
    selected = frozenset(row.thread_id for row in plan.rows)
    known = selected | {skip.id for skip in plan.skipped}
    return [
        RefusedHunk(
            path=change.path,
            old=hunk.old,
            new=hunk.new,
            refused_at=now,
            note=selection.notes.get(hunk.id, ""),
            thread_ids=resting_on(hunk.old, hunk.new, selected=selected, known=known),
        )
        for change in plan.changes
        if change.unit == "hunk"
        for hunk in change.hunks
        if hunk.id in selection.rejected.get(change.path, ())
    ]
