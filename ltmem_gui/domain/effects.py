"""Effects are data: everything a plan would change, start or disclose, named before it happens (design §2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ltmem_gui.domain.jobs import JobStatus
from ltmem_gui.domain.prices import PRICE_UNKNOWN

HOUSEKEEPING = ("scan_index.sqlite", "window.json", "ltmem.log", "redactor_cache/")


class _Effect(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PlannedJob(_Effect):
    """One rollout of an extraction plan, with the fingerprint that tells whether it changed since.

    `size` in bytes; `source_updated_at` in Unix seconds; token counts estimated as bytes / 4. `root` and `copied_from`
    tell what the session may have taken over from another one (see `RolloutRef`). `split` is the size in tokens of the
    parts it is extracted in; 0: whole.
    """

    thread_id: str
    agent: str
    path: str
    size: int
    mtime_ns: int
    root: str = ""
    copied_from: tuple[str, ...] = ()
    source_updated_at: int
    cwd: str = ""
    git_branch: str | None = None
    title: str = ""
    tokens: int = 0
    tokens_sent: int = 0
    redactions: dict[str, int] = {}
    split: int = 0


class JobMark(_Effect):
    """A job row as a person saw it; it is changed only while it still is in this status."""

    thread_id: str
    status: JobStatus


class CreateDataFolder(_Effect):
    """Create the data folder; `housekeeping` names what may then be kept there unasked."""

    type: Literal["CreateDataFolder"] = "CreateDataFolder"
    path: str
    housekeeping: tuple[str, ...] = HOUSEKEEPING


class ClaimJobs(_Effect):
    """Claim jobs, `concurrency` leases at a time."""

    type: Literal["ClaimJobs"] = "ClaimJobs"
    jobs: tuple[PlannedJob, ...]
    concurrency: int
    lease_seconds: int


class UpdateJobs(_Effect):
    """Change job rows: of `scope` "stage1" (`count` of them) or of the one global job (with the new watermark).

    `jobs` names the rows that a person's `action` (retry, hold, release) is for.
    """

    type: Literal["UpdateJobs"] = "UpdateJobs"
    scope: Literal["stage1", "global"]
    count: int = 0
    watermark: int | None = None
    action: str = "record outcome"
    jobs: tuple[JobMark, ...] = ()


class StoreOutputs(_Effect):
    """Store at most `count` stage-1 outputs, or exactly the edited rows that are listed.

    With an output go hashes of the lines that it cites.

    `lifted` holds the keys of rejected hunks that may be proposed again.
    """

    type: Literal["StoreOutputs"] = "StoreOutputs"
    count: int
    edited: tuple[dict[str, str], ...] = ()
    lifted: tuple[str, ...] = ()


class PruneOutputs(_Effect):
    """Delete stage-1 outputs by retention, exclusion or a person's wish."""

    type: Literal["PruneOutputs"] = "PruneOutputs"
    thread_ids: tuple[str, ...]
    reason: str


class CreditUsage(_Effect):
    """Credit citations found in rollouts, once ever per (thread, record, cited id)."""

    type: Literal["CreditUsage"] = "CreditUsage"
    credits: tuple[dict[str, str], ...]


class VerdictMark(_Effect):
    """One verdict that is part of a plan (an import); see `domain/verdicts.py`. `at` in Unix seconds."""

    at: int
    item: str
    verdict: str
    note: str = ""
    binding: str = ""
    thread_ids: tuple[str, ...] = ()


class StoreVerdicts(_Effect):
    """Append the verdicts of one audit sitting, or exactly the `records` that are listed."""

    type: Literal["StoreVerdicts"] = "StoreVerdicts"
    rater: str
    frame: str
    table: str = "verdicts"
    records: tuple[VerdictMark, ...] = ()


class EvidenceMark(_Effect):
    """What one cited place says, as it is kept; see `domain/audit_evidence.py`. `at` in Unix seconds."""

    file: str
    note: str
    path: str
    start: int
    end: int
    quote: str
    sha256: str
    before: str = ""
    after: str = ""
    copies: int = 1
    baseline: str | None = None
    at: int
    origin: str
    thread_ids: tuple[str, ...] = ()


class KeepEvidence(_Effect):
    """Keep what the places that a memory folder cites say, so that a later check can tell whether they changed.

    At most `count` records, or exactly the `records` that are listed; those of citations that go are deleted.
    """

    type: Literal["KeepEvidence"] = "KeepEvidence"
    root: str
    count: int
    table: str = "evidence"
    records: tuple[EvidenceMark, ...] = ()


class InboxDecision(_Effect):
    """What a person decided about one inbox line: `quote` is the line as it was shown, `text` what to keep instead."""

    line_id: int
    thread_id: str
    decision: Literal["take", "reword", "drop"]
    quote: str
    text: str = ""


class StoreInboxDecisions(_Effect):
    """Append what a person decided about inbox lines; what is taken is added to the memory of its thread."""

    type: Literal["StoreInboxDecisions"] = "StoreInboxDecisions"
    count: int
    table: str = "inbox"
    decisions: tuple[InboxDecision, ...] = ()


