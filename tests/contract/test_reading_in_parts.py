"""Sessions that do not fit a model, over real sockets: measured, tried with less, then split with nothing lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import ClaimJobs, SendToModel
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply, decode_reply
from ltmem_gui.domain.memory_items import requests_for_parts
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.domain.settings import Settings
from ltmem_gui.llm.openai_api import OpenAIExtractor
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.extraction_cases import request_of
from tests.helpers.guard import Guard
from tests.helpers.model_server import EMPTY, MEMORY, ModelServer, Recorded, model_server
from tests.helpers.sessions import thread_id, write_codex

RULES = [f"Rule {n:03}: always keep ledger {n * 7919 % 1000:03} open. " + "x" * 400 for n in range(60)]


@pytest.fixture(autouse=True)
def _no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


def seen(server: ModelServer) -> set[str]:
    """Return the rules that the model could read."""
    refused = {id(request) for request in server.too_long}
    read = "\n".join(request.user for request in server.posts if id(request) not in refused)
    return {rule[:9] for rule in RULES if rule[:40] in read}


def merging(request: Recorded) -> bool:
    return "was read in" in request.user


def read(server: ModelServer, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
    async def run() -> ExtractionReply:
        provider = ProviderSettings(name="custom", base_url=server.url, model="small", timeout_seconds=60)
        extractor = OpenAIExtractor(provider)
        try:
            return await extractor.extract_split(request, part_tokens)
        finally:
            await extractor.close()

    return asyncio.run(run())


def long_session() -> ExtractionInput:
    return request_of([RolloutItem("user", "message", rule, line=n + 2) for n, rule in enumerate(RULES)])


# --- the whole way ---


def test_from_too_large_to_a_merged_memory(tmp_path: Path, guard: Guard) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    write_codex(bench.sessions, [("user", rule) for rule in RULES], number=0, at=NOW - DAY)
    thread = thread_id(0, NOW - DAY)

    with model_server(context_tokens=4_500, names_limit=False, answer=lambda _: json.dumps(MEMORY)) as server:
        base = Settings(max_rollout_age_days=3_650, provider_url=server.url, extract_model="small")
        first = asyncio.run(bench.plan_extract(provider="custom", settings=base))
        assert asyncio.run(bench.apply(first)).counts == {"failed": 1}
        job = bench.jobs()[thread]
        assert (job.error_group, job.retry_remaining, len(server.posts)) == ("too_large", 2, 2)
        assert "tokens do not fit the model, nor do" in job.last_error
        assert "split the session" in job.last_error

        server.requests.clear()
        wish = Operations(bench).plan_queue_action(
            bench.request(provider="custom", settings=base),
            QueueAction.SPLIT,
            [thread],
            cancel=CancelToken(),
            listen=bench.events.append,
        )
        plan = asyncio.run(wish)
        (send,), (claim,) = plan.effects_of(SendToModel), plan.effects_of(ClaimJobs)
        assert asyncio.run(bench.apply(plan)).counts == {"succeeded": 1}
        assert seen(server) == {rule[:9] for rule in RULES}
        assert [merging(post) for post in server.posts].count(True) == 1
        assert merging(server.posts[-1])
        assert len(server.posts) <= send.requests == requests_for_parts(claim.jobs[0].tokens_sent, claim.jobs[0].split)

    job = bench.jobs()[thread]
    assert [attempt.outcome for attempt in job.attempts] == ["failed", "succeeded"]
    assert job.attempts[-1].tokens_in == 120 * len(server.posts)
    with bench.stores.reading(bench.home) as store:
        assert [row.rollout_summary for row in store.outputs()] == [MEMORY["rollout_summary"]]


def test_a_measured_overflow_needs_no_split(tmp_path: Path, guard: Guard) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    write_codex(bench.sessions, [("user", rule) for rule in RULES], number=0, at=NOW - DAY)
    with model_server(context_tokens=4_500, answer=lambda _: json.dumps(MEMORY)) as server:
        base = Settings(max_rollout_age_days=3_650, provider_url=server.url, extract_model="small")
        plan = asyncio.run(bench.plan_extract(provider="custom", settings=base))
        assert asyncio.run(bench.apply(plan)).counts == {"succeeded": 1}
    assert (len(server.posts), len(server.too_long)) == (2, 1)


# --- parts that do not fit either ---


def test_parts_that_do_not_fit_are_split_anew_by_the_servers_measure_and_nothing_is_lost() -> None:
    with model_server(context_tokens=4_200, answer=lambda _: json.dumps(MEMORY)) as server:
        reply = read(server, long_session(), 2_800)
    assert decode_reply(reply.text).model_dump() == MEMORY
    assert 1 <= len(server.too_long) <= 2
    assert seen(server) == {rule[:9] for rule in RULES}
    assert len(server.posts) <= requests_for_parts(long_session().tokens_before, 2_800)


def test_results_too_long_to_merge_at_once_are_merged_in_halves() -> None:
    def answer(request: Recorded) -> str:
        if merging(request):
            return json.dumps(MEMORY)
        return json.dumps({**MEMORY, "raw_memory": "- " + "y" * 4_000})

    with model_server(context_tokens=5_000, answer=answer) as server:
        reply = read(server, long_session(), 1_500)
    merges = [post for post in server.posts if merging(post)]
    assert decode_reply(reply.text).model_dump() == MEMORY
    assert len([post for post in merges if post in server.too_long]) >= 1
    assert len(merges) >= 4
    assert len(server.posts) <= requests_for_parts(long_session().tokens_before, 1_500)


def test_what_fits_in_no_way_is_too_large_with_what_it_cost() -> None:
    with model_server(context_tokens=1_000) as server, pytest.raises(ProviderError) as caught:
        read(server, long_session(), 3_000)
    assert caught.value.group == "too_large"
    assert len(server.posts) <= requests_for_parts(long_session().tokens_before, 3_000)


def test_one_item_that_does_not_fit_is_cut_in_its_middle() -> None:
    item = RolloutItem("user", "message", "always begin here " + "z" * 24_000 + " and end there", line=2)
    request = replace(request_of([item]), tokens_before=6_100)
    with model_server(context_tokens=4_200) as server:
        reply = read(server, request, 6_100)
    assert decode_reply(reply.text).raw_memory
    assert [len(server.posts), len(server.too_long)] == [2, 1]
    assert "always begin here" in server.posts[1].user
    assert "and end there" in server.posts[1].user


# --- what goes wrong in between ---


def test_a_failure_halfway_knows_what_the_parts_before_it_took() -> None:
    with model_server() as server:
        server.plan("ok", "ok", "429")
        with pytest.raises(ProviderError) as caught:
            read(server, long_session(), 2_000)
    assert (caught.value.group, caught.value.retry_after) == ("rate_limit", 7)
    assert caught.value.usage is not None
    assert (caught.value.usage.input, caught.value.usage.output) == (240, 60)
    with model_server() as server:
        server.plan("ok", "refusal")
        with pytest.raises(ProviderError) as caught:
            read(server, long_session(), 2_000)
    assert caught.value.usage is not None
    assert caught.value.usage.input == 240


def test_a_part_that_breaks_the_schema_ends_the_work() -> None:
    with model_server() as server:
        server.plan("ok", "extra-field")
        reply = read(server, long_session(), 2_000)
    assert "confidence" in reply.text
    assert (reply.tokens_in, len(server.posts)) == (240, 2)


def test_parts_without_anything_to_remember_are_nothing_to_remember() -> None:
    with model_server(answer=lambda _: json.dumps(EMPTY)) as server:
        reply = read(server, long_session(), 2_000)
    assert decode_reply(reply.text).is_no_op
    assert not any(merging(post) for post in server.posts)
