"""What the last apply changed in one file: the diff of the review, to look at only (D23)."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.files import decode_text
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.rows import REVEAL, Row, RowKind
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark
from ltmem_gui.domain.review import Review
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.written import LastApply
from ltmem_gui.ui.actions import ActionRegistry, ActionSpec
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.diff_model import DiffModel, FileInput
from ltmem_gui.ui.theme import Theme, monospace
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_rows import RowPainter
from ltmem_gui.ui.widgets.diff_view import DiffView
from ltmem_gui.ui.widgets.labels import ElidedLabel
from ltmem_gui.ui.widgets.overview_bar import OverviewBar

ACTIONS = (
    ActionSpec("history.next_change", "Next change", "history"),
    ActionSpec("history.previous_change", "Previous change", "history"),
    ActionSpec("history.unfold", "Show more of a fold", "history"),
)


class _WrittenRows(RowPainter):
    """The rows of a diff without the buttons that decide."""

    def button_rects(self, rect: QRect, header: Row) -> list[tuple[str, QRect]]:
        del rect, header
        return []


class WrittenView(DiffView):
    """A diff of what was written: nothing in it can be decided."""

    def __init__(self, model: DiffModel, colors: DiffColors, mono: QFont, parent: QWidget | None = None) -> None:
        super().__init__(model, colors, mono, parent)
        self.setObjectName("history.diff")
        self.setAccessibleName("What was written")
        self._rows = _WrittenRows(model, colors, mono, self.font())

    def set_colors(self, colors: DiffColors) -> None:
        super().set_colors(colors)
        self._rows = _WrittenRows(self._model, colors, self._mono, self.font())


class WrittenDiff(QWidget):
    """Show the files of the last apply, one at a time."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("history.written")
        self._theme = theme
        self._last: LastApply | None = None
        self._review: Review | None = None
        colors = DiffColors.of(theme)
        self.model = DiffModel(self)
        self.view = WrittenView(self.model, colors, monospace())
        self.overview = OverviewBar(self.model, colors, self.view.verticalScrollBar())
        self._title = ElidedLabel(role="muted")
        self._title.setContentsMargins(12, 6, 12, 6)
        beside = QHBoxLayout()
        beside.setSpacing(0)
        beside.addWidget(self.view, 1)
        beside.addWidget(self.overview)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._title)
        layout.addLayout(beside, 1)
        self.overview.row_wanted.connect(self.view.set_cursor_row)
        self._registry = ActionRegistry(theme.icon, ACTIONS)
        self._registry.bind("history.next_change", lambda: self._go(1))
        self._registry.bind("history.previous_change", lambda: self._go(-1))
        self._registry.bind("history.unfold", self._unfold)
        self._registry.attach(self.view, "history")
        theme.changed.connect(self._on_theme_changed)

    def show_last(self, last: LastApply | None) -> None:
        """Take the changes of the last apply; None clears."""
        self._last = last
        self.model.clear()
        if last is not None:
            self._review = Review(_plan_of(last)).decide_rest(Decision.ACCEPT)

    def show_file(self, path: str) -> bool:
        """Show what was written to a file; tell whether it was changed."""
        change = next((c for c in self._last.changes if c.path == path), None) if self._last is not None else None
        if change is None or self._last is None or self._review is None:
            self.model.clear()
            self._title.set_text("")
            return False
        text = decode_text(self._last.before.get(path, b""))
        self.model.open(FileInput(change, None if text is None else tuple(split_lines(text))), self._review)
        added, removed = sum(len(h.new) for h in change.hunks), sum(len(h.old) for h in change.hunks)
        until = formats.absolute(self._last.expires_at)
        self._title.set_text(f"{path} · +{added} −{removed} · as it was written; its text is kept until {until}")
        self.view.set_cursor_row((self.model.document.headers or [0])[0])
        return True

    def _go(self, step: int) -> None:
        row = self.model.next_header(self.view.cursor_row, step)
        if row is not None:
            self.view.set_cursor_row(row)

    def _unfold(self) -> None:
        at = self.view.cursor_row
        if at < self.model.document.count and self.model.document.row(at).kind is RowKind.FOLD:
            self.model.open_fold(at, REVEAL)

    def _on_theme_changed(self) -> None:
        colors = DiffColors.of(self._theme)
        self.view.set_colors(colors)
        self.overview.set_colors(colors)


def _plan_of(last: LastApply) -> Plan:
    """Return a plan that only carries the changes: the views ask their decisions of a review."""
    return Plan(
        kind="apply",
        operation="shown",
        id=last.plan_digest,
        created_at=0,
        state=PlanState.EMPTY,
        home="",
        provider=ProviderMark(name="", label=""),
        settings=Settings(),
        changes=last.changes,
    )
