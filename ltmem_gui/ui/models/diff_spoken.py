"""Every row of a diff in words: what a screen reader says and the reading list shows (D15)."""

from __future__ import annotations

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.rows import Row, RowKind
from ltmem_gui.domain.hazards import tags, visible
from ltmem_gui.ui.models.diff_model import DiffModel

WORDS = {
    Decision.UNDECIDED: "undecided",
    Decision.ACCEPT: "accepted",
    Decision.REJECT: "rejected",
    Decision.EDITED: "edited",
}
_MAX_SPOKEN = 500


def spoken_row(model: DiffModel, index: int) -> str:
    """Return what is said of a row, empty outside of the document."""
    if not 0 <= index < model.document.count:
        return ""
    row = model.document.row(index)
    parts = [_what(model, index, row), *spoken_tags(model, row)]
    parts += [f"{f.severity.value} finding, {f.rule}: {visible(f.text)}" for f in model.findings_at(index, row)]
    return "; ".join(parts)


def spoken_tags(model: DiffModel, row: Row) -> list[str]:
    """Return what is painted as tags, in words."""
    if row.kind not in (RowKind.CONTEXT, RowKind.ADDED, RowKind.REMOVED):
        return []
    found = [f"{tag.spoken} at character {tag.at + 1}" for tag in tags(row.text[:_MAX_SPOKEN])]
    if not row.end:
        found.append("no newline at end of file")
    elif row.end != model.usual_end:
        found.append(
            "line ends with carriage return and line feed" if row.end == "\r\n" else "line ends with line feed"
        )
    moved = model.moved(row)
    if moved is not None:
        found.append(f"moved {'from' if row.kind is RowKind.ADDED else 'to'} line {moved}")
    if row.alike:
        found.append("differs in white space")
    return found


def _what(model: DiffModel, index: int, row: Row) -> str:
    text = visible(row.text[:_MAX_SPOKEN]) or "blank"
    if len(row.text) > _MAX_SPOKEN:
        text += f" and {len(row.text) - _MAX_SPOKEN} more characters"
    match row.kind:
        case RowKind.HEADER:
            number, total = model.number_of(index)
            added, removed = model.document.counts_at(index)
            decision = model.decision_of(row)
            word = WORDS[decision] if decision is not None else "nothing to decide"
            title = model.title_of(row)
            below = f", {visible(title)}" if title else ""
            note = f", note: {visible(model.note_of(row))}" if model.note_of(row) else ""
            return f"change {number} of {total}, {word}, {added} added, {removed} removed{below}{note}"
        case RowKind.FOLD:
            return f"{row.text or f'{row.hidden} unchanged lines'}, folded"
        case RowKind.ADDED:
            return f"added, line {row.new}: {text}"
        case RowKind.REMOVED:
            return f"removed, old line {row.old}: {text}"
        case RowKind.CONTEXT:
            return f"unchanged, line {row.new}: {text}"
        case _:
            return text
