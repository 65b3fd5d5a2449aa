from __future__ import annotations

import random

import pytest

from ltmem_gui.domain.diffing.editing import EditText, close_edit, open_for_edit, refusal
from ltmem_gui.domain.diffing.hunks import apply_hunks, make_hunks
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.sections import (
    Heading,
    Headings,
    section_start,
    thread_at,
    thread_of_section,
    thread_of_summary,
)

MEMORY = (
    "# Memory\n\nintro\n\n# Task Group: a\n\n## Task 1\n- x\n"
    + "```\n# not one\n```\n####### no\n#no\n# Task Group: b\n- y\n"
)


def test_headings_are_found_outside_of_fences() -> None:
    found = Headings(split_lines(MEMORY))
    assert [(h.line, h.level, h.title) for h in found.all()] == [
        (0, 1, "Memory"),
        (4, 1, "Task Group: a"),
        (6, 2, "Task 1"),
        (13, 1, "Task Group: b"),
    ]
    assert found.at(9) == Heading(6, 2, "Task 1")
    assert Headings().at(3) is None


def test_a_fence_is_closed_by_its_own_kind_only() -> None:
    assert [h.title for h in Headings(["```\n", "~~~\n", "# in\n", "```\n", "# out\n"]).all()] == ["out"]


def test_a_block_runs_from_one_top_heading_to_the_next() -> None:
    lines = split_lines(MEMORY)
    found = Headings(lines)
    assert found.block(7) == (4, 13)
    assert found.block(14) == (13, 15)
    assert Headings(lines[1:]).block(2) is None


def test_headings_far_below_are_read_when_they_are_asked_for() -> None:
    lines = ["# first\n", *["x\n"] * 5_000, "## below\n", *["x\n"] * 5_000, "# last\n", "```\n", "# in\n"]
    assert Headings(lines).block(0) == (0, 10_002)
    found = Headings(lines)
    assert [found.at(at) for at in (1, 5_000)] == [Heading(0, 1, "first")] * 2
    assert found.at(9_999) == Heading(5_001, 2, "below")
    assert found.block(10_004) == (10_002, 10_005)
    assert found.at(99_999) == Heading(10_002, 1, "last")
    assert found.at(2) == Heading(0, 1, "first")
    assert [h.line for h in found.all()] == [0, 5_001, 10_002]


def test_threads_are_named_by_sections_and_summaries() -> None:
    assert thread_of_section("## Thread `t1`\n") == "t1"
    assert thread_of_section("## Thread `t1\n") is None
    assert thread_of_section("## Other\n") is None
    assert thread_of_summary(["cwd: x\n", "thread_id: t9\n"]) == "t9"
    assert thread_of_summary(["thread_id: \n"]) is None
    assert thread_of_summary(["a\n"]) is None
    lines = ["# Raw\n", "## Thread `t1`\n", "x\n", "## Thread `t2`\n"]
    assert [thread_at(lines, at) for at in (0, 2, 3, 99)] == [None, "t1", "t2", "t2"]


def test_which_files_have_sections() -> None:
    memory, raw = section_start("MEMORY.md"), section_start("raw_memories.md")
    assert memory is not None
    assert raw is not None
    assert [memory(line) for line in ("# x", "## x")] == [True, False]
    assert [raw(line) for line in ("## Thread `t`", "# x")] == [True, False]
    assert section_start("memory_summary.md") is None


def test_cut_hunks_are_one_section_each_and_still_exact() -> None:
    chance = random.Random(3)

    def cut(line: str) -> bool:
        return line.startswith("#")

    def text() -> str:
        return "".join(chance.choice(["a\n", "b\n", "# x\n", "# y\n", "\n"]) for _ in range(chance.randrange(14)))

    for _ in range(400):
        old, new = text(), text()
        hunks = make_hunks("p", old, new, cut=cut)
        assert apply_hunks(old, reversed(hunks)) == new
        assert apply_hunks(old, ()) == old
        after = split_lines(new)
        for hunk in hunks:
            assert tuple(after[hunk.new_start : hunk.new_start + len(hunk.new)]) == hunk.new
            if not hunk.old or not hunk.new:
                assert not any(cut(line) for line in (*hunk.old[1:], *hunk.new[1:]))


@pytest.mark.parametrize("char", ["\r", "\u00a0", "\u2028", "\u2029", "\0", "\ufdd0", "\ufdd1", "\ufffc", "\ud83d"])
def test_what_an_edit_field_would_change_is_refused(char: str) -> None:
    reason = refusal(f"one\ntwo {char} x\n")
    assert reason is not None
    assert "edit field would change" in reason
    assert open_for_edit([f"two {char} x\n"]) == refusal(f"two {char} x\n")


@pytest.mark.parametrize(
    "lines", [["a\n", "b\n"], ["a\n", "b"], ["a\r\n", "b\r\n"], [], ["\n"], ["\n", "\n"], ["ä 😀\tx\n"], ["a"]]
)
def test_lines_come_back_from_the_field_as_they_went_in(lines: list[str]) -> None:
    opened = open_for_edit(lines)
    assert isinstance(opened, EditText)
    assert "\r" not in opened.text
    back = close_edit(opened.text, opened)
    assert list(back) == lines


def test_an_edited_text_keeps_the_line_ends_of_its_hunk() -> None:
    crlf = open_for_edit(["a\r\n"])
    assert isinstance(crlf, EditText)
    assert close_edit("a\nb", crlf) == ("a\r\n", "b\r\n")
    last = open_for_edit(["a"])
    assert isinstance(last, EditText)
    assert close_edit("a\nb", last) == ("a\n", "b")
    assert close_edit("", last) == ()


def test_mixed_line_ends_are_refused() -> None:
    assert isinstance(open_for_edit(["a\r\n", "b\n"]), str)
