from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.layout import Look, describe, lay_out, new_lines
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.rows import Document, Row, RowKind, Run
from ltmem_gui.domain.diffing.whitespace import Whitespace, normaliser
from ltmem_gui.domain.review import Review
from tests.helpers.reviews import many_hunks, plan_of_files

K = RowKind


def document(old: str, new: str, look: Look | None = None, *, base: bool = True) -> tuple[Document, Review]:
    plan, _ = plan_of_files({"n.md": old}, {"n.md": new})
    review = Review(plan)
    return lay_out(plan.changes[0], review, split_lines(old) if base else None, look or Look()), review


def kinds(doc: Document) -> list[str]:
    signs = {K.HEADER: "@", K.CONTEXT: " ", K.REMOVED: "-", K.ADDED: "+", K.FOLD: "~", K.NOTE: "n"}
    return [signs[row.kind] for row in doc.rows(0, doc.count)]


OLD, NEW = many_hunks(3, 20)


def test_context_is_folded_to_three_lines() -> None:
    doc, _ = document(OLD, NEW)
    assert "".join(kinds(doc)) == "~   @-+   ~   @-+   ~   @-+   ~"
    folds = [row for row in doc.rows(0, doc.count) if row.kind is K.FOLD]
    assert [row.hidden for row in folds] == [7, 13, 13, 6]
    assert [(row.old, row.new) for row in folds] == [(1, 1), (15, 15), (35, 35), (55, 55)]


def test_a_fold_opens_twenty_lines_at_both_ends_or_whole() -> None:
    old, new = many_hunks(2, 200)
    doc, review = document(old, new)
    fold = next(at for at, row in enumerate(doc.rows(0, doc.count)) if row.kind is K.FOLD and row.gap == 1)
    gap, hidden = doc.row(fold).gap, doc.row(fold).hidden
    more = lay_out(review.plan.changes[0], review, split_lines(old), Look().open_gap(gap).open_gap(gap, 1))
    assert [r.hidden for r in more.rows(0, more.count) if r.gap == gap] == [hidden - 42]
    whole = lay_out(review.plan.changes[0], review, split_lines(old), Look(whole=True))
    assert "~" not in kinds(whole)
    assert whole.count == len(split_lines(old)) + 2 + 2


def test_a_fold_of_one_line_is_no_fold() -> None:
    lines = [f"{n}\n" for n in range(16)]
    changed = list(lines)
    changed[4], changed[12] = "x\n", "y\n"
    doc, _ = document("".join(lines), "".join(changed))
    assert "".join(kinds(doc)) == "    @-+       @-+   "


def test_without_the_base_unchanged_lines_cannot_be_opened() -> None:
    doc, _ = document(OLD, NEW, base=False)
    assert "".join(kinds(doc)) == "~@-+~@-+~@-+"
    assert all(row.gap == -1 for row in doc.rows(0, doc.count) if row.kind is K.FOLD)


def test_numbers_and_ends_are_those_of_the_files() -> None:
    doc, _ = document("# MEMORY\n\nuv only", "# MEMORY\n\nuv only\r\nday first\n")
    rows = [row for row in doc.rows(0, doc.count) if row.kind in (K.REMOVED, K.ADDED)]
    assert [(r.text, r.end, r.old, r.new) for r in rows] == [
        ("uv only", "", 3, None),
        ("uv only", "\r\n", None, 3),
        ("day first", "\n", None, 4),
    ]
    assert rows[0].line == "uv only"
    with pytest.raises(IndexError):
        doc.row(doc.count)
    assert doc.rows(-5, 1) == [doc.row(0)]


@given(
    st.lists(st.sampled_from(["a", "b", "", "c\r"]), max_size=20),
    st.lists(st.sampled_from(["a", "b", "", "d"]), max_size=20),
    st.booleans(),
)
@settings(max_examples=80)
def test_an_unfolded_document_holds_both_texts(old: list[str], new: list[str], end: bool) -> None:
    before = "\n".join(old) + ("\n" if end else "")
    after = "\n".join(new)
    if before == after:
        return
    doc, _ = document(before, after, Look(whole=True))
    rows = doc.rows(0, doc.count)
    if any(row.kind is K.NOTE for row in rows):
        return
    assert "".join(r.line for r in rows if r.kind in (K.CONTEXT, K.REMOVED)) == before
    assert "".join(r.line for r in rows if r.kind in (K.CONTEXT, K.ADDED)) == after
    numbers = [r.new for r in rows if r.kind in (K.CONTEXT, K.ADDED)]
    assert numbers == list(range(1, len(numbers) + 1))
    for at in range(doc.pair_count):
        assert doc.pair_of_row(doc.row_of_pair(at)) == at
    sides = [doc.pair(at) for at in range(doc.pair_count)]
    assert "".join(p.left.line for p in sides if p.left and p.left.kind in (K.CONTEXT, K.REMOVED)) == before
    assert "".join(p.right.line for p in sides if p.right and p.right.kind in (K.CONTEXT, K.ADDED)) == after


