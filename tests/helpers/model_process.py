"""The loopback model server in a process of its own, so that its work is not counted as ours.

`python -m tests.helpers.model_process LATENCY` prints its base URL and, when its standard input ends, how many
requests came and how many at most at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.model_server import MEMORY, model_server

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class ServerProcess:
    """A running server; `seen` is filled when it has ended."""

    url: str
    seen: dict[str, int] = field(default_factory=dict)


@contextmanager
def model_process(latency: float) -> Iterator[ServerProcess]:
    """Run a server that always remembers the same, until the block ends."""
    command = [sys.executable, "-m", "tests.helpers.model_process", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        server = ServerProcess(process.stdout.readline().strip())
        try:
            yield server
        finally:
            process.stdin.close()
            server.seen.update(json.loads(process.stdout.readline()))


def main() -> None:
    """Serve until the standard input ends."""
    with model_server(latency=float(sys.argv[1]), answer=lambda _: json.dumps(MEMORY)) as server:
        print(server.url, flush=True)
        sys.stdin.read()
        print(json.dumps({"posts": len(server.posts), "most_in_flight": server.most_in_flight}), flush=True)


if __name__ == "__main__":
    main()
