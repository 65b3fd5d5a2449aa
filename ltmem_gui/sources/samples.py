"""Lay the demo's sample rollouts as Codex would have, with all dates moved so that the newest is a day old."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from pathlib import Path

DAY = 86_400
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{3})Z")


def lay_samples(samples: Path, sessions: Path, now: int) -> None:
    """Write every sample of `samples` below `sessions`, which must not exist. `now` in Unix seconds."""
    texts = [path.read_text("utf-8") for path in sorted(samples.glob("*.jsonl"))]
    newest = max(_seconds(match[1]) for text in texts for match in _TIME.finditer(text))
    shift = now - DAY - newest
    sessions.mkdir(mode=0o700)
    for text in texts:
        _lay(text, sessions, shift)


def _lay(text: str, sessions: Path, shift: int) -> None:
    old_id = re.search(r'"id":"([0-9a-f-]{36})"', text)
    started = _TIME.search(text)
    if old_id is None or started is None:
        raise ValueError("a sample rollout has no head")
    new_id = _shift_id(old_id[1], shift)
    moved = _TIME.sub(lambda m: _stamp(_seconds(m[1]) + shift) + m[2] + "Z", text).replace(old_id[1], new_id)
    at = _stamp(_seconds(started[1]) + shift)
    folder = sessions / at[:4] / at[5:7] / at[8:10]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / f"rollout-{at.replace(':', '-')}-{new_id}.jsonl").write_text(moved, "utf-8")


def _shift_id(text: str, shift: int) -> str:
    """Move the time that a version-7 id carries; its other bits stay, so that the demo is the same every day."""
    value = uuid.UUID(text).int
    milliseconds = (value >> 80) + shift * 1000
    return str(uuid.UUID(int=(milliseconds << 80) | (value & ((1 << 80) - 1))))


def _seconds(text: str) -> int:
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp())


def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
