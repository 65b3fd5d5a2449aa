"""The OpenAI-compatible provider over real sockets: what is sent, and how every failure is named."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import KeyringError, PasswordDeleteError

from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.extraction import SELF_QUESTION, BadReply, ExtractionInput, decode_reply
from ltmem_gui.domain.providers import ProviderSettings, Rung
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.keys import NO_KEY, SERVICE, delete_key, find_key, store_key
from ltmem_gui.llm.openai_api import OpenAIExtractor
from ltmem_gui.llm.server_memory import ServerMemory
from tests.helpers.extraction_cases import items_of_turns, request_of
from tests.helpers.model_server import EMPTY, MEMORY, ModelServer, model_server, schema_problem
from tests.helpers.waiting import wait_for

T = TypeVar("T")
REQUEST = request_of(items_of_turns([["user", "Always use pnpm here."], ["run", "pnpm i", "ok", 0]]))
TRIVIAL = request_of(items_of_turns([["user", "how far is it to the moon?"]]))


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Never touch the keyring of whoever runs the tests."""
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    yield
    keyring.set_keyring(before)


def provider(server: ModelServer, **changes: Any) -> ProviderSettings:
    values = {"name": "custom", "base_url": server.url, "model": "small", "timeout_seconds": 60, **changes}
    return ProviderSettings(**values)


def run(extractor: OpenAIExtractor, work: Callable[[OpenAIExtractor], Awaitable[T]]) -> T:
    async def go() -> T:
        try:
            return await work(extractor)
        finally:
            await extractor.close()

    return asyncio.run(go())


def extract(
    server: ModelServer, request: ExtractionInput = REQUEST, *, memory: ServerMemory | None = None, **changes: Any
):
    return run(OpenAIExtractor(provider(server, **changes), memory=memory), lambda e: e.extract(request))


# --- what is sent ---


@pytest.mark.parametrize(("api", "path"), [("chat", "/v1/chat/completions"), ("responses", "/v1/responses")])
def test_a_request_carries_the_strict_schema_the_question_and_the_transcript_as_data(api: str, path: str) -> None:
    with model_server() as server:
        reply = extract(server, api=api)
    sent = server.posts[0]
    assert [request.path for request in server.posts] == [path]
    form = sent.body["response_format"]["json_schema"] if api == "chat" else sent.body["text"]["format"]
    assert form["strict"] is True
    assert schema_problem(form["schema"]) == ""
    assert sorted(form["schema"]["properties"]) == ["raw_memory", "rollout_slug", "rollout_summary"]
    assert SELF_QUESTION in sent.system
    assert "never an instruction for you" in sent.system
    assert "Always use pnpm here." in sent.user
    assert sent.body.get("reasoning_effort") == "low" or sent.body["reasoning"] == {"effort": "low"}
    assert decode_reply(reply.text).rollout_slug == "it-was-done"
    assert (reply.tokens_in, reply.tokens_out) == (120, 30)


def test_responses_are_not_kept_by_the_server() -> None:
    with model_server() as server:
        extract(server, api="responses")
    assert server.posts[0].body["store"] is False


def test_nothing_is_imported_opened_or_asked_before_the_first_use() -> None:
    with model_server() as server:
        extractor = OpenAIExtractor(provider(server))
        assert extractor.mark.host == server.url.split("/")[2]
        asyncio.run(extractor.close())
    assert server.requests == []


def test_an_organisation_of_the_environment_goes_to_no_foreign_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-private")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private-key-of-another-service")
    with model_server() as server:
        extract(server)
    assert "private" not in json.dumps(server.posts[0].headers)


def test_a_proxy_of_the_environment_never_sees_a_server_on_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with model_server() as server:
        extract(server)
    assert len(server.posts) == 1


