"""`scan` and `rollout` on real files, through the whole command line."""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.cli.main import Surfaces, run
from tests.helpers.guard import Guard
from tests.helpers.program import Program
from tests.helpers.session_lines import OTHER, SESSION, THREAD, assistant, claude, item, meta, rollout_name, user, write

OLD = ("--set", "max_rollout_age_days=36500")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def call(*args: str | Path) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    surfaces = Surfaces(compose=compose, launch_window=lambda options: 99)
    code = run([str(arg) for arg in args], surfaces, io.StringIO(), out, err)
    return Answer(int(code), out.getvalue(), err.getvalue())


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """A folder with a good Codex session, an agent's, a Claude one and a broken file."""
    root = tmp_path / "sessions"
    write(root / rollout_name(), [meta(), user("Use uv."), assistant("Noted."), b"garbage", user("cut", at=60)])
    write(root / rollout_name(OTHER), [meta(OTHER, at=10, source={"subagent": "review"}), user("go", at=11)])
    write(root / f"{SESSION}.jsonl", [claude("user", 1, None, "hi", at=30)])
    (root / "broken.jsonl").write_bytes(b"\x00\xff\n")
    return root


def test_scan_lists_newest_first_with_reasons(sessions: Path, guard: Guard, tmp_path: Path):
    guard.protect(sessions)
    guard.watch(tmp_path)
    found = call("scan", "--source", f"codex={sessions}", "--json", *OLD)
    assert found.code == 0
    rollouts = found.json["rollouts"]
    assert [entry["id"] for entry in rollouts] == [THREAD, SESSION, OTHER]
    first, other, agent = rollouts
    required = {"id", "agent", "path", "cwd", "updated_at", "eligible", "reasons", "items", "tokens"}
    assert required <= first.keys()
    assert (first["agent"], first["cwd"], first["updated_at"]) == ("codex", "/home/dev/app", 1_772_614_860)
    assert first["eligible"] is True
    assert first["reasons"] == []
    assert first["tokens"] > 0
    assert first["skipped_lines"] == [{"line": 4, "reason": "invalid-json"}]
    assert other["agent"] == "claude"
    assert agent["eligible"] is False
    assert all(isinstance(reason, str) and "sub-agent" in reason for reason in agent["reasons"])
    assert [Path(entry["path"]).name for entry in found.json["skipped_files"]] == ["broken.jsonl"]
    assert all(name.startswith(str(sessions)) for name in guard.reads)


def test_scan_for_a_person(sessions: Path):
    found = call("scan", "--source", f"codex={sessions}")
    assert "too old" in found.out
    assert "line 4 skipped: invalid-json" in found.out
    assert "3 sessions, 0 to take, 3 to skip" in found.out
    assert "broken.jsonl" in found.out


def test_scan_without_sessions_is_nothing_to_do(tmp_path: Path):
    for json_flag in ([], ["--json"]):
        found = call("scan", "--source", f"codex={tmp_path}", *json_flag)
        assert found.code == 3
        assert str(tmp_path) in found.err
    assert call("scan", "--source", f"codex={tmp_path}", "--json").json == {"rollouts": [], "skipped_files": []}


def test_scan_refuses_what_it_cannot_mean(tmp_path: Path):
    missing = call("scan", "--source", f"codex={tmp_path / 'none'}")
    assert missing.code == 1
    assert str(tmp_path / "none") in missing.err
    assert "—" in missing.err
    assert call("scan").code == 2
    assert call("scan", "--source", f"codex={tmp_path}", "--set", "min_rollout_idle_hours=49").code == 2


def test_scan_never_touches_a_data_folder_that_does_not_exist(sessions: Path, tmp_path: Path, guard: Guard):
    home = tmp_path / "home"
    guard.protect(home, tmp_path / "mem")
    found = call("scan", "--home", home, "--memory-root", tmp_path / "mem", "--source", f"codex={sessions}", "--json")
    assert found.code == 0
    assert not home.exists()


def test_rollout_prints_everything_as_it_is(tmp_path: Path):
    secret = "AKIA" + "Q" * 16
    rows = [
        meta(git={"branch": "main"}),
        user("<environment_context>\n</environment_context>"),
        user(f"key {secret} \u202e é"),
        item(type="function_call", name="sh", arguments='{"cmd":"ls"}', call_id="c"),
        assistant("done", at=9),
    ]
    path = write(tmp_path / "any name", rows)
    path.write_bytes(path.read_bytes() + b'{"cut')
    found = call("rollout", path, "--json", *OLD).json
    assert (found["id"], found["agent"], found["cwd"], found["git_branch"]) == (
        THREAD,
        "codex",
        "/home/dev/app",
        "main",
    )
    assert (found["source"], found["parent"], found["started_at"], found["updated_at"]) == (
        "cli",
        None,
        1_772_614_800,
        1_772_614_809,
    )
    assert (found["eligible"], found["reasons"]) == (True, [])
    assert found["user_texts"] == [f"key {secret} \u202e é"]
    assert found["assistant_texts"] == ["done"]
    assert found["skipped_lines"] == []
    assert found["incomplete_tail_line"] == 6
    assert found["warnings"] == []
    assert [(i["line"], i["role"], i["kind"], i["injected"]) for i in found["items"]] == [
        (2, "user", "context", True),
        (3, "user", "message", False),
        (4, "assistant", "tool_call", False),
        (5, "assistant", "message", False),
    ]
    assert found["items"][2]["tool"] == {"name": "sh", "call_id": "c", "failed": False}
    assert found["items"][1]["tool"] is None


