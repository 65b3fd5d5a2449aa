"""Small values for the window's tests."""

from __future__ import annotations

from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Receipt, Selection
from ltmem_gui.domain.effects import (
    ClaimJobs,
    CreateDataFolder,
    DeleteFile,
    EnsureLayout,
    PlannedJob,
    ResetBaseline,
    SendToModel,
    StoreOutputs,
    UpdateJobs,
    WriteFile,
)
from ltmem_gui.domain.events import JobFinished, JobStarted, Listener, RunProgressed, ScanProgressed
from ltmem_gui.domain.extraction import ExtractionInput, StageOneOutput
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.jobs import JobRecord
from ltmem_gui.domain.plan import FileChange, Hunk, Plan, PlanState, ProviderMark
from ltmem_gui.domain.rollouts import Eligibility, Reason, Rollout, RolloutItem, RolloutRef
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import ScannedRollout, WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.standing import Standing

NOW = 1_795_000_000
DAY = 86_400


def scanned(number: int, *, failed: str = "", agent: str = "codex", cwd: str = "/home/dev/app") -> ScannedRollout:
    """Return a rollout; `failed` names the rule that did not pass."""
    id_ = f"019cd1d3-0000-7000-8000-{number:012d}"
    reasons = [Reason("interactive", failed != "interactive", f"source cli {number}")]
    if failed and failed != "interactive":
        reasons.append(Reason(failed, False, f"because of {failed}"))
    path = f"/sessions/{number}.jsonl"
    return ScannedRollout(
        ref=RolloutRef(agent, path, 2_048, 1, id_),
        id=id_,
        agent=agent,
        path=path,
        cwd=cwd,
        title=f"Use pnpm number {number}",
        git_branch="main",
        updated_at=NOW - number * DAY,
        eligibility=Eligibility(tuple(reasons)),
        items=7,
        tokens=1_000 + number,
    )


def report(count: int) -> ScanReport:
    """Return a scan of `count` eligible rollouts."""
    return ScanReport(tuple(scanned(number) for number in range(count)))


def extract_plan(home: Path, count: int = 2, *, state: PlanState = PlanState.APPLYABLE, send: bool = False) -> Plan:
    """Return an extraction plan."""
    jobs = tuple(
        PlannedJob(
            thread_id=scanned(number).id,
            agent="codex",
            path=scanned(number).path,
            size=1,
            mtime_ns=1,
            source_updated_at=NOW,
            title=f"Use pnpm number {number}",
            tokens=1_200,
            redactions={"openai": 1} if number == 0 else {},
        )
        for number in range(count)
    )
    effects: list[object] = [
        CreateDataFolder(path=str(home)),
        ClaimJobs(jobs=jobs, concurrency=8, lease_seconds=3_600),
        StoreOutputs(count=count),
        UpdateJobs(scope="stage1", count=count),
    ]
    if send:
        effects.append(SendToModel(provider="openai", host="api.example.com", model="m", requests=2, tokens=2_400))
    return Plan(
        kind="extract",
        operation="extract",
        id="p1",
        created_at=NOW,
        state=state,
        home=str(home),
        provider=ProviderMark(name="builtin", label="Built-in rules, no AI model"),
        settings=Settings(),
        effects=() if state is PlanState.EMPTY else tuple(effects),  # type: ignore[arg-type]
    ).sealed()


def apply_plan(home: Path, root: Path, *, loss: bool = False, state: PlanState = PlanState.APPLYABLE) -> Plan:
    """Return an apply plan of one changed and one deleted file."""
    hunks = (
        Hunk(id="h1", old_start=0, old=("a\n", "b\n"), new_start=0, new=("c\n",)),
        Hunk(id="h2", old_start=9, old=(), new_start=8, new=("new\n", "lines\n")),
    )
    changes = (
        FileChange(path="MEMORY.md", change="modified", hunks=hunks, old_size=100, new_size=107),
        FileChange(path="rollout_summaries/x.md", change="deleted", unit="whole", old_size=50),
    )
    findings = ()
    if loss:
        findings = (Finding(id="f1", rule="loss", severity=Severity.WARNING, path="MEMORY.md", text="30 % would go"),)
    return Plan(
        kind="apply",
        operation="consolidate",
        id="p2",
        created_at=NOW,
        state=state,
        home=str(home),
        memory_root=str(root),
        provider=ProviderMark(name="builtin", label="Built-in rules, no AI model"),
        settings=Settings(),
        effects=()
        if state is PlanState.EMPTY
        else (
            EnsureLayout(path=str(root), creates=("rollout_summaries",)),
            WriteFile(
                path="MEMORY.md", change="modified", size_before=100, size_after=107, lines_added=3, lines_removed=2
            ),
            DeleteFile(path="rollout_summaries/x.md", reason="no longer selected", size_before=50),
            UpdateJobs(scope="global", count=1, watermark=NOW),
            ResetBaseline(path=str(root), previous="abcdef0123456789"),
        ),
        changes=changes,
        findings=findings,
    ).sealed()


def all_of(plan: Plan) -> Selection:
    """Return the selection that accepts everything."""
    return Selection(
        plan_digest=plan.digest,
        accepted={c.path: tuple(h.id for h in c.hunks) or ("*",) for c in plan.changes},
    )


def receipt_of(plan: Plan, number: int = 1) -> Receipt:
    """Return a receipt."""
    return Receipt(
        operation_number=number,
        operation=plan.operation,
        kind=plan.kind,
        plan_digest=plan.digest,
        selection_digest="s" * 64,
        approver="dev",
        surface="window",
        started_at=NOW,
        finished_at=NOW + 2,
        counts={"succeeded": 2} if plan.kind == "extract" else {},
    )


