"""A sitting in the window, without widgets: begun by one confirmation, one verdict after the other, ended by a press.

Verdicts are stored in the order in which they are given, each by a task of its own; one that cannot be stored ends the
sitting, so that what is shown is what is stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ltmem_gui import __version__
from ltmem_gui.domain.anchors import Location
from ltmem_gui.domain.audit import AuditItem, Standing, Support
from ltmem_gui.domain.audit_frames import Frame, Method, Stratum, draw, stratum_of
from ltmem_gui.domain.audit_queue import AuditQueue
from ltmem_gui.domain.audit_repairs import Repair, RepairKind, anchored, pointed
from ltmem_gui.domain.audit_report import agreement_words, agreements
from ltmem_gui.domain.audit_statistics import coverage, unsettled
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.audit import Audit
from ltmem_gui.pipeline.audit_reports import ReportFormat, ReportWish
from ltmem_gui.pipeline.audit_sitting import Sitting
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.citation_table import VerdictMark
from ltmem_gui.ui.models.file_copies import FileCopies
from ltmem_gui.ui.models.sittings import SittingHolder
from ltmem_gui.ui.models.workbench import Notice

TASK = "audit"
REPORT_TASK = "audit.report"
REPORTS: dict[ReportFormat, str] = {
    "html": "HTML",
    "md": "Markdown",
    "csv": "CSV",
    "jsonl": "JSON lines",
    "sarif": "SARIF",
}


@dataclass(frozen=True, slots=True)
class SittingWish:
    """What a person wants to judge: who, which citations, and whether others' words are hidden.

    With `settle`, those that raters judge differently and nobody has settled.
    """

    rater: str
    method: Method = "all"
    size: int = 0
    seed: int = 0
    by: Stratum | None = None
    blind: bool = True
    settle: bool = False


def row_key(item: AuditItem) -> str:
    """Return the key of the row that lists an item's citation."""
    return f"{item.file}:{item.line}:{item.entry.location}"


