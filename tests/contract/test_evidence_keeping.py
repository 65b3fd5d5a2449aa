"""Evidence over the real store, git and writer: kept by confirmed acts only, and compared with afterwards."""

from __future__ import annotations

import asyncio
import io
import json
import random
import string
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from ltmem_gui.cli.main import Surfaces
from ltmem_gui.cli.main import run as run_command
from ltmem_gui.domain.anchors import CitedText, snapshot
from ltmem_gui.domain.audit_evidence import EXTRACTED, KeptEvidence, Sight, first_sight
from ltmem_gui.domain.audit_repairs import Repair
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.effects import KeepEvidence
from ltmem_gui.domain.errors import RedactionFailed, WorkspaceMoved
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.redaction import redact_text
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.pipeline.audit import Audit
from ltmem_gui.pipeline.evidence_keeping import checked
from ltmem_gui.pipeline.ledger import StoreLedger
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import Adapters
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex

T = TypeVar("T")
FIRST = thread_id(0, NOW - DAY)
SECRET = "ghp_" + "R7kQ2vX9mZ4tL1pW8sD3yB6nC5hJ0fGaUeTi"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    """Return a folder of the product, with two citations added by hand: of a summary, and of the memory itself."""
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    write_codex(
        bench.sessions,
        [("user", "Always run pnpm test in this repo, never npm."), ("assistant", "ok")],
        number=0, at=NOW - DAY, cwd="/p",
    )  # fmt: skip

    async def write() -> None:
        await bench.apply(await bench.plan_extract())
        await bench.apply(await bench.plan_consolidate())

    run(write())
    cite(bench, f"{summary(bench)}:1-1 |note=[by hand]")
    guard.granted = False
    return bench


def summary(bench: Bench) -> str:
    (path,) = (bench.memory / "rollout_summaries").iterdir()
    return f"rollout_summaries/{path.name}"


def cite(bench: Bench, *entries: str) -> None:
    path = bench.memory / "MEMORY.md"
    head, mark, tail = path.read_text("utf-8").partition("<citation_entries>\n")
    path.write_text(head + mark + "".join(f"{entry}\n" for entry in entries) + tail, "utf-8")


def kept(bench: Bench) -> tuple[KeptEvidence, ...]:
    with bench.stores.reading(bench.home) as store:
        return store.evidence(str(bench.memory))


def of_files(bench: Bench) -> dict[str, KeptEvidence]:
    return {record.note: record for record in kept(bench) if not record.taken.path.startswith("rollout:")}


def load(bench: Bench) -> Audit:
    return run(Operations(bench).audit.load(bench.request(), cancel=CancelToken(), listen=bench.events.append))


def apply(bench: Bench, plan: Plan, selection: Selection | None = None) -> None:
    async def work() -> None:
        operations = Operations(bench)
        chosen = selection or all_accepted(plan)
        grant = await operations.approve(plan, chosen, approver="me", surface="window")
        await operations.apply(grant, cancel=CancelToken(), listen=bench.events.append)

    run(work())


def check(bench: Bench, *more: str, home: bool = True) -> tuple[int, dict[str, Any], str]:
    argv = ["cite", "check", "--memory-root", str(bench.memory), "--json", *more]
    argv += ["--home", str(bench.home)] if home else []
    out, err = io.StringIO(), io.StringIO()
    surfaces = Surfaces(compose=lambda home: bench, launch_window=lambda options: 0)
    code = run_command(argv, surfaces, io.StringIO(), out, err)
    return code, json.loads(out.getvalue()), err.getvalue()


def statuses(bench: Bench, *more: str) -> dict[str, tuple[str, str | None]]:
    return {one["note"]: (one["status"], one["against"]) for one in check(bench, *more)[1]["citations"]}


def edit(bench: Bench, guard: Guard, name: str, old: str, new: str) -> None:
    path = bench.memory / name
    with guard.grant():
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")


def repair_note(bench: Bench, note: str, new: str) -> Plan:
    audit = load(bench)
    item = next(one for one in audit.found.items if one.entry.note == note)
    return run(Operations(bench).audit.plan_repairs(bench.request(), [Repair("fix note", item, note=new)]))


