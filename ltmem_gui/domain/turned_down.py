"""What a person turned down in a proposal, and before it in those it was made anew from: told to the next run."""

from __future__ import annotations

from collections.abc import Iterator

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.review import Review


def turned_down(review: Review, now: int) -> tuple[RefusedHunk, ...]:
    """Return the changes a person rejected, earlier ones first; one that was accepted this time is not among them."""
    taken = [texts for texts, _ in _decided(review, Decision.ACCEPT, Decision.EDITED)]
    earlier = [hunk for hunk in review.plan.refused if not any(_holds(texts, hunk) for texts in taken)]
    found = {hunk.key: hunk for hunk in earlier}
    # What was rejected once more keeps its first day and its note, unless there is a new one.
    found |= {hunk.key: hunk for hunk in rejected(review, now) if hunk.note or hunk.key not in found}
    return tuple(found.values())


def rejected(review: Review, now: int) -> tuple[RefusedHunk, ...]:
    """Return the changes a person rejected in this proposal, with their notes; a part counts as what it holds."""
    return tuple(RefusedHunk(path, old, new, now, note) for (path, old, new), note in _decided(review, Decision.REJECT))


_Texts = tuple[str, tuple[str, ...], tuple[str, ...]]


def _decided(review: Review, *decisions: Decision) -> Iterator[tuple[_Texts, str]]:
    """Yield (path, old lines, new lines) of each change with one of the decisions, and the note to it."""
    for unit in review.units:
        if unit.kind not in ("hunk", "part") or review.mark(unit.key).decision not in decisions:
            continue
        for member in unit.members:
            old, new = review.lines_of(member)
            yield (member.path, old, new), review.notes.get(unit.key, "")


def _holds(texts: _Texts, hunk: RefusedHunk) -> bool:
    """Tell whether a change brings the lines of a rejected one, or takes the same ones out."""
    path, old, new = texts
    if path != hunk.path:
        return False
    return _among(hunk.new, new) if hunk.new else not new and _among(hunk.old, old)


def _among(lines: tuple[str, ...], those: tuple[str, ...]) -> bool:
    """Tell whether lines stand among others, whole and one after the other; the last of a file may have no end."""
    return f"\n{_ended(lines)}" in f"\n{_ended(those)}"


def _ended(lines: tuple[str, ...]) -> str:
    text = "".join(lines)
    return text if text.endswith("\n") else f"{text}\n"
