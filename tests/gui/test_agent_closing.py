"""Closing while the agent works: the lease goes back, nothing is written, and the program is gone soon."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobStatus
from tests.gui.agent_room import extracted_samples
from tests.helpers.agents import agent_server, do
from tests.helpers.program import end_by_signal

PROGRAM = Path(__file__).with_name("closing_agent_program.py")
CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose sessions the built-in rules have extracted."""
    return extracted_samples(tmp_path_factory.mktemp("samples"))


def close_while_the_agent_works(samples: Path, tmp_path: Path, number: signal.Signals, *more: str) -> float:
    """Signal a program whose agent waits for its model; return how long it took to end, in seconds."""
    home, root = tmp_path / "data", tmp_path / "memory"
    shutil.copytree(samples / "data", home)
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "nobody"),
        "PYTHONPATH": str(CHECKOUT),
        "QT_QPA_PLATFORM": "offscreen",
        "LTMEM_REDACTOR": "layer",
    }
    with agent_server([do("list")]) as server:
        server.plan("ok", "slow")
        command = [sys.executable, str(PROGRAM), str(home), str(root), server.url, *more]
        ended = end_by_signal(command, environment, number)
    assert ended.line == "running\n", ended.errors
    assert ended.code == 0, ended.errors
    assert not root.exists()
    with compose(None).stores.reading(home) as store:
        job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    assert job is not None
    assert (job.status, job.last_outcome) == (JobStatus.PENDING, "released")
    return ended.seconds


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_agent_works_gives_the_lease_back(
    samples: Path, tmp_path: Path, number: signal.Signals
) -> None:
    close_while_the_agent_works(samples, tmp_path, number)
