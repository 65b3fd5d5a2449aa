"""Whole runs of the consolidation agent over a real server: what it proposes comes back as a plan to be reviewed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import SendToModel, StartAgent
from ltmem_gui.domain.errors import AlreadyApplied, NothingToDo, RefusedError
from ltmem_gui.domain.plan import PlanState
from ltmem_gui.domain.review import all_accepted, from_flags
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.agents import SUMMARY, agent_server, copied, do, extracted, plan_with, run_with, whole_run
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.program import tree

SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    said = (
        "Always use pnpm, never npm.",
        "The tests need PORT=8123.",
        "I prefer tabs over spaces, please always use tabs.",
    )
    return extracted(tmp_path_factory.mktemp("template"), said)


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    """A bench with three extracted memories and no folder yet."""
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def global_job(bench: Bench) -> Any:
    with bench.stores.reading(bench.home) as store:
        return store.job("memory_consolidate_global", "global")


def test_a_plan_shows_what_leaves_and_how_the_agent_is_fenced(bench: Bench) -> None:
    with agent_server() as server:
        plan = plan_with(bench, server)
        assert server.requests == []
    assert (plan.kind, plan.operation, plan.state) == ("consolidate", "consolidate", PlanState.APPLYABLE)
    assert [effect.type for effect in plan.effects] == ["SendToModel", "StartAgent", "UpdateJobs"]
    (send,) = plan.effects_of(SendToModel)
    assert (send.model, send.loopback, send.host in server.url) == ("small", True, True)
    assert 0 < send.tokens <= 2_000_000
    (agent,) = plan.effects_of(StartAgent)
    fence = agent.constraints
    assert (agent.mode, fence.cwd, fence.shell, fence.approval_policy) == ("INIT", str(bench.memory), False, "never")
    assert (fence.generate_memories, fence.use_memories, fence.ephemeral) == (False, False, True)
    assert {change.path for change in plan.changes} >= {"raw_memories.md"}
    assert len(plan.rows) == 3
    assert not bench.memory.exists()


def test_a_whole_run_ends_in_an_applied_folder(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        done = run_with(bench, plan_with(bench, server))
        first = server.posts[0].body
    assert not bench.memory.exists()
    assert first["reasoning_effort"] == "medium"
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        "list",
        "read",
        "search",
        "write",
        "edit",
        "delete",
    ]
    assert done.transcript is not None
    assert len(done.transcript.steps) == 14
    assert done.transcript.files == ("MEMORY.md", "memory_summary.md", "skills/scratch/SKILL.md")
    assert done.transcript.refusals == {}
    assert done.receipt.counts["agent_steps"] == 14
    assert done.receipt.steps[0].startswith("1: read phase2_workspace_diff.md; 120 tokens sent, 30 received, ")
    assert done.receipt.steps[-1].startswith("14: no call; 120 tokens sent, 30 received, ")
    assert all(step.seconds > 0 for step in done.transcript.steps)
    assert done.receipt.counts["tokens_in"] == 14 * 120
    assert [e.number for e in bench.events if isinstance(e, AgentStep)] == list(range(1, 15))
    proposal = done.proposal
    assert proposal is not None
    assert (proposal.kind, proposal.operation, proposal.state) == ("apply", "consolidate", PlanState.APPLYABLE)
    assert proposal.blocking == ()
    assert {c.path for c in proposal.changes} >= {"MEMORY.md", "memory_summary.md", "extensions/ad_hoc/instructions.md"}
    assert "skills/scratch/SKILL.md" not in {c.path for c in proposal.changes}
    assert any("14 steps" in note for note in proposal.notes)
    job = global_job(bench)
    assert (job.status, job.last_outcome) == ("pending", "released")
    receipt = asyncio.run(bench.apply(proposal))
    assert receipt.operation_number == done.receipt.operation_number + 1
    assert tree(bench.memory) == {c.path: c.new_sha256 for c in proposal.changes}
    assert "lesson1, pnpm, npm" in (bench.memory / "MEMORY.md").read_text()
    assert global_job(bench).status == "done"


def test_after_it_the_same_provider_has_nothing_to_do(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        proposal = run_with(bench, plan_with(bench, server)).proposal
        assert proposal is not None
        asyncio.run(bench.apply(proposal))
        again = plan_with(bench, server)
    assert (again.state, again.effects) == (PlanState.EMPTY, ())
    assert again.provider.host
    with pytest.raises(NothingToDo):
        asyncio.run(bench.grant(again))


def test_a_folder_of_the_built_in_rules_needs_no_agent(bench: Bench) -> None:
    asyncio.run(bench.apply(asyncio.run(bench.plan_consolidate())))
    with agent_server() as server:
        assert plan_with(bench, server).state is PlanState.EMPTY
        noted = plan_with(bench, server, note=f"Say more about pnpm. {SECRET}")
        assert noted.state is PlanState.APPLYABLE
        done = run_with(bench, noted)
        assert "Say more about pnpm." in server.posts[0].user
        assert SECRET not in server.posts[0].text
    (agent,) = noted.effects_of(StartAgent)
    assert agent.mode == "INCREMENTAL"
    assert done.proposal is not None
    assert [c.path for c in done.proposal.changes] == ["extensions/ad_hoc/instructions.md"]


def test_an_agent_that_changes_nothing_is_a_success_without_changes(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        proposal = run_with(bench, plan_with(bench, server)).proposal
        assert proposal is not None
        asyncio.run(bench.apply(proposal))
        before = tree(bench.memory)
        bench.now += 7 * 3_600
        done = run_with(bench, plan_with(bench, server, note="Look again."))
    assert done.proposal is not None
    assert done.proposal.state is PlanState.EMPTY
    assert tree(bench.memory) == before
    assert (global_job(bench).status, global_job(bench).finished_at) == ("done", bench.now)
    assert done.receipt.watermark_after is not None


def test_decisions_on_inputs_are_bound_into_the_plan_and_kept(bench: Bench) -> None:
    with bench.stores.reading(bench.home) as store:
        left, edited, _ = (output.thread_id for output in store.outputs())
    with agent_server(*whole_run()) as server:
        plan = plan_with(bench, server, exclude=frozenset({left}), edits={edited: "- the person likes zig"})
        assert "StoreOutputs" in {effect.type for effect in plan.effects}
        done = run_with(bench, plan)
        seen = server.posts[-1].text
    assert "the person likes zig" in seen
    assert left not in seen
    with bench.stores.reading(bench.home) as store:
        assert left in store.excluded()
        assert store.output(edited).raw_memory == "- the person likes zig"  # type: ignore[union-attr]
    assert done.proposal is not None
    assert "StoreOutputs" not in {effect.type for effect in done.proposal.effects}


def test_secrets_neither_leave_nor_come_back(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        bench.memory.mkdir()
        (bench.memory / "own.md").write_text(f"token: {SECRET}\n")
    moves = whole_run()
    moves.insert(-1, [do("read", path="own.md")])
    moves.insert(-1, [do("write", path="skills/k/SKILL.md", content=f"the key is {SECRET}\n")])
    with agent_server(*moves) as server:
        plan = plan_with(bench, server)
        assert sum(plan.effects_of(SendToModel)[0].redactions.values()) == 1
        done = run_with(bench, plan)
        # The model itself said it in the last two messages; nothing of ours did.
        assert all(SECRET not in request.text for request in server.posts[:-2])
    assert done.proposal is not None
    assert SECRET not in done.proposal.model_dump_json().replace(f"token: {SECRET}", "")
    assert {f.path for f in done.proposal.findings if f.rule == "secret"} == {"own.md", "skills/k/SKILL.md"}


def test_a_plan_is_carried_out_once_and_only_as_it_is(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        plan = plan_with(bench, server)
        rejected = from_flags(plan, reject=["raw_memories.md:*"], rest="accept")
        with pytest.raises(RefusedError, match="as the plan has them"):
            asyncio.run(Operations(bench).approve(plan, rejected, approver="me", surface="window"))
        run_with(bench, plan)
        with pytest.raises(AlreadyApplied):
            run_with(bench, plan)


def test_apply_names_propose(bench: Bench) -> None:
    with agent_server() as server:
        plan = plan_with(bench, server)
        with pytest.raises(RefusedError, match="use propose"):
            asyncio.run(bench.apply(plan))
        assert server.requests == []


def test_findings_sit_on_the_lines(bench: Bench) -> None:
    asyncio.run(bench.apply(asyncio.run(bench.plan_consolidate())))
    memory = (bench.memory / "MEMORY.md").read_text()
    cited = next(line for line in memory.split("\n") if line.startswith("- ") and line.endswith("[c1]"))
    moves = [
        [do("edit", path="MEMORY.md", old_text=cited, new_text=f"{cited.removesuffix(' [c1]')}\n- made up [Task 1]")],
        "Done.",
    ]
    with agent_server(*moves) as server:
        done = run_with(bench, plan_with(bench, server, note="again"))
    assert done.proposal is not None
    found = {finding.rule: finding for finding in done.proposal.findings}
    line = memory[: memory.index(cited)].count("\n") + 1
    assert (found["dropped-citation"].line, found["dropped-citation"].path) == (line, "MEMORY.md")
    assert (found["uncited"].line, found["uncited"].severity) == (line + 1, "warning")


def test_losing_most_of_the_memory_is_a_finding(bench: Bench) -> None:
    asyncio.run(bench.apply(asyncio.run(bench.plan_consolidate())))
    with agent_server([do("write", path="MEMORY.md", content="# Nothing\n")], "Done.") as server:
        done = run_with(bench, plan_with(bench, server, note="again"))
    assert done.proposal is not None
    assert "loss" in {finding.rule for finding in done.proposal.findings}


def test_refused_hunks_go_to_the_next_run(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        proposal = run_with(bench, plan_with(bench, server)).proposal
        assert proposal is not None
        (hunk,) = next(c for c in proposal.changes if c.path == "memory_summary.md").hunks
        review = all_accepted(proposal)
        taken = {p: ids for p, ids in review.accepted.items() if p != "memory_summary.md"}
        part = review.model_copy(
            update={
                "accepted": taken,
                "rejected": {"memory_summary.md": (hunk.id,)},
                "edited": {"memory_summary.md": {}},
                "notes": {hunk.id: "too long"},
                "overrides": {},
            }
        )
        operations = Operations(bench)

        async def apply() -> None:
            found = await operations.check(proposal, part)
            overrides = {f.id: "test" for f in found if f.severity == "blocking"}
            chosen = part.model_copy(update={"overrides": overrides})
            grant = await operations.approve(proposal, chosen, approver="me", surface="window")
            await operations.apply(grant, cancel=CancelToken(), listen=bench.events.append)

        asyncio.run(apply())
        again = plan_with(bench, server)
        assert again.state is PlanState.APPLYABLE
        (agent,) = again.effects_of(StartAgent)
        assert "too long" in agent.refused[0]
    assert SUMMARY.split("\n")[3] in agent.refused[0]
    assert json.loads(again.model_dump_json())["kind"] == "consolidate"
