"""The contract of the window's event loop: what every release of qasync and PySide6 must keep."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QDialog

from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.domain.events import JobStarted, RunProgressed
from ltmem_gui.ui.bridge import collecting
from ltmem_gui.ui.bridge import loop as loop_module
from ltmem_gui.ui.bridge.awaiting import emitted, opened
from ltmem_gui.ui.bridge.loop import WindowLoop
from ltmem_gui.ui.bridge.shutdown import Shutdown, Stage
from ltmem_gui.ui.bridge.signals import AppEvents
from ltmem_gui.ui.bridge.supervisor import AlreadyRunning, Outcome, Supervisor, TaskEnd
from tests.helpers.waiting import PATIENCE_SECONDS, until

VAR: contextvars.ContextVar[str] = contextvars.ContextVar("VAR", default="")


@pytest.fixture(autouse=True)
def garbage_stays_on_this_thread() -> Iterator[None]:
    """Collect the Qt objects of a test here, never on a worker thread of the next one."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[WindowLoop]:
    qapp.setQuitOnLastWindowClosed(False)
    made = WindowLoop(qapp)
    yield made
    if not made.is_closed():
        made.close()


def test_ready_callbacks_run_in_order(loop: WindowLoop) -> None:
    seen: list[int] = []

    async def main() -> None:
        done = loop.create_future()
        for number in range(500):
            loop.call_soon(seen.append, number)
        loop.call_soon(done.set_result, None)
        await done

    loop.run_until_complete(main())
    assert seen == list(range(500))


def test_callbacks_of_a_thread_keep_their_order_too(loop: WindowLoop) -> None:
    seen: list[int] = []
    done = loop.create_future()

    def work() -> None:
        for number in range(500):
            loop.call_soon_threadsafe(seen.append, number)
        loop.call_soon_threadsafe(done.set_result, None)

    thread = threading.Thread(target=work)
    loop.call_soon(thread.start)
    loop.run_until_complete(done)
    thread.join()
    assert seen == list(range(500))


def test_hopping_coroutines_do_not_starve_qt(loop: WindowLoop) -> None:
    fired: list[bool] = []

    async def main() -> int:
        QTimer.singleShot(5, lambda: fired.append(True))
        hops = 0
        end = time.monotonic() + PATIENCE_SECONDS
        while not fired and time.monotonic() < end:
            hops += 1
            await asyncio.sleep(0)
        return hops

    assert loop.run_until_complete(main()) > 1
    assert fired


def test_threadsafe_calls_keep_context_and_return_a_handle(loop: WindowLoop) -> None:
    seen: list[str] = []
    done = loop.create_future()

    def work() -> None:
        VAR.set("from the thread")
        handle = loop.call_soon_threadsafe(lambda: seen.append("never"))
        handle.cancel()
        loop.call_soon_threadsafe(lambda: seen.append(VAR.get()))
        loop.call_soon_threadsafe(done.set_result, None)

    def start_and_wait() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()  # the loop is held meanwhile, so that the cancelled callback cannot have run

    loop.call_soon(start_and_wait)
    loop.run_until_complete(done)
    assert seen == ["from the thread"]


def test_context_travels_through_timers(loop: WindowLoop) -> None:
    async def main() -> list[str]:
        seen: list[str] = []
        VAR.set("outer")
        loop.call_later(0.001, lambda: seen.append(VAR.get()))
        VAR.set("later")
        await until(lambda: seen, "the call of the timer")
        return seen

    assert loop.run_until_complete(main()) == ["outer"]


def test_a_timer_never_comes_early(loop: WindowLoop) -> None:
    async def main() -> float:
        before = loop.time()
        await asyncio.sleep(0.0105)
        return loop.time() - before

    assert loop.run_until_complete(main()) >= 0.0105


class Odd(BaseException):
    pass


def test_a_base_exception_in_a_thread_reaches_the_future(loop: WindowLoop) -> None:
    def fail() -> None:
        raise Odd

    async def main() -> None:
        with pytest.raises(Odd):
            await loop.run_in_executor(None, fail)
        assert await asyncio.to_thread(lambda: 7) == 7

    loop.run_until_complete(main())


