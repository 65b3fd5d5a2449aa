"""Look at the citations of a folder that was read: in the background, what is on the screen first. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from ltmem_gui.domain.citation_check import Snapshots
from ltmem_gui.domain.citation_look import (
    ClaimPlaces,
    Looked,
    LookSources,
    Position,
    look_up,
    places_of_claims,
    standings,
)
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.usage import CitedUse
from ltmem_gui.pipeline.audit_drift import baseline_snapshots
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store


@dataclass(frozen=True, slots=True)
class LookResult:
    """What a look found, a part or the last of it.

    `places` answers for positions; `claims` tells how claims and citations belong together, None where it was not
    asked; `standing` maps a thread in lower case to its use and why it is kept.
    """

    places: Mapping[Position, Looked] = field(default_factory=dict[Position, Looked])
    claims: ClaimPlaces | None = None
    standing: Mapping[str, str] = field(default_factory=dict[str, str])


async def look(
    adapters: Adapters,
    request: Request,
    folder: WorkspaceSnapshot,
    uses: Sequence[CitedUse],
    first: Collection[Position],
    deliver: Callable[[LookResult], None],
) -> None:
    """Hand over what is known of the citations: of the positions that are seen `first`, then of all others.

    `uses` are the citations in the sessions that were scanned.
    """
    async with open_store(adapters, request.home, writing=False) as call:
        records = await call(call.store.evidence, folder.root)
        outputs = await call(call.store.outputs)
    before: Snapshots = {}
    with suppress(InputError):  # where git cannot be read, the records are all there is to compare with
        before = await baseline_snapshots(adapters, folder)
    files = {path: file.data for path, file in folder.files.items() if path.endswith(".md")}
    cited = {path: file.data for path, file in folder.files.items()}
    sources = LookSources(cited, before, {record.key: record for record in records})
    seen = frozenset(first)
    if before or records:
        deliver(LookResult(await adapters.offload.cpu(partial(look_up, sources, only=seen))))
    settings = request.settings
    words = standings(
        outputs,
        uses,
        now=adapters.clock(),
        max_unused_days=settings.max_unused_days,
        fallback=settings.recency_fallback,
    )
    claims = await adapters.offload.cpu(places_of_claims, files)
    deliver(LookResult(claims=claims, standing=words))
    if before or records:
        deliver(LookResult(await adapters.offload.cpu(partial(look_up, sources, without=seen))))
