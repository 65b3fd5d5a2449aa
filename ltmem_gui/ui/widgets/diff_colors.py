"""What the diff views paint with: colours by what they mean, signs and words that go with every colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtGui import QColor

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.rows import RowKind
from ltmem_gui.domain.findings import Severity


class Colors(Protocol):
    """Give colours by dotted token."""

    def color(self, token: str) -> QColor: ...


SIGNS = {RowKind.ADDED: "+", RowKind.REMOVED: "−", RowKind.CONTEXT: " "}

DECISION_SIGNS = {Decision.UNDECIDED: "○", Decision.ACCEPT: "✓", Decision.REJECT: "✕", Decision.EDITED: "✎"}
DECISION_WORDS = {
    Decision.UNDECIDED: "undecided",
    Decision.ACCEPT: "accepted",
    Decision.REJECT: "rejected",
    Decision.EDITED: "edited",
}
FINDING_SIGNS = {Severity.BLOCKING: "■", Severity.WARNING: "▲", Severity.INFO: "●"}


@dataclass(frozen=True, slots=True)
class DiffColors:
    """The colours of one scheme."""

    text: QColor
    muted: QColor
    base: QColor
    border: QColor
    accent: QColor
    selection: QColor
    added: QColor
    added_word: QColor
    removed: QColor
    removed_word: QColor
    gutter: QColor
    gutter_text: QColor
    fold: QColor
    current: QColor
    hit: QColor
    hit_edge: QColor
    hazard: QColor
    decisions: dict[Decision, QColor]
    findings: dict[Severity, QColor]

    @classmethod
    def of(cls, theme: Colors) -> DiffColors:
        """Take the colours from a theme."""
        c = theme.color
        return cls(
            text=c("text"),
            muted=c("muted"),
            base=c("base"),
            border=c("border"),
            accent=c("accent"),
            selection=c("selection"),
            added=c("diff.added"),
            added_word=c("diff.added_word"),
            removed=c("diff.removed"),
            removed_word=c("diff.removed_word"),
            gutter=c("diff.gutter"),
            gutter_text=c("diff.gutter_text"),
            fold=c("diff.fold"),
            current=c("diff.current"),
            hit=c("cite.band"),
            hit_edge=c("cite.edge"),
            hazard=c("cite.hazard"),
            decisions={
                Decision.UNDECIDED: c("diff.undecided"),
                Decision.ACCEPT: c("diff.accept"),
                Decision.REJECT: c("diff.reject"),
                Decision.EDITED: c("diff.edited"),
            },
            findings={
                Severity.BLOCKING: c("finding.blocking"),
                Severity.WARNING: c("finding.warning"),
                Severity.INFO: c("finding.info"),
            },
        )

    def band(self, kind: RowKind) -> QColor | None:
        """Return what lies behind the text of a row."""
        return {RowKind.ADDED: self.added, RowKind.REMOVED: self.removed, RowKind.FOLD: self.fold}.get(kind)
