"""Every rule of eligibility, with the value it met."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ltmem_gui.domain.eligibility import DAY, HOUR, assess
from ltmem_gui.domain.rollouts import Rollout, RolloutItem
from ltmem_gui.domain.settings import Settings

NOW = 1_800_000_000
GOOD = Rollout(
    id="t1",
    agent="codex",
    path="/s/r.jsonl",
    cwd="/home/u/app",
    source="cli",
    updated_at=NOW - DAY,
    items=(RolloutItem("user", "message", "hello", 1),),
)


def failed(rollout: Rollout, settings: Settings | None = None, **more: object) -> list[str]:
    given = {"memory_root": "/home/u/.mem", "home": "/home/u/.ltmem", **more}
    found = assess(rollout, settings or Settings(), NOW, **given)  # type: ignore[arg-type]
    assert found.eligible == (not found.failed)
    return [reason.rule for reason in found.failed]


def test_a_good_session_passes_every_rule_and_each_says_what_it_met():
    found = assess(GOOD, Settings(), NOW, "/home/u/.mem", "/home/u/.ltmem")
    assert found.eligible
    assert [r.rule for r in found.reasons] == [
        "root_session",
        "own_run",
        "interactive",
        "memory_root",
        "data_folder",
        "memory_mode",
        "archived",
        "ephemeral",
        "empty",
        "current",
        "up_to_date",
        "age",
        "idle",
    ]
    assert all(r.text for r in found.reasons)
    assert "1 typed" in next(r.text for r in found.reasons if r.rule == "empty")


@pytest.mark.parametrize("source", ["cli", "vscode", "atlas", "chatgpt", ""])
def test_interactive_sources_are_taken(source: str):
    assert failed(replace(GOOD, source=source)) == []


@pytest.mark.parametrize("source", ["exec", "mcp", "unknown", "something"])
def test_other_sources_only_with_the_setting(source: str):
    assert failed(replace(GOOD, source=source)) == ["interactive"]
    assert failed(replace(GOOD, source=source), Settings(include_non_interactive=True)) == []


@pytest.mark.parametrize("source", ["subagent", "internal"])
def test_agents_are_never_taken(source: str):
    rollout = replace(GOOD, source=source, source_detail="review")
    assert failed(rollout) == ["root_session"]
    assert failed(rollout, Settings(include_non_interactive=True)) == ["root_session"]
    found = assess(rollout, Settings(), NOW, None, None)
    assert source in found.failed[0].text
    assert "review" in found.failed[0].text
    assert "sub-agent" in found.failed[0].text


def test_a_memory_run_never_feeds_on_itself():
    rollout = replace(GOOD, source="internal", source_detail="memory_consolidation")
    assert failed(rollout) == ["root_session", "own_run"]


@pytest.mark.parametrize(
    ("cwd", "rules"),
    [
        ("/home/u/.mem", ["memory_root"]),
        ("/home/u/.mem/", ["memory_root"]),
        ("/home/u/.mem/rollout_summaries", ["memory_root"]),
        ("/home/u/x/../.mem", ["memory_root"]),
        ("/home/u/.mem-notes", []),
        ("/home/u/.ltmem/stage", ["data_folder"]),
        ("", []),
    ],
)
def test_own_folders_are_left_out_but_not_their_name_prefix(cwd: str, rules: list[str]):
    assert failed(replace(GOOD, cwd=cwd)) == rules


def test_without_folders_there_are_no_folder_rules():
    assert failed(replace(GOOD, cwd="/home/u/.mem"), memory_root=None, home="") == []


@pytest.mark.parametrize("mode", ["disabled", "polluted"])
def test_memory_mode_switches_it_off(mode: str):
    assert failed(replace(GOOD, memory_mode=mode)) == ["memory_mode"]


def test_state_rules():
    assert failed(replace(GOOD, archived=True)) == ["archived"]
    assert failed(replace(GOOD, ephemeral=True)) == ["ephemeral"]
    assert failed(GOOD, current_thread="t1") == ["current"]
    assert failed(GOOD, current_thread="t2") == []
    assert failed(GOOD, up_to_date=True) == ["up_to_date"]


@pytest.mark.parametrize(
    "item",
    [
        RolloutItem("user", "message", "  \n", 1),
        RolloutItem("user", "message", "host", 1, injected=True),
        RolloutItem("user", "message", "parent's", 1, inherited=True),
        RolloutItem("user", "message", "taken back", 1, undone=True),
        RolloutItem("user", "image", "[image omitted]", 1),
        RolloutItem("assistant", "message", "answer", 1),
    ],
)
def test_a_session_without_own_words_is_empty(item: RolloutItem):
    assert failed(replace(GOOD, items=(item,))) == ["empty"]


@pytest.mark.parametrize(
    ("age", "rules"),
    [
        (0, ["idle"]),
        (6 * HOUR - 1, ["idle"]),
        (6 * HOUR, []),
        (10 * DAY, []),
        (10 * DAY + 1, ["age"]),
        (-HOUR, ["idle"]),
    ],
)
def test_the_time_window_includes_both_ends(age: int, rules: list[str]):
    assert failed(replace(GOOD, updated_at=NOW - age)) == rules


def test_a_session_without_any_time_is_not_taken():
    assert failed(replace(GOOD, updated_at=None)) == ["age"]
