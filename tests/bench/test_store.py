"""Figures of the store beside plain sqlite3 in the same run, and the large races (`pytest -m bench tests/bench`)."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ltmem_gui.domain.effects import PlannedJob
from ltmem_gui.domain.jobs import ClaimOutcome
from ltmem_gui.domain.selection import select
from ltmem_gui.store import jobs as store_jobs
from ltmem_gui.store.opening import SqliteStores
from tests.helpers.racers import Racer, race, racers
from tests.helpers.stores import CAP, HOUR, ME, NOW, Home, a_job

pytestmark = pytest.mark.bench

CLAIMED = ClaimOutcome.CLAIMED.value
CLAIMS = 4_000
ROUNDS = 5


@pytest.fixture(scope="module")
def crowd() -> Iterator[list[Racer]]:
    with racers(8) as found:
        yield found


def _ours(home: Home, jobs: list[PlannedJob]) -> None:
    with home.open() as store:
        for number, job in enumerate(jobs):
            # each claim is two leases later than the one before, so that the cap never holds it back
            assert store.claim_stage1(job, ME, now=NOW + 2 * HOUR * number, cap=CAP).claim is not None


def _batched(home: Home, jobs: list[PlannedJob]) -> None:
    with home.open() as store:
        for number in range(0, len(jobs), CAP):
            store.claim_stage1_batch(jobs[number : number + CAP], ME, now=NOW + 2 * HOUR * number, cap=CAP)


def _plain(home: Home, jobs: list[PlannedJob]) -> None:
    """The same statements by hand: what SQLite itself costs."""
    with closing(sqlite3.connect(home.database, isolation_level=None)) as connection:
        for pragma in ("journal_mode = wal", "synchronous = normal", "secure_delete = on"):
            connection.execute(f"PRAGMA {pragma}")
        for number, job in enumerate(jobs):
            now = NOW + 2 * HOUR * number
            key = job.thread_id
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(store_jobs.LOOK, (now, now + 3_900, key, CAP, key)).fetchall()
            token = str(uuid.uuid4())
            row = (key, str(ME), token, now, now + HOUR, 3, 100, "codex", "/p", job.path, "main", job.title, 0, 1)
            connection.execute(store_jobs.TAKE, row).fetchall()
            connection.execute(
                "INSERT INTO attempts (kind, job_key, number, owner, started_at) VALUES (?, ?, ?, ?, ?)",
                ("memory_stage1", key, 1, str(ME), now),
            )
            connection.execute("COMMIT")


def _rate(work: Callable[[Home, list[PlannedJob]], None], folder: Path, jobs: list[PlannedJob]) -> float:
    home = Home(folder).create()
    started = time.perf_counter()
    work(home, jobs)
    return len(jobs) / (time.perf_counter() - started)


def test_claims_are_at_least_0_8_of_plain_sqlite3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [a_job(f"t{n:06}", 100) for n in range(CLAIMS)]
    ratios: list[float] = []
    rates: dict[str, list[float]] = {"plain": [], "ours": [], "batch of 8": []}
    for round_ in range(ROUNDS):
        plain = _rate(_plain, tmp_path / f"plain-{round_}", jobs)
        ours = _rate(_ours, tmp_path / f"ours-{round_}", jobs)
        rates["plain"].append(plain)
        rates["ours"].append(ours)
        rates["batch of 8"].append(_rate(_batched, tmp_path / f"batch-{round_}", jobs))
        ratios.append(ours / plain)
    with capsys.disabled():
        print("\nclaims/s " + "; ".join(f"{name} {statistics.median(r):,.0f}" for name, r in rates.items()))
        print(f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    assert statistics.median(ratios) >= 0.8


def test_500_races_of_2_to_8_processes_never_have_two_holders(
    tmp_path: Path, crowd: list[Racer], capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(8)
    home = Home(tmp_path / "home").create()
    for number in range(500):
        entrants = crowd[: chance.randint(2, 8)]
        # each race begins when the lease of the one before is over
        answers = race(entrants, do="global", home=str(home.path), now=NOW + number * HOUR)
        assert [a["outcome"] for a in answers].count(CLAIMED) == 1
    with SqliteStores().reading(home.path) as store:
        assert len(store.jobs()[0].attempts) == 500
    with capsys.disabled():
        print("\n500 races of 2-8 processes for the global lock: 0 with two holders")


def test_100_000_jobs_and_8_processes_have_no_double_claim(
    tmp_path: Path, crowd: list[Racer], capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "home").create()
    count = 100_000
    started = time.perf_counter()
    answers = race(crowd, do="work", home=str(home.path), count=count, cap=CAP, spread=True, of=8)
    took = time.perf_counter() - started
    claimed = [answer["claimed"] for answer in answers]
    assert sum(claimed) == count
    doubles = home.sql("SELECT count(*) FROM (SELECT 1 FROM attempts GROUP BY kind, job_key HAVING count(*) > 1)")
    assert doubles == [(0,)]
    assert home.sql("SELECT count(*) FROM stage1_outputs") == [(count,)]
    with capsys.disabled():
        print(f"\n100,000 jobs claimed and finished by 8 processes in {took:.0f} s: {doubles[0][0]} double claims")
        print(f"by process: {min(claimed)} to {max(claimed)}")


def test_reading_100_000_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path / "home").create()
    with closing(sqlite3.connect(home.database)) as connection:
        connection.executemany(
            "INSERT INTO stage1_outputs (thread_id, source_updated_at, raw_memory, rollout_summary, generated_at)"
            " VALUES (?, ?, ?, 's', ?)",
            ((f"t{n:06}", NOW - n, "m" * 500, NOW - n) for n in range(100_000)),
        )
        connection.executemany(
            "INSERT INTO jobs (kind, job_key, status, retry_remaining) VALUES ('memory_stage1', ?, 'done', 3)",
            ((f"t{n:06}",) for n in range(100_000)),
        )
        connection.commit()
    with home.stores.reading(home.path) as store:
        for name, read in (("outputs", store.outputs), ("jobs", store.jobs)):
            started = time.perf_counter()
            rows = read()
            with capsys.disabled():
                print(f"\n{name}: {len(rows):,} rows in {(time.perf_counter() - started) * 1000:.0f} ms", end="")
        rows = store.outputs()
        started = time.perf_counter()
        chosen = select(rows, now=NOW, limit=256, max_unused_days=30)
        with capsys.disabled():
            print(f"\nselection of {len(chosen)} of them: {(time.perf_counter() - started) * 1000:.0f} ms")
        started = time.perf_counter()
        store.prunable(NOW, 30, 200)
        with capsys.disabled():
            print(f"prunable: {(time.perf_counter() - started) * 1000:.0f} ms")


def test_opening(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path / "home").create()
    with home.open() as store:
        for number in range(2_000):
            store.claim_stage1(a_job(f"t{number}"), ME, now=NOW, cap=10_000)
    for name, opened in (("writing", home.stores.writing), ("reading", home.stores.reading)):
        started = time.perf_counter()
        for _ in range(20):
            with opened(home.path) as store:
                store.watermark()
        with capsys.disabled():
            print(f"\n{name}: {(time.perf_counter() - started) / 20 * 1000:.1f} ms an opening", end="")
