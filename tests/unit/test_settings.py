"""Settings: Codex's names and defaults; out of range is an error, never clamped."""

from __future__ import annotations

import pytest

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.settings import Settings


def test_defaults_are_codex() -> None:
    settings = Settings()
    assert settings.max_rollout_age_days == 10
    assert settings.min_rollout_idle_hours == 6
    assert settings.max_raw_memories_for_consolidation == 256
    assert settings.max_unused_days == 30
    assert settings.max_rollouts_per_run == 64
    assert settings.scan_limit == 5_000
    assert settings.min_rate_limit_remaining_percent == 25


def test_overrides_with_alias_and_prefix() -> None:
    settings = Settings().with_overrides(
        ["max_rollouts_per_startup=3", "memories.max_unused_days=7", "include_non_interactive=true"]
    )
    assert (settings.max_rollouts_per_run, settings.max_unused_days) == (3, 7)
    assert settings.include_non_interactive


@pytest.mark.parametrize(
    "pair",
    [
        "max_rollout_age_days=-1",
        "max_rollout_age_days=36501",
        "min_rollout_idle_hours=49",
        "max_unused_days=36501",
        "max_raw_memories_for_consolidation=0",
        "max_raw_memories_for_consolidation=4097",
        "max_rollouts_per_run=0",
        "max_unused_days=soon",
    ],
)
def test_out_of_range_is_an_error_that_names_the_key(pair: str) -> None:
    with pytest.raises(UsageError, match=pair.partition("=")[0]):
        Settings().with_overrides([pair])


@pytest.mark.parametrize("pair", ["nonsense=1", "max_unused_days", "=3"])
def test_unknown_settings_are_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="unknown setting"):
        Settings().with_overrides([pair])


@pytest.mark.parametrize("pair", ["max_rollout_age_days=0", "max_rollout_age_days=36500", "min_rollout_idle_hours=48"])
def test_the_ends_of_the_ranges_are_inside(pair: str) -> None:
    name, _, value = pair.partition("=")
    assert getattr(Settings().with_overrides([pair]), name) == int(value)
