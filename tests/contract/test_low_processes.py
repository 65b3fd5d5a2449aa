"""Worker processes run at low priority from their first instruction, and the program itself never does."""

from __future__ import annotations

import asyncio
import os
import sys
import threading

import pytest

from ltmem_gui import low_processes
from ltmem_gui.low_processes import NICE, lower_this
from ltmem_gui.workers import Workers


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def test_a_worker_is_low_and_no_thread_of_the_program_is() -> None:
    before = priority()

    async def ask(workers: Workers) -> int:
        return await workers.cpu(os.getpriority, os.PRIO_PROCESS, 0)

    workers = Workers(eager=True)
    try:
        workers.start()
        assert asyncio.run(ask(workers)) == min(19, before + NICE)
        if sys.platform == "linux":
            ids = [thread.native_id for thread in threading.enumerate() if thread.native_id is not None]
            assert {os.getpriority(os.PRIO_PROCESS, id_) for id_ in ids} == {before}
    finally:
        workers.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process lowers itself")
def test_it_is_the_thread_that_starts_it_which_is_low(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[int] = []
    monkeypatch.setattr(os, "nice", lowered.append)
    lower_this()
    assert not lowered
    before = priority()
    assert lowered_from(before) == min(before + NICE, 19)
    assert priority() == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process lowers itself")
def test_a_program_that_was_started_low_asks_for_no_priority_back() -> None:
    """Only root may have it back: anybody else could start no worker."""
    assert lowered_from(15) == 19


def test_elsewhere_a_worker_lowers_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[int] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "nice", lowered.append)
    lower_this()
    assert lowered == [NICE]
    assert not isinstance(low_processes.worker_context(), low_processes.LowContext)


def lowered_from(start: int) -> int:
    """Return the priority that a thread of `start` gives itself."""
    found: list[int] = []

    def lower() -> None:
        me = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, me, start)
        low_processes._lower_thread()
        found.append(os.getpriority(os.PRIO_PROCESS, me))

    thread = threading.Thread(target=lower)
    thread.start()
    thread.join()
    return found[0]
