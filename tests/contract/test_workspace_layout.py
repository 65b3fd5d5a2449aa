"""Rendered inputs equal what a real Codex wrote for the same rows; what is stale is named, all else stays."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.workspace import layout
from ltmem_gui.workspace.folder import MemoryFolder

DAY = 86_400
HOME = "/home/dev/app"
ROLLOUT = "/home/dev/.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{}.jsonl"
ROW = StageOneOutput(
    "01a1830c-8c00-72a6-9701-90a7f08ae6f6",
    1_795_701_567,
    "\n  raw é\r\nlines \u2028\n",
    "# S\n\nran tests\n",
    "Run Tests!",
    cwd="/home/dev/my app",
    rollout_path="/r.jsonl",
    git_branch="main",
)


def _time(value: Any, now: int) -> int:
    return now - DAY * int(value[len("now-") : -1]) if isinstance(value, str) else value


def _rows(case: dict[str, Any]) -> list[StageOneOutput]:
    """Return the rows that Codex selected, which are those whose block is in its raw memories."""
    raw = case["files_after"]["raw_memories.md"]
    now = case["now"]
    return [
        StageOneOutput(
            thread_id=r["thread_id"],
            source_updated_at=_time(r["source_updated_at"], now),
            raw_memory=r["raw_memory"],
            rollout_summary=r["rollout_summary"],
            rollout_slug=r["rollout_slug"],
            cwd=r.get("cwd", HOME),
            rollout_path=r.get("rollout_path", ROLLOUT.format(r["thread_id"])),
            git_branch=r.get("git_branch"),
        )
        for r in case["rows"]
        if f"## Thread `{r['thread_id']}`\nupdated_at" in raw
    ]


def test_every_golden_case_is_rendered_byte_for_byte(shared: Path) -> None:
    cases = json.loads((shared / "data" / "codex_goldens.json").read_text(encoding="utf-8"))
    assert len(cases) == 11
    for case in cases:
        rows = _rows(case)
        random.Random(1).shuffle(rows)
        wanted = {
            path: text.encode()
            for path, text in case["files_after"].items()
            if path == "raw_memories.md" or (path.startswith("rollout_summaries/") and path.endswith(".md"))
        }
        assert layout.render_inputs(rows) == wanted, case["name"]


def test_what_codex_pruned_is_stale_and_nothing_else(shared: Path) -> None:
    cases = json.loads((shared / "data" / "codex_goldens.json").read_text(encoding="utf-8"))
    (case,) = [case for case in cases if case["removed"]]
    snapshot = _snapshot(*case["workspace_before"])
    stale = MemoryFolder().stale_paths(snapshot, layout.render_inputs(_rows(case)), case["now"])
    assert sorted(stale) == sorted(case["removed"])
    assert all(stale.values())


def test_one_row_as_written_down_here() -> None:
    files = layout.render_inputs([ROW])
    assert files == {
        "raw_memories.md": (
            "# Raw Memories\n\nMerged stage-1 raw memories (stable ascending thread-id order):\n\n"
            "## Thread `01a1830c-8c00-72a6-9701-90a7f08ae6f6`\n"
            "updated_at: 2026-11-26T13:59:27+00:00\ncwd: /home/dev/my app\nrollout_path: /r.jsonl\n"
            "rollout_summary_file: 2026-10-28T15-06-40-7702-run_tests.md\n\nraw é\r\nlines\n\n"
        ).encode(),
        "rollout_summaries/2026-10-28T15-06-40-7702-run_tests.md": (
            b"thread_id: 01a1830c-8c00-72a6-9701-90a7f08ae6f6\nupdated_at: 2026-11-26T13:59:27+00:00\n"
            b"rollout_path: /r.jsonl\ncwd: /home/dev/my app\ngit_branch: main\n\n# S\n\nran tests\n\n"
        ),
    }
    assert layout.render_inputs([]) == {"raw_memories.md": b"# Raw Memories\n\nNo raw memories yet.\n"}
    lone = StageOneOutput("x", 0, "half \ud83d", "half \ud83d")
    assert b"half ?" in layout.render_inputs([lone])["raw_memories.md"]


def test_four_colliding_and_hostile_slugs_are_four_files(shared: Path) -> None:
    case = json.loads((shared / "cases" / "slug-collision.json").read_text(encoding="utf-8"))
    rows = [
        StageOneOutput(r["thread_id"], 1_773_393_600, r["raw_memory"], r["rollout_summary"], r["rollout_slug"])
        for r in case
    ]
    files = layout.render_inputs(rows)
    summaries = [path for path in files if path.startswith("rollout_summaries/")]
    assert len(summaries) == 4
    assert all(path.count("/") == 1 and ".." not in path for path in summaries)
    for row in rows:
        assert any(row.thread_id.encode() in files[path] for path in summaries)
    assert layout.render_inputs(rows[::-1]) == files


def _snapshot(*paths: str) -> WorkspaceSnapshot:
    return WorkspaceSnapshot("/m", True, {p: WorkspaceFile(p, b"", 0o644) for p in paths}, None, {})


NOW = 1_795_960_808  # 2026-11-29T14:00:08


@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("2026-11-22T14-00-08-x.md", True),  # exactly seven days
        ("2026-11-22T14-00-09-x.md", False),
        ("2020-01-01T00-00-00.md", True),
        ("2020-01-01T00-00-00.txt", False),
        ("2020-01-01.md", False),
    ],
)
def test_extension_resources_live_seven_days(name: str, stale: bool) -> None:
    path = f"extensions/chat/resources/{name}"
    snapshot = _snapshot("extensions/chat/instructions.md", path, f"extensions/other/resources/{name}")
    assert set(layout.stale_paths(snapshot, {}, NOW)) == ({path} if stale else set())


def test_other_peoples_files_stay() -> None:
    snapshot = _snapshot(
        "rollout_summaries/notes.txt",
        "rollout_summaries/deep/x.md",
        "x.md",
        "extensions/a/notes/2020-01-01T00-00-00.md",
    )
    assert layout.stale_paths(snapshot, {}, NOW) == {}
    kept = _snapshot("rollout_summaries/a.md", "rollout_summaries/b.md")
    assert set(layout.stale_paths(kept, {"rollout_summaries/a.md": b""}, NOW)) == {"rollout_summaries/b.md"}


def test_the_layout_is_an_effect_and_only_what_is_missing(tmp_path: Path) -> None:
    root = layout.memory_root(tmp_path)
    assert root == tmp_path / "memories"
    effect = layout.ensure_layout(root)
    assert effect is not None
    assert effect.creates == (str(root), str(layout.rollout_summaries_dir(root)))
    assert not root.exists()
    layout.rollout_summaries_dir(root).mkdir(parents=True)
    assert layout.ensure_layout(root) is None
    assert layout.raw_memories_file(root) == root / "raw_memories.md"
    assert layout.memory_extensions_root(root) == root / "extensions"
