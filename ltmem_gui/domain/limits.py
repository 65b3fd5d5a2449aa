"""What a provider says is left of its limits, as its answers carry it. Times in Unix seconds."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

WITHOUT_RESET_SECONDS: Final = 3_600
"""How long figures count that name no time at which they start anew."""

FORMS_HOLD_SECONDS: Final = 7 * 86_400
"""How long what a server was found to take is believed."""

FUTURE_SECONDS: Final = 300
"""How far a record may lie ahead of the clock and still count."""

Count = Annotated[int, Field(ge=0)]
Moment = Annotated[int, Field(ge=0, le=253_402_300_799)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LimitWindow(_Value):
    """One limit: how much there is (None when not named), how much is left, and when it starts anew."""

    kind: Annotated[str, Field(max_length=40)]
    limit: Count | None = None
    remaining: Count
    resets_at: Moment | None = None

    @property
    def left_percent(self) -> float | None:
        """Return what is left in percent, None where the limit is not named."""
        return None if not self.limit else self.remaining * 100 / self.limit

    def is_over(self, at: int, now: int) -> bool:
        """Tell whether figures taken `at` say nothing about `now` any more."""
        return now >= (at + WITHOUT_RESET_SECONDS if self.resets_at is None else self.resets_at)

    def falls_short(self, least_percent: int) -> bool:
        """Tell whether less than `least_percent` is left, or nothing; exactly that much is enough."""
        if self.remaining == 0 and self.limit != 0:
            return True
        return bool(self.limit) and self.remaining * 100 < least_percent * (self.limit or 0)


class ServerForms(_Value):
    """What a server was found to take, `at` its time; counts for a week, since servers are renewed.

    `rung` is the form of the answer (0 strict schema, 1 a JSON object, 2 plain text), `effort` whether it knows a
    reasoning effort, `limit_name` what it calls the longest answer, empty where it takes none.
    """

    at: Moment
    rung: Annotated[int, Field(ge=0, le=2)]
    effort: bool
    limit_name: Literal["max_completion_tokens", "max_tokens", ""]

    def holds(self, now: int) -> bool:
        """Tell whether it still counts."""
        return self.at - FUTURE_SECONDS <= now < self.at + FORMS_HOLD_SECONDS


class ProviderLimits(_Value):
    """What one answer said `at` its time; `retry_at` where the server refused and named when to come back."""

    at: Moment
    windows: tuple[LimitWindow, ...] = ()
    retry_at: Moment | None = None

    def current(self, now: int) -> tuple[LimitWindow, ...]:
        """Return the windows that still count; a record dated ahead of the clock counts for nothing."""
        if self.at > now + FUTURE_SECONDS:
            return ()
        return tuple(window for window in self.windows if not window.is_over(self.at, now))

    def waits_until(self, now: int) -> int | None:
        """Return until when the server asked to be left alone, None when it did not or the time is over."""
        if self.retry_at is None or self.retry_at <= now or self.at > now + FUTURE_SECONDS:
            return None
        return self.retry_at
