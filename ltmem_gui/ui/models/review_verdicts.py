"""Verdicts given in the review: one confirmation for the sitting, then one record after the other (D5).

What is judged is the claim under the cursor with the citation that is shown; the evidence must have been read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject

from ltmem_gui.domain.audit import NO_EVIDENCE, AuditItem, Standing, Support, Verdicts, undo_record, verdict_record
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.audit_sitting import Sitting
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.sittings import SittingHolder
from ltmem_gui.ui.models.workbench import Notice

LOAD_TASK = "review.verdicts"
BEGIN_TASK = "review.verdicts.begin"


class ReviewVerdicts(SittingHolder):
    """Hold what was judged of a plan's claims."""

    name = "review.verdicts"

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(operations, supervisor, clock, parent)
        self._plan: Plan | None = None
        self._items: tuple[AuditItem, ...] = ()
        self._records: tuple[VerdictRecord, ...] = ()
        self._verdicts = Verdicts(())

    # --- what is known ---

    def load(self, plan: Plan, base: Mapping[str, bytes], rollouts: Mapping[str, Rollout]) -> None:
        """Pair the plan's claims with their citations, beside the window; nothing is written."""
        if self._powers is None:
            return
        if self._plan is None or self._plan.digest != plan.digest:
            self.clear()
        self._plan = plan
        self._supervisor.spawn(LOAD_TASK, self._load(plan, base, dict(rollouts)), policy="replace")

    def clear(self) -> None:
        """Forget the plan; a sitting ends with its receipt."""
        self.end()
        self._plan = None
        self._items, self._records = (), ()
        self._verdicts = Verdicts(())

    def item_of(self, path: str, line: int, entry: CitationEntry) -> AuditItem | None:
        """Return the item of a claim (its line in the proposed file, from 1) and of one of its citations."""
        return next(
            (
                item
                for item in self._items
                if item.file == path
                and (line in item.claim_lines or line == item.line)
                and item.entry.location == entry.location
            ),
            None,
        )

    def standing(self, item: AuditItem) -> Standing | None:
        """Return this person's verdict of an item."""
        return self._verdicts.of(item, self._powers.approver()) if self._powers is not None else None

    def others(self, item: AuditItem) -> int:
        """Return how many others judged an item: their words stay hidden from who may judge it still."""
        own = self._powers.approver() if self._powers is not None else ""
        return sum(standing.record.rater != own for standing in self._verdicts.all_of(item))

    # --- judging ---

    def judge(self, item: AuditItem, support: Support, note: str = "") -> None:
        """Give a verdict; the first of a review asks once for all of them."""
        if item.binding.endswith(f":{NO_EVIDENCE}"):
            self.noticed.emit(Notice("info", "Read the evidence first: a verdict is about what it says.", "Press S."))
        elif self._sitting is not None:
            self._store(self._sitting, self._record(item, support, note))
        elif not self._supervisor.is_running(BEGIN_TASK):
            self._supervisor.spawn(BEGIN_TASK, self._begin(item, support, note))

    def undo(self, item: AuditItem) -> bool:
        """Take the verdict of an item back, within this sitting; tell whether there was one."""
        standing = self.standing(item)
        if self._sitting is None or standing is None or standing.record.frame != self._frame:
            return False
        self._store(self._sitting, undo_record(standing.record, frame=self._frame, at=self._now()))
        return True

    # --- inside ---

    @property
    def _frame(self) -> str:
        return f"review of plan {self._plan.digest[:8]}" if self._plan is not None else ""

    def _record(self, item: AuditItem, support: Support, note: str) -> VerdictRecord:
        rater = self._lent().approver()
        return verdict_record(item, support, rater=rater, frame=self._frame, at=self._now(), note=note)

    def _take(self, records: tuple[VerdictRecord, ...]) -> None:
        self._records = records
        self._verdicts = Verdicts(records, (item.key for item in self._items))
        self.changed.emit()

    def _store(self, sitting: Sitting, record: VerdictRecord) -> None:
        self._append(sitting, record)
        self._take((*self._records, record))

    async def _load(self, plan: Plan, base: Mapping[str, bytes], rollouts: Mapping[str, Rollout]) -> None:
        made = await self._operations.audit.of_plan(self._lent().request(), plan, base, rollouts)
        if self._plan is plan:
            self._items = made.items
            self._take(made.records)

    async def _begin(self, item: AuditItem, support: Support, note: str) -> None:
        powers = self._lent()
        with held(powers.folders_changed):
            plan = await self._operations.audit.plan_sitting(powers.request(), powers.approver(), self._frame)
        self._sitting = await self._open(plan)
        if self._sitting is None:
            return
        self._store(self._sitting, self._record(item, support, note))

    def _give_up(self, record: VerdictRecord) -> None:
        self._take(tuple(known for known in self._records if known is not record))

    async def _end(self, sitting: Sitting) -> None:
        await sitting.close()
        self.ended.emit()
