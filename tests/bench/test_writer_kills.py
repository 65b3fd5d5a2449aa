"""A thousand random kills over applies and recoveries: no mixture, no lost receipt, no watermark that falls."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.contract.test_writer_killed import rounds_of_kills
from tests.helpers.git_world import World

KILLS = int(os.environ.get("LTMEM_KILLS", "1000"))


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
