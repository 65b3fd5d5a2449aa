from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.diffing.hunks import apply_hunks, make_hunks
from ltmem_gui.domain.diffing.lines import count_lines, split_lines
from ltmem_gui.domain.diffing.matching import equal_runs
from tests.helpers.shared import shared_dir

SMALL_LINES = st.lists(st.sampled_from(["a", "b", "", "# h", "x\r", "\u2028", "\x0b"]), max_size=14)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, SMALL_LINES, st.sampled_from(["", "\n"]))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\n\nb", ["a\n", "\n", "b"]),
        ("\n", ["\n"]),
        ("a\r\nb\rc\n", ["a\r\n", "b\rc\n"]),
        ("a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg\n", ["a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg\n"]),
        ("\r\r\n", ["\r\r\n"]),
    ],
)
def test_lines_end_at_0x0a_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines
    assert count_lines(text) == len(lines)


@given(st.text())
def test_split_lines_joins_back(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.count("\n") == (1 if line.endswith("\n") else 0) for line in lines)
    assert count_lines(text) == len(lines)


@given(TEXTS, TEXTS)
@settings(max_examples=120)
def test_all_hunks_give_new_and_none_gives_old(old: str, new: str) -> None:
    hunks = make_hunks("MEMORY.md", old, new)
    assert apply_hunks(old, hunks) == new
    assert apply_hunks(old, ()) == old
    assert len({h.id for h in hunks}) == len(hunks)
    assert (not hunks) == (old == new)


@given(TEXTS, TEXTS)
@settings(max_examples=60)
def test_hunks_never_touch_and_tell_where_they_stand(old: str, new: str) -> None:
    before, after = split_lines(old), split_lines(new)
    hunks = make_hunks("MEMORY.md", old, new)
    for hunk in hunks:
        assert tuple(before[hunk.old_start : hunk.old_start + len(hunk.old)]) == hunk.old
        assert tuple(after[hunk.new_start : hunk.new_start + len(hunk.new)]) == hunk.new
    for first, second in itertools.pairwise(hunks):
        assert first.old_start + len(first.old) < second.old_start
        assert first.new_start + len(first.new) < second.new_start


@given(TEXTS, TEXTS, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_a_part_of_the_hunks_reverses_by_the_rest(old: str, new: str, chance: random.Random) -> None:
    """Rejecting in the old text equals reverting in the new one."""
    hunks = make_hunks("MEMORY.md", old, new)
    taken = [h for h in hunks if chance.random() < 0.5]
    rest = [h for h in hunks if h not in taken]
    reverted = [
        h.model_copy(update={"old": h.new, "new": h.old, "old_start": h.new_start, "new_start": h.old_start})
        for h in rest
    ]
    assert apply_hunks(old, taken) == apply_hunks(new, reverted)


def test_sliding_never_crosses_another_change() -> None:
    chance = random.Random(9)
    for _ in range(1500):
        old, new = ("".join(chance.choice("ab#") + "\n" for _ in range(chance.randrange(26))) for _ in range(2))
        hunks = make_hunks("p", old, new)
        assert apply_hunks(old, hunks) == new
        for first, second in itertools.pairwise(hunks):
            assert first.old_start + len(first.old) < second.old_start
            assert first.new_start + len(first.new) < second.new_start


def test_a_missing_file_is_added_and_deleted_in_one_hunk() -> None:
    (added,) = make_hunks("a.md", None, "x\ny\n")
    assert (added.old, added.new) == ((), ("x\n", "y\n"))
    (gone,) = make_hunks("a.md", "x\ny", None)
    assert (gone.old, gone.new) == (("x\n", "y"), ())
    assert make_hunks("a.md", None, None) == ()


def test_the_id_follows_content_and_not_position() -> None:
    base = "".join(f"line {i}\n" for i in range(20))
    (one,) = make_hunks("MEMORY.md", base, base.replace("line 9\n", "line nine\n"))
    moved = "new top\n" + base
    (two,) = make_hunks("MEMORY.md", moved, moved.replace("line 9\n", "line nine\n"))
    assert one.id == two.id
    assert one.old_start + 1 == two.old_start
    (other,) = make_hunks("other.md", base, base.replace("line 9\n", "line nine\n"))
    assert other.id != one.id


def test_equal_hunks_are_told_apart_by_context_then_by_number() -> None:
    old = "one\nk\ntwo\nk\nthree\n" + "same\nk\nsame\n" * 3
    new = old.replace("k\n", "changed\n")
    hunks = make_hunks("MEMORY.md", old, new)
    assert len({h.id for h in hunks}) == len(hunks) == 5
    shifted = make_hunks("MEMORY.md", "top\n" * 5 + old, "top\n" * 5 + new)
    assert {h.id for h in hunks[1:]} <= {h.id for h in shifted}


def test_id_parts_do_not_run_together() -> None:
    (one,) = make_hunks("p", "", "ab\n")
    (two,) = make_hunks("pa", "", "b\n")
    assert one.id != two.id


def test_lone_surrogates_have_an_id() -> None:
    (hunk,) = make_hunks("p", "", "\ud800\n")
    assert len(hunk.id) == 12


def test_a_hunk_that_does_not_fit_is_refused() -> None:
    (hunk,) = make_hunks("p", "a\nb\n", "a\nc\n")
    with pytest.raises(ValueError, match="does not fit the text at line 2"):
        apply_hunks("a\nother\n", [hunk])
    with pytest.raises(ValueError, match="does not fit"):
        apply_hunks("a\nb\n", [hunk, hunk])


def test_an_added_task_group_is_one_block_that_starts_at_its_heading() -> None:
    group = "# Task Group: {}\n\nscope: x\n\n- a fact\n\n"
    old = group.format("one") + group.format("three")
    new = group.format("one") + group.format("two") + group.format("three")
    (hunk,) = make_hunks("MEMORY.md", old, new)
    assert hunk.old == ()
    assert hunk.new[0] == "# Task Group: two\n"
    assert hunk.new[-1] == "\n"


def test_a_deleted_block_starts_at_its_heading_too() -> None:
    group = "# Task Group: {}\n\n- a fact\n\n"
    new = group.format("one") + group.format("three")
    old = group.format("one") + group.format("two") + group.format("three")
    (hunk,) = make_hunks("MEMORY.md", old, new)
    assert hunk.new == ()
    assert hunk.old[0] == "# Task Group: two\n"


def test_a_repeated_line_is_added_at_the_end_of_its_run() -> None:
    (hunk,) = make_hunks("p", "a\nx\nx\nb\n", "a\nx\nx\nx\nb\n")
    assert hunk.new == ("x\n",)
    assert hunk.old_start == 3


def test_unique_lines_anchor_what_a_smallest_diff_would_tear_apart() -> None:
    old = "def a():\n  return 1\n\ndef b():\n  return 2\n"
    new = "def b():\n  return 2\n\ndef c():\n  return 3\n"
    runs = equal_runs(split_lines(old), split_lines(new))
    assert any(old_at == 3 and new_at == 0 and length == 2 for old_at, new_at, length in runs)


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_lines_that_stand_once_carry_the_runs_over_repeated_ones(chance: random.Random) -> None:
    old = [chance.choice(["\n", "# h\n", f"fact {n}\n"]) for n in range(60)]
    new = list(old)
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(new))
        match chance.randrange(4):
            case 0:
                new[at:at] = [f"added {chance.random()}\n", "\n"]
            case 1:
                del new[at]
            case 2:
                new[at] = f"changed {chance.random()}\n"
            case _:
                new.append(new.pop(at))
    runs = equal_runs(old, new)
    assert all(old[i : i + size] == new[j : j + size] and size for i, j, size in runs)
    for (i, j, size), (p, q, _) in itertools.pairwise(runs):
        assert i + size <= p
        assert j + size <= q
        assert (i + size, j + size) != (p, q)
    assert apply_hunks("".join(old), make_hunks("p", "".join(old), "".join(new))) == "".join(new)


