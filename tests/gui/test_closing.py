"""Closing mid-run: leases go back, the memory folder stays as it was, and the program is gone within five seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.domain.jobs import JobStatus

PROGRAM = Path(__file__).with_name("closing_program.py")
CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_mid_run_gives_the_leases_back(tmp_path: Path, number: signal.Signals) -> None:
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
    command = [sys.executable, str(PROGRAM), str(sessions), str(home), str(root)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        began = time.monotonic()
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
        seconds = time.monotonic() - began
    assert line == "running\n", errors
    assert process.returncode == 0, errors
    assert seconds < 5
    assert not root.exists()
    with adapters.stores.reading(home) as store:
        jobs = store.jobs()
        assert jobs
        assert all(job.status is not JobStatus.RUNNING for job in jobs), [job.status for job in jobs]
        assert all(job.crash_count == 0 for job in jobs)
        assert store.outputs() == ()
