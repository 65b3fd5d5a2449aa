"""The claims of a plan under review, with what their cited places say: so that a verdict can be given there (D5).

The items are those of the proposed folder. A verdict is bound to the texts of claim and evidence, so it holds after the
apply for every claim that was taken as it was proposed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ltmem_gui.domain.applying import apply_selection
from ltmem_gui.domain.audit import AuditItem
from ltmem_gui.domain.audit_items import AuditSet, AuditSources, SessionText, collect
from ltmem_gui.domain.evidence import lines_of
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.audit import cited_places
from ltmem_gui.pipeline.ports import Adapters
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store


@dataclass(frozen=True, slots=True)
class ReviewAudit:
    """What can be judged in a review, and what was said so far."""

    items: tuple[AuditItem, ...]
    records: tuple[VerdictRecord, ...]


async def audit_of_plan(
    adapters: Adapters, request: Request, plan: Plan, base: Mapping[str, bytes], rollouts: Mapping[str, Rollout]
) -> ReviewAudit:
    """Pair the claims of the proposed folder with their citations; writes nothing, opens no session.

    `base` is the folder as it is, `rollouts` the sessions that were read already, by thread id. Raises `StalePlan`
    when `base` is not what the plan was made from.
    """
    files = await adapters.offload.thread(apply_selection, base, plan, all_accepted(plan))
    cited = await adapters.offload.thread(cited_places, files)
    texts = {thread: _session_text(rollout, cited.get(thread.lower(), 0)) for thread, rollout in rollouts.items()}
    found: AuditSet = await adapters.offload.cpu(collect, AuditSources(files, texts, frozenset(texts)))
    async with open_store(adapters, request.home, writing=False) as call:
        records = await call(call.store.verdicts)
    return ReviewAudit(found.items, records)


def _session_text(rollout: Rollout, cited: int) -> SessionText:
    """Take what can be cited; whether a line behind the last item exists is not known here."""
    lines = lines_of(rollout.items)
    reached = max((*lines, *(line.line for line in rollout.skipped_lines)), default=0)
    return SessionText(lines, reached if reached >= cited else None, rollout.updated_at)