def test_to_thread_keeps_context_and_named_executors_work(loop: WindowLoop) -> None:
    async def main() -> None:
        VAR.set("carried")
        assert await asyncio.to_thread(VAR.get) == "carried"
        with ThreadPoolExecutor(1) as executor:
            assert await loop.run_in_executor(executor, sum, [1, 2]) == 3

    loop.run_until_complete(main())


def test_closing_with_pending_tasks_cancels_them(qapp: QApplication) -> None:
    ended: list[str] = []

    async def sleeper() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            ended.append("cleaned up")

    async def main(loop: WindowLoop) -> str:
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0.01)
        assert not task.done()
        return "result"

    assert loop_module.run(qapp, main) == "result"
    assert ended == ["cleaned up"]


def test_a_loop_that_is_stopped_early_says_so(loop: WindowLoop) -> None:
    async def main() -> None:
        loop.call_soon(loop.stop)
        await asyncio.sleep(3_600)

    task = loop.create_task(main())
    with pytest.raises(RuntimeError, match="stopped before"):
        loop.run_until_complete(task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(task)


def test_a_keyboard_interrupt_in_a_callback_comes_out_of_run(loop: WindowLoop) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    loop.call_soon(interrupt)
    with pytest.raises(KeyboardInterrupt):
        loop.run_forever()


def test_nested_open_dialogs_do_not_strand_other_tasks(loop: WindowLoop) -> None:
    ticks: list[int] = []

    async def ticker() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0.001)

    async def main() -> tuple[int, int]:
        background = asyncio.create_task(ticker())
        outer, inner = QDialog(), QDialog()
        waiting = asyncio.create_task(opened(outer))
        await until(outer.isVisible, "the outer dialog")
        nested = asyncio.create_task(opened(inner))
        await until(inner.isVisible, "the inner dialog")
        before = len(ticks)
        await until(lambda: len(ticks) > before + 2, "ticks below two dialogs")
        inner.accept()
        results = (await nested, 0)
        outer.reject()
        results = (results[0], await waiting)
        background.cancel()
        await asyncio.gather(background, return_exceptions=True)
        outer.deleteLater()
        inner.deleteLater()
        return results

    assert loop.run_until_complete(main()) == (1, 0)


def test_a_dialog_whose_waiting_is_cancelled_closes(loop: WindowLoop) -> None:
    async def main() -> bool:
        dialog = QDialog()
        waiting = asyncio.create_task(opened(dialog))
        await until(dialog.isVisible, "the dialog")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        visible = dialog.isVisible()
        dialog.deleteLater()
        return visible

    assert loop.run_until_complete(main()) is False


class Sender(QObject):
    sent = Signal(object)


def test_a_signal_can_be_awaited(loop: WindowLoop) -> None:
    async def main() -> tuple[object, ...]:
        sender = Sender()
        loop.call_later(0.002, sender.sent.emit, "payload")
        return await emitted(sender.sent)

    assert loop.run_until_complete(main()) == ("payload",)


def test_the_supervisor_sorts_ends_into_four_kinds(loop: WindowLoop) -> None:
    async def end(error: Exception | None) -> None:
        await asyncio.sleep(0)
        if error is not None:
            raise error

    async def main() -> dict[str, Outcome]:
        supervisor = Supervisor()
        ends: list[TaskEnd] = []
        known: list[object] = []
        bugs: list[object] = []
        supervisor.task_ended.connect(ends.append)
        supervisor.known_raised.connect(known.append)
        supervisor.bug_raised.connect(bugs.append)
        supervisor.spawn("fine", end(None))
        supervisor.spawn("known", end(InputError("gone", where="a")))
        supervisor.spawn("bug", end(ValueError("x")))
        supervisor.spawn("stopped", end(Cancelled()))
        supervisor.spawn("slow", asyncio.sleep(3_600))
        with pytest.raises(AlreadyRunning):
            supervisor.spawn("slow", asyncio.sleep(60))
        assert "slow" in supervisor.names
        supervisor.cancel("slow")
        await supervisor.idle()
        assert len(known) == 1
        assert len(bugs) == 1
        assert await supervisor.close(1) == ()
        with pytest.raises(RuntimeError, match="closing"):
            supervisor.spawn("late", end(None))
        return {e.name: e.outcome for e in ends}

    assert loop.run_until_complete(main()) == {
        "fine": Outcome.DONE,
        "known": Outcome.KNOWN,
        "bug": Outcome.BUG,
        "stopped": Outcome.CANCELLED,
        "slow": Outcome.CANCELLED,
    }


