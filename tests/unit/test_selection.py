"""Selection: rank, window, mode, ties; and the rows a real Codex chose."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.selection import SECONDS_PER_DAY, select

NOW = 1_800_000_000


def row(thread_id: str, **changes: Any) -> StageOneOutput:
    base = StageOneOutput(thread_id, NOW - 10, "raw", "summary", generated_at=NOW - 5)
    return replace(base, **changes)


def chosen(rows: list[StageOneOutput], **options: Any) -> list[str]:
    arguments = {"now": NOW, "limit": 10, "max_unused_days": 30} | options
    return [item.thread_id for item in select(rows, **arguments)]


def days(count: float) -> int:
    return NOW - int(count * SECONDS_PER_DAY)


def test_best_two_of_three_come_in_thread_order() -> None:
    rows = [row("c", usage_count=5), row("a", usage_count=1), row("b", usage_count=9)]
    assert chosen(rows, limit=2) == ["b", "c"]


def test_usage_then_last_usage_decides() -> None:
    rows = [
        row("a", usage_count=5, last_usage=days(10)),
        row("b", usage_count=5, last_usage=days(1)),
        row("c", usage_count=1, last_usage=NOW - 3600),
    ]
    assert chosen(rows, limit=1) == ["b"]


def test_the_unused_window_includes_its_edge() -> None:
    rows = [
        row("a", usage_count=9, last_usage=days(31)),
        row("b", source_updated_at=days(50), last_usage=days(1)),
        row("c", generated_at=days(30)),
        row("d", generated_at=days(30) - 1),
        row("e", last_usage=0, generated_at=NOW),
    ]
    assert chosen(rows) == ["b", "c"]


def test_the_fallback_replaces_a_missing_last_usage_in_rank_and_window() -> None:
    rows = [
        row("a", source_updated_at=days(1), generated_at=days(3)),
        row("b", source_updated_at=days(5), generated_at=days(1)),
        row("c", source_updated_at=days(2), generated_at=days(35)),
    ]
    assert chosen(rows, limit=1) == ["b"]
    assert chosen(rows) == ["a", "b"]
    assert chosen(rows, limit=2, recency_fallback="source_updated_at") == ["a", "c"]


def test_only_enabled_threads_with_text_are_taken() -> None:
    rows = [
        row("a", memory_mode="disabled"),
        row("b", memory_mode="polluted", usage_count=99),
        row("c", raw_memory=" \n", rollout_summary="\t"),
        row("d", raw_memory="", rollout_summary="x"),
        row("e", raw_memory="x", rollout_summary=""),
    ]
    assert chosen(rows) == ["d", "e"]


def test_ties_go_to_the_newer_source_then_the_greater_thread_id() -> None:
    same = {"usage_count": 1, "last_usage": days(1)}
    rows = [row(name, **same) for name in "abc"] + [row("0", source_updated_at=NOW, **same)]
    assert chosen(rows, limit=3) == ["0", "b", "c"]


def test_a_limit_of_nothing_takes_nothing() -> None:
    assert chosen([row("a")], limit=0) == []


def test_an_unknown_fallback_is_refused() -> None:
    with pytest.raises(ValueError, match="created_at"):
        chosen([], recency_fallback="created_at")


_rows = st.lists(
    st.builds(
        StageOneOutput,
        thread_id=st.uuids().map(str),
        source_updated_at=st.integers(days(60), NOW),
        raw_memory=st.sampled_from(["", " ", "memory"]),
        rollout_summary=st.sampled_from(["", "summary"]),
        generated_at=st.integers(days(60), NOW),
        usage_count=st.none() | st.integers(0, 3),
        last_usage=st.none() | st.integers(days(60), NOW),
        memory_mode=st.sampled_from(["enabled", "enabled", "disabled"]),
    ),
    unique_by=lambda item: item.thread_id,
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(_rows, st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_result_does_not_depend_on_the_order_of_the_input(
    rows: list[StageOneOutput], limit: int, shuffler: random.Random
) -> None:
    result = select(rows, now=NOW, limit=limit, max_unused_days=30)
    shuffler.shuffle(rows)
    assert select(rows, now=NOW, limit=limit, max_unused_days=30) == result
    assert [r.thread_id for r in result] == sorted(r.thread_id for r in result)
    assert len(result) <= limit
    everything = select(rows, now=NOW, limit=len(rows) or 1, max_unused_days=30)
    assert len(result) == min(limit, len(everything))
    assert set(result) <= set(everything)


def test_the_rows_a_real_codex_chose(shared: Path) -> None:
    """The golden cases: threads with a summary file after the run, with Codex's own fallback."""
    cases = json.loads((shared / "data" / "codex_goldens.json").read_text(encoding="utf-8"))
    for case in cases:
        result = select(
            [_golden_row(item, case["now"]) for item in case["rows"]],
            now=case["now"],
            limit=case["config"].get("max_raw_memories_for_consolidation", 256),
            max_unused_days=case["config"].get("max_unused_days", 30),
            recency_fallback="source_updated_at",
        )
        named = sorted(
            text.partition("\n")[0].removeprefix("thread_id: ")
            for path, text in case["files_after"].items()
            if path.startswith("rollout_summaries/") and text.startswith("thread_id: ")
        )
        assert [item.thread_id for item in result] == named, case["name"]


def _golden_row(item: dict[str, Any], now: int) -> StageOneOutput:
    known = StageOneOutput.__dataclass_fields__
    values = {key: _golden_time(value, now) for key, value in item.items() if key in known}
    return StageOneOutput(**values)


def _golden_time(value: Any, now: int) -> Any:
    if isinstance(value, str) and value.startswith("now-") and value.endswith("d"):
        return now - int(value[4:-1]) * SECONDS_PER_DAY
    return value
