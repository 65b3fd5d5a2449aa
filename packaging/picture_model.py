"""A model for the pictures: a server on this computer that plays one short run of the consolidation agent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "qwen3:14b"
MOVES: tuple[tuple[dict[str, Any], ...], ...] = (
    ({"name": "read", "path": "phase2_workspace_diff.md"},),
    ({"name": "list"}, {"name": "read", "path": "MEMORY.md"}),
    ({"name": "search", "queries": ["pnpm", "npm"]}, {"name": "read", "path": "../../.ssh/id_ed25519"}),
    ({"name": "run_shell", "command": "git log"},),
    ({"name": "read", "path": "memory_summary.md"},),
    ({"name": "edit", "path": "memory_summary.md", "old_text": "Works on ", "new_text": "Active in "},),
)
DONE = "The summary is shorter; every bullet kept its citation."


@contextmanager
def picture_model() -> Iterator[str]:
    """Run the server until the block ends; give its base address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        played = sum(message["role"] == "assistant" for message in body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": DONE if played >= len(MOVES) else None}
        if played < len(MOVES):
            message["tool_calls"] = [_call(number, move) for number, move in enumerate(MOVES[played])]
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1_850 + 640 * played, "completion_tokens": 48, "total_tokens": 1_898},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _call(number: int, move: dict[str, Any]) -> dict[str, Any]:
    arguments = {name: value for name, value in move.items() if name != "name"}
    function = {"name": move["name"], "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}
