"""Fixtures that every layer of tests shares."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.shared import shared_dir


@pytest.fixture
def shared() -> Path:
    """Return the folder of shared inputs, or skip: the project's own fixtures cover the same rules."""
    found = shared_dir()
    if found is None:
        pytest.skip("the shared inputs are not laid beside this checkout")
    return found
