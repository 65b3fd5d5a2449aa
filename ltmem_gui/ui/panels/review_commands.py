"""What the keys of the review do. Every decision goes through the review state and can be undone."""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.layout import Look
from ltmem_gui.domain.diffing.rows import REVEAL, Row, RowKind
from ltmem_gui.domain.diffing.whitespace import Whitespace
from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.formats import plural
from ltmem_gui.ui.panels.review_page import ReviewPage
from ltmem_gui.ui.panels.review_search import ReviewSearch
from ltmem_gui.ui.widgets.diff_long_line import LongLineDialog

_MODES = tuple(Whitespace)
_LINES = (RowKind.CONTEXT, RowKind.ADDED, RowKind.REMOVED)


class ReviewCommands(QObject):
    """Bind the actions of a review panel. Signals: `apply_asked` (a person wants the sheet of effects)."""

    apply_asked = Signal()

    def __init__(self, panel: ReviewPage) -> None:
        super().__init__(panel)
        self._panel = panel
        self._search = ReviewSearch(panel, self.say, self)
        self._armed = ""
        self._noted = ""
        self._edited = ""
        self._drafts: dict[str, str] = {}
        self._overriding: Finding | None = None

    def bind(self) -> None:
        """Connect every action and signal of the strips."""
        p, bind = self._panel, self._panel.registry.bind
        handlers = {
            "next_change": lambda: self._go(1, None),
            "previous_change": lambda: self._go(-1, None),
            "next_undecided": lambda: self._go_undecided(1),
            "previous_undecided": lambda: self._go_undecided(-1),
            "next_finding": lambda: self._go_finding(1),
            "previous_finding": lambda: self._go_finding(-1),
            "next_file": lambda: self._go_file(1),
            "previous_file": lambda: self._go_file(-1),
            "accept": lambda: self.decide(Decision.ACCEPT),
            "reject": lambda: self.decide(Decision.REJECT),
            "edit": self.edit,
            "undecide": lambda: self.decide(Decision.UNDECIDED),
            "undo": self.undo,
            "accept_block": lambda: self._decide_block(Decision.ACCEPT),
            "reject_block": lambda: self._decide_block(Decision.REJECT),
            "accept_file": lambda: self._decide_file(Decision.ACCEPT),
            "reject_file": lambda: self._decide_file(Decision.REJECT),
            "note": self._begin_note,
            "source": p.side.take_focus,
            "next_source": p.side.turn,
            "unfold": self._unfold,
            "whole_file": self._toggle_whole,
            "side_by_side": self._toggle_side_by_side,
            "whitespace": self._next_whitespace,
            "reading_list": lambda: p.show_reading_list(not p.reads_list),
            "long_line": self._show_long_line,
            "find_next": lambda: self._search.go(1),
            "find_previous": lambda: self._search.go(-1),
            "copy": p.hand_over.copy,
            "copy_patch": p.hand_over.copy_patch,
            "copy_place": p.hand_over.copy_place,
            "open_editor": p.hand_over.open_in_editor,
            "show_file": p.hand_over.show_in_file_manager,
            "export": p.header.open_exports,
            "apply": self.apply_asked.emit,
        }
        for name, handler in handlers.items():
            bind(f"review.{name}", handler)
        p.view.button_pressed.connect(self._on_header_button_pressed)
        p.header.copy_asked.connect(p.hand_over.copy_review)
        p.hand_over.told.connect(self.say)
        p.header.whitespace_reset.connect(self._on_whitespace_reset)
        self._search.bind()
        p.notes.kept.connect(self._on_note_kept)
        p.notes.closed.connect(self._panel.focus_diff)
        p.edit.previewed.connect(self._on_edit_previewed)
        p.edit.kept.connect(self._on_edit_kept)
        p.edit.abandoned.connect(self._on_edit_abandoned)
        p.edit.put_aside.connect(self._on_edit_put_aside)
        p.edit.left.connect(self._panel.focus_diff)
        p.state.decided.connect(p.edit.preview_again)
        p.side.finding_chosen.connect(self._on_finding_chosen)
        p.side.override_asked.connect(self._on_override_asked)

    # --- decisions ---

    def decide(self, decision: Decision) -> None:
        """Decide the change under the cursor, or the selected rows; then go to the next open change."""
        p = self._panel
        review, unit = p.state.review, self.unit()
        if review is None:
            return
        first, last = p.view.selected_rows
        if last > first:
            rows = p.model.document.rows(first, last + 1)
            if not any(row.unit for row in rows):
                self.say("These rows do not change")
                return
            if p.edit.is_open and any(row.unit == self._edited for row in rows):
                self.say("These rows are being edited: keep the edit or drop it first")
                return
            p.state.decide_rows(p.current_path(), rows, decision)
            p.view.set_cursor_row(min(p.view.cursor_row, p.model.document.count - 1))
            return
        if unit is None:
            nothing = "Nothing is decided in this file" if not p.model.undecided[1] else ""
            self.say(nothing or "No change on this row: F7 goes to the next one")
            return
        changed = p.state.decide([unit], decision)
        if changed and decision is not Decision.UNDECIDED:
            self._go_undecided(1, quiet=True)

    def undo(self) -> None:
        """Take the last decision back and show where it was."""
        p = self._panel
        before = p.state.review
        if before is not None and p.edit.is_open and self._edited not in before.undo().by_key:
            self.say("This takes back the part that is being edited: keep the edit or drop it first")
            return
        if before is None or not p.state.undo():
            self.say("Nothing to undo")
            return
        after = p.state.review
        assert after is not None
        changed = next(
            (u for u in after.units if after.mark(u.key) != before.marks.get(u.key, after.mark(u.key))), None
        )
        if changed is not None:
            self._show_unit(changed.key, changed.path)
        else:
            self.say("Taken back")

    def edit(self) -> None:
        """Open the new lines of the change under the cursor."""
        p = self._panel
        review, key = p.state.review, self.unit()
        if review is None or key is None:
            self.say("No change on this row: F7 goes to the next one")
            return
        unit = review.by_key[key]
        if unit.kind not in ("hunk", "part"):
            self.say("This change is decided as a whole: accept or reject it")
            return
        if p.edit.is_open and (p.edit.is_changed or key == self._edited):
            p.edit.field.setFocus()
            if key != self._edited:
                self.say("Another change is being edited: keep that edit or drop it first")
            return
        _, proposed = review.lines_of(unit.members[0])
        mark = review.mark(key)
        lines = mark.edited if mark.edited is not None else proposed
        reason = p.edit.begin(lines, proposed, self._drafts.pop(key, None))
        if reason:
            self.say(f"Cannot be edited here: {reason}")
        else:
            self._edited = key

    def _decide_block(self, decision: Decision) -> None:
        p = self._panel
        row = self._row()
        line = next((r.new for r in p.model.document.rows(p.view.cursor_row, p.view.cursor_row + 2) if r.new), None)
        if row is None or line is None:
            self.say("This row stands in no task group")
            return
        keys = p.state.block_units(p.current_path(), line)
        if not keys:
            self.say("This row stands in no task group")
            return
        p.state.decide(keys, decision)
        self.say(f"{plural(len(keys), 'change')} of this task group decided")

    def _decide_file(self, decision: Decision) -> None:
        p = self._panel
        path = p.current_path()
        if not path:
            return
        open_findings = [f for f in p.model.findings if f.severity is not Severity.INFO]
        key = f"{path}:{decision.value}"
        if decision is Decision.ACCEPT and open_findings and self._armed != key:
            self._armed = key
            self.say(f"This file has {plural(len(open_findings), 'finding')}: press Shift+A again to accept it anyway")
            return
        self._armed = ""
        p.state.decide_file(path, decision)
        self._go_undecided(1, quiet=True)

    def _on_header_button_pressed(self, name: str, row: int) -> None:
        del row
        if name == "edit":
            self.edit()
        else:
            words = {"accept": Decision.ACCEPT, "reject": Decision.REJECT, "undecide": Decision.UNDECIDED}
            self.decide(words[name])

    def _on_edit_previewed(self, lines: tuple[str, ...]) -> None:
        p = self._panel
        review = p.state.review
        if review is not None and self._edited in review.by_key:
            p.model.set_review(review.edit(self._edited, lines))

    def _on_edit_kept(self, lines: tuple[str, ...]) -> None:
        p = self._panel
        try:
            changed = p.state.edit(self._edited, lines)
        except RefusedError as error:
            self.say(error.what)
            return
        if not changed:
            self._on_edit_abandoned()
            return
        self._show_unit(self._edited, p.current_path())
        self._panel.focus_diff()

    def _on_edit_put_aside(self, text: str) -> None:
        self._drafts[self._edited] = text

    def _on_edit_abandoned(self) -> None:
        if self._panel.state.review is not None:
            self._panel.model.set_review(self._panel.state.review)
        self._panel.focus_diff()

    # --- notes and findings ---

    def _begin_note(self) -> None:
        key, review = self.unit(), self._panel.state.review
        if key is None or review is None:
            self.say("No change on this row: F7 goes to the next one")
            return
        self._overriding, self._noted = None, key
        self._panel.notes.begin("Note on this change (kept with the receipt):", review.notes.get(key, ""))

    def _on_note_kept(self, text: str) -> None:
        if self._overriding is not None:
            self._panel.state.override(self._overriding.id, text)
            self._overriding = None
        else:
            self._panel.state.note(self._noted, text)

    def _on_override_asked(self, finding: Finding) -> None:
        review = self._panel.state.review
        if review is not None:
            self._overriding = finding
            label = f"Reason to pass “{one_line(finding.text, 60)}” (kept with the receipt):"
            self._panel.notes.begin(label, review.overrides.get(finding.id, ""))

    def _on_finding_chosen(self, finding: Finding) -> None:
        p = self._panel
        if finding.path not in p.state.files:
            self.say(f"{one_line(finding.path, 200)} is not changed by this plan")
            return
        p.open_file(finding.path)
        row = p.model.reveal(finding.line - 1) if finding.line is not None else None
        if row is not None:
            p.view.set_cursor_row(row)
            p.view.center_cursor()

    # --- going ---

    def _go(self, step: int, start: int | None) -> None:
        p = self._panel
        row = p.model.next_header(p.view.cursor_row if start is None else start, step)
        if row is None:
            self.say("No further change in this file: N goes to the next open one")
        else:
            p.view.set_cursor_row(row)

    def _go_undecided(self, step: int, *, quiet: bool = False) -> None:
        p = self._panel
        review = p.state.review
        if review is None:
            return
        row = p.model.next_header(p.view.cursor_row, step, p.model.is_undecided)
        if row is not None:
            p.view.set_cursor_row(row)
            return
        paths = [file.change.path for file in p.files_model.rows if file.undecided]
        if not paths:
            if not quiet:
                self.say("Every change is decided: Ctrl+Shift+A opens Apply…")
            return
        here = p.files_model.row_of(p.current_path())
        order = sorted(
            paths, key=lambda path: ((p.files_model.row_of(path) - here) * step - 1) % len(p.files_model.rows)
        )
        p.open_file(order[0])
        headers = p.model.document.headers
        wanted = [h for h in headers if p.model.is_undecided(p.model.document.row(h))]
        if wanted:
            p.view.set_cursor_row(wanted[0] if step > 0 else wanted[-1])

    def _go_finding(self, step: int) -> None:
        p = self._panel
        row = p.model.next_finding(p.view.cursor_row, step)
        if row is not None:
            p.view.set_cursor_row(row)
            p.view.center_cursor()
            return
        others = [f for f in p.files_model.rows if f.findings and f.change.path != p.current_path()]
        if not others:
            self.say("No further finding")
            return
        p.open_file(min((f.change.path for f in others), key=lambda path: self._distance(path, step)))
        row = p.model.next_finding(-1 if step > 0 else p.model.document.count, step)
        if row is not None:
            p.view.set_cursor_row(row)
            p.view.center_cursor()

    def _distance(self, path: str, step: int) -> int:
        """Return how many files away a path is in a direction, round the end; the shown file comes last."""
        files = self._panel.files_model
        here = files.row_of(self._panel.current_path())
        return ((files.row_of(path) - here) * step - 1) % len(files.rows)

    def _go_file(self, step: int) -> None:
        p = self._panel
        rows = p.files_model.rows
        if rows:
            p.open_file(rows[(p.files_model.row_of(p.current_path()) + step) % len(rows)].change.path)

    def _show_unit(self, key: str, path: str) -> None:
        p = self._panel
        p.open_file(path)
        row = p.model.document.header_of(key)
        if row is not None:
            p.view.set_cursor_row(row)

    # --- looking ---

    def _unfold(self) -> None:
        p = self._panel
        row = self._row()
        if row is not None and row.kind is RowKind.FOLD:
            here = p.view.cursor_row
            p.model.open_fold(here, REVEAL)
            # What is left of the fold keeps the cursor: Space goes on.
            rest = range(here, min(here + REVEAL + 1, p.model.document.count))
            p.view.set_cursor_row(next((at for at in rest if p.model.document.row(at).gap == row.gap), here))
        else:
            self.say("Not on a fold: F shows the whole file")

    def _toggle_whole(self) -> None:
        look = self._panel.model.look
        self._set_look(Look(not look.whole, {}, look.whitespace))

    def _next_whitespace(self) -> None:
        look = self._panel.model.look
        mode = _MODES[(_MODES.index(look.whitespace) + 1) % len(_MODES)]
        self._set_look(Look(look.whole, look.opened, mode))
        self.say(f"View: {mode.value}; decisions are about every byte")

    def _on_whitespace_reset(self) -> None:
        look = self._panel.model.look
        self._set_look(Look(look.whole, look.opened))
        self._panel.focus_diff()

    def _set_look(self, look: Look) -> None:
        """Change the look and keep the cursor on its line."""
        p = self._panel
        row = self._row()
        p.model.set_look(look)
        p.show_modes()
        if row is None:
            return
        place = p.model.document.header_of(row.unit) if row.kind is RowKind.HEADER and row.unit else None
        if place is None and row.new is not None:
            place = p.model.document.place_of(row.new - 1)
        if place is None and row.old is not None:
            place = p.model.document.place_of(row.old - 1, old=True)
        if place is None and row.new is not None:
            place = p.model.document.fold_row_of(row.new - 1)
        p.view.set_cursor_row(place if place is not None else 0)
        p.view.center_cursor()

    def _toggle_side_by_side(self) -> None:
        self._panel.view.set_side_by_side(not self._panel.view.side_by_side)
        self._panel.show_modes()
        if self._panel.view.side_by_side and not self._panel.view.paired:
            self.say("This file has one side only: it keeps the whole width")

    def _show_long_line(self) -> None:
        row = self._row()
        if row is None or row.kind not in _LINES:
            self.say("No line of text on this row")
            return
        p = self._panel
        dialog = LongLineDialog(row.text, f"{p.current_path()}:{row.new or row.old}", p)
        dialog.copy_asked.connect(p.hand_over.copy)
        dialog.editor_asked.connect(p.hand_over.open_in_editor)
        dialog.open()

    # --- words ---

    def position(self) -> str:
        """Say where the cursor is."""
        p = self._panel
        row = self._row()
        if row is None:
            return ""
        first, last = p.view.selected_rows
        if last > first:
            return f"{last - first + 1} rows selected: A accepts, X rejects what changes in them"
        headers = p.model.document.headers
        at = bisect_right(headers, p.view.cursor_row)
        line = f" · line {row.new or row.old}" if row.new or row.old else ""
        if not headers:
            return line.removeprefix(" · ")
        return f"Change {at} of {len(headers)}{line}" if at else f"Before change 1 of {len(headers)}{line}"

    def summary(self) -> str:
        """Say what Apply would do with the decisions so far."""
        review = self._panel.state.review
        if review is None:
            return ""
        if review.plan.kind == "consolidate":
            return "nothing is written: the agent reads what you accept, and its proposal comes back here"
        touched = review.taken_paths
        deleted = sum(1 for c in review.plan.changes if c.path in touched and c.change == "deleted")
        written = len(touched) - deleted
        parts = [f"writes {plural(written, 'file')}"]
        parts += [f"deletes {deleted}"] if deleted else []
        way_back = "cannot be undone" if review.plan.forgets else "undo: 24 h"
        return ", ".join(parts) + f", resets the baseline · {way_back}"

    def say(self, text: str) -> None:
        """Tell a person what a key did, or why it did nothing."""
        self._panel.foot.position.set_text(text)
        self._panel.view.speaker.say(text)

    def _row(self) -> Row | None:
        p = self._panel
        at = p.view.cursor_row
        return p.model.document.row(at) if at < p.model.document.count else None

    def unit(self) -> str | None:
        """Return the key of the change under the cursor."""
        row = self._row()
        return row.unit if row is not None else None
