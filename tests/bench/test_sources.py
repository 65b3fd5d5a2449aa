"""Ratios of the readers on large input, measured in one run; figures are printed with `-s`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.sources.library import RolloutLibrary
from ltmem_gui.sources.reading import peek_session
from tests.helpers.session_lines import assistant, event, item, line, meta, rollout_name, to_bytes, user

pytestmark = pytest.mark.bench
MEGABYTES = int(os.environ.get("LTMEM_BENCH_MB", "300"))
CHECKOUT = Path(__file__).resolve().parents[2]


class Census:
    """Make records with the shares of a real session (reference: rollout-formats §8.1)."""

    def __init__(self) -> None:
        self._rng = rng = random.Random(7)
        pieces = ["def", "return", "x = 1", '"quoted"', "\\path", "üñï", "{a: 1}", "ok\n   "]
        self._words = " ".join(rng.choice(pieces) for _ in range(500_000))
        self._blob = "gAAAA" + "".join(rng.choices("ABCDEFGHabcdefgh0123456789-_", k=100_000))
        self._makers: list[tuple[float, Callable[[int, float], dict[str, Any]]]] = [
            (
                0.24,
                lambda at, size: item(type="function_call_output", call_id="c", output=self._text(size * 2.2), at=at),
            ),
            (0.14, lambda at, size: item(type="reasoning", encrypted_content=self._blob[: int(size * 1.5)], at=at)),
            (0.17, lambda at, _: item(type="function_call", name="sh", arguments=self._text(600), call_id="c", at=at)),
            (0.20, lambda at, _: event("token_count", info={"total": {"input_tokens": at}}, rate_limits=None, at=at)),
            (0.08, lambda at, _: assistant(self._text(500), at=at)),
            (0.08, lambda at, _: event("agent_message", message=self._text(500), at=at)),
            (0.04, lambda at, _: line("turn_context", {"cwd": "/x", "user_instructions": self._text(2400)}, at)),
            (0.05, lambda at, _: user(self._text(300), at=at)),
        ]

    def _text(self, size: float) -> str:
        start = self._rng.randrange(1000)
        return self._words[start : start + int(size)]

    def record(self, at: int) -> dict[str, Any]:
        """Return one record of the time `at`; one of three thousand has two megabytes."""
        if at % 3000 == 1500:
            return item(type="function_call_output", call_id="c", output=self._text(2_000_000), at=at)
        size = min(self._rng.lognormvariate(7.0, 1.6), 500_000) + 40
        makers = [maker for _, maker in self._makers]
        return self._rng.choices(makers, [share for share, _ in self._makers])[0](at, size)


def large_rollout(path: Path, megabytes: int) -> Path:
    """Write a session of a given size."""
    census, written, at = Census(), 0, 0
    with path.open("wb") as file:
        written += file.write(to_bytes([meta()]))
        while written < megabytes * 1_000_000:
            written += file.write(to_bytes(census.record(at + n) for n in range(1, 201)))
            at += 200
    return path


def best(function: Callable[[], object], rounds: int = 5) -> float:
    """Return the least processor seconds of some rounds."""
    seconds: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def peak_megabytes(code: str, *args: str) -> tuple[float, str]:
    """Run code in a fresh interpreter; return how far its peak rose above that after its imports, and its output."""
    script = (
        "import sys\n"
        "from ltmem_gui.sources.library import *\n"
        "from ltmem_gui.sources.filtering import FilterPass\n"
        "def peak():\n"
        "    rows = open('/proc/self/status').read().split('\\n')\n"
        "    return next(int(r.split()[1]) for r in rows if r.startswith('VmHWM')) / 1024\n"
        "before = peak()\n"
        f"{code}\n"
        "print(peak() - before, peak())\n"
    )
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", script, *args], env=env, capture_output=True, text=True, check=True)
    rise, total = done.stdout.split()[-2:]
    return float(rise), total


FILTER = (
    "import os\n"
    "p = sys.argv[1]\n"
    "with open(p, 'rb', buffering=0) as s:\n"
    "    for _ in FilterPass(os.path.getsize(p)).run(s): pass"
)
LOAD = "r = load_rollout(RolloutRef('codex', sys.argv[1], 0, 0))\nassert r.user_texts"


def test_filter_pass_against_a_plain_orjson_loop(tmp_path: Path):
    import orjson

    from ltmem_gui.sources.filtering import FilterPass

    path = large_rollout(tmp_path / rollout_name(), MEGABYTES)
    size = path.stat().st_size

    def filtered() -> None:
        with path.open("rb", buffering=0) as stream:
            for _ in FilterPass(size).run(stream):
                pass

    def plain() -> None:
        with path.open("rb") as stream:
            for row in stream:
                orjson.loads(row)

    plain()
    ratio = best(plain) / best(filtered)
    rise, total = peak_megabytes(FILTER, str(path))
    whole, whole_total = peak_megabytes(LOAD, str(path))
    print(f"\nfilter pass: {ratio:.1f} x orjson loop, peak +{rise:.0f} MB ({total} MB)")
    print(f"whole load: peak +{whole:.0f} MB ({whole_total} MB)")
    assert ratio >= 4
    assert rise <= 32


def test_newest_of_a_hundred_thousand_files(tmp_path: Path):
    rng = random.Random(1)
    for day in range(500):
        when = date(2025, 1, 1) + timedelta(days=day)
        folder = tmp_path / "sessions" / when.strftime("%Y/%m/%d")
        folder.mkdir(parents=True)
        for number in range(200):
            identity = uuid.UUID(int=rng.getrandbits(128))
            (folder / f"rollout-{when}T{number // 60:02d}-{number % 60:02d}-00-{identity}.jsonl").touch()

    def full() -> None:
        found: list[tuple[float, str]] = []
        pending = [str(tmp_path)]
        while pending:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        found.append((entry.stat().st_mtime, entry.path))
        found.sort(reverse=True)

    def newest() -> None:
        spec = SourceSpec("codex", str(tmp_path))
        found = RolloutLibrary().discover([spec], limit=5000, cancel=CancelToken(), listen=ignore)
        assert len(found.refs) == 5000

    full()
    ratio = best(newest) / best(full)
    print(f"\nnewest 5,000 of 100,000: {ratio:.3f} of a full scandir+stat")
    assert ratio <= 0.2


def test_first_lines_against_open_and_json(tmp_path: Path):
    head = meta(base_instructions={"text": "You are a coding agent. " * 600})
    paths = [tmp_path / f"{number}.jsonl" for number in range(2000)]
    for path in paths:
        path.write_bytes(to_bytes([head, user("x" * 2000)]))

    def plain() -> None:
        for path in paths:
            with open(path) as file:  # noqa: PTH123 - the plain way is what is compared with
                json.loads(file.readline())

    def peeked() -> None:
        for path in paths:
            peek_session(str(path))

    plain()
    ratio = best(peeked) / best(plain)
    print(f"\nfirst lines: {ratio:.2f} of open + json")
    assert ratio <= 0.5


def test_inline_pictures_stay_below_300_mb_resident(tmp_path: Path):
    path = tmp_path / rollout_name()
    picture = "data:image/png;base64," + "QUJD" * (4 * 1024 * 1024)
    with path.open("wb") as file:
        file.write(to_bytes([meta(), *(user(f"typed {n}", at=n) for n in range(1, 101))]))
        for number in range(20):
            parts = [{"type": "input_text", "text": f"look {number}"}, {"type": "input_image", "image_url": picture}]
            row = line("response_item", {"type": "message", "role": "user", "content": parts}, 200 + number)
            file.write(to_bytes([row]))
        file.write(to_bytes(assistant(f"said {n}", at=300 + n) for n in range(100)))
    code = (
        "from ltmem_gui.domain.cancel import CancelToken\n"
        "import os\n"
        "spec = SourceSpec('codex', os.path.dirname(sys.argv[1]))\n"
        "found = RolloutLibrary().discover([spec], limit=9, cancel=CancelToken(), listen=lambda event: None)\n"
        "r = load_rollout(found.refs[0])\n"
        "assert len(r.user_texts) == 120 and len([i for i in r.items if i.kind == 'image']) == 20, len(r.user_texts)"
    )
    rise, total = peak_megabytes(code, str(path))
    print(f"\n20 pictures of 16 MiB: peak +{rise:.0f} MB, {total} MB resident")
    assert float(total) < 300
