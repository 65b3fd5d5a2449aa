"""The watermark only ever rises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.watermark import advance

times = st.integers(0, 2**40)


def test_the_mission_formula() -> None:
    assert advance(stored=0, claimed=100, source_updated_at=[90, 120]) == 120
    assert advance(stored=0, claimed=130, source_updated_at=[90, 120]) == 130
    assert advance(stored=500, claimed=130, source_updated_at=[]) == 500


@settings(max_examples=100)
@given(times, st.lists(st.tuples(times, st.lists(times, max_size=5), st.booleans()), max_size=20))
def test_runs_that_crash_anywhere_never_lower_it(stored: int, runs: list[tuple[int, list[int], bool]]) -> None:
    """A crash before the commit stores nothing; the next run starts from what is stored."""
    for claimed, updated, committed in runs:
        value = advance(stored=stored, claimed=claimed, source_updated_at=updated)
        assert value >= max([stored, claimed, *updated])
        assert value in {stored, claimed, *updated}
        if committed:
            stored = value


@settings(max_examples=50)
@given(times, times, st.lists(times, max_size=5))
def test_repeating_a_run_changes_nothing(stored: int, claimed: int, updated: list[int]) -> None:
    once = advance(stored=stored, claimed=claimed, source_updated_at=updated)
    assert advance(stored=once, claimed=claimed, source_updated_at=updated) == once
