"""Fixtures that every layer of tests shares."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ltmem_gui.domain.consent import ApplyGrant
from tests.helpers.guard import Guard, Hook, tool_folders
from tests.helpers.shared import shared_dir

# The pure rules are the larger half of redaction and start at once; tests of the engine ask for it themselves.
os.environ.setdefault("LTMEM_REDACTOR", "layer")

# How fast the machine is decides nothing: an example may take its time, and so may the making of one.
settings.register_profile("any machine", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow]))
settings.load_profile("any machine")


@pytest.fixture
def shared() -> Path:
    """Return the folder of shared inputs, or skip: the project's own fixtures cover the same rules."""
    found = shared_dir()
    if found is None:
        pytest.skip("the shared inputs are not laid beside this checkout")
    return found


@pytest.fixture(scope="session")
def audit_hook() -> Hook:
    """Install the one audit hook of the run."""
    return Hook()


@pytest.fixture(autouse=True)
def guard(
    audit_hook: Hook, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guard]:
    """Fail a test in which something was changed or connected that no grant covers."""
    armed = Guard(allowed=tool_folders(tmp_path_factory.getbasetemp()))
    # The locks of memory roots live in one folder per person; each test is a person of its own.
    monkeypatch.setenv("LTMEM_STATE_DIR", str(tmp_path_factory.mktemp("state")))
    consume: Callable[[ApplyGrant], None] = ApplyGrant.consume

    def consume_and_allow(grant: ApplyGrant) -> None:
        consume(grant)
        armed.granted = True

    monkeypatch.setattr(ApplyGrant, "consume", consume_and_allow)
    audit_hook.armed = armed
    yield armed
    audit_hook.armed = None
    assert not armed.violations, armed.violations


@pytest.fixture(autouse=True)
def quiet_log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail on unexpected log records of level WARNING and above."""
    yield
    if request.node.get_closest_marker("log_expected"):
        return
    loud = [r for r in caplog.get_records("call") if r.levelno >= logging.WARNING]
    assert not loud, [r.getMessage() for r in loud]
