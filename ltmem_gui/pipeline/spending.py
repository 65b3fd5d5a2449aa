"""What one extraction run may still spend, and why it stops claiming: money, tokens, a provider that says stop.

A run with a money limit sets the upper bound of a job aside before it is claimed and claims it only while everything
set aside and spent stays within the limit, so that what is under way can never pass it either. What a failed answer
cost that nobody counted stays set aside. Jobs that were not claimed lose no try.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ltmem_gui.domain.effects import PlannedJob, SendToModel
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.events import RunSpent
from ltmem_gui.domain.limits import ProviderLimits
from ltmem_gui.domain.memory_items import requests_for_parts
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.prices import (
    MILLION,
    OUTPUT_LIMIT_TOKENS,
    PRICE_UNKNOWN,
    Bill,
    Estimate,
    Money,
    Price,
    affordable,
    estimate,
    in_words,
    money,
    most,
    plain,
    price_of,
)
from ltmem_gui.domain.providers import output_limit_of
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.pipeline.guard import guard_provider

STOPPING: Final = {
    "auth": "the server refuses the key",
    "model": "the server does not know the model or the address",
    "quota": "the account has no credit left",
    "rate_limit": "the server asks for fewer requests",
}
"""Failures that would meet every further job too, so that the run claims no more."""

FAILING: Final = frozenset({"server", "timeout", "connection", "protocol"})
FAILURES_IN_A_ROW: Final = 8
_UNBILLED: Final = frozenset({*STOPPING, "too_large", "request"})
_ANSWERED: Final = frozenset({"refusal", "length", "empty"})
"""Failures that came as an answer, which counts its own tokens. After any other, the last request is not counted."""


def requests_of(job: PlannedJob) -> int:
    """Return how many requests a job makes at most."""
    return requests_for_parts(job.tokens_sent, job.split) if job.split else 1


@dataclass(frozen=True, slots=True)
class Budget:
    """What a plan's jobs may cost by the settings: `price` is None where none is entered, `limit` 0 for no limit."""

    price: Price | None
    limit: Decimal
    output_limit: int

    @classmethod
    def of(cls, settings: Settings, mark: ProviderMark) -> Budget:
        """Return the budget that the settings set for a provider."""
        price = price_of(settings.prices, mark.name, mark.model)
        limited = output_limit_of(settings, mark.name, mark.model) or OUTPUT_LIMIT_TOKENS
        return cls(price, settings.max_cost_per_run, limited)

    @property
    def limited(self) -> bool:
        """Tell whether money limits the run: without a price only tokens do."""
        return self.price is not None and self.limit > 0

    def most(self, job: PlannedJob) -> Decimal:
        """Return the upper bound of one job."""
        assert self.price is not None
        return most(self.price, requests=requests_of(job), tokens=job.tokens_sent, output_limit=self.output_limit)

    def estimate(self, jobs: list[PlannedJob]) -> Estimate | None:
        """Return what the jobs may cost together, None where the price is unknown."""
        if self.price is None:
            return None
        return estimate(
            self.price,
            requests=sum(requests_of(job) for job in jobs),
            tokens=sum(job.tokens_sent for job in jobs),
            output_limit=self.output_limit,
        )

    def in_flight(self, jobs: list[PlannedJob], concurrency: int) -> Decimal:
        """Return what the dearest jobs that can be under way at once may cost together."""
        return sum(sorted((self.most(job) for job in jobs), reverse=True)[:concurrency], Decimal(0))

    def words(self, jobs: list[PlannedJob], concurrency: int) -> str:
        """Return what the sheet says of money."""
        guess = self.estimate(jobs)
        if guess is None or self.price is None:
            idle = "; the limit of money cannot act without a price" if self.limit else ""
            return PRICE_UNKNOWN + idle
        said = f"{guess} ({self.price.in_words()})"
        if not self.limited:
            return said
        bound = in_words(min(self.in_flight(jobs, concurrency), self.limit), self.price.currency)
        stop = in_words(self.limit, self.price.currency)
        return f"{said}; stops at {stop}, which counts what is under way: at most {bound} at any time"

    def priced(self, effect: SendToModel, jobs: list[PlannedJob], concurrency: int) -> SendToModel:
        """Return the effect with what it may cost."""
        guess, price = self.estimate(jobs), self.price
        said = {"price": self.words(jobs, concurrency)}
        if guess is not None and price is not None:
            said |= {"cost_low": plain(guess.low), "cost_high": plain(guess.high), "currency": price.currency}
        if self.limited:
            in_flight = min(self.in_flight(jobs, concurrency), self.limit)
            said |= {"cost_limit": plain(self.limit), "cost_in_flight": plain(in_flight)}
        return effect.model_copy(update=said)

    def tokens(self, most_tokens: int) -> int:
        """Return how many tokens an agent may use: no more than the limit of money buys of the dearer kind."""
        if self.price is None or not self.limited or not max(self.price.input, self.price.output):
            return most_tokens
        return min(most_tokens, affordable(self.price, self.limit))

    def priced_talk(self, effect: SendToModel, most_tokens: int) -> SendToModel:
        """Return the effect of an agent's talk with what it may cost: what it reads, up to its limit of tokens."""
        price = self.price
        if price is None:
            return effect.model_copy(update={"price": self.words([], 0)})
        low = price.input * effect.tokens / MILLION
        guess = Estimate(low, max(low, max(price.input, price.output) * most_tokens / MILLION), price.currency)
        said = {"cost_low": plain(guess.low), "cost_high": plain(guess.high), "currency": price.currency}
        stop = ""
        if self.limited:
            said["cost_limit"] = plain(self.limit)
            stop = f"; stops at {in_words(self.limit, price.currency)}, which its last answer alone may pass"
        return effect.model_copy(update={**said, "price": f"{guess} ({price.in_words()}){stop}"})


