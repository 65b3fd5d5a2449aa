"""What a model costs: prices a person enters, the cost of an answer, and estimates before a run.

All amounts are `Decimal`, never floats. A price is per million tokens. Where no price is entered, or a provider does
not report its tokens, a cost is unknown (None): it is never taken for 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ltmem_gui.domain.jobs import Attempt
from ltmem_gui.domain.tokens import TokenUsage

MILLION: Final = 1_000_000
PRICE_UNKNOWN: Final = "price unknown"
FIGURES_FORM: Final = "INPUT [CACHED] OUTPUT CURRENCY"
PRICE_FORM: Final = f"PROVIDER MODEL {FIGURES_FORM}"

INSTRUCTION_TOKENS: Final = 1_600
"""What a request holds beside the transcript, at most: instructions, schema and frame (a test renders them)."""

USUAL_OUTPUT_TOKENS: Final = 800
"""What an answer usually takes; the lower end of an estimate."""

OUTPUT_LIMIT_TOKENS: Final = 16_384
"""What an answer may take at most where money is limited; the upper end of an estimate."""

SWELL_PERCENT: Final = 150
"""How far a server's count of the input may exceed ours (bytes / 4), for the upper end of an estimate."""

_SMALLEST = Decimal("0.000001")


def _no_float(value: object) -> object:
    if isinstance(value, float):
        raise ValueError("a price is written as text, not as a binary fraction")
    return value


Amount = Annotated[
    Decimal, Field(ge=0, allow_inf_nan=False, max_digits=12, decimal_places=6), BeforeValidator(_no_float)
]