def test_one_changed_line_in_a_repetitive_text_is_one_hunk() -> None:
    old = "".join(f"## Part\n\n- fact {n}\n\n" for n in range(50))
    (hunk,) = make_hunks("p", old, old.replace("fact 25", "thing 25"))
    assert (hunk.old_start, hunk.old, hunk.new) == (102, ("- fact 25\n",), ("- thing 25\n",))
    (gone,) = make_hunks("p", old, old.replace("## Part\n\n- fact 25\n\n", ""))
    assert gone.old == ("## Part\n", "\n", "- fact 25\n", "\n")


def test_gaps_too_large_for_exact_alignment_stay_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.domain.diffing.matching.EXACT_CELLS", 10)
    chance = random.Random(5)
    for _ in range(60):
        old = "".join(chance.choice("abc") + "\n" for _ in range(chance.randrange(40)))
        new = "".join(chance.choice("abc") + "\n" for _ in range(chance.randrange(40)))
        assert apply_hunks(old, make_hunks("p", old, new)) == new


def test_deep_nesting_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.domain.diffing.matching._MAX_DEPTH", 1)
    chance = random.Random(6)
    old = "".join(chance.choice("abcdefghijklmnop") + "\n" for _ in range(60))
    new = "".join(chance.choice("abcdefghijklmnop") + "\n" for _ in range(60))
    assert apply_hunks(old, make_hunks("p", old, new)) == new


def test_no_common_line_at_all() -> None:
    (hunk,) = make_hunks("p", "a\nb\nc\n", "x\ny\nz\n")
    assert (len(hunk.old), len(hunk.new)) == (3, 3)


@pytest.mark.skipif(shared_dir() is None, reason="shared cases not at hand")
@pytest.mark.parametrize("case", ["diff-header-like", "diff-no-final-newline"])
def test_shared_cases(case: str) -> None:
    folder = shared_dir()
    assert folder is not None
    folder = folder / "cases" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    old = (folder / "before.md").read_bytes().decode()
    new = (folder / "after.md").read_bytes().decode()
    hunks = make_hunks("MEMORY.md", old, new)
    assert len(hunks) == expected["hunks"]
    assert [line.rstrip("\n") for h in hunks for line in h.old] == expected["removed_lines"]
    assert [line.rstrip("\n") for h in hunks for line in h.new] == expected["added_lines"]
    if case == "diff-header-like":
        assert apply_hunks(old, hunks[1:]) == old + "".join(hunks[1].new)
