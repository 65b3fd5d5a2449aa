"""The audit over the real store, git and readers: looking writes nothing, a sitting only appends, repairs are plans."""

from __future__ import annotations

import asyncio
import io
import json
from base64 import b64encode
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from ltmem_gui.cli.main import Surfaces
from ltmem_gui.cli.main import run as run_command
from ltmem_gui.domain.anchors import LocationStatus
from ltmem_gui.domain.audit import Support, Verdicts
from ltmem_gui.domain.audit_evidence import EXTRACTED, EvidenceChange
from ltmem_gui.domain.audit_frames import draw
from ltmem_gui.domain.audit_queue import AuditQueue
from ltmem_gui.domain.audit_repairs import Repair, anchored
from ltmem_gui.domain.audit_report import read_json_lines, to_json_lines
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    Cancelled,
    GrantMissing,
    GrantReused,
    InputError,
    StalePlan,
    UsageError,
    WorkspaceMoved,
)
from ltmem_gui.domain.plan import FileChange, Hunk, Plan, PlanState, load_plan
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.pipeline.audit import Audit
from ltmem_gui.pipeline.audit_reports import FORMATS, ReportWish, make_report
from ltmem_gui.pipeline.audit_sitting import Sitting
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import UndoOffer
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex

T = TypeVar("T")
FIRST, SECOND = thread_id(0, NOW - DAY), thread_id(1, NOW - 2 * DAY)
SECRET = "ghp_" + "R7kQ2vX9mZ4tL1pW8sD3yB6nC5hJ0fGaUeTi"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    write_codex(
        bench.sessions,
        [("user", "Always run pnpm test in this repo, never npm."), ("assistant", "ok")],
        number=0, at=NOW - DAY, cwd="/p",
    )  # fmt: skip
    write_codex(
        bench.sessions, [("user", "Never use tabs here, always use spaces.")], number=1, at=NOW - 2 * DAY, cwd="/q"
    )

    async def write() -> None:
        await bench.apply(await bench.plan_extract())
        await bench.apply(await bench.plan_consolidate())

    run(write())
    guard.granted = False
    return bench


def load(bench: Bench, **more: Any) -> Audit:
    changes = more.pop("request", {})
    return run(
        Operations(bench).audit.load(
            bench.request(**changes), cancel=more.pop("cancel", CancelToken()), listen=bench.events.append, **more
        )
    )


def begin(bench: Bench, plan: Plan) -> Sitting:
    return run(begun(bench, plan))


async def begun(bench: Bench, plan: Plan) -> Sitting:
    operations = Operations(bench)
    grant = await operations.approve(plan, all_accepted(plan), approver="me", surface="window")
    return await operations.audit.open_sitting(grant)


def change_memory(bench: Bench, guard: Guard, old: str, new: str) -> None:
    path = bench.memory / "MEMORY.md"
    with guard.grant():
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")


def test_looking_pairs_claims_with_what_sessions_say_and_writes_nothing(bench: Bench, guard: Guard) -> None:
    before = tree(bench.memory)
    audit = load(bench, with_usage=True)
    assert [(one.claim, one.evidence) for one in audit.found.items] == [
        ('"Always run pnpm test in this repo, never npm."', "Always run pnpm test in this repo, never npm."),
        ('"Never use tabs here, always use spaces."', "Never use tabs here, always use spaces."),
    ]
    assert {one.location.status for one in audit.found.items} == {LocationStatus.EXACT}
    assert all(one.is_new for one in audit.found.items)
    assert audit.sessions == {FIRST, SECOND}
    assert audit.notes == ()
    assert audit.kept[FIRST].startswith("never used; made ")
    assert tree(bench.memory) == before


def test_a_day_later_nothing_is_new(bench: Bench) -> None:
    bench.now += 2 * DAY
    assert not any(one.is_new for one in load(bench).found.items)


def test_lines_that_came_with_the_last_apply_are_new(bench: Bench) -> None:
    bench.now += DAY
    write_codex(bench.sessions, [("user", "Always use uv in this repo, never pip.")], number=2, at=NOW, cwd="/r")

    async def again() -> None:
        await bench.apply(await bench.plan_extract())
        await bench.apply(await bench.plan_consolidate())

    run(again())
    new = [one.claim for one in load(bench).found.items if one.is_new]
    assert new == ['"Always use uv in this repo, never pip."']