def test_rollout_for_a_person_shows_every_rule_and_hidden_characters(tmp_path: Path):
    path = write(tmp_path / rollout_name(), [meta(), user("turn\u202e over"), b"x", b'{"a"'])
    found = call("rollout", path, "--memory-root", "/home/dev").out
    assert "⟨U+202E⟩" in found
    assert "NO  too old" in found
    assert "NO  working folder /home/dev/app is the memory root or below it" in found
    assert "ok  a root session" in found
    assert "line 3 skipped" in found


def test_rollout_of_a_fork_says_what_was_inherited(tmp_path: Path):
    rows = [meta(forked_from_id=OTHER), meta(OTHER), user("parent's", at=0.2), user("own", at=9)]
    path = write(tmp_path / "x.jsonl", [*rows, {"timestamp": "x", "type": "event_msg", "payload": {}}])
    found = call("rollout", path, "--json").json
    assert found["parent"] == OTHER
    assert found["user_texts"] == ["own"]
    assert "(inherited)" in call("rollout", path).out
    path.write_bytes(path.read_bytes() + b"{")
    assert "is not finished yet" in call("rollout", path).out


def test_rollout_of_an_own_data_folder_knows_what_is_up_to_date(tmp_path: Path):
    path = write(tmp_path / "x.jsonl", [meta(), user("x")])
    home = tmp_path / "home"
    rules = call("rollout", path, "--home", home, "--json").json["rules"]
    assert {"rule": "up_to_date", "passed": True, "text": "not extracted in this state yet"} in rules
    assert not home.exists()


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"no json\n"])
def test_rollout_of_what_is_no_session_is_a_message(tmp_path: Path, content: bytes):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    found = call("rollout", path)
    assert (found.code, found.out) == (1, "")
    assert str(path) in found.err
    assert "Traceback" not in found.err


def test_rollout_needs_one_session(tmp_path: Path):
    assert call("rollout", tmp_path / "none").code == 1
    write(tmp_path / "a.jsonl", [meta(), user("x")])
    write(tmp_path / "b.jsonl", [meta(OTHER), user("y")])
    several = call("rollout", tmp_path)
    assert several.code == 2
    assert OTHER in several.err
    assert call("rollout", tmp_path, "--thread", OTHER, "--json").json["user_texts"] == ["y"]
    assert call("rollout", tmp_path, "--thread", "nobody").code == 1
    assert call("rollout", tmp_path / "a.jsonl", "--thread", OTHER).code == 1
    empty = tmp_path / "empty"
    empty.mkdir()
    assert call("rollout", empty).code == 1


def test_the_idle_rule_follows_the_last_record_not_the_file(tmp_path: Path):
    path = write(tmp_path / rollout_name(), [meta(), user("x")])
    os.utime(path, (time.time(), time.time()))
    found = call("scan", "--source", f"codex={tmp_path}", "--json", *OLD).json["rollouts"][0]
    assert found["eligible"], found["reasons"]


def test_neither_command_loads_the_redaction_engine_or_touches_anything(tmp_path: Path):
    program = Program(tmp_path / "place")
    program.place.mkdir()
    path = write(tmp_path / "s" / rollout_name(), [meta(), user("x")])
    for args in (("scan", "--source", f"codex={path.parent}", "--json"), ("rollout", path, "--json")):
        found = program(*args)
        assert found.code == 0, found.err
        assert found.touched(path.parent) == []
        assert not [what for _, what in found.events if "kingfisher" in what and "dist-info" not in what]


def test_what_a_fork_inherited_is_not_learnt_at_apply_either(tmp_path: Path):
    program = Program(tmp_path / "place")
    program.place.mkdir()
    sessions = tmp_path / "s"
    inherited, own = "Always use pnpm here, never npm.", "Never edit generated files by hand in this repo."
    write(sessions / rollout_name(OTHER), [meta(OTHER), user("hello"), user(inherited, at=3), assistant("ok", at=4)])
    rows = [meta(forked_from_id=OTHER), user("hello"), user(inherited, at=3), assistant("ok", at=4), user(own, at=900)]
    write(sessions / rollout_name(), rows)
    planned = program.plan("extract", "--source", f"codex={sessions}", *OLD)
    assert planned.code == 0, planned.err
    applied = program.apply(planned)
    assert applied.code == 0, applied.err
    with compose(program.home).stores.reading(program.home) as store:
        raw = {output.thread_id: output.raw_memory for output in store.outputs()}
    assert "pnpm" in raw[OTHER]
    assert "generated files" in raw[THREAD]
    assert "pnpm" not in raw[THREAD]
