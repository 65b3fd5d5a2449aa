"""What a run takes is told while it works: beside the Run button, from the newest event alone."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ltmem_gui.domain.events import RunProgressed, RunSpent
from ltmem_gui.domain.prices import Money
from ltmem_gui.domain.settings import Settings
from ltmem_gui.ui.bridge.signals import _newest_progress_only
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench import Workbench
from tests.gui.builders import FakeOperations
from tests.gui.conftest import LoopHarness

pytestmark = pytest.mark.usefixtures("qtbot")

SPENT = RunSpent(5_500, Money(Decimal("0.009"), "USD"), Money(Decimal("1.5"), "USD"))


@pytest.fixture
def bench(harness: LoopHarness, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    place = tmp_path_factory.mktemp("place")
    fake = FakeOperations(place / "home", place / "memory")

    async def never(*_: object) -> bool:
        return False

    return Workbench(
        fake,  # type: ignore[arg-type]
        harness.supervisor,
        settings=Settings(),
        approver=lambda: "dev",
        confirm=never,
    )


def test_the_run_bar_counts_tokens_and_money_while_it_extracts(bench: Workbench) -> None:
    bench._set_run(RunState(RunPhase.EXTRACTING))
    bench._on_events_arrived((SPENT, RunProgressed(3, 9)))
    assert bench.run_state.detail == "0.009 USD spent of 1.50 USD, 5,500 tokens"
    assert (bench.run_state.done, bench.run_state.total) == (3, 9)


def test_rules_that_take_no_tokens_are_not_counted(bench: Workbench) -> None:
    bench._set_run(RunState(RunPhase.EXTRACTING, detail="as before"))
    bench._on_events_arrived((RunSpent(0),))
    assert bench.run_state.detail == "as before"
    bench._set_run(RunState(RunPhase.DONE))
    bench._on_events_arrived((SPENT,))
    assert bench.run_state.detail == ""


def test_of_many_counts_only_the_newest_is_shown() -> None:
    assert _newest_progress_only([RunSpent(1), RunProgressed(1, 2), RunSpent(2)]) == (RunProgressed(1, 2), RunSpent(2))