def test_files_that_went_and_files_that_are_no_text_do_not_stop_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(bench.apply(run(bench.plan_consolidate(exclude=frozenset({FIRST})))))
    (only,) = load(bench).found.items
    assert not only.is_new
    old = b64encode(
        b"\xff\n" + (bench.memory / "MEMORY.md").read_bytes().replace(b"# Task Group", b"# Another")
    ).decode()
    change = FileChange(path="MEMORY.md", change="modified", unit="whole", content=old)
    offer = UndoOffer("d", 0, (change,))
    monkeypatch.setattr(Bench, "undo", SimpleNamespace(offer=lambda *_: offer))
    assert not load(bench).found.items[0].is_new
    line = load(bench).found.items[0].claim_lines[0]
    hunk = Hunk(id="h", old_start=line - 1, old=("x\n",), new_start=line - 1, new=())
    offer = UndoOffer("d", 0, (change.model_copy(update={"content": None, "hunks": (hunk,)}),))
    assert load(bench).found.items[0].is_new
    change = change.model_copy(update={"content": b64encode(b"\xff\n").decode()})
    offer = UndoOffer("d", 0, (change,))
    assert load(bench).found.items[0].is_new


def test_a_file_that_goes_while_it_is_read_has_no_lines(
    bench: Bench, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_memory(bench, guard, f"rollout:{FIRST}:3-3", f"rollout:{FIRST}:3-99")
    rollouts = bench.rollouts
    loading = rollouts.load

    def load_and_lose(ref: RolloutRef) -> Any:
        rollout = loading(ref)
        return replace(rollout, path=f"{rollout.path[:-6]}.gone.jsonl")

    monkeypatch.setattr(rollouts, "load", load_and_lose)
    assert load(bench).found.items[0].location.status is LocationStatus.NOT_CHECKED


def test_sessions_that_are_not_named_are_not_opened(bench: Bench, guard: Guard) -> None:
    guard.watch(bench.sessions)
    audit = load(bench, request={"sources": ()})
    assert guard.reads == []
    assert {one.location.status for one in audit.found.items} == {LocationStatus.NOT_CHECKED}
    assert {one.evidence for one in audit.found.items} == {""}


def test_only_cited_sessions_are_read_and_scanned_ones_are_not_looked_up_again(bench: Bench, guard: Guard) -> None:
    other = write_codex(bench.sessions, [("user", "What is the time?")], number=9, at=NOW - DAY, cwd="/z")
    found = bench.rollouts.discover(bench.request().sources, limit=99, cancel=CancelToken(), listen=bench.events.append)
    guard.watch(bench.sessions)
    audit = load(bench, refs=found.refs)
    assert str(other) not in guard.reads
    assert len({name for name in guard.reads if name.endswith(".jsonl")}) == 2
    assert thread_id(9, NOW - DAY) in audit.sessions


def test_what_agents_cited_is_counted(bench: Bench) -> None:
    block = f"Done.<oai-mem-citation><rollout_ids>\n{FIRST}\n</rollout_ids></oai-mem-citation>"
    write_codex(bench.sessions, [("user", "Go on"), ("assistant", block)], number=5, at=NOW - 100, cwd="/p")
    audit = load(bench, with_usage=True)
    assert audit.usage[FIRST].count == 1
    assert "cited 1× in the sessions that were read" in audit.kept[FIRST]


def test_lines_behind_the_last_item_are_counted_in_the_file(bench: Bench, guard: Guard) -> None:
    change_memory(bench, guard, f"rollout:{FIRST}:3-3", f"rollout:{FIRST}:6-6")
    change_memory(bench, guard, f"rollout:{SECOND}:3-3", f"rollout:{SECOND}:3-99")
    first, second = load(bench).found.items
    # The last line of the file holds an event and nothing that was said.
    assert (first.location.status, first.evidence) == (LocationStatus.EXACT, "")
    assert second.location.status is LocationStatus.OUT_OF_RANGE


def test_what_cannot_be_read_is_said(bench: Bench, guard: Guard) -> None:
    change_memory(bench, guard, "Always run pnpm", "Always run the pnpm")
    gone = RolloutRef("codex", str(bench.sessions / "gone.jsonl"), 1, 1, FIRST)
    audit = load(bench, refs=(gone,))
    assert len(audit.notes) == 2
    assert "gone.jsonl" in audit.notes[0]
    assert "cannot be told" in audit.notes[1]
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        load(bench, cancel=token)


def test_a_folder_must_be_named_and_there(bench: Bench) -> None:
    with pytest.raises(UsageError, match="memory folder"):
        load(bench, request={"memory_root": None})
    with pytest.raises(InputError, match="no such folder"):
        load(bench, request={"memory_root": bench.place / "nowhere"})
    with pytest.raises(UsageError, match="memory folder"):
        run(Operations(bench).audit.plan_repairs(bench.request(memory_root=None), ()))


def test_a_secret_in_the_evidence_is_a_smell_and_never_in_a_report(bench: Bench, guard: Guard) -> None:
    path = next(bench.sessions.rglob(f"*{FIRST}.jsonl"))
    path.write_text(path.read_text().replace("never npm.", f"never npm. token={SECRET}"))
    assert load(bench).found.items[0].location.status is LocationStatus.MISSING_TEXT
    with guard.grant(), bench.stores.writing(bench.home) as store:
        known = tuple(record.key for record in store.evidence(EXTRACTED))
        store.change_evidence(EXTRACTED, EvidenceChange(gone=known))
    audit = load(bench)
    first = audit.found.items[0]
    assert SECRET in first.evidence
    assert "secret in evidence" in first.smells
    report = run(make_report(bench, audit, ReportWish(), program="LTMem 1"))
    for form in FORMATS.values():
        assert SECRET not in form(report)
    data, count = run(Operations(bench).audit.report(bench.request(), ReportWish(), "csv", program="LTMem 1"))
    assert SECRET.encode() not in data
    assert count >= 1
    assert read_json_lines(to_json_lines(report), where="x") == report


# drift


@pytest.fixture
def cited(bench: Bench) -> Bench:
    """A folder whose first bullet cites a summary, under a baseline that holds both."""
    path = next(path for path in (bench.memory / "rollout_summaries").iterdir() if "pnpm" in path.name)
    place = path.relative_to(bench.memory).as_posix()
    number = next(n for n, line in enumerate(path.read_text().split("\n"), 1) if line.startswith("- "))
    first = load(bench).found.items[0]
    text = (bench.memory / "MEMORY.md").read_text()
    row = text.split("\n")[first.line - 1]
    new = text.replace(row, f"{place}:{number}-{number} |note=[c1 said]")

    async def write() -> None:
        plan = await Operations(bench).audit.plan_repairs(bench.request(), (Repair("fix note", first, note="x"),))
        edited = {"MEMORY.md": {plan.changes[0].hunks[0].id: (new.split("\n")[first.line - 1] + "\n",)}}
        selection = Selection(plan_digest=plan.digest, edited=edited)
        grant = await Operations(bench).approve(plan, selection, approver="me", surface="window")
        await Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append)

    run(write())
    return bench


