"""A proposal made anew: what a person turned down goes with every way to the next one, and is found when it returns."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.effects import StartAgent
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.plan import Plan, load_plan
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.review import Review
from ltmem_gui.domain.turned_down import rejected, turned_down
from ltmem_gui.pipeline.maintenance import FORGOTTEN
from tests.contract.test_agent_cli import call, planned
from tests.helpers.agents import SUMMARY, agent_server, copied, extracted, plan_with, run_with, whole_run
from tests.helpers.bench import NOW, Bench
from tests.helpers.guard import Guard

SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
FILE = "memory_summary.md"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return extracted(tmp_path_factory.mktemp("again"), ["Always use pnpm, never npm."])


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def proposed(bench: Bench, **wish: object) -> Plan:
    """Return what a model proposes that says the same again and again."""
    with agent_server(*whole_run()) as server:
        proposal = run_with(bench, plan_with(bench, server, **wish)).proposal
    assert proposal is not None
    return proposal


def found(plan: Plan) -> list[Finding]:
    return [finding for finding in plan.findings if finding.rule == "refused-before"]


def turned(plan: Plan, decision: Decision = Decision.REJECT) -> tuple[RefusedHunk, ...]:
    """Decide the one hunk of the summary and return what is turned down then."""
    (hunk,) = next(change for change in plan.changes if change.path == FILE).hunks
    key = f"{FILE}:{hunk.id}"
    return turned_down(Review(plan).decide(key, decision).note(key, "too long"), NOW)


def test_a_hunk_that_was_turned_down_is_found_when_it_returns(bench: Bench) -> None:
    first = proposed(bench)
    assert found(first) == []
    second = proposed(bench, note="Say it shorter.", refused=turned(first))
    (finding,) = found(second)
    assert (finding.path, finding.line, finding.severity) == (FILE, 1, "warning")
    assert "too long" in finding.text
    assert [(hunk.path, hunk.new) for hunk in second.refused] == [(FILE, tuple(SUMMARY.splitlines(keepends=True)))]


def test_it_goes_on_from_proposal_to_proposal_until_it_is_accepted(bench: Bench) -> None:
    second = proposed(bench, note="Shorter.", refused=turned(proposed(bench)))
    undecided = turned_down(Review(second), NOW)
    assert undecided == second.refused
    assert found(proposed(bench, note="Once more.", refused=undecided))
    assert turned(second, Decision.ACCEPT) == ()
    assert len(turned(second)) == 1


def test_a_plan_that_was_saved_carries_it_and_is_bound_to_it(bench: Bench) -> None:
    refused = turned(proposed(bench))
    with agent_server(*whole_run()) as server:
        plan = plan_with(bench, server, note="Shorter.", refused=refused)
        read = load_plan(plan.model_dump_json(), where="a file")
        assert read == plan
        proposal = run_with(bench, read).proposal
    assert proposal is not None
    assert found(proposal)
    assert plan.model_copy(update={"refused": ()}).sealed().digest != plan.digest


def test_a_plan_of_an_earlier_version_keeps_its_digest(bench: Bench) -> None:
    with agent_server() as server:
        saved = json.loads(plan_with(bench, server).model_dump_json())
    assert saved.pop("refused") == []
    assert digest({name: value for name, value in saved.items() if name != "digest"}) == saved["digest"]
    assert load_plan(json.dumps(saved), where="a file").digest == saved["digest"]


def test_its_lines_and_its_note_are_checked_before_they_go_anywhere(bench: Bench) -> None:
    hunk = RefusedHunk(FILE, (f"token: {SECRET}\n", "x"), ("v1\n",), NOW, f"not {SECRET}")
    with agent_server(*whole_run()) as server:
        plan = plan_with(bench, server, note="Shorter.", refused=(hunk,))
    assert SECRET not in plan.model_dump_json()
    assert [len(each.old) for each in plan.refused] == [2]
    (agent,) = plan.effects_of(StartAgent)
    assert len(agent.refused) == 1


def test_the_command_line_carries_it(bench: Bench) -> None:
    def propose(*more: str) -> Path:
        with agent_server(*whole_run()) as server:
            path = planned(bench, server, *more)
            named = json.loads(path.read_text())["digest"]
            code, out, err = call(bench, "apply", "--plan", str(path), "--digest", named, "--json")
        assert code == 0, err
        proposal = bench.place / f"proposal-{len(more)}.json"
        proposal.write_text(out)
        return proposal

    first = propose()
    (hunk,) = next(c for c in load_plan(first.read_text(), where="").changes if c.path == FILE).hunks
    rejects = ("--reject", f"{FILE}:{hunk.id}")
    second = propose("--note", "Shorter.", "--proposal", str(first), *rejects)
    assert len(found(load_plan(second.read_text(), where=""))) == 1
    third = propose("--note", "Shorter still.", "--proposal", str(second))
    assert len(found(load_plan(third.read_text(), where=""))) == 1
    (told,) = (noted := load_plan(second.read_text(), where="")).refused
    told = replace(told, note="It is not true.")
    second.write_text(noted.model_copy(update={"refused": (told,)}).sealed().model_dump_json())
    assert load_plan(propose("--proposal", str(second), *rejects).read_text(), where="").refused == (told,)
    where = ("--home", str(bench.home), "--memory-root", str(bench.memory))
    assert call(bench, "plan", "consolidate", *where, *rejects)[0] == 2
    code, _, err = call(bench, "plan", "consolidate", *where, "--proposal", str(second))
    assert (code, "apply it with --reject" in err) == (2, True)
    with agent_server() as server:
        inputs = str(planned(bench, server))
    code, _, err = call(bench, "plan", "consolidate", *where, "--provider", "custom", "--proposal", inputs)
    assert (code, "it is no proposal of a consolidation" in err) == (2, True)


def test_a_proposal_does_not_bring_back_a_session_that_was_forgotten(bench: Bench, guard: Guard) -> None:
    proposal = proposed(bench, note="Shorter.")
    path = bench.place / "old.json"
    path.write_text(proposal.model_dump_json())
    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.forget(proposal.rows[0].thread_id, reason=FORGOTTEN, now=NOW)
    where = ("--home", str(bench.home), "--memory-root", str(bench.memory), "--provider", "custom")
    code, _, err = call(bench, "plan", "consolidate", *where, "--proposal", str(path))
    assert (code, "was forgotten since" in err) == (4, True)


def test_the_built_in_rules_leave_out_what_was_turned_down(bench: Bench) -> None:
    proposal = asyncio.run(bench.plan_consolidate())
    change = next(change for change in proposal.changes if change.path == "MEMORY.md")
    bullet = next(line for hunk in change.hunks for line in hunk.new if line.startswith("- ") and "pnpm" in line)
    refused = RefusedHunk("MEMORY.md", (), (bullet,), NOW)
    again = asyncio.run(bench.plan_consolidate(refused=(refused,)))
    assert again.refused == (refused,)
    assert bullet not in [line for c in again.changes if c.path == "MEMORY.md" for h in c.hunks for line in h.new]


def test_rejected_names_only_what_this_review_rejects(bench: Bench) -> None:
    proposal = proposed(bench, note="Shorter.", refused=turned(proposed(bench)))
    assert rejected(Review(proposal), NOW) == ()
