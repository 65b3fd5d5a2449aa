"""A folder that the program wrote is taken by Codex as it is, where its rows and its selection are the same.

The other side is `helpers/codex_sync`, an independent reading of what Codex does; where it finds a change, the plan has
warned of it.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply, StageOneOutput
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.workspace.layout import render_inputs
from tests.helpers import codex_sync
from tests.helpers.agents import agent_server, plan_with
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.codex_home import CodexHome, kept
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id

HOME = "/home/dev/app"
ROLLOUT = "/home/dev/.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{}.jsonl"
NAMES = (
    "slugs-v7", "slugs-v4-and-odd-ids", "bodies", "branch-and-cwd", "modes", "empty-outputs",
    "ranking-top5-unused30", "ranking-ties", "ranking-never-used", "stale-files-and-extensions", "no-rows",
)  # fmt: skip
SUMMARIES = ("raw_memories.md", "rollout_summaries/")
Fallback = Literal["generated_at", "source_updated_at"]


class Side:
    """Codex's home, the program beside it, and what each does with the one folder."""

    def __init__(self, place: Path, now: int, config: dict[str, Any], fallback: Fallback = "source_updated_at") -> None:
        self.codex = CodexHome(place / "codex").create()
        self.root = self.codex.path / "memories"
        self.bench = Bench(place)
        self.bench.now = self.now = now
        self.config = config
        self.settings = Settings(recency_fallback=fallback, **config)

    def take_over(self) -> None:
        wish = Operations(self.bench).plan_take_over(
            self.bench.request(), self.codex.path, cancel=CancelToken(), listen=self.bench.events.append
        )
        plan = asyncio.run(wish)
        if plan.state is PlanState.APPLYABLE:
            asyncio.run(self.bench.apply(plan))

    def plan(self) -> Plan:
        return asyncio.run(self.bench.plan_consolidate(memory_root=self.root, settings=self.settings))

    def codex_status(self) -> list[str]:
        """Let Codex sync the folder, and return what it finds changed."""
        rows = codex_sync.selection(
            self.codex.path,
            self.now,
            memories=self.codex.memories,
            state=self.codex.state,
            limit=self.config.get("max_raw_memories_for_consolidation", 256),
            unused_days=self.config.get("max_unused_days", 30),
        )
        codex_sync.sync(self.root, rows, self.now)
        return codex_sync.status(self.root)


def warned(plan: Plan) -> bool:
    return any("Codex selects" in note for note in plan.notes)


def golden(shared: Path, name: str) -> dict[str, Any]:
    cases = json.loads((shared / "data" / "codex_goldens.json").read_text(encoding="utf-8"))
    return next(case for case in cases if case["name"] == name)


def rows_of(case: dict[str, Any]) -> list[StageOneOutput]:
    def number(value: Any) -> Any:
        return case["now"] - DAY * int(value[len("now-") : -1]) if isinstance(value, str) else value

    return [
        StageOneOutput(
            thread_id=row["thread_id"],
            source_updated_at=number(row["source_updated_at"]),
            raw_memory=row["raw_memory"],
            rollout_summary=row["rollout_summary"],
            rollout_slug=row["rollout_slug"],
            generated_at=number(row["generated_at"]),
            usage_count=row.get("usage_count") or None,
            last_usage=number(row.get("last_usage")),
            cwd=row.get("cwd", HOME),
            rollout_path=row.get("rollout_path", ROLLOUT.format(row["thread_id"])),
            git_branch=row.get("git_branch"),
            memory_mode=row.get("memory_mode", "enabled"),
        )
        for row in case["rows"]
    ]


def put(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())


@pytest.mark.parametrize("name", NAMES)
def test_the_other_side_writes_what_codex_wrote(shared: Path, tmp_path: Path, name: str) -> None:
    case = golden(shared, name)
    side = Side(tmp_path, case["now"], case["config"])
    for row in rows_of(case):
        side.codex.keep(row)
    put(side.root, case["workspace_before"])
    rows = codex_sync.selection(
        side.codex.path,
        side.now,
        memories=side.codex.memories,
        state=side.codex.state,
        limit=case["config"].get("max_raw_memories_for_consolidation", 256),
    )
    codex_sync.sync(side.root, rows, side.now)
    files = {path.relative_to(side.root).as_posix(): path.read_bytes() for path in side.root.rglob("*.*")}
    wanted = {path: text.encode() for path, text in case["files_after"].items()}
    assert {path: data for path, data in files.items() if path.startswith(SUMMARIES)} == {
        path: data for path, data in wanted.items() if path.startswith(SUMMARIES)
    }
    assert not set(case["removed"]) & set(files)


