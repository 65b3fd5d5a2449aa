"""Small plans that change rows and nothing else: each row only while it is as the person saw it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt, Selection
from ltmem_gui.domain.effects import (
    InboxDecision,
    JobMark,
    SendToModel,
    StoreInboxDecisions,
    StoreOutputs,
    UpdateJobs,
)
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    Cancelled,
    GrantMissing,
    GrantReused,
    InputError,
    LockBusy,
    NothingToDo,
    ProviderError,
    RefusedError,
    StalePlan,
    UsageError,
    WrongDigest,
)
from ltmem_gui.domain.extraction import Candidate, ExtractionInput, ExtractionReply
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND, JobStatus, Owner
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import Store
from ltmem_gui.pipeline.row_apply import apply_rows
from ltmem_gui.pipeline.row_plans import InboxWish, plan_jobs_action
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex

FAILS, DONE, LINES = (thread_id(number, NOW - DAY) for number in range(3))
SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    """A queue of three: one failed, one is done, one left two lines in the inbox."""
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    for number in range(3):
        write_codex(bench.sessions, [("user", f"Rule {number}: use pnpm.")], number=number, at=NOW - DAY)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        if request.thread_id == FAILS:
            raise ProviderError("no answer in time", group="timeout")
        if request.thread_id == LINES:
            lines = (Candidate("we deploy on Fridays", 3, "fact", 60), Candidate("tabs are nicer", 3, "preference", 40))
            return reply("", "", inbox=lines)
        return reply()

    bench.script(answer)

    async def write() -> None:
        await bench.apply(await bench.plan_extract())

    asyncio.run(write())
    guard.granted = False
    return bench


def planned(bench: Bench, action: QueueAction, *threads: str, **changes: Any) -> Plan:
    operations = Operations(bench)
    wish = operations.plan_queue_action(
        bench.request(**changes), action, threads, cancel=CancelToken(), listen=bench.events.append
    )
    return asyncio.run(wish)


def decided(bench: Bench, *wishes: InboxWish) -> Plan:
    return asyncio.run(Operations(bench).plan_inbox(bench.request(), wishes))


def applied(bench: Bench, plan: Plan) -> Receipt:
    return asyncio.run(bench.apply(plan))


def line_ids(bench: Bench) -> dict[str, int]:
    return {line.text: line.id for line in asyncio.run(Operations(bench).inbox(bench.home))}


# --- jobs ---


def test_planning_changes_no_byte(bench: Bench) -> None:
    before = tree(bench.home)
    for action in (QueueAction.RETRY, QueueAction.HOLD, QueueAction.RELEASE, QueueAction.EXCLUDE, QueueAction.LIFT):
        plan = planned(bench, action, FAILS, DONE)
        assert (plan.base, plan.changes, plan.operation) == (None, (), "queue")
        plan.verify()
    assert tree(bench.home) == before
    assert not bench.memory.exists()


def test_retry_ends_the_back_off_and_says_why_not_of_the_others(bench: Bench) -> None:
    plan = planned(bench, QueueAction.RETRY, FAILS, DONE, "unknown", FAILS)
    assert plan.effects == (
        UpdateJobs(scope="stage1", count=1, action="retry", jobs=(JobMark(thread_id=FAILS, status=JobStatus.ERROR),)),
    )
    assert {skip.id: skip.reasons for skip in plan.skipped} == {
        DONE: ("it is done, with nothing new since",),
        "unknown": ("it has no job: nothing was tried yet",),
    }
    receipt = applied(bench, plan)
    assert (receipt.operation, receipt.counts, receipt.files) == ("queue", {"changed": 1}, ())
    job = bench.jobs()[FAILS]
    assert (job.status, job.retry_at, job.retry_remaining, job.error_group) == (JobStatus.PENDING, None, 3, "")
    assert len(job.attempts) == 1


def test_hold_and_release(bench: Bench) -> None:
    applied(bench, planned(bench, QueueAction.HOLD, FAILS, DONE))
    assert {bench.jobs()[thread].status for thread in (FAILS, DONE)} == {JobStatus.HELD}
    assert planned(bench, QueueAction.HOLD, FAILS).state is PlanState.EMPTY
    receipt = applied(bench, planned(bench, QueueAction.RELEASE, FAILS, DONE))
    assert receipt.counts == {"changed": 2}
    assert {bench.jobs()[thread].status for thread in (FAILS, DONE)} == {JobStatus.PENDING}


def test_a_row_that_changed_since_is_left_and_counted(bench: Bench) -> None:
    plan = planned(bench, QueueAction.HOLD, FAILS, DONE)
    applied(bench, planned(bench, QueueAction.RETRY, FAILS))
    receipt = applied(bench, plan)
    assert receipt.counts == {"changed": 1, "not as planned any more": 1}
    assert bench.jobs()[FAILS].status is JobStatus.PENDING


def test_a_plan_of_which_nothing_is_left_is_stale_and_leaves_no_receipt(bench: Bench) -> None:
    plan = planned(bench, QueueAction.RETRY, FAILS)
    applied(bench, planned(bench, QueueAction.RETRY, FAILS))
    receipts = asyncio.run(Operations(bench).receipts(bench.home))
    with pytest.raises(StalePlan, match="no row is as it was"):
        applied(bench, plan)
    assert asyncio.run(Operations(bench).receipts(bench.home)) == receipts


def test_leaving_out_and_taking_in_change_the_next_consolidation_alone(bench: Bench) -> None:
    applied(bench, planned(bench, QueueAction.EXCLUDE, DONE))
    assert not bench.memory.exists()
    assert asyncio.run(Operations(bench).excluded(bench.home)) == {DONE: "left out on a person's wish"}
    again = planned(bench, QueueAction.EXCLUDE, DONE)
    assert again.state is PlanState.EMPTY
    assert "left out already" in again.skipped[0].reasons[0]
    plan = asyncio.run(bench.plan_consolidate())
    assert DONE in {skip.id for skip in plan.skipped}
    stale = planned(bench, QueueAction.LIFT, DONE)
    applied(bench, planned(bench, QueueAction.LIFT, DONE))
    with pytest.raises(StalePlan):
        applied(bench, stale)
    assert asyncio.run(bench.plan_consolidate()).rows


def test_an_exclusion_made_twice_counts_once(bench: Bench) -> None:
    first, second = planned(bench, QueueAction.EXCLUDE, DONE, LINES), planned(bench, QueueAction.EXCLUDE, DONE)
    applied(bench, second)
    assert applied(bench, first).counts == {"changed": 1, "not as planned any more": 1}


def fail_consolidation(bench: Bench, guard: Guard) -> None:
    with guard.grant(), bench.stores.writing(bench.home) as store:
        claim = store.claim_global(bench.owner, now=bench.now, ignore_cooldown=True).claim
        assert claim is not None
        store.fail_global(claim, reason="internal error", now=bench.now)


def test_a_consolidation_that_failed_can_be_tried_again_at_once(bench: Bench, guard: Guard) -> None:
    fail_consolidation(bench, guard)
    with pytest.raises(LockBusy, match="after a failure"):
        applied(bench, asyncio.run(bench.plan_consolidate()))
    held = planned(bench, QueueAction.HOLD, GLOBAL_KEY)
    assert held.skipped[0].reasons == ("it is the consolidation: it can only be retried",)
    plan = planned(bench, QueueAction.RETRY, GLOBAL_KEY)
    assert applied(bench, plan).counts == {"changed": 1}
    assert planned(bench, QueueAction.RETRY, GLOBAL_KEY).state is PlanState.EMPTY
    applied(bench, asyncio.run(bench.plan_consolidate()))
    fail_consolidation(bench, guard)
    again = planned(bench, QueueAction.RETRY, GLOBAL_KEY)
    applied(bench, planned(bench, QueueAction.RETRY, GLOBAL_KEY))
    with pytest.raises(StalePlan):
        applied(bench, again)


# --- consent ---


def test_a_grant_is_used_once_and_a_plan_applied_once(bench: Bench) -> None:
    plan = planned(bench, QueueAction.HOLD, DONE)
    grant = asyncio.run(bench.grant(plan))
    operations = Operations(bench)
    asyncio.run(operations.apply(grant, cancel=CancelToken(), listen=bench.events.append))
    with pytest.raises(GrantReused):
        asyncio.run(operations.apply(grant, cancel=CancelToken(), listen=bench.events.append))
    with pytest.raises(AlreadyApplied):
        asyncio.run(bench.grant(plan))
    with bench.stores.reading(bench.home) as store:
        assert [entry.type for entry in store.log()][-2:] == ["approval", "receipt"]
        assert store.verify_log() is None


def test_two_grants_of_one_plan_are_carried_out_once(bench: Bench) -> None:
    plan = planned(bench, QueueAction.HOLD, DONE)
    grants = [asyncio.run(bench.grant(plan)) for _ in range(2)]
    operations = Operations(bench)
    asyncio.run(operations.apply(grants[0], cancel=CancelToken(), listen=bench.events.append))
    with pytest.raises(AlreadyApplied):
        asyncio.run(operations.apply(grants[1], cancel=CancelToken(), listen=bench.events.append))


def test_an_empty_plan_is_not_approved(bench: Bench) -> None:
    with pytest.raises(NothingToDo):
        applied(bench, planned(bench, QueueAction.RELEASE, DONE))


def test_a_cancelled_plan_changes_nothing(bench: Bench) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        asyncio.run(bench.apply(planned(bench, QueueAction.HOLD, DONE), cancel))
    assert bench.jobs()[DONE].status is JobStatus.DONE


@pytest.mark.parametrize(
    "effect",
    [
        UpdateJobs(scope="stage1", count=1, action="delete", jobs=(JobMark(thread_id=DONE, status=JobStatus.DONE),)),
        UpdateJobs(scope="stage1", count=1, action="forget", jobs=(JobMark(thread_id=DONE, status=JobStatus.DONE),)),
        UpdateJobs(scope="global", action="retry"),
        StoreOutputs(count=0, edited=({"thread_id": DONE, "raw_memory": "mine", "source_updated_at": "1"},)),
        SendToModel(provider="x", host="x", model="x", requests=1, tokens=1),
    ],
)
def test_a_plan_made_by_hand_does_no_more_than_rows(bench: Bench, effect: Any) -> None:
    plan = planned(bench, QueueAction.HOLD, FAILS)
    forged = plan.model_copy(update={"effects": (*plan.effects, effect)}).sealed()
    with pytest.raises(GrantMissing):
        applied(bench, forged)
    assert bench.jobs()[FAILS].status is JobStatus.ERROR


def test_a_job_seen_running_is_not_held_by_a_plan_made_by_hand(bench: Bench) -> None:
    mark = JobMark(thread_id=DONE, status=JobStatus.RUNNING)
    plan = planned(bench, QueueAction.HOLD, DONE)
    effect = UpdateJobs(scope="stage1", count=1, action="hold", jobs=(mark,))
    with pytest.raises(InputError, match="running"):
        applied(bench, plan.model_copy(update={"effects": (effect,)}).sealed())


def test_the_approval_must_be_for_this_plan(bench: Bench) -> None:
    plan, other = planned(bench, QueueAction.HOLD, DONE), planned(bench, QueueAction.HOLD, FAILS)
    grant = asyncio.run(bench.grant(other))
    grant.plan = plan
    with pytest.raises(WrongDigest):
        asyncio.run(apply_rows(bench, grant, cancel=CancelToken(), listen=bench.events.append))
    assert bench.jobs()[DONE].status is JobStatus.DONE


def test_a_plan_that_is_not_ready_is_refused(bench: Bench) -> None:
    plan = planned(bench, QueueAction.HOLD, DONE)
    grant = asyncio.run(bench.grant(plan))
    grant.plan = plan.model_copy(update={"state": PlanState.INCOMPLETE}).sealed()
    grant.selection = Selection(plan_digest=grant.plan.digest)
    grant.approval = grant.approval.model_copy(
        update={"plan_digest": grant.plan.digest, "selection_digest": grant.selection.digest}
    )
    with pytest.raises(RefusedError, match="incomplete"):
        asyncio.run(apply_rows(bench, grant, cancel=CancelToken(), listen=bench.events.append))


def test_a_folder_plan_is_no_row_plan(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    grant: ApplyGrant = asyncio.run(bench.grant(plan))
    with pytest.raises(GrantMissing):
        asyncio.run(apply_rows(bench, grant, cancel=CancelToken(), listen=bench.events.append))


def test_a_data_folder_that_is_gone_is_named(bench: Bench, guard: Guard) -> None:
    grant = asyncio.run(bench.grant(planned(bench, QueueAction.HOLD, DONE)))
    with guard.grant():
        bench.home.rename(bench.place / "moved")
    with pytest.raises(StalePlan, match="gone"):
        asyncio.run(Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append))
    assert not bench.home.exists()


def test_changes_of_rows_are_planned_as_such(bench: Bench) -> None:
    with pytest.raises(UsageError, match="plan of its own"):
        asyncio.run(plan_jobs_action(bench, bench.request(), QueueAction.SPLIT, [DONE]))


@pytest.mark.parametrize("action", [QueueAction.CANCEL, QueueAction.FORGET])
def test_other_actions_are_plans_of_their_own(bench: Bench, action: QueueAction) -> None:
    with pytest.raises(UsageError):
        planned(bench, action, FAILS, DONE)


def test_forgetting_one_is_the_plan_of_forgetting(bench: Bench) -> None:
    assert planned(bench, QueueAction.FORGET, DONE).operation == "forget"


# --- inbox ---


def test_the_inbox_lists_what_waits_best_first(bench: Bench) -> None:
    assert list(line_ids(bench)) == ["we deploy on Fridays", "tabs are nicer"]
    bench.now += 31 * DAY
    assert line_ids(bench) == {}


def test_taking_and_dropping(bench: Bench) -> None:
    ids = line_ids(bench)
    keep, drop = ids["we deploy on Fridays"], ids["tabs are nicer"]
    plan = decided(bench, InboxWish(keep, "take"), InboxWish(drop, "drop"), InboxWish(99, "take"))
    assert (plan.operation, plan.base, plan.state) == ("inbox", None, PlanState.APPLYABLE)
    assert [(skip.id, skip.reasons) for skip in plan.skipped] == [("99", ("it does not wait any more",))]
    receipt = applied(bench, plan)
    assert receipt.counts == {"dropped": 1, "taken": 1}
    assert line_ids(bench) == {}
    with bench.stores.reading(bench.home) as store:
        row = store.output(LINES)
        called = store.job(GLOBAL_KIND, GLOBAL_KEY)
    assert row is not None
    assert f"- we deploy on Fridays (rollout:{LINES}:3-3" in row.raw_memory
    assert "tabs" not in row.raw_memory
    assert called is not None
    assert called.status is JobStatus.PENDING
    assert "we deploy on Fridays" in json.dumps(
        [h.new for c in asyncio.run(bench.plan_consolidate()).changes for h in c.hunks]
    )


def test_new_words_are_redacted_before_they_are_in_the_plan(bench: Bench) -> None:
    line = line_ids(bench)["we deploy on Fridays"]
    plan = decided(bench, InboxWish(line, "reword", f" deploy on Mondays with {SECRET} "))
    assert SECRET not in plan.model_dump_json()
    assert any("1 secrets were taken out" in note for note in plan.notes)
    assert applied(bench, plan).counts == {"reworded": 1}
    with bench.stores.reading(bench.home) as store:
        row = store.output(LINES)
    assert row is not None
    assert "deploy on Mondays" in row.raw_memory
    assert "Fridays" not in row.raw_memory


def test_words_of_a_plan_from_elsewhere_are_redacted_again(bench: Bench) -> None:
    line = line_ids(bench)["we deploy on Fridays"]
    plan = decided(bench, InboxWish(line, "reword", "deploy"))
    decision = InboxDecision(
        line_id=line, thread_id=LINES, decision="reword", quote="we deploy on Fridays", text=f"use {SECRET}"
    )
    applied(bench, plan.model_copy(update={"effects": (StoreInboxDecisions(count=1, decisions=(decision,)),)}).sealed())
    for path in bench.home.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def test_only_the_line_that_was_shown_is_taken(bench: Bench) -> None:
    line = line_ids(bench)["we deploy on Fridays"]
    plan = decided(bench, InboxWish(line, "take"))
    decision = InboxDecision(line_id=line, thread_id=LINES, decision="take", quote="something harmless")
    forged = plan.model_copy(update={"effects": (StoreInboxDecisions(count=1, decisions=(decision,)),)}).sealed()
    with pytest.raises(StalePlan):
        applied(bench, forged)
    assert len(line_ids(bench)) == 2


def test_a_line_decided_meanwhile_is_counted_not_repeated(bench: Bench) -> None:
    ids = list(line_ids(bench).values())
    plan = decided(bench, *(InboxWish(line, "take") for line in ids))
    applied(bench, decided(bench, InboxWish(ids[0], "drop")))
    assert applied(bench, plan).counts == {"not as planned any more": 1, "taken": 1}


def test_a_line_is_decided_once_and_with_words(bench: Bench) -> None:
    line = line_ids(bench)["tabs are nicer"]
    with pytest.raises(UsageError, match="more than one decision"):
        decided(bench, InboxWish(line, "take"), InboxWish(line, "drop"))
    with pytest.raises(UsageError, match="no new words"):
        decided(bench, InboxWish(line, "reword", "  "))
    assert decided(bench, InboxWish(99, "take")).state is PlanState.EMPTY


class Failing:
    """A store whose disk is full from the second dropped line on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._dropped = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def drop_inbox(self, line_id: int, *, now: int) -> str:
        if self._dropped:
            raise InputError("the disk is full", "free some space")
        self._dropped += 1
        return self._store.drop_inbox(line_id, now=now)


