"""Lay out one line of untrusted text for painting: hidden characters become tags, positions stay code points."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from ltmem_gui.domain.diffing.intraline import Span
from ltmem_gui.domain.hazards import Tag, tags

MAX_DRAWN = 10_000
TAB_COLUMNS = 4
_TAG_PAD = 3.0
_CACHE = 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of plain text, or one tag, at `x` (from the start of the text)."""

    start: int
    text: str
    x: float
    width: float
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class TextLayout:
    """One line, laid out. `cut` counts the characters beyond `MAX_DRAWN` that are not drawn."""

    pieces: tuple[Piece, ...]
    width: float
    cut: int


class TextMetrics:
    """Lay lines out in one font and keep the layouts of those last looked at."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self.char = self._metrics.horizontalAdvance("0")
        self.ascent = self._metrics.ascent()
        self.height = self._metrics.height()
        # Fonts whose ASCII is not of one width are measured, not multiplied.
        self._fixed = abs(self._metrics.horizontalAdvance("iW.m" * 25) - 100 * self.char) < 0.5
        self.tag_font = QFont(font)
        self.tag_font.setPointSizeF(max(6.0, font.pointSizeF() * 0.8))
        self._tag_metrics = QFontMetricsF(self.tag_font)
        self._layouts: dict[str, TextLayout] = {}

    def advance(self, text: str) -> float:
        """Return the width of plain text."""
        return len(text) * self.char if self._fixed and text.isascii() else self._metrics.horizontalAdvance(text)

    def tag_width(self, label: str) -> float:
        """Return the width of a tag with its border."""
        return self._tag_metrics.horizontalAdvance(label) + 2 * _TAG_PAD + 2

    def layout(self, text: str) -> TextLayout:
        """Return a line laid out."""
        found = self._layouts.get(text)
        if found is None:
            if len(self._layouts) > _CACHE:
                self._layouts.clear()
            found = self._layouts[text] = self._lay_out(text)
        return found

    def x_of(self, layout: TextLayout, position: int) -> float:
        """Return where a code point begins."""
        for piece in layout.pieces:
            if position <= piece.start:
                return piece.x
            if position < piece.start + len(piece.text):
                return piece.x + (0.0 if piece.tag else self.advance(piece.text[: position - piece.start]))
        return layout.width

    def _lay_out(self, text: str) -> TextLayout:
        shown = text[:MAX_DRAWN]
        pieces: list[Piece] = []
        at, x = 0, 0.0
        for tag in (*tags(shown), None):
            end = len(shown) if tag is None else tag.at
            if end > at:
                width = self.advance(shown[at:end])
                pieces.append(Piece(at, shown[at:end], x, width))
                x += width
            if tag is not None:
                width = self._tab(x) if tag.label == "TAB" else self.tag_width(tag.label)
                pieces.append(Piece(tag.at, shown[tag.at], x, width, tag))
                x += width
                at = tag.at + 1
        return TextLayout(tuple(pieces), x, len(text) - len(shown))

    def _tab(self, x: float) -> float:
        stop = TAB_COLUMNS * self.char
        return stop - x % stop if stop - x % stop >= self.char else stop + stop - x % stop


class TextPainter:
    """Paint laid-out lines."""

    def __init__(self, metrics: TextMetrics) -> None:
        self._metrics = metrics

    def spans(
        self,
        painter: QPainter,
        layout: TextLayout,
        spans: tuple[Span, ...],
        color: QColor,
        x: float,
        y: float,
        h: float,
    ) -> None:
        """Paint bands behind spans (code points)."""
        for start, end in spans:
            left = self._metrics.x_of(layout, start)
            right = self._metrics.x_of(layout, end)
            painter.fillRect(QRectF(x + left, y + 1, max(2.0, right - left), h - 2), color)

    def text(
        self, painter: QPainter, layout: TextLayout, x: float, y: float, h: float, view: Span, ink: QColor, tag: QColor
    ) -> None:
        """Paint the pieces that are inside of `view` (left and right edge, in pixels); y is the top of the row."""
        baseline = y + (h - self._metrics.height) / 2 + self._metrics.ascent
        for piece in layout.pieces:
            left = x + piece.x
            if left > view[1]:
                return
            if left + piece.width < view[0]:
                continue
            if piece.tag is not None:
                self._tag(painter, piece, left, y, h, tag)
                continue
            painter.setFont(self._metrics.font)
            painter.setPen(ink)
            skip = max(0, int((view[0] - left) / self._metrics.char) - 2) if piece.text.isascii() else 0
            limit = int((view[1] - view[0]) / self._metrics.char) + 8 if piece.text.isascii() else len(piece.text)
            shown = piece.text[skip : skip + limit]
            painter.drawText(int(left + skip * self._metrics.char) if skip else int(left), int(baseline), shown)

    def label(self, painter: QPainter, text: str, x: float, y: float, h: float, color: QColor) -> float:
        """Paint a tag; return its width."""
        width = self._metrics.tag_width(text)
        rect = QRectF(x + 1, y + (h - 15) / 2 + 0.5, width - 2, 14)
        painter.setPen(color)
        painter.drawRoundedRect(rect, 3, 3)
        painter.setFont(self._metrics.tag_font)
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), text)
        return width

    def _tag(self, painter: QPainter, piece: Piece, x: float, y: float, h: float, color: QColor) -> None:
        assert piece.tag is not None
        if piece.tag.label == "TAB":
            middle = y + h / 2
            faint = QColor(color)
            faint.setAlpha(150)
            painter.setPen(faint)
            right = x + piece.width - 3
            painter.drawLine(int(x + 2), int(middle), int(right), int(middle))
            painter.drawLine(int(right), int(middle), int(right - 3), int(middle - 3))
            painter.drawLine(int(right), int(middle), int(right - 3), int(middle + 3))
            return
        self.label(painter, piece.tag.label, x, y, h, color)
