"""The real program with a model on a loopback server: shown first, redacted first, sent only to the host planned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import SECRET
from tests.helpers.model_server import ModelServer, model_server
from tests.helpers.program import Program


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def options(server: ModelServer, sessions: Path) -> list[str]:
    settings = (f"provider_url={server.url}", "extract_model=small")
    return ["--provider", "custom", "--source", f"codex={sessions}", *[p for s in settings for p in ("--set", s)]]


def test_planning_shows_what_would_be_sent_and_sends_nothing(
    program: Program, sessions: Path, server: ModelServer
) -> None:
    planned = program.plan("extract", *options(server, sessions))
    assert planned.code == 0, planned.err
    (send,) = [effect for effect in planned.json["effects"] if effect["type"] == "SendToModel"]
    assert send["host"] in server.url
    assert (send["requests"], send["loopback"], send["model"]) == (4, True, "small")
    assert send["tokens"] > 0
    assert sum(send["redactions"].values()) >= 1
    assert server.requests == []
    assert SECRET not in planned.out


def test_a_confirmed_run_sends_redacted_text_to_that_host_alone(
    program: Program, sessions: Path, server: ModelServer
) -> None:
    planned = program.plan("extract", *options(server, sessions))
    receipt = program.apply(planned)
    assert receipt.code == 0, receipt.err
    assert sum(receipt.json["counts"].values()) == 4
    assert len(server.posts) == 4
    assert all(SECRET not in request.text for request in server.posts)
    hosts = {what for kind, what in receipt.events if kind == "connect"}
    assert len(hosts) == 1
    again = program.plan("extract", *options(server, sessions))
    assert again.code == 3
    assert len(server.posts) == 4


def test_a_server_that_is_gone_is_a_failure_with_a_retry(program: Program, sessions: Path, server: ModelServer) -> None:
    planned = program.plan("extract", *options(server, sessions))
    server.plan(*["500"] * 4)
    receipt = program.apply(planned)
    assert receipt.code == 0
    assert receipt.json["counts"] == {"failed": 4}
    jobs = program("jobs", "--home", program.home, "--json").json["jobs"]
    assert all(job["retry_at"] and job["last_error"] for job in jobs if job["kind"] == "memory_stage1")
    assert len(server.posts) == 4


def test_an_unknown_provider_is_a_usage_error(program: Program, sessions: Path) -> None:
    refused = program.plan("extract", "--provider", "nobody", "--source", f"codex={sessions}")
    assert (refused.code, "Traceback" in refused.err) == (2, False)


def test_a_run_tells_what_it_takes_and_stops_at_its_limit_of_money(
    program: Program, sessions: Path, server: ModelServer
) -> None:
    money = ("--set", "prices=custom small 1 10 USD", "--set", "max_cost_per_run=0.2")
    planned = program.plan("extract", *options(server, sessions), *money)
    (send,) = [effect for effect in planned.json["effects"] if effect["type"] == "SendToModel"]
    assert (send["currency"], send["cost_limit"]) == ("USD", "0.2")
    assert "stops at 0.20 USD" in send["price"]
    server.usage = (1_000, 9_000, 0)  # 0.091 USD each
    receipt = program.apply(planned)
    assert receipt.code == 0, receipt.err
    assert receipt.json["costs"] == {"USD": "0.091"}
    assert receipt.json["counts"] == {"skipped": 3, "succeeded": 1}
    assert "0.091 USD spent of 0.20 USD, 10,000 tokens" in receipt.err
    assert receipt.err.count("left out, no try lost: the limit of 0.20 USD leaves 0.11 USD") == 1
    totals = program("metrics", "--home", program.home, "--json").json
    assert (totals["cost"], totals["cost_unknown"]) == ({"USD": "0.091"}, 0)


def test_a_provider_that_says_stop_is_heard_by_the_next_call(
    program: Program, sessions: Path, server: ModelServer
) -> None:
    planned = program.plan("extract", *options(server, sessions))
    server.plan(*["429-long"] * 4)
    receipt = program.apply(planned)
    assert receipt.code == 0, receipt.err
    posts = len(server.posts)
    again = program.plan("extract", *options(server, sessions))
    assert (again.code, "asked not to be called before" in again.err) == (4, True)
    assert len(server.posts) == posts
