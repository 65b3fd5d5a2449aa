"""Labels and small frames that know nothing of the program. Text is always plain: nothing here renders markup."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QStylePainter, QWidget

SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


def plain_label(
    text: str = "", *, role: str = "", font: QFont | None = None, wrap: bool = False, selectable: bool = False
) -> QLabel:
    """Make a label that shows its text as it is; `role` picks a colour of the style sheet."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    if role:
        label.setProperty("role", role)
    if font is not None:
        label.setFont(font)
    label.setWordWrap(wrap)
    if wrap:
        policy = label.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        policy.setHeightForWidth(True)
        label.setSizePolicy(policy)
    if selectable:
        label.setTextInteractionFlags(SELECTABLE)
        label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    return label


def rule() -> QFrame:
    """Make a hair line."""
    line = QFrame()
    line.setProperty("role", "rule")
    line.setFixedHeight(1)
    return line


def set_role(widget: QWidget, name: str, value: str) -> None:
    """Change a property that the style sheet looks at, and repolish."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class ElidedLabel(QLabel):
    """A label of one line that cuts its text to the room there is; the whole text is in the tooltip.

    One that `fills` takes what is left and ignores the length of its text.
    """

    def __init__(
        self,
        text: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        *,
        role: str = "",
        fills: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._full = ""
        self._fills = fills
        self.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            self.setProperty("role", role)
        horizontal = QSizePolicy.Policy.Ignored if fills else QSizePolicy.Policy.Preferred
        self.setSizePolicy(horizontal, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    @property
    def full_text(self) -> str:
        """Return the text before it is cut."""
        return self._full

    def set_text(self, text: str) -> None:
        """Show a text."""
        if text == self._full:
            return
        self._full = text
        self.setAccessibleName(text)
        self._update_tooltip()
        if self._fills:
            self.update()  # its place does not depend on its text: nothing is laid out anew
        else:
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        margins = self.contentsMargins()
        width = metrics.horizontalAdvance(self._full) + margins.left() + margins.right() + 2
        return QSize(width, metrics.height() + margins.top() + margins.bottom() + 2)

    def minimumSizeHint(self) -> QSize:
        size = self.sizeHint()
        return QSize(min(size.width(), self.fontMetrics().averageCharWidth() * 4), size.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QStylePainter(self)
        rect = self.contentsRect()
        text = self.fontMetrics().elidedText(self._full, self._mode, rect.width())
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        self.style().drawItemText(
            painter, rect, int(self.alignment()), self.palette(), self.isEnabled(), text, self.foregroundRole()
        )
        painter.end()

    def _update_tooltip(self) -> None:
        cut = self.fontMetrics().horizontalAdvance(self._full) > self.contentsRect().width()
        self.setToolTip(self._full.replace("<", "‹") if cut else "")
