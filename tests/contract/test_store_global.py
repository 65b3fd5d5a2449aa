"""The one global job on real SQLite; numbers are those of reference §9."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.errors import LeaseLost
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, ClaimOutcome, JobRecord, JobStatus
from ltmem_gui.domain.plan import SelectedRow
from ltmem_gui.store.store import SqliteStore
from tests.helpers.stores import (
    ABROAD,
    DAY,
    HOUR,
    ME,
    NOW,
    OTHER,
    Home,
    a_receipt,
    claimed_global,
    extracted,
)

COOLDOWN = 6 * HOUR


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def outcome(store: SqliteStore, *, now: int = NOW, ignore_cooldown: bool = False) -> ClaimOutcome:
    return store.claim_global(OTHER, now=now, ignore_cooldown=ignore_cooldown).outcome


def finish(store: SqliteStore, *, now: int = NOW, watermark: int = 0, rows: tuple[SelectedRow, ...] = ()) -> None:
    claim = claimed_global(store, now=now, ignore_cooldown=True)
    store.finish_global(claim, watermark=watermark, rows=rows, receipt=a_receipt(f"{now}"), now=now)


def global_job(store: SqliteStore) -> JobRecord:
    job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    assert job is not None
    return job


def test_15_a_success_cools_down_for_six_hours_whatever_is_enqueued(home: Home) -> None:
    with home.open() as store:
        finish(store)
        refused = store.claim_global(OTHER, now=NOW + 1, ignore_cooldown=False)
        assert (refused.outcome, refused.until) == (ClaimOutcome.COOLDOWN, NOW + COOLDOWN)
        store.enqueue_global(NOW)
        assert outcome(store, now=NOW + COOLDOWN - 1) is ClaimOutcome.COOLDOWN
        assert outcome(store, now=NOW + COOLDOWN) is ClaimOutcome.CLAIMED


def test_16_exhausted_tries_do_not_block_phase_2(home: Home) -> None:
    with home.open() as store:
        for n in range(3):
            now = NOW + n * HOUR
            store.fail_global(claimed_global(store, now=now), reason="no", now=now)
        assert global_job(store).retry_remaining == 0
        assert outcome(store, now=NOW + 3 * HOUR) is ClaimOutcome.CLAIMED


def test_17_a_missing_row_is_claimed_with_watermark_0_then_runs_then_cools_down(home: Home) -> None:
    with home.open() as store:
        claim = claimed_global(store)
        assert claim.source_updated_at == 0
        refused = store.claim_global(OTHER, now=NOW, ignore_cooldown=True)
        assert (refused.outcome, refused.held_by, refused.until) == (ClaimOutcome.RUNNING, str(ME), NOW + HOUR)
        store.finish_global(claim, watermark=0, rows=(), receipt=a_receipt(), now=NOW)
        assert outcome(store) is ClaimOutcome.COOLDOWN


def test_18_an_expired_lease_is_taken_over_and_the_old_token_refused(home: Home) -> None:
    with home.open() as store:
        old = claimed_global(store, owner=ABROAD)
        assert outcome(store, now=NOW + HOUR - 1) is ClaimOutcome.RUNNING
        new = claimed_global(store, now=NOW + HOUR)
        assert new.token != old.token
        assert store.owns_global(new)
        assert not store.owns_global(old)
        assert not store.heartbeat_global(old, NOW)
        with pytest.raises(LeaseLost):
            store.finish_global(old, watermark=1, rows=(), receipt=a_receipt(), now=NOW + HOUR)
        with pytest.raises(LeaseLost):
            store.fail_global(old, reason="late", now=NOW + HOUR)
        store.release_global(old, now=NOW + HOUR)
        assert store.receipts() == ()
        assert store.owns_global(new)
        store.finish_global(new, watermark=1, rows=(), receipt=a_receipt(), now=NOW + HOUR)
        assert [a.outcome for a in global_job(store).attempts] == ["crashed", "succeeded"]


def test_19_an_older_enqueue_after_a_success_still_rises(home: Home) -> None:
    with home.open() as store:
        store.enqueue_global(500)
        finish(store)
        store.enqueue_global(400)
        assert claimed_global(store, ignore_cooldown=True).source_updated_at == 501


def test_21_a_nulled_token_still_records_the_failure(home: Home) -> None:
    with home.open() as store:
        claim = claimed_global(store)
        home.sql("UPDATE jobs SET ownership_token = NULL")
        assert not store.owns_global(claim)
        store.fail_global(claim, reason="broken", now=NOW)
        refused = store.claim_global(OTHER, now=NOW + HOUR - 1, ignore_cooldown=True)
        assert (refused.outcome, refused.until) == (ClaimOutcome.BACKOFF, NOW + HOUR)
        assert global_job(store).last_error == "broken"


def test_25_26_a_row_refreshed_meanwhile_is_not_selected(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a", 100)
        extracted(store, "b", 100)
        extracted(store, "c", 100)
        finish(store, rows=tuple(SelectedRow(thread_id=t, source_updated_at=100) for t in "ab"))
        assert [r.thread_id for r in store.selected_rows()] == ["a", "b"]
        claim = claimed_global(store, ignore_cooldown=True)
        extracted(store, "b", 200)
        assert [(r.thread_id, r.source_updated_at) for r in store.selected_rows()] == [("a", 100), ("b", 100)]
        rows = tuple(SelectedRow(thread_id=t, source_updated_at=100) for t in "bc")
        store.finish_global(claim, watermark=100, rows=rows, receipt=a_receipt(), now=NOW)
        assert [r.thread_id for r in store.selected_rows()] == ["c"]


def test_a_person_passes_the_cooldown_and_nothing_else(home: Home) -> None:
    with home.open() as store:
        finish(store)
        claim = claimed_global(store, now=NOW + 1, ignore_cooldown=True)
        assert outcome(store, now=NOW + 1, ignore_cooldown=True) is ClaimOutcome.RUNNING
        store.fail_global(claim, reason="no", now=NOW + 1)
        assert outcome(store, now=NOW + 2, ignore_cooldown=True) is ClaimOutcome.BACKOFF


def test_an_enqueue_ends_the_back_off_but_not_a_run(home: Home) -> None:
    with home.open() as store:
        claim = claimed_global(store)
        store.enqueue_global(7)
        assert global_job(store).status is JobStatus.RUNNING
        assert store.owns_global(claim)
        store.fail_global(claim, reason="no", now=NOW)
        store.enqueue_global(7)
        assert global_job(store).retry_remaining == 3
        assert claimed_global(store).source_updated_at == 8


def test_a_dead_holder_on_this_host_gives_way_at_once(home: Home) -> None:
    with home.open() as store:
        claimed_global(store)
        home.holders.dead.add(ME)
        claimed_global(store, owner=OTHER, now=NOW + 1)
        assert [a.outcome for a in global_job(store).attempts] == ["crashed", ""]
        assert store.reap_global(NOW + 1) == 0


def test_a_dead_holder_that_another_run_freed_meanwhile_is_left_alone(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with home.open() as store:
        claimed_global(store)
        monkeypatch.setattr("ltmem_gui.store.consolidation.dead_holders", lambda *_: ("somebody else",))
        assert store.reap_global(NOW) == 0
        assert outcome(store) is ClaimOutcome.RUNNING


def test_a_heartbeat_revives_an_expired_lease_that_nobody_took(home: Home) -> None:
    with home.open() as store:
        claim = claimed_global(store)
        assert store.heartbeat_global(claim, NOW + 2 * HOUR)
        assert outcome(store, now=NOW + 3 * HOUR - 1) is ClaimOutcome.RUNNING


def test_a_release_leaves_the_lock_free_without_cooldown_or_back_off(home: Home) -> None:
    with home.open() as store:
        store.release_global(claimed_global(store), now=NOW)
        assert global_job(store).last_outcome == "released"
        claimed_global(store)


def test_a_clock_that_was_ahead_blocks_nothing_afterwards(home: Home) -> None:
    ahead = NOW + 400 * DAY
    with home.open() as store:
        finish(store, now=ahead)
        assert outcome(store) is ClaimOutcome.CLAIMED
    with Home(home.path.parent / "failed").create().open() as store:
        store.fail_global(claimed_global(store, now=ahead), reason="no", now=ahead)
        assert outcome(store) is ClaimOutcome.CLAIMED
    with Home(home.path.parent / "leased").create().open() as store:
        claimed_global(store, owner=ABROAD, now=ahead)
        assert outcome(store) is ClaimOutcome.CLAIMED


def test_success_watermark_flags_and_receipt_are_one_transaction(home: Home) -> None:
    with home.open() as store:
        extracted(store, "a", 100)
        claim = claimed_global(store)
        rows = (SelectedRow(thread_id="a", source_updated_at=100),)
        home.sql("CREATE TRIGGER broken BEFORE INSERT ON operations BEGIN SELECT RAISE(ABORT, 'no'); END")
        with pytest.raises(Exception, match="no"):
            store.finish_global(claim, watermark=100, rows=rows, receipt=a_receipt(), now=NOW)
        assert store.owns_global(claim)
        assert store.watermark() == 0
        assert store.selected_rows() == ()
        home.sql("DROP TRIGGER broken")
        receipt = store.finish_global(claim, watermark=100, rows=rows, receipt=a_receipt(), now=NOW)
        assert (receipt.operation_number, receipt.watermark_before, receipt.watermark_after) == (1, 0, 100)
        assert store.receipts() == (receipt,)
        assert store.watermark() == 100


def test_the_watermark_of_known_fault_b72(home: Home) -> None:
    with home.open() as store:
        store.enqueue_global(100)
        finish(store, rows=tuple(SelectedRow(thread_id=t, source_updated_at=s) for t, s in (("a", 90), ("b", 95))))
        assert store.watermark() == 100
        store.enqueue_global(120)
        store.fail_global(claimed_global(store, now=NOW + COOLDOWN), reason="no", now=NOW + COOLDOWN)
        assert store.watermark() == 100
        finish(store, now=NOW + COOLDOWN + HOUR)
        assert store.watermark() == 120


STEPS = st.lists(
    st.tuples(st.sampled_from(["enqueue", "finish", "fail", "release", "crash"]), st.integers(0, 1000)), max_size=12
)


@settings(max_examples=15, deadline=None)
@given(steps=STEPS)
@example(steps=[("finish", 1000), ("finish", 0)])
def test_the_watermark_never_falls_whatever_happens_between_the_steps(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    home = Home(tmp_path_factory.mktemp("watermark") / "home").create()
    now, last = NOW, 0
    with home.open() as store:
        for step, value in steps:
            now += 7 * HOUR
            if step == "enqueue":
                store.enqueue_global(value)
            else:
                claim = claimed_global(store, now=now)
                if step == "finish":
                    store.finish_global(claim, watermark=value, rows=(), receipt=a_receipt(f"{now}"), now=now)
                    assert store.watermark() >= max(value, claim.source_updated_at)
                elif step == "fail":
                    store.fail_global(claim, reason="", now=now)
                elif step == "release":
                    store.release_global(claim, now=now)
            assert store.watermark() >= last
            last = store.watermark()