def test_looking_and_planning_keep_nothing(bench: Bench, guard: Guard) -> None:
    before = tree(bench.home)
    assert kept(bench) == ()
    plan = repair_note(bench, "by hand", "better")
    (effect,) = plan.effects_of(KeepEvidence)
    assert (effect.root, effect.records) == (str(bench.memory), ())
    assert effect.count >= 2
    check(bench)
    assert tree(bench.home) == before


def test_a_confirmed_apply_keeps_what_is_cited_and_the_check_compares_with_it(bench: Bench, guard: Guard) -> None:
    apply(bench, repair_note(bench, "by hand", "better"))
    record = of_files(bench)["better"]
    assert record.taken.quote == f"thread_id: {FIRST}"
    assert (record.origin, record.thread_ids) == ("first sight", (FIRST,))
    assert statuses(bench)["better"] == ("exact", "first sight")
    edit(bench, guard, summary(bench), "thread_id:", "new line\nthread_id:")
    before = tree(bench.home)
    code, document, _ = check(bench)
    assert code == 0
    (found,) = (one for one in document["citations"] if one["note"] == "better")
    assert (found["status"], found["now"], found["known_since"]) == ("moved", [2, 2], record.at)
    assert tree(bench.home) == before
    assert {one["note"]: one["status"] for one in check(bench, home=False)[1]["citations"]}["better"] == "moved"


def test_drift_is_told_when_the_baseline_has_followed_the_edit(bench: Bench, guard: Guard) -> None:
    apply(bench, repair_note(bench, "by hand", "better"))
    edit(bench, guard, summary(bench), "thread_id:", "a line put in by hand\nthread_id:")
    apply(bench, repair_note(bench, "better", "anew"))  # the baseline is made of the edited file
    assert statuses(bench)["anew"] == ("moved", "first sight")
    assert {one["note"]: one["status"] for one in check(bench, home=False)[1]["citations"]}["anew"] == "exact"
    item = next(one for one in load(bench).found.items if one.entry.note == "anew")
    assert (item.location.label, item.evidence) == ("moved +1", f"thread_id: {FIRST}")
    plan = run(Operations(bench).audit.plan_repairs(bench.request(), [Repair("re-anchor", item, 2, 2)]))
    apply(bench, plan)
    record = of_files(bench)["anew"]
    assert (record.taken.start, record.origin) == (2, "cited")
    with bench.stores.reading(bench.home) as store:
        assert record.taken.baseline == store.receipts()[-1].baseline_commit
    assert statuses(bench)["anew"] == ("exact", "cited")
    assert len(of_files(bench)) == 1


def test_edits_by_hand_before_the_first_apply_are_told_from_the_baseline(bench: Bench, guard: Guard) -> None:
    plan = repair_note(bench, "by hand", "better")
    apply(bench, plan)
    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.clear_all()
    edit(bench, guard, summary(bench), "thread_id:", "new line\nthread_id:")
    apply(bench, repair_note(bench, "better", "again"))
    record = of_files(bench)["again"]
    assert (record.origin, record.taken.quote) == ("baseline", f"thread_id: {FIRST}")
    assert statuses(bench)["again"] == ("moved", "baseline")


def test_a_refused_apply_keeps_nothing(bench: Bench, guard: Guard) -> None:
    plan = repair_note(bench, "by hand", "better")

    async def work() -> None:
        operations = Operations(bench)
        grant = await operations.approve(plan, all_accepted(plan), approver="me", surface="window")
        edit(bench, guard, summary(bench), "thread_id:", "moved\nthread_id:")
        edit(bench, guard, "MEMORY.md", "# Task Group", "# Another Group")
        await operations.apply(grant, cancel=CancelToken(), listen=bench.events.append)

    with pytest.raises(WorkspaceMoved):
        run(work())
    assert kept(bench) == ()


