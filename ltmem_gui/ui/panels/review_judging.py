"""Verdicts by key while reviewing: does the citation that is shown support the claim under the cursor (D5)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from ltmem_gui.domain.audit import AuditItem, Support
from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.formats import plural
from ltmem_gui.ui.models.review_evidence import Provenance
from ltmem_gui.ui.models.review_verdicts import ReviewVerdicts
from ltmem_gui.ui.panels.review_page import ReviewPage
from ltmem_gui.ui.verdict_ids import verdict_ids

VERDICT_ACTIONS = verdict_ids("review")


class ReviewJudging(QObject):
    """Connect the keys, the evidence beside the diff, and what is stored.

    `say` tells a person why a key did nothing; `leave` gives the focus back.
    """

    def __init__(self, page: ReviewPage, verdicts: ReviewVerdicts, say: Callable[[str], None]) -> None:
        super().__init__(page)
        self._page = page
        self._verdicts = verdicts
        self._say = say
        self._line = 0
        self._asked: tuple[AuditItem, Support] | None = None
        for id_, support in VERDICT_ACTIONS.items():
            page.registry.bind(id_, lambda support=support: self.judge(support))
        page.registry.bind("review.undo_verdict", self.undo)
        page.side.offer_verdicts([page.registry.action(id_) for id_ in (*VERDICT_ACTIONS, "review.undo_verdict")])
        page.side.evidence_turned.connect(self.show)
        page.reasons.kept.connect(self._on_reason_kept)
        page.reasons.closed.connect(page.focus_diff)
        verdicts.changed.connect(self.show)

    def show_provenance(self, provenance: Provenance) -> None:
        """Take where the line under the cursor comes from, and show its verdict."""
        self._line = provenance.line
        self.show()

    def show(self) -> None:
        """Show the verdict of the citation beside the diff."""
        evidence = self._page.side.evidence
        if evidence is None or evidence.entry is None:
            self._page.side.show_verdict("")
            return
        if not evidence.lines:
            self._page.side.show_verdict("Not read, so not judged")
            return
        item = self._item()
        if item is None:
            self._page.side.show_verdict("Cannot be judged here")
            return
        standing = self._verdicts.standing(item)
        words = "none yet" if standing is None else str(standing.support)
        if standing is not None and standing.is_stale:
            words = f"{words} (of an earlier text)"
        note = f" — {one_line(standing.record.note, 80)}" if standing is not None and standing.record.note else ""
        others = self._verdicts.others(item)
        beside = f" · {plural(others, 'other person', 'other people')} judged it" if others else ""
        self._page.side.show_verdict(f"Verdict: {words}{note}{beside}", can_judge=True)

    def judge(self, support: Support) -> None:
        """Give the verdict; one that leaves a question asks for a reason first."""
        item = self._item()
        if item is None:
            self._say(self._why_not())
        elif support.asks_for_note:
            self._asked = (item, support)
            self._page.reasons.begin(f"Why “{support}”? (kept with the verdict)", "")
        else:
            self._verdicts.judge(item, support)

    def undo(self) -> None:
        """Take the verdict of the citation that is shown back."""
        item = self._item()
        if item is None or not self._verdicts.undo(item):
            self._say("There is no verdict of this review to take back")

    def _item(self) -> AuditItem | None:
        evidence = self._page.side.evidence
        if evidence is None or evidence.entry is None or not evidence.lines or not self._line or self._is_edited():
            return None
        return self._verdicts.item_of(self._page.current_path(), self._line, evidence.entry)

    def _is_edited(self) -> bool:
        model, at = self._page.model, self._page.view.cursor_row
        return at < model.document.count and model.decision_of(model.document.row(at)) is Decision.EDITED

    def _why_not(self) -> str:
        evidence = self._page.side.evidence
        if evidence is None or evidence.entry is None:
            return "There is no citation to judge on this line"
        if self._is_edited():
            return "An edited line is judged after it was applied, in the citations"
        if evidence.thread and not evidence.lines:
            return "Read the rollout first: S"
        return "This citation cannot be judged here"

    def _on_reason_kept(self, text: str) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self._verdicts.judge(*asked, text)
