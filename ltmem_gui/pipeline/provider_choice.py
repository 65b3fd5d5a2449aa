"""Choose a provider: what there is, what a server offers, and whether a model can be used. For both surfaces.

    operations.providers.options()                        → the presets, each with its address
    operations.providers.describe(name, settings)         → where text would go, the key, the price, in words
    await operations.providers.key_place(name, settings)  → where the key is
    await operations.providers.models(name, settings)     → what the server lists
    await operations.providers.test_connection(…)         → two probes with their latency
    await operations.providers.store_key(…) / delete_key(…)

`models` and `test_connection` send something and `store_key`, `delete_key` change the keyring: a surface calls them on
a person's explicit wish alone, with the host shown. What is sent holds nothing of the person's.
"""

from __future__ import annotations

from dataclasses import dataclass

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.prices import PRICE_UNKNOWN, Price, price_of
from ltmem_gui.domain.providers import (
    BUILTIN,
    LABELS,
    LOCAL,
    PRESETS,
    ConnectionReport,
    ProviderSettings,
    provider_of,
)
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import Adapters

BUILTIN_LABEL = "Built-in rules, no AI model"
LOCAL_LABEL = "Local model file (experimental)"
STAYS = "Nothing leaves this computer."


@dataclass(frozen=True, slots=True)
class ProviderOption:
    """One entry of the list: `url` is where its server usually is, empty where it has none or must be given."""

    name: str
    label: str
    url: str = ""
    needs_model: bool = False
    needs_url: bool = False


@dataclass(frozen=True, slots=True)
class ProviderNote:
    """What a person should know before choosing: `note` says where text goes, `loopback` that it stays here.

    `key_env` is the name of the variable with the key, empty for the keyring; `unencrypted` tells of plain http to
    another computer.
    """

    name: str
    label: str
    host: str
    loopback: bool
    note: str
    price: Price | None = None
    key_env: str = ""
    unencrypted: bool = False

    @property
    def key_words(self) -> str:
        """Return which key goes to which host with a request."""
        if self.key_env:
            return f"The key in the environment variable {self.key_env} is sent to {self.host}."
        return f"The key that the keyring holds for {self.host} is sent along, if there is one."

    @property
    def price_words(self) -> str:
        """Return the price, or that it is unknown."""
        return PRICE_UNKNOWN if self.price is None else self.price.in_words()


class ProviderChoice:
    """Everything that can be asked of providers before one is chosen. Holds no state of its own."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters

    def options(self) -> tuple[ProviderOption, ...]:
        """Return what can be chosen, the default first."""
        servers = tuple(
            ProviderOption(name, LABELS[name], url, needs_model=True, needs_url=not url)
            for name, url in PRESETS.items()
        )
        local = ProviderOption(LOCAL, LOCAL_LABEL, needs_model=True)
        return (ProviderOption(BUILTIN, BUILTIN_LABEL), *servers, local)

    def describe(self, name: str, settings: Settings) -> ProviderNote:
        """Say where text would go and what it costs; sends nothing. Raises `UsageError` for settings that miss."""
        if name == BUILTIN:
            return ProviderNote(name, BUILTIN_LABEL, "", loopback=True, note=STAYS)
        price = price_of(settings.prices, name, settings.extract_model)
        if name == LOCAL:
            return ProviderNote(name, LOCAL_LABEL, "", loopback=True, note=STAYS, price=price)
        server = provider_of(name, settings, needs_model=False)
        note = STAYS
        if not server.is_loopback:
            note = f"The redacted text of your sessions is sent to {server.host}, which is not this computer."
            if server.is_unencrypted:
                note += " It travels unencrypted (http), the key too."
        return ProviderNote(
            name,
            LABELS[name],
            server.host,
            loopback=server.is_loopback,
            note=note,
            price=price,
            key_env=server.key_env,
            unencrypted=server.is_unencrypted and not server.is_loopback,
        )

    async def key_place(self, name: str, settings: Settings) -> str:
        """Say where the key of a server is, empty when there is none and one is needed. Never the key itself."""
        return await self._adapters.offload.thread(self._adapters.provider_keys.place, _server(name, settings))

    async def store_key(self, name: str, settings: Settings, key: str) -> None:
        """Put a key into the OS keyring, bound to the host. Raises `UsageError` for none, `ProviderError`."""
        if not key.strip():
            raise UsageError("no key was given", "paste the key, or name an environment variable in provider_key_env")
        keys = self._adapters.provider_keys
        await self._adapters.offload.thread(keys.store, _server(name, settings), key.strip())

    async def delete_key(self, name: str, settings: Settings) -> None:
        """Take the key of a server out of the OS keyring. Raises `ProviderError`."""
        await self._adapters.offload.thread(self._adapters.provider_keys.delete, _server(name, settings))

    async def models(self, name: str, settings: Settings) -> tuple[str, ...]:
        """Ask a server what it has. Raises `ProviderError`, and `UsageError` for settings that miss something."""
        probe = self._adapters.provider_probe(_server(name, settings))
        try:
            return await probe.models()
        finally:
            await probe.close()

    async def test_connection(self, name: str, settings: Settings) -> ConnectionReport:
        """Try the model that is set with two made-up requests. Raises `ProviderError` and `UsageError`."""
        if name == LOCAL:
            problem = await self.local_problem(settings)
            raise UsageError(problem or "a model file has no connection to test", "try it with: preview extract")
        probe = self._adapters.provider_probe(_server(name, settings, needs_model=True))
        try:
            return await probe.test_connection()
        finally:
            await probe.close()

    async def local_problem(self, settings: Settings) -> str:
        """Say why the model file cannot be run here, empty when it can be tried."""
        return await self._adapters.offload.thread(self._adapters.local_model_problem, settings.extract_model)


def _server(name: str, settings: Settings, *, needs_model: bool = False) -> ProviderSettings:
    if name in (BUILTIN, LOCAL):
        raise UsageError(f"the provider {name} is no server", f"servers: {', '.join(PRESETS)}")
    return provider_of(name, settings, needs_model=needs_model)
