"""From a plan to a yes: Review → Selection → Approval → ApplyGrant → Receipt, each a type of its own (design §2)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.errors import GrantExpired, GrantReused
from ltmem_gui.domain.plan import Plan

APPROVAL_SECONDS = 15 * 60

Surface = Literal["window", "command line", "demo"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Decision(StrEnum):
    """What a person said of one hunk; closing, Escape and silence are never a yes."""

    UNDECIDED = "undecided"
    ACCEPT = "accept"
    REJECT = "reject"
    EDITED = "edited"


class Selection(_Value):
    """The accepted part of a plan, with a digest of its own.

    `accepted` and `edited` are keyed by path, then hunk id. A `whole` or `thread` change uses the hunk id `*`.
    `overrides` maps finding ids to written reasons.
    """

    plan_digest: str
    accepted: dict[str, tuple[str, ...]] = {}
    edited: dict[str, dict[str, tuple[str, ...]]] = {}
    rejected: dict[str, tuple[str, ...]] = {}
    overrides: dict[str, str] = {}
    notes: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """Return the digest of the selection."""
        return digest(self.model_dump(mode="json"))


class Approval(_Value):
    """A person's yes: who, when, to what, seen on which surface, and until when. Unix seconds."""

    plan_digest: str
    selection_digest: str
    fingerprint: str
    approver: str
    surface: Surface
    at: int
    expires_at: int


class ReceiptFile(_Value):
    """One file of an apply: hashes before and after, None where there was or is none."""

    path: str
    old_sha256: str | None
    new_sha256: str | None


class KeptTranscript(_Value):
    """What an agent's calls asked for, as JSON (`domain/agent_kept`): kept beside the receipt, never in the log.

    It may quote a memory; `thread_ids` are the sessions the run could know, and forgetting one of them removes it.
    """

    body: str
    thread_ids: tuple[str, ...] = ()


class Receipt(_Value):
    """What was done: the numbered, kept record of one grant. It never holds memory text.

    `redactions` counts what was taken out, by place (input, output) and kind, never with values. `metrics` holds the
    counters of the run (`domain/metrics`), which stay on this computer. `steps` is the transcript of an agent's run:
    the tools it called on which files, without what it read or wrote; what else it asked for is in `transcript`, which
    is stored beside the log and bound by `transcript_sha256` (empty in receipts that keep none). `costs` maps a
    currency to what the answers cost, a decimal number as text; `cost_unknown` counts attempts whose cost nobody
    reported. `notes` maps hunk ids (or `path:*`) to what the reviewer wrote of them.
    """

    operation_number: int
    operation: str
    kind: str
    plan_digest: str
    selection_digest: str
    approver: str
    surface: Surface
    started_at: int
    finished_at: int
    files: tuple[ReceiptFile, ...] = ()
    counts: dict[str, int] = {}
    baseline_commit: str | None = None
    watermark_before: int | None = None
    watermark_after: int | None = None
    overrides: dict[str, str] = {}
    notes: dict[str, str] = {}
    redactions: dict[str, dict[str, int]] = {}
    metrics: dict[str, int] = {}
    costs: dict[str, str] = {}
    cost_unknown: int = 0
    steps: tuple[str, ...] = ()
    transcript_sha256: str = ""
    transcript: KeptTranscript | None = Field(default=None, exclude=True, repr=False)


class ApplyGrant:
    """The right to carry out one plan once; minted by the approval service only.

    Threads: `consume` is atomic. The grant cannot be copied, pickled or built from data.
    """

    __slots__ = ("_clock", "_lock", "_used", "approval", "plan", "selection")

    def __init__(
        self, plan: Plan, selection: Selection, approval: Approval, clock: Callable[[], int], *, mint: object
    ) -> None:
        if mint is not _MINT:
            raise TypeError("grants are minted by the approval service")
        self.plan = plan
        self.selection = selection
        self.approval = approval
        self._clock = clock
        self._used = False
        self._lock = threading.Lock()

    def consume(self) -> None:
        """Use the grant up.

        Raises `GrantReused` the second time and `GrantExpired` after the approval's time.
        """
        with self._lock:
            if self._used:
                raise GrantReused("this approval was used already", "confirm again")
            if self._clock() > self.approval.expires_at:
                raise GrantExpired("the approval is older than 15 minutes", "look at the plan and confirm again")
            self._used = True

    def __reduce__(self) -> str:
        raise TypeError("a grant cannot be copied")

    def __copy__(self) -> ApplyGrant:
        raise TypeError("a grant cannot be copied")


_MINT = object()


def mint(plan: Plan, selection: Selection, approval: Approval, clock: Callable[[], int]) -> ApplyGrant:
    """Make the grant of an approval. Called by `pipeline/approval.py` alone (checked by a test)."""
    return ApplyGrant(plan, selection, approval, clock, mint=_MINT)
