"""A consolidation with a model, without widgets: two confirmations, steps as they come, and every way it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Decision, Selection
from ltmem_gui.domain.errors import Cancelled, ProviderError
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.review import Review
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.turned_down import turned_down
from ltmem_gui.ui.models.agent_work import Wish, no_regenerate
from ltmem_gui.ui.models.run_state import RunPhase
from ltmem_gui.ui.models.workbench import Folders, Workbench
from tests.gui.agent_room import AgentOperations
from tests.gui.builders import NOW, all_of, apply_plan, extract_plan
from tests.gui.conftest import LoopHarness

pytestmark = pytest.mark.usefixtures("qtbot")

CHOICE = ModelChoice(extract="ollama", consolidate="ollama", extract_model="small")


class Bench:
    """A workbench on a scripted agent, with a scripted person."""

    def __init__(self, harness: LoopHarness, tmp_path: Path) -> None:
        self.harness = harness
        self.fake = AgentOperations(tmp_path / "home", tmp_path / "memory")
        self.fake.extract = extract_plan(self.fake.home, state=PlanState.EMPTY)
        self.answers: list[bool] = []
        self.asked: list[Plan] = []
        self.states: list[Any] = []
        self.ends: list[Any] = []
        self.plans: list[Plan] = []
        self.notices: list[Any] = []
        self.errors: list[Any] = []
        self.bench = Workbench(
            self.fake,  # type: ignore[arg-type]
            harness.supervisor,
            settings=Settings(),
            approver=lambda: "dev",
            confirm=self.confirm,
        )
        self.bench.run_changed.connect(self.states.append)
        self.bench.agent_ended.connect(self.ends.append)
        self.bench.plan_made.connect(self.plans.append)
        self.bench.noticed.connect(self.notices.append)
        harness.supervisor.known_raised.connect(self.errors.append)
        self.bench.name_folders(Folders((SourceSpec("codex", "/s"),), self.fake.root, self.fake.home))
        self.bench.choose_model(CHOICE)

    async def confirm(self, plan: Plan, selection: Selection) -> bool:
        self.asked.append(plan)
        await asyncio.sleep(0)
        return self.answers.pop(0)

    @property
    def phases(self) -> list[RunPhase]:
        return list(dict.fromkeys(state.phase for state in self.states))


@pytest.fixture
def made(harness: LoopHarness, tmp_path: Path) -> Bench:
    return Bench(harness, tmp_path)


def test_the_agent_starts_on_a_yes_and_its_proposal_comes_to_review(made: Bench) -> None:
    made.answers = [True]
    made.harness.call(made.bench.run)
    assert [plan.kind for plan in made.asked] == ["consolidate"]
    assert made.fake.calls[-4:] == ["plan_consolidate ollama", "approve consolidate window", "consolidate", "jobs"]
    assert made.plans == [made.fake.proposal]
    assert made.bench.plan is made.fake.proposal
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    assert [end.outcome for end in made.ends] == ["proposed"]
    assert made.phases[:4] == [
        RunPhase.ESTIMATING,
        RunPhase.SCANNING,
        RunPhase.CONSOLIDATING,
        RunPhase.CONFIRMING,
    ] or made.phases[:3] == [RunPhase.ESTIMATING, RunPhase.CONSOLIDATING, RunPhase.CONFIRMING]
    assert made.bench.seen.receipts is not None
    assert made.bench.seen.receipts[0].kind == "consolidate"


def test_the_button_counts_steps(made: Bench) -> None:
    made.answers = [True]
    made.harness.call(made.bench.consolidate)
    counted = [state for state in made.states if state.phase is RunPhase.CONSOLIDATING and state.done]
    assert counted[-1].button == "Consolidating, step 4"
    assert counted[-1].detail == "step 4: the agent says it is done"
    assert counted[-1].eta(0.0) == ""


def test_a_no_starts_nothing(made: Bench) -> None:
    made.answers = [False]
    made.harness.call(made.bench.consolidate)
    assert "consolidate" not in made.fake.calls
    assert made.bench.run_state.phase is RunPhase.IDLE
    assert made.ends == []


def test_applying_the_proposal_asks_once_more(made: Bench) -> None:
    made.answers = [True, True]
    made.harness.call(made.bench.consolidate)
    plan = made.fake.proposal
    made.harness.call(lambda: made.bench.apply(plan, all_of(plan)))
    assert [asked.kind for asked in made.asked] == ["consolidate", "apply"]
    assert made.bench.run_state.phase is RunPhase.DONE


def test_cancel_reaches_the_agent_and_keeps_an_earlier_proposal(made: Bench) -> None:
    made.answers = [True, True]
    made.harness.call(made.bench.consolidate)

    async def gate(cancel: CancelToken) -> None:
        made.bench.cancel()
        assert made.bench.run_state.phase is RunPhase.CANCELLING
        await asyncio.sleep(0)
        assert cancel.cancelled
        raise Cancelled

    made.fake.gate = gate
    made.harness.call(lambda: made.bench.regenerate(Wish(note="shorter")))
    assert [end.outcome for end in made.ends] == ["proposed", "cancelled"]
    assert made.bench.plan is made.fake.proposal
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    assert made.errors == []


def test_an_apply_while_the_agent_works_is_answered(made: Bench) -> None:
    made.answers = [True]

    async def gate(cancel: CancelToken) -> None:
        del cancel
        made.bench.apply(made.fake.proposal, all_of(made.fake.proposal))
        await asyncio.sleep(0)

    made.fake.gate = gate
    made.harness.call(made.bench.consolidate)
    assert [notice.text for notice in made.notices] == ["A task is running."]
    assert [plan.kind for plan in made.asked] == ["consolidate"]


def test_a_failed_run_says_why_and_until_when_it_waits(made: Bench) -> None:
    made.answers = [True]
    made.fake.failure = ProviderError(
        "the connection failed (ConnectError)", "check that the server runs", "127.0.0.1:1"
    )
    made.harness.call(made.bench.consolidate)
    (end,) = made.ends
    assert (end.outcome, end.reason, end.retry_at) == ("failed", "the connection failed (ConnectError)", NOW + 3_600)
    assert made.bench.run_state.phase is RunPhase.FAILED
    assert made.bench.plan is None
    assert len(made.errors) == 1


def test_an_agent_that_changes_nothing_is_a_success(made: Bench) -> None:
    made.answers = [True]
    made.fake.proposal = apply_plan(made.fake.home, made.fake.root, state=PlanState.EMPTY)
    made.harness.call(made.bench.consolidate)
    assert made.ends[-1].outcome == "unchanged"
    assert made.bench.run_state.phase is RunPhase.NOTHING_TO_DO
    assert made.plans == []


def test_an_agent_that_changes_nothing_more_leaves_the_earlier_proposal(made: Bench) -> None:
    made.answers = [True, True]
    made.harness.call(made.bench.consolidate)
    earlier = made.fake.proposal
    made.fake.proposal = apply_plan(made.fake.home, made.fake.root, state=PlanState.EMPTY)
    made.harness.call(lambda: made.bench.regenerate(Wish(note="anything else?")))
    assert made.bench.plan is earlier
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    assert "still waits" in made.notices[-1].remedy


def test_the_remark_and_the_refused_changes_go_with_the_request(made: Bench) -> None:
    made.answers = [True, True]
    made.harness.call(made.bench.consolidate)
    refused = (RefusedHunk("MEMORY.md", (), ("- no\n",), NOW, "too long"),)
    wish = Wish(frozenset({"t"}), "Say it shorter.", refused)
    made.harness.call(lambda: made.bench.regenerate(wish))
    request = made.fake.requests[-1]
    assert (request.note, request.refused, request.exclude) == ("Say it shorter.", refused, frozenset({"t"}))
    assert request.settings.extract_model == "small"


def test_each_phase_may_have_its_own_provider(made: Bench) -> None:
    made.bench.choose_model(ModelChoice(consolidate="vllm"))
    assert made.bench.request().provider == "builtin"
    made.answers = [False]
    made.harness.call(made.bench.consolidate)
    assert made.fake.requests[-1].provider == "vllm"


def test_what_was_turned_down_is_told_by_its_lines(tmp_path: Path) -> None:
    plan = apply_plan(tmp_path / "h", tmp_path / "m")
    review = Review(plan).decide("MEMORY.md:h1", Decision.REJECT).note("MEMORY.md:h1", "not true")
    review = review.decide("MEMORY.md:h2", Decision.ACCEPT).decide("rollout_summaries/x.md:*", Decision.REJECT)
    (hunk,) = turned_down(review, NOW)
    assert (hunk.path, hunk.old, hunk.new, hunk.note) == ("MEMORY.md", ("a\n", "b\n"), ("c\n",), "not true")


def test_when_a_proposal_cannot_be_made_again(tmp_path: Path) -> None:
    plan = apply_plan(tmp_path / "h", tmp_path / "m")
    assert no_regenerate(None, CHOICE)
    assert no_regenerate(plan.model_copy(update={"operation": "undo"}), CHOICE)
    assert "choose a model" in no_regenerate(plan, ModelChoice())
    assert no_regenerate(plan, CHOICE) == ""
