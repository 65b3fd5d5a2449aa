"""Settings with Codex's names, their ranges, and overrides of one call.

Out of range is an error, never clamped (design §5). Times are in days or hours as the name says.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.opening import check_editor
from ltmem_gui.domain.prices import Amount, Price, as_prices, newest_only
from ltmem_gui.domain.rollouts import THREAD_SCAN_LIMIT

Texts = Annotated[tuple[str, ...], BeforeValidator(lambda v: v.split(",") if isinstance(v, str) and v else v or ())]
Days = Annotated[int, Field(ge=0, le=36_500)]


class Settings(BaseModel):
    """Hold every setting of a run; bound into each plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)

    max_rollout_age_days: Days = 10
    min_rollout_idle_hours: Annotated[int, Field(ge=0, le=48)] = 6
    max_unused_days: Days = 30
    max_raw_memories_for_consolidation: Annotated[int, Field(ge=1, le=4096)] = 256
    max_rollouts_per_run: Annotated[
        int,
        Field(
            ge=1,
            le=100_000,
            validation_alias=AliasChoices("max_rollouts_per_run", "max_rollouts_per_startup"),
        ),
    ] = 64
    scan_limit: Annotated[int, Field(ge=1, le=1_000_000)] = THREAD_SCAN_LIMIT
    min_rate_limit_remaining_percent: Annotated[int, Field(ge=0, le=100)] = 25
    include_non_interactive: bool = False
    recency_fallback: Literal["generated_at", "source_updated_at"] = "generated_at"
    loss_limit_percent: Annotated[int, Field(ge=0, le=100)] = 20
    max_tokens_per_run: Annotated[int, Field(ge=0)] = 0  # 0: no limit
    context_window: Annotated[int, Field(ge=0)] = 0  # tokens; 0: unknown
    extract_model: str = ""
    consolidation_model: str = ""
    redaction_off: Texts = ()  # kinds of secrets that stay; private keys always go
    redaction_patterns: tuple[str, ...] = ()  # extra regular expressions
    redaction_salt: str = ""
    redaction_allowed: Texts = ()  # salted digests of exact values that stay: `ltmem-gui redact --digest SALT`
    redaction_allowed_patterns: tuple[str, ...] = ()  # values that match one of these as a whole stay
    provider_url: str = ""  # of an OpenAI-compatible server; empty: the preset's own
    provider_api: Literal["auto", "chat", "responses"] = "auto"
    provider_key_env: str = ""  # the NAME of an environment variable that holds the key; never the key
    request_timeout_seconds: Annotated[int, Field(ge=1, le=3600)] = 600
    editor: Annotated[str, AfterValidator(check_editor)] = ""  # command with {file} and {line}; empty: none
    max_output_tokens: Annotated[int, Field(ge=0, le=10_000_000)] = 0  # of one answer; 0: the model's own limit
    prices: Annotated[tuple[Price, ...], BeforeValidator(as_prices), AfterValidator(newest_only)] = ()
    max_cost_per_run: Amount = Decimal(0)  # of each phase, in the currency of the price; 0: no limit

    def with_overrides(self, pairs: Iterable[str]) -> Settings:
        """Return settings changed by `key=value` texts.

        Raises `UsageError` naming the key for an unknown key, a value of the wrong kind or out of range.
        """
        values = self.model_dump()
        for pair in pairs:
            key, separator, value = pair.partition("=")
            key = key.strip().removeprefix("memories.")
            key = _ALIASES.get(key, key)
            if not separator or key not in Settings.model_fields:
                raise UsageError(f"unknown setting {pair!r}", "known: " + ", ".join(sorted(Settings.model_fields)))
            # A pattern may hold commas, a price spaces: each one is given by an option of its own.
            if key in _REPEATED:
                values[key] = (*values[key], value)
            else:
                values[key] = value.strip()
        try:
            return Settings.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            reason = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"setting {name}: {reason} (given: {first['input']!r})") from error


_REPEATED = frozenset({"redaction_patterns", "redaction_allowed_patterns", "prices"})
_ALIASES = {"max_rollouts_per_startup": "max_rollouts_per_run"}
