"""A model file as a provider: the child process, its key, its end, and the words without the extra."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from ltmem_gui.domain.errors import ProviderError, UsageError
from ltmem_gui.domain.extraction import decode_reply
from ltmem_gui.llm.local_model import LocalExtractor, check_model_file, spawn_child
from tests.helpers.extraction_cases import items_of_turns, request_of

REQUEST = request_of(items_of_turns([["user", "Always use pnpm here."]]))
REPOSITORY = Path(__file__).resolve().parents[2]

# Stands in for the extra: the same names, our loopback server behind them.
FAKE = """
import types
from tests.helpers.model_server import model_server

class CommonParams:
    def __init__(self):
        self.model = types.SimpleNamespace(path="")
        self.cpuparams = types.SimpleNamespace(n_threads=0, poll=50)
        self.cpuparams_batch = types.SimpleNamespace(n_threads=0)

class Server:
    def __init__(self, params):
        assert params.hostnames == ["127.0.0.1"] and params.port == 0 and params.cpuparams.poll == 0
        if "broken" in params.model.path:
            raise RuntimeError("failed to load model")
        self._running = model_server(key=params.api_keys[0])
        self.listening_address = self._running.__enter__().url.removesuffix("/v1")
"""


@pytest.fixture
def children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make the stand-in importable here and in the child; collect the children."""
    (tmp_path / "xllamacpp.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    started: list[subprocess.Popen[str]] = []

    def spawn() -> subprocess.Popen[str]:
        path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
        started.append(spawn_child({**os.environ, "PYTHONPATH": path}))
        return started[-1]

    yield spawn, started
    for child in started:
        assert child.poll() is not None


def model_file(tmp_path: Path, name: str = "tiny.gguf") -> Path:
    path = tmp_path / name
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    return path


def test_a_file_is_served_by_a_child_that_ends_with_the_extractor(tmp_path: Path, children) -> None:
    spawn, started = children
    extractor = LocalExtractor(model_file(tmp_path), spawn=spawn)
    assert extractor.mark.host == "127.0.0.1"
    assert "experimental" in extractor.mark.label
    assert started == []

    async def work() -> list[str]:
        replies = await asyncio.gather(extractor.extract(REQUEST), extractor.extract(REQUEST))
        await extractor.close()
        await extractor.close()
        return [reply.text for reply in replies]

    assert [decode_reply(text).is_no_op for text in asyncio.run(work())] == [False, False]
    assert [child.returncode for child in started] == [0]


def test_a_file_takes_a_long_rollout_in_parts(tmp_path: Path, children) -> None:
    spawn, started = children
    extractor = LocalExtractor(model_file(tmp_path), spawn=spawn)
    long = request_of(items_of_turns([["user", f"Always use pnpm here, rule {n}. " * 60] for n in range(6)]))

    async def work() -> str:
        reply = await extractor.extract_split(long, 600)
        await extractor.close()
        return reply.text

    decode_reply(asyncio.run(work()))
    assert len(started) == 1


def test_a_file_that_does_not_load_is_named_and_leaves_no_child(tmp_path: Path, children) -> None:
    spawn, started = children
    extractor = LocalExtractor(model_file(tmp_path, "broken.gguf"), spawn=spawn)
    with pytest.raises(ProviderError, match="failed to load model") as caught:
        asyncio.run(extractor.extract(REQUEST))
    assert caught.value.group == "local"
    assert len(started) == 1


def test_another_file_is_refused_before_anything_starts(tmp_path: Path, children) -> None:
    spawn, started = children
    other = tmp_path / "notes.txt"
    other.write_text("hello", encoding="utf-8")
    for path, words in ((other, "no GGUF"), (tmp_path / "gone.gguf", "cannot be read")):
        with pytest.raises(UsageError, match=words):
            asyncio.run(LocalExtractor(path, spawn=spawn).extract(REQUEST))
    assert started == []


def test_without_the_extra_the_option_explains_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ProviderError, match=r"ltmem-gui\[local\]") as caught:
        check_model_file(model_file(tmp_path))
    assert caught.value.group == "local"
