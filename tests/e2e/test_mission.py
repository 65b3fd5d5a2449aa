"""One test for each hard rule, pitfall and checklist line of the mission.

The text of the mission is not repeated; each test is named after the line it proves.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ltmem_gui.domain import citations, leases, naming
from ltmem_gui.domain.effects import AgentConstraints
from ltmem_gui.domain.extraction import SELF_QUESTION, BadReply, StageOneOutput, StageOneReply, decode_reply
from ltmem_gui.domain.memory_items import (
    CONTEXT_WINDOW_PERCENT,
    DEFAULT_ROLLOUT_TOKEN_LIMIT,
)
from ltmem_gui.domain.rollouts import THREAD_SCAN_LIMIT
from ltmem_gui.domain.selection import select
from ltmem_gui.domain.watermark import advance
from ltmem_gui.pipeline import extraction
from tests.e2e.conftest import SECRET
from tests.helpers.program import Program, tree
from tests.helpers.sessions import DAY, write_codex

CHECKOUT = Path(__file__).resolve().parents[2]


def reply(**changes: object) -> str:
    fields = {"raw_memory": "- use pnpm", "rollout_summary": "# Used pnpm", "rollout_slug": "pnpm"}
    return json.dumps(fields | changes)


def output(thread: str, **changes: object) -> StageOneOutput:
    values: dict[str, object] = {"source_updated_at": 1_000, "generated_at": 1_000, "cwd": "/p", "rollout_path": "/r"}
    return StageOneOutput(thread_id=thread, raw_memory="- x", rollout_summary="# x", **(values | changes))  # type: ignore[arg-type]


# --- constants -----------------------------------------------------------------------------------------------------


def test_the_constants_of_the_reference_are_kept() -> None:
    assert extraction.CONCURRENCY_LIMIT == 8
    assert leases.StageOne.JOB_LEASE_SECONDS == leases.StageTwo.JOB_LEASE_SECONDS == 3_600
    assert leases.StageOne.JOB_RETRY_DELAY_SECONDS == leases.StageTwo.JOB_RETRY_DELAY_SECONDS == 3_600
    assert leases.StageOne.PRUNE_BATCH_SIZE == 200
    assert leases.StageTwo.JOB_HEARTBEAT_SECONDS == 90
    assert (leases.StageOne.REASONING_EFFORT, leases.StageTwo.REASONING_EFFORT) == ("low", "medium")
    assert (THREAD_SCAN_LIMIT, DEFAULT_ROLLOUT_TOKEN_LIMIT, CONTEXT_WINDOW_PERCENT) == (5_000, 150_000, 70)
    assert naming.EXTENSIONS_SUBDIR == "extensions"
    assert naming.ROLLOUT_SUMMARIES_SUBDIR == "rollout_summaries"
    assert naming.RAW_MEMORIES_FILENAME == "raw_memories.md"
    assert naming.FILENAME_TS_FORMAT == "%Y-%m-%dT%H-%M-%S"
    assert naming.RETENTION_DAYS == 7
    assert naming.WORKSPACE_DIFF_FILENAME == "phase2_workspace_diff.md"
    assert naming.WORKSPACE_DIFF_MAX_BYTES == 4 * 1024 * 1024


# --- Phase 1 -------------------------------------------------------------------------------------------------------


def test_phase_1_denies_unknown_fields() -> None:
    assert StageOneReply.model_config["extra"] == "forbid"
    with pytest.raises(BadReply, match="extra"):
        decode_reply(reply(extra="x"))
    with pytest.raises(BadReply, match="rollout_slug"):
        decode_reply(json.dumps({"raw_memory": "a", "rollout_summary": "b"}))


def test_phase_1_concurrency_is_capped_by_a_single_constant() -> None:
    source = "".join(path.read_text("utf-8") for path in (CHECKOUT / "ltmem_gui").rglob("*.py"))
    assert len(re.findall(r"^CONCURRENCY_LIMIT\b.*=", source, re.MULTILINE)) == 1
    assert inspect.getsource(extraction).count("range(CONCURRENCY_LIMIT)") == 1


def test_phase_1_lease_and_token_prevent_two_workers_on_one_rollout(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    first = program.apply(planned)
    assert first.json["counts"]["succeeded"] == 3
    jobs = program("jobs", "--home", program.home, "--json").json
    attempts = [job["attempts"] for job in jobs["jobs"] if job["kind"] == "memory_stage1"]
    assert [len(tries) for tries in attempts] == [1, 1, 1, 1]


def test_phase_1_a_no_op_is_a_success_that_writes_nothing(program: Program, tmp_path: Path) -> None:
    write_codex(tmp_path / "s", [("user", "what does HTTP 418 mean?"), ("assistant", "I am a teapot.")])
    planned = program.plan("extract", "--source", f"codex={tmp_path / 's'}")
    receipt = program.apply(planned)
    assert receipt.json["counts"] == {"nothing to remember": 1}
    assert program.plan("consolidate").code == 3
    assert program.plan("extract", "--source", f"codex={tmp_path / 's'}").code == 3
    assert not program.memory.exists()


def test_phase_1_the_prompt_asks_the_question_and_offers_the_empty_answer() -> None:
    prompt = "".join(path.read_text("utf-8") for path in (CHECKOUT / "prompts").glob("stage_one*"))
    assert SELF_QUESTION in prompt or "self_question" in prompt
    assert "empty" in prompt


def test_phase_1_secrets_are_redacted_before_they_are_stored(program: Program, sessions: Path) -> None:
    program.apply(program.plan("extract", "--source", f"codex={sessions}"))
    for path in program.home.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()


def test_phase_1_takes_only_interactive_root_sessions(program: Program, sessions: Path) -> None:
    write_codex(sessions / "sessions", [("user", "Always use tabs.")], number=20, memory_mode="disabled")
    found = program("scan", "--source", f"codex={sessions}", "--json").json["rollouts"]
    reasons = {rollout["id"][-1]: rollout["reasons"] for rollout in found if not rollout["eligible"]}
    assert len(reasons) == 3
    assert any("exec" in text for text in reasons["5"])
    assert any("sub-agent" in text for text in reasons["6"])


# --- Phase 2 -------------------------------------------------------------------------------------------------------


def test_phase_2_ranks_by_usage_then_last_usage_then_generated_at() -> None:
    often = output("a", usage_count=3, last_usage=900)
    lately = output("b", usage_count=1, last_usage=990)
    never = output("c", generated_at=980)
    older = output("d", generated_at=970)
    for limit, kept in ((1, "a"), (2, "ab"), (3, "abc")):
        chosen = select([older, never, lately, often], now=1_000, limit=limit, max_unused_days=30)
        assert "".join(row.thread_id for row in chosen) == kept


def test_phase_2_drops_what_was_not_used_for_max_unused_days() -> None:
    now = 100 * DAY
    fresh = output("a", last_usage=now - 30 * DAY, usage_count=1)
    stale = output("b", last_usage=now - 30 * DAY - 1, usage_count=9)
    assert select([fresh, stale], now=now, limit=9, max_unused_days=30) == [fresh]


def test_phase_2_raw_memories_are_in_ascending_thread_order(written: Program) -> None:
    threads = re.findall(r"^## Thread `(.+)`$", (written.memory / "raw_memories.md").read_text(), re.MULTILINE)
    assert len(threads) == 3
    assert threads == sorted(threads)


def test_phase_2_prunes_stale_summaries_and_old_extension_resources(program: Program, sessions: Path) -> None:
    summaries = program.memory / "rollout_summaries"
    resources = program.memory / "extensions" / "chat" / "resources"
    for folder in (summaries, resources):
        folder.mkdir(parents=True)
    (resources.parent / "instructions.md").write_text("# how\n")
    (resources / "2020-01-01T00-00-00-old.md").write_text("old\n")
    (resources / "2999-01-01T00-00-00-new.md").write_text("new\n")
    (summaries / "2020-01-01T00-00-00-aaaa-old.md").write_text("old\n")
    (summaries / "notes.txt").write_text("mine\n")
    program.run(f"codex={sessions}")
    kept = tree(program.memory)
    assert "extensions/chat/resources/2020-01-01T00-00-00-old.md" not in kept
    assert "rollout_summaries/2020-01-01T00-00-00-aaaa-old.md" not in kept
    assert {"extensions/chat/resources/2999-01-01T00-00-00-new.md", "rollout_summaries/notes.txt"} <= kept.keys()


def test_phase_2_no_change_against_the_baseline_means_nothing_to_do(written: Program) -> None:
    assert written.plan("consolidate").code == 3


def test_phase_2_the_agent_is_ephemeral_and_fenced() -> None:
    fence = AgentConstraints(cwd="/m").model_dump()
    assert fence["ephemeral"] is True
    assert {"Collab", "MemoryTool", "Apps", "Plugins"} <= set(fence["disabled_features"])
    assert fence["approval_policy"] == "never"
    assert (fence["generate_memories"], fence["use_memories"], fence["shell"]) == (False, False, False)
    with pytest.raises(ValueError, match="True"):
        AgentConstraints.model_validate({"cwd": "/m", "ephemeral": False})


# --- citations, watermark, output ----------------------------------------------------------------------------------


def test_citations_follow_the_single_line_format() -> None:
    block = (
        "<citation_entries>\npath/to/file.md:10-15 |note=[why this matters]\nbroken line\n</citation_entries>\n"
        "<rollout_ids>\nthread-abc-123\nthread-abc-123\nthread-def-456\n</rollout_ids>\n"
    )
    parsed = citations.parse(block)
    assert [(e.path, e.start, e.end, e.note) for e in parsed.entries] == [
        ("path/to/file.md", 10, 15, "why this matters")
    ]
    assert len(parsed.rejected) == 1
    assert list(parsed.rollout_ids) == ["thread-abc-123", "thread-def-456"]


def test_every_bullet_of_memory_points_at_its_lines(written: Program, sessions: Path) -> None:
    checked = written("cite", "check", "--memory-root", written.memory, "--source", f"codex={sessions}", "--json")
    assert checked.code == 0, checked.out
    text = (written.memory / "MEMORY.md").read_text()
    assert "<citation_entries>" in text
    assert re.search(r"^- .*pnpm.*\[c\d+\]", text, re.MULTILINE)


def test_the_watermark_never_moves_backwards(program: Program, sessions: Path) -> None:
    assert advance(stored=100, claimed=100, source_updated_at=[90, 95]) == 100
    program.run(f"codex={sessions}")
    write_codex(
        sessions / "sessions", [("user", "Always use tabs in this repo.")], number=30, at=int(time.time()) - 3 * DAY
    )
    program.run(f"codex={sessions}")
    assert program("log", "--home", program.home, "--verify").code == 0
    printed = program("log", "--home", program.home, "--json").out
    marks = [int(mark) for mark in re.findall(r'"watermark_after": (\d+)', printed)]
    assert marks == sorted(marks)
    assert len(marks) == 2


def test_the_output_contract_holds(written: Program) -> None:
    files = tree(written.memory)
    assert {"MEMORY.md", "memory_summary.md", "raw_memories.md"} <= files.keys()
    assert (written.memory / "memory_summary.md").read_text().startswith("v1\n")
    assert (written.memory / ".git").is_dir()
    assert "phase2_workspace_diff.md" not in files


# --- pitfalls ------------------------------------------------------------------------------------------------------


def test_pitfall_usage_does_not_churn_the_files(written: Program) -> None:
    before = tree(written.memory)
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
    change = "update stage1_outputs set usage_count = 9"
    subprocess.run([sys.executable, "-c", code, str(written.home / "ltmem.sqlite"), change], check=True)
    assert written.plan("consolidate").code == 3
    assert tree(written.memory) == before


def test_pitfall_deleted_text_is_in_no_git_object(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    write_codex(
        folder, [("user", "Always call the port zebra-4711-canary in this repo, never anything else.")], number=1
    )
    write_codex(folder, [("user", "Never use npm in this repo, always use pnpm.")], number=2)
    program.run(f"codex={folder}")
    assert "zebra-4711-canary" in (program.memory / "MEMORY.md").read_text()
    canary = re.search(r"^## Thread `(.+)`$", (program.memory / "raw_memories.md").read_text(), re.MULTILINE)
    assert canary is not None
    proposed = program.plan("consolidate", "--exclude", canary[1])
    assert program.apply(proposed).code == 0
    listing = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=program.memory, capture_output=True, check=True
    )
    assert b"pnpm" in listing.stdout
    assert b"zebra-4711-canary" not in listing.stdout
    assert "zebra-4711-canary" not in "".join(p.read_text() for p in program.memory.rglob("*.md"))


def test_pitfall_the_diff_file_is_gone_before_the_baseline_is_made(program: Program, sessions: Path) -> None:
    program.memory.mkdir()
    (program.memory / "phase2_workspace_diff.md").write_text("left over\n")
    program.run(f"codex={sessions}")
    assert not (program.memory / "phase2_workspace_diff.md").exists()
    listed = subprocess.run(["git", "ls-files"], cwd=program.memory, capture_output=True, check=True, text=True)
    assert "phase2_workspace_diff.md" not in listed.stdout


def test_pitfall_two_runs_cannot_consolidate_at_once(program: Program, sessions: Path) -> None:
    assert program.apply(program.plan("extract", "--source", f"codex={sessions}")).code == 0
    proposed = program.plan("consolidate")
    path = program.place / "both.json"
    path.write_text(proposed.out)
    calls = [
        subprocess.Popen(
            [sys.executable, "-m", "ltmem_gui", "apply", "--plan", str(path), "--digest", proposed.json["digest"]],
            cwd=CHECKOUT,
            env=program.env(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    codes = sorted((call.communicate()[0], call.returncode)[1] for call in calls)
    assert codes == [0, 4, 4]
    assert (
        subprocess.run(["git", "status", "--porcelain"], cwd=program.memory, capture_output=True, check=True).stdout
        == b""
    )


def test_nothing_is_written_before_a_confirmation(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    shown = program("show", "--plan", "-", stdin=planned.out)
    assert shown.code == 0
    assert not program.home.exists()
    assert not program.memory.exists()
    assert planned.touched(program.place / "user", program.home, program.memory, sessions) == []


def test_nothing_is_sent_with_the_built_in_provider(program: Program, sessions: Path) -> None:
    planned = program.plan("extract", "--source", f"codex={sessions}")
    assert [effect["type"] for effect in planned.json["effects"] if effect["type"] == "SendToModel"] == []
    applied = program.apply(planned)
    assert [what for kind, what in (*planned.events, *applied.events) if kind == "connect"] == []
