"""Figures of Phase 1: cost of the built-in rules, and a hundred rollouts against a server with 200 ms latency.

The floor is the same work without us: bare `asyncio` sleeps of the same length at the same cap. The server is a process
of its own. CPU time does not depend on what else the machine does as much as wall time; it is that of this process
(event loop, store, client) and, apart from it, of the worker processes (reading and redaction).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from ltmem_gui.bootstrap import Composition
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.llm.builtin.extraction import extract_builtin
from ltmem_gui.llm.openai_api import OpenAIExtractor
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from tests.helpers.extraction_cases import items_of_turns, load_cases, request_of
from tests.helpers.model_process import model_process
from tests.helpers.sessions import DAY, write_codex

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


async def floor(count: int) -> float:
    """Return how long bare sleeps take at the same cap."""
    slots = asyncio.Semaphore(CAP)

    async def one() -> None:
        async with slots:
            await asyncio.sleep(LATENCY)

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return time.perf_counter() - started


def test_a_hundred_rollouts_at_a_cap_of_eight(capsys: pytest.CaptureFixture[str]) -> None:
    requests = [rollout_of(BYTES, n) for n in range(ROLLOUTS)]

    async def ours(extractor: OpenAIExtractor) -> tuple[float, float]:
        slots = asyncio.Semaphore(CAP)

        async def one(request) -> None:
            async with slots:
                await extractor.extract(request)

        await extractor.models()  # the client's import and build are paid once, before a run
        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one(request) for request in requests))
        took = time.perf_counter() - started, time.process_time() - cpu
        await extractor.close()
        return took

    bare = asyncio.run(floor(ROLLOUTS))
    with model_process(LATENCY) as server:
        provider = ProviderSettings(name="custom", base_url=server.url, model="m")
        wall, cpu = asyncio.run(ours(OpenAIExtractor(provider, key="none")))
    report(capsys, wall_s=wall, floor_s=bare, client_cpu_ms=cpu / ROLLOUTS * 1000)
    assert server.seen["most_in_flight"] <= CAP
    assert wall <= 3.3


def lay(folder: Path, first: int, count: int) -> Path:
    """Write sessions of 16 KiB text each."""
    line = "2026-02-11 12:00:33 INFO app.billing: ledger 4711 done in 12 ms\n" * 12
    for number in range(first, first + count):
        turns = [("user", f"Fix the flaky test {number} in the billing module.")]
        while sum(len(text) for _, text in turns) < BYTES:
            turns.append(("assistant", f"The failure was rounding; I changed it to integer cents.\n{line}"))
            turns.append(("user", f"We store money as integer cents everywhere, never floats.\n{line}"))
        write_codex(folder, turns, number=number, at=int(time.time()) - 3 * DAY - number)
    return folder


def worker_cpu(composition: Composition) -> float:
    """Return the CPU seconds of the worker processes so far."""
    running = getattr(composition.offload._processes, "_processes", None) or {}
    ticks = 0
    for process in running.values():
        fields = Path(f"/proc/{process.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_a_whole_run_of_a_hundred(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scan, plan, approve and run with real workers, store and client; the second run is the one that counts."""
    keyring.set_keyring(NoKeyring())
    composition = Composition(tmp_path / "data", eager_workers=True)
    operations = Operations(composition)

    async def once(folder: Path, url: str) -> tuple[float, float, float]:
        settings = Settings(
            max_rollout_age_days=3_650,
            min_rollout_idle_hours=0,
            max_rollouts_per_run=ROLLOUTS,
            provider_url=url,
            extract_model="m",
        )
        request = Request(
            home=tmp_path / "data",
            memory_root=tmp_path / "memory",
            sources=(SourceSpec("codex", str(folder)),),
            settings=settings,
            provider="custom",
        )
        plan = await operations.plan_extract(request, cancel=CancelToken(), listen=ignore)
        grant = await operations.approve(plan, all_accepted(plan), approver="bench", surface="command line")
        wall, cpu, workers = time.perf_counter(), time.process_time(), worker_cpu(composition)
        receipt = await operations.apply(grant, cancel=CancelToken(), listen=ignore)
        assert set(receipt.counts) == {"succeeded"}
        return time.perf_counter() - wall, time.process_time() - cpu, worker_cpu(composition) - workers

    async def both(url: str) -> tuple[float, float, float]:
        await once(lay(tmp_path / "warm", ROLLOUTS, 16), url)
        return await once(lay(tmp_path / "all", 0, ROLLOUTS), url)

    bare = asyncio.run(floor(ROLLOUTS))
    try:
        with model_process(LATENCY) as server:
            wall, cpu, workers = asyncio.run(both(server.url))
    finally:
        composition.close()
    own, work = cpu / ROLLOUTS * 1000, workers / ROLLOUTS * 1000
    report(capsys, run_wall_s=wall, floor_s=bare, own_cpu_ms=own, worker_cpu_ms=work)
    assert server.seen["most_in_flight"] <= CAP
    assert wall <= 3.3
    assert own <= 8.0
