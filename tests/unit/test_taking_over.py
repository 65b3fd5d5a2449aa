"""Which of the memories that Codex keeps are taken over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.taking_over import KeptRow, change_of, headline, is_thread_id, unfit

ROW = StageOneOutput("t", 100, "- a", "# s", usage_count=2, last_usage=50)


@pytest.mark.parametrize(
    ("ours", "change"),
    [
        (None, "added"),
        (replace(ROW, source_updated_at=99), "replaced"),
        (ROW, None),
        (replace(ROW, source_updated_at=101), None),
        (replace(ROW, usage_count=None), "usage"),
        (replace(ROW, last_usage=None), "usage"),
        (replace(ROW, source_updated_at=101, usage_count=1), "usage"),
        (replace(ROW, usage_count=9, last_usage=99, raw_memory="- mine"), None),
    ],
)
def test_newer_rows_and_larger_counts_come(ours: StageOneOutput | None, change: str | None) -> None:
    assert change_of(ROW, ours) == change


numbers = st.none() | st.integers(0, 5)
rows = st.builds(
    StageOneOutput, st.just("t"), st.integers(0, 5), st.just("a"), st.just("b"), usage_count=numbers, last_usage=numbers
)


@given(rows, rows)
def test_what_was_taken_over_once_is_not_taken_again(kept: StageOneOutput, ours: StageOneOutput) -> None:
    change = change_of(kept, ours)
    base = kept if change == "replaced" else ours
    after = replace(
        base,
        usage_count=max(kept.usage_count or 0, ours.usage_count or 0),
        last_usage=max(kept.last_usage or 0, ours.last_usage or 0),
    )
    assert change_of(kept, after) is None
    assert after.source_updated_at == max(kept.source_updated_at, ours.source_updated_at)


def test_what_speaks_against_a_row() -> None:
    assert unfit(KeptRow(ROW)) == ""
    assert unfit(KeptRow(replace(ROW, raw_memory=" "))) == ""
    assert "no text" in unfit(KeptRow(replace(ROW, raw_memory=" ", rollout_summary="\n")))
    assert "leaves it out too" in unfit(KeptRow(ROW, known=False))
    assert unfit(KeptRow(replace(ROW, thread_id="a\nb"))) == "its thread id is none"


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("# It was done\n\nx", "It was done"),
        ("\n \n## # Two\r\n", "Two"),
        ("plain", "plain"),
        ("# \n#\n", ""),
        ("", ""),
    ],
)
def test_what_a_summary_calls_its_session(summary: str, said: str) -> None:
    assert headline(summary) == said


def test_thread_ids() -> None:
    assert is_thread_id("01a1830c-8c00-72a6-9701-90a7f08ae6f6")
    assert not any(map(is_thread_id, ("", " ", "a\x1bb", "a\u202eb", "x" * 201)))
