from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.applying import result_bytes
from ltmem_gui.domain.consent import Decision, Selection
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.units import WHOLE
from ltmem_gui.domain.errors import BlockedByFindings, RefusedError, Undecided, UsageError
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import FileChange, Plan, PlanState, ProviderMark
from ltmem_gui.domain.review import Mark, Review, all_accepted, from_flags
from ltmem_gui.domain.settings import Settings

A, X, U, E = Decision.ACCEPT, Decision.REJECT, Decision.UNDECIDED, Decision.EDITED

RAW_HEAD = "# Raw Memories\n\nMerged stage-1 raw memories (stable ascending thread-id order):\n\n"


def section(thread: str, text: str = "a fact") -> str:
    return f"## Thread `{thread}`\nrollout_summary_file: {thread}.md\n\n{text}\n\n"


def plan_of(*changes: FileChange | None, findings: tuple[Finding, ...] = ()) -> Plan:
    return Plan(
        kind="apply",
        operation="consolidate",
        id="p",
        created_at=1,
        state=PlanState.APPLYABLE,
        home="/home",
        provider=ProviderMark(name="builtin", label="built-in"),
        settings=Settings(),
        changes=tuple(change for change in changes if change is not None),
        findings=findings,
    ).sealed()


def text_change(path: str, old: str | None, new: str | None, unit: str = "hunk") -> FileChange | None:
    return file_change(
        path,
        None if old is None else old.encode(),
        None if new is None else new.encode(),
        unit=unit,  # type: ignore[arg-type]
    )


OLD = "".join(f"line {i}\n" for i in range(12))
NEW = OLD.replace("line 2\n", "line two\n").replace("line 6\n", "").replace("line 9\n", "line 9\nadded a\nadded b\n")


def three_hunks(**kwargs: tuple[Finding, ...]) -> Plan:
    return plan_of(text_change("notes.md", OLD, NEW), **kwargs)


def finding(
    line: int | None, path: str = "notes.md", severity: Severity = Severity.BLOCKING, name: str = "f"
) -> Finding:
    return Finding(id=name, rule="secret", severity=severity, path=path, line=line, text="a secret")


def result(plan: Plan, selection: Selection, old: str | None = OLD) -> str | None:
    data = result_bytes(None if old is None else old.encode(), plan.changes[0], selection)
    return None if data is None else data.decode()


def test_everything_starts_undecided_and_silence_is_no_yes() -> None:
    review = Review(three_hunks())
    assert [unit.kind for unit in review.units] == ["hunk"] * 3
    assert len(review.undecided) == 3
    assert review.undecided_in("notes.md") == (3, 3)
    assert review.undecided_in("other") == (0, 0)
    assert review.obstacles == ("3 changes undecided",)
    with pytest.raises(Undecided, match=r"3 changes undecided; the first: notes\.md:"):
        review.selection()


def test_a_selection_keeps_exactly_what_was_accepted() -> None:
    plan = three_hunks()
    review = Review(plan)
    one, two, three = review.units
    review = review.decide(one.key, A).decide(two.key, X).decide([three.key], A)
    selection = review.selection()
    hunks = plan.changes[0].hunks
    assert selection.accepted == {"notes.md": (hunks[0].id, hunks[2].id)}
    assert selection.rejected == {"notes.md": (hunks[1].id,)}
    assert selection.edited == {}
    assert selection.plan_digest == plan.digest
    assert result(plan, selection) == NEW.replace("line 5\n", "line 5\nline 6\n")


@given(st.lists(st.sampled_from([A, X, U]), max_size=25))
@settings(max_examples=60)
def test_undo_goes_back_through_every_step(steps: list[Decision]) -> None:
    review = Review(three_hunks())
    history = [review]
    for number, step in enumerate(steps):
        after = review.decide(review.units[number % 3].key, step)
        if after is not review:
            history.append(after)
        review = after
    while history:
        assert review == history.pop()
        review = review.undo()
    assert review.undo() is review


def test_a_decision_that_changes_nothing_is_no_step() -> None:
    review = Review(three_hunks())
    assert review.decide(review.units[0].key, U) is review
    accepted = review.decide_rest(A)
    assert accepted.decide_file("notes.md", A) is accepted


def test_files_and_the_rest_are_decided_at_once() -> None:
    review = Review(three_hunks())
    assert review.decide_file("notes.md", A).undecided == ()
    assert review.decide_file("other.md", A) is review
    mixed = review.decide(review.units[1].key, X).decide_rest(A)
    assert [mixed.mark(u.key).decision for u in mixed.units] == [A, X, A]


