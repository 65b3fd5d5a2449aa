"""Find in the diff: what is searched, where the next place is, and what is said of it (D12)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from PySide6.QtCore import QObject

from ltmem_gui.domain.diffing.searching import MAX_PLACES, Place, compile_search
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.ui.panels.review_page import ReviewPage


class ReviewSearch(QObject):
    """Step through the places of the last search; `say` tells a person what a key did."""

    def __init__(self, panel: ReviewPage, say: Callable[[str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._panel = panel
        self._say = say
        self._places: tuple[Place, ...] = ()
        self._place = -1

    def bind(self) -> None:
        """Connect the strip."""
        finder = self._panel.finder
        finder.searched.connect(self._on_searched)
        finder.step_asked.connect(self.go)
        finder.closed.connect(self._on_find_closed)

    def go(self, step: int) -> None:
        """Go to the next place (1) or the one before (-1), first from the cursor; the last search is taken up again."""
        p = self._panel
        if p.finder.isHidden():
            if not p.finder.field.text():
                self._say("Nothing to find yet: Ctrl+F asks for it")
                return
            p.finder.resume()
        if not self._places:
            return
        at = self._place + step if self._place >= 0 else self._from_cursor(step)
        wrapped = not 0 <= at < len(self._places)
        self._place = at % len(self._places)
        place = self._places[self._place]
        row = p.model.reveal(place.line, old=place.side == "old")
        if row is not None:
            p.view.set_cursor_row(row)
            p.view.center_cursor()
        turned = " · from the other end" if wrapped and len(self._places) > 1 else ""
        p.finder.tell(f"{self._place + 1} of {len(self._places)}{turned}")

    def _from_cursor(self, step: int) -> int:
        at = bisect_left(self._places, self._panel.view.cursor_row, key=self._row_of)
        return at if step > 0 else at - 1

    def _row_of(self, place: Place) -> int:
        document, old = self._panel.model.document, place.side == "old"
        row = document.place_of(place.line, old=old)
        fold = document.fold_row_of(place.line, old=old) if row is None else row
        return -1 if fold is None else fold

    def _on_searched(self, text: str, regex: bool, match_case: bool, side: str) -> None:
        p = self._panel
        self._place = -1
        if not text:
            self._places = p.model.search(None, side)
            p.finder.tell("")
            return
        try:
            pattern = compile_search(text, regex=regex, match_case=match_case)
        except UsageError as error:
            self._places = p.model.search(None, side)
            p.finder.tell(error.what)
            return
        self._places = p.model.search(pattern, side)
        more = "+" if len(self._places) >= MAX_PLACES else ""
        p.finder.tell(f"{len(self._places)}{more} found" if self._places else "not found")

    def _on_find_closed(self) -> None:
        self._places, self._place = (), -1
        self._panel.model.search(None, "both")
        self._panel.focus_diff()