def test_what_fails_in_the_middle_has_changed_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = decided(bench, *(InboxWish(line, "drop") for line in line_ids(bench).values()))
    receipts = asyncio.run(Operations(bench).receipts(bench.home))
    writing = bench.stores.writing

    @contextmanager
    def failing(home: Path) -> Iterator[Any]:
        with writing(home) as store:
            yield Failing(store)

    with monkeypatch.context() as patch:
        patch.setattr(bench.stores, "writing", failing)
        with pytest.raises(InputError, match="disk is full"):
            applied(bench, plan)
    assert len(line_ids(bench)) == 2
    assert asyncio.run(Operations(bench).receipts(bench.home)) == receipts
    assert applied(bench, plan).counts == {"dropped": 2}


@contextmanager
def consolidating(bench: Bench, guard: Guard, owner: Owner) -> Iterator[None]:
    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.enqueue_global(NOW)
        claim = store.claim_global(owner, now=bench.now, ignore_cooldown=True).claim
        assert claim is not None
        yield
        store.release_global(claim, now=bench.now)


def test_no_memory_is_changed_beside_a_consolidation_that_runs(bench: Bench, guard: Guard) -> None:
    take = decided(bench, InboxWish(line_ids(bench)["tabs are nicer"], "take"))
    exclude, hold = planned(bench, QueueAction.EXCLUDE, DONE), planned(bench, QueueAction.HOLD, DONE)
    with consolidating(bench, guard, bench.owner):
        for plan in (take, exclude):
            with pytest.raises(LockBusy, match="consolidation runs"):
                applied(bench, plan)
        assert applied(bench, hold).counts == {"changed": 1}
    assert applied(bench, take).counts == {"taken": 1}


