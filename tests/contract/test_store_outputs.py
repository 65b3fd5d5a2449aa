"""Stage-1 outputs on real SQLite: retention, usage, exclusion, edits; numbers are those of reference §9."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND
from ltmem_gui.store.store import SqliteStore
from tests.helpers.stores import DAY, NOW, Home, extracted


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def called(store: SqliteStore) -> int:
    """Return the watermark that Phase 2 was called with last."""
    job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    return 0 if job is None else job.input_watermark


def credit(citing: str, record: str, cited: str, **more: str) -> dict[str, str]:
    return {"thread_id": citing, "record": record, "cited_id": cited, **more}


def aged(home: Home, thread: str, *, generated: int, source: int, used: int | None = None, selected: int = 0) -> None:
    home.sql(
        "INSERT INTO stage1_outputs (thread_id, source_updated_at, raw_memory, rollout_summary, generated_at,"
        " last_usage, selected_for_phase2) VALUES (?, ?, 'm', 's', ?, ?, ?)",
        thread,
        NOW - source * DAY,
        NOW - generated * DAY,
        None if used is None else NOW - used * DAY,
        selected,
    )


def test_outputs_come_in_thread_id_order_with_every_column(home: Home) -> None:
    with home.open() as store:
        for thread in ("b", "a", "C"):
            extracted(store, thread)
        assert [row.thread_id for row in store.outputs()] == ["C", "a", "b"]
        row = store.output("a")
        assert row is not None
        assert (row.raw_memory, row.rollout_summary, row.rollout_slug) == ("raw of a", "summary of a", "slug")
        assert (row.cwd, row.rollout_path, row.git_branch, row.memory_mode) == ("/p", "/s/a.jsonl", "main", "enabled")
        assert store.output("z") is None


def test_31_usage_counts_each_citation_and_passes_over_missing_threads(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a")
        extracted(store, "b")
        citations = [credit("x", "1", "a"), credit("x", "2", "a"), credit("x", "1", "b"), credit("x", "1", "missing")]
        assert store.credit_usage(citations, now=NOW) == 3
        rows = {row.thread_id: row for row in store.outputs()}
        assert (rows["a"].usage_count, rows["b"].usage_count) == (2, 1)
        assert rows["a"].last_usage == rows["b"].last_usage == NOW


def test_a_citation_is_credited_once_ever(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a")
        assert store.credit_usage([credit("x", "1", "a")] * 2, now=NOW) == 1
    with home.open() as store:
        assert store.credit_usage([credit("x", "1", "a")], now=NOW + 5) == 0
        assert store.credit_usage([credit("x", "1", "a2"), credit("y", "1", "a", used_at="5")], now=NOW + 5) == 1
        row = store.output("a")
        assert row is not None
        assert (row.usage_count, row.last_usage) == (2, NOW)


def test_32_retention_takes_stale_rows_that_are_not_in_the_baseline_stalest_first(home: Home) -> None:
    with home.open() as store:
        extracted(store, "fresh")
        aged(home, "unused", generated=40, source=40)
        aged(home, "used", generated=90, source=90, used=31)
        aged(home, "used lately", generated=90, source=90, used=2)
        aged(home, "selected", generated=90, source=90, selected=1)
        aged(home, "oldest", generated=50, source=50)
        assert store.prunable(NOW, 30, 200) == ("oldest", "unused", "used")
        assert store.prunable(NOW, 30, 2) == ("oldest", "unused")
        assert store.prunable(NOW, 40, 200) == ("oldest",)
        jobs = store.jobs()
        assert store.prune(("oldest", "used", "selected", "nobody")) == 2
        assert [row.thread_id for row in store.outputs()] == ["fresh", "selected", "unused", "used lately"]
        assert store.jobs() == jobs
        assert any(job.kind == STAGE1_KIND for job in jobs)


def test_the_recency_fallback_is_that_of_the_settings(home: Home) -> None:
    with home.open() as store:
        aged(home, "read late", generated=1, source=90)
        aged(home, "read early", generated=90, source=1)
        assert store.prunable(NOW, 30, 9) == ("read early",)
        assert store.prunable(NOW, 30, 9, "source_updated_at") == ("read late",)


def test_exclusion_lasts_until_it_is_lifted_and_calls_for_phase_2(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a", 100)
        before = called(store)
        store.exclude("a", reason="wrong project", now=NOW)
        store.exclude("a", reason="really", now=NOW)
        assert store.excluded() == {"a": "really"}
        assert called(store) == before + 2
        extracted(store, "a", 200)
        assert store.excluded() == {"a": "really"}
        assert store.lift("a")
        assert not store.lift("a")
        assert store.excluded() == {}
        store.exclude("no row", reason="r", now=NOW)
        assert store.excluded() == {"no row": "r"}


def test_an_edit_changes_the_row_it_was_made_for(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a", 100)
        before = called(store)
        assert store.edit_output("a", source_updated_at=100, changes={"raw_memory": "mine"}, now=NOW)
        assert not store.edit_output("a", source_updated_at=99, changes={"raw_memory": "late"}, now=NOW)
        row = store.output("a")
        assert row is not None
        assert (row.raw_memory, row.rollout_summary) == ("mine", "summary of a")
        assert called(store) == before + 1
        with pytest.raises(ValueError, match="thread_id"):
            store.edit_output("a", source_updated_at=100, changes={"thread_id": "b"}, now=NOW)
        with pytest.raises(ValueError):
            store.edit_output("a", source_updated_at=100, changes={}, now=NOW)
