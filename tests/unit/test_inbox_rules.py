"""The inbox's rules: caps, sameness, expiry, and what a taken line becomes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.inbox import (
    INBOX_EXPIRY_SECONDS,
    INBOX_PER_ROLLOUT,
    INBOX_TOTAL,
    InboxLine,
    admit,
    bullet,
    first_memory,
    is_open,
    line_key,
    overflow,
    with_bullet,
)
from ltmem_gui.domain.refusals import RefusedHunk, hunk_key

NOW = 1_800_000_000


def test_the_best_six_lines_of_a_rollout_wait() -> None:
    found = admit([Candidate(f"line {n}", n, "fact", n) for n in range(10)], ())
    assert [c.score for c in found] == [9, 8, 7, 6, 5, 4]
    assert len(found) == INBOX_PER_ROLLOUT


def test_sameness_ignores_case_and_spacing_and_decided_lines_stay_out() -> None:
    a, b = Candidate("Use  uv", 1, "fact", 5), Candidate("use UV ", 2, "fact", 4)
    assert admit([b, a], ()) == (a,)
    assert admit([a, b], {line_key("USE uv")}) == ()
    assert admit([Candidate(" ", 1, "fact", 5), Candidate("x", None, "fact", 5)], ()) == (
        Candidate("x", None, "fact", 5),
    )


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=198, max_size=206))
def test_of_too_many_the_weakest_and_oldest_go(rows: list[tuple[int, int]]) -> None:
    lines = [InboxLine(n, "t", "x", None, "fact", score, at) for n, (score, at) in enumerate(rows)]
    gone = set(overflow(lines))
    assert len(lines) - len(gone) == min(len(lines), INBOX_TOTAL)
    kept = [line for line in lines if line.id not in gone]
    worst = min((line.score, line.created_at) for line in kept)
    assert all((line.score, line.created_at) <= worst for line in lines if line.id in gone)


def test_a_line_waits_thirty_days() -> None:
    line = InboxLine(1, "t", "x", None, "fact", 1, NOW)
    assert line.expires_at == NOW + INBOX_EXPIRY_SECONDS
    assert is_open(line, NOW + INBOX_EXPIRY_SECONDS - 1)
    assert not is_open(line, NOW + INBOX_EXPIRY_SECONDS)


def test_a_taken_line_is_one_bullet_with_its_citation() -> None:
    assert bullet("a\n b", "t1", 7) == "- a b (rollout:t1:7-7 |note=[taken from the inbox])"
    assert bullet("a", "t1", None) == "- a"


def test_bullets_gather_under_the_label_of_their_kind() -> None:
    raw = "### Task 1: x\n\nReusable knowledge:\n- old"
    one = with_bullet(raw, "- new", "fact")
    assert one == "### Task 1: x\n\nReusable knowledge:\n- old\n- new\n"
    two = with_bullet(one, "- wish", "preference")
    assert two.endswith("- new\n\nPreference signals:\n- wish\n")
    three = with_bullet(two, "- broke", "failure-fix")
    assert three.endswith("\n\nFailures and how to do differently:\n- broke\n")
    assert with_bullet("Reusable knowledge:\n", "- a", "fact").count("Reusable knowledge:") == 1
    assert with_bullet("Reusable knowledge:\nprose", "- a", "fact").count("Reusable knowledge:") == 2


def test_a_first_memory_has_front_matter_and_a_summary() -> None:
    raw, summary = first_memory("/p")
    assert raw.startswith("---\ndescription: ")
    assert "\ncwd: /p\n" in raw
    assert "### Task 1: " in raw
    assert summary.startswith("# ")
    assert "cwd: unknown" in first_memory("")[0]


def test_a_hunk_is_known_again_by_path_and_content() -> None:
    hunk = RefusedHunk("MEMORY.md", ("a\n",), ("b\n",), NOW)
    assert hunk.key == hunk_key("MEMORY.md", ["a\n"], ["b\n"])
    assert hunk.key != hunk_key("MEMORY.md", ["a\n"], ["b"])
    assert hunk.key != hunk_key("other.md", ["a\n"], ["b\n"])
    assert hunk_key("p", ["a", "b"], []) != hunk_key("p", ["a"], ["b"])