def test_unknown_names_and_bare_edits_are_refused() -> None:
    review = Review(three_hunks())
    with pytest.raises(UsageError, match="no change"):
        review.decide("notes.md:nope", A)
    with pytest.raises(UsageError, match="needs its new lines"):
        review.decide(review.units[0].key, E)
    with pytest.raises(UsageError, match="no finding"):
        review.override("nope", "because")


def test_an_edit_replaces_the_lines_of_its_hunk() -> None:
    plan = three_hunks()
    review = Review(plan).decide_rest(X)
    key = review.units[0].key
    edited = review.edit(key, ("line zwei\n", "and more\n"))
    assert edited.mark(key) == Mark(E, ("line zwei\n", "and more\n"))
    assert result(plan, edited.selection()) == OLD.replace("line 2\n", "line zwei\nand more\n")
    assert edited.edit(key, ("line two\n",)).mark(key).decision is A
    assert edited.edit(key, ("line 2\n",)).mark(key).decision is X
    assert edited.result_of(edited.units[0]) == ("line zwei\n", "and more\n")


def test_a_split_hunk_is_decided_in_parts() -> None:
    plan = three_hunks()
    review = Review(plan)
    hunk = plan.changes[0].hunks[2]
    split = (
        review.decide(review.units[0].key, X).decide(review.units[1].key, X).split("notes.md", hunk.id, (0, 0), (0, 1))
    )
    assert [unit.kind for unit in split.units] == ["hunk", "hunk", "part", "part"]
    first, second = split.units[2:]
    mixed = split.decide(first.key, A).decide(second.key, X)
    selection = mixed.selection()
    assert selection.edited == {"notes.md": {hunk.id: ("added a\n",)}}
    assert result(plan, selection) == OLD.replace("line 9\n", "line 9\nadded a\n")
    assert mixed.decide(second.key, A).selection().accepted == {"notes.md": (hunk.id,)}
    assert mixed.decide(first.key, X).selection().accepted == {}
    swapped = mixed.edit(second.key, ("added b, edited\n",)).selection()
    assert swapped.edited["notes.md"][hunk.id] == ("added a\n", "added b, edited\n")
    assert split.undo().splits == {}


def test_a_split_of_a_replacement_keeps_rows_in_order() -> None:
    plan = plan_of(text_change("n.md", "a\nb\nkeep\n", "A\nB\nkeep\n"))
    (hunk,) = plan.changes[0].hunks
    review = Review(plan).split("n.md", hunk.id, (1, 2), (0, 1))
    parts = [review.lines_of(unit.members[0]) for unit in review.units]
    assert parts == [(("a\n",), ()), (("b\n",), ("A\n",)), ((), ("B\n",))]
    middle = review.decide(review.units[1].key, A).decide_rest(X)
    assert result(plan, middle.selection(), "a\nb\nkeep\n") == "a\nA\nkeep\n"


def test_parts_inherit_a_decision_and_can_be_split_again() -> None:
    plan = plan_of(text_change("n.md", None, "1\n2\n3\n4\n"))
    (hunk,) = plan.changes[0].hunks
    review = Review(plan).decide_rest(A).split("n.md", hunk.id, (0, 0), (1, 3))
    assert [review.mark(unit.key).decision for unit in review.units] == [A, A, A]
    again = review.decide(review.units[1].key, X).split("n.md", hunk.id, (0, 0), (1, 2))
    assert [again.mark(unit.key).decision for unit in again.units] == [A, X, X, A]
    edited = Review(plan).edit(Review(plan).units[0].key, ("other\n",)).split("n.md", hunk.id, (0, 0), (0, 1))
    assert [edited.mark(unit.key).decision for unit in edited.units] == [U, U]
    whole = Review(plan).split("n.md", hunk.id, (0, 0), (0, 4))
    assert [unit.kind for unit in whole.units] == ["hunk"]


def test_splits_that_make_no_sense_are_refused() -> None:
    plan = plan_of(text_change("n.md", "a\nb\n", "A\nB\n"), text_change("gone.md", "x\n", None))
    (hunk,) = plan.changes[0].hunks
    review = Review(plan)
    with pytest.raises(UsageError, match="no such lines"):
        review.split("n.md", hunk.id, (0, 3), (0, 0))
    with pytest.raises(UsageError, match="no such lines"):
        review.split("n.md", hunk.id, (1, 1), (1, 1))
    with pytest.raises(RefusedError, match="cannot be split"):
        review.split("gone.md", WHOLE, (0, 1), (0, 0))
    with pytest.raises(RefusedError, match="cross"):
        review.split("n.md", hunk.id, (0, 1), (0, 2)).split("n.md", hunk.id, (0, 2), (0, 1))