def test_a_secret_is_kept_as_its_hash_and_so_is_everything_that_cannot_be_checked(
    bench: Bench, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(bench, guard, summary(bench), "\n\n", f"\n\ntoken {SECRET} here\n")
    with guard.grant():
        line = (bench.memory / summary(bench)).read_text().split("\n").index(f"token {SECRET} here") + 1
        cite(bench, f"{summary(bench)}:{line}-{line} |note=[secret]")
    plan = run(plan_keeping(bench))
    assert SECRET not in plan.model_dump_json()
    apply(bench, plan)
    record = of_files(bench)["secret"]
    assert record.taken.is_hash_only
    assert statuses(bench)["secret"][0] == "exact"
    assert of_files(bench)["by hand"].taken.quote == f"thread_id: {FIRST}"
    for path in bench.home.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()

    async def fail(*_: Any, **__: Any) -> Any:
        raise RedactionFailed("no engine")

    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.clear_all()
    monkeypatch.setattr(Bench, "redact_text", fail)
    found = run(plan_keeping(bench)).effects_of(KeepEvidence)[0].records
    assert {mark.quote for mark in found} == {""}


class Layer:
    """The rules alone as the choke point."""

    async def redact_text(self, text: str) -> Redaction:
        return redact_text(text)


def a_key() -> str:
    chance = random.Random(7)
    body = ("".join(chance.choices(string.ascii_letters + string.digits, k=64)) for _ in range(24))
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])


@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        (f"intro token {SECRET} {'word ' * 19}\nthe cited line says deploy with make\nmore\n", 2, SECRET[-20:]),
        (f"the cited line says deploy with make\n{'word ' * 19}token {SECRET} and so on\n", 1, SECRET[:10]),
        (f"the key of the server\n{a_key()}\nthe end\n", 14, a_key().split("\n")[12]),
    ],
)
def test_what_is_cut_from_a_secret_is_not_stored(text: str, line: int, part: str, earlier: bool) -> None:
    before = CitedText(text.encode())
    taken = snapshot("notes.md", line, line, before, "b")
    assert part in taken.before + taken.quote + taken.after
    memory = f"# M\n<citation_entries>\nnotes.md:{line}-{line} |note=[c1 x]\n</citation_entries>\n"
    files = {"MEMORY.md": memory.encode(), "notes.md": b"changed\n" if earlier else text.encode()}
    places = {("notes.md", line, line): taken} if earlier else {}
    found = first_sight(Sight(files, places, earlier={"notes.md": before}), frozenset(), at=1)
    (record,) = run(checked(cast(Adapters, Layer()), found))
    assert record.taken.is_hash_only
    assert (record.taken.before, record.taken.after) == ("", "")
    assert record.origin == ("baseline" if earlier else "first sight")


async def plan_keeping(bench: Bench) -> Plan:
    operations = Operations(bench)
    audit = await operations.audit.load(bench.request(), cancel=CancelToken(), listen=bench.events.append)
    return await operations.audit.plan_keeping(bench.request(), audit)


def test_keeping_is_a_plan_of_its_own_and_sessions_are_kept_as_hashes(bench: Bench, guard: Guard) -> None:
    argv = ["cite", "audit", "keep", "--home", str(bench.home), "--memory-root", str(bench.memory), "--json"]
    argv += ["--source", f"codex={bench.sessions}"]
    out = io.StringIO()
    surfaces = Surfaces(compose=lambda home: bench, launch_window=lambda options: 0)
    assert run_command(argv, surfaces, io.StringIO(), out, out) == 0
    assert kept(bench) == ()
    plan = run(plan_keeping(bench))
    assert plan.notes == ("2 to keep, 0 kept already",)
    assert [effect.type for effect in plan.effects] == ["KeepEvidence"]
    assert "pnpm test in this repo" not in "".join(mark.quote for mark in plan.effects_of(KeepEvidence)[0].records)
    apply(bench, plan)
    with bench.stores.reading(bench.home) as store:
        assert store.receipts()[-1].counts == {"verdicts": 0, "places_kept": 2}
    with guard.grant():
        cite(bench, "a.py@0123abc:1-1 |note=[unseen]")
    empty = run(plan_keeping(bench))
    assert empty.state is PlanState.EMPTY
    assert empty.notes[0].startswith("0 to keep, 2 kept already, 1 not seen: ")
    named = ("--source", f"codex={bench.sessions}")
    (rollout,) = (note for note in statuses(bench, *named) if note not in ("by hand", "unseen"))
    assert statuses(bench, *named)[rollout] == ("exact", "cited")
    (session,) = bench.sessions.rglob("*.jsonl")
    session.write_text(session.read_text().replace("never npm", "not ever npm"))
    assert statuses(bench, *named)[rollout] == ("missing text", "cited")
    assert check(bench, *named)[0] == 1
    assert load(bench).found.items[0].evidence in ("", f"thread_id: {FIRST}")


