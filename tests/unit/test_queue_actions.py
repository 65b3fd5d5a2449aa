"""Preconditions of the queue's actions: complete as data, with words for every refusal."""

from __future__ import annotations

from itertools import product

import pytest

from ltmem_gui.domain.jobs import GLOBAL_KIND, STAGE1_KIND, JobRecord, JobStatus
from ltmem_gui.domain.memory_items import DEFAULT_ROLLOUT_TOKEN_LIMIT, token_limit
from ltmem_gui.domain.queue_actions import (
    ALLOWED,
    JOB_ACTIONS,
    MEMORY_ACTIONS,
    RUN_ACTIONS,
    QueueAction,
    RowFacts,
    RowState,
    budget_of,
    refusals,
    row_state,
    sort_rows,
    why_not,
)
from ltmem_gui.domain.settings import Settings

NOW = 1_780_000_000
HOUR = 3_600


def job(status: JobStatus, **more: object) -> JobRecord:
    return JobRecord(STAGE1_KIND, "t1", status, **more)  # type: ignore[arg-type]


EXAMPLES: dict[RowState, JobRecord | None] = {
    RowState.NEW: None,
    RowState.WAITING: job(JobStatus.PENDING),
    RowState.BACKING_OFF: job(JobStatus.PENDING, retry_at=NOW + HOUR, finished_at=NOW - 5),
    RowState.RUNNING: job(JobStatus.RUNNING, lease_until=NOW + HOUR),
    RowState.EXPIRED: job(JobStatus.RUNNING, lease_until=NOW - 1),
    RowState.FAILED: job(JobStatus.ERROR, error_group="timeout"),
    RowState.TOO_LARGE: job(JobStatus.ERROR, error_group="too_large"),
    RowState.HELD: job(JobStatus.HELD),
    RowState.DONE: job(JobStatus.DONE),
}


@pytest.mark.parametrize("state", list(RowState))
def test_every_state_is_told_from_the_stored_job(state: RowState) -> None:
    assert row_state(EXAMPLES[state], NOW) is state


def test_a_done_job_with_something_new_waits_again() -> None:
    assert row_state(EXAMPLES[RowState.DONE], NOW, newer=True) is RowState.WAITING


@pytest.mark.parametrize(("action", "state"), list(product(QueueAction, RowState)))
def test_every_refusal_has_words_and_no_permission_has(action: QueueAction, state: RowState) -> None:
    excluded = "left out" if action is QueueAction.LIFT else None
    reason = why_not(action, RowFacts("t1", EXAMPLES[state], excluded=excluded), NOW)
    assert (reason == "") == (state in ALLOWED[action])
    assert reason == reason.strip()


@pytest.mark.parametrize(
    ("action", "states"),
    [
        (QueueAction.RETRY, {RowState.FAILED, RowState.TOO_LARGE, RowState.BACKING_OFF}),
        (QueueAction.RELEASE, {RowState.HELD}),
        (QueueAction.CANCEL, {RowState.RUNNING}),
        (QueueAction.SPLIT, {RowState.TOO_LARGE}),
        (QueueAction.HOLD, set(RowState) - {RowState.NEW, RowState.RUNNING, RowState.EXPIRED, RowState.HELD}),
        (QueueAction.RUN, set(RowState) - {RowState.RUNNING, RowState.HELD, RowState.DONE}),
        (QueueAction.FORGET, set(RowState) - {RowState.NEW, RowState.RUNNING}),
    ],
)
def test_what_each_action_is_for(action: QueueAction, states: set[RowState]) -> None:
    assert ALLOWED[action] == states


def test_a_running_job_is_only_cancelled_or_left_out() -> None:
    running = RowFacts("t1", EXAMPLES[RowState.RUNNING])
    assert {action for action in QueueAction if not why_not(action, running, NOW)} == {
        QueueAction.CANCEL,
        QueueAction.EXCLUDE,
    }