def test_blocking_findings_close_by_reject_edit_or_reason() -> None:
    plan = three_hunks(findings=(finding(3), finding(9, severity=Severity.WARNING, name="w")))
    review = Review(plan).decide_rest(A)
    key = review.units[0].key
    assert [f.id for f in review.blocking] == ["f"]
    assert review.obstacles == ("1 blocking finding open",)
    with pytest.raises(BlockedByFindings, match=r"1 blocking finding open; the first: a secret \[f\]"):
        review.selection()
    assert review.decide(key, X).blocking == ()
    assert review.edit(key, ("clean\n",)).blocking == ()
    with_reason = review.override("f", " a test value ")
    assert with_reason.selection().overrides == {"f": "a test value"}
    assert [f.id for f in with_reason.override("f", "").blocking] == ["f"]


def test_findings_outside_of_changes_need_a_reason_or_a_rejected_file() -> None:
    review = Review(three_hunks(findings=(finding(None, name="file"), finding(1, name="same"), finding(99, name="x"))))
    assert len(review.decide_rest(A).blocking) == 3
    assert review.decide_rest(X).blocking == ()
    elsewhere = Review(three_hunks(findings=(finding(2, path="unchanged.md"),))).decide_rest(X)
    assert len(elsewhere.blocking) == 1
    assert elsewhere.unit_of_finding(finding(2, path="unchanged.md")) is None


def test_findings_of_the_dry_application_count_until_the_next_decision() -> None:
    review = Review(three_hunks()).decide_rest(A)
    checked = review.with_checked((finding(2, name="after"), finding(3, severity=Severity.INFO, name="i")))
    assert [f.id for f in checked.blocking] == ["after"]
    assert checked.override("after", "known").blocking == ()
    assert checked.decide(checked.units[0].key, X).blocking == ()
    assert checked.undo() is review.previous


def test_a_finding_lies_in_the_part_that_holds_its_line() -> None:
    plan = plan_of(text_change("n.md", None, "1\n2\n3\n4\n"), text_change("gone.md", "x\n", None))
    review = Review(plan).split("n.md", plan.changes[0].hunks[0].id, (0, 0), (0, 2))
    assert review.unit_of_finding(finding(2, path="n.md")) == review.units[0]
    assert review.unit_of_finding(finding(3, path="n.md")) == review.units[1]
    assert review.unit_of_finding(finding(None, path="gone.md")) == review.units[2]


def test_notes_travel_with_the_selection_by_hunk() -> None:
    plan = plan_of(text_change("n.md", "a\n", "1\n2\n"), text_change("gone.md", "x\n", None))
    hunk = plan.changes[0].hunks[0].id
    review = Review(plan)
    noted = review.note(review.units[0].key, " not durable ").note("gone.md:*", "keep it").decide_rest(X)
    assert noted.selection().notes == {hunk: "not durable", "gone.md:*": "keep it"}
    assert noted.note("gone.md:*", " ").notes == {review.units[0].key: "not durable"}
    parts = review.split("n.md", hunk, (0, 0), (0, 1)).decide_rest(X)
    for unit in parts.units[:2]:
        parts = parts.note(unit.key, unit.kind)
    assert parts.selection().notes == {hunk: "part; part"}


# --- threads ---


def thread_plan() -> Plan:
    raw = RAW_HEAD + section("t1") + section("t2")
    return plan_of(
        text_change("MEMORY.md", None, "# Memory\n\n# Task Group: a\n\n- x\n\n# Task Group: b\n\n- y\n"),
        text_change("raw_memories.md", None, raw, "thread"),
        text_change("rollout_summaries/a.md", None, "thread_id: t1\ncwd: /x\n\nS\n", "thread"),
        text_change("rollout_summaries/b.md", None, "thread_id: t2\ncwd: /x\n\nS\n", "thread"),
        text_change("rollout_summaries/c.md", None, "no header\n", "thread"),
    )


def test_inputs_are_decided_per_thread_and_artifacts_per_hunk() -> None:
    review = Review(thread_plan())
    assert [unit.kind for unit in review.units] == ["hunk"] * 3 + ["header", "thread", "thread", "file"]
    assert [len(unit.members) for unit in review.units if unit.kind == "thread"] == [2, 2]
    assert len(review.deciding) == 6
    assert review.undecided_in("raw_memories.md") == (2, 2)
    assert review.undecided_in("rollout_summaries/a.md") == (1, 1)


