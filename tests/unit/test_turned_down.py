"""What was turned down goes along from proposal to proposal, until it is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.review import Review
from ltmem_gui.domain.turned_down import rejected, turned_down
from tests.gui.builders import apply_plan

NOW = 1_800_000_000
BEFORE = NOW - 86_400
AGAIN = RefusedHunk("MEMORY.md", ("a\n", "b\n"), ("c\n",), BEFORE, "not true")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Return a proposal whose first hunk of `MEMORY.md` replaces two lines by one."""
    return apply_plan(tmp_path / "h", tmp_path / "m").model_copy(update={"refused": (AGAIN,)})


def test_what_is_left_open_goes_along(plan: Plan) -> None:
    assert turned_down(Review(plan), NOW) == (AGAIN,)
    assert rejected(Review(plan), NOW) == ()


@pytest.mark.parametrize(("note", "told"), [("", AGAIN), ("still not", None)])
def test_rejected_once_more_it_keeps_its_day_unless_there_is_a_new_note(
    plan: Plan, note: str, told: RefusedHunk | None
) -> None:
    review = Review(plan).decide("MEMORY.md:h1", Decision.REJECT)
    (found,) = turned_down(review.note("MEMORY.md:h1", note) if note else review, NOW)
    assert found == (told or RefusedHunk("MEMORY.md", AGAIN.old, AGAIN.new, NOW, note))


@pytest.mark.parametrize(
    ("earlier", "goes_on"),
    [
        (AGAIN, False),
        (RefusedHunk("other.md", AGAIN.old, AGAIN.new, BEFORE), True),
        (RefusedHunk("MEMORY.md", (), ("d\n",), BEFORE), True),
        (RefusedHunk("MEMORY.md", ("a\n",), (), BEFORE), True),
        (RefusedHunk("MEMORY.md", (), ("c",), BEFORE), False),
    ],
)
def test_what_is_accepted_is_told_no_more(plan: Plan, earlier: RefusedHunk, goes_on: bool) -> None:
    review = Review(plan.model_copy(update={"refused": (earlier,)})).decide("MEMORY.md:h1", Decision.ACCEPT)
    assert turned_down(review, NOW) == ((earlier,) if goes_on else ())


def test_lines_that_were_to_stay_and_go_with_a_yes_are_told_no_more(plan: Plan) -> None:
    change = plan.changes[0]
    gone = change.hunks[0].model_copy(update={"new": ()})
    cut = change.model_copy(update={"hunks": (gone, *change.hunks[1:])})
    kept = RefusedHunk("MEMORY.md", ("b\n",), (), BEFORE)
    made = plan.model_copy(update={"changes": (cut, *plan.changes[1:]), "refused": (kept,)})
    assert turned_down(Review(made).decide("MEMORY.md:h1", Decision.ACCEPT), NOW) == ()
    assert turned_down(Review(made), NOW) == (kept,)


@pytest.mark.parametrize(("line", "goes_on"), [("use npm\n", True), ("never use npm\n", False), ("- pnpm\n", False)])
def test_a_line_is_not_taken_because_another_one_ends_like_it(plan: Plan, line: str, goes_on: bool) -> None:
    change = plan.changes[0]
    new = change.hunks[0].model_copy(update={"new": ("- pnpm\n", "never use npm\n")})
    earlier = RefusedHunk("MEMORY.md", (), (line,), BEFORE)
    proposal = change.model_copy(update={"hunks": (new, *change.hunks[1:])})
    made = plan.model_copy(update={"changes": (proposal, *plan.changes[1:]), "refused": (earlier,)})
    accepted = Review(made).decide("MEMORY.md:h1", Decision.ACCEPT)
    assert turned_down(accepted, NOW) == ((earlier,) if goes_on else ())


def test_whole_files_are_no_hunks(plan: Plan) -> None:
    review = Review(plan).decide("rollout_summaries/x.md:*", Decision.REJECT)
    assert rejected(review, NOW) == ()