def test_lines_that_were_moved_by_hand_are_found_and_re_anchored(cited: Bench, guard: Guard) -> None:
    first = load(cited).found.items[0]
    assert first.location.status is LocationStatus.EXACT
    path = cited.memory / first.entry.path
    with guard.grant():
        path.write_text(path.read_text().replace("Preference signals:", "more\nand more\nPreference signals:"))
    moved = load(cited).found.items[0]
    assert moved.location.label == "moved +2"
    assert moved.evidence == first.evidence
    guard.granted = False
    plan = run(Operations(cited).audit.plan_repairs(cited.request(), (anchored(moved),)))
    run(cited.apply(plan))
    again = load(cited).found.items[0]
    assert (again.location.status, again.evidence) == (LocationStatus.EXACT, first.evidence)
    assert again.entry.start == first.entry.start + 2


def test_the_command_line_plans_every_re_anchoring_at_once(cited: Bench, guard: Guard) -> None:
    def call() -> tuple[int, str]:
        out = io.StringIO()
        surfaces = Surfaces(compose=lambda home: cited, launch_window=lambda options: 0)
        argv = ["cite", "audit", "reanchor", "--json", "--home", str(cited.home), "--memory-root", str(cited.memory)]
        return run_command(argv, surfaces, io.StringIO(), out, out), out.getvalue()

    assert call()[0] == 3
    path = cited.memory / load(cited).found.items[0].entry.path
    with guard.grant():
        path.write_text(path.read_text().replace("Preference signals:", "more\nPreference signals:"))
    code, out = call()
    assert code == 0
    run(cited.apply(load_plan(out, where="x")))
    assert load(cited).found.items[0].location.status is LocationStatus.EXACT
    assert call()[0] == 3


