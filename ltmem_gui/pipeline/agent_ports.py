"""What a consolidation with a model needs from the world; part of `ports`, which adapters import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ltmem_gui.domain.agent import AgentBrief, AgentMessage, AgentReply, ToolSpec
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.codex_ports import CodexAdapters
from ltmem_gui.pipeline.provider_ports import ProviderAdapters


class AgentModel(Protocol):
    """The model behind the consolidation agent: one conversation, one step at a time."""

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it."""
        ...

    def opening(self, brief: AgentBrief) -> tuple[AgentMessage, ...]:
        """Return the messages a run begins with: instructions, then the task."""
        ...

    async def step(self, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec]) -> AgentReply:
        """Send the conversation and return the untrusted reply. Raises `ProviderError` with the failure group."""
        ...

    async def close(self) -> None:
        """Close connections; harmless when nothing was opened."""
        ...


class StagedFolder(Protocol):
    """A private copy of a memory folder. Any thread, one call at a time.

    Every path is relative and checked; each method raises `StagingRefused` for a path outside, through a link or
    hidden, and for a change over a limit.
    """

    def names(self, path: str) -> list[tuple[str, bool]]:
        """Return the names in a folder (empty: the root) with whether each is a folder. Raises `StagingMissing`."""
        ...

    def read(self, path: str) -> bytes:
        """Return a file. Raises `StagingMissing`."""
        ...

    def write(self, path: str, data: bytes) -> bool:
        """Create or replace a file; tell whether it is new."""
        ...

    def delete(self, path: str) -> None:
        """Delete a file. Raises `StagingMissing`."""
        ...

    def files(self) -> dict[str, bytes]:
        """Return the whole copy, path → bytes."""
        ...


class AgentAdapters(CodexAdapters, ProviderAdapters, Protocol):
    """What of the adapters a consolidation with a model asks for."""

    def agent_model(self, provider: str, settings: Settings) -> AgentModel:
        """Return the model of the consolidation agent. Raises `UsageError` for an unknown or incomplete provider."""
        ...

    def staged_copy(
        self, files: Mapping[str, bytes], *, max_bytes: int, max_files: int
    ) -> AbstractContextManager[StagedFolder]:
        """Lay a private copy of a memory folder, which is removed afterwards."""
        ...
