"""How soon a window that works is gone after a signal: within five seconds, with the real limits of time."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.gui.agent_room import extracted_samples
from tests.gui.test_agent_closing import close_while_the_agent_works
from tests.gui.test_closing import close_mid_run

LIMIT_SECONDS = 5.0
SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


@SIGNALS
@pytest.mark.bench
def test_a_signal_mid_run_ends_the_program_soon(tmp_path: Path, number: signal.Signals) -> None:
    assert close_mid_run(tmp_path, number, "real") < LIMIT_SECONDS


@SIGNALS
@pytest.mark.bench
def test_a_signal_while_the_agent_works_ends_the_program_soon(tmp_path: Path, number: signal.Signals) -> None:
    place = tmp_path / "samples"
    place.mkdir()
    assert close_while_the_agent_works(extracted_samples(place), tmp_path, number, "real") < LIMIT_SECONDS