def test_lines_that_are_gone_are_never_replaced_by_their_numbers(cited: Bench, guard: Guard) -> None:
    first = load(cited).found.items[0]
    path = cited.memory / first.entry.path
    with guard.grant():
        path.write_text(path.read_text().replace(first.evidence, "- something else was written over it"))
    found = load(cited).found.items[0]
    assert not found.location.status.resolves
    assert found.evidence == ""


def test_a_citation_newer_than_the_baseline_is_taken_at_its_word(cited: Bench, guard: Guard) -> None:
    first = load(cited).found.items[0]
    path = cited.memory / first.entry.path
    with guard.grant():
        path.write_text("new first line\n" + path.read_text())
    change_memory(cited, guard, f":{first.entry.start}-{first.entry.end} |", ":1-1 |")
    found = load(cited).found.items[0]
    assert (found.location.status, found.evidence) == (LocationStatus.EXACT, "new first line")


def test_objects_that_cannot_be_read_are_said(cited: Bench, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise InputError("damaged")

    monkeypatch.setattr(Bench, "memory_objects", fail)
    assert load(cited).notes == ()
    path = cited.memory / load(cited).found.items[0].entry.path
    with guard.grant():
        path.write_text("x\n" + path.read_text())
    assert any("at the baseline cannot be told: damaged" in note for note in load(cited).notes)


# sittings


def test_a_sitting_is_confirmed_once_and_appends_its_own_verdicts(bench: Bench, guard: Guard) -> None:
    before = tree(bench.memory)
    audit = load(bench)
    frame, drawn = draw(audit.found.items, "random", size=2, seed=7)
    plan = run(Operations(bench).audit.plan_sitting(bench.request(), "ann", frame.name))
    assert [effect.type for effect in plan.effects] == ["StoreVerdicts"]
    assert (plan.kind, plan.operation, plan.base, plan.changes) == ("apply", "audit", None, ())

    async def sit() -> None:
        sitting = await begun(bench, plan)
        walk = AuditQueue(drawn, audit.records, rater="ann", frame=frame.name)
        for note in ("", f"see {SECRET}"):
            record = walk.judge(Support.SUPPORTS, at=bench.now, note=note)
            assert record is not None
            stored = await sitting.append(record)
            assert SECRET not in stored.note
            bench.now += 3_600  # longer than an approval lives
        undone = walk.undo(at=bench.now)
        assert undone is not None
        await sitting.append(undone)
        for wrong in (replace(record, rater="bob"), replace(record, frame="another")):
            with pytest.raises(GrantMissing, match="does not cover"):
                await sitting.append(wrong)
        assert sitting.count == 3
        receipt = await sitting.close()
        assert (receipt.operation, receipt.counts, receipt.files) == ("audit", {"verdicts": 3}, ())
        with pytest.raises(GrantMissing, match="does not cover"):
            await sitting.append(undone)
        with pytest.raises(GrantMissing, match="ended"):
            await sitting.close()

    run(sit())
    after = load(bench)
    assert [record.verdict for record in after.records] == ["supports", "supports", "undo"]
    assert AuditQueue(drawn, after.records, rater="ann", frame=frame.name).progress == (1, 2)
    assert tree(bench.memory) == before
    with bench.stores.reading(bench.home) as store:
        assert store.verify_log() is None
        assert store.receipts()[-1].operation == "audit"
    for path in bench.home.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()


def test_a_sitting_creates_a_data_folder_only_when_the_plan_says_so(bench: Bench, guard: Guard, tmp_path: Path) -> None:
    home = tmp_path / "other"
    guard.protect(home)
    plan = run(Operations(bench).audit.plan_sitting(bench.request(home=home), "ann", "f"))
    assert [effect.type for effect in plan.effects] == ["CreateDataFolder", "StoreVerdicts"]
    assert not home.exists()
    run(begin(bench, plan).close())
    assert home.is_dir()


def test_no_other_grant_begins_a_sitting_and_none_begins_two(bench: Bench) -> None:
    operations = Operations(bench)
    plan = run(operations.audit.plan_sitting(bench.request(), "ann", "f"))

    async def reuse() -> None:
        grant = await operations.approve(plan, all_accepted(plan), approver="me", surface="window")
        await operations.audit.open_sitting(grant)
        with pytest.raises(GrantReused):
            await operations.audit.open_sitting(grant)
        other = await bench.grant(await bench.plan_consolidate(exclude=frozenset({FIRST})))
        with pytest.raises(GrantMissing, match="not for a sitting"):
            await operations.audit.open_sitting(other)

    run(reuse())


def test_a_sitting_that_ended_is_not_begun_again(bench: Bench) -> None:
    plan = run(Operations(bench).audit.plan_sitting(bench.request(), "ann", "f"))

    async def twice() -> None:
        grant = await bench.grant(plan)
        await (await begun(bench, plan)).close()
        with pytest.raises(AlreadyApplied):
            await Operations(bench).audit.open_sitting(grant)

    run(twice())


def test_a_data_folder_that_is_gone_is_not_made_again(bench: Bench, guard: Guard) -> None:
    plan = run(Operations(bench).audit.plan_sitting(bench.request(), "ann", "f"))

    async def gone() -> None:
        grant = await bench.grant(plan)
        with guard.grant():
            bench.home.rename(bench.place / "away")
        with pytest.raises(StalePlan, match="gone"):
            await Operations(bench).audit.open_sitting(grant)
        assert not bench.home.exists()

    run(gone())


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, "a\u202eb", " a"])
def test_names_are_names(bench: Bench, name: str) -> None:
    for rater, frame in ((name, "f"), ("ann", name)):
        with pytest.raises(UsageError, match="no name of"):
            run(Operations(bench).audit.plan_sitting(bench.request(), rater, frame))


