"""Build session files line by line, for tests of the readers: every byte is the test's own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

THREAD = "019cb813-5280-7000-8000-0000000a1000"
OTHER = "019cb900-0000-7000-8000-0000000a2000"
SESSION = "c1a0c1a0-1111-4111-8111-111111111111"
START = 1_772_614_800  # 2026-03-04T09:00:00Z


def stamp(seconds: float) -> str:
    """Return a time as Codex writes it."""
    return datetime.fromtimestamp(START + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def line(kind: str, payload: dict[str, Any], at: float = 0, **more: Any) -> dict[str, Any]:
    """Return one enveloped record."""
    return {"timestamp": stamp(at), **more, "type": kind, "payload": payload}


def meta(thread: str = THREAD, at: float = 0, **head: Any) -> dict[str, Any]:
    """Return a head; `head` overrides or adds fields, None takes one out."""
    fields: dict[str, Any] = {
        "id": thread,
        "timestamp": stamp(at),
        "cwd": "/home/dev/app",
        "originator": "codex_cli_rs",
        "cli_version": "0.121.0",
        "source": "cli",
    }
    fields.update(head)
    return line("session_meta", {k: v for k, v in fields.items() if v is not None}, at)


def user(*texts: str, at: float = 1, **more: Any) -> dict[str, Any]:
    """Return a message under the person's name, one part per text."""
    parts = [{"type": "input_text", "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": "user", "content": parts, **more}, at)


def assistant(text: str, at: float = 2, **more: Any) -> dict[str, Any]:
    """Return an answer."""
    parts = [{"type": "output_text", "text": text}]
    return line("response_item", {"type": "message", "role": "assistant", "content": parts, **more}, at)


def item(at: float = 3, **payload: Any) -> dict[str, Any]:
    """Return any response item."""
    return line("response_item", payload, at)


def event(kind: str, at: float = 4, **payload: Any) -> dict[str, Any]:
    """Return any event."""
    return line("event_msg", {"type": kind, **payload}, at)


def claude(kind: str, number: int, parent: int | None, content: Any, at: float = 0, **more: Any) -> dict[str, Any]:
    """Return one line of a Claude Code transcript; its uuid is made from `number`."""
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "model": "model-y"}
    return {
        "parentUuid": None if parent is None else uuid_of(parent),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/app",
        "sessionId": SESSION,
        "version": "2.1.63",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": uuid_of(number),
        "timestamp": stamp(at or number),
        **more,
    }


def uuid_of(number: int) -> str:
    """Return a uuid made from a number."""
    return f"{number:08x}-0000-4000-8000-00000000c1a0"


def to_bytes(records: Iterable[object], *, compact: bool = True) -> bytes:
    """Return records as JSON lines; bytes among them are taken as they are, without a line end of their own."""
    separators = (",", ":") if compact else (", ", ": ")
    return b"".join(
        (r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False, separators=separators).encode()) + b"\n"
        for r in records
    )


def write(path: Path, records: Iterable[object]) -> Path:
    """Write records as a session file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_bytes(records))
    return path


def rollout_name(thread: str = THREAD, date: str = "2026-03-04T09-00-00") -> str:
    """Return a file name as Codex gives it."""
    return f"rollout-{date}-{thread}.jsonl"


def make_tree(shared: Path, out: Path, *, count: int, seed: int) -> dict[str, Any]:
    """Generate a tree of sessions, half of them damaged, and return its answer key."""
    command = [sys.executable, str(shared / "tools" / "make_rollouts.py"), "--out", str(out), "--count", str(count)]
    options = ["--seed", str(seed), "--agent", "both", "--dirty", "--dirty-share", "0.5", "--lines-mean", "25"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return json.loads((out / "planted.json").read_bytes())
