"""Closing while the agent works: the lease goes back, nothing is written, and the program is gone within 5 s."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobStatus
from tests.gui.agent_room import extracted_samples
from tests.helpers.agents import agent_server, do
from tests.helpers.model_server import Recorded

PROGRAM = Path(__file__).with_name("closing_agent_program.py")
CHECKOUT = Path(__file__).resolve().parents[2]


def never(request: Recorded) -> str:
    """Keep the agent waiting for its second step."""
    del request
    time.sleep(30)
    return ""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose sessions the built-in rules have extracted."""
    return extracted_samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_agent_works_gives_the_lease_back(
    samples: Path, tmp_path: Path, number: signal.Signals
) -> None:
    home, root = tmp_path / "data", tmp_path / "memory"
    shutil.copytree(samples / "data", home)
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "nobody"),
        "PYTHONPATH": str(CHECKOUT),
        "QT_QPA_PLATFORM": "offscreen",
        "LTMEM_REDACTOR": "layer",
    }
    with agent_server([do("list")], never) as server:
        command = [sys.executable, str(PROGRAM), str(home), str(root), server.url]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            watch = threading.Timer(60, process.kill)  # a program that never gets there must not hold the tests
            watch.start()
            line = process.stdout.readline()
            began = time.monotonic()
            process.send_signal(number)
            _, errors = process.communicate(timeout=20)
            seconds = time.monotonic() - began
            watch.cancel()
    assert line == "running\n", errors
    assert process.returncode == 0, errors
    assert seconds < 5
    assert not root.exists()
    with compose(None).stores.reading(home) as store:
        job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    assert job is not None
    assert (job.status, job.last_outcome) == (JobStatus.PENDING, "released")
