"""The child process of a local model file: llama.cpp's own server on a free loopback port, until stdin closes.

Reads one JSON line `{"model", "key", "threads", "context"}`, answers with one JSON line `{"url"}` or `{"error"}`.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> int:
    """Serve until the parent goes away."""
    wanted = json.loads(sys.stdin.readline())
    try:
        server = start(wanted)
    except (RuntimeError, ValueError, OSError, ImportError) as error:
        _say({"error": f"{type(error).__name__}: {error}"})
        return 1
    _say({"url": f"{server.listening_address.rstrip('/')}/v1"})
    while sys.stdin.readline():
        pass
    return 0


def start(wanted: dict[str, Any]) -> Any:
    """Start the server. Raises `RuntimeError` for a file that is no model."""
    import xllamacpp  # pyright: ignore[reportMissingImports]  # the extra `local`

    params = xllamacpp.CommonParams()
    params.model.path = wanted["model"]
    params.n_ctx = wanted["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = wanted["threads"]
    params.cpuparams.poll = 0
    params.cpuparams_batch.n_threads = wanted["threads"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wanted["key"]]
    params.ui = False
    return xllamacpp.Server(params)


def _say(value: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