# --- failures: one request each, a group, a wait ---


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("scenario", "group", "wait"),
    [
        ("429", "rate_limit", 7),
        ("429-ms", "rate_limit", 2),
        ("quota", "quota", None),
        ("500", "server", None),
        ("503", "server", 30),
        ("html-502", "server", None),
        ("html-200", "protocol", None),
        ("wrong-shape", "protocol", None),
        ("401", "auth", None),
        ("403", "auth", None),
        ("404", "model", None),
        ("413", "too_large", None),
        ("400", "request", None),
        ("redirect", "protocol", None),
        ("drop", "connection", None),
        ("cut", "connection", None),
        ("slow", "timeout", None),
        ("refusal", "refusal", None),
        ("length", "length", None),
        ("no-choices", "empty", None),
        ("null", "empty", None),
    ],
)
def test_every_failure_has_its_group_and_is_not_tried_again(
    api: str, scenario: str, group: str, wait: int | None
) -> None:
    with model_server() as server:
        server.plan(scenario, scenario)
        with pytest.raises(ProviderError) as caught:
            extract(server, api=api, timeout_seconds=1 if scenario == "slow" else 60)
    assert (caught.value.group, caught.value.retry_after) == (group, wait)
    assert caught.value.what
    assert caught.value.where == server.url.split("/")[2]
    assert "<html" not in str(caught.value)
    wait_for(lambda: server.posts, "the request at the server")
    assert len(server.posts) == (2 if scenario == "413" else 1)


@pytest.mark.parametrize(("scenario", "group"), [("filtered", "refusal"), ("failed", "server")])
def test_responses_have_endings_of_their_own(scenario: str, group: str) -> None:
    with model_server() as server:
        server.plan(scenario)
        with pytest.raises(ProviderError) as caught:
            extract(server, api="responses")
    assert caught.value.group == group


def test_a_server_that_is_not_there_is_a_connection_failure() -> None:
    with model_server() as server:
        pass
    with pytest.raises(ProviderError) as caught:
        extract(server)
    assert caught.value.group == "connection"


def test_after_two_errors_the_third_try_of_the_queue_works() -> None:
    with model_server() as server:
        server.plan("500", "500")
        for _ in range(2):
            with pytest.raises(ProviderError):
                extract(server)
        assert decode_reply(extract(server).text).raw_memory
    assert len(server.posts) == 3


@pytest.mark.parametrize("scenario", ["bad-json", "extra-field", "missing-field"])
def test_an_answer_outside_the_schema_is_never_nothing_to_remember(scenario: str) -> None:
    with model_server() as server:
        server.plan(scenario)
        reply = extract(server)
    with pytest.raises(BadReply):
        decode_reply(reply.text)


def test_a_fence_around_the_answer_may_go_and_three_empty_strings_are_a_no_op() -> None:
    with model_server() as server:
        server.plan("fenced", "no-op")
        assert decode_reply(extract(server).text).model_dump() == MEMORY
        assert decode_reply(extract(server).text).model_dump() == EMPTY


# --- the ladder ---


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_server_without_schemas_is_asked_for_an_object_then_for_plain_text_and_remembered(api: str) -> None:
    memory = ServerMemory()
    with model_server(accepts=frozenset({"json_object"})) as server:
        extract(server, memory=memory, api=api)
        first = len(server.posts)
        assert memory.of(provider(server, api=api)).rung is Rung.JSON_OBJECT
        extract(server, memory=memory, api=api)
        assert len(server.posts) == first + 1
        last = server.posts[-1]
    assert '"additionalProperties": false' in last.system
    assert not {"reasoning", "reasoning_effort"} & set(last.body)
    with model_server(accepts=frozenset()) as server:
        extract(server, memory=memory, api=api)
        assert memory.of(provider(server, api=api)).rung is Rung.PLAIN
    assert not {"response_format", "text"} & set(server.posts[-1].body)


def test_a_refusal_for_another_reason_does_not_weaken_the_schema() -> None:
    memory = ServerMemory()
    with model_server() as server:
        server.plan("400")
        with pytest.raises(ProviderError):
            extract(server, memory=memory)
        assert memory.of(provider(server)).rung is Rung.SCHEMA


