"""Write Codex session files for tests, in the shape of a current version."""

from __future__ import annotations

import json
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DAY = 86_400


def thread_id(number: int, at: int) -> str:
    """Return a version-7 id with the given time and an own number."""
    return str(uuid.UUID(int=(at * 1000 << 80) | (7 << 76) | (2 << 62) | number))


def write_codex(
    sessions: Path,
    turns: list[tuple[str, str]],
    *,
    number: int = 1,
    at: int | None = None,
    cwd: str = "/home/dev/app",
    source: Any = "cli",
    **head: Any,
) -> Path:
    """Write one session, a day old unless `at` says when, and return the file.

    Turns are (user | assistant | call | output | failed, text).
    """
    started = int(time.time()) - DAY if at is None else at
    identity = thread_id(number, started)
    rows: list[dict[str, Any]] = []

    def add(kind: str, payload: dict[str, Any]) -> None:
        rows.append({"timestamp": f"{_stamp(started + len(rows))}.000Z", "type": kind, "payload": payload})

    meta = {"id": identity, "timestamp": f"{_stamp(started)}.000Z", "cwd": cwd, "originator": "codex_cli_rs"}
    add("session_meta", meta | {"cli_version": "0.130.0", "source": source, "model_provider": "openai"} | head)
    environment = f"<environment_context>\n  <cwd>{cwd}</cwd>\n</environment_context>"
    add("response_item", _message("user", "input_text", environment))
    for index, (who, text) in enumerate(turns):
        if who == "call":
            arguments = json.dumps({"cmd": text})
            call = {"type": "function_call", "name": "exec_command", "arguments": arguments}
            add("response_item", call | {"call_id": f"call_{index}"})
        elif who in ("output", "failed"):
            code = 1 if who == "failed" else 0
            output = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{text}"
            add("response_item", {"type": "function_call_output", "call_id": f"call_{index - 1}", "output": output})
        else:
            add("response_item", _message(who, "input_text" if who == "user" else "output_text", text))
            add("event_msg", {"type": "user_message" if who == "user" else "agent_message", "message": text})
    folder = sessions / datetime.fromtimestamp(started, UTC).strftime("%Y/%m/%d")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-{_stamp(started).replace(':', '-')}-{identity}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _message(role: str, part: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
