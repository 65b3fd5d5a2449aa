"""What both phases share behind a server: its connection, the limits and forms it told of, the words of the prompts."""

from __future__ import annotations

import time
from collections.abc import Callable

from ltmem_gui.domain.limits import ProviderLimits, ServerForms
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.llm.connection import Connection, OnThread
from ltmem_gui.llm.prompts import Prompts
from ltmem_gui.llm.server_memory import ServerMemory


class ServerSide:
    """One server and model, as the port of either phase needs it."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        memory: ServerMemory | None = None,
        on_thread: OnThread | None = None,
        key: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the server, what is already known of it, and what runs blocking work; nothing is opened yet.

        `clock` returns Unix seconds.
        """
        self._provider = provider
        self._connection = Connection(provider, memory=memory, on_thread=on_thread, key=key, clock=clock)
        self._prompts = Prompts()

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it."""
        return self._provider.mark

    @property
    def limits(self) -> ProviderLimits | None:
        """Return what the server last said of its limits."""
        return self._connection.limits

    def forms(self) -> ServerForms | None:
        """Return what the server was found to take, None where nothing had to be found out."""
        return self._connection.forms

    def recall(self, forms: ServerForms) -> None:
        """Take over what an earlier run found out."""
        self._connection.memory.recall(self._provider, forms)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()
