"""How tests wait: for a condition, with one patience; how fast the machine is decides nothing."""

from __future__ import annotations

import asyncio
import re
from itertools import count
from pathlib import Path

import pytest

from tests.helpers import waiting
from tests.helpers.waiting import until, wait_for

TESTS = Path(__file__).resolve().parents[1]
BANNED = {
    r"\blatency ?=": "hold the server with `holds` or `hold()`: what a latency leaves time for, a slow machine misses",
    r"\bqtbot\.wait\(|\bqWait\(": "wait for a condition",
    r"\bwait(Until|Signal|Signals|Active|Exposed)\((?!.*PATIENCE_MS)": "give it `timeout=PATIENCE_MS`",
    r"\bqWaitForWindow\w+\((?!.*PATIENCE_MS)": "give it PATIENCE_MS",
    r"\.(wait|join)\((timeout=)?[\d.]": "give it PATIENCE_SECONDS",
    r"\btimeout\(\d|\bwait_for\(.*, \d+\)$": "give it PATIENCE_SECONDS",
}


def problems(text: str) -> list[str]:
    return [remedy for pattern, remedy in BANNED.items() if re.search(pattern, text)]


def test_no_test_of_the_normal_run_waits_for_a_time() -> None:
    files = [path for path in sorted(TESTS.rglob("*.py")) if path.parts[-2] not in ("bench", "helpers")]
    assert len(files) > 100
    found = [
        f"{path.relative_to(TESTS)}:{number}: {remedy}"
        for path in files
        if path.name != "test_waiting.py"
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1)
        for remedy in problems(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "with model_server(latency=0.1) as server:",
        "server.latency = 1.5",
        "qtbot.waitUntil(sheet.isActiveWindow)",
        "QTest.qWaitForWindowActive(view)",
        "qtbot.wait(60)",
        "assert begun.wait(5)",
        "async with asyncio.timeout(1.0):",
        "await asyncio.wait_for(work, 10)",
    ],
)
def test_the_look_sees_what_it_must(line: str) -> None:
    assert problems(line)


def test_what_comes_is_waited_for() -> None:
    looks = count()
    wait_for(lambda: next(looks) > 3)
    asyncio.run(until(lambda: next(looks) > 8))
    assert next(looks) == 10


def test_what_never_comes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(AssertionError, match="still not: the bus"):
        wait_for(lambda: False, "the bus")
    with pytest.raises(AssertionError, match="still not: the train"):
        asyncio.run(until(lambda: False, "the train"))