def snapshot(root: Path, files: dict[str, str]) -> WorkspaceSnapshot:
    """Return a memory folder."""
    return WorkspaceSnapshot(
        root=str(root),
        exists=True,
        files={path: WorkspaceFile(path, text.encode(), 0o644) for path, text in files.items()},
        baseline="3f9c1a0000000000",
        baseline_blobs={},
    )


class FakeOperations:
    """Answer like the facade, from memory; `calls` lists what was asked for."""

    def __init__(self, home: Path, root: Path) -> None:
        self.home = home
        self.root = root
        self.calls: list[str] = []
        self.report = report(3)
        self.extract = extract_plan(home)
        self.consolidated = apply_plan(home, root)
        self.job_records: tuple[JobRecord, ...] = ()
        self.done: list[Receipt] = []
        self.error: Exception | None = None
        self.files = {"MEMORY.md": MEMORY, "memory_summary.md": "v1\nsummary\n"}
        self.gate = None
        self.outputs: dict[str, StageOneOutput] = {}
        self.standings = [Standing()]

    async def scan(self, request: Request, *, cancel: CancelToken, listen: Listener) -> ScanReport:
        self.calls.append("scan")
        listen(ScanProgressed(1, 3))
        return self.report

    async def plan_extract(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        self.calls.append("plan_extract")
        if self.error is not None:
            raise self.error
        return self.extract

    async def plan_consolidate(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        self.calls.append("plan_consolidate")
        return self.consolidated

    async def check(self, plan: Plan, selection: Selection) -> tuple[Finding, ...]:
        self.calls.append("check")
        return ()

    async def approve(self, plan: Plan, selection: Selection, *, approver: str, surface: str) -> object:
        self.calls.append(f"approve {plan.kind} {surface}")
        return (plan, selection)

    async def apply(self, grant: tuple[Plan, Selection], *, cancel: CancelToken, listen: Listener) -> Receipt:
        plan = grant[0]
        self.calls.append(f"apply {plan.kind}")
        if plan.kind == "extract":
            listen(JobStarted(scanned(0).id, 1))
            if self.gate is not None:
                await self.gate(cancel)
            listen(JobFinished(scanned(0).id, "succeeded", "", 10, 5))
            listen(JobStarted(scanned(1).id, 1))
            listen(JobFinished(scanned(1).id, "nothing to remember"))
            listen(RunProgressed(2, 2))
        receipt = receipt_of(plan, len(self.done) + 1)
        self.done.append(receipt)
        return receipt

    async def jobs(self, home: Path) -> tuple[JobRecord, ...]:
        self.calls.append("jobs")
        return self.job_records

    async def inbox(self, home: Path) -> tuple[InboxLine, ...]:
        return (InboxLine(1, "t", "maybe use tabs", 4, "preference", 55, NOW),)

    async def excluded(self, home: Path) -> dict[str, str]:
        return {}

    async def receipts(self, home: Path) -> tuple[Receipt, ...]:
        return tuple(self.done)

    async def watermark(self, home: Path) -> int:
        return NOW

    async def standing(self, request: Request, *, foreign: bool = False) -> Standing:
        return self.standings.pop(0) if len(self.standings) > 1 else self.standings[0]

    async def recover(self, home: Path, digest: str, *, finish: bool) -> Receipt | None:
        self.calls.append(f"{'finish' if finish else 'roll back'} {digest}")
        self.standings = [Standing()]
        return receipt_of(self.consolidated, 7) if finish else None

    async def read_folder(self, root: Path) -> WorkspaceSnapshot:
        self.calls.append("read_folder")
        return snapshot(root, self.files)

    async def input_of(self, request: Request, ref: RolloutRef) -> ExtractionInput:
        self.calls.append("input_of")
        return ExtractionInput(
            thread_id=ref.thread_id or "",
            agent=ref.agent,
            rollout_path=ref.path,
            cwd="/home/dev/app",
            git_branch=None,
            started_at=NOW,
            updated_at=NOW,
            items=(),
            transcript="[9 user message]\n| Always [REDACTED openai].",
            tokens_before=412_000,
            tokens=150_000,
            truncated=True,
            redactions={"openai": 2, "github": 1},
            known_values=("sk-secret",),
        )

    async def output_of(self, home: Path, thread_id: str) -> StageOneOutput | None:
        self.calls.append("output_of")
        return self.outputs.get(thread_id)

    async def load_rollout(self, ref: RolloutRef) -> Rollout:
        self.calls.append("load_rollout")
        items = (
            RolloutItem("user", "message", "No, never use npm here.\nAlways pnpm.", line=9),
            RolloutItem("assistant", "message", "I will use pnpm.\u202e", line=10),
        )
        return Rollout(ref.thread_id or "", ref.agent, ref.path, items=items)


MEMORY = f"""# Task Group: app
- Use pnpm, never npm [Task 1] [c1]
- Tests need a settings module [Task 1] [c2]

<citation_entries>
rollout:{scanned(0).id}:9-9 |note=[c1 user corrected the agent]
memory_summary.md:1-2 |note=[c2 summary]
memory_summary.md:1-9 |note=[too far]
gone.md:1-2 |note=[missing]
../../etc/passwd:1-2 |note=[outside]
memory_summary.md:2-1 |note=[reversed]
not a citation
</citation_entries>
<rollout_ids>
{scanned(0).id}
</rollout_ids>
"""