def test_spawning_without_a_loop_is_an_error_not_a_lost_click(qapp: QApplication) -> None:
    with pytest.raises(RuntimeError):
        Supervisor().spawn("lost", asyncio.sleep(0))


def test_events_cross_from_threads_in_few_batches(loop: WindowLoop) -> None:
    async def main() -> list[tuple[object, ...]]:
        events = AppEvents()
        batches: list[tuple[object, ...]] = []
        events.events_arrived.connect(batches.append)

        def work() -> None:
            for number in range(300):
                events.publish(RunProgressed(number, 300))
                events.publish(JobStarted(f"t{number}", 1))
                time.sleep(0.001)

        await asyncio.to_thread(work)
        await until(lambda: any(JobStarted("t299", 1) in batch for batch in batches), "the last event")
        return batches

    began = time.monotonic()
    batches = loop.run_until_complete(main())
    seconds = time.monotonic() - began
    flat = [event for batch in batches for event in batch]
    assert [e.thread_id for e in flat if isinstance(e, JobStarted)] == [f"t{n}" for n in range(300)]
    assert [e for e in flat if isinstance(e, RunProgressed)][-1].done == 299
    assert len(batches) <= seconds * 10 + 2


def test_closing_lets_work_end_and_leaves_slow_stages(loop: WindowLoop) -> None:
    async def main() -> tuple[str, list[str], float]:
        supervisor = Supervisor()
        seen: list[str] = []
        asked = asyncio.Event()

        async def work() -> None:
            await asked.wait()
            seen.append("leases released")

        async def slow() -> None:
            await asyncio.sleep(3_600)

        async def last() -> None:
            seen.append("last stage")

        supervisor.spawn("run", work())
        shutdown = Shutdown(
            supervisor, cancel_work=asked.set, stages=(Stage("slow", slow), Stage("last", last)), limit=1.0
        )
        loop.call_later(0.01, shutdown.request, "window closed")
        began = loop.time()
        reason = await shutdown.wait()
        return reason, seen, loop.time() - began

    reason, seen, seconds = loop.run_until_complete(main())
    assert reason == "window closed"
    assert seen == ["leases released", "last stage"]
    assert seconds < PATIENCE_SECONDS


PROGRAM = """
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication, QWidget
from ltmem_gui.ui.bridge import loop as bridge
from ltmem_gui.ui.bridge.shutdown import Shutdown
from ltmem_gui.ui.bridge.supervisor import Supervisor

async def main(loop):
    shutdown = Shutdown(Supervisor())
    shutdown.listen_to_signals(loop)
    window = QWidget()
    window.show()
    print("ready", flush=True)
    print(await shutdown.wait(), flush=True)
    return 0

sys.exit(bridge.run(QApplication([]), main))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_an_idle_window_at_once(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        began = time.monotonic()
        process.send_signal(number)
        out = process.stdout.read()
        code = process.wait(PATIENCE_SECONDS)
    assert out == f"{number.name}\n"
    assert code == 0
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_garbage_is_collected_on_the_ui_thread_only(loop: WindowLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "INTERVAL_MS", 5)
    monkeypatch.setattr(collecting, "FULL_SECONDS", 0.0)
    threads: set[int] = set()

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            threads.add(threading.get_ident())

    def litter() -> None:
        for _ in range(20_000):
            Cycle()

    async def main() -> None:
        collector = collecting.UiCollector()
        collector.start()
        try:
            await asyncio.to_thread(litter)
            assert threads <= {threading.get_ident()}
            await until(lambda: threads, "the pass of the collector")
        finally:
            collector.stop()

    loop.run_until_complete(main())
    assert gc.isenabled()
    assert threads == {threading.get_ident()}