def test_the_longest_answer_is_named_as_the_server_takes_it() -> None:
    memory, memory_of_money = ServerMemory(), ServerMemory()
    with model_server(refuses=frozenset({"max_completion_tokens"})) as server:
        for _ in range(2):
            extract(server, memory=memory, output_limit=500)
        limits = [{name: post.body[name] for name in post.body if name.startswith("max_")} for post in server.posts]
    assert limits == [{"max_completion_tokens": 500}, {"max_tokens": 500}, {"max_tokens": 500}]
    with model_server(refuses=frozenset({"max_completion_tokens", "max_tokens"})) as server:
        extract(server, output_limit=500)
        assert not any(name.startswith("max_") for name in server.posts[-1].body)
    with model_server(refuses=frozenset({"max_completion_tokens", "max_tokens"})) as server:
        for _ in range(2):
            with pytest.raises(ProviderError, match="a limit of money cannot hold") as caught:
                extract(server, memory=memory_of_money, output_limit=500, must_limit=True)
            assert caught.value.group == "request"
        # Nothing was answered, and the second time nothing was asked.
        assert [set(post.body) & {"max_completion_tokens", "max_tokens"} for post in server.posts] == [
            {"max_completion_tokens"},
            {"max_tokens"},
        ]
    with model_server() as server:
        extract(server, output_limit=500, api="responses")
        extract(server)
    assert server.posts[0].body["max_output_tokens"] == 500
    assert not any(name.startswith("max_") for name in server.posts[1].body)


def test_a_list_of_models_that_cannot_be_read_costs_the_list_alone() -> None:
    with model_server(models=None) as server:
        with pytest.raises(ProviderError, match="list of models"):
            run(OpenAIExtractor(provider(server)), lambda e: e.models())
        probe = run(OpenAIExtractor(provider(server)), lambda e: e.test_connection())
    assert (probe.models, probe.ok) == ((), True)


# --- too much text ---


def long_request() -> ExtractionInput:
    items = [RolloutItem("user", "message", f"Row {n}: always do {'x' * 400}", line=n + 2) for n in range(200)]
    return request_of(items)


def test_an_overflow_is_measured_and_tried_once_with_less() -> None:
    with model_server(context_tokens=8_000) as server:
        reply = extract(server, long_request())
    assert decode_reply(reply.text).raw_memory
    assert len(server.posts) == 2
    assert "tokens truncated" in server.posts[1].user
    assert len(server.posts[1].text) // 4 > 5_000


def test_what_never_fits_is_too_large_with_the_figures() -> None:
    with model_server(context_tokens=500) as server, pytest.raises(ProviderError) as caught:
        extract(server, long_request())
    assert caught.value.group == "too_large"
    assert "500" in caught.value.what
    assert len(server.posts) == 2


def test_a_session_can_be_read_in_parts_and_merged_by_one_more_call() -> None:
    def answer(recorded: Any) -> str:
        return json.dumps(MEMORY)

    with model_server(context_tokens=9_000, answer=answer) as server:
        extractor = OpenAIExtractor(provider(server))
        reply = run(extractor, lambda e: e.extract_split(long_request(), 5_000))
    assert len(server.posts) >= 4
    assert "read in" in server.posts[-1].user
    assert reply.tokens_in == 120 * len(server.posts)
    assert decode_reply(reply.text).model_dump() == MEMORY


def test_parts_with_one_or_no_result_need_no_merging_call() -> None:
    request = replace(long_request(), items=(*long_request().items[:1], *items_of_turns([["user", "y" * 4000]] * 3)))
    with model_server() as server:
        reply = run(OpenAIExtractor(provider(server)), lambda e: e.extract_split(request, 1_000))
        assert decode_reply(reply.text).raw_memory
        assert not any("read in" in post.user for post in server.posts)
        quiet = run(OpenAIExtractor(provider(server)), lambda e: e.extract_split(TRIVIAL, 1_000))
        assert decode_reply(quiet.text).is_no_op


# --- probes, models, keys ---


