"""Which model a person chose and where it is: presets that only fill in an address, and the rules for it.

A key is never part of this: it is in the OS keyring or in the environment variable named here.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.limits import ProviderLimits
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.prices import OUTPUT_LIMIT_TOKENS, price_of
from ltmem_gui.domain.settings import Settings

BUILTIN = "builtin"
LOCAL = "local"
OPENAI_HOST = "api.openai.com"
PRESETS: dict[str, str] = {
    "openai": f"https://{OPENAI_HOST}/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "custom": "",
}
"""Preset → base URL; `custom` takes it from the setting `provider_url`."""

LABELS: dict[str, str] = {
    "openai": "OpenAI",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "custom": "OpenAI-compatible server",
}


class ProviderSettings(BaseModel):
    """One OpenAI-compatible server: `base_url` ends where `/chat/completions` is added; times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    base_url: str
    model: str
    api: Literal["auto", "chat", "responses"] = "auto"
    key_env: str = ""
    context_window: Annotated[int, Field(ge=0)] = 0
    timeout_seconds: Annotated[int, Field(ge=1, le=3600)] = 600
    output_limit: Annotated[int, Field(ge=0)] = 0  # tokens of one answer; 0: the model's own limit
    must_limit: bool = False  # money is limited, which holds only while answers are

    @model_validator(mode="after")
    def _check(self) -> Self:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.base_url!r} is no http(s) address")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the address must hold no user name, password, query or fragment")
        if self.key_env and not self.key_env.isidentifier():
            raise ValueError("provider_key_env takes the name of an environment variable, never the key itself")
        return self

    @property
    def host(self) -> str:
        """Return host and port as a person knows them."""
        return urlsplit(self.base_url).netloc

    @property
    def is_loopback(self) -> bool:
        """Tell whether nothing leaves this computer."""
        return is_loopback_host(urlsplit(self.base_url).hostname or "")

    @property
    def is_unencrypted(self) -> bool:
        """Tell whether the address is plain http."""
        return urlsplit(self.base_url).scheme == "http"

    @property
    def uses_responses(self) -> bool:
        """Tell which API is spoken: Responses for OpenAI itself, Chat Completions for everything else."""
        if self.api == "auto":
            return urlsplit(self.base_url).hostname == OPENAI_HOST
        return self.api == "responses"

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it; `host` is set for loopback too: text leaves the program."""
        label = f"{LABELS.get(self.name, self.name)}, model {self.model}"
        if not self.is_loopback:
            label += f"; the redacted text is sent to {self.host}"
        return ProviderMark(name=self.name, label=label, host=self.host, model=self.model)


class Rung(IntEnum):
    """How the form of the answer is asked for, strictest first."""

    SCHEMA = 0
    JSON_OBJECT = 1
    PLAIN = 2

    @property
    def words(self) -> str:
        """Return the form in words."""
        return ("strict schema", "JSON, with the schema in words", "plain text, with the schema in words")[self]


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """What a connection test found; latencies in milliseconds, `detail` in words where a probe failed.

    `schema_ok`: it answered in the strict form where there was something to remember; `no_op_ok`: it wrote nothing
    where there was nothing. `rung` is the form the server takes; `models` what it lists, empty where it lists nothing.
    """

    models: tuple[str, ...]
    schema_ok: bool
    no_op_ok: bool
    schema_ms: int
    no_op_ms: int
    rung: Rung
    detail: str = ""
    limits: ProviderLimits | None = None

    @property
    def ok(self) -> bool:
        """Tell whether the model can be used."""
        return self.schema_ok and self.no_op_ok


def is_loopback_host(host: str) -> bool:
    """Tell whether a host means this computer: `localhost` itself or a loopback address.

    A name below `localhost` is looked up like any other, and may come to another computer.
    """
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def output_limit_of(settings: Settings, provider: str, model: str) -> int:
    """Return how many tokens an answer may take, 0 for the model's own limit; a money limit needs one to hold."""
    if settings.max_output_tokens:
        return settings.max_output_tokens
    return OUTPUT_LIMIT_TOKENS if limits_money(settings, provider, model) else 0


def limits_money(settings: Settings, provider: str, model: str) -> bool:
    """Tell whether money limits what a model may be asked: without a price it cannot."""
    return settings.max_cost_per_run > 0 and price_of(settings.prices, provider, model) is not None


def provider_of(name: str, settings: Settings, model: str = "", *, needs_model: bool = True) -> ProviderSettings:
    """Return the server a name and the settings mean. Raises `UsageError` saying what is missing.

    Without `needs_model` it may be one whose models are only to be listed.
    """
    if name not in PRESETS:
        known = ", ".join([BUILTIN, *PRESETS, LOCAL])
        raise UsageError(f"unknown provider {name!r}", f"known: {known}")
    url = settings.provider_url or PRESETS[name]
    if not url:
        raise UsageError("no address is set for the provider", "set provider_url, e.g. http://127.0.0.1:8080/v1")
    chosen = model or settings.extract_model
    if not chosen and needs_model:
        raise UsageError("no model is chosen", "set extract_model; the connection test lists what the server has")
    try:
        return ProviderSettings(
            name=name,
            base_url=url.rstrip("/"),
            model=chosen,
            api=settings.provider_api,
            key_env=settings.provider_key_env,
            context_window=settings.context_window,
            timeout_seconds=settings.request_timeout_seconds,
            output_limit=output_limit_of(settings, name, chosen),
            must_limit=limits_money(settings, name, chosen),
        )
    except ValueError as error:
        reason = str(error).split("Value error, ")[-1].split(" [type=")[0]
        raise UsageError(f"the provider's settings cannot be used: {reason}") from error
