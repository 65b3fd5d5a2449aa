"""Whole runs against the fence: links swapped in, a server that goes away, floods; and what a run may open at all."""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentCall, AgentFailed, ToolOutcome
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled, InputError, LockBusy, ProviderError
from ltmem_gui.pipeline.agent_run import run_consolidation
from ltmem_gui.pipeline.agent_tools import Toolbox
from tests.contract.test_agent_faults import fenced, job_of, unchanged
from tests.helpers.agents import (
    agent_server,
    all_answers,
    answers,
    consolidated,
    copied,
    do,
    plan_with,
    run_with,
    whole_run,
)
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.model_server import Recorded, ToolCall
from tests.helpers.waiting import PATIENCE_SECONDS, until

CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto")
STARTS = (
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile",
    "pty.spawn",
)  # fmt: skip


class Seen:
    """What was connected to and started while it is on; an audit hook stays for good, so there is one."""

    def __init__(self) -> None:
        self.on = False
        self.events: list[tuple[str, Any]] = []
        self.writes: Guard | None = None
        sys.addaudithook(self._see)

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        if self.on and event in (*CONNECTS, *STARTS):
            self.events.append((event, args))
        if self.on and self.writes is not None:
            self.writes.see(event, args)

    @contextmanager
    def watch(self, *writable: Path) -> Iterator[None]:
        """Record what is connected to and started, and what is changed outside of `writable`."""
        self.events.clear()
        self.writes = Guard(allowed=(*map(str, writable), "/dev", "/proc")) if writable else None
        self.on = True
        try:
            yield
        finally:
            self.on = False

    @property
    def programs(self) -> set[str]:
        return {Path(str(args[0])).name for event, args in self.events if event in STARTS}

    def hosts(self) -> set[tuple[str, int]]:
        """Return what was looked up or connected to, over the network."""
        found: set[tuple[str, int]] = set()
        for event, args in self.events:
            if event == "socket.getaddrinfo":
                found.add((str(args[0]), int(args[1])))
            elif event in CONNECTS and isinstance(args[1], tuple):
                found.add((str(args[1][0]), int(args[1][1])))
        return found


SEEN = Seen()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return consolidated(tmp_path_factory.mktemp("fence"))


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose folder the built-in rules wrote; staged copies are made below a folder of the test's own."""
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    (tmp_path / "staging").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "staging"))
    return bench


def staged(bench: Bench) -> Path:
    """Return the one staged copy there is at the moment."""
    (found,) = (bench.place / "staging").glob("ltmem-agent-*")
    return found / "copy"


def nothing_left(bench: Bench) -> bool:
    return list((bench.place / "staging").iterdir()) == []


def test_links_swapped_into_a_run_lead_nowhere(bench: Bench) -> None:
    outside = bench.place / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("outside\n")

    def swap(request: Recorded) -> list[ToolCall]:
        assert "done" in answers(request)[0]
        copy = staged(bench)
        (copy / "skills" / "s").rename(copy / "skills" / "kept")
        (copy / "skills" / "s").symlink_to(outside)
        (copy / "MEMORY.md").rename(copy / "old.md")
        (copy / "MEMORY.md").symlink_to(outside / "SKILL.md")
        return [
            do("read", path="skills/s/SKILL.md"),
            do("write", path="skills/s/SKILL.md", content="escaped\n"),
            do("write", path="skills/s/new.md", content="escaped\n"),
            do("edit", path="MEMORY.md", old_text="outside", new_text="escaped"),
            do("delete", path="skills/s/SKILL.md"),
            do("list", path="skills/s"),
            do("search", queries=["outside"]),
        ]

    def put_back(request: Recorded) -> list[ToolCall]:
        del request
        copy = staged(bench)
        (copy / "MEMORY.md").unlink()
        (copy / "old.md").rename(copy / "MEMORY.md")
        return [do("read", path="MEMORY.md")]

    with agent_server([do("write", path="skills/s/SKILL.md", content="mine\n")], swap, put_back, "Done.") as server:
        done = run_with(bench, plan_with(bench, server))
        given = all_answers(server)
    assert done.transcript is not None
    assert [action.outcome for action in done.transcript.actions[1:8]] == [ToolOutcome.REFUSED] * 6 + [ToolOutcome.DONE]
    assert done.transcript.refusals == {"symlink": 6}
    assert given[7]["matches"] == []
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("SKILL.md", "outside\n")]
    assert done.proposal is not None
    assert not [change.path for change in done.proposal.changes if change.path.startswith("skills/s/")]
    assert "outside" not in done.proposal.model_dump_json().replace(str(bench.place), "")
    assert nothing_left(bench)


