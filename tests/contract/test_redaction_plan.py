"""Secrets of an existing folder and of its git objects go by a plan: shown, confirmed, and nothing of them left."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError, NothingToDo, UsageError
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.review import from_flags
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.redactor import service
from tests.helpers.agents import copied
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.kept_by_git import kept_by_git
from tests.helpers.program import Program
from tests.helpers.secret_shapes import tokens

OLD, NEW = tokens(21)["forge-1"], tokens(22)["model-3"]


def planned(bench: Bench) -> Plan:
    return asyncio.run(Operations(bench).plan_redact(bench.request(), cancel=CancelToken()))


def kept(bench: Bench) -> bytes:
    """Return all that stands in the folder, in its git, and in the data folder."""
    objects = b"\0".join(item.data + item.name.encode() for item in bench.memory_objects(bench.memory))
    files = (path for top in (bench.memory, bench.home) for path in top.rglob("*") if path.is_file())
    return objects + b"\0".join(path.read_bytes() for path in files)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A folder whose baseline holds a secret that was deleted since."""
    return kept_by_git(tmp_path_factory.mktemp("redact"), OLD)


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def test_files_and_objects_are_cleaned_by_one_confirmed_plan(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        (bench.memory / "own.md").write_text(f"one\nthe key is {NEW}\nthe password is walnut5518\n")
        (bench.memory / "two.md").write_text("try walnut5518 first\n")
    plan = planned(bench)
    assert (plan.operation, plan.state) == ("redact", PlanState.APPLYABLE)
    assert {(f.path, f.line) for f in plan.findings} == {("own.md", 2), ("own.md", 3), ("two.md", 1)}
    assert [note for note in plan.notes if note.startswith("git keeps github_token × ")]
    receipt = asyncio.run(bench.apply(plan))
    assert receipt.operation == "redact"
    text = (bench.memory / "own.md").read_text()
    assert text == "one\nthe key is [REDACTED:api_key]\nthe password is [REDACTED:password]\n"
    left = kept(bench)
    assert [value for value in (OLD, NEW, "walnut5518") if value.encode() in left] == []
    assert not (bench.home / "undo").exists()
    assert planned(bench).state is PlanState.EMPTY


def test_what_only_git_keeps_goes_with_a_new_baseline(bench: Bench) -> None:
    assert OLD.encode() in b"".join(item.data for item in bench.memory_objects(bench.memory))
    plan = planned(bench)
    assert (plan.changes, plan.state) == ((), PlanState.APPLYABLE)
    asyncio.run(bench.apply(plan))
    assert OLD.encode() not in b"".join(item.data for item in bench.memory_objects(bench.memory))


def test_a_hunk_that_is_rejected_stays_with_a_reason(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        (bench.memory / "own.md").write_text(f"the key is {NEW}\n")
    plan = planned(bench)
    selection = from_flags(plan, reject=["own.md:*"], rest="accept", overrides={"secret-after:own.md:1": "a sample"})
    grant = asyncio.run(Operations(bench).approve(plan, selection, approver="test", surface="command line"))
    asyncio.run(Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append))
    assert NEW in (bench.memory / "own.md").read_text()
    with bench.stores.reading(bench.home) as store:
        assert NEW not in repr(store.refused_hunks())


def test_a_name_that_holds_a_secret_is_told(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        (bench.memory / f"{NEW}.md").write_text("harmless\n")
    assert [f.text for f in planned(bench).findings if "the name of this file" in f.text]


def test_a_clean_folder_has_nothing_to_do(tmp_path: Path, guard: Guard) -> None:
    bench = Bench(tmp_path)
    with guard.grant():
        bench.memory.mkdir()
        (bench.memory / "own.md").write_text("nothing here\n")
    plan = planned(bench)
    assert (plan.state, plan.effects) == (PlanState.EMPTY, ())
    with pytest.raises(NothingToDo):
        asyncio.run(bench.grant(plan))


def test_without_a_folder_it_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        planned(bench)
    with pytest.raises(UsageError, match="no memory folder"):
        asyncio.run(Operations(bench).plan_redact(bench.request(memory_root=None), cancel=CancelToken()))


def test_the_command_line_plans_and_applies_it(bench: Bench, tmp_path: Path) -> None:
    program = Program(tmp_path)
    before = program("scan-secrets", "--memory-root", program.memory)
    assert before.code == 1
    assert "to take them out: ltmem-gui plan redact" in before.out
    made = program.plan("redact")
    assert made.code == 0, made.err
    applied = program.apply(made)
    assert applied.code == 0, applied.err
    assert json.loads(applied.out)["operation"] == "redact"
    assert program("scan-secrets", "--memory-root", program.memory).code == 0
    assert program.plan("redact").code == 3


def test_a_file_that_cannot_be_checked_stays_and_is_told(
    bench: Bench, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with guard.grant():
        (bench.memory / "odd.md").write_text("odd-text\n")
    whole = service.redact_text

    def choosy(text: str, **more: Any) -> Any:
        if text == "odd-text\n":
            raise ValueError(text)
        return whole(text, **more)

    monkeypatch.setattr(service, "redact_text", choosy)
    plan = planned(bench)
    (finding,) = [f for f in plan.findings if f.path == "odd.md"]
    assert "could not be checked for secrets, and stays as it is" in finding.text
    assert "odd.md" not in {change.path for change in plan.changes}


def test_a_file_that_cannot_be_checked_for_what_another_names_stays_too(
    bench: Bench, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with guard.grant():
        (bench.memory / "one.md").write_text("the password is walnut5518\n")
        (bench.memory / "two.md").write_text("try walnut5518 first\n")
    whole = service.redact_text

    def choosy(text: str, **more: Any) -> Any:
        if text.startswith("try ") and "walnut5518" in more["known"]:
            raise ValueError(text)
        return whole(text, **more)

    monkeypatch.setattr(service, "redact_text", choosy)
    plan = planned(bench)
    assert [change.path for change in plan.changes] == ["one.md"]
    assert [f.path for f in plan.findings if "could not be checked" in f.text] == ["two.md"]
