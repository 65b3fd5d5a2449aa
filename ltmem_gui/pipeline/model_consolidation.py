"""Phase 2 with a model, planned: what the agent would get, what leaves this computer, and how it is fenced.

Nothing starts here. The plan of kind `consolidate` binds the inputs to the byte; carrying it out (`agent_run`) refuses
when they are others by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from ltmem_gui.domain.agent import AgentBrief
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import AgentConstraints, SendToModel, StartAgent, UpdateJobs
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.memory_items import estimate_tokens, token_limit
from ltmem_gui.domain.naming import WORKSPACE_DIFF_FILENAME
from ltmem_gui.domain.plan import FileChange, Plan, ProviderMark
from ltmem_gui.domain.providers import is_loopback_host
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.pipeline.cleaning import cleaned_files, secret_finding
from ltmem_gui.pipeline.extensions import names_to_tell
from ltmem_gui.pipeline.folder_changes import file_changes
from ltmem_gui.pipeline.ports import Adapters, BaselineChange
from ltmem_gui.pipeline.provider_limits import refuse_agent_below_limit
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.spending import Budget
from ltmem_gui.pipeline.staged import (
    NO_CHANGE,
    NOTHING_EXTRACTED,
    Staged,
    nothing_to_consolidate,
    stage,
    staged_plan,
    validated,
)

ARTIFACTS = ("MEMORY.md", "memory_summary.md")
ARTIFACT_RULES = frozenset({"missing-file", "schema"})
MAX_REFUSED = 40
MAX_REFUSED_BYTES = 4_000
PROMPT_TOKENS = 4_000
STEPS_AT_LEAST = 8
FILES_PER_STEP = 8
AGENT_NOTES = (
    "nothing is written to the memory folder: the agent's proposal comes back as a plan of its own",
    "the conversation grows with each step and is sent again with it; the limit of tokens counts all of it",
)
HOLD_LOCK = "hold the global lock while the agent runs, and record how it ended"


@dataclass(frozen=True, slots=True)
class AgentInput:
    """What the agent would get: redacted files (the diff file among them), and what was kept from it.

    `unchecked` are files that could not be checked for secrets, or whose names hold one: the agent does not see them,
    and they stay. `status` says in lines what changed against the baseline, as the agent is told.
    """

    files: Mapping[str, bytes]
    unchecked: Mapping[str, bytes]
    changes: tuple[BaselineChange, ...]
    redactions: Mapping[str, int]
    findings: tuple[Finding, ...]
    status: tuple[str, ...] = ()

    @property
    def tree(self) -> dict[str, bytes]:
        """Return the staged tree without the diff file."""
        return {path: data for path, data in self.files.items() if path != WORKSPACE_DIFF_FILENAME} | dict(
            self.unchecked
        )


async def plan_agent(adapters: Adapters, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
    """Plan a consolidation by a model; `EMPTY` when the staged tree is the baseline and the artifacts hold.

    Raises `UsageError` for a provider that cannot be used or without a memory folder, `InputError` for a folder that
    cannot be used, `RedactionFailed` when the diff cannot be checked for secrets, `RefusedError` when too little of the
    provider's limit is left.
    """
    # On a thread: what it imports takes 50 ms, and the window plans from its event loop.
    model = await adapters.offload.thread(adapters.agent_model, request.provider, request.settings)
    await refuse_agent_below_limit(adapters, request.home, model, request.settings)
    mark = model.mark
    staged = await stage(adapters, request, listen)
    if nothing_to_consolidate(staged):
        return staged_plan(adapters, request, staged, mark, notes=(NOTHING_EXTRACTED,))
    cancel.check()
    listen(StepReached("redacting", "in memory only, to show what would be sent"))
    prepared = await prepare_input(adapters, staged, cancel)
    broken = broken_artifacts(await validated(adapters, request.settings, staged, prepared.tree))
    settled = staged.snapshot.baseline and not prepared.changes and not broken
    if settled and not staged.row_effects and not request.note.strip():
        return staged_plan(adapters, request, staged, mark, notes=(NO_CHANGE,))
    changes = await input_changes(adapters, staged, prepared)
    told = await _told(adapters, request, staged)
    return staged_plan(
        adapters,
        request,
        staged,
        mark,
        kind="consolidate",
        effects=(
            *_agent_effects(request, staged, prepared, mark, told),
            *staged.row_effects,
            UpdateJobs(scope="global", count=len(staged.rows), action=HOLD_LOCK),
        ),
        changes=changes,
        findings=prepared.findings,
        notes=AGENT_NOTES,
    )


async def prepare_input(adapters: Adapters, staged: Staged, cancel: CancelToken) -> AgentInput:
    """Redact everything the agent would see, the diff included. Raises `RedactionFailed` for the diff."""
    clean: dict[str, bytes] = {}
    unchecked: dict[str, bytes] = {}
    found: Counter[str] = Counter()
    findings: list[Finding] = []
    shown: dict[str, bytes] = {}
    for path, data in staged.files.items():
        cancel.check()
        if (await adapters.redact_text(path)).findings:
            unchecked[path] = data
            text = "its name holds a secret, so the agent does not see it"
            findings.append(secret_finding(path, None, text, blocking=False))
        else:
            shown[path] = data
    async for file in cleaned_files(adapters, shown):
        cancel.check()
        found.update(file.kinds)
        findings += file.findings
        if file.failed:
            unchecked[file.path] = file.data
            text = f"could not be checked for secrets, so the agent does not see it: {file.failed}"
            findings.append(secret_finding(file.path, None, text, blocking=False))
        else:
            clean[file.path] = file.data
    tree = clean | unchecked
    store = adapters.offload.store
    changes = await store(adapters.workspace.baseline_changes, staged.snapshot, tree)
    # The removed lines come from the baseline, which nobody checked.
    diff = await adapters.redact_text(await store(adapters.workspace.workspace_diff, staged.snapshot, clean))
    clean[WORKSPACE_DIFF_FILENAME] = diff.text.encode("utf-8", "replace")
    status = "\n".join(f"{change.status} {change.path}" for change in changes if change.path not in unchecked)
    # A name that was deleted may hold a secret too.
    told = tuple(filter(None, (await adapters.redact_text(status)).text.split("\n")))
    return AgentInput(clean, unchecked, changes, dict(sorted(found.items())), tuple(findings), told)


async def input_changes(adapters: Adapters, staged: Staged, prepared: AgentInput) -> tuple[FileChange, ...]:
    """Return what the inputs change in the folder before the agent starts: what the person looks at first."""
    return await adapters.offload.thread(file_changes, staged.snapshot, prepared.tree, staged.stale)


def broken_artifacts(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that say that an artifact is missing or is not one."""
    return [f for f in findings if f.severity is Severity.BLOCKING and f.rule in ARTIFACT_RULES and f.path in ARTIFACTS]


