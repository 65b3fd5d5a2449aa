"""Why is my memory empty? The whole chain in words, from the folders to the files, with the first link that is broken.

`explain` is pure: it says what was scanned and stored. `explain_all` reads it first, and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import GLOBAL_KIND, STAGE1_KIND, JobOutcome, JobRecord, JobStatus
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.scanning import scan
from ltmem_gui.pipeline.sessions import open_store

ARTIFACT: Final = "MEMORY.md"
COMMONEST: Final = 3
_EMPTIED: Final = {"clear": "cleared", "undo": "taken back"}
_RULES: Final[Mapping[str, str]] = {
    "root_session": "no session of a person",
    "own_run": "a memory run",
    "interactive": "not interactive",
    "memory_root": "about the memory folder",
    "data_folder": "about the data folder",
    "memory_mode": "memory switched off",
    "archived": "archived",
    "ephemeral": "ephemeral",
    "empty": "nothing typed",
    "current": "the current session",
    "age": "too old",
    "idle": "still fresh",
    "excluded": "left out by you",
}
_GROUPS: Final[Mapping[str, tuple[str, str]]] = {
    "rate_limit": ("the provider's rate limit", "wait; the next run after the delay takes them"),
    "quota": ("the provider's quota is used up", "look at your account, or use the built-in provider"),
    "auth": ("the provider does not accept the key", "check the key"),
    "timeout": ("no answer in time", "run again, or raise request_timeout_seconds"),
    "connection": ("the provider cannot be reached", "check its address, and whether it runs"),
    "too_large": ("too large for the model", "split them: ltmem-gui plan split THREAD"),
    "schema": ("answers that break the schema", "try another model"),
    "redaction": ("the redaction failed", "report it; nothing was sent or stored"),
    "source": ("their files are gone", "name the folder they are in now"),
    "crash": ("the program ended while it worked on them", "release them: ltmem-gui plan release THREAD"),
    "bug": ("an error in the program", "report it"),
}


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain: whether it holds, what is so, and what to do where it does not."""

    name: str
    holds: bool
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        sign = "✓" if self.holds else "✕"
        return f"{sign} {self.name}: {self.text}" + (f" — {self.remedy}" if self.remedy else "")


def cause_in_words(group: str) -> str:
    """Return a group of failures in words."""
    return _GROUPS[group][0] if group in _GROUPS else group or "another cause"


def explain(
    report: ScanReport | None,
    jobs: Sequence[JobRecord],
    receipts: Sequence[Receipt],
    snapshot: WorkspaceSnapshot | None,
    *,
    inbox: int = 0,
    excluded: int = 0,
    plan: Plan | None = None,
) -> tuple[str, ...]:
    """Say why the memory is empty, or that it is not: the verdict, then every link of the chain in its order."""
    links = chain(report, jobs, receipts, snapshot, inbox=inbox, excluded=excluded, plan=plan)
    return (verdict(links, snapshot), *(str(link) for link in links))


async def explain_all(adapters: Adapters, request: Request) -> tuple[str, ...]:
    """Read what a request names, and explain it. Raises what reading the folders raises."""
    report = snapshot = None
    if request.sources:
        report = await scan(adapters, request, cancel=CancelToken(), listen=ignore)
    if request.memory_root is not None:
        snapshot = await adapters.offload.store(adapters.workspace.read, request.memory_root)
    async with open_store(adapters, request.home, writing=False) as call:
        jobs, receipts = await call(call.store.jobs), await call(call.store.receipts)
        waiting, excluded = await call(call.store.inbox, adapters.clock()), await call(call.store.excluded)
    return explain(report, jobs, receipts, snapshot, inbox=len(waiting), excluded=len(excluded))


def chain(
    report: ScanReport | None,
    jobs: Sequence[JobRecord],
    receipts: Sequence[Receipt],
    snapshot: WorkspaceSnapshot | None,
    *,
    inbox: int = 0,
    excluded: int = 0,
    plan: Plan | None = None,
) -> tuple[Link, ...]:
    """Return the links of the chain; `inbox` counts lines that wait, `excluded` threads that are left out.

    `plan` is one that was made and waits for a yes.
    """
    stage1 = [job for job in jobs if job.kind == STAGE1_KIND]
    phase2 = next((job for job in jobs if job.kind == GLOBAL_KIND), None)
    judged = _judge(report, {job.job_key: job for job in stage1})
    return (
        _folders(report, tried=bool(stage1)),
        *_rollouts(report, judged, tried=bool(stage1)),
        *_extraction(judged.taken, stage1, plan),
        *_outcomes(stage1, inbox),
        *_consolidation(stage1, phase2, receipts, excluded, plan),
        _memory(snapshot, receipts),
    )