def test_leaving_a_thread_out_leaves_its_section_and_summary_out() -> None:
    plan = thread_plan()
    review = Review(plan).decide("thread:t2", X).decide_rest(A)
    header = review.units[3]
    assert review.mark(header.key).decision is A
    selection = review.selection()
    raw = plan.changes[1]
    assert selection.accepted["raw_memories.md"] == (raw.hunks[0].id, raw.hunks[1].id)
    assert selection.rejected["raw_memories.md"] == (raw.hunks[2].id,)
    assert selection.accepted["rollout_summaries/a.md"] == (WHOLE,)
    assert selection.rejected["rollout_summaries/b.md"] == (WHOLE,)
    assert result_bytes(None, raw, selection) == (RAW_HEAD + section("t1")).encode()
    assert review.left_out == {"t2"}
    assert "rollout_summaries/b.md" not in review.taken_paths
    assert {"MEMORY.md", "raw_memories.md", "rollout_summaries/a.md"} <= review.taken_paths


def test_all_threads_or_none_are_the_whole_file() -> None:
    plan = thread_plan()
    assert all_accepted(plan).accepted["raw_memories.md"] == (WHOLE,)
    none = Review(plan).decide_rest(X).selection()
    assert none.rejected["raw_memories.md"] == (WHOLE,)
    assert none.accepted == {}
    assert Review(plan).mark(Review(plan).units[3].key).decision is U


def test_a_changed_section_finds_its_thread_by_the_text_above_it() -> None:
    old = RAW_HEAD + section("t1") + section("t2", "one\ntwo")
    new = RAW_HEAD + section("t1") + section("t2", "one\n2")
    plan = plan_of(
        text_change("raw_memories.md", old, new, "thread"),
        text_change(
            "rollout_summaries/b.md", "thread_id: t2\n" + "x\n" * 20 + "S\n", "thread_id: t2\n" + "x\n" * 20, "thread"
        ),
    )
    known = Review(plan, {"raw_memories.md": new, "rollout_summaries/b.md": "thread_id: t2\n"})
    assert [unit.key for unit in known.units] == ["thread:t2"]
    unknown = Review(plan)
    assert [unit.kind for unit in unknown.units] == ["header", "file"]
    assert len(unknown.deciding) == 2
    assert unknown.decide_rest(A).selection().accepted["raw_memories.md"] == (WHOLE,)


def test_whole_units_cannot_be_edited() -> None:
    review = Review(thread_plan())
    with pytest.raises(RefusedError, match="decided as a whole"):
        review.edit("thread:t1", ("x\n",))


def test_the_temporary_diff_file_can_never_be_chosen() -> None:
    plan = plan_of(text_change("phase2_workspace_diff.md", None, "x\n"), text_change("a.md", None, "x\n"))
    assert [unit.path for unit in Review(plan).units] == ["a.md"]
    assert list(all_accepted(plan).accepted) == ["a.md"]


# --- rebase ---


def test_decisions_survive_a_rebase_where_the_change_is_the_same() -> None:
    review = Review(three_hunks(findings=(finding(3),)))
    one, two, three = review.units
    review = review.decide([one.key, two.key], A).decide(three.key, X).note(one.key, "n").override("f", "ok")
    moved = plan_of(
        text_change("notes.md", "top\n" + OLD, "top\n" + NEW.replace("added b", "added c")), findings=(finding(4),)
    )
    rebased = review.rebase(moved)
    assert [rebased.mark(unit.key).decision for unit in rebased.units] == [A, A, U]
    assert rebased.notes == {one.key: "n"}
    assert rebased.overrides == {"f": "ok"}
    assert rebased.previous is None
    assert review.rebase(plan_of(text_change("notes.md", OLD, NEW))).overrides == {}


def test_a_whole_file_survives_only_with_equal_content() -> None:
    review = Review(plan_of(text_change("gone.md", "x\n", None))).decide_rest(A)
    assert review.rebase(plan_of(text_change("gone.md", "x\n", None))).undecided == ()
    assert len(review.rebase(plan_of(text_change("gone.md", "y\n", None))).undecided) == 1


