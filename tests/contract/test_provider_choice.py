"""Choosing a provider, from the facade and the command line, against a real server: nothing of the person's is sent."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend

from ltmem_gui.bootstrap import compose
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.errors import ProviderError, UsageError
from ltmem_gui.domain.providers import PRESETS, Rung
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.provider_choice import STAYS, ProviderChoice
from tests.helpers.model_server import ModelServer, model_server


class Ring(KeyringBackend):
    """A keyring in memory."""

    priority = 1  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.kept.pop(username, None)


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ring]:
    before = keyring.get_keyring()
    mine = Ring()
    keyring.set_keyring(mine)
    yield mine
    keyring.set_keyring(before)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def settings(server: ModelServer, *more: str) -> Settings:
    return Settings().with_overrides([f"provider_url={server.url}", "extract_model=small", *more])


def choice() -> ProviderChoice:
    return Operations(compose(None)).providers


def command(server: ModelServer, *argv: str, typed: str = "") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    given = ["--set", f"provider_url={server.url}"]
    surfaces = Surfaces(compose=lambda home: compose(home), launch_window=lambda options: 0)
    code = run([*given, *argv], surfaces, io.StringIO(typed), out, err)
    return code, out.getvalue(), err.getvalue()


# --- the facade ---


def test_the_options_begin_with_the_built_in_rules_and_name_every_preset() -> None:
    options = choice().options()
    assert [option.name for option in options] == ["builtin", *PRESETS, "local"]
    assert (options[0].needs_model, options[0].url) == (False, "")
    assert [option.name for option in options if option.needs_url] == ["custom"]


def test_where_text_goes_is_said_before_anything_is_sent(server: ModelServer) -> None:
    near = choice().describe("custom", settings(server))
    assert (near.loopback, near.note, near.host in server.url) == (True, STAYS, True)
    far = choice().describe("openai", Settings())
    assert (far.loopback, far.host) == (False, "api.openai.com")
    assert "sent to api.openai.com" in far.note
    assert "unencrypted" in choice().describe("custom", Settings(provider_url="http://models.example/v1")).note
    assert [choice().describe(name, Settings()).note for name in ("builtin", "local")] == [STAYS, STAYS]
    with pytest.raises(UsageError, match="provider_url"):
        choice().describe("custom", Settings())
    assert server.requests == []


def test_the_price_is_said_or_unknown(server: ModelServer) -> None:
    assert choice().describe("custom", settings(server)).price_words == "price unknown"
    priced = choice().describe("custom", settings(server, "prices=custom small 0.5 2 EUR"))
    assert priced.price_words == "0.5 EUR in, 2 EUR out per million tokens"


def test_models_are_listed_without_one_being_chosen(server: ModelServer) -> None:
    found = asyncio.run(choice().models("custom", Settings(provider_url=server.url)))
    assert found == ("large", "small")
    assert [request.method for request in server.requests] == ["GET"]
    for name in ("builtin", "local", "nobody"):
        with pytest.raises(UsageError):
            asyncio.run(choice().models(name, Settings()))


def test_a_connection_test_needs_a_model_and_tells_what_it_found(server: ModelServer) -> None:
    report = asyncio.run(choice().test_connection("custom", settings(server)))
    assert (report.ok, report.rung, report.limits) == (True, Rung.SCHEMA, None)
    assert len(server.posts) == 2
    with pytest.raises(UsageError, match="no model"):
        asyncio.run(choice().test_connection("custom", Settings(provider_url=server.url)))


def test_limits_and_the_form_that_is_taken_are_told(server: ModelServer) -> None:
    server.accepts = frozenset({"json_object"})
    server.headers = {"x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": "9"}
    report = asyncio.run(choice().test_connection("custom", settings(server)))
    assert (report.ok, report.rung) == (True, Rung.JSON_OBJECT)
    assert report.limits is not None
    assert report.limits.windows[0].remaining == 9


def test_a_model_file_explains_itself(tmp_path: Path) -> None:
    problem = asyncio.run(choice().local_problem(Settings(extract_model=str(tmp_path / "none.gguf"))))
    assert "local" in problem or "cannot be read" in problem
    with pytest.raises(UsageError):
        asyncio.run(choice().test_connection("local", Settings(extract_model=str(tmp_path / "none.gguf"))))


def test_a_key_is_kept_for_its_host_alone_and_never_shown(ring: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    providers, far = choice(), Settings()
    assert asyncio.run(providers.key_place("openai", far)) == ""
    asyncio.run(providers.store_key("openai", far, " sk-abc \n"))
    assert ring.kept == {"openai@api.openai.com": "sk-abc"}
    assert asyncio.run(providers.key_place("openai", far)) == "in the system's keyring"
    assert asyncio.run(providers.key_place("openai", Settings(provider_url="https://other.example/v1"))) == ""
    asyncio.run(providers.delete_key("openai", far))
    assert ring.kept == {}
    monkeypatch.setenv("MODEL_KEY", "x")
    named = Settings(provider_key_env="MODEL_KEY")
    assert asyncio.run(providers.key_place("openai", named)) == "in the environment variable MODEL_KEY"
    monkeypatch.delenv("MODEL_KEY")
    assert asyncio.run(providers.key_place("openai", named)) == ""
    assert "none is needed" in asyncio.run(providers.key_place("ollama", far))
    with pytest.raises(UsageError, match="no key"):
        asyncio.run(providers.store_key("openai", far, "  "))


def test_a_keyring_that_cannot_be_used_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> str:
        raise keyring.errors.KeyringError("locked")

    monkeypatch.setattr(keyring, "get_password", refuse)
    assert asyncio.run(choice().key_place("openai", Settings())) == ""


# --- the command line ---


def test_the_list_is_printed() -> None:
    with model_server() as server:
        assert "http://127.0.0.1:11434/v1" in command(server, "provider", "list")[1]
        listed = json.loads(command(server, "provider", "list", "--json")[1])["providers"]
    assert listed[0] == {"name": "builtin", "label": "Built-in rules, no AI model", "url": None}


def test_models_and_the_test_name_the_host_first(server: ModelServer) -> None:
    code, out, err = command(server, "provider", "models", "custom")
    assert (code, out.split()) == (0, ["large", "small"])
    assert err.startswith("asking 127.0.0.1:")
    assert json.loads(command(server, "provider", "models", "custom", "--json")[1])["models"] == ["large", "small"]
    server.models = ()
    assert command(server, "provider", "models", "custom")[0] == 3


def test_the_test_says_both_gates_their_time_and_what_is_left(server: ModelServer) -> None:
    server.headers = {"x-ratelimit-limit-tokens": "100", "x-ratelimit-remaining-tokens": "60"}
    argv = ("provider", "test", "custom", "--set", "extract_model=small")
    code, out, _ = command(server, *argv)
    assert code == 0, out
    for words in ("it can be used", "leaves out small talk  yes", "strict schema", "price unknown", "60 tokens of 100"):
        assert words in out
    shown = json.loads(command(server, *argv, "--json")[1])
    assert (shown["ok"], shown["loopback"], shown["form"]) == (True, True, "strict schema")
    assert shown["limits"]["windows"][0]["remaining"] == 60


def test_a_model_that_cannot_be_used_is_an_error(server: ModelServer) -> None:
    server.plan("bad-json")
    code, out, _ = command(server, "provider", "test", "custom", "--set", "extract_model=small")
    assert code == 1
    assert "cannot be used as it is" in out
    assert "not JSON" in out
    assert "the server names none" in out


def test_a_key_is_typed_not_given_as_an_argument(server: ModelServer, ring: Ring) -> None:
    code, out, _ = command(server, "provider", "set-key", "custom", typed="sk-typed-key\n")
    assert (code, list(ring.kept.values())) == (0, ["sk-typed-key"])
    assert "sk-typed-key" not in out
    assert "keyring" in out
    assert command(server, "provider", "delete-key", "custom")[0] == 0
    assert ring.kept == {}


def test_a_wrong_key_is_an_error_in_words(server: ModelServer) -> None:
    server.key = "right"
    with pytest.raises(ProviderError) as caught:
        asyncio.run(choice().models("custom", settings(server)))
    assert caught.value.group == "auth"
    code, _, err = command(server, "provider", "models", "custom")
    assert code == 1
    assert "refused the key" in err