def verdict(links: Sequence[Link], snapshot: WorkspaceSnapshot | None) -> str:
    """Return the answer in one sentence."""
    if _lines(snapshot):
        return "The memory is not empty."
    if snapshot is None:
        return "No memory folder was named, so it cannot be told whether the memory is empty."
    broken = next((link for link in links if not link.holds), links[-1])
    return f"The memory is empty. The first reason: {broken.text}."


def _folders(report: ScanReport | None, *, tried: bool) -> Link:
    if report is None:
        return Link("Sessions folder", tried, "no sessions folder was named or scanned", "give --source codex=DIR")
    return Link("Sessions folder", True, "it was scanned")


def _rollouts(report: ScanReport | None, judged: _Judged, *, tried: bool) -> Iterable[Link]:
    """Say what the scan found; once rollouts were tried, no rule is why the memory is empty."""
    if report is None:
        return
    unread = len(report.skipped_files)
    beside = ""
    if unread:
        reason, count = Counter(file.reason for file in report.skipped_files).most_common(1)[0]
        beside = f"; {unread} files could not be read, {count} of them because: {one_line(reason, 200)}"
    found = len(report.rollouts)
    if not found:
        yield Link("Rollouts", tried, f"no rollouts were found{beside}", "check the folder's name")
        return
    yield Link("Rollouts", True, f"{found} were found{beside}")
    text = f"{judged.taken} can be taken, {judged.done} were extracted before"
    if judged.left_out:
        text += f", {judged.left_out} left out: {judged.commonest}"
    holds = bool(judged.taken or judged.done or tried)
    yield Link("Rules", holds, text, "" if holds else "the settings of these rules can be changed")


@dataclass(frozen=True, slots=True)
class _Judged:
    """How the scan judged its rollouts: taken, extracted before, left out, and the commonest rules of these."""

    taken: int = 0
    done: int = 0
    left_out: int = 0
    commonest: str = ""


def _judge(report: ScanReport | None, jobs: Mapping[str, JobRecord]) -> _Judged:
    """Count in one pass; a rollout that is left out counts for the first rule that left it out.

    One that was extracted after the scan counts as extracted.
    """
    taken = done = 0
    rules: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for rollout in report.rollouts if report else ():
        failed = rollout.eligibility.failed
        first = next((reason for reason in failed if reason.rule != "up_to_date"), None)
        if first is not None:
            rules[first.rule] += 1
            if first.rule not in examples:
                examples[first.rule] = one_line(first.text, 160)
        elif failed or _is_done(jobs.get(rollout.id), rollout.updated_at):
            done += 1
        else:
            taken += 1
    shown = [
        f"{count} × {_RULES.get(rule, rule)} ({'e.g. ' if count > 1 else ''}{examples[rule]})"
        for rule, count in rules.most_common(COMMONEST)
    ]
    return _Judged(taken, done, rules.total(), "; ".join(shown) + ("; and others" if len(rules) > COMMONEST else ""))


def _is_done(job: JobRecord | None, updated_at: int | None) -> bool:
    """Tell whether a job succeeded with this state of the rollout."""
    if job is None or updated_at is None or job.status is not JobStatus.DONE:
        return False
    return job.last_success_watermark >= updated_at


def _extraction(waiting: int, jobs: Sequence[JobRecord], plan: Plan | None) -> Iterable[Link]:
    if plan is not None and plan.kind == "extract" and plan.state is PlanState.APPLYABLE:
        yield Link(
            "Extraction", bool(jobs), f"a plan ({plan.digest[:8]}) waits for your yes", "look at it and confirm it"
        )
    elif not jobs:
        text = f"nothing was extracted yet; {waiting} rollouts wait" if waiting else "nothing was extracted yet"
        yield Link("Extraction", False, text, "ltmem-gui plan extract, then confirm the plan")
    elif waiting:
        yield Link("Extraction", True, f"{len(jobs)} rollouts were tried; {waiting} more wait for the next run")
    else:
        yield Link("Extraction", True, f"{len(jobs)} rollouts were tried")


