"""What a person can ask of the audit: the part of the facade that both surfaces call for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from ltmem_gui.domain.audit_repairs import Repair
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.citation_look import Position
from ltmem_gui.domain.consent import ApplyGrant
from ltmem_gui.domain.events import Listener, ignore
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.domain.usage import CitedUse
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline import audit_repairs, audit_sitting, citation_look
from ltmem_gui.pipeline.audit import Audit, load_audit
from ltmem_gui.pipeline.audit_reports import FORMATS, ReportFormat, ReportWish, make_counted_report
from ltmem_gui.pipeline.audit_sitting import Sitting
from ltmem_gui.pipeline.citation_look import LookResult
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.project_reading import read_project_file
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.review_audit import ReviewAudit, audit_of_plan


class AuditOperations:
    """Look, plan a sitting, sit, plan repairs. Holds no state of its own."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters

    async def load(
        self,
        request: Request,
        *,
        cancel: CancelToken,
        listen: Listener,
        refs: Sequence[RolloutRef] | None = None,
        with_usage: bool = False,
    ) -> Audit:
        """Read the folder, the cited sessions and the verdicts; writes nothing."""
        return await load_audit(self._adapters, request, cancel=cancel, listen=listen, refs=refs, with_usage=with_usage)

    async def of_plan(
        self, request: Request, plan: Plan, base: Mapping[str, bytes], rollouts: Mapping[str, Rollout]
    ) -> ReviewAudit:
        """Pair the claims of a plan under review with their citations, and read the verdicts; writes nothing."""
        return await audit_of_plan(self._adapters, request, plan, base, rollouts)

    async def read_project(self, folders: Sequence[Path], path: str) -> bytes | str:
        """Return a cited file of a project at its commit, or in words why there is none; reads git objects only."""
        return await self._adapters.offload.thread(
            read_project_file, self._adapters.project_files, tuple(folders), path
        )

    async def report(
        self,
        request: Request,
        wish: ReportWish,
        form: ReportFormat,
        *,
        program: str,
        refs: Sequence[RolloutRef] | None = None,
    ) -> tuple[bytes, int]:
        """Return a report in the form asked for, and how many secrets were replaced in it; writes nothing."""
        audit = await self.load(request, cancel=CancelToken(), listen=ignore, refs=refs)
        report, redactions = await make_counted_report(self._adapters, audit, wish, program=program)
        return (await self._adapters.offload.thread(FORMATS[form], report)).encode("utf-8"), redactions

    async def look(
        self,
        request: Request,
        folder: WorkspaceSnapshot,
        *,
        uses: Sequence[CitedUse],
        first: Collection[Position],
        deliver: Callable[[LookResult], None],
    ) -> None:
        """Say where the lines of a folder's citations are now, those that are seen first; writes nothing."""
        await citation_look.look(self._adapters, request, folder, uses, first, deliver)

    async def plan_sitting(self, request: Request, rater: str, frame: str, audit: Audit | None = None) -> Plan:
        """Plan a sitting: one confirmation for all its verdicts, and for keeping what `audit` saw first."""
        return await audit_sitting.plan_sitting(self._adapters, request, rater, frame, audit)

    async def plan_keeping(self, request: Request, audit: Audit) -> Plan:
        """Plan to keep what cited places say now."""
        self._adapters.use_home(request.home)
        return await audit_sitting.plan_keeping(self._adapters, request, audit)

    async def open_sitting(self, grant: ApplyGrant) -> Sitting:
        """Begin a confirmed sitting."""
        return await audit_sitting.open_sitting(self._adapters, grant)

    async def plan_import(self, request: Request, records: Sequence[VerdictRecord]) -> Plan:
        """Plan to append the verdicts of a report."""
        self._adapters.use_home(request.home)
        return await audit_sitting.plan_import(self._adapters, request, records)

    async def plan_repairs(self, request: Request, repairs: Sequence[Repair]) -> Plan:
        """Plan re-anchored citations, fixed notes and removed claims for the review."""
        return await audit_repairs.plan_repairs(self._adapters, request, repairs)
