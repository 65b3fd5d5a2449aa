"""Real processes that race for leases: started once, told what to do line by line, killed when a test wants it.

Run as `python -m tests.helpers.racers`; each line on stdin is a JSON order, each answer one JSON line.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ltmem_gui.domain.errors import LeaseLost
from ltmem_gui.domain.jobs import ClaimOutcome
from ltmem_gui.store import database, opening
from ltmem_gui.store.liveness import this_process
from ltmem_gui.store.opening import SqliteStores
from ltmem_gui.store.store import SqliteStore
from tests.helpers.stores import NOW, a_job, a_receipt, a_reply, an_output
from tests.helpers.waiting import PATIENCE_SECONDS


class Racer:
    """One process, seen from the test."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.racers"],
            cwd=Path(__file__).resolve().parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def order(self, **order: Any) -> None:
        """Give an order without waiting for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")

    def answer(self) -> dict[str, Any]:
        """Wait for the answer; empty when the process is gone."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {}

    def kill(self) -> None:
        """Kill without any chance to clean up."""
        self.process.kill()

    def close(self) -> None:
        """End the process and its pipes."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def racers(count: int) -> Iterator[list[Racer]]:
    """Start processes and wait until each is ready; end them afterwards."""
    found = [Racer() for _ in range(count)]
    try:
        for racer in found:
            racer.order(do="hello")
        for racer in found:
            assert racer.answer() == {"hello": True}
        yield found
    finally:
        for racer in found:
            racer.close()


def race(found: Sequence[Racer], **order: Any) -> list[dict[str, Any]]:
    """Give all the same order, to be begun when everybody stands at the start; return the answers in order."""
    with tempfile.NamedTemporaryFile() as line:
        fcntl.flock(line, fcntl.LOCK_EX)
        for number, racer in enumerate(found):
            racer.order(start=line.name, number=number, **order)
        for racer in found:
            assert racer.answer() == {"ready": True}
        fcntl.flock(line, fcntl.LOCK_UN)
    return [racer.answer() for racer in found]


def _global(home: Path, order: dict[str, Any]) -> dict[str, Any]:
    with SqliteStores().writing(home) as store:
        result = store.claim_global(this_process(f"racer {order['number']}"), now=order["now"], ignore_cooldown=False)
        owns = result.claim is not None and store.owns_global(result.claim)
    return {"outcome": result.outcome.value, "token": result.claim.token if result.claim else None, "owns": owns}


def _stage1(home: Path, order: dict[str, Any]) -> dict[str, Any]:
    thread = order["threads"][order["number"] % len(order["threads"])]
    with SqliteStores().writing(home) as store:
        owner = this_process(f"racer {order['number']}")
        result = store.claim_stage1(a_job(thread, 100), owner, now=order["now"], cap=order["cap"])
    return {"outcome": result.outcome.value, "thread": thread, "token": result.claim.token if result.claim else None}


def _finish(home: Path, order: dict[str, Any]) -> dict[str, Any]:
    with SqliteStores().writing(home) as store:
        result = store.claim_global(this_process("finisher"), now=order["now"], ignore_cooldown=True)
        if result.claim is None:
            return {"receipt": None}
        receipt = store.finish_global(result.claim, watermark=1, rows=(), receipt=a_receipt("d"), now=order["now"])
    return {"receipt": receipt.operation_number}


def _work(home: Path, order: dict[str, Any]) -> dict[str, Any]:
    """Claim and finish the jobs of a list until none is left that this process may have."""
    with SqliteStores().writing(home) as store:
        owner = this_process(f"racer {order['number']}")
        return {"claimed": sum(_work_one(store, f"t{n:06}", owner, order) for n in _mine(order))}


def _mine(order: dict[str, Any]) -> Iterator[int]:
    count = order["count"]
    step = order.get("stride", 1)
    start = (order["number"] * count // order["of"]) if order.get("spread") else 0
    for n in range(0, count, step):
        yield (start + n) % count


def _work_one(store: SqliteStore, thread: str, owner: Any, order: dict[str, Any]) -> bool:
    while True:
        result = store.claim_stage1(a_job(thread, 100), owner, now=NOW, cap=order["cap"])
        if result.outcome is not ClaimOutcome.AT_CAP:
            break
        time.sleep(0.001)
    if result.claim is None:
        return False
    time.sleep(order.get("pause", 0))
    try:
        store.succeed_stage1(result.claim, an_output(thread, 100), a_reply(), now=NOW)
    except LeaseLost:
        return False
    return True


ORDERS = {"global": _global, "stage1": _stage1, "finish": _finish, "work": _work}


def _wait_at(start: Path) -> None:
    """Say that this process is ready, and wait until the test lets all go at once."""
    with start.open() as line:
        _say({"ready": True})
        fcntl.flock(line, fcntl.LOCK_SH)


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _main() -> None:
    # Who of many gets a lock next is chance: that one waits long on a busy machine is not what is tested.
    opening.BUSY_SECONDS = database.BUSY_SECONDS = PATIENCE_SECONDS
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "hello":
            answer: dict[str, Any] = {"hello": True}
        else:
            if "start" in order:
                _wait_at(Path(order["start"]))
            answer = ORDERS[order["do"]](Path(order["home"]), order)
        _say(answer)


if __name__ == "__main__":
    _main()