class TakeOverRow(_Effect):
    """Take over one memory that Codex keeps, unless what is stored by then is as new; texts are redacted.

    `change` "usage" raises `usage_count` and `last_usage` alone and holds no text. `replaces` is the
    `source_updated_at` of the row that is there. `selected_at` marks a row of Codex's last baseline. Unix seconds.
    """

    type: Literal["TakeOverRow"] = "TakeOverRow"
    change: Literal["added", "replaced", "usage"]
    thread_id: str
    source_updated_at: int
    replaces: int | None = None
    raw_memory: str = ""
    rollout_summary: str = ""
    rollout_slug: str | None = None
    generated_at: int = 0
    usage_count: int | None = None
    last_usage: int | None = None
    selected_at: int | None = None
    cwd: str = ""
    rollout_path: str = ""
    git_branch: str | None = None
    memory_mode: str = "enabled"
    redactions: dict[str, int] = {}


class TakeOverJobs(_Effect):
    """Take over up to when Codex has worked: `done` maps thread → its watermark, `watermark` is the consolidation's.

    Each is raised, never lowered; a session that is done is not extracted again until it changes. Unix seconds.
    """

    type: Literal["TakeOverJobs"] = "TakeOverJobs"
    done: dict[str, int] = {}
    watermark: int | None = None


class SendToModel(_Effect):
    """Send redacted text to a model: the only effect that discloses anything.

    `price` says what it may cost; `cost_low` to `cost_high` is the same in `currency`, decimal numbers as text, empty
    where the price is unknown. At `cost_limit` the run stops claiming; `cost_in_flight` is what may be under way.
    """

    type: Literal["SendToModel"] = "SendToModel"
    provider: str
    host: str
    model: str
    requests: int
    tokens: int
    redactions: dict[str, int] = {}
    price: str = PRICE_UNKNOWN
    cost_low: str = ""
    cost_high: str = ""
    cost_limit: str = ""
    cost_in_flight: str = ""
    currency: str = ""
    loopback: bool = False


class AgentConstraints(_Effect):
    """The fence of the consolidation agent, frozen and shown (reference §4.9)."""

    cwd: str
    ephemeral: Literal[True] = True
    generate_memories: Literal[False] = False
    use_memories: Literal[False] = False
    disabled_features: tuple[str, ...] = ("Collab", "MemoryTool", "Apps", "Plugins")
    approval_policy: Literal["never"] = "never"
    network: str = "none but the model"
    shell: Literal[False] = False
    tools: tuple[str, ...] = ("list", "read", "search", "write", "edit", "delete")
    reasoning_effort: Literal["medium"] = "medium"
    max_steps: int = 200
    max_tokens: int = 2_000_000
    max_seconds: int = 3_600
    max_bytes: int = 64 * 1024 * 1024
    max_files: int = 10_000


class StartAgent(_Effect):
    """Start the consolidation agent in a staged copy.

    `note` is the person's remark to this run, `refused` the changes they turned down: both go to the model as data.
    """

    type: Literal["StartAgent"] = "StartAgent"
    provider: str
    model: str
    constraints: AgentConstraints
    mode: Literal["INIT", "INCREMENTAL"] = "INCREMENTAL"
    note: str = ""
    refused: tuple[str, ...] = ()


class EnsureLayout(_Effect):
    """Create the memory folder and its `rollout_summaries/` where they are missing."""

    type: Literal["EnsureLayout"] = "EnsureLayout"
    path: str
    creates: tuple[str, ...] = ()


class WriteFile(_Effect):
    """Write one file of the memory folder; sizes in bytes, lines counted at 0x0A."""

    type: Literal["WriteFile"] = "WriteFile"
    path: str
    change: Literal["added", "modified", "mode"]
    size_before: int
    size_after: int
    lines_added: int
    lines_removed: int


class DeleteFile(_Effect):
    """Delete one file of the memory folder."""

    type: Literal["DeleteFile"] = "DeleteFile"
    path: str
    reason: str
    size_before: int = 0


class ResetBaseline(_Effect):
    """Replace the git baseline of the memory folder by one parentless commit."""

    type: Literal["ResetBaseline"] = "ResetBaseline"
    path: str
    previous: str | None
    repairs: str = ""


Effect = Annotated[
    CreateDataFolder
    | ClaimJobs
    | UpdateJobs
    | StoreOutputs
    | PruneOutputs
    | CreditUsage
    | StoreVerdicts
    | KeepEvidence
    | StoreInboxDecisions
    | TakeOverRow
    | TakeOverJobs
    | SendToModel
    | StartAgent
    | EnsureLayout
    | WriteFile
    | DeleteFile
    | ResetBaseline,
    Field(discriminator="type"),
]

EffectGroup = Literal["leaves this computer", "starts", "writes", "deletes", "database", "git"]

GROUPS: dict[str, EffectGroup] = {
    "SendToModel": "leaves this computer",
    "StartAgent": "starts",
    "CreateDataFolder": "writes",
    "EnsureLayout": "writes",
    "WriteFile": "writes",
    "DeleteFile": "deletes",
    "ClaimJobs": "database",
    "UpdateJobs": "database",
    "StoreOutputs": "database",
    "PruneOutputs": "database",
    "CreditUsage": "database",
    "StoreVerdicts": "database",
    "KeepEvidence": "database",
    "StoreInboxDecisions": "database",
    "TakeOverRow": "database",
    "TakeOverJobs": "database",
    "ResetBaseline": "git",
}
