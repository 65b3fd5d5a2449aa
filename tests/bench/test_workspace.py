"""10,000 summaries, 50 MB: status, diff and re-baseline against the plain git commands, interleaved."""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ltmem_gui.workspace import baseline
from ltmem_gui.workspace.diff import unified_diff
from ltmem_gui.workspace.folder import MemoryFolder
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.status import status
from tests.helpers.git_workspace import clock

FILES, BYTES, ROUNDS = 10_000, 5_000, 5
_CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
_PLAIN = {**_CLEAN, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(root: Path, *arguments: str) -> bytes:
    """Run the plain command."""
    identity = ("-c", "user.name=x", "-c", "user.email=x", "-c", "gc.auto=0")
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=_PLAIN).stdout


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder of many summaries under a baseline."""
    if "bench" not in str(request.config.option.markexpr):
        pytest.skip("figures: pytest -m bench tests/bench")
    chance = random.Random(1)
    words = [f"word{n}" for n in range(2_000)]
    root = tmp_path / "memories"
    (root / "rollout_summaries").mkdir(parents=True)
    for number in range(FILES):
        lines = [" ".join(chance.choices(words, k=10)) for _ in range(BYTES // 76)]
        (root / "rollout_summaries" / f"{number:05d}.md").write_text("\n".join(lines) + "\n")
    baseline.reset(root, clock=clock)
    return root


def spent() -> float:
    """Return the processor time of this process and its ended children, in milliseconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) * 1_000


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Return wall and processor time of an action, in milliseconds."""
    before, started = spent(), time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1_000, spent() - before


def compare(
    name: str,
    ours: Callable[[], object],
    plain: Callable[[], object],
    show: Callable[[str], None],
    before: Callable[[], object] = lambda: None,
) -> float:
    """Run both in turn; return the ratio of the least processor times, which a busy machine changes little.

    `before` brings the folder into the state that both start from.
    """
    pairs: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for _ in range(ROUNDS):
        before()
        mine = timed(ours)
        before()
        pairs.append((mine, timed(plain)))
    wall = [statistics.median(pair[side][0] for pair in pairs) for side in (0, 1)]
    cpu = [min(pair[side][1] for pair in pairs) for side in (0, 1)]
    show(f"{name}: wall {wall[0]:.0f} / git {wall[1]:.0f} ms, processor {cpu[0]:.0f} / git {cpu[1]:.0f} ms")
    return cpu[0] / cpu[1]


@pytest.mark.bench
@pytest.mark.slow
def test_ratios_to_plain_git(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def show(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}", end="")

    chance = random.Random(2)
    for number in chance.sample(range(FILES), 70):
        path = folder / "rollout_summaries" / f"{number:05d}.md"
        path.write_text(path.read_text().replace("word7", "changed", 5) + "more\n")
    workspace = MemoryFolder()
    snapshot = read(folder)
    files = {path: file.data for path, file in snapshot.files.items()}
    changes = workspace.baseline_changes(snapshot, files)
    assert status(folder) == changes
    show(f"reading the folder: {timed(lambda: read(folder))[0]:.0f} ms")
    show(f"comparing in memory: {timed(lambda: workspace.baseline_changes(snapshot, files))[0]:.0f} ms")
    ratio = compare("status", lambda: status(folder), lambda: git(folder, "status", "--porcelain"), show)
    diff = compare("diff", lambda: unified_diff(snapshot, files, changes), lambda: git(folder, "diff", "HEAD"), show)

    def plain_reset() -> None:
        shutil.rmtree(folder / ".git")
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "x")

    reset = compare("re-baseline", lambda: baseline.reset(folder, clock=clock), plain_reset, show, plain_reset)
    show("")
    assert ratio <= 1.5
    assert diff <= 1.5
    assert reset <= 1.2
