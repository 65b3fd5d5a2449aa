"""Turn rollouts of the extraction corpus into inputs, and measure what an extractor finds in them.

A case is JSON: `id`, `thread_id`, `noop`, `facts` (each an `all_of` list of regexes), and `rollout` (Codex JSONL text)
or `turns` (short form: `["user", text]`, `["assistant", text]`, `["run", command, output, exit code]`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.rollouts import RolloutItem, ToolUse

_HOST = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions")


@dataclass(frozen=True)
class Case:
    """One rollout with what a good extractor finds in it."""

    id: str
    noop: bool
    facts: tuple[tuple[str, ...], ...]
    request: ExtractionInput


@dataclass
class Score:
    """Counts over a corpus; ratios are 1.0 where nothing was asked."""

    facts: int = 0
    found_any: int = 0
    found_proposed: int = 0
    proposed: int = 0
    on_target: int = 0
    no_ops: int = 0
    silent: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.found_any / self.facts if self.facts else 1.0

    @property
    def recall_proposed(self) -> float:
        return self.found_proposed / self.facts if self.facts else 1.0

    @property
    def precision(self) -> float:
        return self.on_target / self.proposed if self.proposed else 1.0

    @property
    def no_op_right(self) -> float:
        return self.silent / self.no_ops if self.no_ops else 1.0

    def __str__(self) -> str:
        return (
            f"recall {self.recall:.2f} ({self.found_any}/{self.facts}), proposed {self.recall_proposed:.2f}, "
            f"precision {self.precision:.2f} ({self.on_target}/{self.proposed}), no-op {self.silent}/{self.no_ops}"
        )


def load_cases(path: Path) -> list[Case]:
    """Read a corpus file."""
    return [case_of(json.loads(line)) for line in path.read_text("utf-8").split("\n") if line.strip()]


def case_of(value: dict[str, Any]) -> Case:
    """Make a case of its JSON value."""
    items = items_of_rollout(value["rollout"]) if "rollout" in value else items_of_turns(value["turns"])
    thread = value.get("thread_id", "01a17720-0000-7000-8000-000000000001")
    facts = tuple(tuple(fact["all_of"] if isinstance(fact, dict) else fact) for fact in value["facts"])
    return Case(value["id"], value["noop"], facts, request_of(items, thread=thread, cwd=f"/home/dev/{value['id']}"))


def request_of(
    items: list[RolloutItem], *, thread: str = "01a17720-0000-7000-8000-000000000001", cwd: str = "/home/dev/demo"
) -> ExtractionInput:
    """Wrap items as a prepared input."""
    transcript = "\n".join(f"[{i.line}] {i.role}: {i.text}" for i in items)
    return ExtractionInput(
        thread_id=thread,
        agent="codex",
        rollout_path="sessions/rollout.jsonl",
        cwd=cwd,
        git_branch="main",
        started_at=1_790_000_000,
        updated_at=1_790_000_600,
        items=tuple(items),
        transcript=transcript,
        tokens_before=len(transcript) // 4,
        tokens=len(transcript) // 4,
    )


def items_of_turns(turns: list[list[Any]]) -> list[RolloutItem]:
    """Make items of the short form; every item takes a line of its own."""
    items: list[RolloutItem] = []
    for number, turn in enumerate(turns):
        line = len(items) + 2
        if turn[0] == "run":
            call = f"call_{number}"
            output = f"{turn[2]}\n(exit {turn[3]})"
            items.append(
                RolloutItem(
                    "assistant", "tool_call", json.dumps({"cmd": turn[1]}), line, tool=ToolUse("exec_command", call)
                )
            )
            items.append(
                RolloutItem("tool", "tool_output", output, line + 1, tool=ToolUse("exec_command", call, turn[3] != 0))
            )
        else:
            items.append(RolloutItem(turn[0], "message", turn[1], line))
    return items


def items_of_rollout(text: str) -> list[RolloutItem]:
    """Read enveloped Codex JSONL: messages, calls and outputs, each once."""
    items: list[RolloutItem] = []
    for line, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        record = json.loads(row)
        if record["type"] == "response_item":
            item = _item(record["payload"], line)
            if item:
                items.append(item)
    return items


def _item(payload: dict[str, Any], line: int) -> RolloutItem | None:
    kind = payload["type"]
    if kind == "message":
        text = "\n".join(part["text"] for part in payload["content"])
        return RolloutItem(payload["role"], "message", text, line, injected=text.startswith(_HOST))
    if kind == "function_call":
        return RolloutItem(
            "assistant", "tool_call", payload["arguments"], line, tool=ToolUse(payload["name"], payload["call_id"])
        )
    if kind == "function_call_output":
        failed = re.search(r"\(exit ([1-9]\d*)\)", payload["output"][-40:]) is not None
        return RolloutItem("tool", "tool_output", payload["output"], line, tool=ToolUse("", payload["call_id"], failed))
    return None


def add_case(score: Score, case: Case, reply: ExtractionReply) -> None:
    """Count one case: a fact is found when one set of lines together matches all its regexes."""
    proposed = "\n".join(c.text for c in reply.proposed)
    everything = proposed + "\n" + "\n".join(c.text for c in reply.inbox)
    for patterns in case.facts:
        score.facts += 1
        in_proposed = all(re.search(p, proposed, re.IGNORECASE) for p in patterns)
        in_any = all(re.search(p, everything, re.IGNORECASE) for p in patterns)
        score.found_proposed += in_proposed
        score.found_any += in_any
        if not in_proposed:
            score.misses.append(f"{case.id}: {'inbox' if in_any else 'MISSED'} {patterns}")
    for candidate in reply.proposed:
        score.proposed += 1
        hit = any(re.search(p, candidate.text, re.IGNORECASE) for patterns in case.facts for p in patterns)
        score.on_target += hit
        if not hit:
            score.misses.append(f"{case.id}: OFF {candidate.score} {candidate.kind} {candidate.text[:120]!r}")
    if case.noop:
        score.no_ops += 1
        score.silent += not reply.proposed