def test_a_server_that_goes_away_in_the_middle(bench: Bench) -> None:
    with agent_server() as server:

        def leave(request: Recorded) -> str:
            del request
            server.stop()
            return "never said"

        server.answer.moves += [[do("list")], [do("write", path="MEMORY.md", content="half\n")], leave]  # type: ignore[attr-defined]
        plan = plan_with(bench, server)
        with unchanged(bench), pytest.raises(ProviderError, match="connection"):
            run_with(bench, plan)
        assert len(server.posts) == 3
    job = job_of(bench)
    assert (job.status, job.retry_at, job.attempts[-1].outcome) == ("error", bench.now + 3_600, "failed")
    assert "connection" in job.last_error
    with pytest.raises(LockBusy, match="waiting after a failure"):
        run_with(bench, plan)
    assert nothing_left(bench)


def test_a_run_of_floods_is_refused_and_goes_on(bench: Bench) -> None:
    """Ten gigabytes by one edit, too much in all, too many files."""
    moves: list[Any] = [
        [do("write", path="skills/s/a.md", content="x" * 1_000_000)],
        [do("edit", path="skills/s/a.md", old_text="x", new_text="y" * 10_000, replace_all=True)],
        [do("write", path="skills/s/b.md", content="x" * 600_000)],
        [do("write", f"c{number}", path=f"skills/n/{number}.md", content="") for number in range(60)],
        [do("delete", path="skills/s/a.md"), *(do("delete", path=f"skills/n/{number}.md") for number in range(40))],
        "Done.",
    ]
    with agent_server(*moves) as server:
        plan = fenced(plan_with(bench, server), max_bytes=1_500_000, max_files=40)
        with unchanged(bench):
            done = run_with(bench, plan)
    assert done.transcript is not None
    assert "10000000000 bytes" in done.transcript.actions[1].detail
    assert done.transcript.refusals["size"] == 2
    assert done.transcript.refusals["count"] > 20
    assert nothing_left(bench)


class Threads:
    """Run on real threads; the call of this name cancels the run, and goes on when the test says so."""

    def __init__(self, slow: str, cancel: CancelToken) -> None:
        self._slow = slow
        self._cancel = cancel
        self.reached = threading.Event()
        self.free = threading.Event()
        self.running = 0

    async def thread(self, function: Any, *args: Any) -> Any:
        def work() -> Any:
            if getattr(function, "__name__", "") == self._slow:
                self._cancel.cancel()
                self.reached.set()
                assert self.free.wait(PATIENCE_SECONDS)
            return function(*args)

        self.running += 1
        try:
            return await asyncio.to_thread(work)
        finally:
            self.running -= 1

    async def store(self, function: Any, *args: Any) -> Any:
        return function(*args)

    cpu = store


@pytest.mark.parametrize("slow", ["__enter__", "work"])
def test_cancelling_while_a_thread_works_on_the_copy_leaves_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    with agent_server([do("write", path="skills/s/a.md", content="x")]) as server:
        plan = plan_with(bench, server)
        cancel = CancelToken()
        threads = Threads(slow, cancel)
        monkeypatch.setattr(bench, "inline", threads)
        monkeypatch.setattr("ltmem_gui.pipeline.agent.CANCEL_PATIENCE_SECONDS", PATIENCE_SECONDS)

        async def run() -> None:
            grant = await bench.grant(plan)
            work = asyncio.ensure_future(run_consolidation(bench, grant, cancel=cancel, listen=bench.events.append))
            await until(lambda: threads.reached.is_set() or work.done(), f"the call of {slow}")
            for _ in range(50):  # turns of the loop in which the wish to stop gets to whoever waits for the thread
                await asyncio.sleep(0)
            assert not work.done()
            threads.free.set()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await work

        with unchanged(bench), pytest.raises(Cancelled):
            asyncio.run(run())
        assert len(server.posts) == (slow == "work")
    assert job_of(bench).last_outcome == "released"
    assert nothing_left(bench)


