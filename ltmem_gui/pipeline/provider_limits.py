"""Look at what a provider said of its limits before anything is claimed; keep that and its forms for the next run."""

from __future__ import annotations

from pathlib import Path

from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.limits import ProviderLimits
from ltmem_gui.domain.plan import Plan, ProviderMark
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.guard import guard_provider
from ltmem_gui.pipeline.ports import Adapters, AgentModel
from ltmem_gui.pipeline.provider_ports import LearningProvider, LimitedExtractor
from ltmem_gui.pipeline.sessions import StoreCall, open_store

WAIT = "wait until then, or use --provider builtin"
REMEDY = "wait, use --provider builtin, or set min_rate_limit_remaining_percent"


async def refuse_below_limit(adapters: Adapters, call: StoreCall, plan: Plan) -> None:
    """Refuse a confirmed run whose provider has too little left; the plan may be carried out later.

    Raises `RefusedError` with the figures.
    """
    if plan.provider.host:
        extractor = adapters.extractor(plan.provider.name, plan.settings)
        refuse_below(await known_limits(call, plan.provider, extractor), plan.settings, adapters.clock())


async def refuse_agent_below_limit(adapters: Adapters, home: Path, model: AgentModel, settings: Settings) -> None:
    """Do the same for the consolidation agent's model, before its plan and before its run."""
    async with open_store(adapters, home, writing=False) as call:
        known = await known_limits(call, model.mark, model)
        await recall_forms(call, model.mark, model, adapters.clock())
    refuse_below(known, settings, adapters.clock())


def refuse_below(limits: ProviderLimits | None, settings: Settings, now: int) -> None:
    """Raise `RefusedError` when too little of a provider's own limit is left."""
    verdict = guard_provider(limits, min_remaining_percent=settings.min_rate_limit_remaining_percent, now=now)
    if not verdict.allowed:
        helps = guard_provider(limits, min_remaining_percent=0, now=now).allowed
        raise RefusedError(verdict.text, REMEDY if helps else WAIT)


async def known_limits(call: StoreCall, mark: ProviderMark, asked: object) -> ProviderLimits | None:
    """Return the newest of what is stored of a provider and what this process heard when it `asked`."""
    heard = asked.limits if isinstance(asked, LimitedExtractor) else None
    known = [limits for limits in (await call(call.store.limits_of, mark), heard) if limits is not None]
    return max(known, key=lambda limits: limits.at, default=None)


async def recall_forms(call: StoreCall, mark: ProviderMark, asked: object, now: int) -> None:
    """Tell a provider what an earlier run found out of its server."""
    if isinstance(asked, LearningProvider):
        kept = await call(call.store.forms_of, mark)
        if kept is not None and kept.holds(now):
            asked.recall(kept)


async def keep_what_was_heard(call: StoreCall, mark: ProviderMark, asked: object, since: int) -> None:
    """Store what the provider said of its limits during a run, and what its server was found to take."""
    heard = asked.limits if isinstance(asked, LimitedExtractor) else None
    if heard is not None and heard.at >= since:
        await call(call.store.keep_limits, mark, heard)
    found = asked.forms() if isinstance(asked, LearningProvider) else None
    if found is None:
        return
    kept = await call(call.store.forms_of, mark)
    # What was only taken over keeps its age, so that a renewed server is tried anew in time.
    if kept is None or not kept.holds(found.at) or found.model_copy(update={"at": kept.at}) != kept:
        await call(call.store.keep_forms, mark, found)
