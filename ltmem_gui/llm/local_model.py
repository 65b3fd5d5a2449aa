"""Run a GGUF file as a provider (experimental, off by default): a child process, loopback, one key per start.

Threads spin and starve a busy machine (reference extraction.md), so the child gets all cores but one and waits
passively. It ends when its stdin closes, also when this process dies.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ltmem_gui.domain.errors import ProviderError, UsageError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.providers import LOCAL, ProviderSettings
from ltmem_gui.llm.connection import OnThread
from ltmem_gui.llm.openai_api import OpenAIExtractor

CONTEXT_TOKENS = 8_192
ANSWER_SECONDS = 1_800
STOP_SECONDS = 10.0
GGUF_MAGIC = b"GGUF"
NICE = 10
_MODULE = "xllamacpp"


def check_model_file(path: Path) -> None:
    """Check that a model file can be tried.

    Raises `UsageError` for a missing file or another kind of file, `ProviderError` when the extra is not installed.
    """
    if importlib.util.find_spec(_MODULE) is None:
        raise ProviderError(
            "model files need the extra `local`, which is not installed",
            "pip install 'ltmem-gui[local]', or run llama.cpp's own server and choose the provider llamacpp",
            group="local",
        )
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(GGUF_MAGIC))
    except OSError as error:
        raise UsageError("the model file cannot be read", "set extract_model to a GGUF file", str(path)) from error
    if magic != GGUF_MAGIC:
        raise UsageError("this is no GGUF file", "choose a model file that ends in .gguf", str(path))


class LocalExtractor:
    """Implement the `Extractor` port for a model file; the child starts at the first request and ends with `close`."""

    def __init__(
        self,
        path: Path,
        *,
        on_thread: OnThread | None = None,
        spawn: Callable[[], subprocess.Popen[str]] | None = None,
    ) -> None:
        """Take the file; nothing is opened or started yet."""
        self._path = path
        self._on_thread: OnThread = on_thread or asyncio.to_thread
        self._spawn = spawn or spawn_child
        self._child: subprocess.Popen[str] | None = None
        self._inner: OpenAIExtractor | None = None
        self._starting = asyncio.Lock()

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it: text goes to a child process on this computer."""
        label = f"Local model file {self._path.name}, experimental; nothing leaves this computer"
        return ProviderMark(name=LOCAL, label=label, host="127.0.0.1", model=self._path.name)

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        """Answer for one rollout. Raises `ProviderError`, and `UsageError` for a file that cannot be used."""
        return await (await self._running()).extract(request)

    async def extract_split(self, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
        """Extract in parts, and merge them. Raises what `extract` raises."""
        return await (await self._running()).extract_split(request, part_tokens)

    async def _running(self) -> OpenAIExtractor:
        """Return the connection to the child; it is started when it is first needed."""
        async with self._starting:
            if self._inner is None:
                url, key = await self._on_thread(self._start)
                self._inner = OpenAIExtractor(self._settings(url), on_thread=self._on_thread, key=key)
            return self._inner

    async def close(self) -> None:
        """End the child and the connections to it."""
        if self._inner is not None:
            await self._inner.close()
            self._inner = None
        if self._child is not None:
            await self._on_thread(_stop, self._child)
            self._child = None

    def _settings(self, url: str) -> ProviderSettings:
        return ProviderSettings(
            name=LOCAL,
            base_url=url,
            model=self._path.name,
            api="chat",
            context_window=CONTEXT_TOKENS,
            timeout_seconds=ANSWER_SECONDS,
        )

    def _start(self) -> tuple[str, str]:
        check_model_file(self._path)
        key = secrets.token_urlsafe(24)
        child = self._child = self._spawn()
        assert child.stdin is not None and child.stdout is not None  # noqa: PT018 - pipes were asked for
        threads = max(1, (os.cpu_count() or 2) - 1)
        wanted = {"model": str(self._path), "key": key, "threads": threads, "context": CONTEXT_TOKENS}
        try:
            child.stdin.write(json.dumps(wanted) + "\n")
            child.stdin.flush()
            said = json.loads(child.stdout.readline() or "{}")
        except (OSError, ValueError):
            said = {}
        url = said.get("url", "")
        if not url:
            _stop(child)
            self._child = None
            reason = one_line(str(said.get("error") or "the child process ended"), 200)
            raise ProviderError(f"the model file could not be started ({reason})", "try another file", group=LOCAL)
        return url, key


def spawn_child(environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start the child process, waiting passively and at low priority."""
    passive = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    lower = ["nice", "-n", str(NICE)] if os.name == "posix" else []
    return subprocess.Popen(
        [*lower, sys.executable, "-m", "ltmem_gui.llm.local_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**(os.environ if environment is None else environment), **passive},
    )


def _stop(child: subprocess.Popen[str]) -> None:
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                continue  # the child is gone already: nothing is left to flush to it
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
