"""Leases under real processes: never two holders, nothing lost to kill -9."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ltmem_gui.domain.jobs import ClaimOutcome, JobOutcome, JobStatus
from ltmem_gui.store.liveness import this_process
from ltmem_gui.store.opening import SqliteStores
from tests.helpers.racers import Racer, race, racers
from tests.helpers.stores import HOUR, NOW, Home, a_job
from tests.helpers.waiting import wait_for

RACES = 60
CLAIMED = ClaimOutcome.CLAIMED.value


@pytest.fixture(scope="module")
def crowd() -> Iterator[list[Racer]]:
    with racers(5) as found:
        yield found


def winners(answers: list[dict[str, object]]) -> list[dict[str, object]]:
    assert all(answers), "a process died"
    return [answer for answer in answers if answer["outcome"] == CLAIMED]


def test_03_04_15_18_of_racing_processes_one_wins(tmp_path: Path, crowd: list[Racer]) -> None:
    """Races for the global lock and for one thread: free, expired, on a new folder, and for one slot."""
    chance = random.Random(4)
    for number in range(RACES // 4):
        home = Home(tmp_path / f"home-{number}")
        home.path.mkdir()
        entrants = crowd[: chance.randint(2, len(crowd))]
        # the database is created in the same race
        free = winners(race(entrants, do="global", home=str(home.path), now=NOW))
        assert len(free) == 1
        assert free[0]["owns"] is True
        taken = winners(race(entrants, do="global", home=str(home.path), now=NOW + HOUR))
        assert len(taken) == 1
        assert taken[0]["token"] != free[0]["token"]
        one = race(entrants, do="stage1", home=str(home.path), now=NOW, cap=8, threads=["t"])
        assert len(winners(one)) == 1
        assert {a["outcome"] for a in one} == {CLAIMED, ClaimOutcome.RUNNING.value}
        slot = race(entrants, do="stage1", home=str(home.path), now=NOW, cap=2, threads=["a", "b", "c"])
        assert len(winners(slot)) == 1, "the lease of t and one more fill two slots"


def test_a_dead_holder_is_taken_over_by_one(tmp_path: Path, crowd: list[Racer]) -> None:
    for number in range(2):
        home = Home(tmp_path / f"home-{number}").create()
        with racers(1) as victims:
            assert race(victims, do="global", home=str(home.path), now=NOW)[0]["outcome"] == CLAIMED
            late = race(victims, do="stage1", home=str(home.path), now=NOW, cap=8, threads=["t"])
            assert late[0]["outcome"] == CLAIMED
            busy = race(crowd, do="global", home=str(home.path), now=NOW)
            assert winners(busy) == []
            victims[0].kill()
            # not waited for: the dead process is a zombie now
            wait_for(lambda: not still_runs(victims[0].process.pid), "the death of the holder")
            assert len(winners(race(crowd, do="global", home=str(home.path), now=NOW))) == 1
            assert len(winners(race(crowd, do="stage1", home=str(home.path), now=NOW, cap=1, threads=["t"]))) == 1
        with SqliteStores().reading(home.path) as store:
            for job in store.jobs():
                assert [a.outcome for a in job.attempts] == [JobOutcome.CRASHED.value, ""]


def still_runs(pid: int) -> bool:
    return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_receipts_of_racing_processes_are_numbered_without_gap_and_chained(tmp_path: Path, crowd: list[Racer]) -> None:
    home = Home(tmp_path / "home").create()
    numbers = [
        answer["receipt"]
        for round_ in range(4)
        for answer in race(crowd, do="finish", home=str(home.path), now=NOW + round_)
        if answer["receipt"] is not None
    ]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    with SqliteStores().reading(home.path) as store:
        assert [r.operation_number for r in store.receipts()] == sorted(numbers)
        assert store.verify_log() is None


def test_no_job_is_claimed_twice_by_competing_processes(tmp_path: Path, crowd: list[Racer]) -> None:
    home = Home(tmp_path / "home").create()
    count = 300
    answers = race(crowd, do="work", home=str(home.path), count=count, cap=8)
    assert sum(answer["claimed"] for answer in answers) == count
    with SqliteStores().reading(home.path) as store:
        jobs = [job for job in store.jobs() if job.kind == "memory_stage1"]
        assert len(jobs) == len(store.outputs()) == count
        assert {len(job.attempts) for job in jobs} == {1}


def test_kill_9_at_random_loses_no_job_and_no_output(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    count, chance, killed = 120, random.Random(9), 0
    order = {"do": "work", "home": str(home.path), "count": count, "cap": 8, "pause": 0.004, "spread": True, "of": 4}
    with racers(4) as found:
        for number, racer in enumerate(found):
            racer.order(number=number, **order)
        for number in range(3):
            time.sleep(chance.uniform(0.05, 0.12))
            found[number].kill()
            killed += 1
        assert found[3].answer()
        for racer in found[:3]:
            racer.process.wait()
    with SqliteStores().writing(home.path) as store:
        store.reap_stage1(NOW)
        for job in store.jobs():
            if job.kind == "memory_stage1" and job.status is not JobStatus.DONE:
                assert store.claim_stage1(a_job(job.job_key, 100), this_process("t"), now=NOW, cap=8).claim is not None
        done = {job.job_key for job in store.jobs() if job.status is JobStatus.DONE}
        assert done == {row.thread_id for row in store.outputs()}
        assert len([job for job in store.jobs() if job.kind == "memory_stage1"]) == count
        outcomes = Counter(a.outcome for job in store.jobs() for a in job.attempts)
        assert outcomes["succeeded"] == len(done)
        assert outcomes["crashed"] <= killed
        assert store.verify_log() is None
