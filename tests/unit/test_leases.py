"""The pure rules of claiming: each boundary, and clocks that were wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.jobs import ClaimOutcome, JobStatus, Owner
from ltmem_gui.domain.leases import (
    CLOCK_TOLERANCE_SECONDS,
    FUTURE_SOURCE_SECONDS,
    MAX_RETRY_AFTER_SECONDS,
    JobState,
    StageOne,
    StageTwo,
    StoredSource,
    advances,
    backing_off,
    decide_global,
    decide_stage1,
    is_newer,
    is_up_to_date,
    lease_horizon,
    lease_is_live,
    retry_time,
)

NOW = 1_800_000_000
LEASE = 3_600


def test_a_lease_ends_at_its_end_and_no_clock_gives_more_than_a_lease() -> None:
    assert lease_is_live(NOW + 1, NOW, LEASE)
    assert not lease_is_live(NOW, NOW, LEASE)
    assert not lease_is_live(None, NOW, LEASE)
    assert lease_is_live(NOW + LEASE + CLOCK_TOLERANCE_SECONDS, NOW, LEASE)
    assert not lease_is_live(NOW + LEASE + CLOCK_TOLERANCE_SECONDS + 1, NOW, LEASE)
    assert lease_is_live(lease_horizon(NOW, LEASE), NOW, LEASE)


def test_a_back_off_ends_at_its_time_and_one_from_the_future_holds_nothing_back() -> None:
    assert backing_off(NOW + 1, NOW - 10, NOW)
    assert not backing_off(NOW, NOW - 10, NOW)
    assert not backing_off(None, NOW, NOW)
    assert backing_off(NOW + 1, None, NOW)
    assert backing_off(NOW + 900, NOW + CLOCK_TOLERANCE_SECONDS, NOW)
    assert not backing_off(NOW + 900, NOW + CLOCK_TOLERANCE_SECONDS + 1, NOW)


@pytest.mark.parametrize(("asked", "waited"), [(None, 3_600), (0, 3_600), (10, 3_600), (7_200, 7_200), (10**12, None)])
def test_a_server_can_lengthen_the_delay_but_not_shorten_it_nor_without_end(
    asked: int | None, waited: int | None
) -> None:
    assert retry_time(NOW, asked) == NOW + (MAX_RETRY_AFTER_SECONDS if waited is None else waited)


@given(st.integers(0, NOW), st.integers(0, NOW))
def test_of_honest_times_the_later_is_newer(source: int, stored: int) -> None:
    assert is_newer(source, StoredSource(stored, NOW)) is (source > stored)


def test_a_stored_time_from_the_future_hides_only_itself() -> None:
    ahead = NOW + FUTURE_SOURCE_SECONDS + 1
    assert not is_newer(ahead, StoredSource(ahead, NOW))
    assert is_newer(NOW, StoredSource(ahead, NOW))
    assert not is_newer(NOW, StoredSource(ahead - 1, NOW))
    assert not is_newer(NOW, StoredSource(ahead, NOW + 1))


def test_up_to_date_asks_the_output_and_the_last_success() -> None:
    done = JobState(JobStatus.DONE, finished_at=NOW, last_success_watermark=100)
    assert not is_up_to_date(None, None, 1)
    assert is_up_to_date(None, StoredSource(100, NOW), 100)
    assert not is_up_to_date(None, StoredSource(100, NOW), 101)
    assert is_up_to_date(done, None, 100)
    assert is_up_to_date(done, StoredSource(50, NOW), 100)
    assert not is_up_to_date(done, StoredSource(50, NOW), 101)
    assert not is_up_to_date(JobState(JobStatus.ERROR), None, 1)
    assert is_up_to_date(JobState(JobStatus.RUNNING, last_success_watermark=100), None, 100)


def state(status: JobStatus = JobStatus.ERROR, **changes: object) -> JobState:
    values: dict[str, object] = {
        "retry_remaining": 2,
        "input_watermark": 100,
        "started_at": NOW - 50,
        "finished_at": NOW - 10,
    }
    return JobState(status, **(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "source", "others", "expected"),
    [
        (None, 100, 0, ClaimOutcome.CLAIMED),
        (None, 100, 8, ClaimOutcome.AT_CAP),
        (state(), 100, 7, ClaimOutcome.CLAIMED),
        (state(JobStatus.HELD), 100, 0, ClaimOutcome.HELD),
        (state(JobStatus.HELD), 101, 0, ClaimOutcome.HELD),
        (state(retry_remaining=0), 100, 0, ClaimOutcome.EXHAUSTED),
        (state(retry_remaining=0, retry_at=NOW + 9), 100, 0, ClaimOutcome.EXHAUSTED),
        (state(retry_remaining=0), 101, 0, ClaimOutcome.CLAIMED),
        (state(retry_at=NOW + 9), 100, 8, ClaimOutcome.BACKOFF),
        (state(retry_at=NOW + 9), 101, 0, ClaimOutcome.CLAIMED),
        (state(retry_at=NOW), 100, 0, ClaimOutcome.CLAIMED),
        (state(JobStatus.RUNNING, lease_until=NOW + 9), 101, 8, ClaimOutcome.RUNNING),
        (state(JobStatus.RUNNING, lease_until=NOW), 100, 0, ClaimOutcome.CLAIMED),
        (state(JobStatus.DONE, last_success_watermark=100), 100, 8, ClaimOutcome.UP_TO_DATE),
    ],
)
def test_a_claim_of_a_thread(found: JobState | None, source: int, others: int, expected: ClaimOutcome) -> None:
    assert decide_stage1(found, None, source, now=NOW, others=others, cap=8) is expected


def test_a_newer_source_is_told_by_the_time_it_was_claimed() -> None:
    assert advances(state(), 101)
    assert not advances(state(), 100)
    assert not advances(state(started_at=None, finished_at=None), 99)
    assert advances(state(input_watermark=NOW + 10 * FUTURE_SOURCE_SECONDS), NOW)


@pytest.mark.parametrize(
    ("found", "by_person", "expected"),
    [
        (None, False, ClaimOutcome.CLAIMED),
        (state(retry_at=NOW + 1), True, ClaimOutcome.BACKOFF),
        (state(JobStatus.RUNNING, lease_until=NOW + 1, finished_at=None), True, ClaimOutcome.RUNNING),
        (state(JobStatus.RUNNING, lease_until=NOW, finished_at=None), True, ClaimOutcome.CLAIMED),
        (state(JobStatus.DONE), False, ClaimOutcome.COOLDOWN),
        (state(JobStatus.DONE), True, ClaimOutcome.CLAIMED),
        (state(JobStatus.DONE, failed=True), False, ClaimOutcome.CLAIMED),
        (state(JobStatus.PENDING), False, ClaimOutcome.COOLDOWN),
        (state(JobStatus.DONE, finished_at=NOW - StageTwo.COOLDOWN_SECONDS), False, ClaimOutcome.CLAIMED),
        (state(JobStatus.DONE, finished_at=NOW - StageTwo.COOLDOWN_SECONDS + 1), False, ClaimOutcome.COOLDOWN),
        (state(JobStatus.DONE, finished_at=NOW + 2 * LEASE), False, ClaimOutcome.CLAIMED),
    ],
)
def test_a_claim_of_the_global_job(found: JobState | None, by_person: bool, expected: ClaimOutcome) -> None:
    assert decide_global(found, now=NOW, ignore_cooldown=by_person) is expected


def test_the_constants_are_those_of_the_mission() -> None:
    assert (StageOne.JOB_LEASE_SECONDS, StageOne.JOB_RETRY_DELAY_SECONDS, StageOne.RETRIES) == (3_600, 3_600, 3)
    assert (StageOne.PRUNE_BATCH_SIZE, StageOne.REASONING_EFFORT) == (200, "low")
    assert (StageTwo.JOB_LEASE_SECONDS, StageTwo.JOB_RETRY_DELAY_SECONDS) == (3_600, 3_600)
    assert (StageTwo.JOB_HEARTBEAT_SECONDS, StageTwo.COOLDOWN_SECONDS, StageTwo.REASONING_EFFORT) == (
        90,
        21_600,
        "medium",
    )


@given(st.from_regex(r"[A-Za-z0-9.-]{1,20}", fullmatch=True), st.integers(0, 10**9), st.integers(0, 10**12), st.text())
def test_an_owner_is_read_as_it_was_written(host: str, pid: int, started: int, worker: str) -> None:
    owner = Owner(host, pid, started, worker)
    assert Owner.parse(str(owner)) == owner


@pytest.mark.parametrize("text", ["", "x", "h:1:2", "h:a:2:w", "h:1:b:w"])
def test_an_unreadable_owner_is_on_no_host(text: str) -> None:
    assert Owner.parse(text) == Owner("", 0, 0, text)
