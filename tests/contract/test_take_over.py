"""Memories that Codex keeps are taken over as a confirmed plan: read only, redacted, newest wins, never backwards."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.cli.render import describe_effect
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import CreateDataFolder, StoreOutputs, TakeOverJobs, TakeOverRow
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    Cancelled,
    GrantMissing,
    InputError,
    LockBusy,
    NothingToDo,
    RedactionFailed,
    StalePlan,
)
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND, JobStatus, Owner
from ltmem_gui.domain.plan import Plan, PlanState, load_plan
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import ForeignLease
from ltmem_gui.sources import codex_db
from ltmem_gui.sources.codex_db import private_copy
from ltmem_gui.sources.codex_memories import memories_beside, memories_of
from ltmem_gui.store.opening import DATABASE_NAME
from ltmem_gui.ui.models.effects_text import describe
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.codex_home import CodexHome, kept
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex
from tests.helpers.stores import a_job

SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
A, B, C, D = (thread_id(number, NOW - 5 * DAY) for number in range(4))


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    """A bench without data folder; the Codex home beside it is watched like a memory folder."""
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


@pytest.fixture
def codex(tmp_path: Path) -> CodexHome:
    """A Codex home with three memories, one of them used and selected."""
    home = CodexHome(tmp_path / "codex").create()
    home.keep(kept(A, NOW - 3 * DAY, usage_count=5, last_usage=NOW - DAY), selected_at=NOW - 4 * DAY)
    home.keep(kept(B, NOW - 2 * DAY))
    home.keep(kept(C, NOW - DAY, memory_mode="polluted", git_branch=None))
    for thread, mark in ((A, NOW - 3 * DAY), (B, NOW - 2 * DAY), (D, NOW - 4 * DAY)):
        home.job(STAGE1_KIND, thread, "done", mark)
    home.job(GLOBAL_KIND, GLOBAL_KEY, "done", NOW - 2 * DAY)
    return home


def planned(bench: Bench, codex: CodexHome, **changes: Any) -> Plan:
    wish = Operations(bench).plan_take_over(
        bench.request(**changes), codex.path, cancel=CancelToken(), listen=bench.events.append
    )
    return asyncio.run(wish)


def applied(bench: Bench, plan: Plan) -> Receipt:
    return asyncio.run(bench.apply(plan))


def outputs(bench: Bench) -> dict[str, StageOneOutput]:
    with bench.stores.reading(bench.home) as store:
        return {row.thread_id: row for row in store.outputs()}


def changes(plan: Plan) -> dict[str, str]:
    return {row.thread_id: row.change for row in plan.effects_of(TakeOverRow)}


# --- reading ---


@pytest.mark.parametrize(
    ("memories", "state"), [("memories_1.sqlite", "state_5.sqlite"), ("state_5.sqlite", "state_5.sqlite")]
)
def test_both_generations_are_read(tmp_path: Path, memories: str, state: str) -> None:
    home = CodexHome(tmp_path / "codex", memories, state).create()
    home.keep(kept(A, NOW, usage_count=2, last_usage=NOW), selected_at=NOW - 1)
    home.keep(kept(B, NOW, memory_mode="disabled"))
    home.job(STAGE1_KIND, A, "done", NOW)
    found = memories_of(home.path, NOW)
    assert found is not None
    assert found.where == str(home.path / memories)
    first, second = found.rows
    assert first.output == kept(A, NOW, usage_count=2, last_usage=NOW)
    assert (first.selected_at, second.selected_at, first.known) == (NOW - 1, None, True)
    assert second.output.memory_mode == "disabled"
    assert (dict(found.done), found.watermark) == ({A: NOW}, 0)


def test_rows_are_not_read_for_a_folder_that_codex_works_on(codex: CodexHome, monkeypatch: pytest.MonkeyPatch) -> None:
    codex.job(GLOBAL_KIND, GLOBAL_KEY, "running", 0, lease_until=NOW + 600)
    assert len(memories_of(codex.path, NOW).rows) == 3  # type: ignore[union-attr]
    monkeypatch.setattr("ltmem_gui.sources.codex_memories.read_threads", None)
    beside = memories_beside(codex.path / "memories", NOW)
    assert beside is not None
    assert (beside.rows, beside.lease) == ((), ForeignLease("Codex (w)", NOW + 600))


def test_the_newest_database_that_holds_memories_counts(tmp_path: Path) -> None:
    old = CodexHome(tmp_path / "codex", "state_4.sqlite", "state_4.sqlite").create()
    old.keep(kept(A))
    assert memories_of(old.path, NOW).rows[0].output.thread_id == A  # type: ignore[union-attr]
    new = CodexHome(old.path, "memories_2.sqlite", "state_9.sqlite").create()
    new.keep(kept(B))
    found = memories_of(old.path, NOW)
    assert found is not None
    assert [row.output.thread_id for row in found.rows] == [B]
    with closing(sqlite3.connect(old.path / "memories_3.sqlite")) as connection:
        connection.execute("CREATE TABLE other (x)")
        connection.commit()
    assert memories_of(old.path, NOW) == found


def test_a_home_that_is_in_use_is_read_and_not_touched(bench: Bench, codex: CodexHome, guard: Guard) -> None:
    database = codex.path / codex.memories
    with closing(sqlite3.connect(database, isolation_level=None)) as live:
        live.execute("PRAGMA journal_mode = WAL")
        live.execute("PRAGMA wal_autocheckpoint = 0")
        live.execute("UPDATE stage1_outputs SET raw_memory = 'only in the log' WHERE thread_id = ?", (B,))
        live.execute("BEGIN IMMEDIATE")
        live.execute("DELETE FROM stage1_outputs")
        guard.protect(codex.path)
        before = codex.look()
        assert f"{codex.memories}-wal" in before
        plan = planned(bench, codex)
        assert codex.look() == before
        live.execute("ROLLBACK")
    rows = {row.thread_id: row for row in plan.effects_of(TakeOverRow)}
    assert sorted(rows) == sorted([A, B, C])
    assert rows[B].raw_memory == "only in the log"


def test_a_home_at_rest_gets_no_log_and_keeps_its_times(bench: Bench, codex: CodexHome, guard: Guard) -> None:
    guard.protect(codex.path)
    before = codex.look()
    assert not [name for name in before if name.endswith(("-wal", "-shm"))]
    assert planned(bench, codex).state is PlanState.APPLYABLE
    assert codex.look() == before
    with guard.grant():
        codex.path.chmod(0o500)
    assert planned(bench, codex).state is PlanState.APPLYABLE
    with guard.grant():
        codex.path.chmod(0o700)


def test_a_change_half_made_is_taken_back_in_the_copy(tmp_path: Path) -> None:
    path = tmp_path / "memories_1.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as live:
        live.execute("CREATE TABLE t (x)")
        live.executemany("INSERT INTO t VALUES (?)", [("old" * 500,)] * 200)
        live.execute("PRAGMA cache_size = 1")
        live.execute("BEGIN")
        live.execute("UPDATE t SET x = 'new'")
        before = path.read_bytes()
        with private_copy(str(path)) as copy:
            assert copy.execute("SELECT count(*) FROM t WHERE x = 'new'").fetchone()[0] == 0
        assert path.read_bytes() == before
        live.execute("ROLLBACK")


def test_a_database_written_while_it_is_copied_is_copied_again(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "state_5.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (x)")
        made.commit()
    times = iter(range(100))
    copy = codex_db.copy_sparse

    def slow(source: str, target: Path, most: int, cancel: CancelToken | None) -> int:
        copied = copy(source, target, most, cancel)
        if not source.endswith(("-wal", "-journal")) and next(times) < 2:
            with closing(sqlite3.connect(path)) as other:
                other.execute("INSERT INTO t VALUES (1)")
                other.commit()
        return copied

    monkeypatch.setattr(codex_db, "copy_sparse", slow)
    with private_copy(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 2
    times = iter([0] * 100)
    with pytest.raises(InputError, match="being written"), private_copy(str(path)):
        pass


def test_a_log_that_goes_away_while_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state_5.sqlite"
    live = sqlite3.connect(path, isolation_level=None)
    live.execute("PRAGMA journal_mode = WAL")
    live.execute("CREATE TABLE t (x)")
    live.execute("INSERT INTO t VALUES (1)")
    copy = codex_db.copy_sparse

    def late(source: str, target: Path, most: int, cancel: CancelToken | None) -> int:
        if source.endswith("-wal"):
            live.close()  # the last one to close moves the log into the file and removes it
        return copy(source, target, most, cancel)

    monkeypatch.setattr(codex_db, "copy_sparse", late)
    with private_copy(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 1


def test_what_is_no_home_is_said(bench: Bench, tmp_path: Path, shared: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for path, match in (("empty", "no memories"), ("nowhere", "No such file"), ("file", "Not a directory")):
        with pytest.raises(InputError, match=match):
            planned(bench, CodexHome(tmp_path / path))
    real = shared / "data" / "real_codex"
    with pytest.raises(InputError, match="no memories"):
        planned(bench, CodexHome(real / "cli-0.171.0"))
    assert planned(bench, CodexHome(real / "cli-0.130.0")).state is PlanState.EMPTY
    link = tmp_path / "linked" / "memories_1.sqlite"
    link.parent.mkdir()
    link.symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="link"):
        planned(bench, CodexHome(link.parent))


# --- the plan and its apply ---


def test_a_plan_names_every_row_and_creates_the_data_folder(bench: Bench, codex: CodexHome) -> None:
    plan = planned(bench, codex)
    assert (plan.kind, plan.operation, plan.state, plan.base) == ("apply", "take-over", PlanState.APPLYABLE, None)
    assert [effect.type for effect in plan.effects] == ["CreateDataFolder", *["TakeOverRow"] * 3, "TakeOverJobs"]
    assert changes(plan) == dict.fromkeys(sorted([A, B, C]), "added")
    assert [source.path for source in plan.sources] == [str(codex.path)]
    assert not bench.home.exists()
    receipt = applied(bench, plan)
    assert (receipt.operation, receipt.counts) == ("take-over", {"jobs taken over": 4, "memories taken over": 3})
    assert outputs(bench) == {
        A: kept(A, NOW - 3 * DAY, usage_count=5, last_usage=NOW - DAY),
        B: kept(B, NOW - 2 * DAY),
        C: kept(C, NOW - DAY, memory_mode="polluted", git_branch=None),
    }
    with bench.stores.reading(bench.home) as store:
        assert [(row.thread_id, row.source_updated_at) for row in store.selected_rows()] == [(A, NOW - 4 * DAY)]
        assert store.watermark() == NOW - 2 * DAY
        job = store.job(GLOBAL_KIND, GLOBAL_KEY)
        assert job is not None
        assert (job.status, job.input_watermark) == (JobStatus.PENDING, NOW - DAY)
        assert store.up_to_date(A, NOW - 3 * DAY)
        assert store.up_to_date(D, NOW - 4 * DAY)
        assert not store.up_to_date(D, NOW - 4 * DAY + 1)
    assert bench.jobs()[A].cwd == f"/p/{A}"


def test_a_second_run_has_nothing_to_do(bench: Bench, codex: CodexHome) -> None:
    applied(bench, planned(bench, codex))
    before = tree(bench.home)
    again = planned(bench, codex)
    assert (again.state, again.effects) == (PlanState.EMPTY, ())
    assert {skip.id: skip.reasons for skip in again.skipped} == dict.fromkeys(
        [A, B, C], ("what is stored here is as new",)
    )
    with pytest.raises(NothingToDo):
        applied(bench, again)
    assert tree(bench.home) == before


def test_what_is_newer_here_stays_and_what_is_newer_there_comes(bench: Bench, codex: CodexHome) -> None:
    applied(bench, planned(bench, codex))
    with bench.stores.writing(bench.home) as store:
        store.edit_output(B, source_updated_at=NOW - 2 * DAY, changes={"raw_memory": "- mine"}, now=NOW)
    codex.keep(kept(A, NOW - DAY, raw_memory="- newer", usage_count=4, last_usage=NOW - 2 * DAY))
    codex.keep(kept(B, NOW - 2 * DAY, raw_memory="- theirs", usage_count=1, last_usage=NOW))
    codex.keep(kept(C, NOW - 2 * DAY, raw_memory="- older"))
    plan = planned(bench, codex)
    assert changes(plan) == {A: "replaced", B: "usage"}
    usage = next(row for row in plan.effects_of(TakeOverRow) if row.thread_id == B)
    assert (usage.raw_memory, usage.rollout_summary) == ("", "")
    assert applied(bench, plan).counts == {"memories taken over": 1, "usage raised": 1}
    rows = outputs(bench)
    assert (rows[A].raw_memory, rows[A].usage_count, rows[A].last_usage) == ("- newer", 5, NOW - DAY)
    assert (rows[B].raw_memory, rows[B].usage_count, rows[B].last_usage) == ("- mine", 1, NOW)
    assert rows[C].source_updated_at == NOW - DAY
    assert planned(bench, codex).state is PlanState.EMPTY


def test_rows_are_compared_again_when_they_are_taken(bench: Bench, codex: CodexHome) -> None:
    applied(bench, planned(bench, codex))
    codex.keep(kept(A, NOW, raw_memory="- newer"))
    codex.keep(kept(D, NOW, raw_memory="- unwanted"))
    stale = planned(bench, codex)
    with bench.stores.writing(bench.home) as store:
        store.exclude(D, reason="no", now=NOW)
    codex.keep(kept(A, NOW, raw_memory="- newest"))  # as new as the planned one, and here first
    applied(bench, planned(bench, codex))
    with pytest.raises(StalePlan, match="as it was"):
        applied(bench, stale)
    assert outputs(bench)[A].raw_memory == "- newest"
    assert D not in outputs(bench)


def test_what_a_person_left_out_or_codex_would_not_select_is_skipped(bench: Bench, codex: CodexHome) -> None:
    applied(bench, planned(bench, codex))
    with bench.stores.writing(bench.home) as store:
        store.forget(A, reason="forgotten", now=NOW)
    codex.keep(kept("gone", NOW), thread=False)
    codex.keep(kept("blank", NOW, raw_memory=" \n", rollout_summary=""))
    codex.keep(kept("two\nlines", NOW))
    codex.job(STAGE1_KIND, "two\nlines", "done", NOW)
    plan = planned(bench, codex)
    assert plan.state is PlanState.EMPTY
    reasons = {skip.id: skip.reasons[0] for skip in plan.skipped}
    assert reasons[A] == "forgotten"
    assert "not among Codex's threads" in reasons["gone"]
    assert reasons["blank"] == "it holds no text"
    assert reasons["two\nlines"] == "its thread id is none"


@pytest.mark.log_expected
def test_a_damaged_data_folder_is_said(bench: Bench, codex: CodexHome, guard: Guard) -> None:
    applied(bench, planned(bench, codex))
    with guard.grant():
        (bench.home / DATABASE_NAME).write_bytes(b"no database" * 1_000)
    plan = planned(bench, codex)
    assert changes(plan) == dict.fromkeys(sorted([A, B, C]), "added")
    assert any("damaged" in note or "cannot be read" in note for note in plan.notes)


def test_secrets_stay_in_codex(bench: Bench, codex: CodexHome, monkeypatch: pytest.MonkeyPatch) -> None:
    codex.keep(kept(A, NOW, raw_memory=f"- the key is {SECRET}", cwd=f"/p/{SECRET}"))
    codex.keep(kept(B, NOW, raw_memory="- UNCHECKABLE"))
    redact = Bench.redact_text

    async def choosy(self: Bench, text: str, *rest: Any, **more: Any) -> Any:
        if "UNCHECKABLE" in text:
            raise RedactionFailed("too odd")
        return await redact(self, text, *rest, **more)

    monkeypatch.setattr(Bench, "redact_text", choosy)
    plan = planned(bench, codex)
    assert SECRET not in plan.model_dump_json()
    assert any("2 secrets were taken out" in note for note in plan.notes)
    assert next(skip.reasons[0] for skip in plan.skipped if skip.id == B).startswith("it could not be checked")
    assert B not in changes(plan)
    forged = tuple(
        effect.model_copy(update={"raw_memory": f"- {SECRET}"}) if isinstance(effect, TakeOverRow) else effect
        for effect in plan.effects
    )
    applied(bench, plan.model_copy(update={"effects": forged}).sealed())
    assert SECRET not in json.dumps([row.raw_memory for row in outputs(bench).values()])


def test_what_codex_counted_is_not_counted_again(bench: Bench, codex: CodexHome) -> None:
    applied(bench, planned(bench, codex))
    cites = "Done.\n<oai-mem-citation>\n<rollout_ids>\n{}\n</rollout_ids>\n</oai-mem-citation>"
    for number, at in ((7, NOW - 2 * DAY), (8, NOW - DAY // 2)):
        turns = [("user", "Go on."), ("assistant", cites.format(A))]
        write_codex(bench.sessions, turns, number=number, at=at, cwd="/x")
    plan = asyncio.run(bench.plan_extract())
    credited = [credit for effect in plan.effects if effect.type == "CreditUsage" for credit in effect.credits]
    assert [credit["thread_id"] for credit in credited] == [thread_id(8, NOW - DAY // 2)]
    applied(bench, plan)
    assert outputs(bench)[A].usage_count == 6
    with bench.stores.writing(bench.home) as store:
        old = {"thread_id": "s", "record": "line 1", "cited_id": A, "used_at": str(NOW - 2 * DAY)}
        assert store.credit_usage([old], now=NOW) == 0
        assert store.uncredited([{**old, "record": "line 2", "cited_id": B}]) != ()


def test_one_transaction_one_grant(bench: Bench, codex: CodexHome) -> None:
    plan = planned(bench, codex)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        asyncio.run(bench.apply(plan, cancel))
    assert not bench.home.exists()
    applied(bench, plan)
    with pytest.raises(AlreadyApplied):
        applied(bench, plan)
    codex.keep(kept(A, NOW, raw_memory="- newer"))
    again = planned(bench, codex)
    with bench.stores.writing(bench.home) as store:
        store.claim_global(Owner("elsewhere", 7, 7, "other"), now=NOW, ignore_cooldown=True)
    with pytest.raises(LockBusy, match="consolidation runs"):
        applied(bench, again)


def test_a_plan_that_does_more_is_refused(bench: Bench, codex: CodexHome) -> None:
    plan = planned(bench, codex)
    more = plan.model_copy(update={"effects": (*plan.effects, StoreOutputs(count=1))}).sealed()
    other = plan.model_copy(update={"operation": "queue"}).sealed()
    for wrong in (more, other):
        with pytest.raises(GrantMissing):
            applied(bench, wrong)
    assert not bench.home.exists()
    assert plan.effects_of(CreateDataFolder, TakeOverJobs)


def test_jobs_that_run_or_failed(bench: Bench, codex: CodexHome, guard: Guard) -> None:
    with guard.grant():
        bench.stores.create_home(bench.home)
    with guard.grant(), bench.stores.writing(bench.home) as store:
        for thread in (A, B):
            claim = store.claim_stage1(a_job(thread, NOW - 3 * DAY), Owner("here", 1, 1, "w"), now=NOW, cap=8).claim
            assert claim is not None
            if thread == A:
                store.fail_stage1(claim, outcome="failed", group="x", reason="no", now=NOW, retry_after=None)
    assert applied(bench, planned(bench, codex)).counts["jobs taken over"] == 3
    jobs = bench.jobs()
    assert (jobs[A].status, jobs[A].retry_at, jobs[A].last_success_watermark) == (JobStatus.DONE, None, NOW - 3 * DAY)
    assert (jobs[B].status, jobs[B].last_success_watermark) == (JobStatus.RUNNING, 0)


def test_the_memory_goes_on_in_codex_own_folder(bench: Bench, codex: CodexHome) -> None:
    (codex.path / "memories").mkdir()
    plan = planned(bench, codex)
    assert any(note.endswith(f"--memory-root {codex.path / 'memories'}") for note in plan.notes)
    applied(bench, plan)
    settings = Settings(max_unused_days=3_650)
    consolidation = asyncio.run(bench.plan_consolidate(memory_root=codex.path / "memories", settings=settings))
    assert not [note for note in consolidation.notes if "Codex selects" in note]


# --- the command line ---


def on_command_line(bench: Bench, *argv: str) -> tuple[int, str, str]:
    class Composed(Composition):
        @property
        def clock(self) -> Any:
            return lambda: bench.now

    def launch(options: WindowOptions) -> int:
        raise AssertionError(options)

    out, err = io.StringIO(), io.StringIO()
    code = run(["--home", str(bench.home), *argv], Surfaces(Composed, launch), io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    return tmp_path / "plan.json"


def test_plan_show_apply(bench: Bench, codex: CodexHome, plan_file: Path, guard: Guard) -> None:
    guard.protect(codex.path)
    before = codex.look()
    code, text, _ = on_command_line(bench, "plan", "take-over", "--codex-home", str(codex.path))
    assert code == 0
    assert f"{A}   2026-" in text
    assert "used 5 times   in Codex's last selection" in text
    assert "Nothing leaves this computer." in text
    code, printed, _ = on_command_line(bench, "plan", "take-over", "--codex-home", str(codex.path), "--json")
    plan_file.write_text(printed)
    plan = load_plan(printed, where="x")
    assert json.loads(printed)["effects"][1]["type"] == "TakeOverRow"
    code, shown, _ = on_command_line(bench, "show", "--plan", str(plan_file))
    assert code == 0
    assert f"--- {A} (raw memory)\n+---\n+description: of {A}" in shown
    assert f"--- {A} (summary)\n+# Session {A}\n" in shown
    code, _, _ = on_command_line(bench, "apply", "--plan", str(plan_file), "--digest", "0" * 64)
    assert (code, bench.home.exists()) == (4, False)
    guard.granted = True
    code, text, err = on_command_line(bench, "apply", "--plan", str(plan_file), "--digest", plan.digest)
    assert (code, err) == (0, "")
    assert "3  memories taken over" in text
    code, text, _ = on_command_line(bench, "plan", "take-over", "--codex-home", str(codex.path))
    assert (code, "what is stored here is as new" in text) == (3, True)
    assert codex.look() == before


def test_the_command_line_says_what_is_no_home(bench: Bench, tmp_path: Path) -> None:
    code, _, err = on_command_line(bench, "plan", "take-over", "--codex-home", str(tmp_path / "nowhere"))
    assert (code, "nowhere: this folder cannot be read: No such file" in err) == (1, True)
    with pytest.raises(SystemExit, match="2"):
        on_command_line(bench, "plan", "take-over")


def test_usage_of_rows_is_said_in_words() -> None:
    row = TakeOverRow(change="usage", thread_id="t1", source_updated_at=NOW, usage_count=3)
    assert describe_effect(row).endswith("only its usage is raised   used 3 times")
    old = TakeOverRow(change="replaced", thread_id="t1", source_updated_at=NOW, replaces=NOW - DAY, redactions={"k": 2})
    assert "replaces the one of 2026-05" in describe_effect(old)
    assert describe_effect(TakeOverJobs(watermark=7)).endswith("watermark 1970-01-01 00:00 UTC")


def test_the_sheet_says_it_in_one_line_with_each_row_below(bench: Bench, codex: CodexHome) -> None:
    codex.keep(kept(A, NOW - 3 * DAY, usage_count=5, last_usage=NOW - DAY, raw_memory=f"- {SECRET}"))
    groups = {group.group: group.lines for group in describe(planned(bench, codex))}
    folder = groups["writes"][0]
    rows, jobs = groups["database"]
    assert folder.text.startswith("new data folder")
    assert (rows.number, rows.text) == ("3", "memories taken over from Codex")
    assert rows.details[0].startswith(f"Session {A}")
    assert rows.details[0].endswith("new here   used 5 times   1 secret redacted")
    assert (jobs.number, jobs.text) == ("3", "sessions count as extracted, as Codex did")
    assert jobs.details[0].startswith("watermark ")
    assert groups["leaves this computer"][0].number == "0"
