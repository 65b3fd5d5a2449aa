"""Hold one sitting in the window: one confirmation, then one record after the other, each stored by a task of its own.

What is shown is what is stored: a record that cannot be stored ends the sitting.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import KnownError, UsageError
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.audit_sitting import Sitting
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor

Confirm = Callable[[Plan, Selection], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class AuditPowers:
    """What the controller lends: the named folders, the confirmation, and the name of the person.

    `folders_changed` is the signal that others were named.
    """

    request: Callable[[], Request]
    confirm: Confirm
    approver: Callable[[], str]
    folders_changed: Any = None


class SittingHolder(QObject):
    """What every sitting of the window shares; `name` begins the names of its tasks.

    Signals: `changed` (anything that is shown), `noticed` (`Notice`), `ended`.
    """

    changed = Signal()
    noticed = Signal(object)
    ended = Signal()
    name = "sitting"

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._operations = operations
        self._supervisor = supervisor
        self._clock = clock
        self._powers: AuditPowers | None = None
        self._sitting: Sitting | None = None

    def lend(self, powers: AuditPowers) -> None:
        """Take what a sitting needs."""
        self._powers = powers

    def end(self) -> None:
        """End the sitting once everything is stored."""
        if self._sitting is not None:
            sitting, self._sitting = self._sitting, None
            self._supervisor.spawn(f"{self.name}.end", self._end(sitting), policy="parallel")

    def _lent(self) -> AuditPowers:
        if self._powers is None:
            raise UsageError("no folder was named", "name folders first")
        return self._powers

    def _now(self) -> int:
        return int(self._clock())

    async def _open(self, plan: Plan) -> Sitting | None:
        """Ask once for all records of the sitting; return it, None where a person said no."""
        powers = self._lent()
        selection = Selection(plan_digest=plan.digest)
        with held(powers.folders_changed):
            if not await powers.confirm(plan, selection):
                return None
        grant = await self._operations.approve(plan, selection, approver=powers.approver(), surface="window")
        return await self._operations.audit.open_sitting(grant)

    def _append(self, sitting: Sitting, record: VerdictRecord) -> None:
        """Store a record; those before it go first."""
        self._supervisor.spawn(f"{self.name}.store", self._stored(sitting, record), policy="parallel")

    async def _stored(self, sitting: Sitting, record: VerdictRecord) -> None:
        try:
            await sitting.append(record)
        except KnownError:
            self._sitting = None
            self._give_up(record)
            raise

    def _give_up(self, record: VerdictRecord) -> None:
        """Show no record that could not be stored; the sitting is over."""
        raise NotImplementedError

    async def _end(self, sitting: Sitting) -> None:
        """Close the sitting and tell of it."""
        raise NotImplementedError