@pytest.mark.parametrize(
    ("name", "fallback"),
    [(name, "source_updated_at") for name in NAMES] + [(name, "generated_at") for name in NAMES if "ranking" in name],
)
def test_codex_finds_no_change_or_the_plan_has_warned(
    shared: Path, tmp_path: Path, name: str, fallback: Fallback
) -> None:
    case = golden(shared, name)
    side = Side(tmp_path, case["now"], case["config"], fallback)
    for row in rows_of(case):
        side.codex.keep(row)
    put(side.root, case["workspace_before"])
    side.take_over()
    plan = side.plan()
    if not case["rows"]:
        assert (plan.state, warned(plan)) == (PlanState.EMPTY, False)
        return
    asyncio.run(side.bench.apply(plan))
    written = tree(side.root)
    assert codex_sync.keeps_baseline(side.root)
    assert codex_sync.validates(side.root)
    found = side.codex_status()
    assert bool(found) == warned(plan), found
    if fallback == "source_updated_at":
        assert found == []
        assert tree(side.root) == written
        for path, text in case["files_after"].items():
            if path not in ("MEMORY.md", "memory_summary.md"):
                assert (side.root / path).read_bytes() == text.encode(), path


def test_sessions_of_a_real_codex(shared: Path, tmp_path: Path) -> None:
    real = tmp_path / "codex"
    shutil.copytree(shared / "data" / "real_codex" / "cli-0.130.0", real)
    for path in (real, *real.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    bench = Bench(tmp_path)
    bench.now = 1_795_963_199 + 7 * 3_600

    async def answer(request: ExtractionInput) -> ExtractionReply:
        return reply(f"- use pnpm in {request.thread_id}", f"# Session {request.thread_id}\n\nIt used pnpm.")

    bench.script(answer)
    home = CodexHome(real, "state_5.sqlite", "state_5.sqlite")
    home.sql(home.state, "UPDATE threads SET rollout_path = replace(rollout_path, '/home/dev/.codex', ?)", (str(real),))
    extract = asyncio.run(bench.plan_extract(sources=(SourceSpec("codex", str(real)),)))
    asyncio.run(bench.apply(extract))
    with bench.stores.reading(bench.home) as store:
        rows = store.outputs()
    assert len(rows) >= 3
    columns = "thread_id, source_updated_at, raw_memory, rollout_summary, generated_at, rollout_slug"
    for row in rows:
        values = (row.thread_id, row.source_updated_at, row.raw_memory, row.rollout_summary, row.generated_at)
        home.sql(
            home.memories,
            f"INSERT INTO stage1_outputs ({columns}) VALUES (?, ?, ?, ?, ?, ?)",
            (*values, row.rollout_slug),
        )
    root = real / "memories"
    bench.scripted = None
    plan = asyncio.run(bench.plan_consolidate(memory_root=root))
    assert not warned(plan)
    asyncio.run(bench.apply(plan))
    selected = codex_sync.selection(real, bench.now, memories=home.memories, state=home.state)
    assert [row["thread_id"] for row in selected] == [row.thread_id for row in rows]
    codex_sync.sync(root, selected, bench.now)
    assert codex_sync.status(root) == []
    assert codex_sync.validates(root)
    assert codex_sync.keeps_baseline(root)


ARTIFACTS = {
    "MEMORY.md": (
        "# Task Group: app\nscope: work in app\napplies_to: cwd=/p; reuse_rule=this project\n\n"
        "## Task 1: a lesson, success\n\n"
        "### rollout_summary_files\n- {path} (cwd=/p, rollout_path=/r, updated_at=2026-01-01, thread_id={thread})\n\n"
        "### keywords\n- pnpm, lock file\n\n## User preferences\n- use pnpm [Task 1]\n"
    ),
    "memory_summary.md": (
        "v1\n\n## User Profile\nA developer.\n\n## User preferences\n- use pnpm\n\n## General Tips\n- none\n\n"
        "## What's in Memory\n### /p\n#### 2026-01-01\n- app: pnpm\n  - desc: a lesson\n  - learnings: use pnpm\n"
    ),
    ".gitignore": "*.md\n",
    "skills/run-tests/SKILL.md": "---\nname: run-tests\ndescription: run them\n---\nRun them.\n",
}


def codex_folder(side: Side, thread: str) -> None:
    """Let Codex itself consolidate the one memory it keeps: inputs, what its agent wrote, its baseline."""
    side.codex.keep(kept(thread, NOW - 2 * DAY), selected_at=NOW - 2 * DAY)
    side.root.mkdir()
    rows = codex_sync.selection(side.codex.path, side.now, memories=side.codex.memories, state=side.codex.state)
    codex_sync.sync(side.root, rows, side.now)
    path = f"rollout_summaries/{codex_sync.stem(rows[0])}.md"
    put(side.root, {name: text.replace("{path}", path).replace("{thread}", thread) for name, text in ARTIFACTS.items()})
    (side.root / "skills" / "run-tests" / "run.sh").write_text("#!/bin/sh\n")
    (side.root / "skills" / "run-tests" / "run.sh").chmod(0o755)
    codex_sync.reset_baseline(side.root)
    assert codex_sync.status(side.root) == []


def test_a_folder_that_codex_wrote_is_taken_as_it_is(tmp_path: Path) -> None:
    """No drift, nothing for an agent to do, and what the built-in rules add leaves Codex's inputs alone."""
    side = Side(tmp_path, NOW, {})
    codex_folder(side, T1)
    before = tree(side.root)
    side.take_over()
    with agent_server() as server:
        agent = plan_with(side.bench, server, memory_root=side.root)
        assert (agent.state, agent.drift, agent.effects) == (PlanState.EMPTY, (), ())
    assert tree(side.root) == before
    plan = side.plan()
    assert plan.drift == ()
    assert not warned(plan)
    assert not [note for note in plan.notes if "does not know" in note]
    assert {change.path for change in plan.changes} <= {"MEMORY.md", "memory_summary.md"}
    if plan.state is PlanState.APPLYABLE:
        asyncio.run(side.bench.apply(plan))
    assert side.codex_status() == []
    assert codex_sync.validates(side.root)
    assert codex_sync.keeps_baseline(side.root)
    assert "use pnpm [Task 1]" in (side.root / "MEMORY.md").read_text()


def test_what_codex_changed_since_is_drift(tmp_path: Path) -> None:
    side = Side(tmp_path, NOW, {})
    codex_folder(side, T1)
    side.take_over()
    with (side.root / "memory_summary.md").open("a") as file:
        file.write("- by hand\n")
    (side.root / "skills" / "run-tests" / "run.sh").chmod(0o644)
    plan = side.plan()
    assert plan.drift == ("M memory_summary.md", "M skills/run-tests/run.sh")
    assert codex_sync.status(side.root) == list(plan.drift)


T1, T2 = (thread_id(number, NOW - 5 * DAY) for number in range(2))


def test_a_memory_of_line_ends_is_one_to_codex(tmp_path: Path) -> None:
    side = Side(tmp_path, NOW, {})
    side.codex.keep(kept(T1, NOW - 2 * DAY))
    side.codex.keep(kept(T2, NOW - 2 * DAY, raw_memory="\n", rollout_summary=" "))
    side.take_over()
    plan = side.plan()
    assert any(f"{T2} (only in Codex)" in note for note in plan.notes)
    asyncio.run(side.bench.apply(plan))
    assert side.codex_status() != []


CHANGES: tuple[dict[str, object], ...] = (
    {"raw_memory": "- other"}, {"rollout_summary": "# Other"}, {"rollout_slug": "other"}, {"git_branch": None},
    {"cwd": "/other"}, {"rollout_path": "/other.jsonl"}, {"source_updated_at": NOW - DAY}, {"memory_mode": "polluted"},
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_what_codex_would_replace_is_said_before(tmp_path: Path, change: dict[str, object]) -> None:
    """Warn while the folder is planned; what Codex then changes are the inputs of exactly the named thread."""
    side = Side(tmp_path, NOW, {})
    for thread in (T1, T2):
        side.codex.keep(kept(thread, NOW - 2 * DAY))
    side.take_over()
    side.codex.keep(replace(kept(T2, NOW - 2 * DAY), **change))  # type: ignore[arg-type]
    plan = side.plan()
    (note,) = [note for note in plan.notes if "Codex selects" in note]
    assert T2 in note
    assert T1 not in note
    assert f"{side.root}_ltmem" in note
    asyncio.run(side.bench.apply(plan))
    found = side.codex_status()
    ours = {path for path in render_inputs([kept(T1, NOW - 2 * DAY)]) if path != "raw_memories.md"}
    assert found
    assert not any(line[2:] in ours for line in found)
    apart = asyncio.run(side.bench.plan_consolidate(memory_root=Path(f"{side.root}_ltmem"), settings=side.settings))
    assert not warned(apart)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30).map(lambda t: f"x{t}x")
blanks = st.sampled_from(["", "  ", "\n", " \t\n"])
memories = st.builds(
    StageOneOutput,
    st.uuids(version=4).map(str) | st.integers(0, 9_999).map(lambda n: thread_id(n, NOW - DAY)),
    st.integers(NOW - 40 * DAY, NOW),
    texts | blanks,
    texts | blanks,
    st.none() | texts,
    st.integers(NOW - 40 * DAY, NOW),
    st.none() | st.integers(1, 3),
    st.none() | st.integers(NOW - 40 * DAY, NOW),
    st.just("/p"),
    st.just("/s.jsonl"),
    st.none() | st.just("main"),
    st.sampled_from(["enabled", "enabled", "polluted"]),
)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=st.lists(memories, min_size=1, max_size=5, unique_by=lambda row: row.thread_id), limit=st.integers(1, 4))
def test_any_rows(tmp_path_factory: pytest.TempPathFactory, rows: list[StageOneOutput], limit: int) -> None:
    side = Side(tmp_path_factory.mktemp("any"), NOW, {"max_raw_memories_for_consolidation": limit})
    for row in rows:
        side.codex.keep(row)
    side.take_over()
    plan = side.plan()
    if plan.state is PlanState.EMPTY:
        return
    asyncio.run(side.bench.apply(plan))
    found = side.codex_status()
    assert bool(found) == warned(plan)
