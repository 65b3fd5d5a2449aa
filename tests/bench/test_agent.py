"""What the consolidation agent costs beside the model, and how soon it stops."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentCall, AgentStep
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.llm.connection import build_client
from ltmem_gui.pipeline.agent_tools import Toolbox
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.workspace.staging import staged_copy
from tests.helpers.agents import agent_server, consolidated, do, plan_with
from tests.helpers.bench import Bench
from tests.helpers.model_server import ModelServer

pytestmark = pytest.mark.bench

STEPS = 20
LATENCY = 0.2


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    build_client(ProviderSettings(name="custom", base_url="http://127.0.0.1:9/v1", model="m"), "k")
    return consolidated(tmp_path)


def run(bench: Bench, server: ModelServer, cancel: CancelToken, listen: Any) -> float:
    """Return how long a confirmed run took, in seconds."""
    plan = plan_with(bench, server)

    async def work() -> None:
        grant = await bench.grant(plan)
        await Operations(bench).consolidate(grant, cancel=cancel, listen=listen)

    began = time.perf_counter()
    asyncio.run(work())
    return time.perf_counter() - began


def test_twenty_steps_at_two_hundred_milliseconds(bench: Bench) -> None:
    stamps: list[float] = []

    def listen(event: object) -> None:
        if isinstance(event, AgentStep):
            stamps.append(time.thread_time())

    moves = [[do("read", path="raw_memories.md"), do("search", queries=["pnpm"])] for _ in range(STEPS - 1)]
    with agent_server(*moves, latency=LATENCY) as server:
        took = run(bench, server, CancelToken(), listen)
    own = (stamps[-1] - stamps[0]) / (STEPS - 1) * 1000
    print(f"{STEPS} steps took {took:.2f} s; {own:.1f} ms of CPU a step")
    assert took <= STEPS * LATENCY + 1.0
    assert own <= 10.0


def test_a_hundred_thousand_files_are_refused() -> None:
    began = time.process_time()
    with staged_copy({"MEMORY.md": b"x"}, max_bytes=1 << 20, max_files=10_000) as copy:
        box = Toolbox(copy)
        for number in range(100_000):
            box.call(AgentCall("c", "write", f'{{"path": "skills/s/{number}.md", "content": "x"}}'))
        assert box.refusals == {"count": 100_000 - 9_999}
    print(f"100,000 writes, 90,001 of them refused: {time.process_time() - began:.1f} s of CPU")


def test_cancel_takes_effect_within_a_second(bench: Bench) -> None:
    cancel = CancelToken()
    asked: list[float] = []

    def listen(event: object) -> None:
        if isinstance(event, AgentStep) and event.number == 2:

            def stop() -> None:
                asked.append(time.perf_counter())
                cancel.cancel()

            asyncio.get_running_loop().call_later(0.1, stop)

    with agent_server(*[[do("list")] for _ in range(30)], latency=0.5) as server, pytest.raises(Cancelled):
        run(bench, server, cancel, listen)
    took = time.perf_counter() - asked[0]
    print(f"cancel took effect after {took * 1000:.0f} ms")
    assert took <= 1.0
