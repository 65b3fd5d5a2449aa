"""Paint the rows of a diff: stripe, numbers, sign, words, tags, findings, and the header of each change."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.intraline import Extent
from ltmem_gui.domain.diffing.rows import REVEAL, Row, RowKind
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.diff_model import DiffModel
from ltmem_gui.ui.widgets.diff_colors import DECISION_SIGNS, DECISION_WORDS, FINDING_SIGNS, SIGNS, DiffColors
from ltmem_gui.ui.widgets.diff_text import TextMetrics, TextPainter

STRIPE = 4
_PAD = 8
_NAME_ROOM = 150
_UNDECIDE = ("undecide", "Undecide", "U")
BUTTONS = (("accept", "Accept", "A"), ("reject", "Reject", "X"), ("edit", "Edit", "E"))


@dataclass(frozen=True, slots=True)
class RowState:
    """How a row stands: under the cursor, selected, in the change that is looked at, view with the focus."""

    current: bool = False
    selected: bool = False
    active: bool = False
    focused: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """The horizontal room of one side: `left` to `right`; `old` and `new` say which numbers it has."""

    left: int
    right: int
    old: bool
    new: bool


class RowPainter:
    """Paint rows of one model in one font and scheme."""

    def __init__(self, model: DiffModel, colors: DiffColors, mono: QFont, ui: QFont) -> None:
        self.model = model
        self.colors = colors
        self.metrics = TextMetrics(mono)
        self._text = TextPainter(self.metrics)
        self._ui = ui
        self._bold = QFont(ui)
        self._bold.setWeight(QFont.Weight.DemiBold)
        self._ui_metrics = QFontMetricsF(ui)
        height = max(self.metrics.height, self._ui_metrics.height()) + 3
        self.height = max(20, 4 * -(-int(height) // 4))

    def number_width(self) -> int:
        """Return the width of one column of numbers."""
        return int(max(3, len(str(self.model.last_number))) * self.metrics.char) + _PAD

    def gutter_width(self, lane: Lane) -> int:
        """Return the width of stripe, numbers and sign."""
        return STRIPE + self.number_width() * (lane.old + lane.new) + int(2 * self.metrics.char) + 4

    # --- lines ---

    def line(self, p: QPainter, y: int, index: int, row: Row, lane: Lane, scroll: int, state: RowState) -> None:
        """Paint one line of text."""
        c, h = self.colors, self.height
        decision = self.model.decision_of(row)
        rect = QRect(lane.left, y, lane.right - lane.left, h)
        band = c.band(row.kind)
        p.fillRect(rect, band if band is not None else c.base)
        gutter = self.gutter_width(lane)
        text_left = lane.left + gutter
        layout = self.metrics.layout(row.text)
        x = text_left + 4 - scroll
        p.setClipRect(QRect(text_left, y, lane.right - text_left, h))
        if row.kind in (RowKind.ADDED, RowKind.REMOVED):
            marks = self.model.marks_of(index)
            added = row.kind is RowKind.ADDED
            word = c.added_word if added else c.removed_word
            self._text.spans(p, layout, marks.new if added else marks.old, word, x, y, h)
        self._text.spans(p, layout, self.model.places_of(row), c.hit, x, y, h)
        self._overlay(p, QRect(text_left, y, lane.right - text_left, h), state)
        dim = decision is Decision.REJECT and row.kind is RowKind.ADDED
        self._text.text(p, layout, x, y, h, (text_left, lane.right), c.muted if dim else c.text, c.hazard)
        if dim and layout.width:
            middle = y + h // 2
            p.setPen(c.muted)
            p.drawLine(int(x), middle, int(min(x + layout.width, lane.right)), middle)
        self._trailing(p, index, row, layout.cut, x + layout.width + 12, y)
        found = self.model.findings_at(index, row) if lane.new or not row.new else ()
        self._findings(p, found, rect, int(x + layout.width))
        p.setClipping(False)
        self._gutter(p, y, row, lane, decision, state)

    def empty(self, p: QPainter, y: int, lane: Lane) -> None:
        """Paint the padding of a side that has no line here."""
        p.fillRect(QRect(lane.left, y, lane.right - lane.left, self.height), self.colors.gutter)

    def _gutter(self, p: QPainter, y: int, row: Row, lane: Lane, decision: Decision | None, state: RowState) -> None:
        c, h = self.colors, self.height
        width = self.gutter_width(lane)
        p.fillRect(QRect(lane.left, y, width, h), c.current if state.current else c.gutter)
        if decision is not None:
            self._stripe(p, lane.left, y, decision, state)
        p.setFont(self.metrics.font)
        p.setPen(c.gutter_text)
        x, column = lane.left + STRIPE, self.number_width()
        for wanted, number in ((lane.old, row.old), (lane.new, row.new)):
            if wanted:
                if number is not None:
                    place = QRect(x, y, column - 4, h)
                    p.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), str(number))
                x += column
        sign = SIGNS.get(row.kind, "")
        if row.alike:
            sign = "≈"
        elif self.model.moved(row) is not None:
            sign = "»"
        p.setPen(c.text)
        place = QRect(x, y, int(2 * self.metrics.char), h)
        p.drawText(place, int(Qt.AlignmentFlag.AlignCenter), sign)

    def _stripe(self, p: QPainter, x: int, y: int, decision: Decision, state: RowState) -> None:
        color = self.colors.decisions[decision]
        if decision is Decision.UNDECIDED and not state.active:
            # Hollow: undecided can be told from decided without colour.
            p.fillRect(QRect(x + 1, y, 1, self.height), color)
            return
        p.fillRect(QRect(x, y, STRIPE, self.height), color)

    def _overlay(self, p: QPainter, rect: QRect, state: RowState) -> None:
        if state.selected:
            tint = QColor(self.colors.selection)
            tint.setAlpha(170)
            p.fillRect(rect, tint)
        if state.current:
            p.setPen(self.colors.accent if state.focused else self.colors.muted)
            p.drawLine(rect.left(), rect.top(), rect.right(), rect.top())
            p.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom())

    def _trailing(self, p: QPainter, index: int, row: Row, cut: int, x: float, y: int) -> None:
        for label, hazard in self.trailing(index, row, cut):
            color = self.colors.hazard if hazard else self.colors.muted
            x += self._text.label(p, label, x, y, self.height, color) + 6

    def trailing(self, index: int, row: Row, cut: int = 0) -> list[tuple[str, bool]]:
        """Return the tags after a line, and which of them warn."""
        found: list[tuple[str, bool]] = []
        if cut:
            found.append((f"{cut:,} more characters: L shows them", True))
        if row.kind is RowKind.NOTE:
            return found
        if not row.end:
            found.append(("no newline at end of file", True))
        elif row.end != self.model.usual_end:
            found.append(("CRLF" if row.end == "\r\n" else "LF", True))
        if row.kind in (RowKind.ADDED, RowKind.REMOVED):
            if self.model.only_end_changed(index):
                found.append(("only the line end changed", False))
            if self.model.marks_of(index).extent is Extent.TOO_LONG:
                found.append(("too long for word marks", False))
        moved = self.model.moved(row)
        if moved is not None:
            found.append((f"moved {'from' if row.kind is RowKind.ADDED else 'to'} line {moved}", False))
        if row.alike:
            found.append(("differs in white space", False))
        return found

    def _findings(self, p: QPainter, findings: tuple[Finding, ...], rect: QRect, text_end: int) -> None:
        if not findings:
            return
        worst = min(findings, key=lambda f: ("blocking", "warning", "info").index(f.severity.value))
        more = f" +{len(findings) - 1}" if len(findings) > 1 else ""
        blocks = "blocking " if worst.severity is Severity.BLOCKING else ""
        text = f"{FINDING_SIGNS[worst.severity]} {blocks}{one_line(worst.rule)}{more}"
        p.setFont(self._ui)
        width = int(self._ui_metrics.horizontalAdvance(text)) + 12
        if rect.right() - width - 6 < text_end:
            # Words over words cannot be read: the sign stays, the list beside the diff has the rest.
            text = FINDING_SIGNS[worst.severity]
            width = int(self._ui_metrics.horizontalAdvance(text)) + 12
        place = QRect(rect.right() - width - 6, rect.top() + 1, width, rect.height() - 2)
        p.setBrush(self.colors.base)
        p.setPen(self.colors.findings[worst.severity])
        p.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)

    # --- headers, folds, notes ---

    def band(self, p: QPainter, y: int, index: int, row: Row, rect: QRect, state: RowState) -> None:
        """Paint a row that spans the whole width."""
        if row.kind is RowKind.HEADER:
            self._header(p, index, row, rect, state)
        elif row.kind is RowKind.FOLD:
            self._fold(p, row, rect, state)
        else:
            lane = Lane(rect.left(), rect.right() + 1, False, False)
            self.line(p, y, index, row, lane, 0, state)

    def _fold(self, p: QPainter, row: Row, rect: QRect, state: RowState) -> None:
        c = self.colors
        p.fillRect(rect, c.current if state.current else c.fold)
        self._overlay(p, rect, state)
        p.setFont(self._ui)
        p.setPen(c.muted)
        lines = "1 unchanged line" if row.hidden == 1 else f"{row.hidden:,} unchanged lines"
        if row.text:
            lines = row.text
            self._stripe(p, rect.left(), rect.top(), self.model.decision_of(row) or Decision.UNDECIDED, state)
        more = "20 more at each end" if row.hidden > 2 * REVEAL and not row.text else "them"
        text = f"⋯  {lines}  ·  " + (f"Space shows {more}" if row.gap >= 0 else "not at hand")
        p.drawText(rect.adjusted(16, 0, -8, 0), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)

    def _header(self, p: QPainter, index: int, row: Row, rect: QRect, state: RowState) -> None:
        c = self.colors
        decision = self.model.decision_of(row)
        p.fillRect(rect, c.current)
        p.setPen(c.border)
        p.drawLine(rect.left(), rect.top(), rect.right(), rect.top())
        if decision is not None:
            self._stripe(p, rect.left(), rect.top(), decision, state)
        if state.current:
            p.setPen(c.accent if state.focused else c.muted)
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRect(rect.adjusted(0, 0, -1, -1))
        right = self._decision(p, decision, rect) if decision is not None else rect.right() - 8
        for name, place in self.button_rects(rect, row):
            right = min(right, place.left())
            self._button(p, name, place)
        self._title(p, index, row, rect.adjusted(12, 0, 0, 0), right - 12)

    def _title(self, p: QPainter, index: int, row: Row, rect: QRect, right: int) -> None:
        """Paint what a change is about, then which it is, how large, and what was found in the whole file."""
        number, total = self.model.number_of(index)
        place = f"change {number} of {total}"
        title = one_line(self.model.title_of(row), 120)
        findings = self.model.findings_at(index, row)
        about = self._about(index, row, findings)
        bold, flags = QFontMetricsF(self._bold), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        muted = f"{about}   ·   {place}" if title else about
        room = max(0, right - rect.left())
        # The name keeps its room before the numbers do.
        name = bold.elidedText(title or place.capitalize(), Qt.TextElideMode.ElideRight, room)
        wide = int(bold.horizontalAdvance(name)) + 16
        p.setFont(self._bold)
        p.setPen(self.colors.text)
        p.drawText(QRect(rect.left(), rect.top(), room, rect.height()), flags, name)
        p.setFont(self._ui)
        p.setPen(self.colors.muted)
        left = max(0, room - wide)
        text = self._ui_metrics.elidedText(muted, Qt.TextElideMode.ElideRight, left)
        if left > 40:
            p.drawText(QRect(rect.left() + wide, rect.top(), left, rect.height()), flags, text)

    def _about(self, index: int, row: Row, findings: tuple[Finding, ...]) -> str:
        added, removed = self.model.document.counts_at(index)
        parts = [f"+{added} −{removed}"]
        if self.model.note_of(row):
            parts.append(f"note: {one_line(self.model.note_of(row), 60)}")
        parts += [f"{FINDING_SIGNS[f.severity]} {one_line(f.text, 80)}" for f in findings]
        return "   ·   ".join(parts)

    def _decision(self, p: QPainter, decision: Decision, rect: QRect) -> int:
        text = f"{DECISION_SIGNS[decision]} {DECISION_WORDS[decision]}"
        p.setFont(self._bold)
        p.setPen(self.colors.decisions[decision])
        width = self.decision_width()
        place = QRect(rect.right() - width - 8, rect.top(), width, rect.height())
        p.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), text)
        return place.left()

    def decision_width(self) -> int:
        """Return the room for the longest decision word."""
        metrics = QFontMetricsF(self._bold)
        return int(max(metrics.horizontalAdvance(f"○ {word}") for word in DECISION_WORDS.values())) + 4

    def button_rects(self, rect: QRect, header: Row) -> list[tuple[str, QRect]]:
        """Return the buttons of a header, right to left; a decided change offers to take the decision back.

        Where the room is short they show their keys only, and none where the name would not be readable.
        """
        if header.unit is None:
            return []
        names = [_UNDECIDE]
        if self.model.is_undecided(header):
            names = [b for b in BUTTONS if b[0] != "edit" or self.model.can_edit(header)]
        right = rect.right() - self.decision_width() - 16
        for short in (False, True):
            widths = [self._button_width(title, key, short) for _, title, key in names]
            if right - rect.left() - sum(widths) - 4 * len(widths) >= _NAME_ROOM:
                break
        else:
            return []
        found: list[tuple[str, QRect]] = []
        for (name, _, _), width in zip(reversed(names), reversed(widths), strict=True):
            found.append((name, QRect(right - width, rect.top() + 2, width, rect.height() - 4)))
            right -= width + 4
        return found

    def _button_width(self, title: str, key: str, short: bool) -> int:
        return int(self._ui_metrics.horizontalAdvance(key if short else f"{title}{key}")) + (16 if short else 24)

    def _button(self, p: QPainter, name: str, place: QRect) -> None:
        title, key = next(((t, k) for n, t, k in (*BUTTONS, _UNDECIDE) if n == name), (name, ""))
        p.setPen(self.colors.border)
        p.setBrush(self.colors.base)
        p.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setFont(self._ui)
        inner = place.adjusted(8, 0, -8, 0)
        if place.width() >= self._button_width(title, key, short=False):
            p.setPen(self.colors.text)
            p.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), title)
        p.setPen(self.colors.muted)
        p.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), key)
