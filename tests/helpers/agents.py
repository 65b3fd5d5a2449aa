"""Scripts for a model that plays the consolidation agent, over the loopback server."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.model_server import ModelServer, Recorded, ToolCall, model_server
from tests.helpers.sessions import write_codex


@dataclass
class Script:
    """Answer request after request from a list; afterwards say that all is done."""

    moves: list[Any] = field(default_factory=list)
    played: int = 0

    def __call__(self, request: Recorded) -> str | list[ToolCall]:
        if self.played >= len(self.moves):
            return "Done: nothing more to change."
        move = self.moves[self.played]
        self.played += 1
        return move(request) if callable(move) else move


def do(name: str, _id: str = "call_1", **arguments: Any) -> ToolCall:
    """Return a tool call."""
    return ToolCall(name, arguments, _id)


def raw(name: str, arguments: str) -> ToolCall:
    """Return a tool call with arguments as they are."""
    return ToolCall(name, arguments)


def answers(request: Recorded) -> list[dict[str, Any]]:
    """Return what the tools answered since the last reply of the model, decoded."""
    found: list[dict[str, Any]] = []
    for message in reversed(request.body["messages"]):
        if message["role"] != "tool":
            break
        found.insert(0, json.loads(message["content"]))
    return found


def all_answers(server: ModelServer) -> list[dict[str, Any]]:
    """Return every tool answer of a run, in order."""
    return [
        json.loads(message["content"]) for message in server.posts[-1].body["messages"] if message["role"] == "tool"
    ]


@contextmanager
def agent_server(*moves: Any, **options: Any) -> Iterator[ModelServer]:
    """Run a server whose model plays the moves."""
    with model_server(answer=Script(list(moves)), **options) as server:
        yield server


def agent_settings(server: ModelServer, **changes: Any) -> Settings:
    """Return settings that name the server."""
    values: dict[str, Any] = {
        "max_rollout_age_days": 3_650,
        "max_unused_days": 3_650,
        "provider_url": server.url,
        "extract_model": "small",
    }
    return Settings(**(values | changes))


def plan_with(bench: Bench, server: ModelServer, **changes: Any) -> Plan:
    """Plan a consolidation by the server's model."""
    settings = changes.pop("settings", None) or agent_settings(server)
    return asyncio.run(bench.plan_consolidate(provider="custom", settings=settings, **changes))


def run_with(bench: Bench, plan: Plan, cancel: CancelToken | None = None) -> Applied:
    """Confirm a plan of kind `consolidate` and carry it out."""

    async def run() -> Applied:
        grant = await bench.grant(plan)
        return await Operations(bench).consolidate(grant, cancel=cancel or CancelToken(), listen=bench.events.append)

    return asyncio.run(run())


def summary_paths(request: Recorded) -> list[str]:
    """Return the summaries that an answered `list` of their folder named."""
    return [f"rollout_summaries/{name}" for name in answers(request)[0]["entries"]]


def write_memory(paths: list[str]) -> str:
    """Return a `MEMORY.md` with one cited group per summary."""
    groups: list[str] = []
    for number, path in enumerate(paths, 1):
        groups.append(
            f"# Task Group: project {number}\nscope: work in project {number}\n"
            f"applies_to: cwd=/p{number}; reuse_rule=this project only\n\n"
            f"## Task 1: a lesson of session {number}\n\n"
            f"### rollout_summary_files\n- {path} (cwd=/p{number}, rollout_path=/r, updated_at=2026-01-01, "
            f"thread_id=t{number})\n\n### keywords\n- lesson{number}, pnpm\n\n"
            f"## User preferences\n- the person wants lesson {number} heeded [Task 1] [c1]\n\n"
            f"<citation_entries>\n{path}:1-2 |note=[c1 the session says it]\n</citation_entries>\n"
            f"<rollout_ids>\n</rollout_ids>\n"
        )
    return "\n".join(groups)


SUMMARY = (
    "v1\n\n## User Profile\nA developer.\n\n## User preferences\n- heed the lessons\n\n## General Tips\n- none yet\n\n"
    "## What's in Memory\n### /p1\n#### 2026-01-01\n- project 1: lesson1\n  - desc: a lesson\n  - learnings: heed it\n"
)


def whole_run() -> list[Any]:
    """Return a run of a sensible model, twelve tool steps long."""
    seen: dict[str, list[str]] = {}

    def read_summaries(request: Recorded) -> list[ToolCall]:
        seen["paths"] = summary_paths(request)
        return [do("read", f"call_{i}", path=path) for i, path in enumerate(seen["paths"])]

    def write(request: Recorded) -> list[ToolCall]:
        return [do("write", path="MEMORY.md", content=write_memory(seen["paths"]))]

    return [
        [do("read", path="phase2_workspace_diff.md")],
        [do("list")],
        [do("read", path="raw_memories.md")],
        [do("list", path="rollout_summaries")],
        read_summaries,
        [do("search", queries=["pnpm"], context_lines=1)],
        write,
        [do("read", path="MEMORY.md", line_offset=1, max_lines=5)],
        [do("edit", path="MEMORY.md", old_text="lesson1, pnpm", new_text="lesson1, pnpm, npm")],
        [do("write", path="memory_summary.md", content=SUMMARY)],
        [do("write", path="skills/scratch/SKILL.md", content="x\n")],
        [do("delete", path="skills/scratch/SKILL.md")],
        [do("search", queries=["lesson1", "pnpm"], match_mode="all_on_same_line")],
        "I took in three sessions.",
    ]


def extracted(place: Path, said: Sequence[str]) -> Bench:
    """Return a bench with one extracted memory per sentence and no folder yet."""
    bench = Bench(place)
    for number, text in enumerate(said):
        at = NOW - (number + 1) * DAY
        write_codex(bench.sessions, [("user", "Fix it."), ("user", text)], number=number, at=at, cwd=f"/p{number}")
    asyncio.run(_extract(bench))
    return bench


def consolidated(place: Path) -> Bench:
    """Return a bench whose folder the built-in rules wrote, and one memory more that is waiting."""
    bench = extracted(place, ["Always use pnpm, never npm."])
    asyncio.run(_consolidate(bench))
    turns = [("user", "Fix it."), ("user", "The tests need PORT=8123 in this repo, always.")]
    write_codex(bench.sessions, turns, number=2, at=NOW - 2 * DAY)
    asyncio.run(_extract(bench))
    return bench


def copied(bench: Bench, place: Path) -> Bench:
    """Return the same data in folders of its own: a copy takes less time than a run."""
    copy = Bench(place)
    for source, target in ((bench.home, copy.home), (bench.memory, copy.memory), (bench.sessions, copy.sessions)):
        if source.exists():
            shutil.copytree(source, target, symlinks=True)
    return copy


async def _extract(bench: Bench) -> None:
    await bench.apply(await bench.plan_extract())


async def _consolidate(bench: Bench) -> None:
    await bench.apply(await bench.plan_consolidate())