def test_verdicts_of_a_forgotten_session_are_forgotten(bench: Bench) -> None:
    audit = load(bench)

    async def sit_and_forget() -> None:
        plan = await Operations(bench).audit.plan_sitting(bench.request(), "ann", "f")
        sitting = await begun(bench, plan)
        walk = AuditQueue(audit.found.items, (), rater="ann", frame="f")
        for _ in range(2):
            record = walk.judge(Support.PARTLY, at=1, note="only half")
            assert record is not None
            await sitting.append(record)
        await sitting.close()
        forget = await Operations(bench).plan_forget(
            bench.request(), FIRST, cancel=CancelToken(), listen=bench.events.append
        )
        await bench.apply(forget)

    run(sit_and_forget())
    assert [record.thread_ids for record in load(bench).records] == [(SECOND,)]


# reports and import


def test_a_report_is_imported_elsewhere_as_a_plan_once(bench: Bench, guard: Guard, tmp_path: Path) -> None:
    audit = load(bench)
    operations = Operations(bench)

    async def sit(rater: str, support: Support) -> None:
        sitting = await begun(bench, await operations.audit.plan_sitting(bench.request(), rater, "f"))
        walk = AuditQueue(audit.found.items, (), rater=rater, frame="f")
        while (record := walk.judge(support, at=bench.now, note="seen")) is not None:
            await sitting.append(record)
        await sitting.close()

    run(sit("ann", Support.SUPPORTS))
    run(sit("bob", Support.PARTLY))
    report = run(make_report(bench, load(bench), ReportWish(rater="ann"), program="LTMem 1"))
    assert "2 with no error" in report.head.coverage[-1]
    assert len(report.head.agreement) == 1
    again = read_json_lines(to_json_lines(report), where="x")
    assert again == report

    home = tmp_path / "other"
    guard.granted = False
    guard.protect(home)
    plan = run(operations.audit.plan_import(bench.request(home=home), again.verdict_records))
    assert [effect.type for effect in plan.effects] == ["CreateDataFolder", "StoreVerdicts", "StoreVerdicts"]
    assert not home.exists()
    receipt = run(bench.apply(plan))
    assert receipt.counts == {"verdicts": 4}
    with bench.stores.reading(home) as store:
        assert sorted(map(repr, store.verdicts())) == sorted(map(repr, load(bench).records))
    empty = run(operations.audit.plan_import(bench.request(home=home), again.verdict_records))
    assert empty.state is PlanState.EMPTY


