"""A thousand random kills over applies and recoveries: no mixture, no lost receipt, no watermark that falls."""

from __future__ import annotations

import os
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
    totals: dict[str, int] = {}
    seed = 0
    while totals.get("killed", 0) < KILLS:
        for name, count in rounds_of_kills(world, rounds=50, seed=seed).items():
            totals[name] = totals.get(name, 0) + count
        seed += 1
    with capsys.disabled():
        print(f"\n{totals}")
