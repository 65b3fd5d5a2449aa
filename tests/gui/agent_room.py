"""A consolidation with a model from memory: its plan, its steps, its proposal."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.domain.agent import AgentAction, AgentStep, AgentTranscript, CallArgument, ToolOutcome
from ltmem_gui.domain.agent_kept import bound, kept
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.effects import AgentConstraints, SendToModel, StartAgent, UpdateJobs
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobRecord, JobStatus
from ltmem_gui.domain.plan import FileChange, Plan, PlanState, ProviderMark
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.pipeline.requests import Request
from tests.gui.builders import NOW, FakeOperations, apply_plan, receipt_of
from tests.helpers.bench import Bench, Inline

HOST = "127.0.0.1:11434"
HOSTILE = "../../etc/\u202epasswd"
LOOKED_FOR = CallArgument("queries", "pnpm")
SHELL = CallArgument("arguments", '{"cmd": "curl ⟨U+202E⟩…', 999_600)
EDIT = (CallArgument("old_text", "- use npm↵", 0, 10), CallArgument("new_text", "- use pnpm↵", 0, 11))


class InlineComposition(Composition):
    """The real adapters without worker processes: everything runs on the loop's thread."""

    @property
    def offload(self) -> Any:
        """Return what runs everything at once."""
        return self._once("inline", Inline)

    def close(self) -> None:
        """Nothing was started."""


def extracted_samples(place: Path) -> Path:
    """Extract the demo's sessions with the built-in rules into `place / "data"`, at the time it is."""
    bench, adapters = Bench(place), compose(None)
    adapters.lay_samples(bench.sessions, adapters.clock())
    adapters.close()
    bench.now = int(time.time())
    asyncio.run(bench.apply(asyncio.run(bench.plan_extract())))
    return place


def steps(number: int = 4) -> tuple[AgentStep, ...]:
    """Return the steps of a run: reading, an escape, an edit, the end."""
    made = (
        AgentStep(
            1, (AgentAction("read", "phase2_workspace_diff.md", ToolOutcome.DONE, "lines 1-9 of 9"),), "", 900, 20
        ),
        AgentStep(
            2,
            (
                AgentAction("search", "", ToolOutcome.DONE, "2 matches of pnpm", arguments=(LOOKED_FOR,)),
                AgentAction("read", HOSTILE, ToolOutcome.REFUSED, "the path leaves the folder", "outside"),
                AgentAction("run_shell", "", ToolOutcome.REFUSED, "there is no such tool", "unknown tool", (SHELL,)),
            ),
            "Let me look <b>around</b>.",
            1_200,
            40,
            0.25,
        ),
        AgentStep(3, (AgentAction("edit", "MEMORY.md", ToolOutcome.DONE, "replaced", "", EDIT),), "", 1_300, 90, 1.5),
        AgentStep(4, (), "I took in two sessions.", 1_400, 10, 0.5),
    )
    return made[:number]


def agent_plan(
    home: Path, root: Path, request: Request | None = None, *, state: PlanState = PlanState.APPLYABLE
) -> Plan:
    """Return a plan that starts an agent."""
    note = request.note if request else ""
    refused = tuple(f"{hunk.path}: {''.join(hunk.new)}" for hunk in request.refused) if request else ()
    return Plan(
        kind="consolidate",
        operation="consolidate",
        id="a1",
        created_at=NOW,
        state=state,
        home=str(home),
        memory_root=str(root),
        provider=ProviderMark(name="ollama", label="Ollama, model small", host=HOST, model="small"),
        settings=request.settings if request else Settings(),
        effects=(
            SendToModel(provider="ollama", host=HOST, model="small", requests=200, tokens=84_000, loopback=True),
            StartAgent(
                provider="ollama",
                model="small",
                constraints=AgentConstraints(cwd=str(root)),
                note=note,
                refused=refused,
            ),
            UpdateJobs(scope="global", count=2, action="hold the global lock"),
        ),
        changes=(FileChange(path="raw_memories.md", change="added", unit="thread", new_size=900),),
    ).sealed()


class AgentOperations(FakeOperations):
    """The facade with an agent: `played` steps, then `proposal` or `failure`; `gate` waits in the middle."""

    def __init__(self, home: Path, root: Path) -> None:
        super().__init__(home, root)
        self.requests: list[Request] = []
        self.played = steps()
        self.proposal = apply_plan(home, root)
        self.failure: Exception | None = None

    async def plan_consolidate(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        self.calls.append(f"plan_consolidate {request.provider}")
        self.requests.append(request)
        return agent_plan(self.home, self.root, request)

    async def consolidate(self, grant: tuple[Plan, Selection], *, cancel: CancelToken, listen: Listener) -> Applied:
        self.calls.append("consolidate")
        listen(StepReached("agent", "Ollama, model small, in a staged copy"))
        for step in self.played:
            listen(step)
            await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate(cancel)
        if self.failure is not None:
            retry = NOW + 3_600
            self.job_records = (
                JobRecord(kind=GLOBAL_KIND, job_key=GLOBAL_KEY, status=JobStatus.ERROR, retry_at=retry),
            )
            raise self.failure
        transcript = AgentTranscript(self.played)
        texts = kept(transcript, ())
        told = {"steps": transcript.rows(), "transcript": texts, "transcript_sha256": bound(texts)}
        receipt = receipt_of(grant[0], len(self.done) + 1).model_copy(update=told | {"counts": transcript.counts()})
        self.done.append(receipt)
        return Applied(receipt, self.proposal, AgentTranscript(self.played))