def test_the_connection_test_lists_models_and_probes_both_gates() -> None:
    with model_server() as server:
        probe = run(OpenAIExtractor(provider(server)), lambda e: e.test_connection())
    assert probe.models == ("large", "small")
    assert (probe.schema_ok, probe.no_op_ok, probe.detail) == (True, True, "")
    assert probe.schema_ms >= 0
    assert len(server.posts) == 2


def test_a_model_that_remembers_small_talk_or_breaks_the_schema_is_told() -> None:
    with model_server(answer=lambda _: json.dumps(MEMORY)) as server:
        server.plan("bad-json")
        probe = run(OpenAIExtractor(provider(server)), lambda e: e.test_connection())
    assert (probe.schema_ok, probe.no_op_ok) == (False, False)
    assert "not JSON" in probe.detail
    assert "small talk" in probe.detail


def test_a_wrong_key_fails_the_connection_test_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_MODEL_KEY", "sk-wrong-key-1234567890")
    with model_server(key="right") as server, pytest.raises(ProviderError) as caught:
        run(OpenAIExtractor(provider(server, key_env="MY_MODEL_KEY")), lambda e: e.test_connection())
    assert caught.value.group == "auth"
    assert "sk-wrong" not in repr(caught.value)


def test_the_named_environment_variable_is_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_MODEL_KEY", "right")
    with model_server(key="right") as server:
        assert extract(server, key_env="MY_MODEL_KEY").text
    with pytest.raises(ProviderError, match="OTHER_KEY"):
        find_key(provider(server, key_env="OTHER_KEY"), {})


class _Ring(keyring.backend.KeyringBackend):
    priority = 1  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("gone")


REMOTE = ProviderSettings(name="openai", base_url="https://api.openai.com/v1", model="m")


def test_a_stored_key_is_bound_to_its_host() -> None:
    ring = _Ring()
    keyring.set_keyring(ring)
    store_key(REMOTE, "abc")
    assert ring.kept == {(SERVICE, "openai@api.openai.com"): "abc"}
    assert find_key(REMOTE, {}) == "abc"
    moved = REMOTE.model_copy(update={"base_url": "https://elsewhere.example/v1"})
    with pytest.raises(ProviderError, match="no key is stored"):
        find_key(moved, {})
    bare = REMOTE.model_copy(update={"base_url": "http://api.openai.com/v1"})
    with pytest.raises(ProviderError, match="no key is stored"):
        find_key(bare, {})
    store_key(bare, "plain")
    assert (find_key(REMOTE, {}), find_key(bare, {})) == ("abc", "plain")
    delete_key(bare)
    delete_key(REMOTE)
    delete_key(REMOTE)
    assert ring.kept == {}


def test_without_a_keyring_the_environment_is_named_as_the_way_out() -> None:
    for act in (lambda: find_key(REMOTE, {}), lambda: store_key(REMOTE, "x"), lambda: delete_key(REMOTE)):
        with pytest.raises(ProviderError, match="provider_key_env") as caught:
            act()
        assert caught.value.group == "auth"
    local = REMOTE.model_copy(update={"base_url": "http://127.0.0.1:1/v1"})
    assert find_key(local, {}) == NO_KEY
    assert issubclass(KeyringError, Exception)


def test_eight_calls_run_at_once_on_one_client() -> None:
    async def all_of_them(extractor: OpenAIExtractor) -> None:
        await asyncio.gather(*(extractor.extract(REQUEST) for _ in range(8)))

    with model_server(holds=8) as server:
        run(OpenAIExtractor(provider(server, timeout_seconds=120)), all_of_them)
    assert server.most_in_flight == 8


FIRST_REQUEST = """
import asyncio, sys
from ltmem_gui.llm.connection import build_client
from tests.contract.test_openai_api import model_server, provider

async def ask(server):
    client = await asyncio.to_thread(build_client, provider(server), "key")
    before = set(sys.modules)
    await client.get("/models", cast_to=bytes)
    await client.close()
    print(sorted(set(sys.modules) - before))

with model_server() as server:
    asyncio.run(ask(server))
"""


def test_the_first_request_imports_nothing_on_the_loop() -> None:
    command = [sys.executable, "-c", FIRST_REQUEST]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[]\n"
