"""What was found out about servers while the program runs: which forms they take, and what is left of their limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ltmem_gui.domain.limits import ProviderLimits, ServerForms
from ltmem_gui.domain.providers import ProviderSettings, Rung

LimitName = Literal["max_completion_tokens", "max_tokens", ""]
_UNKNOWN_WORDS = (
    "unsupported",
    "not supported",
    "not support ",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "extra_forbidden",
    "not permitted",
    "not allowed",
)
_VALUE_WORDS = ("value", "too large", "too high", "too big", "at most", "less than", "maximum", "exceed", "must be")
_FORM_WORDS = ("response_format", "json_schema", "json_object", "text.format", "schema", "grammar")


@dataclass(frozen=True, slots=True)
class Accepts:
    """What a server was found to take; `limit_name` is what Chat Completions calls the longest answer."""

    rung: Rung = Rung.SCHEMA
    effort: bool = True
    limit_name: LimitName = "max_completion_tokens"

    def after(self, refusal: str, *, limited: bool) -> Accepts | None:
        """Return what to ask for next when a server refused the form of a request, None for any other refusal.

        `refusal` is its code, message and parameter; `limited` tells whether the longest answer was named.
        """
        said = refusal.lower()
        if self.effort and "reasoning" in said:
            return replace(self, effort=False)
        if limited and self.limit_name and self.limit_name in said and _is_unknown(said):
            return replace(self, limit_name="max_tokens" if self.limit_name == "max_completion_tokens" else "")
        if self.rung is not Rung.PLAIN and any(word in said for word in _FORM_WORDS):
            return replace(self, rung=Rung(self.rung + 1))
        return None


class ServerMemory:
    """Keep facts per provider, address and model, so that a refusal is paid for once. Used on one event loop."""

    def __init__(self) -> None:
        self._accepts: dict[tuple[str, str, str], Accepts] = {}
        self._limits: dict[tuple[str, str, str], ProviderLimits] = {}

    def of(self, provider: ProviderSettings) -> Accepts:
        """Return what a server takes; at first the strictest form."""
        return self._accepts.get(_key(provider), Accepts())

    def learn(self, provider: ProviderSettings, accepts: Accepts) -> None:
        """Keep what was found out."""
        self._accepts[_key(provider)] = accepts

    def forms_of(self, provider: ProviderSettings, now: int) -> ServerForms | None:
        """Return what was found out of a server, None where nothing had to be."""
        accepts = self._accepts.get(_key(provider))
        if accepts is None:
            return None
        return ServerForms(at=now, rung=accepts.rung, effort=accepts.effort, limit_name=accepts.limit_name)

    def recall(self, provider: ProviderSettings, forms: ServerForms) -> None:
        """Take over what an earlier run found out; what this one found out counts more."""
        # Where money is limited nothing may be sent without a limit: whether there is none is asked anew.
        limit_name = forms.limit_name or ("max_completion_tokens" if provider.must_limit else "")
        found = Accepts(Rung(forms.rung), forms.effort, limit_name)
        self._accepts.setdefault(_key(provider), found)

    def limits_of(self, provider: ProviderSettings) -> ProviderLimits | None:
        """Return what the last answer said that said anything."""
        return self._limits.get(_key(provider))

    def note_limits(self, provider: ProviderSettings, limits: ProviderLimits) -> None:
        """Keep what an answer said; an earlier wish to be left alone stays until its time."""
        before = self._limits.get(_key(provider))
        until = None if before is None else before.waits_until(limits.at)
        if limits.retry_at is None and until is not None:
            limits = limits.model_copy(update={"retry_at": until})
        self._limits[_key(provider)] = limits


def _is_unknown(said: str) -> bool:
    """Tell whether a server does not know a parameter; one that refuses its value knows it well."""
    return any(word in said for word in _UNKNOWN_WORDS) and not any(word in said for word in _VALUE_WORDS)


def _key(provider: ProviderSettings) -> tuple[str, str, str]:
    return provider.name, provider.base_url, provider.model
