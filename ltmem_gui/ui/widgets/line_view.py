"""Show lines of an untrusted text with their numbers, some of them marked. Plain text, hidden characters visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from ltmem_gui.domain.hazards import visible
from ltmem_gui.ui.models.text_lines import TextLine
from ltmem_gui.ui.widgets.clean_text import CleanText

MAX_LINES = 20_000
MAX_LENGTH = 10_000


@dataclass(frozen=True, slots=True)
class LineColors:
    """What the view paints with; everything else is the palette's."""

    band: QColor
    edge: QColor
    margin: QColor
    margin_text: QColor


class LineView(CleanText):
    """Show lines read-only; at most 20,000, each cut at 10,000 characters, which is said where it happens."""

    def __init__(self, name: str, colors: LineColors, font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setReadOnly(True)
        self.setFont(font)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._colors = colors
        self._lines: tuple[TextLine, ...] = ()
        self._margin = _Margin(self)
        self.blockCountChanged.connect(self._on_block_count_changed)
        self.updateRequest.connect(self._on_update_requested)
        self.document().setDocumentMargin(4)

    @property
    def lines(self) -> tuple[TextLine, ...]:
        """Return what is shown, as it was given."""
        return self._lines

    @property
    def marked_labels(self) -> tuple[str, ...]:
        """Return the labels of the marked lines."""
        return tuple(line.label for line in self._lines if line.marked)

    def set_colors(self, colors: LineColors) -> None:
        """Take the colours of another scheme."""
        self._colors = colors
        self.viewport().update()
        self._margin.update()

    def show_lines(self, lines: Sequence[TextLine]) -> None:
        """Show lines and scroll to the first marked one."""
        shown = list(lines[:MAX_LINES])
        if len(lines) > MAX_LINES:
            shown.append(TextLine("…", f"({len(lines) - MAX_LINES} more lines are not shown)"))
        self._lines = tuple(shown)
        self.setExtraSelections([])
        self.setPlainText("\n".join(_shown(line.text) for line in self._lines))
        self._on_block_count_changed()
        self.reveal(next((index for index, line in enumerate(self._lines) if line.marked), 0))

    def underline(self, find: Callable[[str], Iterable[tuple[int, int]]]) -> None:
        """Underline what `find` names in the text of the marked lines, by places in code points."""
        marked = [index for index, line in enumerate(self._lines) if line.marked]
        if not marked:
            return
        first, last = marked[0], marked[-1]
        blocks = [self.document().findBlockByNumber(index) for index in range(first, last + 1)]
        text = "\n".join(block.text() for block in blocks)
        form = QTextCharFormat()
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        form.setUnderlineColor(self._colors.edge)
        found: list[QTextEdit.ExtraSelection] = []
        for start, end in find(text):
            selection = QTextEdit.ExtraSelection()
            selection.format = form  # type: ignore[attr-defined]
            cursor = QTextCursor(self.document())
            cursor.setPosition(blocks[0].position() + _units(text[:start]))
            cursor.setPosition(blocks[0].position() + _units(text[:end]), QTextCursor.MoveMode.KeepAnchor)
            selection.cursor = cursor  # type: ignore[attr-defined]
            found.append(selection)
        self.setExtraSelections(found)

    def reveal(self, index: int) -> None:
        """Scroll so that a line stands in the upper third."""
        block = self.document().findBlockByNumber(index)
        if not block.isValid():
            return
        cursor = QTextCursor(block)
        self.setTextCursor(cursor)
        # With wrapped lines the scroll bar counts display lines: the first line of a block is the exact place.
        top = block.firstLineNumber() if index == 0 else self._display_line(index)
        visible_lines = max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()))
        self.verticalScrollBar().setValue(max(0, top - visible_lines // 4))

    def margin_width(self) -> int:
        """Return the width of the margin in pixels."""
        longest = max((len(line.label) for line in self._lines), default=1)
        return self.fontMetrics().horizontalAdvance("0") * max(3, longest) + 20

    def paint_margin(self, event: QPaintEvent) -> None:
        """Paint numbers and mark bars of the visible lines."""
        painter = QPainter(self._margin)
        painter.fillRect(event.rect(), self._colors.margin)
        painter.setFont(self.font())
        for line, rect in self._visible(event.rect()):
            if line.marked:
                painter.fillRect(QRect(0, rect.top(), self._margin.width(), rect.height()), self._colors.band)
                painter.fillRect(QRect(0, rect.top(), 3, rect.height()), self._colors.edge)
            painter.setPen(self.palette().color(self.foregroundRole()) if line.marked else self._colors.margin_text)
            number = QRect(0, rect.top(), self._margin.width() - 10, self.fontMetrics().height())
            painter.drawText(number, int(Qt.AlignmentFlag.AlignRight), line.label)
        painter.end()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        for line, rect in self._visible(event.rect()):
            if line.marked:
                painter.fillRect(QRect(0, rect.top(), self.viewport().width(), rect.height()), self._colors.band)
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        rect = self.contentsRect()
        self._margin.setGeometry(QRect(rect.left(), rect.top(), self.margin_width(), rect.height()))

    def _display_line(self, index: int) -> int:
        block, line = self.document().firstBlock(), 0
        while block.isValid() and block.blockNumber() < index:
            line += max(1, block.lineCount())
            block = block.next()
        return line

    def _visible(self, within: QRect) -> list[tuple[TextLine, QRect]]:
        found: list[tuple[TextLine, QRect]] = []
        block = self.firstVisibleBlock()
        offset = self.contentOffset()
        while block.isValid() and block.blockNumber() < len(self._lines):
            rect = self.blockBoundingGeometry(block).translated(offset).toRect()
            if rect.top() > within.bottom():
                break
            found.append((self._lines[block.blockNumber()], rect))
            block = block.next()
        return found

    def _on_block_count_changed(self, number: int = 0) -> None:
        del number
        self.setViewportMargins(self.margin_width(), 0, 0, 0)
        rect = self.contentsRect()
        self._margin.setGeometry(QRect(rect.left(), rect.top(), self.margin_width(), rect.height()))

    def _on_update_requested(self, rect: QRect, dy: int) -> None:
        if dy:
            self._margin.scroll(0, dy)
        else:
            self._margin.update(0, rect.y(), self._margin.width(), rect.height())


class _Margin(QWidget):
    def __init__(self, view: LineView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.margin_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_margin(event)


def _units(text: str) -> int:
    """Return how many positions a text takes in Qt, which counts UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _shown(text: str) -> str:
    if len(text) > MAX_LENGTH:
        text = f"{text[:MAX_LENGTH]}… ({len(text) - MAX_LENGTH} more characters are not shown)"
    return visible(text, keep="\t")