@dataclass(frozen=True, slots=True)
class Money:
    """An amount and its currency (three capital letters)."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        return in_words(self.amount, self.currency)


class Price(BaseModel):
    """What one model of one provider costs per million tokens; without `cached` cached input costs what input does.

    Reads `PRICE_FORM` too: words separated by spaces, with a `.` before the decimals.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Annotated[str, Field(min_length=1, max_length=100)]
    model: Annotated[str, Field(min_length=1, max_length=200)]
    input: Amount
    cached: Amount | None = None
    output: Amount
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]

    @model_validator(mode="before")
    @classmethod
    def _from_words(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        words = value.split()
        if len(words) not in (5, 6):
            raise ValueError(f"a price is written as {PRICE_FORM}, e.g. openai gpt-5-mini 0.25 0.025 2 USD")
        return _fields(words[0], words[1], words[2:])

    @model_validator(mode="after")
    def _no_dearer_cache(self) -> Self:
        if self.cached is not None and self.cached > self.input:
            raise ValueError("cached input cannot cost more than input")
        return self

    @property
    def figures(self) -> str:
        """Return the price without the model's name, as it is entered."""
        cached = "" if self.cached is None else f" {plain(self.cached)}"
        return f"{plain(self.input)}{cached} {plain(self.output)} {self.currency}"

    def __str__(self) -> str:
        return f"{self.provider} {self.model} {self.figures}"

    def in_words(self) -> str:
        """Return the price as the sheet says it."""
        cached = "" if self.cached is None else f", {plain(self.cached)} {self.currency} cached"
        figures = f"{plain(self.input)} {self.currency} in{cached}, {plain(self.output)} {self.currency} out"
        return f"{figures} per million tokens"


def price_from(provider: str, model: str, figures: str) -> Price:
    """Return the price of a model from `INPUT [CACHED] OUTPUT CURRENCY`. Raises `ValueError` for anything else."""
    words = figures.split()
    if len(words) not in (3, 4):
        raise ValueError(f"a price is written as {FIGURES_FORM}, e.g. 0.25 0.025 2 USD")
    return Price.model_validate(_fields(provider, model, words))


def _fields(provider: str, model: str, words: Sequence[str]) -> dict[str, str]:
    cached = {"cached": words[1]} if len(words) == 4 else {}
    figures = {"input": words[0], **cached, "output": words[-2], "currency": words[-1]}
    return {"provider": provider, "model": model, **figures}


def newest_only(prices: Iterable[Price]) -> tuple[Price, ...]:
    """Return one price per provider and model: the last one entered."""
    return tuple({(price.provider, price.model): price for price in prices}.values())


def price_of(prices: Iterable[Price], provider: str, model: str) -> Price | None:
    """Return the price of a model, None when none is entered."""
    return next((price for price in prices if (price.provider, price.model) == (provider, model)), None)


def cost(price: Price | None, usage: TokenUsage) -> Decimal | None:
    """Return what answers cost; None without a price, or where input or output was not reported."""
    if price is None or usage.input is None or usage.output is None:
        return None
    cached = min(usage.cached or 0, usage.input)
    of_cache = price.input if price.cached is None else price.cached
    total = price.input * (usage.input - cached) + of_cache * cached + price.output * usage.output
    return total / MILLION


@dataclass(frozen=True, slots=True)
class Bill:
    """What one attempt took: who was asked, the tokens of all its answers, and their cost where it is known."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    provider: str = ""
    model: str = ""
    money: Money | None = None


def money(price: Price | None, usage: TokenUsage) -> Money | None:
    """Return what answers cost, with the currency of their price; None where it is unknown."""
    amount = cost(price, usage)
    return None if price is None or amount is None else Money(amount, price.currency)


def spent(attempts: Iterable[Attempt]) -> tuple[Money, ...]:
    """Return what the attempts at a job cost together: one amount per currency, empty where nothing is known."""
    totals: dict[str, Decimal] = {}
    for attempt in attempts:
        if attempt.cost is not None:
            totals[attempt.currency] = totals.get(attempt.currency, Decimal(0)) + attempt.cost
    return tuple(Money(amount, currency) for currency, amount in sorted(totals.items()))


def spent_in_words(attempts: Iterable[Attempt]) -> str:
    """Return what the attempts cost as a table shows it, e.g. `0.0124 USD`; empty where nothing is known."""
    return " + ".join(str(each) for each in spent(attempts))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run may cost: `low` with answers of the usual length, `high` with the longest and dearest."""

    low: Decimal
    high: Decimal
    currency: str

    def __str__(self) -> str:
        low, high = _digits(self.low), _digits(self.high)
        return f"about {low} {self.currency}" if low == high else f"about {low} to {high} {self.currency}"


def most(price: Price, *, requests: int, tokens: int, output_limit: int = OUTPUT_LIMIT_TOKENS) -> Decimal:
    """Return the upper bound of what requests with `tokens` of transcript together may cost."""
    sent = -(-(tokens + requests * INSTRUCTION_TOKENS) * SWELL_PERCENT // 100)
    return (price.input * sent + price.output * requests * output_limit) / MILLION


def estimate(price: Price, *, requests: int, tokens: int, output_limit: int = OUTPUT_LIMIT_TOKENS) -> Estimate:
    """Return what requests with `tokens` of transcript together may cost: nothing cached, no request repeated."""
    sent = tokens + requests * INSTRUCTION_TOKENS
    usual = requests * min(USUAL_OUTPUT_TOKENS, output_limit)
    low = (price.input * sent + price.output * usual) / MILLION
    high = most(price, requests=requests, tokens=tokens, output_limit=output_limit)
    return Estimate(low, max(low, high), price.currency)


def affordable(price: Price, limit: Decimal) -> int:
    """Return how many tokens `limit` buys at least, whichever kind they are; the price must not be free."""
    return int(limit * MILLION / max(price.input, price.output))


def in_words(amount: Decimal, currency: str) -> str:
    """Write an amount: two decimals, more where it is small (`0.0034 USD`, `under 0.000001 USD`)."""
    return f"{_digits(amount)} {currency}"


def plain(amount: Decimal) -> str:
    """Write a number without exponent and trailing zeros, e.g. for JSON."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _digits(amount: Decimal) -> str:
    if amount == 0:
        return "0"
    if amount < _SMALLEST:
        return f"under {_SMALLEST:f}"
    places = 2 if amount >= 1 else min(max(1 - amount.adjusted(), 2), 6)
    text = format(amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP), "f")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def as_prices(value: Any) -> Any:
    """Let a list of prices be given as one text or several."""
    return (value,) if isinstance(value, str) and value else value or ()