def test_a_report_names_sessions_nobody_cites(bench: Bench) -> None:
    for number in range(6):
        write_codex(bench.sessions, [("user", "Hello")], number=20 + number, at=NOW - DAY, cwd="/z")
    report = run(make_report(bench, load(bench), ReportWish("stratified", 1, 2, "file"), program="LTMem 1"))
    assert report.head.notes[0].startswith("6 sessions are never cited: ")
    assert report.head.notes[0].endswith("and 1 more")
    assert (report.head.method, report.head.drawn, report.head.population) == ("stratified", 1, 2)


# repairs


def test_repairs_come_to_the_folder_only_through_review(bench: Bench, guard: Guard) -> None:
    audit = load(bench)
    before = tree(bench.memory)
    first, second = audit.found.items
    repairs = (Repair("remove claim", first), Repair("fix note", second, note="asked for spaces"))
    plan = run(Operations(bench).audit.plan_repairs(bench.request(), repairs))
    assert (plan.operation, plan.state, plan.findings) == ("reanchor", PlanState.APPLYABLE, ())
    assert [change.path for change in plan.changes] == ["MEMORY.md"]
    assert "UpdateJobs" in [effect.type for effect in plan.effects]
    assert tree(bench.memory) == before
    run(bench.apply(plan))
    text = (bench.memory / "MEMORY.md").read_text("utf-8")
    assert 'pnpm test in this repo, never npm." [Task' not in text
    assert f"rollout:{FIRST}:3-3" not in text
    assert f"rollout:{SECOND}:3-3 |note=[c1 asked for spaces]" in text
    with bench.stores.reading(bench.home) as store:
        assert len(store.selected_rows()) == 2
    (left,) = load(bench).found.items
    assert left.claim == second.claim


def test_a_repair_of_a_folder_that_moved_is_refused(bench: Bench, guard: Guard) -> None:
    audit = load(bench)
    repair = Repair("re-anchor", audit.found.items[0], 1, 2)
    plan = run(Operations(bench).audit.plan_repairs(bench.request(), (repair,)))
    change_memory(bench, guard, "never npm", "not npm")
    with pytest.raises(WorkspaceMoved):
        run(bench.apply(plan))
    change_memory(bench, guard, "# Task Group: p", "\n# Task Group: p")
    with pytest.raises(StalePlan, match="not on its line"):
        run(Operations(bench).audit.plan_repairs(bench.request(), (repair,)))


def test_no_repair_is_an_empty_plan(bench: Bench) -> None:
    plan = run(Operations(bench).audit.plan_repairs(bench.request(), ()))
    assert (plan.state, plan.effects) == (PlanState.EMPTY, ())


def test_a_re_anchored_citation_keeps_its_verdict_when_the_texts_are_the_same(bench: Bench) -> None:
    first = load(bench).found.items[0]
    verdicts = Verdicts([_said(first)], [])
    run(bench.apply(run(Operations(bench).audit.plan_repairs(bench.request(), (Repair("re-anchor", first, 3, 4),)))))
    moved = load(bench).found.items[0]
    assert moved.key != first.key
    standing = verdicts.of(moved, "ann")
    # Line 4 holds the event of the same message and no text: the evidence is what it was.
    assert standing is not None
    assert not standing.is_stale


def _said(one: Any) -> Any:
    record = AuditQueue([one], (), rater="ann", frame="f").judge(Support.SUPPORTS, at=1)
    assert record is not None
    return record


def test_plans_of_verdicts_survive_a_file(bench: Bench) -> None:
    plan = run(Operations(bench).audit.plan_import(bench.request(), [_said(load(bench).found.items[0])]))
    again = Plan.model_validate(json.loads(json.dumps(plan.model_dump(mode="json"))))
    again.verify()
    assert run(bench.apply(again)).counts == {"verdicts": 1}
