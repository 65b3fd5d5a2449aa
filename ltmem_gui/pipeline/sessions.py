"""Open a store for a use case: every call runs on the store thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from ltmem_gui.pipeline.ports import Adapters, Store

P = ParamSpec("P")
T = TypeVar("T")


class StoreCall(Protocol):
    """Await one method of the store."""

    @property
    def store(self) -> Store: ...

    async def __call__(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T: ...


class _Bound:
    def __init__(self, adapters: Adapters, store: Store) -> None:
        self._offload = adapters.offload
        self.store = store

    async def __call__(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._offload.store(partial(method, *args, **kwargs))


@asynccontextmanager
async def open_store(adapters: Adapters, home: Path, *, writing: bool) -> AsyncGenerator[StoreCall]:
    """Open the store of a data folder on the store thread and close it there, also when cancelled."""
    opener = adapters.stores.writing(home) if writing else adapters.stores.reading(home)
    store = await adapters.offload.store(opener.__enter__)
    try:
        yield _Bound(adapters, store)
    finally:
        await asyncio.shield(adapters.offload.store(opener.__exit__, None, None, None))