def test_the_actions_are_one_kind_each() -> None:
    kinds = (JOB_ACTIONS, MEMORY_ACTIONS, RUN_ACTIONS, {QueueAction.CANCEL, QueueAction.FORGET})
    assert sum(len(kind) for kind in kinds) == len(QueueAction)
    assert set().union(*kinds) == set(QueueAction)


def test_what_is_left_out_is_not_left_out_twice_and_not_run() -> None:
    row = RowFacts("t1", EXAMPLES[RowState.FAILED], excluded="private")
    assert "private" in why_not(QueueAction.EXCLUDE, row, NOW)
    assert "lift it first" in why_not(QueueAction.RUN, row, NOW)
    assert why_not(QueueAction.LIFT, row, NOW) == ""
    assert why_not(QueueAction.LIFT, RowFacts("t1"), NOW) == "it is not left out"


def test_the_consolidation_can_only_be_retried() -> None:
    failed = RowFacts("global", JobRecord("memory_consolidate_global", "global", JobStatus.ERROR))
    assert [action for action in QueueAction if not why_not(action, failed, NOW)] == [QueueAction.RETRY]


def test_rows_are_sorted_in_the_order_given() -> None:
    rows = [RowFacts(str(number), EXAMPLES[state]) for number, state in enumerate(RowState)]
    found = sort_rows(QueueAction.RELEASE, rows, NOW)
    assert [row.thread_id for row in found.eligible] == [str(list(RowState).index(RowState.HELD))]
    assert len(found.others) == len(RowState) - 1
    assert {reason for _, reason in found.others} == {"it is not held"}


def test_an_action_is_offered_when_it_is_for_one_row_of_many() -> None:
    failed, done = (RowFacts(state, EXAMPLES[state]) for state in (RowState.FAILED, RowState.DONE))
    offered = refusals([done, failed, done], NOW)
    assert offered[QueueAction.RETRY] == offered[QueueAction.HOLD] == ""
    assert offered[QueueAction.RELEASE] == "it is not held"
    assert offered[QueueAction.LIFT] == "it is not left out"
    assert refusals([done, RowFacts("x", None, excluded="private")], NOW)[QueueAction.LIFT] == ""
    assert set(refusals([], NOW).values()) == {"no row is selected"}


@pytest.mark.parametrize(("one", "other"), list(product(RowState, RowState)))
def test_what_is_offered_for_many_agrees_with_each(one: RowState, other: RowState) -> None:
    rows = [RowFacts("a", EXAMPLES[one]), RowFacts("b", EXAMPLES[other], excluded="private")]
    offered = refusals(rows, NOW)
    for action in QueueAction:
        found = sort_rows(action, rows, NOW)
        assert offered[action] == ("" if found.eligible else found.others[0][1])


def test_budgets_double_and_halve() -> None:
    given = Settings(context_window=8_000)
    assert budget_of(QueueAction.LARGER, given).context_window == 16_000
    assert budget_of(QueueAction.SMALLER, given).context_window == 4_000
    assert budget_of(QueueAction.SMALLER, Settings(context_window=1)).context_window == 1
    assert budget_of(QueueAction.RUN, given) == given


def test_an_unknown_window_counts_as_what_its_limit_follows_from() -> None:
    half = token_limit(budget_of(QueueAction.SMALLER, Settings()).context_window)
    double = token_limit(budget_of(QueueAction.LARGER, Settings()).context_window)
    assert half == pytest.approx(DEFAULT_ROLLOUT_TOKEN_LIMIT / 2, abs=2)
    assert double == pytest.approx(DEFAULT_ROLLOUT_TOKEN_LIMIT * 2, abs=3)


def test_the_reason_is_a_rollouts_where_one_is_selected() -> None:
    phase2 = RowFacts("global", JobRecord(GLOBAL_KIND, "global", JobStatus.DONE))
    rollout = RowFacts("a")
    assert refusals([phase2, rollout], 0)[QueueAction.LIFT] == "it is not left out"
    assert "it is the consolidation" in refusals([phase2], 0)[QueueAction.LIFT]
