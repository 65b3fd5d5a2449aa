"""One connection to an OpenAI-compatible server, for both phases: how the client is made, one request, one answer.

The client is imported and built on a thread at first use (it takes seconds). It follows no redirect, uses no proxy for
a server on this computer, tries nothing again, and sends no `OPENAI_*` organisation of the environment to anyone but
OpenAI.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.limits import ProviderLimits, ServerForms
from ltmem_gui.domain.providers import OPENAI_HOST, ProviderSettings
from ltmem_gui.llm.failures import details, failure, of_client, of_status, without_key
from ltmem_gui.llm.keys import find_key
from ltmem_gui.llm.limits import limits_of
from ltmem_gui.llm.server_memory import Accepts, ServerMemory

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_SECONDS = 10.0
OnThread = Callable[..., Awaitable[Any]]
Heard = Callable[[Any], Awaitable[None]]


class Connection:
    """One server and model, asked from one event loop."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        memory: ServerMemory | None = None,
        on_thread: OnThread | None = None,
        key: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the server and what is known of it; `key` spares the look into environment and keyring.

        Nothing is opened yet. `clock` returns Unix seconds.
        """
        self.provider = provider
        self.memory = memory or ServerMemory()
        self._on_thread: OnThread = on_thread or asyncio.to_thread
        self._key = key
        self._clock = clock
        self._client: AsyncOpenAI | None = None
        self._building = asyncio.Lock()

    @property
    def limits(self) -> ProviderLimits | None:
        """Return what the server last said of its limits."""
        return self.memory.limits_of(self.provider)

    @property
    def forms(self) -> ServerForms | None:
        """Return what the server was found to take, None where nothing had to be found out."""
        return self.memory.forms_of(self.provider, int(self._clock()))

    async def send(self, path: str, body: Callable[[Accepts], dict[str, Any]]) -> dict[str, Any]:
        """Send one request and return the answer, stepping down while the server refuses its form, never otherwise.

        `body` builds what is sent, or raises. Raises `ProviderError` with the failure group.
        """
        client = await self._built()
        while True:
            accepts = self.memory.of(self.provider)
            asked = body(accepts)
            try:
                # As bytes: the client's own types would walk through body and answer once more.
                data: bytes = await client.post(path, cast_to=bytes, body=asked)
            except Exception as error:
                lower = self._lower(error, accepts)
                if lower is None:
                    raise of_client(error, self.provider.host, self._clock()) from error
                # Of several requests under way, the first refusal is learnt from; the others take what it came to.
                if self.memory.of(self.provider) == accepts:
                    self.memory.learn(self.provider, lower)
            else:
                return self._read(data)

    def failure(self, group: str, what: str) -> ProviderError:
        """Return an error of a group, without the key that was sent."""
        return failure(group, what, self.provider.host, key=self._sent_key)

    def without_key(self, text: str) -> str:
        """Return what a server said without the key that was sent."""
        return without_key(text, self._sent_key)

    @property
    def _sent_key(self) -> str:
        return self._client.api_key if self._client is not None else ""

    async def models(self) -> tuple[str, ...]:
        """Return the ids of `GET /models`, sorted. Raises `ProviderError`."""
        client = await self._built()
        try:
            data: bytes = await client.get("/models", cast_to=bytes)
        except Exception as error:
            raise of_client(error, self.provider.host) from error
        found = self._read(data).get("data")
        if not isinstance(found, list):
            raise self.failure("protocol", "the list of models cannot be read")
        return tuple(sorted({str(model["id"]) for model in found if isinstance(model, dict) and model.get("id")}))

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _built(self) -> AsyncOpenAI:
        async with self._building:
            client = self._client
            if client is None:
                client = self._client = await self._on_thread(build_client, self.provider, self._key, self._heard)
            return client

    async def _heard(self, response: Any) -> None:
        """Note the head of every answer, also of one that refuses."""
        _acknowledge(response)
        limits = limits_of(response.headers, self._clock(), refused=response.status_code == 429)
        if limits is not None:
            self.memory.note_limits(self.provider, limits)

    def _read(self, data: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self.failure("protocol", "the answer is not what the API promises")
        return answer

    def _lower(self, error: Exception, accepts: Accepts) -> Accepts | None:
        import openai

        if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
            return None
        if of_status(error, "").group == "too_large":
            return None
        said = " ".join((*details(error), str(getattr(error, "param", None) or "")))
        return accepts.after(said, limited=self.provider.output_limit > 0)


def build_client(provider: ProviderSettings, key: str = "", heard: Heard | None = None) -> AsyncOpenAI:
    """Import the client library and build a client: slow, and the keyring may ask; belongs on a thread.

    Raises `ProviderError` when there is no key.
    """
    key = key or find_key(provider)
    # The client's transport imports it with the first request, on the event loop, and held the window for 17 ms.
    import_module("anyio._backends._asyncio")
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
            event_hooks={"response": [heard] if heard else []},
        ),
    )


def _trust(provider: ProviderSettings) -> ssl.SSLContext | bool:
    """Return the trust store for TLS; plain HTTP gets an empty one, since loading the system's takes 50 ms of CPU."""
    return True if provider.base_url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _acknowledge(response: Any) -> None:
    """Confirm the head of an answer at once: a plain server holds its body back until then, for up to 40 ms."""
    stream: Any = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is not None and hasattr(socket, "TCP_QUICKACK"):
        with contextlib.suppress(OSError):  # not TCP, or closed by now: then there is nothing to hurry
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
