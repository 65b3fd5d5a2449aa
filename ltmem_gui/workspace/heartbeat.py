"""Keep a lease alive while the folder is being written."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from ltmem_gui.domain.errors import LeaseLost
from ltmem_gui.domain.jobs import Claim
from ltmem_gui.domain.leases import StageTwo
from ltmem_gui.pipeline.ports import ApplyLedger


class Heartbeat:
    """Renew a lease on a thread of its own until the block ends."""

    def __init__(self, ledger: ApplyLedger, claim: Claim, seconds: float = StageTwo.JOB_HEARTBEAT_SECONDS) -> None:
        self._ledger = ledger
        self._claim = claim
        self._seconds = seconds
        self._end = threading.Event()
        self._lost = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._beat, name="ltmem-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def check(self) -> None:
        """Raise `LeaseLost` when the lease is another's, or the error that kept it from being renewed."""
        if self._error is not None:
            raise self._error
        if self._lost.is_set() or not self._ledger.owns(self._claim):
            raise LeaseLost("another run took the lease over", "make a new plan", self._claim.job_key)

    def _beat(self) -> None:
        while not self._end.wait(self._seconds):
            try:
                renewed = self._ledger.heartbeat(self._claim)
            except Exception as error:  # noqa: BLE001 - handed to the writer, which raises it at its next check
                self._error = error
                return
            if not renewed:
                self._lost.set()
                return
