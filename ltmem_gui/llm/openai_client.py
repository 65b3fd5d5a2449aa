"""Speak to an OpenAI-compatible server: one request, one answer, and a ladder of forms that servers accept.

The client is imported and built on a thread at first use (it takes seconds). It follows no redirect, uses no proxy for
a server on this computer, and sends no `OPENAI_*` organisation of the environment to anyone but OpenAI.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.providers import OPENAI_HOST, ProviderSettings
from ltmem_gui.llm.failures import details, failure, of_client, of_status
from ltmem_gui.llm.keys import find_key
from ltmem_gui.llm.schema import chat_format, responses_format

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_SECONDS = 10.0
OnThread = Callable[..., Awaitable[Any]]


class Rung(IntEnum):
    """How the form of the answer is asked for, strictest first."""

    SCHEMA = 0
    JSON_OBJECT = 1
    PLAIN = 2


@dataclass(frozen=True, slots=True)
class Accepts:
    """What a server was found to take."""

    rung: Rung = Rung.SCHEMA
    effort: bool = True


class Ladder:
    """Remember per provider, address and model what a server takes, so that a refusal is paid for once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Accepts] = {}

    def of(self, provider: ProviderSettings) -> Accepts:
        """Return what is known; at first the strictest form."""
        return self._known.get((provider.name, provider.base_url, provider.model), Accepts())

    def learn(self, provider: ProviderSettings, accepts: Accepts) -> None:
        """Keep what was found out."""
        self._known[provider.name, provider.base_url, provider.model] = accepts


@dataclass(frozen=True, slots=True)
class Question:
    """One request: `system` gives the instructions for a rung (the schema in words where the wire has none)."""

    system: Callable[[Rung], str]
    user: str
    schema: Mapping[str, Any]
    schema_name: str
    effort: str = "low"


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that came back and the tokens the server counted."""

    text: str
    tokens_in: int | None
    tokens_out: int | None
    rung: Rung
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None


class ModelClient:
    """One server, asked from one event loop."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        ladder: Ladder | None = None,
        on_thread: OnThread | None = None,
        key: str = "",
    ) -> None:
        """Take the server; `key` spares the look into environment and keyring. Nothing is opened yet."""
        self.provider = provider
        self.ladder = ladder or Ladder()
        self._on_thread: OnThread = on_thread or asyncio.to_thread
        self._key = key
        self._client: AsyncOpenAI | None = None
        self._building = asyncio.Lock()

    async def ask(self, question: Question) -> Answer:
        """Send one request, stepping down the ladder while the server refuses the form, never for other reasons.

        Raises `ProviderError` with the failure group.
        """
        client = await self._built()
        while True:
            accepts = self.ladder.of(self.provider)
            try:
                return await self._once(client, question, accepts)
            except ProviderError:
                raise
            except Exception as error:
                lower = _step_down(error, accepts)
                if lower is None:
                    raise of_client(error, self.provider.host) from error
                self.ladder.learn(self.provider, lower)

    async def models(self) -> tuple[str, ...]:
        """Return the ids of `GET /models`, sorted. Raises `ProviderError`."""
        client = await self._built()
        try:
            page = await client.models.list()
        except Exception as error:
            raise of_client(error, self.provider.host) from error
        found = getattr(page, "data", None)
        if not isinstance(found, list):
            raise failure("protocol", "the list of models cannot be read", self.provider.host)
        return tuple(sorted({str(model.id) for model in found if getattr(model, "id", None)}))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _built(self) -> AsyncOpenAI:
        async with self._building:
            client = self._client
            if client is None:
                client = self._client = await self._on_thread(build_client, self.provider, self._key)
            return client

    async def _once(self, client: AsyncOpenAI, question: Question, accepts: Accepts) -> Answer:
        if self.provider.uses_responses:
            return await _by_responses(client, self.provider, question, accepts)
        return await _by_chat(client, self.provider, question, accepts)


def build_client(provider: ProviderSettings, key: str = "") -> AsyncOpenAI:
    """Import the client library and build a client: slow, and the keyring may ask; belongs on a thread.

    Raises `ProviderError` when there is no key.
    """
    key = key or find_key(provider)
    import openai

    foreign = urlsplit(provider.base_url).hostname != OPENAI_HOST
    headers: dict[str, Any] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()} if foreign else {}
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=provider.base_url,
        max_retries=0,
        timeout=openai.Timeout(provider.timeout_seconds, connect=min(CONNECT_SECONDS, provider.timeout_seconds)),
        default_headers=headers,
        http_client=openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            trust_env=not provider.is_loopback,
            verify=_trust(provider),
            event_hooks={"response": [_acknowledge]},
        ),
    )


