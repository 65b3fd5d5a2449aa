"""What a consolidation with a model needs from the world; part of `ports`, which adapters import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ltmem_gui.domain.agent import AgentBrief, AgentMessage, AgentReply, ToolSpec
from ltmem_gui.domain.plan import ProviderMark


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


@dataclass(frozen=True, slots=True)
class ForeignLease:
    """A consolidation that another program runs on the same folder: who, and until when (Unix seconds)."""

    holder: str
    until: int
    where: str
