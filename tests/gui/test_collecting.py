"""The long look through everything waits for a moment in which nothing goes on."""

from __future__ import annotations

import gc

import pytest

from ltmem_gui.ui.bridge.collecting import BUSY_INTERVAL_MS, FULL_SECONDS, INTERVAL_MS, UiCollector


@pytest.mark.usefixtures("qtbot")
def test_a_short_wait_with_little_made_is_not_a_quiet_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = UiCollector()
    young, passes = 0, list[int]()
    limits = gc.get_threshold()
    with monkeypatch.context() as patched:
        patched.setattr(gc, "get_count", lambda: (young, 0, limits[2] + 1))
        patched.setattr(gc, "collect", passes.append)
        collector._full_at -= FULL_SECONDS
        young = 4 * limits[0]
        collector._on_timer_fired()
        assert collector._timer.interval() == BUSY_INTERVAL_MS
        young = limits[0] - 1  # the same pace, over a quarter of the time
        collector._on_timer_fired()
        assert passes == [0]
        assert collector._timer.interval() == INTERVAL_MS
        young = limits[0] - 1
        collector._on_timer_fired()
        assert passes == [0, 2]
