"""The choice of a model as a value and as a file: nothing but plain names in it, and nothing half-taken."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ltmem_gui.domain.errors import InputError, UsageError
from ltmem_gui.domain.model_choice import ModelChoice, from_toml, to_toml
from ltmem_gui.domain.providers import PRESETS
from ltmem_gui.domain.settings import Settings

LINES = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.sampled_from(sorted(PRESETS)), LINES, LINES)
def test_what_is_written_is_read_back(name: str, url: str, model: str) -> None:
    try:
        choice = ModelChoice(extract=name, consolidate=name, provider_url=url, extract_model=model)
    except ValidationError:
        return
    data = to_toml(choice)
    assert from_toml(data) == choice
    assert set(tomllib.loads(data.decode())) == set(ModelChoice.model_fields)


def test_it_names_settings_and_they_name_it() -> None:
    choice = ModelChoice(consolidate="openai", extract_model="m", provider_key_env="KEY")
    settings = choice.settings(Settings(loss_limit_percent=7, provider_url="http://old/v1"))
    assert (settings.extract_model, settings.provider_key_env, settings.provider_url) == ("m", "KEY", "")
    assert settings.loss_limit_percent == 7
    assert ModelChoice.of(settings, "builtin", "openai") == choice
    assert choice.server == "openai"
    assert ModelChoice(extract="local").server == "local"
    assert ModelChoice().server == "builtin"


@pytest.mark.parametrize(
    "text",
    [
        'consolidate = "nobody"',
        'extract_model = "a\\nb"',
        'extract_model = "a\\u202eb"',
        'provider_key_env = "sk-9f8e7d6c"',
        "extract = 7",
        'key = "sk-9f8e7d6c"',
        f'provider_url = "{"x" * 600}"',
        "= broken",
        "\x00",
    ],
)
def test_a_file_of_another_kind_is_refused_whole(text: str) -> None:
    with pytest.raises(InputError, match="the choice of a model") as caught:
        from_toml(text.encode(), "/d/model.toml")
    assert caught.value.where == "/d/model.toml"
    assert "9f8e7d6c" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError):
        from_toml(b"\xff\xfe")


def test_a_price_is_one_of_the_model_that_extracts_and_what_is_empty_changes_nothing() -> None:
    given_before = Settings().with_overrides(["prices=openai other 1 2 EUR", "max_cost_per_run=3"])
    choice = ModelChoice(
        extract="openai", consolidate="openai", extract_model="m", price="0.25 0.025 2 USD", money_limit="1.5"
    )
    made = choice.settings(given_before)
    assert [str(price) for price in made.prices] == ["openai other 1 2 EUR", "openai m 0.25 0.025 2 USD"]
    assert str(made.max_cost_per_run) == "1.5"
    assert ModelChoice.of(made, "openai", "openai") == choice
    assert [str(price) for price in choice.without_money(made).prices] == ["openai other 1 2 EUR"]
    assert choice.without_money(made).max_cost_per_run == 0
    empty = ModelChoice(extract="openai", consolidate="openai", extract_model="m")
    assert empty.settings(given_before).prices == given_before.prices
    assert empty.settings(given_before).max_cost_per_run == 3
    assert ModelChoice.of(given_before) == ModelChoice()
    assert from_toml(to_toml(choice)) == choice


@pytest.mark.parametrize(
    "values",
    [
        {"price": "cheap"},
        {"price": "1 2"},
        {"price": "-1 2 USD"},
        {"price": "1 NaN USD"},
        {"price": "1 2 dollars"},
        {"money_limit": "-1"},
        {"money_limit": "Infinity"},
        {"money_limit": "much"},
    ],
)
def test_what_is_no_price_and_no_limit_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as caught:
        ModelChoice(**values)
    assert caught.value.errors()[0]["loc"][0] == next(iter(values))


@pytest.mark.parametrize(
    ("name", "value"),
    [("provider_key_env", "MY-KEY"), ("extract_model", "a\u202eb"), ("provider_url", "http://h/" + "a" * 600)],
)
def test_settings_that_are_no_choice_are_refused_in_words(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"the setting {name}") as caught:
        ModelChoice.of(Settings.model_validate({name: value}))
    assert name in caught.value.remedy
