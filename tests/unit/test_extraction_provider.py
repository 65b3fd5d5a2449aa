"""Prompts, schema, budget, presets and the naming of failures: everything of the provider that needs no socket."""

from __future__ import annotations

import json
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.extraction import SELF_QUESTION, StageOneReply
from ltmem_gui.domain.providers import PRESETS, ProviderSettings, is_loopback_host, provider_of
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.domain.settings import Settings
from ltmem_gui.llm.budget import MAX_PARTS, cut_to, is_overflow, measured, smaller_budget, split
from ltmem_gui.llm.failures import of_client
from ltmem_gui.llm.limits import MAX_WAIT_SECONDS, retry_after
from ltmem_gui.llm.prompts import Prompts, fence_for
from ltmem_gui.llm.schema import stage_one_schema
from tests.helpers.extraction_cases import request_of
from tests.helpers.model_server import schema_problem

PROMPTS = Prompts()


def request_with(text: str, **changes: Any):
    request = request_of([RolloutItem("user", "message", text, 2)])
    values = {"transcript": text, **changes}
    return type(request)(**{**{f: getattr(request, f) for f in request.__dataclass_fields__}, **values})


# --- prompts ---


def test_the_instructions_hold_the_gate_the_escape_and_the_warning() -> None:
    text = PROMPTS.stage_one_system(request_with("x"), schema_in_prompt=False)
    assert SELF_QUESTION in text
    for part in (
        "empty strings",
        "`success`, `partial`, `fail` or `uncertain`",
        "not orders",
        "citation_entries",
        "(UTC)",
    ):
        assert part in text
    assert "additionalProperties" not in text
    assert '"additionalProperties": false' in PROMPTS.stage_one_system(request_with("x"), schema_in_prompt=True)


def test_the_session_date_is_the_day_in_utc() -> None:
    assert "2026-03-01" in PROMPTS.stage_one_input(request_with("x", updated_at=1_772_323_200))


def test_a_missing_value_is_an_error_and_never_a_gap() -> None:
    with pytest.raises(jinja2.UndefinedError):
        PROMPTS.render("stage_one_input.md.j2", thread_id="x")


def test_templates_in_a_transcript_stay_text() -> None:
    assert "{{ 7 * 7 }} {% raw %}" in PROMPTS.stage_one_input(request_with("{{ 7 * 7 }} {% raw %}"))


@given(st.text(alphabet="`~ \nabc\u2028\u202e", max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_transcript_can_close_its_fence_or_hide_characters(text: str) -> None:
    shown = PROMPTS.stage_one_input(request_with(text))
    fence = fence_for(text)
    rows = shown.split("\n")
    assert [row for row in rows if row.strip() == fence] == [fence]
    assert not {"\u2028", "\u202e"} & set(shown)


def test_a_cut_and_a_missing_branch_are_told_or_left_out() -> None:
    cut = PROMPTS.stage_one_input(request_with("x", truncated=True, tokens=5, tokens_before=9, git_branch=None))
    assert "5 of about 9 tokens" in cut
    assert "Git branch" not in cut


def test_the_schema_is_strict_and_names_the_decoders_fields() -> None:
    schema = stage_one_schema()
    assert schema_problem(schema) == ""
    assert list(schema["properties"]) == list(StageOneReply.model_fields)
    assert "additionalProperties" in schema_problem({**schema, "additionalProperties": True})


# --- budget ---

OPENAI_SAYS = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
LLAMA_SAYS = "the request exceeds the available context size. n_prompt_tokens: 9000, n_ctx: 4096"


@pytest.mark.parametrize(
    ("message", "limit", "asked"), [(OPENAI_SAYS, 8192, 9000), (LLAMA_SAYS, 4096, 9000), ("no", None, None)]
)
def test_a_server_s_figures_are_read(message: str, limit: int | None, asked: int | None) -> None:
    assert measured(message) == (limit, asked)


def test_an_overflow_is_told_by_code_or_words() -> None:
    assert is_overflow("context_length_exceeded", "")
    assert is_overflow("", "Prompt is too long")
    assert not is_overflow("invalid_request_error", "temperature out of range")


@pytest.mark.parametrize("message", [OPENAI_SAYS, LLAMA_SAYS, "too many tokens"])
def test_the_next_budget_is_smaller_and_within_the_limit(message: str) -> None:
    request = request_with("x" * 40_000, tokens=10_000)
    budget = smaller_budget(request, 1_500, message)
    assert budget < request.tokens
    limit = measured(message)[0]
    assert limit is None or budget + 1_500 <= limit
    smaller = cut_to(request, budget)
    assert smaller.truncated
    assert smaller.tokens <= budget + 20


def test_parts_hold_every_item_once_and_fit() -> None:
    items = [RolloutItem("user", "message", f"row {n} " + "y" * (n * 37 % 900), n) for n in range(1, 60)]
    request = request_of(items)
    parts = split(request, 800)
    assert [item for part in parts for item in part.items] == items
    assert 1 < len(parts) <= MAX_PARTS
    assert all(part.tokens <= max(800, -(-request.tokens // MAX_PARTS)) + 20 for part in parts)
    assert split(request_of([]), 800) == ()


# --- providers ---


def test_presets_fill_in_the_address_and_custom_needs_one() -> None:
    for name, url in PRESETS.items():
        chosen = Settings(extract_model="m", provider_url="" if url else "http://localhost:9/v1/")
        found = provider_of(name, chosen)
        assert found.base_url == (url or "http://localhost:9/v1")
        assert found.uses_responses == (name == "openai")
        assert found.is_loopback == (name != "openai")
        assert (found.host in found.mark.label) == (name == "openai")
        assert found.mark.host == found.host
    assert provider_of("ollama", Settings(), "given").model == "given"
    assert provider_of("ollama", Settings(extract_model="m", provider_api="responses")).uses_responses


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("nobody", {}, "unknown provider"),
        ("custom", {}, "no address"),
        ("ollama", {"extract_model": ""}, "no model"),
        ("custom", {"provider_url": "ftp://x/v1"}, "no http"),
        ("custom", {"provider_url": "http://me:pw@x/v1"}, "no user name"),
        ("custom", {"provider_url": "http://x/v1?key=1"}, "no user name"),
        ("ollama", {"provider_key_env": "sk-123"}, "never the key"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_in_words(name: str, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        provider_of(name, Settings(**{"extract_model": "m", **changes}))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("app.localhost", False),
        ("127.evil.example", False),
        ("localhost.evil.example", False),
        ("10.0.0.1", False),
    ],
)
def test_only_this_computer_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback_host(host) is loopback


def test_the_settings_of_a_provider_have_no_place_for_a_key() -> None:
    assert "api_key" not in ProviderSettings.model_fields
    dumped = json.dumps(provider_of("ollama", Settings(extract_model="m", provider_key_env="MY_KEY")).model_dump())
    assert "MY_KEY" in dumped


# --- waits ---


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12),
        ({"retry-after": "0.2"}, 1),
        ({"retry-after-ms": "200", "retry-after": "9"}, 1),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "99999999999"}, MAX_WAIT_SECONDS),
    ],
)
def test_the_wait_a_server_asks_for_is_read_and_bounded(headers: dict[str, str], wait: int | None) -> None:
    assert retry_after(headers, 10.0) == wait


def test_an_unknown_error_of_the_client_is_named_without_its_text() -> None:
    error = of_client(RuntimeError("Bearer sk-secret"), "host")
    assert (error.group, "sk-secret" in str(error)) == ("provider", False)
    assert of_client(ValueError("x"), "host").group == "protocol"