def test_splits_survive_with_their_hunk() -> None:
    plan = plan_of(text_change("n.md", None, "1\n2\n"))
    hunk = plan.changes[0].hunks[0].id
    review = Review(plan).split("n.md", hunk, (0, 0), (0, 1)).decide_rest(A)
    again = review.rebase(plan_of(text_change("n.md", None, "1\n2\n"), text_change("z.md", None, "z\n")))
    assert len(again.units) == 3
    assert [unit.path for unit in again.undecided] == ["z.md"]
    assert review.rebase(plan_of(text_change("n.md", None, "1\n"))).splits == {}


# --- the command line ---


def test_without_flags_everything_is_accepted() -> None:
    plan = three_hunks(findings=(finding(3),))
    selection = from_flags(plan)
    assert selection.accepted == {"notes.md": tuple(h.id for h in plan.changes[0].hunks)}
    assert from_flags(plan, overrides={"f": "ok"}).overrides == {"f": "ok"}
    assert result(plan, selection) == NEW


def test_flags_name_hunks_and_files() -> None:
    plan = three_hunks()
    ids = [h.id for h in plan.changes[0].hunks]
    some = from_flags(plan, accept=[f"notes.md:{ids[1]}"], rest="reject")
    assert (some.accepted, some.rejected) == ({"notes.md": (ids[1],)}, {"notes.md": (ids[0], ids[2])})
    other = from_flags(plan, reject=[f"notes.md:{ids[1]}"], rest="accept")
    assert other.accepted == {"notes.md": (ids[0], ids[2])}
    assert from_flags(plan, accept=["notes.md:*"], rest="reject").rejected == {}
    assert from_flags(plan, rest="reject").accepted == {}


def test_flags_reach_whole_files_by_star_and_by_hunk() -> None:
    plan = plan_of(text_change("gone.md", "x\n", None), *thread_plan().changes)
    gone = plan.changes[0].hunks[0].id
    assert from_flags(plan, accept=[f"gone.md:{gone}"], rest="reject").accepted == {"gone.md": (WHOLE,)}
    one = from_flags(plan, accept=["rollout_summaries/a.md:*"], rest="reject")
    assert set(one.accepted) == {"raw_memories.md", "rollout_summaries/a.md"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"accept": ["notes.md:*"]}, "say nothing of the other hunks"),
        ({"accept": ["nope.md:*"], "rest": "reject"}, "names no changed file"),
        ({"accept": ["notes.md"], "rest": "reject"}, "names no changed file"),
        ({"accept": ["notes.md:abc"], "rest": "reject"}, "has no hunk 'abc'"),
        ({"accept": ["notes.md:*"], "reject": ["notes.md:*"], "rest": "reject"}, "both accepted and rejected"),
    ],
)
def test_flags_that_cannot_be_meant(flags: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_flags(three_hunks(), **flags)  # type: ignore[arg-type]


# --- the whole of it ---

LINES = st.lists(st.sampled_from(["a", "b", "c\r", "# h", ""]), max_size=12)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXTS, TEXTS, st.randoms(use_true_random=False))
@settings(max_examples=80)
def test_a_result_is_base_plus_accepted_units(old: str, new: str, chance: random.Random) -> None:
    plan = plan_of(text_change("notes.md", old, new))
    review = Review(plan)
    for unit in list(review.units):
        if unit.kind == "hunk" and chance.random() < 0.5:
            was, now = review.lines_of(unit.members[0])
            a, c = chance.randint(0, len(was)), chance.randint(0, len(now))
            if (a, c) not in ((0, 0), (len(was), len(now))):
                review = review.split("notes.md", unit.members[0].hunk, (0, a), (0, c))
    for unit in review.units:
        review = review.decide(unit.key, chance.choice([A, X]))
    selection = review.selection()
    assert from_flags(plan).plan_digest == selection.plan_digest
    if not plan.changes:
        return
    expected: list[str] = []
    at = 0
    lines = split_lines(old)
    for hunk in plan.changes[0].hunks:
        expected += lines[at : hunk.old_start]
        for unit in review.by_member.get(("notes.md", hunk.id), review.units):
            if unit.kind == "file":
                expected += hunk.new if review.mark(unit.key).decision is A else hunk.old
            else:
                expected += review.result_of(unit)
        at = hunk.old_start + len(hunk.old)
    expected += lines[at:]
    expected = [e for e in expected if e]
    ending = "\r\n" if "\r\n" in old else "\n"
    joined = "".join(
        line if line.endswith("\n") or i == len(expected) - 1 else line + ending for i, line in enumerate(expected)
    )
    assert (result(plan, selection, old) or "") == joined
