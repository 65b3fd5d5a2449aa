"""The evidence of one citation: the cited lines in their file, beside what they said when they were cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from ltmem_gui.domain.anchors import CONTEXT_CHARACTERS, EvidenceSnapshot, Location, LocationStatus
from ltmem_gui.domain.citation_look import Looked
from ltmem_gui.ui.models.citation_look import changed_spans
from ltmem_gui.ui.models.formats import absolute
from ltmem_gui.ui.models.text_lines import TextLine, lines_around
from ltmem_gui.ui.widgets.labels import ElidedLabel
from ltmem_gui.ui.widgets.line_view import LineColors, LineView

DATE = len("2026-01-31")
_SINCE = {"cited": "as cited", "baseline": "as at the baseline", "first sight": "as first seen"}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Where the lines may be now: places of first and last line, and which one is shown."""

    places: tuple[tuple[int, int], ...] = ()
    shown: int = 0

    @property
    def place(self) -> tuple[int, int] | None:
        """Return the place that is shown."""
        return self.places[self.shown] if self.places else None

    @property
    def words(self) -> str:
        """Return which place is shown, in words."""
        if self.place is None:
            return "What was cited is not in this file any more"
        lines = f"lines {self.place[0]}–{self.place[1]}" if self.place[0] != self.place[1] else f"line {self.place[0]}"
        return f"Place {self.shown + 1} of {len(self.places)}: {lines}" if len(self.places) > 1 else f"Now {lines}"

    def step(self, by: int) -> Candidates:
        """Return the same places with another one shown; the last is followed by the first."""
        return Candidates(self.places, (self.shown + by) % max(1, len(self.places)))


def candidates_of(location: Location) -> Candidates:
    """Return where drifted lines may be now."""
    if location.status in (LocationStatus.MOVED, LocationStatus.EDITED):
        return Candidates(((location.start, location.end),))
    return Candidates(location.candidates)


