"""Figures of Phase 1: cost of the built-in rules, and a hundred rollouts against a server with 200 ms latency.

The floor is the same work without us: bare `asyncio` sleeps of the same length at the same cap.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.llm.builtin.extraction import extract_builtin
from ltmem_gui.llm.openai_api import OpenAIExtractor
from tests.helpers.extraction_cases import items_of_turns, load_cases, request_of
from tests.helpers.model_server import MEMORY, model_server

pytestmark = pytest.mark.bench

CAP = 8
ROLLOUTS = 100
BYTES = 16 * 1024
LATENCY = 0.2
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "extraction"


def rollout_of(size: int, number: int = 0):
    """Make a session of about `size` bytes: tool output mostly, some talk."""
    turns: list[list[object]] = [["user", f"Fix the flaky test {number} in the billing module."]]
    line = "2026-02-11 12:00:33 INFO app.billing: ledger 4711 done in 12 ms\n"
    while sum(len(str(turn)) for turn in turns) < size:
        turns.append(["run", f"pytest tests/billing -k case_{len(turns)}", line * 30, 0])
        turns.append(["assistant", "The failure was rounding; I changed it to integer cents and all tests pass now."])
        turns.append(["user", "We store money as integer cents everywhere, never floats. And keep the old name."])
    return request_of(items_of_turns(turns))


def report(capsys: pytest.CaptureFixture[str], **figures: float) -> None:
    with capsys.disabled():
        print("\n" + json.dumps({name: round(value, 3) for name, value in figures.items()}))


def test_the_built_in_rules_cost_at_most_eight_milliseconds(capsys: pytest.CaptureFixture[str]) -> None:
    corpora = [case.request for path in sorted(FIXTURES.glob("*.jsonl")) for case in load_cases(path)]
    requests = corpora + [rollout_of(BYTES, n) for n in range(40)]
    for request in requests[:20]:
        extract_builtin(request)
    started = time.process_time()
    for request in requests:
        extract_builtin(request)
    each = (time.process_time() - started) / len(requests) * 1000
    report(capsys, builtin_ms=each)
    assert each <= 8.0


def test_a_hundred_rollouts_at_a_cap_of_eight(capsys: pytest.CaptureFixture[str]) -> None:
    requests = [rollout_of(BYTES, n) for n in range(ROLLOUTS)]

    async def floor() -> float:
        slots = asyncio.Semaphore(CAP)

        async def one() -> None:
            async with slots:
                await asyncio.sleep(LATENCY)

        started = time.perf_counter()
        await asyncio.gather(*(one() for _ in requests))
        return time.perf_counter() - started

    async def ours(extractor: OpenAIExtractor) -> tuple[float, float]:
        slots = asyncio.Semaphore(CAP)

        async def one(request) -> None:
            async with slots:
                await extractor.extract(request)

        await extractor.models()  # the client's import and build are paid once, before a run
        started, cpu = time.perf_counter(), time.thread_time()
        await asyncio.gather(*(one(request) for request in requests))
        took = time.perf_counter() - started, time.thread_time() - cpu
        await extractor.close()
        return took

    bare = asyncio.run(floor())
    with model_server(latency=LATENCY, answer=lambda _: json.dumps(MEMORY)) as server:
        provider = ProviderSettings(name="custom", base_url=server.url, model="m")
        wall, cpu = asyncio.run(ours(OpenAIExtractor(provider)))
    report(capsys, wall_s=wall, floor_s=bare, own_cpu_ms=cpu / ROLLOUTS * 1000)
    assert server.most_in_flight <= CAP
    assert wall <= 3.3
