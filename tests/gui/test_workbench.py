"""The run from press to receipt, without widgets: what is asked, in which order, and what a no does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.domain.events import JobFinished
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.standing import FolderLock, Standing
from ltmem_gui.ui.models import workbench
from ltmem_gui.ui.models.run_state import RunPhase
from ltmem_gui.ui.models.workbench import Folders, Seen, Workbench
from tests.gui.builders import FakeOperations, all_of, apply_plan, extract_plan
from tests.gui.conftest import LoopHarness

pytestmark = pytest.mark.usefixtures("qtbot")


class Bench:
    """A workbench with recorded signals and a scripted person."""

    def __init__(self, harness: LoopHarness, tmp_path: Path) -> None:
        self.home, self.root = tmp_path / "home", tmp_path / "memory"
        self.fake = FakeOperations(self.home, self.root)
        self.answers: list[bool] = []
        self.asked: list[str] = []
        self.seen: dict[str, list[Any]] = {"run": [], "notice": [], "plan": [], "receipt": [], "events": []}
        self.bench = Workbench(
            self.fake,  # type: ignore[arg-type]
            harness.supervisor,
            settings=Settings(),
            approver=lambda: "dev",
            confirm=self.confirm,
        )
        self.bench.run_changed.connect(lambda state: self.seen["run"].append(state.phase))
        self.bench.noticed.connect(self.seen["notice"].append)
        self.bench.plan_made.connect(self.seen["plan"].append)
        self.bench.receipt_made.connect(self.seen["receipt"].append)
        self.bench.events_arrived.connect(self.seen["events"].extend)
        self.harness = harness

    async def confirm(self, plan: Plan, selection: Selection) -> bool:
        self.asked.append(plan.kind)
        await asyncio.sleep(0)
        return self.answers.pop(0)

    def name(self, *, memory: bool = True) -> None:
        self.bench.name_folders(Folders((SourceSpec("codex", "/sessions"),), self.root if memory else None, self.home))


@pytest.fixture
def made(harness: LoopHarness, tmp_path: Path) -> Bench:
    return Bench(harness, tmp_path)


def test_naming_asks_nothing_of_the_pipeline(made: Bench) -> None:
    made.name()
    assert made.fake.calls == []
    assert made.bench.folders.can_scan


def test_a_scan_reads_and_returns_to_idle(made: Bench) -> None:
    made.name()
    made.harness.call(made.bench.scan)
    assert made.fake.calls == ["scan", "jobs"]
    assert made.seen["run"][0] is RunPhase.SCANNING
    assert made.bench.run_state.phase is RunPhase.IDLE
    assert made.bench.seen.report is made.fake.report


def test_a_run_asks_before_each_effect_and_ends_in_review(made: Bench) -> None:
    made.name()
    made.answers = [True]
    made.harness.call(made.bench.run)
    assert made.asked == ["extract"]
    assert made.fake.calls == [
        "plan_extract",
        "scan",
        "jobs",
        "approve extract window",
        "apply extract",
        "jobs",
        "plan_consolidate",
    ]
    assert made.seen["plan"] == [made.fake.consolidated]
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    assert any(isinstance(event, JobFinished) for event in made.seen["events"])


def test_a_no_changes_nothing(made: Bench) -> None:
    made.name()
    made.answers = [False]
    made.harness.call(made.bench.run)
    assert not [call for call in made.fake.calls if call.startswith(("approve", "apply"))]
    assert made.bench.run_state.phase is RunPhase.IDLE


def test_nothing_to_extract_goes_on_to_consolidation(made: Bench) -> None:
    made.name()
    made.fake.extract = extract_plan(made.home, state=PlanState.EMPTY)
    made.fake.consolidated = apply_plan(made.home, made.root, state=PlanState.EMPTY)
    made.harness.call(made.bench.run)
    assert made.asked == []
    assert made.bench.run_state.phase is RunPhase.NOTHING_TO_DO
    assert made.seen["notice"][-1].kind == "good"


def test_without_a_memory_folder_a_run_ends_after_extraction(made: Bench) -> None:
    made.name(memory=False)
    made.answers = [True]
    made.harness.call(made.bench.run)
    assert "plan_consolidate" not in made.fake.calls
    assert made.seen["notice"][-1].action == "folders.open"


def test_apply_confirms_writes_and_reads_again(made: Bench) -> None:
    made.name()
    plan = made.fake.consolidated
    made.bench.plan = plan
    made.answers = [False]
    made.harness.call(lambda: made.bench.apply(plan, all_of(plan)))
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    assert made.fake.calls == []
    made.answers = [True]
    made.harness.call(lambda: made.bench.apply(plan, all_of(plan)))
    assert made.fake.calls == ["approve apply window", "apply apply", "jobs", "read_folder"]
    assert made.seen["receipt"][0].plan_digest == plan.digest
    assert made.bench.plan is None
    assert made.bench.run_state.phase is RunPhase.DONE


def test_the_demo_marks_its_approvals(made: Bench) -> None:
    made.bench.name_folders(Folders((SourceSpec("codex", "/s"),), made.root, made.home, demo=True))
    made.answers = [True]
    made.harness.call(made.bench.run)
    assert "approve extract demo" in made.fake.calls


def test_an_estimate_takes_no_lease_and_asks_nothing(made: Bench) -> None:
    made.name()
    plans: list[Plan] = []
    made.bench.estimated.connect(plans.append)
    made.harness.call(made.bench.estimate)
    assert plans == [made.fake.extract]
    assert made.asked == []
    made.fake.extract = extract_plan(made.home, state=PlanState.EMPTY)
    made.harness.call(made.bench.estimate)
    assert made.bench.run_state.phase is RunPhase.NOTHING_TO_DO


def test_a_known_error_leaves_a_true_button(made: Bench) -> None:
    made.name()
    errors: list[object] = []
    made.harness.supervisor.known_raised.connect(errors.append)
    made.fake.error = InputError("the folder is gone", where="/sessions")
    made.harness.call(made.bench.run)
    assert len(errors) == 1
    assert made.bench.run_state.phase is RunPhase.FAILED
    assert made.bench.run_state.detail == "the folder is gone"


def test_no_data_folder_is_said_in_words(made: Bench) -> None:
    errors: list[object] = []
    made.harness.supervisor.known_raised.connect(errors.append)
    made.harness.call(made.bench.scan)
    made.harness.call(made.bench.read_folder)
    assert len(errors) == 2


def test_cancel_reaches_the_pipeline_and_waits_for_it(made: Bench) -> None:
    made.name()
    made.answers = [True]
    released: list[bool] = []

    async def gate(cancel: CancelToken) -> None:
        made.bench.cancel()
        await asyncio.sleep(0)
        released.append(cancel.cancelled)
        raise Cancelled

    made.fake.gate = gate
    made.harness.call(made.bench.run)
    assert released == [True]
    assert RunPhase.CANCELLING in made.seen["run"]
    assert made.bench.run_state.phase is RunPhase.IDLE
    assert "plan_consolidate" not in made.fake.calls


def test_cancel_while_asking_means_no(made: Bench) -> None:
    made.name()

    async def never(plan: Plan, selection: Selection) -> bool:
        made.bench.cancel()
        await asyncio.sleep(60)
        return True

    made.bench._confirm = never
    made.harness.call(made.bench.run)
    assert "apply extract" not in made.fake.calls
    made.bench.cancel()
    assert made.bench.run_state.phase is RunPhase.IDLE


def test_a_second_press_does_not_start_a_second_run(made: Bench) -> None:
    made.name()
    made.answers = [True]

    def twice() -> None:
        made.bench.run()
        made.bench.run()

    made.harness.call(twice)
    assert made.fake.calls.count("plan_extract") == 1


def test_naming_other_folders_forgets_what_was_read(made: Bench) -> None:
    made.name()
    made.harness.call(made.bench.scan)
    made.harness.call(made.bench.read_folder)
    made.harness.call(made.bench.read_receipts)
    assert made.bench.seen.snapshot is not None
    made.name(memory=False)
    assert made.bench.seen.snapshot is None
    assert made.bench.seen.report is None


def test_folders_are_not_renamed_under_a_task(made: Bench) -> None:
    made.name()
    named = made.bench.folders
    taken: list[bool] = []

    async def gate(cancel: CancelToken) -> None:
        taken.append(made.bench.name_folders(Folders((), None, made.home.parent / "other")))

    made.fake.gate = gate
    made.answers = [True]
    made.harness.call(made.bench.run)
    assert taken == [False]
    assert made.bench.folders == named
    assert made.seen["notice"][0].text == "A task is running."
    assert made.bench.seen.report is made.fake.report


def test_a_task_goes_on_with_what_it_began_with(made: Bench) -> None:
    made.name()
    began = made.bench.request()
    requests: list[Request] = []
    plan_consolidate = made.fake.plan_consolidate

    async def planned(request: Request, **more: Any) -> Plan:
        requests.append(request)
        return await plan_consolidate(request, **more)

    async def gate(cancel: CancelToken) -> None:
        # What is chosen meanwhile is for the next run.
        made.bench.choose_model(ModelChoice(extract="openai", consolidate="openai", extract_model="m"))

    made.fake.plan_consolidate = planned  # type: ignore[method-assign]
    made.fake.gate = gate
    made.answers = [True]
    made.harness.call(made.bench.run)
    assert requests == [began]


def test_a_plan_does_not_wait_under_other_folders(made: Bench) -> None:
    made.name()
    made.bench.review(made.fake.consolidated)
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    made.name(memory=False)
    assert made.bench.plan is None
    assert made.bench.run_state.phase is RunPhase.IDLE


def test_what_was_read_of_other_folders_is_not_shown_late(made: Bench) -> None:
    made.name()

    def read_and_name() -> None:
        made.bench.read_folder()
        made.bench.read_receipts()
        asyncio.get_running_loop().call_soon(made.bench.name_folders, Folders(home=made.home))

    made.harness.call(read_and_name)
    assert made.bench.seen == Seen()


def test_after_a_wait_for_the_lock_a_yes_is_asked_again(made: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbench, "LOCK_WAIT_SECONDS", 0.0)
    made.name()
    plan = made.bench.plan = made.fake.consolidated
    held = Standing(FolderLock("another run", "box:1:1:ltmem"))
    made.fake.standings = [held, Standing(), Standing()]
    made.answers = [True, False]
    made.harness.call(lambda: made.bench.apply(plan, all_of(plan)))
    assert made.asked == ["apply", "apply"]
    assert made.fake.calls == []
    assert made.bench.run_state.phase is RunPhase.PLAN_READY
    made.answers = [True]
    made.harness.call(lambda: made.bench.apply(plan, all_of(plan)))
    assert made.fake.calls[:2] == ["approve apply window", "apply apply"]