class AuditSession(SittingHolder):
    """Run a sitting.

    Signals beside those of every sitting: `item_shown` (`AuditItem` or None), `plan_made` (`Plan` of a repair),
    `marks_changed` (row key → `VerdictMark` of all rows), `mark_changed` (row key, mark).
    """

    item_shown = Signal(object)
    plan_made = Signal(object)
    marks_changed = Signal(object)
    mark_changed = Signal(str, object)
    name = TASK

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(operations, supervisor, clock, parent)
        self.copies: FileCopies | None = None
        self._audit: Audit | None = None
        self._drawn: tuple[AuditItem, ...] = ()
        self.queue: AuditQueue | None = None
        self.frame: Frame | None = None
        self.wish = SittingWish("")

    @property
    def is_open(self) -> bool:
        """Tell whether a sitting is going on."""
        return self.queue is not None

    @property
    def rater(self) -> str:
        """Return the name that is proposed for the rater."""
        return self.wish.rater or (self._powers.approver() if self._powers else "")

    @property
    def current(self) -> AuditItem | None:
        """Return the item to be judged."""
        return self.queue.current if self.queue else None

    @property
    def standing(self) -> Standing | None:
        """Return this rater's verdict of the current item."""
        item = self.current
        return self.queue.standing(item) if self.queue and item else None

    @property
    def others(self) -> tuple[Standing, ...]:
        """Return what others said of the current item, as far as it may be seen."""
        item = self.current
        return self.queue.others(item, blind=self.wish.blind) if self.queue and item else ()

    @property
    def hints(self) -> str:
        """Return smells and score of the current item; a blind rater sees none before the own verdict."""
        item = self.current
        if item is None or (self.wish.blind and self.standing is None):
            return ""
        score = () if item.score is None else (f"{round(100 * item.score)} % of the claim's rare words are there",)
        return "; ".join((*map(str, item.smells), *score))

    def marks(self) -> dict[str, VerdictMark]:
        """Return row key → what this sitting says of the row; a row that several claims cite shows the first."""
        return {row_key(item): self._mark(item) for item in reversed(self._drawn)}

    def coverage_words(self) -> tuple[str, ...]:
        """Return the header: how much is cited, judged, supported."""
        if self.queue is None or self._audit is None:
            return ()
        found = self._audit.found
        counted = coverage(
            found.claims,
            self._drawn,
            self.queue.verdicts,
            rater=self.wish.rater,
            sessions=self._audit.sessions,
            cited_sessions=found.cited_sessions,
        )
        never = len(counted.sessions_never_cited)
        more = (f"Sessions never cited: {never}",) if never else ()
        # Who judges blind must not learn from the agreement what the other said.
        settled = not self.wish.blind or self.queue.current is None
        agreed = agreements(self._drawn, self.queue.verdicts) if settled else ()
        return (*counted.words, *more, *map(agreement_words, agreed))

    # asking

    def begin(self, wish: SittingWish, refs: Sequence[RolloutRef] | None, projects: tuple[Path, ...] = ()) -> None:
        """Read, draw, confirm, begin; `refs` are sessions that were scanned, `projects` folders that were opened."""
        if not self._supervisor.is_running(TASK) and not self.is_open:
            self._supervisor.spawn(TASK, self._begin(wish, refs, projects))

    def judge(self, support: Support, note: str = "") -> bool:
        """Give the current item a verdict and go on; tell whether there was one to give."""
        record = self.queue.judge(support, at=self._now(), note=note) if self.queue else None
        self._store(record)
        return record is not None

    def undo(self) -> None:
        """Take this sitting's last verdict back."""
        if self.queue is not None:
            self._store(self.queue.undo(at=self._now()))

    def skip(self) -> None:
        """Leave the current item for later."""
        if self.queue is not None:
            self.queue.skip()
            self._show()

    def follow(self, file: str, line: int) -> None:
        """Follow the list: make the first item of this citation line the current one, if it is in the frame."""
        current = self.current
        if self.queue is None or (current is not None and (current.file, current.line) == (file, line)):
            return
        item = next((item for item in self._drawn if (item.file, item.line) == (file, line)), None)
        if item is not None and self.queue.go_to(item.key):
            self._show()

    def location(self, key: str) -> Location | None:
        """Return where the lines of a row are by what the sitting knows, None outside of it."""
        return next((item.location for item in self._drawn if row_key(item) == key), None)

    def limit(self, rows: Collection[str] | None) -> None:
        """Walk through what the list shows first; None for all of it."""
        if self.queue is not None:
            shown = None if rows is None else {item.key for item in self._drawn if row_key(item) in rows}
            self.queue.show(shown)

    def propose(self, kind: RepairKind, note: str = "") -> None:
        """Plan a repair of the current item for the review."""
        item = self.current
        if item is not None and not self._supervisor.is_running(TASK):
            self._supervisor.spawn(TASK, self._propose(kind, item, note))

    def propose_place(self, file: str, entry: CitationEntry, first: int, last: int) -> None:
        """Plan to point a citation to lines that a person chose; also outside of a sitting."""
        if self._powers is not None and not self._supervisor.is_running(TASK):
            self._supervisor.spawn(TASK, self._propose_repair(pointed(file, entry, first, last)))

    def save_report(
        self, form: ReportFormat, refs: Sequence[RolloutRef] | None, projects: tuple[Path, ...] = ()
    ) -> None:
        """Save a report of the last frame, or of everything, where the person says."""
        if self.copies is not None and self._powers is not None and not self._supervisor.is_running(REPORT_TASK):
            self._supervisor.spawn(REPORT_TASK, self._save_report(self.copies, form, refs, projects))

    # doing

    async def _begin(self, wish: SittingWish, refs: Sequence[RolloutRef] | None, projects: tuple[Path, ...]) -> None:
        powers = self._lent()
        with held(powers.folders_changed):
            request = replace(powers.request(), projects=projects)
            audit = await self._operations.audit.load(request, cancel=CancelToken(), listen=ignore, refs=refs)
            now = self._now()
            items = unsettled(audit.found.items, audit.verdicts) if wish.settle else audit.found.items
            frame, drawn = draw(items, wish.method, size=wish.size, seed=wish.seed, by=wish.by, now=now)
            if not drawn:
                nothing = "raters do not differ in anything" if wish.settle else "no claim is cited"
                self.noticed.emit(Notice("info", f"There is nothing to judge: {nothing}."))
                return
            plan = await self._operations.audit.plan_sitting(request, wish.rater, frame.name, audit)
        self._sitting = await self._open(plan)
        if self._sitting is None:
            return
        self.wish, self.frame, self._audit, self._drawn = wish, frame, audit, drawn
        self.queue = AuditQueue(drawn, audit.records, rater=wish.rater, frame=frame.name, final=wish.settle)
        self.marks_changed.emit(self.marks())
        self._show()

    async def _propose(self, kind: RepairKind, item: AuditItem, note: str) -> None:
        repair = anchored(item) if kind == "re-anchor" else Repair(kind, item, note=note.strip())
        await self._propose_repair(repair)

    async def _propose_repair(self, repair: Repair) -> None:
        powers = self._lent()
        with held(powers.folders_changed):
            plan = await self._operations.audit.plan_repairs(powers.request(), (repair,))
        self.plan_made.emit(plan)

    async def _save_report(
        self, copies: FileCopies, form: ReportFormat, refs: Sequence[RolloutRef] | None, projects: tuple[Path, ...]
    ) -> None:
        title = f"Report of the citations as {REPORTS[form]}"
        powers = self._lent()
        with held(powers.folders_changed):
            target = await copies.choose(f"Save: {title}", f"citations.{form}")
            if target is None:
                return
            request = replace(powers.request(), projects=projects)
            wish = ReportWish(self.wish.method, self.wish.size, self.wish.seed, self.wish.by)
            program = f"LTMem {__version__}"
            data, redactions = await self._operations.audit.report(request, wish, form, program=program, refs=refs)
        await copies.save(target, data, title, redactions=redactions)

    async def _end(self, sitting: Sitting) -> None:
        judged = self.queue.words if self.queue else ""
        self._close()
        receipt = await sitting.close()
        count = receipt.counts["verdicts"]
        text = f"The sitting has ended: {judged}; {count} records stored (receipt no. {receipt.operation_number})."
        self.noticed.emit(Notice("good", text))
        self.ended.emit()

    def _store(self, record: VerdictRecord | None) -> None:
        if record is not None and self._sitting is not None:
            self._append(self._sitting, record)
            item = next(item for item in self._drawn if item.key == record.item)
            self.mark_changed.emit(row_key(item), self._mark(item))
        self._show()

    def _give_up(self, record: VerdictRecord) -> None:
        del record
        self._close()

    def _mark(self, item: AuditItem) -> VerdictMark:
        standing = self.queue.standing(item) if self.queue else None
        others = self.queue.others(item, blind=self.wish.blind) if self.queue else ()
        raters = [other.record.rater for other in others]
        about = " ".join((stratum_of(item, "age", self._now()), *item.threads, *raters))
        if standing is None:
            return VerdictMark("pending", "" if self.wish.blind else "; ".join(map(str, item.smells)), about)
        words = f"stale: {standing.support}" if standing.is_stale else str(standing.support)
        return VerdictMark(words, "; ".join(map(str, item.smells)), f"{about} {standing.record.rater}")

    def _close(self) -> None:
        self.queue = None
        self._audit = None
        self._drawn = ()
        self.marks_changed.emit({})
        self._show()

    def _show(self) -> None:
        self.changed.emit()
        self.item_shown.emit(self.current)
