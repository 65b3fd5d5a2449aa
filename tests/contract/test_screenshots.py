"""The script that pictures the window takes no option for a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "screenshots.sh"


def test_options_are_understood_and_never_made_a_folder(tmp_path: Path) -> None:
    told = subprocess.run([SCRIPT, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, "--scale" in told.stdout) == (0, True), told.stderr
    told = subprocess.run([SCRIPT, "--what"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, "usage:" in told.stderr) == (2, True)
    told = subprocess.run([SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode != 0, "usage:" in told.stderr) == (True, True)
    assert not list(tmp_path.iterdir())
