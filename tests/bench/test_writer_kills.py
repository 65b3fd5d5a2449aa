"""A thousand random kills over applies and recoveries, and five hundred races for one root."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from ltmem_gui.domain.errors import LockBusy
from ltmem_gui.workspace.locking import RootLocks
from tests.contract.test_writer_killed import rounds_of_kills
from tests.helpers.git_workspace import clock, this_owner
from tests.helpers.git_world import World

KILLS = int(os.environ.get("LTMEM_KILLS", "1000"))
RACES = 500


@pytest.mark.bench
@pytest.mark.slow
def test_a_thousand_random_kills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if "bench" not in str(request.config.option.markexpr):
        pytest.skip("minutes long: pytest -m bench tests/bench")
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    world = World.settled(tmp_path)
    totals: Counter[str] = Counter()
    seed = 0
    while totals["killed"] < KILLS:
        totals += rounds_of_kills(world, rounds=50, seed=seed)
        seed += 1
    with capsys.disabled():
        print(f"\n{dict(totals)}")


@pytest.mark.bench
@pytest.mark.slow
def test_five_hundred_races_for_one_root(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if "bench" not in str(request.config.option.markexpr):
        pytest.skip("minutes long: pytest -m bench tests/bench")
    chance = random.Random(3)
    inside = tmp_path / "inside"

    def contend(start: int) -> None:
        os.read(start, 1)  # comes to its end for all at once, when the parent closes its side
        try:
            with RootLocks(clock, tmp_path / "state").acquire(tmp_path / "memories", this_owner()):
                inside.mkdir()  # fails when somebody is inside
                time.sleep(0.001)
                inside.rmdir()
        except LockBusy:
            os._exit(3)

    for _ in range(RACES):
        start, gun = os.pipe()
        children: list[int] = []
        for _ in range(chance.randint(2, 8)):
            child = os.fork()
            if child == 0:
                os.close(gun)
                try:
                    contend(start)
                except BaseException:  # noqa: BLE001 - the child must never return into the test
                    os._exit(1)
                os._exit(0)
            children.append(child)
        os.close(gun)
        os.close(start)
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert 1 not in ends
        assert 0 in ends