def _trust(provider: ProviderSettings) -> ssl.SSLContext | bool:
    """Return the trust store for TLS; plain HTTP gets an empty one, since loading the system's takes 50 ms of CPU."""
    return True if provider.base_url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _acknowledge(response: Any) -> None:
    """Confirm the head of an answer at once: a plain server holds its body back until then, for up to 40 ms."""
    stream: Any = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None and hasattr(socket, "TCP_QUICKACK"):
        with contextlib.suppress(OSError):  # not TCP, or closed by now: then there is nothing to hurry
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


async def _by_chat(client: AsyncOpenAI, provider: ProviderSettings, question: Question, accepts: Accepts) -> Answer:
    extra: dict[str, Any] = {}
    if accepts.rung is Rung.SCHEMA:
        extra["response_format"] = chat_format(dict(question.schema), question.schema_name)
    elif accepts.rung is Rung.JSON_OBJECT:
        extra["response_format"] = {"type": "json_object"}
    if accepts.effort:
        extra["reasoning_effort"] = question.effort
    reply = await client.chat.completions.create(
        model=provider.model,
        messages=[
            {"role": "system", "content": question.system(accepts.rung)},
            {"role": "user", "content": question.user},
        ],
        **extra,
    )
    choices = getattr(reply, "choices", None)
    if isinstance(reply, str) or choices is None:
        raise failure("protocol", "the answer is not what the API promises", provider.host)
    if not choices:
        raise failure("empty", "the server answered without any choice", provider.host)
    choice = choices[0]
    message = choice.message
    if getattr(message, "refusal", None) or choice.finish_reason == "content_filter":
        raise failure("refusal", f"the model refused: {message.refusal or 'content filter'}", provider.host)
    if choice.finish_reason == "length":
        raise failure("length", "the answer was cut at the token limit", provider.host)
    if not message.content:
        raise failure("empty", "the server answered without text", provider.host)
    usage = reply.usage
    counted = (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)
    cached = _part(usage, "prompt_tokens_details", "cached_tokens")
    reasoning = _part(usage, "completion_tokens_details", "reasoning_tokens")
    return Answer(message.content, *counted, accepts.rung, cached, reasoning)


async def _by_responses(
    client: AsyncOpenAI, provider: ProviderSettings, question: Question, accepts: Accepts
) -> Answer:
    extra: dict[str, Any] = {}
    if accepts.rung is Rung.SCHEMA:
        extra["text"] = responses_format(dict(question.schema), question.schema_name)
    elif accepts.rung is Rung.JSON_OBJECT:
        extra["text"] = {"format": {"type": "json_object"}}
    if accepts.effort:
        extra["reasoning"] = {"effort": question.effort}
    reply = await client.responses.create(
        model=provider.model,
        instructions=question.system(accepts.rung),
        input=question.user,
        store=False,
        **extra,
    )
    status = getattr(reply, "status", None)
    if isinstance(reply, str) or not isinstance(getattr(reply, "output", None), list):
        raise failure("protocol", "the answer is not what the API promises", provider.host)
    if status == "incomplete":
        why = getattr(reply.incomplete_details, "reason", "") or "no reason given"
        group = "refusal" if why == "content_filter" else "length"
        raise failure(group, f"the answer is incomplete ({why})", provider.host)
    if status in ("failed", "cancelled"):
        said = getattr(reply.error, "message", "") or status
        raise failure("server", f"the server gave up ({said})", provider.host)
    parts = [part for item in reply.output for part in (getattr(item, "content", None) or [])]
    refusals = [part.refusal for part in parts if getattr(part, "refusal", None)]
    if refusals:
        raise failure("refusal", f"the model refused: {refusals[0]}", provider.host)
    text = "".join(part.text for part in parts if getattr(part, "type", "") == "output_text")
    if not text:
        raise failure("empty", "the server answered without text", provider.host)
    usage = reply.usage
    counted = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
    cached = _part(usage, "input_tokens_details", "cached_tokens")
    reasoning = _part(usage, "output_tokens_details", "reasoning_tokens")
    return Answer(text, *counted, accepts.rung, cached, reasoning)


def _part(usage: object, details: str, name: str) -> int | None:
    """Return a part of the token counts, None where a server tells none or something else."""
    found = getattr(getattr(usage, details, None), name, None)
    return found if isinstance(found, int) and found >= 0 else None


def _step_down(error: Exception, accepts: Accepts) -> Accepts | None:
    """Return what to ask for next when a server refuses the form of the request, None for any other failure."""
    import openai

    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return None
    if of_status(error, "").group == "too_large":
        return None
    code, message = details(error)
    said = f"{code} {message} {_parameter(error)}".lower()
    if accepts.effort and "reasoning" in said:
        return replace(accepts, effort=False)
    refused = any(
        word in said for word in ("response_format", "json_schema", "json_object", "text.format", "schema", "grammar")
    )
    if refused and accepts.rung is not Rung.PLAIN:
        return replace(accepts, rung=Rung(accepts.rung + 1))
    return None


def _parameter(error: Any) -> str:
    return str(getattr(error, "param", None) or "")
