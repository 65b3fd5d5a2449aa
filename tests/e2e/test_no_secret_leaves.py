"""A careless server repeats the key and a secret in its answers: neither is stored, logged, raised or printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.model_server import ModelServer, model_server
from tests.helpers.program import Program, Result
from tests.helpers.secret_shapes import tokens

PLANTED = tokens(11)["model-3"]
KEY = "plainwordsaskey"
"""A key without any look of one: only who sends it knows it."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server(echo=PLANTED) as running:
        yield running


@pytest.fixture
def chatty(program: Program) -> Program:
    """The program with a key, and with the client library told to log all it does."""
    program.environment |= {"MODEL_KEY": KEY, "OPENAI_LOG": "debug"}
    return program


def named(server: ModelServer) -> list[str]:
    settings = (f"provider_url={server.url}", "extract_model=small", "provider_key_env=MODEL_KEY")
    return ["--provider", "custom", *[part for setting in settings for part in ("--set", setting)]]


def leaks(program: Program, *results: Result) -> list[str]:
    """Return where one of the two stands: in what was printed, or in any file below the place."""
    texts = {f"stream {number}": (r.out + r.err).encode() for number, r in enumerate(results)}
    files = {str(path): path.read_bytes() for path in program.place.rglob("*") if path.is_file()}
    return [
        f"{name}: {secret}"
        for name, data in (texts | files).items()
        for secret in (KEY, PLANTED, PLANTED[:40])
        if secret.encode() in data
    ]


def test_a_failed_run_tells_no_secret_of_a_servers_answer(chatty: Program, sessions: Path, server: ModelServer) -> None:
    planned = chatty.plan("extract", *named(server), "--source", f"codex={sessions}")
    assert planned.code == 0, planned.err
    server.plan(*["echo-401"] * 4)
    applied = chatty.apply(planned)
    assert applied.json["counts"] == {"failed": 4}
    assert "Sending HTTP Request" in applied.err
    jobs = chatty("jobs", "--home", chatty.home, "--json")
    assert jobs.json["jobs"][0]["last_error"]
    assert leaks(chatty, planned, applied, jobs) == []
