"""What a person wants of a consolidation, and how an agent's run ended: values of the window."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.errors import Cancelled, KnownError
from ltmem_gui.domain.jobs import GLOBAL_KIND, JobRecord
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.ui.bridge.words import told

NO_INPUTS = "the built-in rules have one review, of their result; choose a model first"
NO_REMARKS = "the built-in rules take no remarks; choose a model first"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a consolidation is to mind: threads left out; for a new run of an agent, a remark and refused changes.

    `look`: the inputs of the agent are reviewed first, and it starts from there.
    """

    exclude: frozenset[str] = frozenset()
    note: str = ""
    refused: tuple[RefusedHunk, ...] = ()
    look: bool = False


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """How a run of the agent ended; `retry_at` (Unix seconds) where a failure makes the next one wait."""

    outcome: Literal["proposed", "unchanged", "cancelled", "failed"]
    reason: str = ""
    retry_at: int | None = None


def waits_until(jobs: Iterable[JobRecord]) -> int | None:
    """Return when the consolidation may run again after a failure, None when it does not wait."""
    return next((job.retry_at for job in jobs if job.kind == GLOBAL_KIND), None)


async def run_agent(
    work: Callable[[], Awaitable[Applied]],
    read: Callable[[], Awaitable[None]],
    jobs: Callable[[], Iterable[JobRecord]],
    end: Callable[[AgentEnd], None],
) -> Plan:
    """Do the work, read again what is stored, and tell by `end` how it came out. Raises what `work` raises."""
    try:
        done = await work()
    except (Cancelled, asyncio.CancelledError):
        end(AgentEnd("cancelled"))
        raise
    except KnownError as error:
        await read()
        end(AgentEnd("failed", told(error).what, waits_until(jobs())))
        raise
    except BaseException:
        end(AgentEnd("failed", "an error in the program"))
        raise
    await read()
    proposal = done.proposal
    assert proposal is not None
    end(AgentEnd("unchanged" if proposal.state is PlanState.EMPTY else "proposed"))
    return proposal


def no_regenerate(plan: Plan | None, choice: ModelChoice) -> str:
    """Return why a plan cannot be made again with a remark, empty where it can."""
    if plan is None:
        return "there is no proposal"
    if plan.operation != "consolidate" or plan.kind != "apply":
        return "it is no proposal of a consolidation"
    return NO_REMARKS if choice.consolidate == BUILTIN else ""