def test_a_call_that_outlives_its_run_bothers_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of a large folder goes on for a while; the run ends without it, and what it came to is not an error."""
    monkeypatch.setattr("ltmem_gui.pipeline.agent.CANCEL_PATIENCE_SECONDS", 0.05)
    told: list[str] = []

    def late(self: Toolbox, call: AgentCall) -> None:
        raise InputError("the staged copy cannot be used: it is gone")

    monkeypatch.setattr(Toolbox, "call", late)
    with agent_server([do("list")]) as server:
        plan = plan_with(bench, server)
        cancel = CancelToken()
        threads = Threads("work", cancel)
        monkeypatch.setattr(bench, "inline", threads)

        async def run() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context)))
            grant = await bench.grant(plan)
            with pytest.raises(Cancelled):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await run_consolidation(bench, grant, cancel=cancel, listen=bench.events.append)
            assert threads.running == 1
            threads.free.set()
            await until(lambda: threads.running == 0, "the end of the late call")
            for _ in range(5):  # who waits for it hears of its end
                await asyncio.sleep(0)
            gc.collect()

        asyncio.run(run())
    assert told == []
    assert job_of(bench).last_outcome == "released"
    assert nothing_left(bench)


RUNS: dict[str, tuple[list[Any], dict[str, int], type[Exception] | None]] = {
    "whole": (whole_run(), {}, None),
    "never stopping": ([[do("list")] for _ in range(30)], {"max_steps": 5}, AgentFailed),
    "artifacts deleted": ([[do("delete", path="MEMORY.md")]], {}, AgentFailed),
    "escapes": (
        [[do("write", path="../x", content="x"), do("run_shell", cmd="curl http://example.org")], "Done."],
        {},
        None,
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reaches_the_model_and_starts_nothing(bench: Bench, name: str) -> None:
    moves, limits, error = RUNS[name]

    def begin(request: Recorded) -> list[ToolCall]:
        del request
        SEEN.events.append(("agent", ()))
        return [do("list")]

    with agent_server(begin, *moves) as server, SEEN.watch(bench.place / "staging", bench.home):
        plan = fenced(plan_with(bench, server), **limits)
        if error is None:
            run_with(bench, plan)
        else:
            with pytest.raises(error):
                run_with(bench, plan)
        host, _, port = server.url.removeprefix("http://").removesuffix("/v1").partition(":")
    assert SEEN.hosts() == {(host, int(port))}
    # The staged copy, and the database of the data folder: no byte anywhere else.
    assert SEEN.writes is not None
    assert SEEN.writes.violations == []
    # git looks at the baseline before the agent starts and after it ended; nothing is started while it works.
    assert SEEN.programs <= {"git", "nice"}
    events = [event for event, _ in SEEN.events]
    work = events[events.index("agent") :]
    assert name != "never stopping" or not set(work) & set(STARTS)


def test_the_watch_sees(tmp_path: Path) -> None:
    """A watch that sees nothing would prove nothing."""
    import socket
    import subprocess

    with SEEN.watch(tmp_path / "staging"), socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        (tmp_path / "outside").write_text("x")
        subprocess.run([sys.executable, "-c", ""], check=True, cwd=tmp_path)
    assert SEEN.hosts() == {("127.0.0.1", 0)}
    (tmp_path / "unseen").touch()
    assert SEEN.programs == {Path(sys.executable).name}
    assert SEEN.writes is not None
    assert SEEN.writes.violations == [f"open {tmp_path / 'outside'} outside the temporary folder"]
