"""A plan: what would happen, bound by one digest to what it was made from (design §2, invariants I1–I8).

A plan is immutable. Its digest covers everything but itself, so a plan file that was altered, by hand or by
accident, is refused. Whether it is *stale* is asked of the world, not stored.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.effects import Effect
from ltmem_gui.domain.errors import InputError, WrongDigest
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.settings import Settings

PlanKind = Literal["extract", "consolidate", "apply"]


class PlanState(StrEnum):
    """The states of a plan one can see; `STALE` is found when it is checked against the world."""

    EMPTY = "empty"
    ERRORED = "errored"
    INCOMPLETE = "incomplete"
    APPLYABLE = "applyable"
    STALE = "stale"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Hunk(_Value):
    """One contiguous change of a text file, without context.

    `old` and `new` hold whole lines with their terminators (the last may lack one). Starts count lines from 0 in
    the old and the new file. `id` is stable: it follows from path and content, not from position.
    """

    id: str
    old_start: int
    old: tuple[str, ...]
    new_start: int
    new: tuple[str, ...]


class FileChange(_Value):
    """What would become of one file of the memory folder.

    `unit` says how it is decided: `hunk` (artifacts, per hunk), `thread` (rendered inputs: with the row, as one),
    `whole` (binary, undecodable, deleted or mode-only). Whole contents of `whole` changes travel as base64 in
    `content`.
    """

    path: str
    change: Literal["added", "modified", "deleted", "mode"]
    unit: Literal["hunk", "thread", "whole"] = "hunk"
    old_sha256: str | None = None
    new_sha256: str | None = None
    old_mode: int | None = None
    new_mode: int | None = None
    old_size: int = 0
    new_size: int = 0
    hunks: tuple[Hunk, ...] = ()
    content: str | None = None
    reason: str = ""


class FileMark(_Value):
    """The fingerprint of one file: hash of the content and permission bits."""

    sha256: str
    mode: int


class WorkspaceMark(_Value):
    """The fingerprint of a memory folder: what a plan was made from and is checked against."""

    root: str
    exists: bool
    baseline: str | None
    files: dict[str, FileMark] = {}

    def fingerprint(self) -> str:
        """Return one digest of the whole folder."""
        return digest(self.model_dump(mode="json"))


class SourceMark(_Value):
    """A sessions folder that is bound into a plan."""

    agent: str
    path: str


class ProviderMark(_Value):
    """The provider that is bound into a plan; `label` is shown, `host` is empty where nothing leaves."""

    name: str
    label: str
    host: str = ""
    model: str = ""


class Skip(_Value):
    """A rollout or row left out, with its reason."""

    id: str
    path: str = ""
    reasons: tuple[str, ...]


class SelectedRow(_Value):
    """A stage-1 output of the selection, with the snapshot that flags it later (reference §4.1)."""

    thread_id: str
    source_updated_at: int


class Plan(_Value):
    """Everything that would happen on a yes.

    `operation` names what an apply plan does (`consolidate`, `undo`, `forget`, `clear`, `redact`, `reanchor`).
    `drift` lists files that differ from the baseline on disk, shown apart from the proposal. `refused` are the hunks a
    person turned down in the proposals this one is made anew from. Times in Unix seconds.
    """

    schema_version: Literal[1] = 1
    kind: PlanKind
    operation: str
    id: str
    created_at: int
    state: PlanState
    home: str
    memory_root: str = ""
    provider: ProviderMark
    settings: Settings
    sources: tuple[SourceMark, ...] = ()
    base: WorkspaceMark | None = None
    effects: tuple[Effect, ...] = ()
    changes: tuple[FileChange, ...] = ()
    rows: tuple[SelectedRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skip, ...] = ()
    drift: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[RefusedHunk, ...] = ()
    watermark: int | None = None
    digest: str = Field(default="", description="SHA-256 over everything else")

    @property
    def forgets(self) -> bool:
        """Tell whether the old contents must be gone afterwards: such a plan leaves nothing to undo it with."""
        return self.operation in ("forget", "redact")

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """Return the findings that keep the plan from being applied."""
        return tuple(f for f in self.findings if f.severity is Severity.BLOCKING)

    def sealed(self) -> Self:
        """Return the same plan with its digest filled in."""
        return self.model_copy(update={"digest": self._compute_digest()})

    def verify(self) -> None:
        """Raise `WrongDigest` when the plan is not what its digest says."""
        if self.digest != self._compute_digest():
            raise WrongDigest(
                f"the plan is not the one its digest {self.digest[:8] or '(none)'} names",
                "make a new plan",
            )

    def effects_of(self, *types: type[Any]) -> tuple[Any, ...]:
        """Return the effects of the given classes, in order."""
        return tuple(effect for effect in self.effects if isinstance(effect, types))

    def _compute_digest(self) -> str:
        # Plans of earlier versions, which had none, keep their digests.
        absent = set[str]() if self.refused else {"refused"}
        return digest(self.model_dump(mode="json", exclude={"digest", *absent}))


def newly_left_out(plan: Plan) -> frozenset[str]:
    """Return the threads that a plan leaves out anew: what a plan made again must leave out too."""
    return frozenset(
        change["thread_id"]
        for effect in plan.effects
        if effect.type == "StoreOutputs"
        for change in effect.edited
        if change.get("excluded")
    )


def load_plan(text: str, *, where: str) -> Plan:
    """Read a plan from JSON and verify its digest.

    Raises `InputError` naming `where` for text that is no plan, `WrongDigest` for one that was altered.
    """
    try:
        plan = Plan.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "document"
        raise InputError(
            f"not a plan: {name}: {first['msg']}", "make one with: ltmem-gui plan … --json", where
        ) from error
    plan.verify()
    return plan
