"""`log` and `jobs` as a person calls them."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any, cast

import pytest

from ltmem_gui.cli import log
from ltmem_gui.cli.context import Context
from ltmem_gui.domain.consent import Approval
from ltmem_gui.domain.errors import DatabaseDamaged, UsageError
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import Adapters
from tests.helpers.guard import Guard
from tests.helpers.stores import NOW, Home, a_receipt, claimed, extracted


class OnlyStores:
    """Adapters of which only the stores are asked for."""

    def __init__(self, home: Home) -> None:
        self.stores = home.stores


def call(home: Home, *argv: str, named: bool = True) -> tuple[int, str]:
    parser = argparse.ArgumentParser()
    log.register(parser.add_subparsers())
    out = io.StringIO()
    context = Context(
        adapters=cast(Adapters, OnlyStores(home)),
        home=home.path if named else None,
        memory_root=None,
        sources=(),
        settings=Settings(),
        stdin=io.StringIO(),
        out=out,
        err=io.StringIO(),
    )
    args = parser.parse_args(argv)
    return args.run(args, context), out.getvalue()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home").create()
    with home.open() as store:
        approval = Approval(
            plan_digest="p" * 64,
            selection_digest="s",
            fingerprint="f",
            approver="me\u202e",
            surface="window",
            at=NOW,
            expires_at=NOW + 900,
        )
        store.record_approval(approval)
        store.record_receipt(a_receipt("p" * 64))
    return home


def test_the_log_is_printed_as_json_with_its_chain(home: Home) -> None:
    code, text = call(home, "log", "--json")
    shown: dict[str, Any] = json.loads(text)
    assert code == 0
    assert shown["intact"] is True
    assert shown["broken_at"] is None
    approval, receipt = shown["operations"]
    assert (approval["type"], approval["number"], approval["operation_number"]) == ("approval", 1, None)
    assert approval["body"]["approver"] == "me\u202e"
    assert (receipt["type"], receipt["operation_number"], receipt["previous"]) == ("receipt", 1, approval["hash"])
    assert receipt["body"]["plan_digest"] == receipt["plan_digest"] == "p" * 64


def test_the_log_is_printed_in_words_with_hidden_characters_visible(home: Home) -> None:
    code, text = call(home, "log")
    assert code == 0
    assert "⟨U+202E⟩" in text
    assert "operation 1: apply/consolidate, 0 files" in text
    assert "the log is whole: 2 entries" in text


@pytest.mark.parametrize("broken", [False, True])
def test_verify_tells_by_its_exit_code(home: Home, broken: bool) -> None:
    if broken:
        home.sql("UPDATE operations SET body = 'no json' WHERE number = 2")
    code, text = call(home, "log", "--verify")
    assert code == int(broken)
    assert ("broken at entry 2" in text) is broken
    code, text = call(home, "log", "--verify", "--json")
    assert code == int(broken)
    assert json.loads(text)["intact"] is not broken
    assert call(home, "log")[0] == 0


def test_a_body_that_is_no_object_is_shown_as_it_is(home: Home) -> None:
    home.sql("UPDATE operations SET body = '[1]' WHERE number = 1")
    _, text = call(home, "log", "--json")
    assert json.loads(text)["operations"][0]["body"] == {"unreadable": "[1]"}


@pytest.mark.parametrize("body", ['{"steps": 7}', '{"steps": {"a": 1}}', '{"steps": [1, {}]}', '{"files": 7}'])
def test_a_body_of_other_forms_is_shown_as_far_as_it_goes(home: Home, body: str) -> None:
    home.sql(f"UPDATE operations SET body = '{body}' WHERE type = 'receipt'")
    code, text = call(home, "log")
    assert code == 0
    assert "the log is broken at entry" in text
    assert json.loads(call(home, "log", "--json")[1])["intact"] is False


def test_nothing_is_created_by_looking(tmp_path: Path, guard: Guard) -> None:
    home = Home(tmp_path / "home")
    guard.protect(home.path)
    assert call(home, "log", "--verify") == (0, "nothing was approved or applied yet\n")
    assert json.loads(call(home, "log", "--json")[1]) == {"operations": [], "intact": True, "broken_at": None}
    assert call(home, "jobs") == (0, "the queue is empty\n")
    assert json.loads(call(home, "jobs", "--json")[1]) == {"jobs": []}
    assert not home.path.exists()
    with pytest.raises(UsageError):
        call(home, "log", named=False)


def test_the_queue_is_listed_with_every_attempt(home: Home) -> None:
    with home.open() as store:
        extracted(store, "done")
        claim = claimed(store, "failed")
        store.fail_stage1(claim, outcome="failed", group="timeout", reason="slow", now=NOW, retry_after=None)
        claimed(store, "running")
    code, text = call(home, "jobs", "--json")
    jobs = {job["job_key"]: job for job in json.loads(text)["jobs"]}
    assert code == 0
    assert set(jobs) == {"global", "done", "failed", "running"}
    assert jobs["done"]["status"] == "done"
    assert jobs["done"]["attempts"][0]["outcome"] == "succeeded"
    assert jobs["failed"]["error_group"] == "timeout"
    assert jobs["failed"]["retry_at"] == NOW + 3600
    _, words = call(home, "jobs")
    lines = words.split("\n")
    assert any("failed" in line and "slow" in line and "next try 2027-01-15 09:00:00" in line for line in lines)
    assert any("running" in line and "held by here:100:1:worker-a until 2027" in line for line in lines)
    assert any("consolidation" in line for line in lines)


@pytest.mark.parametrize("command", ["log", "jobs"])
def test_a_damaged_database_is_no_empty_log(home: Home, command: str) -> None:
    home.database.write_bytes(b"x" * 4096)
    with pytest.raises(DatabaseDamaged):
        call(home, command)


def test_a_time_no_calendar_holds_stays_a_number(home: Home) -> None:
    home.sql("UPDATE operations SET at = 99999999999999 WHERE number = 1")
    assert "99999999999999" in call(home, "log")[1]
