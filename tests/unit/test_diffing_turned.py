"""Lines that only stand elsewhere are one row, until it is opened; nothing of them is decided for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.layout import TURNED, Look, lay_out
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.rows import Document, RowKind
from ltmem_gui.domain.diffing.turned import in_other_order, moved_blocks
from ltmem_gui.domain.diffing.whitespace import Whitespace
from ltmem_gui.domain.plan import Hunk, Plan
from ltmem_gui.domain.review import Review
from tests.helpers.reviews import finding, plan_of_files

BLOCK = "- a long enough line to be known again\n- and a second one of them\n"
REST = "".join(f"- fact {n}\n" for n in range(20))


def made(old: str, new: str, found: int = 0) -> tuple[Plan, list[str]]:
    findings = [finding("n.md", found)] if found else []
    plan, _ = plan_of_files({"n.md": old}, {"n.md": new}, findings)
    return plan, split_lines(old)


def laid(plan: Plan, base: list[str], look: Look | None = None, review: Review | None = None) -> Document:
    return lay_out(plan.changes[0], review or Review(plan), base, look or Look())


def folds(document: Document) -> list[str]:
    rows = [document.row(at) for at in range(document.count)]
    return [row.text for row in rows if row.kind is RowKind.FOLD and row.unit]


def test_a_block_that_moved_is_one_row_on_each_side() -> None:
    plan, base = made(BLOCK + REST, REST + BLOCK)
    document = laid(plan, base)
    assert folds(document) == ["2 lines moved to line 21", "2 lines moved from line 1"]
    assert [document.counts_at(header) for header in document.headers] == [(0, 2), (2, 0)]
    assert not any(document.row(at).kind in (RowKind.ADDED, RowKind.REMOVED) for at in range(document.count))


def test_a_fold_opens_by_its_gap_by_the_whole_file_and_by_its_lines() -> None:
    plan, base = made(BLOCK + REST, REST + BLOCK)
    document = laid(plan, base)
    at = next(i for i in range(document.count) if document.row(i).unit and document.row(i).kind is RowKind.FOLD)
    gap = document.row(at).gap
    assert gap == TURNED + 1
    assert (document.fold_of(0, old=True), document.fold_of(20)) == (gap, gap + 1)
    opened = laid(plan, base, Look().open_gap(gap))
    assert folds(opened) == ["2 lines moved from line 1"]
    assert [row.text for row in opened.rows(0, 3)][1:] == [line.rstrip("\n") for line in split_lines(BLOCK)]
    assert folds(laid(plan, base, Look(whole=True))) == []
    assert folds(laid(plan, base, Look(whitespace=tuple(Whitespace)[1]))) == []


def test_the_same_lines_in_another_order_are_one_row() -> None:
    hunk = Hunk(id="h", old_start=0, old=("a\n", "b\n", "c\n"), new_start=0, new=("c\n", "a\n", "b\n"))
    plan, base = made("a\nb\nc\n", "c\na\nb\n")
    plan = plan.model_copy(update={"changes": (plan.changes[0].model_copy(update={"hunks": (hunk,)}),)})
    document = laid(plan, base)
    assert folds(document) == ["3 lines, the same in another order"]
    assert document.counts_at(0) == (3, 3)


def test_a_finding_keeps_its_lines_in_sight() -> None:
    plan, base = made(BLOCK + REST, REST + BLOCK, found=22)
    assert folds(laid(plan, base)) == ["2 lines moved to line 21"]


def test_an_edit_is_shown_as_it_is() -> None:
    plan, base = made(BLOCK + REST, REST + BLOCK)
    review = Review(plan)
    key = review.units[1].key
    assert review.mark(key).decision is Decision.UNDECIDED
    assert folds(laid(plan, base, review=review.edit(key, ("other\n",)))) == ["2 lines moved to line 21"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x\ny\n" + REST, REST + "x\ny\n"),  # too little text to be sure
        (BLOCK + REST + BLOCK, REST + BLOCK + "- new\n"),  # there twice
        (BLOCK + REST, REST + BLOCK.replace("second", "third")),
    ],
)
def test_what_is_not_surely_a_move_is_shown(old: str, new: str) -> None:
    plan, base = made(old, new)
    assert folds(laid(plan, base)) == []


def test_blocks_that_stand_twice_are_left_alone() -> None:
    block = ("- a long enough line to be known\n",)
    gone = [Hunk(id=f"g{n}", old_start=n, old=block, new_start=0, new=()) for n in (1, 5)]
    come = Hunk(id="c", old_start=9, old=(), new_start=7, new=block)
    assert moved_blocks([*gone, come]) == {}
    assert moved_blocks([gone[0], come]) == {"g1": 8, "c": 2}
    assert moved_blocks([come]) == {}


@given(st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=6), st.randoms())
def test_an_order_holds_the_same_lines(lines: list[str], random: object) -> None:
    turned = list(lines)
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert in_other_order(lines, turned) == bool(lines)
    assert not in_other_order(lines, [*turned, "d\n"])
