"""Phase-1 jobs on real SQLite; numbers are those of reference §9."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from ltmem_gui.domain.errors import InputError, LeaseLost
from ltmem_gui.domain.extraction import ExtractionReply
from ltmem_gui.domain.jobs import STAGE1_KIND, ClaimOutcome, JobOutcome, JobStatus
from ltmem_gui.domain.prices import Bill, Money
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.store.schema import MIGRATIONS
from ltmem_gui.store.store import SqliteStore
from tests.helpers.stores import (
    ABROAD,
    CAP,
    DAY,
    HOUR,
    ME,
    NOW,
    OTHER,
    Home,
    a_job,
    a_reply,
    an_output,
    claimed,
    extracted,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def outcome(store: SqliteStore, thread: str, source: int, *, now: int = NOW, cap: int = CAP) -> ClaimOutcome:
    return store.claim_stage1(a_job(thread, source), OTHER, now=now, cap=cap).outcome


def fail(store: SqliteStore, source: int = 100, *, now: int = NOW, retry_after: int | None = None) -> None:
    claim = claimed(store, source=source, now=now)
    store.fail_stage1(claim, outcome="failed", group="timeout", reason="slow", now=now, retry_after=retry_after)


def test_01_a_success_is_up_to_date_until_the_source_is_newer(home: Home) -> None:
    with home.open() as store:
        extracted(store, source=100)
        assert store.up_to_date("t1", 100)
        assert store.up_to_date("t1", 99)
        assert not store.up_to_date("t1", 101)
        assert not store.up_to_date("t2", 1)
        assert outcome(store, "t1", 100) is ClaimOutcome.UP_TO_DATE
        assert outcome(store, "t1", 101) is ClaimOutcome.CLAIMED


def test_02_a_live_lease_refuses_and_an_expired_one_gives_way_with_a_new_token(home: Home) -> None:
    with home.open() as store:
        first = claimed(store)
        refused = store.claim_stage1(a_job(), OTHER, now=NOW, cap=CAP)
        assert refused.outcome is ClaimOutcome.RUNNING
        assert refused.held_by == str(ME)
        assert refused.until == NOW + HOUR
        home.sql("UPDATE jobs SET lease_until = 0")
        second = claimed(store, owner=OTHER)
        assert second.token != first.token
        assert second.attempt == 2


def test_04_the_cap_counts_the_live_leases_of_other_threads(home: Home) -> None:
    with home.open() as store:
        assert outcome(store, "t1", 1, cap=1) is ClaimOutcome.CLAIMED
        assert outcome(store, "t2", 1, cap=1) is ClaimOutcome.AT_CAP
        assert outcome(store, "t2", 1, cap=2) is ClaimOutcome.CLAIMED
        assert outcome(store, "t3", 1, cap=0) is ClaimOutcome.AT_CAP


def test_08_leases_are_claimed_as_slots_free_up(home: Home) -> None:
    with home.open() as store:
        claims = [claimed(store, f"t{n}") for n in range(CAP)]
        assert outcome(store, "next", 1) is ClaimOutcome.AT_CAP
        store.succeed_stage1_no_output(claims[0], a_reply(), now=NOW)
        assert outcome(store, "next", 1) is ClaimOutcome.CLAIMED


def test_09_a_batch_claims_up_to_the_cap_in_order(home: Home) -> None:
    with home.open() as store:
        jobs = [a_job(f"t{n:02}") for n in range(10)]
        results = store.claim_stage1_batch(jobs, ME, now=NOW, cap=4)
        assert [r.outcome for r in results] == [ClaimOutcome.CLAIMED] * 4 + [ClaimOutcome.AT_CAP] * 6
        assert len({r.claim.token for r in results if r.claim}) == 4
        home.holders.dead.add(ME)
        again = store.claim_stage1_batch(jobs, OTHER, now=NOW, cap=4)
        assert [r.outcome for r in again].count(ClaimOutcome.CLAIMED) == 4


def test_12_no_output_without_an_earlier_row_leaves_phase_2_alone(home: Home) -> None:
    with home.open() as store:
        store.succeed_stage1_no_output(claimed(store, source=100), a_reply(), now=NOW)
        assert store.outputs() == ()
        assert outcome(store, "t1", 100) is ClaimOutcome.UP_TO_DATE
        assert [job.kind for job in store.jobs()] == [STAGE1_KIND]
        assert store.jobs()[0].last_outcome == JobOutcome.NO_OUTPUT.value


def test_13_no_output_with_an_earlier_row_deletes_it_and_calls_for_phase_2(home: Home) -> None:
    with home.open() as store:
        extracted(store, source=100)
        store.succeed_stage1_no_output(claimed(store, source=200), a_reply(), now=NOW)
        assert store.outputs() == ()
        claim = store.claim_global(ME, now=NOW, ignore_cooldown=False).claim
        assert claim is not None
        assert claim.source_updated_at == 200


def test_14_three_failures_exhaust_and_a_newer_source_resets_the_tries(home: Home) -> None:
    with home.open() as store:
        for round_ in range(3):
            fail(store, now=NOW + round_ * HOUR)
        late = NOW + 9 * HOUR
        assert outcome(store, "t1", 100, now=late) is ClaimOutcome.EXHAUSTED
        claimed(store, source=101, now=late)
        job = store.job(STAGE1_KIND, "t1")
        assert job is not None
        assert (job.retry_remaining, job.input_watermark) == (3, 101)


def test_20_two_successes_leave_the_higher_watermark(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a", 100)
        extracted(store, "b", 101)
        claim = store.claim_global(ME, now=NOW, ignore_cooldown=False).claim
        assert claim is not None
        assert claim.source_updated_at == 101


def test_a_failure_waits_an_hour_or_longer_when_a_server_says_so(home: Home) -> None:
    with home.open() as store:
        fail(store)
        refused = store.claim_stage1(a_job(source=100), ME, now=NOW + HOUR - 1, cap=CAP)
        assert (refused.outcome, refused.until) == (ClaimOutcome.BACKOFF, NOW + HOUR)
        assert outcome(store, "t1", 101, now=NOW + 1) is ClaimOutcome.CLAIMED
    with Home(home.path.parent / "other").create().open() as store:
        fail(store, retry_after=2 * HOUR)
        assert outcome(store, "t1", 100, now=NOW + HOUR) is ClaimOutcome.BACKOFF
        assert outcome(store, "t1", 100, now=NOW + 2 * HOUR) is ClaimOutcome.CLAIMED


def test_a_failure_is_kept_with_group_and_reason(home: Home) -> None:
    with home.open() as store:
        fail(store)
        job = store.jobs()[0]
        assert (job.status, job.last_error, job.error_group, job.retry_remaining) == (
            JobStatus.ERROR,
            "slow",
            "timeout",
            2,
        )
        attempt = job.attempts[0]
        assert (attempt.outcome, attempt.error, attempt.error_group, attempt.ended_at) == (
            "failed",
            "slow",
            "timeout",
            NOW,
        )


@pytest.mark.parametrize("end", ["succeed", "no output", "fail"])
def test_a_lost_token_ends_nothing(home: Home, end: str) -> None:
    with home.open() as store:
        old = claimed(store)
        home.sql("UPDATE jobs SET lease_until = 0")
        new = claimed(store, owner=OTHER)
        before = store.jobs()
        endings: dict[str, Callable[[], None]] = {
            "succeed": lambda: store.succeed_stage1(old, an_output(), a_reply(), now=NOW),
            "no output": lambda: store.succeed_stage1_no_output(old, a_reply(), now=NOW),
            "fail": lambda: store.fail_stage1(old, outcome="failed", group="", reason="", now=NOW, retry_after=None),
        }
        with pytest.raises(LeaseLost):
            endings[end]()
        store.release_stage1(old, outcome="released", reason="", now=NOW)
        assert not store.heartbeat_stage1(old, NOW)
        assert store.jobs() == before
        assert store.outputs() == ()
        store.succeed_stage1(new, an_output(), a_reply(), now=NOW)
        assert len(store.outputs()) == 1


def test_a_second_end_of_the_same_claim_is_refused(home: Home) -> None:
    with home.open() as store:
        claim = claimed(store)
        store.succeed_stage1(claim, an_output(), a_reply(), now=NOW)
        with pytest.raises(LeaseLost):
            store.succeed_stage1(claim, an_output(), a_reply(), now=NOW)


def test_a_heartbeat_renews_the_lease(home: Home) -> None:
    with home.open() as store:
        claim = claimed(store)
        assert store.heartbeat_stage1(claim, NOW + HOUR - 1)
        assert outcome(store, "t1", NOW - DAY, now=NOW + HOUR) is ClaimOutcome.RUNNING


def test_a_release_costs_no_try(home: Home) -> None:
    with home.open() as store:
        fail(store)
        claim = claimed(store, source=100, now=NOW + HOUR)
        store.release_stage1(claim, outcome="released", reason="cancelled", now=NOW + HOUR)
        job = store.jobs()[0]
        assert (job.status, job.retry_remaining, job.last_outcome) == (JobStatus.PENDING, 2, "released")
        assert job.attempts[-1].error == "cancelled"
        assert outcome(store, "t1", 100, now=NOW + HOUR) is ClaimOutcome.CLAIMED


def test_a_dead_holder_gives_way_at_once_and_the_crash_is_counted(home: Home) -> None:
    with home.open() as store:
        old = claimed(store)
        home.holders.dead.add(ME)
        new = claimed(store, owner=OTHER, now=NOW + 1)
        job = store.jobs()[0]
        assert (job.crash_count, job.retry_remaining) == (1, 3)
        assert [a.outcome for a in job.attempts] == [JobOutcome.CRASHED.value, ""]
        assert job.attempts[0].ended_at == NOW + 1
        with pytest.raises(LeaseLost):
            store.succeed_stage1(old, an_output(), a_reply(), now=NOW + 1)
        store.succeed_stage1(new, an_output(), a_reply(), now=NOW + 1)
        assert store.jobs()[-1].crash_count == 0


def test_dead_holders_free_their_slots_for_other_threads(home: Home) -> None:
    with home.open() as store:
        for n in range(CAP):
            claimed(store, f"t{n}")
        home.holders.dead.add(ME)
        claimed(store, "next", owner=OTHER)
        assert [job.status for job in store.jobs()].count(JobStatus.RUNNING) == 1
        assert store.reap_stage1(NOW) == 0


def test_a_thread_that_crashes_three_times_is_held_for_a_person(home: Home) -> None:
    with home.open() as store:
        for crash in range(3):
            claimed(store, source=100)
            home.holders.dead.add(ME)
            assert store.reap_stage1(NOW) == 1
            home.holders.dead.clear()
            assert store.jobs()[0].crash_count == crash + 1
        job = store.jobs()[0]
        assert job.status is JobStatus.HELD
        assert "3 times" in job.last_error
        assert outcome(store, "t1", 100) is ClaimOutcome.HELD
        assert outcome(store, "t1", 101) is ClaimOutcome.HELD
        assert store.release_job("t1", now=NOW)
        claimed(store, source=100)


def test_an_expired_lease_of_another_host_counts_as_a_crash_and_of_a_living_holder_as_lost(home: Home) -> None:
    with home.open() as store:
        claimed(store, owner=ABROAD)
        assert outcome(store, "t1", NOW - DAY, now=NOW + HOUR - 1) is ClaimOutcome.RUNNING
        claimed(store, owner=ME, now=NOW + HOUR)
        claimed(store, owner=OTHER, now=NOW + 2 * HOUR)
        job = store.jobs()[0]
        assert [a.outcome for a in job.attempts] == ["crashed", "lease lost", ""]
        assert job.crash_count == 1


def test_the_third_crash_found_at_expiry_holds_too(home: Home) -> None:
    with home.open() as store:
        for n in range(3):
            claimed(store, owner=ABROAD, now=NOW + n * HOUR)
        assert outcome(store, "t1", NOW - DAY, now=NOW + 3 * HOUR) is ClaimOutcome.HELD
        assert [a.outcome for a in store.jobs()[0].attempts] == ["crashed"] * 3


def test_attempts_are_never_overwritten(home: Home) -> None:
    with home.open() as store:
        fail(store)
        extracted(store, source=101, now=NOW + HOUR)
        extracted(store, source=102, now=NOW + 2 * HOUR)
        attempts = store.job(STAGE1_KIND, "t1").attempts  # type: ignore[union-attr]
        assert [(a.number, a.outcome, a.tokens_in, a.tokens_out) for a in attempts] == [
            (1, "failed", None, None),
            (2, "succeeded", 11, 7),
            (3, "succeeded", 11, 7),
        ]
        assert [a.started_at for a in attempts] == [NOW, NOW + HOUR, NOW + 2 * HOUR]


def test_a_success_keeps_usage_and_selection_of_the_earlier_row(home: Home) -> None:
    with home.open() as store:
        extracted(store, source=100)
        home.sql(
            "UPDATE stage1_outputs SET usage_count = 4, last_usage = 9, selected_for_phase2 = 1,"
            " selected_for_phase2_source_updated_at = 100"
        )
        extracted(store, source=200, raw_memory="newer")
        row = store.outputs()[0]
        assert (row.raw_memory, row.usage_count, row.last_usage, row.source_updated_at) == ("newer", 4, 9, 200)
        assert [(r.thread_id, r.source_updated_at) for r in store.selected_rows()] == [("t1", 100)]


def test_an_older_output_does_not_replace_a_newer_row(home: Home) -> None:
    with home.open() as store:
        claim = claimed(store, source=100)
        home.sql(
            "INSERT INTO stage1_outputs (thread_id, source_updated_at, raw_memory, rollout_summary, generated_at)"
            " VALUES ('t1', 150, 'kept', 's', 150)"
        )
        store.succeed_stage1(claim, an_output(source=100), a_reply(), now=NOW)
        assert store.outputs()[0].raw_memory == "kept"


def test_a_clock_that_was_ahead_blocks_nothing_afterwards(home: Home) -> None:
    ahead = NOW + 400 * DAY
    with home.open() as store:
        claimed(store, "leased", owner=ABROAD, now=ahead)
        fail(store, now=ahead)
        claimed(store, "leased", owner=ME)
        assert outcome(store, "t1", 100) is ClaimOutcome.CLAIMED


def test_leases_from_the_future_take_no_slot(home: Home) -> None:
    with home.open() as store:
        for n in range(CAP):
            claimed(store, f"t{n}", owner=ABROAD, now=NOW + 400 * DAY)
        assert outcome(store, "next", 1) is ClaimOutcome.CLAIMED


def test_a_source_dated_in_the_future_is_read_once_and_does_not_hide_later_ones(home: Home) -> None:
    ahead = NOW + 400 * DAY
    with home.open() as store:
        extracted(store, source=ahead)
        assert outcome(store, "t1", ahead) is ClaimOutcome.UP_TO_DATE
        extracted(store, source=NOW + 5, now=NOW + 10, raw_memory="right date")
        assert store.outputs()[0].raw_memory == "right date"
        assert outcome(store, "t1", NOW + 5) is ClaimOutcome.UP_TO_DATE


def test_half_characters_and_nul_are_stored(home: Home) -> None:
    with home.open() as store:
        extracted(store, raw_memory="a\ud800b\x00c", cwd="/\udfff")
        assert store.outputs()[0].raw_memory == "a\ufffdb\x00c"
        assert store.outputs()[0].cwd == "/\ufffd"


def test_hold_release_and_retry_change_a_job_only_as_it_was_seen(home: Home) -> None:
    with home.open() as store:
        fail(store)
        assert not store.hold_job("t1", expected=JobStatus.PENDING, now=NOW)
        assert store.retry_job("t1", expected=JobStatus.ERROR, now=NOW)
        assert not store.retry_job("t1", expected=JobStatus.ERROR, now=NOW)
        assert store.hold_job("t1", expected=JobStatus.PENDING, now=NOW)
        assert outcome(store, "t1", 100) is ClaimOutcome.HELD
        assert store.release_job("t1", now=NOW)
        assert not store.release_job("t1", now=NOW)
        assert outcome(store, "t1", 100) is ClaimOutcome.CLAIMED
        assert not store.hold_job("t1", expected=JobStatus.PENDING, now=NOW)


def test_a_running_job_is_neither_held_nor_retried(home: Home) -> None:
    with home.open() as store:
        with pytest.raises(InputError, match="running"):
            store.hold_job("t1", expected=JobStatus.RUNNING, now=NOW)
        with pytest.raises(InputError, match="done"):
            store.retry_job("t1", expected=JobStatus.DONE, now=NOW)


def test_job_of_an_unknown_key_is_none(home: Home) -> None:
    with home.open() as store:
        assert store.job(STAGE1_KIND, "nobody") is None


def test_numbers_and_names_beyond_what_sqlite_holds_do_no_harm(home: Home) -> None:
    huge = 10**30
    with home.open() as store:
        claim = claimed(store, "t\ud800", huge)
        output = an_output("t\ud800", huge)
        reply = ExtractionReply("{}", tokens_in=huge, tokens_out=-huge)
        store.succeed_stage1(claim, output, reply, now=NOW)
        assert outcome(store, "t\ud800", huge) is ClaimOutcome.UP_TO_DATE
        assert store.up_to_date("t\ud800", huge)
        assert [row.thread_id for row in store.outputs()] == ["t\ufffd"]
        store.exclude("t\ud800", reason="r", now=NOW)
        assert store.forget("t\ud800", reason="r", now=NOW)["stage1_outputs"] == 1


def test_what_a_dead_holder_left_running_is_told_without_a_change(home: Home) -> None:
    with home.open() as store:
        claimed(store, "mine")
        claimed(store, "other", owner=OTHER)
        extracted(store, "done")
        home.holders.dead.add(ME)
    before = home.files()
    with home.stores.reading(home.path) as store:
        assert [job.job_key for job in store.interrupted()] == ["mine"]
    assert home.files() == before


# --- what an attempt cost ---


def test_an_attempt_keeps_its_tokens_by_type_who_was_asked_and_what_it_cost(home: Home) -> None:
    bill = Bill(TokenUsage(1_000, 50, 400, 20), "openai", "m", Money(Decimal("0.00035"), "USD"))
    with home.open() as store:
        claim = claimed(store)
        store.fail_stage1(claim, outcome="failed", group="schema", reason="x", now=NOW, retry_after=None, bill=bill)
        (attempt,) = store.jobs()[-1].attempts
    assert (attempt.tokens_in, attempt.tokens_out) == (1_000, 50)
    assert (attempt.tokens_cached, attempt.tokens_reasoning) == (400, 20)
    assert (attempt.provider, attempt.model) == ("openai", "m")
    assert (attempt.cost, attempt.currency) == (Decimal("0.00035"), "USD")
    assert home.sql("SELECT cost FROM attempts") == [("0.00035",)]


def test_without_a_bill_the_tokens_of_the_reply_are_kept_and_the_cost_is_unknown(home: Home) -> None:
    with home.open() as store:
        store.succeed_stage1_no_output(claimed(store), ExtractionReply("{}", 7, 3, tokens_cached=2), now=NOW)
        (attempt,) = store.jobs()[-1].attempts
    assert (attempt.tokens_in, attempt.tokens_out, attempt.tokens_cached) == (7, 3, 2)
    assert (attempt.cost, attempt.currency) == (None, "")


@pytest.mark.parametrize("nonsense", ["cheap", "NaN", "Infinity", ""])
def test_a_cost_that_is_no_number_is_an_unknown_one(home: Home, nonsense: str) -> None:
    with home.open() as store:
        extracted(store)
        home.sql("UPDATE attempts SET cost = ?, currency = 'USD'", nonsense)
        (attempt,) = store.jobs()[-1].attempts
    assert (attempt.cost, attempt.currency) == (None, "")


def test_a_database_of_the_first_version_keeps_its_history(tmp_path: Path) -> None:
    home = Home(tmp_path / "old")
    home.path.mkdir()
    with sqlite3.connect(home.database) as old:
        for statement in MIGRATIONS[1]:
            old.execute(statement)
        old.execute("PRAGMA user_version = 1")
        old.execute(
            "INSERT INTO jobs (kind, job_key, status, retry_remaining) VALUES (?, 't1', 'done', 3)", (STAGE1_KIND,)
        )
        old.execute(
            "INSERT INTO attempts (kind, job_key, number, owner, started_at, tokens_in) VALUES (?, 't1', 1, 'a', 5, 9)",
            (STAGE1_KIND,),
        )
    old.close()
    with home.open() as store:
        (attempt,) = store.jobs()[-1].attempts
    assert (attempt.number, attempt.owner, attempt.tokens_in, attempt.cost) == (1, "a", 9, None)
