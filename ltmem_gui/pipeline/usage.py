"""Which citations of the scanned sessions were not credited yet: an effect of the extraction plan."""

from __future__ import annotations

from collections.abc import Iterable

from ltmem_gui.domain.usage import cited_names, credits_of
from ltmem_gui.pipeline.ports import Adapters, ScannedRollout
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

OWN_RUN = "own_run"


async def uncredited(
    adapters: Adapters, request: Request, rollouts: Iterable[ScannedRollout]
) -> tuple[dict[str, str], ...]:
    """Return the credits that are due; what the memory's own runs cite is no use of it."""
    citing = [r for r in rollouts if r.citations and all(reason.rule != OWN_RUN for reason in r.eligibility.failed)]
    if not citing:
        return ()
    async with open_store(adapters, request.home, writing=False) as call:
        known = cited_names(await call(call.store.outputs))
        due = [credit for rollout in citing for credit in credits_of(rollout.id, rollout.citations, known)]
        return tuple(dict(credit) for credit in await call(call.store.uncredited, due))