def brief_of(prepared: AgentInput, agent: StartAgent) -> AgentBrief:
    """Return what the prompt is made from."""
    return AgentBrief(
        mode=agent.mode,
        diff_file=WORKSPACE_DIFF_FILENAME,
        status=prepared.status,
        extensions=names_to_tell(prepared.files),
        refused=agent.refused,
        note=agent.note,
        max_steps=agent.constraints.max_steps,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """The person's own words that go to the model, redacted like everything else."""

    note: str
    refused: tuple[str, ...]


async def _told(adapters: Adapters, request: Request, staged: Staged) -> _Told:
    texts = [_refused_text(hunk) for hunk in staged.refused[-MAX_REFUSED:]]
    refused = [(await adapters.redact_text(text)).text for text in texts]
    return _Told((await adapters.redact_text(request.note)).text, tuple(refused))


def _agent_effects(
    request: Request, staged: Staged, prepared: AgentInput, mark: ProviderMark, told: _Told
) -> tuple[SendToModel, StartAgent]:
    usual = AgentConstraints(cwd=staged.snapshot.root)
    most_tokens = request.settings.max_tokens_per_run or usual.max_tokens
    budget = Budget.of(request.settings, mark)
    fence = usual.model_copy(update={"max_tokens": budget.tokens(most_tokens)})
    agent = StartAgent(
        provider=mark.name,
        model=mark.model,
        constraints=fence,
        mode=_mode(prepared.files),
        note=told.note,
        refused=told.refused,
    )
    send = SendToModel(
        provider=mark.name,
        host=mark.host,
        model=mark.model,
        requests=fence.max_steps,
        tokens=min(_estimate(prepared, token_limit(request.settings.context_window or None)), fence.max_tokens),
        redactions=dict(prepared.redactions),
        loopback=is_loopback_host(urlsplit(f"//{mark.host}").hostname or ""),
    )
    return budget.priced_talk(send, fence.max_tokens), agent


def _mode(files: Mapping[str, bytes]) -> Literal["INIT", "INCREMENTAL"]:
    return "INCREMENTAL" if all(files.get(name, b"").strip() for name in ARTIFACTS) else "INIT"


def _estimate(prepared: AgentInput, room: int) -> int:
    """Estimate the tokens of a run: what must be read, and half of it again with each step, as the talk grows.

    `room` is what the model's context holds, in tokens; several files are read in one step.
    """
    changed = {change.path for change in prepared.changes} | {*ARTIFACTS, WORKSPACE_DIFF_FILENAME}
    read = sum(estimate_tokens(data.decode("utf-8", "replace")) for p, data in prepared.files.items() if p in changed)
    steps = STEPS_AT_LEAST + len(changed) // FILES_PER_STEP
    return read + steps * min(read + PROMPT_TOKENS, room) // 2


def _refused_text(hunk: RefusedHunk) -> str:
    """Return a refused change as the agent is told of it, cut."""
    head = f"{hunk.path}{f' (the person wrote: {hunk.note})' if hunk.note else ''}\n"
    text = head + "".join(f"-{line}" for line in hunk.old) + "".join(f"+{line}" for line in hunk.new)
    return text.encode("utf-8", "replace")[:MAX_REFUSED_BYTES].decode("utf-8", "ignore")