class EvidenceView(LineView):
    """The cited lines. Signals: `left` on the left arrow key: back to the list."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Left and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.left.emit()
            return
        super().keyPressEvent(event)


class EvidencePane(QWidget):
    """Show evidence. Signals: `place_chosen` (first and last line): point the citation there."""

    place_chosen = Signal(int, int)

    def __init__(self, colors: LineColors, font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("citations.evidence_pane")
        self.title = ElidedLabel(role="muted")
        self.title.setContentsMargins(12, 6, 12, 6)
        self.usage = ElidedLabel(role="muted")
        self.usage.setObjectName("citations.usage")
        self.usage.setContentsMargins(12, 0, 12, 6)
        self.usage.hide()
        self.view = EvidenceView("citations.evidence", colors, font)
        self.view.setAccessibleName("Evidence")
        self.before = LineView("citations.as_cited", colors, font)
        self.before.setAccessibleName("The lines as they were cited")
        self._text = ""
        self._candidates = Candidates()
        self._quote = ""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.title)
        layout.addWidget(self.usage)
        layout.addWidget(self._build_bar())
        layout.addWidget(self._build_texts(), 1)
        self._show_drift(False)

    @property
    def candidates(self) -> Candidates:
        """Return where the lines may be now."""
        return self._candidates

    def set_colors(self, colors: LineColors) -> None:
        """Take the colours of another scheme."""
        self.view.set_colors(colors)
        self.before.set_colors(colors)

    def show_usage(self, words: str) -> None:
        """Say how often the cited memory is used, and why it is kept; nothing hides the line."""
        self.usage.set_text(words)
        self.usage.setVisible(bool(words))

    def show_lines(self, lines: Sequence[TextLine]) -> None:
        """Show lines of evidence, the cited ones marked."""
        self._candidates = Candidates()
        self._show_drift(False)
        self.view.show_lines(lines)

    def show_drifted(self, text: str, looked: Looked) -> None:
        """Show the text of a file whose cited lines drifted, beside what they said."""
        self._text = text
        self._show_drift(True)
        self._candidates = candidates_of(looked.location)
        self._quote = looked.taken.quote
        since = "" if looked.since is None else f" · {absolute(looked.since)[:DATE]}"
        commit = f" · {looked.taken.baseline[:8]}" if looked.taken.baseline else ""
        self._before_title.set_text(f"{_SINCE.get(looked.origin, 'as cited').capitalize()}{since}{commit}")
        self.before.show_lines(before_lines(looked.taken))
        self._show_candidate()

    def step(self, by: int) -> None:
        """Show another place that the lines may be at."""
        self._candidates = self._candidates.step(by)
        self._show_candidate()

    # parts

    def _build_bar(self) -> QWidget:
        self._bar = QFrame()
        self._bar.setObjectName("citations.places")
        self._words = ElidedLabel(fills=True)
        self._previous = self._button("citations.places.previous", "‹", "Previous place", partial(self.step, -1))
        self._next = self._button("citations.places.next", "›", "Next place", partial(self.step, 1))
        self.point = self._button("citations.places.point", "Point here…", "", self._on_point_pressed)
        self.point.setToolTip("Plans to cite these lines instead; the review decides")
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(12, 0, 12, 6)
        row.setSpacing(8)
        row.addWidget(self._words, 1)
        for button in (self._previous, self._next, self.point):
            row.addWidget(button)
        return self._bar

    def _build_texts(self) -> QWidget:
        self._before_title = ElidedLabel(role="muted")
        self._now_title = ElidedLabel(role="muted")
        self._now_title.set_text("Now")
        self._before_side = _side(self._before_title, self.before)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setObjectName("citations.evidence_splitter")
        splitter.addWidget(self._before_side)
        splitter.addWidget(_side(self._now_title, self.view))
        splitter.setSizes([270, 300])
        splitter.setChildrenCollapsible(False)
        return splitter

    def _button(self, name: str, text: str, title: str, press: object) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(title or text)
        button.setToolTip(title)
        button.clicked.connect(press)
        return button

    def _show_drift(self, drifted: bool) -> None:
        for widget in (self._bar, self._before_side, self._now_title):
            widget.setVisible(drifted)

    def _show_candidate(self) -> None:
        chosen = self._candidates.place
        several = len(self._candidates.places) > 1
        self._words.set_text(self._candidates.words)
        self._previous.setVisible(several)
        self._next.setVisible(several)
        self.point.setVisible(chosen is not None)
        first, last = chosen or (1, 0)
        lines = lines_around(self._text, range(first, last + 1))
        self.view.show_lines(lines)
        now = "\n".join(line.text for line in lines if line.marked)
        if now and self._quote:
            self.view.underline(lambda text: changed_spans(text, self._quote))
            self.before.underline(lambda text: changed_spans(text, now))

    def _on_point_pressed(self) -> None:
        place = self._candidates.place
        if place is not None:
            self.place_chosen.emit(*place)


def before_lines(taken: EvidenceSnapshot) -> tuple[TextLine, ...]:
    """Return what was cited with its surroundings, numbered as it was; the quote is marked."""
    if taken.is_hash_only:
        return (TextLine("", "(the text was not kept, only its hash)"),)
    before = taken.before.split("\n")[:-1]
    if before and len(taken.before) >= CONTEXT_CHARACTERS:
        before[0] = f"…{before[0]}"
    after = taken.after.split("\n")
    after = after[:-1] if after[-1] == "" else [*after[:-1], f"{after[-1]}…"]
    first = taken.start - len(before)
    rows = [(text, False) for text in before]
    rows += [(text, True) for text in taken.quote.split("\n")] + [(text, False) for text in after]
    return tuple(TextLine(str(number), text, marked) for number, (text, marked) in enumerate(rows, first))


def _side(title: ElidedLabel, view: QWidget) -> QWidget:
    holder = QWidget()
    title.setContentsMargins(12, 2, 12, 4)
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(title)
    layout.addWidget(view, 1)
    return holder
