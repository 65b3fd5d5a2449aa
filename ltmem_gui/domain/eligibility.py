"""Which sessions Phase 1 may read, rule by rule, each with the value it met (codex-memories §1.6, design §4).

Every rule is listed whether it passed or not, so that "why was it (not) taken" has one answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ltmem_gui.domain.folders import is_within
from ltmem_gui.domain.rollouts import INTERACTIVE_SESSION_SOURCES, Eligibility, Reason, Rollout
from ltmem_gui.domain.settings import Settings

DAY = 86_400
HOUR = 3_600
_OWN_RUNS = frozenset({"memory_consolidation", "memory_extraction"})


def assess(
    rollout: Rollout,
    settings: Settings,
    now: int,
    memory_root: str | None,
    home: str | None,
    current_thread: str | None = None,
    up_to_date: bool = False,
) -> Eligibility:
    """Check a session against every rule.

    `now` in Unix seconds; `memory_root` and `home` as absolute paths where they are known; `up_to_date` tells that the
    stored row is as new as the session. Both ends of the time window are inclusive.
    """
    return Eligibility(
        (
            *_origin(rollout, settings),
            *_folder(rollout, memory_root, home),
            *_state(rollout, current_thread, up_to_date),
            *_window(rollout, settings, now),
        )
    )


def _origin(rollout: Rollout, settings: Settings) -> Iterator[Reason]:
    source = rollout.source
    shown = source or "not named"
    if rollout.source_detail:
        shown += f" ({rollout.source_detail})"
    agents = source in ("subagent", "internal")
    yield Reason(
        "root_session",
        not agents,
        f"left out: sub-agent or internal run, source {shown}" if agents else f"a root session, source {shown}",
    )
    own = rollout.source_detail in _OWN_RUNS
    yield Reason("own_run", not own, "a memory run itself" if own else "not a memory run")
    interactive = agents or not source or source in INTERACTIVE_SESSION_SOURCES
    yield Reason(
        "interactive",
        interactive or settings.include_non_interactive,
        f"interactive, source {shown}" if interactive else _non_interactive(shown, settings),
    )


def _non_interactive(shown: str, settings: Settings) -> str:
    if settings.include_non_interactive:
        return f"not interactive (source {shown}), included by include_non_interactive"
    return f"not interactive: source {shown} (include_non_interactive takes these too)"


def _folder(rollout: Rollout, memory_root: str | None, home: str | None) -> Iterator[Reason]:
    for rule, root, words in (
        ("memory_root", memory_root, "the memory root"),
        ("data_folder", home, "the data folder of this program"),
    ):
        if not root:
            continue
        inside = is_within(rollout.cwd, root)
        yield Reason(
            rule,
            not inside,
            f"working folder {rollout.cwd} is {words} or below it" if inside else f"working folder is not in {words}",
        )


def _state(rollout: Rollout, current_thread: str | None, up_to_date: bool) -> Iterator[Reason]:
    enabled = rollout.memory_mode == "enabled"
    yield Reason("memory_mode", enabled, f"memory mode is {rollout.memory_mode}")
    yield Reason("archived", not rollout.archived, "archived" if rollout.archived else "not archived")
    yield Reason("ephemeral", not rollout.ephemeral, "ephemeral" if rollout.ephemeral else "not ephemeral")
    typed = sum(1 for text in rollout.user_texts if text.strip())
    yield Reason(
        "empty", typed > 0, f"{typed} typed messages" if typed else "empty: nothing of its own was typed by a person"
    )
    current = current_thread is not None and rollout.id == current_thread
    yield Reason("current", not current, "the current session" if current else "not the current session")
    text = "up to date: extracted already, nothing new since" if up_to_date else "not extracted in this state yet"
    yield Reason("up_to_date", not up_to_date, text)


def _window(rollout: Rollout, settings: Settings, now: int) -> Iterator[Reason]:
    updated = rollout.updated_at
    if updated is None:
        yield Reason("age", False, "its last change is not known")
        return
    age = now - updated
    young = age <= settings.max_rollout_age_days * DAY
    yield Reason(
        "age",
        young,
        f"{'' if young else 'too old: '}last change {age / DAY:.1f} days ago, "
        f"limit {settings.max_rollout_age_days} days",
    )
    idle = age >= settings.min_rollout_idle_hours * HOUR
    yield Reason(
        "idle",
        idle,
        f"{'' if idle else 'not idle long enough: '}last change {age / HOUR:.1f} hours ago, "
        f"needs {settings.min_rollout_idle_hours} hours",
    )