class Spending:
    """The account of one run. Lives on the event loop of the run."""

    def __init__(
        self,
        settings: Settings,
        mark: ProviderMark,
        *,
        clock: Callable[[], int],
        limits: Callable[[], ProviderLimits | None],
    ) -> None:
        """Take what limits the run; `limits` returns what the provider last said."""
        self.budget = Budget.of(settings, mark)
        self._settings = settings
        self._mark = mark
        self._clock = clock
        self._limits = limits
        self._aside: dict[str, Decimal] = {}
        self._asked: set[str] = set()
        self._kept = Decimal(0)
        self._spent = Decimal(0)
        self._tokens = 0
        self._unknown = 0
        self._failed_in_a_row = 0
        self._stopped = ""
        self._moved = asyncio.Condition()

    @property
    def money(self) -> Money | None:
        """Return what was spent so far, as far as it is known; None without a price."""
        price = self.budget.price
        return None if price is None else Money(self._spent, price.currency)

    @property
    def unknown(self) -> int:
        """Return how many attempts cost something nobody counted."""
        return self._unknown

    def report(self) -> RunSpent:
        """Return what the surfaces show while the run works."""
        price = self.budget.price
        limit = Money(self.budget.limit, price.currency) if price is not None and self.budget.limited else None
        return RunSpent(self._tokens, self.money, limit, self._unknown)

    async def admit(self, job: PlannedJob) -> str:
        """Set a job's upper bound aside; return why it must not be claimed, empty when it may.

        Waits while jobs under way hold what this one needs.
        """
        async with self._moved:
            while True:
                stop = self._why_stop()
                if stop or not self.budget.limited:
                    return stop
                bound = self.budget.most(job)
                if self._used + bound <= self.budget.limit:
                    self._aside[job.thread_id] = bound
                    return ""
                if not self._aside:
                    return self._too_little(bound)
                await self._moved.wait()

    async def settle(self, job: PlannedJob, usage: TokenUsage | None, error: ProviderError | None = None) -> Bill:
        """Book what an attempt took, and return its bill; without `usage` and `error` nothing was asked."""
        async with self._moved:
            bill = self._booked(job, usage, error)
            self._moved.notify_all()
        return bill

    def asking(self, job: PlannedJob) -> None:
        """Tell that a job's request goes out: from now on it may cost something."""
        self._asked.add(job.thread_id)

    async def release(self, job: PlannedJob) -> None:
        """Give back what was set aside for a job that ended without a bill.

        What a request cost that was cut off is not known: it stays set aside.
        """
        async with self._moved:
            if job.thread_id in self._asked:
                self._booked(job, TokenUsage(), None)
            self._aside.pop(job.thread_id, None)
            self._moved.notify_all()

    def _booked(self, job: PlannedJob, usage: TokenUsage | None, error: ProviderError | None) -> Bill:
        self._asked.discard(job.thread_id)
        aside = self._aside.pop(job.thread_id, Decimal(0))
        counted = usage or TokenUsage()
        paid = money(self.budget.price, counted)
        self._tokens += counted.total or 0
        known = Decimal(0) if paid is None else paid.amount
        self._spent += known
        # A job in parts may have paid for some and still not know what the last one took.
        cut_off = error is not None and error.group not in _UNBILLED | _ANSWERED
        answered = usage is not None or (error is not None and error.group in _ANSWERED)
        if self._mark.host and (cut_off or (answered and paid is None)):
            self._unknown += 1
            self._kept += max(aside - known, Decimal(0))
        if error is not None:
            self._note(error)
        elif usage is not None:
            self._failed_in_a_row = 0
        return Bill(counted, self._mark.name, self._mark.model, paid)

    def _note(self, error: ProviderError) -> None:
        if error.group in STOPPING:
            self._stopped = self._stopped or f"the run stopped: {STOPPING[error.group]}"
        self._failed_in_a_row = self._failed_in_a_row + 1 if error.group in FAILING else 0
        if self._failed_in_a_row >= FAILURES_IN_A_ROW:
            self._stopped = self._stopped or f"the run stopped: {FAILURES_IN_A_ROW} requests failed one after another"

    @property
    def _used(self) -> Decimal:
        return self._spent + self._kept + sum(self._aside.values(), Decimal(0))

    def _why_stop(self) -> str:
        if self._stopped:
            return self._stopped
        most_tokens = self._settings.max_tokens_per_run
        if most_tokens and self._tokens >= most_tokens:
            return f"the limit of {most_tokens} tokens is reached"
        if not self._mark.host:
            return ""
        least = self._settings.min_rate_limit_remaining_percent
        verdict = guard_provider(self._limits(), min_remaining_percent=least, now=self._clock())
        return "" if verdict.allowed else f"the run stopped: {verdict.text}"

    def _too_little(self, bound: Decimal) -> str:
        price = self.budget.price
        assert price is not None
        left = in_words(max(self.budget.limit - self._used, Decimal(0)), price.currency)
        needed, limit = in_words(bound, price.currency), in_words(self.budget.limit, price.currency)
        return f"the limit of {limit} leaves {left}, and this session may cost {needed}"