def test_lines_below_a_longer_edit_are_found_beside_it() -> None:
    old = "".join(f"{n}\n" for n in range(8))
    plan, _ = plan_of_files({"n.md": old}, {"n.md": old.replace("2\n", "two\n")})
    review = Review(plan)
    review = review.edit(review.units[0].key, ("a\n", "2\n", "b\n", "c\n", "d\n", "e\n", "f\n"))
    doc = lay_out(plan.changes[0], review, split_lines(old), Look(whole=True))
    below = [doc.place_of(line) for line in (3, 4, 5, 6, 7)]
    assert [doc.row(row or 0).text for row in below] == ["3", "4", "5", "6", "7"]
    assert [doc.place_of(line) for line in (-1, 8)] == [None, None]
    assert doc.fold_row_of(3) is None


def test_side_by_side_pads_the_shorter_side() -> None:
    doc, _ = document("a\nb\nc\nsame\n", "A\nsame\nnew\n")
    shown = [
        (p.left.text if p.left else None, p.right.text if p.right else None)
        for p in map(doc.pair, range(doc.pair_count))
    ]
    assert shown == [("", None), ("a", "A"), ("b", None), ("c", None), ("same", "same"), ("", None), (None, "new")]
    assert [doc.pair_of_row(row) for row in range(doc.count)] == [0, 1, 2, 3, 1, 4, 5, 6]
    with pytest.raises(IndexError):
        doc.pair(doc.pair_count)


def test_lines_and_units_find_their_rows() -> None:
    doc, review = document(OLD, NEW)
    first = review.units[0]
    assert doc.header_of(first.key) == doc.headers[0] == 4
    assert doc.header_of("nope") is None
    assert doc.row(doc.place_of(10) or 0).new == 11
    assert doc.row(doc.place_of(10, old=True) or 0).kind is K.REMOVED
    assert doc.place_of(0) is None
    assert doc.fold_of(0) == 0
    assert doc.fold_of(10) is None
    assert doc.fold_of(20, old=True) == 1
    assert doc.locate(4) == (2, 0)
    assert doc.start_of(2) == 4


def test_headers_know_their_heading() -> None:
    doc, _ = document("# Task Group: a\n\n- x\n", "# Task Group: a\n\n- y\n")
    heading = doc.heading(doc.row(doc.headers[0]))
    assert heading is not None
    assert heading.title == "Task Group: a"
    removed = next(r for r in doc.rows(0, doc.count) if r.kind is K.REMOVED)
    assert doc.heading(removed) is None


def test_a_split_hunk_has_a_header_for_each_part() -> None:
    plan, _ = plan_of_files({"n.md": "a\nb\n"}, {"n.md": "A\nB\n"})
    review = Review(plan).split("n.md", plan.changes[0].hunks[0].id, (0, 1), (0, 0))
    doc = lay_out(plan.changes[0], review, ["a\n", "b\n"], Look())
    assert "".join(kinds(doc)) == "@-@-++"


def test_an_edited_hunk_shows_its_new_lines_compared_anew() -> None:
    plan, _ = plan_of_files({"n.md": "a\nb\nc\n"}, {"n.md": "x\ny\n"})
    review = Review(plan)
    review = review.edit(review.units[0].key, ("a\n", "B\n", "c\n"))
    doc = lay_out(plan.changes[0], review, ["a\n", "b\n", "c\n"], Look())
    assert "".join(kinds(doc)) == "@ -+ "


def test_white_space_modes_are_views() -> None:
    old, new = "a\nb  c\nend\n", "a\r\nb c \nEND\n"
    plan, _ = plan_of_files({"n.md": old}, {"n.md": new})
    review = Review(plan)
    selections = set()
    shown = {}
    for mode in Whitespace:
        doc = lay_out(plan.changes[0], review, split_lines(old), Look(whitespace=mode))
        shown[mode] = "".join(kinds(doc))
        alike = [row for row in doc.rows(0, doc.count) if row.alike]
        assert all(row.unit == review.units[0].key for row in alike)
        selections.add(review.decide_rest(Decision.ACCEPT).selection().digest)
    assert len(selections) == 1
    assert shown == {
        Whitespace.SHOW_ALL: "@---+++",
        Whitespace.LINE_ENDS: "@ --++",
        Whitespace.TRAILING: "@ --++",
        Whitespace.AMOUNT: "@  -+",
        Whitespace.ALL: "@  -+",
    }


