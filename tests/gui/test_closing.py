"""Closing mid-run: leases go back, the memory folder stays as it was, and the program is gone soon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.bootstrap_gui import EXIT_LIMIT_SECONDS
from ltmem_gui.domain.jobs import JobStatus
from ltmem_gui.ui.bridge.shutdown import GRACE_SECONDS, LIMIT_SECONDS
from tests.helpers.program import LIMIT_SECONDS as HANGING_SECONDS
from tests.helpers.program import end_by_signal

PROGRAM = Path(__file__).with_name("closing_program.py")
CHECKOUT = Path(__file__).resolve().parents[2]


def close_mid_run(tmp_path: Path, number: signal.Signals, *more: str) -> float:
    """Signal a program that extracts, look at what it left, and return how long it took to end, in seconds."""
    adapters = compose(None)
    sessions, home, root = tmp_path / "sessions", tmp_path / "home", tmp_path / "memory"
    adapters.lay_samples(sessions, adapters.clock())
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "nobody"),
        "PYTHONPATH": str(CHECKOUT),
        "QT_QPA_PLATFORM": "offscreen",
        "LTMEM_REDACTOR": "layer",
    }
    ended = end_by_signal(
        [sys.executable, str(PROGRAM), str(sessions), str(home), str(root), *more], environment, number
    )
    assert ended.line == "running\n", ended.errors
    assert ended.code == 0, ended.errors
    assert not root.exists()
    with adapters.stores.reading(home) as store:
        jobs = store.jobs()
        assert jobs
        assert all(job.status is not JobStatus.RUNNING for job in jobs), [job.status for job in jobs]
        assert all(job.crash_count == 0 for job in jobs)
        assert store.outputs() == ()
    return ended.seconds


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_mid_run_gives_the_leases_back(tmp_path: Path, number: signal.Signals) -> None:
    close_mid_run(tmp_path, number)


def test_closing_is_limited_to_less_than_five_seconds() -> None:
    assert GRACE_SECONDS < LIMIT_SECONDS < EXIT_LIMIT_SECONDS < 5


def test_a_program_whose_threads_hang_leaves_all_the_same() -> None:
    program = (
        "import threading\n"
        "from ltmem_gui.ui.bridge.shutdown import leave_after\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "leave_after(0.05, 7)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, timeout=HANGING_SECONDS, check=False)
    assert done.returncode == 7
