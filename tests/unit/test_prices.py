"""Prices and money: exact, never below zero, unknown where something is missing, and in words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.jobs import Attempt
from ltmem_gui.domain.prices import (
    INSTRUCTION_TOKENS,
    Money,
    Price,
    cost,
    estimate,
    in_words,
    money,
    most,
    plain,
    price_of,
    spent,
    spent_in_words,
)
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.tokens import TokenUsage, together
from ltmem_gui.llm.openai_api import probe_input
from ltmem_gui.llm.prompts import Prompts

PRICE = Price(
    provider="openai", model="m", input=Decimal("0.25"), cached=Decimal("0.025"), output=Decimal(2), currency="USD"
)
COUNTS = st.integers(0, 10**9)
AMOUNTS = st.decimals(0, 10_000, places=6)


def attempt(cost: Decimal | None = None, currency: str = "") -> Attempt:
    return Attempt(1, "me", 0, 1, "succeeded", cost=cost, currency=currency)


def test_cost_is_exact_and_cached_input_has_its_own_price() -> None:
    assert cost(PRICE, TokenUsage(1_000_000, 500_000)) == Decimal("1.25")
    assert cost(PRICE, TokenUsage(1_000_000, 0, cached=400_000)) == Decimal("0.16")
    assert cost(PRICE, TokenUsage(3, 1)) == Decimal("0.00000275")
    assert money(PRICE, TokenUsage(4, 0)) == Money(Decimal("0.000001"), "USD")


def test_without_a_price_for_cached_input_it_costs_what_input_does() -> None:
    price = PRICE.model_copy(update={"cached": None})
    assert cost(price, TokenUsage(1_000_000, 0, cached=400_000)) == Decimal("0.25")


def test_more_cached_than_sent_never_makes_a_cost_negative() -> None:
    assert cost(PRICE, TokenUsage(10, 0, cached=999)) == Decimal("0.00000025")


@pytest.mark.parametrize("usage", [TokenUsage(), TokenUsage(1), TokenUsage(output=1)])
def test_what_is_not_reported_is_unknown_and_not_free(usage: TokenUsage) -> None:
    assert cost(PRICE, usage) is None
    assert money(PRICE, usage) is None
    assert cost(None, TokenUsage(1, 1)) is None
    assert money(None, TokenUsage(1, 1)) is None


@given(
    given_price=st.builds(
        lambda i, o: Price(provider="p", model="m", input=i, output=o, currency="EUR"), AMOUNTS, AMOUNTS
    ),
    sent=COUNTS,
    output=COUNTS,
    cached=COUNTS,
)
def test_cost_is_never_negative_and_grows(given_price: Price, sent: int, output: int, cached: int) -> None:
    one = cost(given_price, TokenUsage(sent, output, cached))
    more = cost(given_price, TokenUsage(sent + 1, output + 1, cached))
    assert one is not None
    assert more is not None
    assert 0 <= one <= more


@given(requests=st.integers(1, 200), tokens=st.integers(0, 200_000))
def test_an_estimate_is_a_range_below_its_own_upper_bound(requests: int, tokens: int) -> None:
    found = estimate(PRICE, requests=requests, tokens=tokens)
    real = cost(PRICE, TokenUsage(tokens + requests * INSTRUCTION_TOKENS, requests * 16_384))
    assert real is not None
    assert found.low <= real <= found.high == most(PRICE, requests=requests, tokens=tokens)
    assert str(found).startswith("about ")
    assert str(found).endswith(" USD")


def test_an_estimate_of_nothing_spread_is_one_figure() -> None:
    free = PRICE.model_copy(update={"input": Decimal(0), "cached": None, "output": Decimal(0)})
    assert str(estimate(free, requests=3, tokens=10)) == "about 0 USD"


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "0 USD"),
        ("12.345", "12.35 USD"),
        ("1", "1.00 USD"),
        ("0.5", "0.50 USD"),
        ("0.0124", "0.012 USD"),
        ("0.00341", "0.0034 USD"),
        ("0.0000001", "under 0.000001 USD"),
        ("0.0000012", "0.000001 USD"),
    ],
)
def test_amounts_in_words(amount: str, words: str) -> None:
    assert in_words(Decimal(amount), "USD") == words == str(Money(Decimal(amount), "USD"))


def test_plain_numbers() -> None:
    assert [plain(Decimal(n)) for n in ("0.250", "1E+2", "0", "20", "0.0000010")] == [
        "0.25",
        "100",
        "0",
        "20",
        "0.000001",
    ]


def test_what_a_job_cost_is_summed_by_currency() -> None:
    attempts = [attempt(), attempt(Decimal("0.01"), "USD"), attempt(Decimal("0.02"), "USD"), attempt(Decimal(1), "EUR")]
    assert spent(attempts) == (Money(Decimal(1), "EUR"), Money(Decimal("0.03"), "USD"))
    assert spent_in_words(attempts) == "1.00 EUR + 0.03 USD"
    assert spent([attempt()]) == ()
    assert spent_in_words([attempt()]) == ""


def test_tokens_of_several_answers() -> None:
    assert together([TokenUsage(1, 2, 3), TokenUsage(3, None, 1)]) == TokenUsage(4, None, 4)
    assert together([]) == TokenUsage()
    assert TokenUsage(output=3).total == 3


def test_the_instructions_fit_what_an_estimate_adds_for_them() -> None:
    prompts, request = Prompts(), probe_input("")
    frame = prompts.stage_one_system(request, schema_in_prompt=True) + prompts.stage_one_input(request)
    merge = prompts.stage_one_merge(["{}"])
    assert len((frame + merge).encode()) / 4 <= INSTRUCTION_TOKENS


# --- as settings ---


def test_prices_are_empty_by_default_and_one_is_kept_per_provider_and_model() -> None:
    assert Settings().prices == ()
    assert Settings().max_cost_per_run == 0
    settings = Settings().with_overrides(
        ["prices=openai m 0.25 0.025 2 USD", "prices=ollama qwen:7b 0 0 EUR", "prices=openai m 1 2 EUR"]
    )
    assert [str(price) for price in settings.prices] == ["openai m 1 2 EUR", "ollama qwen:7b 0 0 EUR"]
    assert price_of(settings.prices, "openai", "m") == settings.prices[0]
    assert price_of(settings.prices, "openai", "other") is None
    assert Settings.model_validate_json(settings.model_dump_json()) == settings
    assert str(PRICE) == "openai m 0.25 0.025 2 USD"
    assert PRICE.in_words() == "0.25 USD in, 0.025 USD cached, 2 USD out per million tokens"
    assert settings.prices[0].in_words() == "1 EUR in, 2 EUR out per million tokens"
    assert Settings.model_validate({"prices": "openai m 1 2 EUR"}).prices == settings.prices[:1]


@pytest.mark.parametrize(
    "text",
    [
        "prices=openai m -1 2 USD",
        "prices=openai m 1 -2 USD",
        "prices=openai m NaN 2 USD",
        "prices=openai m 1 Infinity USD",
        "prices=openai m 0,25 2 USD",
        "prices=openai m 1 2",
        "prices=openai m 1 2 dollars",
        "prices=openai m 1 2 3 USD",
        "prices=",
        "max_cost_per_run=-0.01",
        "max_cost_per_run=NaN",
        "max_cost_per_run=cheap",
        "max_output_tokens=-1",
    ],
)
def test_a_price_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match=text.partition("=")[0]):
        Settings().with_overrides([text])


def test_a_binary_fraction_is_no_amount() -> None:
    with pytest.raises(ValueError, match="binary fraction"):
        Settings.model_validate({"max_cost_per_run": 0.1})
