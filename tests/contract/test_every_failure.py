"""Every way in which a model fails ends on the job: a reason in words, a group, a time to try again, never a loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from ltmem_gui.domain.events import JobFinished
from ltmem_gui.domain.jobs import JobStatus
from ltmem_gui.domain.settings import Settings
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.model_server import ModelServer, model_server
from tests.helpers.sessions import write_codex
from tests.helpers.waiting import wait_for

HOUR = 3_600
# scenario of the server → failure group, seconds until the next try, words of the reason
FAILURES: dict[str, tuple[str, int, str]] = {
    "429": ("rate_limit", HOUR, "too many requests"),
    "429-ms": ("rate_limit", HOUR, "too many requests"),
    "429-final": ("rate_limit", HOUR, "too many requests"),
    "429-quota": ("quota", HOUR, "quota is used up"),
    "429-long": ("rate_limit", 7_200, "too many requests"),
    "429-date": ("rate_limit", 7_200, "too many requests"),
    "429-mad": ("rate_limit", HOUR, "too many requests"),
    "429-never": ("rate_limit", 86_400, "too many requests"),
    "quota": ("quota", HOUR, "quota is used up"),
    "402": ("quota", HOUR, "no credit"),
    "500": ("server", HOUR, "the server failed"),
    "503": ("server", HOUR, "the server failed"),
    "html-502": ("server", HOUR, "the server failed"),
    "html-200": ("protocol", HOUR, "not what the API promises"),
    "wrong-shape": ("protocol", HOUR, "not what the API promises"),
    "redirect": ("protocol", HOUR, "sends elsewhere"),
    "slow": ("timeout", HOUR, "did not answer in time"),
    "drop": ("connection", HOUR, "connection failed"),
    "cut": ("connection", HOUR, "connection failed"),
    "401": ("auth", HOUR, "refused the key"),
    "403": ("auth", HOUR, "refused the key"),
    "404": ("model", HOUR, "does not know the model"),
    "400": ("request", HOUR, "refused the request"),
    "bad-json": ("schema", HOUR, "not JSON"),
    "extra-field": ("schema", HOUR, "confidence"),
    "missing-field": ("schema", HOUR, "rollout_slug"),
    "refusal": ("refusal", HOUR, "refused"),
    "length": ("length", HOUR, ""),
    "no-choices": ("empty", HOUR, "without"),
    "null": ("empty", HOUR, "without"),
}
OF_RESPONSES = {
    "failed": ("server", HOUR, "gave up"),
    "filtered": ("refusal", HOUR, "content_filter"),
}
# The endings of an answer differ between the two APIs; what the connection does is the same.
ENDINGS = ("429-date", "refusal", "length", "no-choices", "null", "wrong-shape")
CASES = [("chat", name, *expected) for name, expected in FAILURES.items()]
CASES += [("responses", name, *FAILURES[name]) for name in ENDINGS]
CASES += [("responses", name, *expected) for name, expected in OF_RESPONSES.items()]


@pytest.fixture(autouse=True)
def _no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.mark.parametrize(("api", "scenario", "group", "wait", "words"), CASES)
def test_a_failure_is_recorded_and_waits(
    tmp_path: Path, guard: Guard, server: ModelServer, api: str, scenario: str, group: str, wait: int, words: str
) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    write_codex(bench.sessions, [("user", "Always use pnpm.")], number=0, at=NOW - DAY)
    settings = Settings(
        max_rollout_age_days=3_650,
        provider_url=server.url,
        extract_model="small",
        provider_api=api,  # type: ignore[arg-type]
        request_timeout_seconds=1 if scenario == "slow" else 60,
    )
    server.requests.clear()
    server.plan(scenario)
    plan = asyncio.run(bench.plan_extract(provider="custom", settings=settings))
    assert asyncio.run(bench.apply(plan)).counts == {"failed": 1}

    (job,) = bench.jobs().values()
    assert (job.status, job.error_group, job.retry_remaining) == (JobStatus.ERROR, group, 2)
    assert job.retry_at == NOW + wait
    assert words in job.last_error
    assert "<html" not in job.last_error
    (attempt,) = job.attempts
    assert (attempt.outcome, attempt.error_group, attempt.error) == ("failed", group, job.last_error)
    assert [e.outcome for e in bench.events if isinstance(e, JobFinished)] == ["failed"]
    wait_for(lambda: server.posts, "the request at the server")
    assert len(server.posts) == 1

    # Until its time comes nothing is asked again, also when a person plans at once.
    bench.now = NOW + wait - 1
    again = asyncio.run(bench.plan_extract(provider="custom", settings=_unguarded(settings)))
    assert asyncio.run(bench.apply(again)).counts == {"skipped": 1}
    assert len(server.posts) == 1
    bench.now = NOW + wait
    patient = settings.model_copy(update={"request_timeout_seconds": 60})
    third = asyncio.run(bench.plan_extract(provider="custom", settings=patient))
    assert asyncio.run(bench.apply(third)).counts == {"succeeded": 1}


def _unguarded(settings: Settings) -> Settings:
    """Look past the server's wish to be left alone: the job's own time is what is tested here."""
    return settings.model_copy(update={"extract_model": "large"})