@pytest.mark.parametrize(
    ("mode", "line", "same"),
    [
        (Whitespace.LINE_ENDS, "a \r\n", "a "),
        (Whitespace.TRAILING, "a \t\r\n", "a"),
        (Whitespace.AMOUNT, "a \t b  \n", "a b"),
        (Whitespace.ALL, " a b\t\n", "ab"),
    ],
)
def test_normalisers(mode: Whitespace, line: str, same: str) -> None:
    normal = normaliser(mode)
    assert normal is not None
    assert normal(line) == same
    assert normaliser(Whitespace.SHOW_ALL) is None


def test_files_without_lines_are_described() -> None:
    plan, _ = plan_of_files({"a.bin": b"\0old", "mode": "x"}, {"a.bin": b"\0" * 20 + b"\xff", "empty": ""})
    by_path = {change.path: change for change in plan.changes}
    review = Review(plan)
    doc = lay_out(by_path["a.bin"], review, None, Look())
    assert "".join(kinds(doc)) == "@" + "n" * (doc.count - 1)
    text = "\n".join(describe(by_path["a.bin"]))
    assert "before: 4 bytes" in text
    assert "after: 21 bytes" in text
    assert "00000010  00 00 00 00 ff" in text
    assert "before" not in "\n".join(describe(by_path["empty"]))
    gone = by_path["mode"]
    assert "after" not in "\n".join(describe(gone.model_copy(update={"hunks": (), "reason": ""})))


def test_a_mode_change_names_both_modes() -> None:
    from ltmem_gui.domain.diffing.files import file_change

    change = file_change("x.sh", b"x", b"x", old_mode=0o644, new_mode=0o755)
    assert change is not None
    assert "permission bits: 0644 → 0755" in describe(change)
    assert "the file is executable" in describe(change)
    fresh = file_change("x.sh", None, b"\0", old_mode=None, new_mode=0o600)
    assert fresh is not None
    assert "permission bits: no file → 0600" in describe(fresh)


def test_the_temporary_file_has_rows_and_no_unit() -> None:
    plan, _ = plan_of_files({}, {"phase2_workspace_diff.md": "x\n", "empty.md": ""})
    review = Review(plan)
    doc = lay_out(plan.changes[1], review, (), Look())
    assert [row.unit for row in doc.rows(0, doc.count)] == [None, None]
    nothing = plan.changes[1].model_copy(update={"hunks": ()})
    assert "@" not in kinds(lay_out(nothing, review, (), Look()))


def test_threads_and_whole_files_are_laid_out_under_their_unit() -> None:
    plan, base = plan_of_files({"gone.md": "x\ny\n"}, {"rollout_summaries/a.md": "thread_id: t1\n\nS\n"})
    review = Review(plan)
    gone = lay_out(plan.changes[0], review, split_lines(base["gone.md"].decode()), Look())
    assert [row.unit for row in gone.rows(0, gone.count)] == ["gone.md:*"] * 3
    added = lay_out(plan.changes[1], review, (), Look())
    assert {row.unit for row in added.rows(0, added.count)} == {"thread:t1"}


def test_of_a_thread_in_two_files_each_shows_its_own_lines() -> None:
    raw = "# Raw\n\n## Thread `t1`\nx\n"
    plan, _ = plan_of_files({}, {"raw_memories.md": raw, "rollout_summaries/a.md": "thread_id: t1\n\nS\n"})
    review = Review(plan)
    texts = [lay_out(change, review, (), Look()) for change in plan.changes]
    assert ["".join(row.line for row in doc.rows(0, doc.count) if row.kind is RowKind.ADDED) for doc in texts] == [
        raw,
        "thread_id: t1\n\nS\n",
    ]


def test_the_proposed_text_is_base_with_all_hunks() -> None:
    plan, base = plan_of_files({"n.md": OLD}, {"n.md": NEW})
    assert "".join(new_lines(plan.changes[0], split_lines(base["n.md"].decode()))) == NEW


def test_changes_know_how_many_lines_they_add_and_remove() -> None:
    doc, _ = document("a\nb\nsame\nsame\nsame\nz\n", "A\nsame\nsame\nsame\nz\ny\n")
    assert [doc.counts_at(row) for row in doc.headers] == [(1, 2), (1, 0)]
    plan, _ = plan_of_files({"n.md": "a\nb\n"}, {"n.md": "A\nB\n"})
    review = Review(plan).split("n.md", plan.changes[0].hunks[0].id, (0, 1), (0, 0))
    split = lay_out(plan.changes[0], review, ["a\n", "b\n"], Look())
    assert [split.counts_at(row) for row in split.headers] == [(0, 1), (2, 1)]


def test_without_the_base_there_are_no_headings() -> None:
    doc, _ = document("# h\nx\n", "# h\ny\n", base=False)
    assert [doc.heading(doc.row(at)) for at in range(doc.count)] == [None] * doc.count
    assert Document([Run(RowKind.CONTEXT, 1, ["# a\n"], 0, 0, 0)]).heading(Row(RowKind.CONTEXT, new=1)) is None
