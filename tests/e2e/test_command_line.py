"""The program as a subprocess: from an empty home to a written folder, its exit codes, its refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import SECRET
from tests.helpers.program import Program, tree
from tests.helpers.sessions import write_codex


def test_from_an_empty_home_to_a_written_folder(written: Program) -> None:
    files = tree(written.memory)
    summaries = [path for path in files if path.startswith("rollout_summaries/")]
    assert {"MEMORY.md", "memory_summary.md", "raw_memories.md"} <= files.keys()
    assert len(summaries) == 3
    assert "phase2_workspace_diff.md" not in files
    assert (written.memory / "memory_summary.md").read_text().split("\n")[0] == "v1"
    assert "pnpm" in (written.memory / "MEMORY.md").read_text()
    done = subprocess.run(["git", "status", "--porcelain"], cwd=written.memory, capture_output=True, check=True)
    assert done.stdout == b""


def test_a_second_run_with_nothing_new_changes_no_byte(written: Program, sessions: Path) -> None:
    before = tree(written.place / "memory") | tree(written.home)
    again = written.plan("extract", "--source", f"codex={sessions}")
    assert (again.code, again.json["state"]) == (3, "empty")
    assert again.json["effects"] == []
    proposed = written.plan("consolidate")
    assert (proposed.code, proposed.json["state"]) == (3, "empty")
    assert tree(written.place / "memory") | tree(written.home) == before


def test_planning_writes_nothing_and_starts_nothing_but_git(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    assert planned.touched(program.home, program.memory, sessions) == []
    assert not program.home.exists()
    assert not program.memory.exists()
    assert [what for kind, what in planned.events if kind == "connect"] == []


def test_planning_a_consolidation_writes_nothing_below_the_folders(written: Program, sessions: Path) -> None:
    write_codex(sessions / "sessions", [("user", "Always use tabs in this repo, never spaces.")], number=9)
    assert written.apply(written.plan("extract", "--source", f"codex={sessions}")).code == 0
    before = tree(written.memory), (written.memory / ".git" / "index").stat().st_mtime_ns
    proposed = written.plan("consolidate")
    assert proposed.code == 0
    assert proposed.touched(written.home, written.memory) == []
    assert (tree(written.memory), (written.memory / ".git" / "index").stat().st_mtime_ns) == before


def test_nothing_is_opened_before_it_is_named(program: Program, sessions: Path) -> None:
    codex_home = program.place / "user" / ".codex"
    program.env()
    shutil.copytree(sessions, codex_home)
    elsewhere = program.place / "empty"
    elsewhere.mkdir()
    for call in (("--help",), ("scan", "--source", f"codex={elsewhere}")):
        result = program(*call)
        seen = result.touched(codex_home, sessions, kinds=("read", "list", "write", "change", "database"))
        assert seen == []


def test_help_and_version_write_nothing(program: Program) -> None:
    for call in ("--help", "--version"):
        result = program(call)
        assert result.code == 0
        assert result.touched(program.place / "user", program.home, program.memory) == []
        assert "PySide6" not in "".join(what for _, what in result.events)


def test_scan_lists_every_rollout_with_its_reasons(program: Program, sessions: Path) -> None:
    found = program("scan", "--source", f"codex={sessions}", "--json")
    rollouts = found.json["rollouts"]
    assert len(rollouts) == 6
    assert sorted(r["eligible"] for r in rollouts) == [False, False, True, True, True, True]
    assert all(r["reasons"] for r in rollouts if not r["eligible"])
    assert not any("kingfisher_sdk" in what for _, what in found.events)


def test_a_scan_of_a_folder_without_rollouts(program: Program, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert program("scan", "--source", f"codex={empty}", "--json").code == 3
    missing = program("scan", "--source", f"codex={tmp_path / 'missing'}", "--json")
    assert missing.code == 1
    assert "missing" in missing.err
    assert "Traceback" not in missing.err


def test_a_secret_is_in_no_file_and_no_database(written: Program) -> None:
    for root in (written.home, written.memory):
        for path in root.rglob("*"):
            if path.is_file():
                assert SECRET.encode() not in path.read_bytes(), path


def test_a_wrong_digest_is_refused(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    path = program.place / "p.json"
    path.write_text(planned.out)
    refused = program("apply", "--plan", path, "--digest", "0" * 64)
    assert refused.code == 4
    altered = planned.json | {"home": str(program.place / "elsewhere")}
    assert program.apply(altered).code == 4
    assert not program.home.exists()


def test_a_plan_is_applied_once(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    assert program.apply(planned).code == 0
    again = program.apply(planned)
    assert again.code == 4
    assert "applied already" in again.err or "exists by now" in again.err


def test_a_folder_that_moved_makes_the_plan_stale(program: Program, sessions: Path) -> None:
    assert program.apply(program.plan("extract", "--source", f"codex={sessions}")).code == 0
    proposed = program.plan("consolidate")
    program.memory.mkdir()
    (program.memory / "MEMORY.md").write_text("mine\n")
    refused = program.apply(proposed)
    assert refused.code == 4
    assert "MEMORY.md" in refused.err
    assert tree(program.memory) == tree(program.memory)
    assert (program.memory / "MEMORY.md").read_text() == "mine\n"


def test_a_rollout_that_changed_since_planning_is_skipped_with_that_reason(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    changed = next(iter(sorted(sessions.rglob("rollout-*.jsonl"))))
    with changed.open("a") as file:
        file.write("\n")
    receipt = program.apply(planned)
    assert receipt.code == 0
    assert receipt.json["counts"].get("changed since planning") == 1


def test_settings_and_sources_are_bound_into_the_plan(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}", "--set", "max_rollouts_per_startup=1")
    assert planned.json["settings"]["max_rollouts_per_run"] == 1
    assert len(next(e for e in planned.json["effects"] if e["type"] == "ClaimJobs")["jobs"]) == 1
    assert program.apply(planned).code == 0


@pytest.mark.parametrize("bad", ["max_unused_days=99999", "no_such=1", "min_rollout_idle_hours=49"])
def test_settings_out_of_range_are_usage_errors(program: Program, bad: str) -> None:
    result = program.plan("extract", "--source", f"codex={program.place}", "--set", bad)
    assert (result.code, "Traceback" in result.err) == (2, False)


@pytest.mark.parametrize("args", [("nonsense",), ("apply",), ("plan", "extract"), ("--source", "x", "scan")])
def test_usage_errors(program: Program, args: tuple[str, ...]) -> None:
    result = program(*args)
    assert (result.code, "Traceback" in result.err) == (2, False)


def test_a_symlinked_memory_root_is_refused(program: Program, sessions: Path) -> None:
    assert program.apply(program.plan("extract", "--source", f"codex={sessions}")).code == 0
    real = program.place / "real"
    real.mkdir()
    program.memory.symlink_to(real)
    refused = program.plan("consolidate")
    assert refused.code == 1
    assert str(program.memory) in refused.err
    assert "Traceback" not in refused.err
    assert list(real.iterdir()) == []


def test_git_missing_is_named_with_its_remedy(program: Program, sessions: Path, tmp_path: Path) -> None:
    assert program.apply(program.plan("extract", "--source", f"codex={sessions}")).code == 0
    bare = tmp_path / "bin"
    bare.mkdir()
    program.environment["PATH"] = str(bare)
    (program.memory / ".git").mkdir(parents=True)
    refused = program.plan("consolidate")
    assert refused.code == 1
    assert "git" in refused.err
    assert "install" in refused.err
    assert "Traceback" not in refused.err


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 400, b'{"timestamp": "2026', bytes(range(256)) * 2, b"[1]\n42\n", b"\xff\xfe\x00"]
)
def test_broken_rollouts_cost_only_themselves(program: Program, sessions: Path, content: bytes) -> None:
    (sessions / "sessions" / "rollout-2026-01-01T00-00-00-broken.jsonl").write_bytes(content)
    planned = program.plan("extract", "--source", f"codex={sessions}")
    assert planned.code == 0
    assert "Traceback" not in planned.err
    assert len(next(e for e in planned.json["effects"] if e["type"] == "ClaimJobs")["jobs"]) == 4


def test_what_is_no_plan_is_refused_by_name(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "not-a-plan.json"
    path.write_text(json.dumps({"hello": 1}))
    result = program("apply", "--plan", path, "--digest", "x")
    assert (result.code, "Traceback" in result.err) == (1, False)
    assert "not-a-plan.json" in result.err


def test_the_demo_runs_in_a_folder_of_its_own(program: Program) -> None:
    folder = program.place / "demo"
    first = program("demo", "--into", folder)
    assert first.code == 0, first.err
    assert str(folder) in first.out.split("\n")[0]
    assert "pnpm" in (folder / "memory" / "MEMORY.md").read_text()
    outside = [
        e for e in first.touched(program.place) if str(folder) not in e and "audit" not in e and "state" not in e
    ]
    assert outside == []
    again = program("demo", "--into", folder)
    assert again.code == 1
    assert str(folder) in again.err
