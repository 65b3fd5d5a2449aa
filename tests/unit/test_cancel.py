"""A wish to stop reaches whoever watches, also when it was made before."""

from __future__ import annotations

from ltmem_gui.domain.cancel import CancelToken


def test_watchers_are_told_inside_their_block_only() -> None:
    token = CancelToken()
    told: list[str] = []
    with token.watched(lambda: told.append("inside")):
        token.cancel()
    token.cancel()
    assert told == ["inside"]


def test_a_late_watcher_is_told_at_once() -> None:
    token = CancelToken()
    token.cancel()
    told: list[str] = []
    with token.watched(lambda: told.append("late")):
        assert told == ["late"]


def test_a_part_is_cancelled_without_the_whole() -> None:
    token = CancelToken()
    token.part("a").cancel()
    assert token.part("a").cancelled
    assert not token.part("b").cancelled
    assert not token.cancelled