def _outcomes(jobs: Sequence[JobRecord], inbox: int) -> Iterable[Link]:
    if not jobs:
        return
    succeeded = _count(jobs, JobOutcome.SUCCEEDED)
    nothing = _count(jobs, JobOutcome.NO_OUTPUT)
    failed = [job for job in jobs if job.status is JobStatus.ERROR]
    held = sum(job.status is JobStatus.HELD for job in jobs)
    parts = [f"{succeeded} gave a memory", f"{nothing} held nothing to remember"]
    parts += [f"{len(failed)} failed"] if failed else []
    parts += [f"{held} are held"] if held else []
    remedy = "" if succeeded or not held else "ltmem-gui plan release THREAD"
    yield Link("Memories", bool(succeeded), ", ".join(parts), remedy)
    yield from _failures(failed, alone=not succeeded)
    if inbox:
        remedy = "" if succeeded else "ltmem-gui inbox lists them; take what is right"
        yield Link("Inbox", bool(succeeded), f"{inbox} uncertain lines wait for you", remedy)


def _failures(failed: Sequence[JobRecord], *, alone: bool) -> Iterable[Link]:
    groups = Counter(job.error_group for job in failed)
    for group, count in groups.most_common(COMMONEST):
        sample = next(job.last_error for job in failed if job.error_group == group)
        words, remedy = _GROUPS.get(group, (group or "another cause", "ltmem-gui jobs tells the reason"))
        yield Link("Failures", not alone, f"{count} × {words}: {one_line(sample, 200)}", remedy)


def _consolidation(
    jobs: Sequence[JobRecord], phase2: JobRecord | None, receipts: Sequence[Receipt], excluded: int, plan: Plan | None
) -> Iterable[Link]:
    if excluded:
        yield Link("Left out", True, f"{excluded} threads are left out of the memory on your wish")
    if plan is not None and plan.kind != "extract" and plan.state is PlanState.APPLYABLE:
        yield Link(
            "Consolidation", False, f"a plan ({plan.digest[:8]}) waits for your yes", "look at it and confirm it"
        )
        return
    if phase2 is not None and phase2.status is JobStatus.RUNNING:
        yield Link("Consolidation", False, f"one runs at the moment, held by {one_line(phase2.owner)}", "wait for it")
        return
    if phase2 is not None and phase2.status is JobStatus.ERROR:
        yield Link("Consolidation", False, f"the last one failed: {one_line(phase2.last_error, 200)}", "plan it again")
        return
    if not _count(jobs, JobOutcome.SUCCEEDED) and phase2 is None:
        return
    if not any(receipt.operation == "consolidate" and receipt.files for receipt in receipts):
        text = "what was extracted was not consolidated yet"
        yield Link("Consolidation", False, text, "ltmem-gui plan consolidate, then confirm the plan")
    elif phase2 is not None and phase2.status is JobStatus.PENDING:
        yield Link("Consolidation", True, "it was done; newer memories wait for the next one")
    else:
        yield Link("Consolidation", True, "it was done, and nothing is newer")


def _memory(snapshot: WorkspaceSnapshot | None, receipts: Sequence[Receipt]) -> Link:
    if snapshot is None:
        return Link("Memory folder", False, "no memory folder was named", "give --memory-root DIR")
    if lines := _lines(snapshot):
        return Link("Memory folder", True, f"{ARTIFACT} has {lines} lines that say something")
    last = next((r.operation for r in reversed(receipts) if r.files or r.operation in _EMPTIED), "")
    if last in _EMPTIED:
        return Link(
            "Memory folder", False, f"the memory was {_EMPTIED[last]} by the last operation on it", "plan it anew"
        )
    if not snapshot.exists:
        return Link("Memory folder", False, "the memory folder does not exist yet", "a confirmed plan creates it")
    missing = "is empty" if ARTIFACT in snapshot.files else "is missing"
    return Link("Memory folder", False, f"{ARTIFACT} {missing}", "a confirmed plan writes it")


def _lines(snapshot: WorkspaceSnapshot | None) -> int:
    """Count the lines of `MEMORY.md` that hold more than a heading."""
    file = snapshot.files.get(ARTIFACT) if snapshot else None
    if file is None:
        return 0
    return sum(1 for line in file.data.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#"))


def _count(jobs: Sequence[JobRecord], outcome: JobOutcome) -> int:
    return sum(job.last_outcome == outcome for job in jobs)