def test_a_lease_that_ran_out_holds_nothing_back(bench: Bench, guard: Guard) -> None:
    take = decided(bench, InboxWish(line_ids(bench)["tabs are nicer"], "take"))
    with consolidating(bench, guard, bench.owner):
        bench.now += 3_601
        assert applied(bench, take).counts == {"taken": 1}


def test_a_consolidation_that_died_holds_nothing_back(bench: Bench, guard: Guard) -> None:
    take = decided(bench, InboxWish(line_ids(bench)["tabs are nicer"], "take"))
    dead = Owner(bench.owner.host, bench.owner.pid, bench.owner.process_started + 1, "gone")
    with consolidating(bench, guard, dead):
        assert applied(bench, take).counts == {"taken": 1}


# --- the command line ---


class Shell:
    """The command line over a bench."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __call__(self, *argv: str, stdin: str = "") -> tuple[int, str, str]:
        def compose(home: Path | None) -> Composition:
            return self._bench

        def no_window(options: WindowOptions) -> int:
            raise AssertionError(options)

        out, err = io.StringIO(), io.StringIO()
        code = run(["--home", str(self._bench.home), *argv], Surfaces(compose, no_window), io.StringIO(stdin), out, err)
        return code, out.getvalue(), err.getvalue()


def test_plan_show_and_apply_on_the_command_line(bench: Bench) -> None:
    shell = Shell(bench)
    code, text, _ = shell("plan", "retry", FAILS, DONE)
    assert code == 0
    assert f"1 job record: retry\n        {FAILS} (" in text
    assert "it is done, with nothing new since" in text
    code, text, _ = shell("plan", "retry", "--group", "timeout", "--json")
    assert code == 0
    digest = json.loads(text)["digest"]
    code, answer, _ = shell("apply", "--plan", "-", "--digest", digest, "--json", stdin=text)
    assert (code, json.loads(answer)["counts"]) == (0, {"changed": 1})
    code, _, said = shell("apply", "--plan", "-", "--digest", digest, stdin=text)
    assert (code, "applied already" in said) == (4, True)
    assert shell("plan", "release", DONE)[0] == 3
    assert "consolidation" in shell("jobs")[1]
    assert "it waits already" in shell("plan", "retry", "consolidation")[1]
    assert shell("plan", "hold")[0] == 2


def test_leaving_out_on_the_command_line(bench: Bench) -> None:
    shell = Shell(bench)
    code, text, _ = shell("plan", "exclude", DONE)
    assert (code, f"{DONE}   left out of the memory" in text) == (0, True)


def test_the_inbox_on_the_command_line(bench: Bench) -> None:
    shell = Shell(bench)
    code, text, _ = shell("inbox", "--json")
    lines = json.loads(text)["inbox"]
    assert (code, [line["text"] for line in lines]) == (0, ["we deploy on Fridays", "tabs are nicer"])
    assert lines[0]["expires_at"] == NOW + 30 * DAY
    assert "tabs are nicer" in shell("inbox")[1]
    first, second = str(lines[0]["id"]), str(lines[1]["id"])
    code, text, _ = shell("plan", "inbox", "--reword", f"{first}=deploy on Mondays = never", "--drop", second)
    assert code == 0
    assert "“we deploy on Fridays” as “deploy on Mondays = never”" in text
    assert f"drop line {second}: " in text
    code, text, _ = shell("plan", "inbox", "--take", first, "--drop", second, "--json")
    code, _, _ = shell("apply", "--plan", "-", "--digest", json.loads(text)["digest"], stdin=text)
    assert code == 0
    assert "empty" in shell("inbox")[1]
    for wrong in ("x=y", "7", "-1=a"):
        assert shell("plan", "inbox", f"--reword={wrong}")[0] == 2
    assert shell("plan", "inbox")[0] == 2


def test_jobs_are_where_they_were(bench: Bench) -> None:
    assert {job.kind for job in bench.jobs().values()} == {STAGE1_KIND}
