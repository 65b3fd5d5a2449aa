"""The rate guard (reference §3.10, test 62): exactly the limit is allowed, absence allows, figures are in words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.rollouts import RateLimits
from ltmem_gui.pipeline.guard import CODEX_LIMIT_ID, guard

NOW = 1_800_000_000


def limits(
    primary: float | None = None,
    secondary: float | None = None,
    *,
    name: str = CODEX_LIMIT_ID,
    at: int = NOW,
    reached: str | None = None,
) -> RateLimits:
    return RateLimits(name, at, primary, secondary, reached)


def allowed(*found: RateLimits | None, least: int = 25) -> bool:
    return guard(found, min_remaining_percent=least, now=NOW).allowed


@pytest.mark.parametrize(
    ("primary", "secondary", "least", "expected"),
    [
        (89.9, None, 10, True),
        (89.9, None, 11, False),
        (75.0, None, 25, True),
        (75.1, None, 25, False),
        (74.9, 74.9, 25, True),
        (10.0, 75.1, 25, False),
        (None, 99.0, 25, False),
        (100.0, 100.0, 0, True),
        (100.1, None, 0, False),
        (0.0, 0.0, 100, True),
        (0.1, 0.0, 100, False),
    ],
)
def test_62_the_limit_itself_is_allowed(
    primary: float | None, secondary: float | None, least: int, expected: bool
) -> None:
    assert allowed(limits(primary, secondary), least=least) is expected


def test_a_reached_limit_refuses_whatever_the_figures() -> None:
    verdict = guard([limits(1.0, 1.0, reached="primary")], min_remaining_percent=25, now=NOW)
    assert not verdict.allowed
    assert "reached (primary)" in verdict.text


@pytest.mark.parametrize("found", [(), (None,), (limits(),), (limits(math.nan),)])
def test_absent_data_allows(found: tuple[RateLimits | None, ...]) -> None:
    assert allowed(*found)


def test_the_newest_snapshot_of_the_codex_limit_counts() -> None:
    assert allowed(limits(99.0, at=NOW - 10), limits(1.0, at=NOW - 5))
    assert not allowed(limits(1.0, at=NOW - 10), limits(99.0, at=NOW - 5))
    assert allowed(limits(99.0, name="other"), limits(1.0, at=NOW - 50))
    assert not allowed(limits(1.0, name="other", at=NOW - 9), limits(99.0, name="another"))


def test_a_snapshot_from_the_future_is_passed_over() -> None:
    assert allowed(limits(99.0, at=NOW + 2 * 86_400), limits(1.0))
    assert allowed(limits(99.0, at=NOW + 2 * 86_400))


def test_the_figures_are_in_words() -> None:
    text = guard([limits(82.5, 40.0)], min_remaining_percent=25, now=NOW).text
    assert text == (
        "too little of the limit “codex” is left: 82.5 % of the primary window is used, 17.5 % is left; "
        "40 % of the secondary window is used, 60 % is left; at least 25 % must be left"
    )
    assert "enough" in guard([limits(10.0, name="")], min_remaining_percent=25, now=NOW).text
    assert "without a name" in guard([limits(10.0, name="")], min_remaining_percent=25, now=NOW).text


@given(st.floats(0, 100), st.integers(-50, 150))
def test_more_use_is_never_allowed_where_less_is_refused(used: float, least: int) -> None:
    if allowed(limits(used), least=least):
        assert allowed(limits(used / 2), least=least)
    else:
        assert not allowed(limits(min(100.0, used + 1)), least=least)
