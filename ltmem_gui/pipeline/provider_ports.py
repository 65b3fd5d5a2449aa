"""What choosing a provider needs from the world; part of `ports`, which adapters import."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ltmem_gui.domain.limits import ProviderLimits, ServerForms
from ltmem_gui.domain.providers import ConnectionReport, ProviderSettings


class ProviderProbe(Protocol):
    """A server that is looked at before anybody works with it."""

    async def models(self) -> tuple[str, ...]:
        """Return the ids of `GET /models`, sorted. Raises `ProviderError`."""
        ...

    async def test_connection(self) -> ConnectionReport:
        """Send two tiny requests. Raises `ProviderError` when the server cannot be used at all."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ProviderKeys(Protocol):
    """The keys of providers: the OS keyring, or an environment variable. Every method may block."""

    def place(self, provider: ProviderSettings) -> str:
        """Say in words where the key is, empty when there is none and one is needed."""
        ...

    def store(self, provider: ProviderSettings, key: str) -> None:
        """Put a key into the OS keyring: a confirmed act. Raises `ProviderError` without a keyring."""
        ...

    def delete(self, provider: ProviderSettings) -> None:
        """Take a key out of the OS keyring; a missing one is fine. Raises `ProviderError` without a keyring."""
        ...


@runtime_checkable
class LimitedExtractor(Protocol):
    """A provider whose answers say what is left of its limits."""

    @property
    def limits(self) -> ProviderLimits | None:
        """Return what the last answer said, None before the first and where none says anything."""
        ...


@runtime_checkable
class LearningProvider(Protocol):
    """A provider that finds out what its server takes, by being refused once."""

    def forms(self) -> ServerForms | None:
        """Return what was found out, None where nothing had to be."""
        ...

    def recall(self, forms: ServerForms) -> None:
        """Take over what an earlier run found out."""
        ...


class ProviderAdapters(Protocol):
    """What of the adapters the choice of a provider asks for."""

    def provider_probe(self, provider: ProviderSettings) -> ProviderProbe:
        """Return what looks at a server; nothing is sent yet."""
        ...

    @property
    def provider_keys(self) -> ProviderKeys:
        """Return the keys of providers."""
        ...

    def local_model_problem(self, path: str) -> str:
        """Say why a model file cannot be run here, empty when it can be tried. May block."""
        ...
