"""Find the shared inputs that lie outside the project; tests must pass without them."""

from __future__ import annotations

from pathlib import Path


def shared_dir() -> Path | None:
    """Return the folder of shared cases and data, None where it is not laid beside the checkout."""
    for base in Path(__file__).resolve().parents:
        candidate = base / "shared"
        if (candidate / "cases").is_dir() and (candidate / "data").is_dir():
            return candidate
    return None