def test_a_sitting_keeps_what_it_sees_first(bench: Bench, guard: Guard) -> None:
    async def sit() -> None:
        operations = Operations(bench)
        audit = await operations.audit.load(bench.request(), cancel=CancelToken(), listen=bench.events.append)
        plan = await operations.audit.plan_sitting(bench.request(), "ann", "f", audit)
        assert [effect.type for effect in plan.effects] == ["StoreVerdicts", "KeepEvidence"]
        grant = await operations.approve(plan, all_accepted(plan), approver="me", surface="window")
        sitting = await operations.audit.open_sitting(grant)
        assert (await sitting.close()).counts == {"verdicts": 0, "places_kept": 2}

    run(sit())
    assert len(kept(bench)) == 2


def test_forgetting_a_session_takes_its_words_from_the_evidence(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        text = (bench.memory / "MEMORY.md").read_text("utf-8").split("\n")
        line = next(number for number, row in enumerate(text, 1) if "pnpm test" in row)
        path = bench.memory / "memory_summary.md"
        entry = f"MEMORY.md:{line}-{line} |note=[the wish]"
        path.write_text(path.read_text() + f"\n<citation_entries>\n{entry}\n</citation_entries>\n")
    apply(bench, run(plan_keeping(bench)))
    assert "pnpm test" in of_files(bench)["the wish"].taken.quote

    async def forget() -> Plan:
        operations = Operations(bench)
        return await operations.plan_forget(bench.request(), FIRST, cancel=CancelToken(), listen=bench.events.append)

    plan = run(forget())
    apply(bench, plan)
    assert all(
        "pnpm test" not in record.taken.quote + record.taken.before + record.taken.after for record in kept(bench)
    )
    assert b"pnpm test" not in (bench.home / "ltmem.sqlite").read_bytes()


def test_after_a_crash_a_forgotten_session_leaves_hashes_alone(bench: Bench, guard: Guard) -> None:
    apply(bench, run(plan_keeping(bench)))
    plan = repair_note(bench, "by hand", "better").model_copy(update={"operation": "forget"}).sealed()
    with guard.grant():
        ledger = StoreLedger(bench, bench.home)
        claim = ledger.claim(plan)
        with bench.stores.reading(bench.home) as store:
            receipt = store.receipts()[-1].model_copy(update={"plan_digest": plan.digest})
        ledger.finish(claim, plan, all_accepted(plan), receipt, watermark=1, rows=())
    assert {record.taken.quote for record in kept(bench)} == {""}


def test_an_extraction_keeps_hashes_of_the_lines_it_cites(bench: Bench, guard: Guard) -> None:
    with bench.stores.reading(bench.home) as store:
        records = store.evidence(EXTRACTED)
    assert {record.taken.path for record in records} == {f"rollout:{FIRST}"}
    assert {record.taken.quote for record in records} == {""}
    assert kept(bench) == ()
    named = ("--source", f"codex={bench.sessions}")
    (rollout,) = (note for note in statuses(bench, *named) if note != "by hand")
    assert statuses(bench, *named)[rollout] == ("exact", "snapshot")
    (session,) = bench.sessions.rglob("*.jsonl")
    session.write_text(session.read_text().replace("never npm", "not ever npm"))
    assert statuses(bench, *named)[rollout] == ("missing text", "snapshot")
    (changed,) = (one for one in load(bench).found.items if one.entry.thread_id)
    assert (changed.location.label, changed.evidence) == ("missing text", "")
    apply(bench, run(plan_keeping(bench)))
    (record,) = (record for record in kept(bench) if record.taken.path.startswith("rollout:"))
    assert record.origin == "cited"
    assert statuses(bench, *named)[rollout] == ("missing text", "cited")
