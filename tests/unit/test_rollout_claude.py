"""Claude Code transcripts, from lines."""

from __future__ import annotations

from typing import Any

import pytest

from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.sources.claude import ClaudeReader
from tests.helpers.session_lines import SESSION, START, claude, uuid_of


def read(*records: dict[str, Any], stem: str = SESSION, foreign: frozenset[str] = frozenset()) -> Rollout:
    reader = ClaudeReader(stem, foreign)
    for number, record in enumerate(records, 1):
        reader.feed(number, record)
    return reader.finish("/p/x.jsonl")


def test_both_shapes_of_content_and_what_is_not_the_persons():
    found = read(
        {"type": "summary", "summary": "Other session", "leafUuid": "unknown"},
        {"type": "file-history-snapshot", "messageId": "m"},
        claude("user", 1, None, "Caveat: x", isMeta=True),
        claude("user", 2, 1, "yes, carry on"),
        claude("assistant", 3, 2, [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Carrying on."}]),
        claude("assistant", 4, 3, [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}]),
        claude("user", 5, 4, [{"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]),
        claude(
            "user",
            6,
            5,
            [
                {
                    "type": "tool_result",
                    "tool_use_id": "t9",
                    "content": [{"type": "text", "text": "no"}, {"type": "image"}],
                }
            ],
        ),
        claude("user", 7, 6, [{"type": "text", "text": "CSV has a BOM."}, {"type": "image", "source": {}}]),
        claude("assistant", 8, 7, "Plain answer."),
        claude("system", 9, 8, "", subtype="api_error"),
        claude("user", 10, 9, "This session is being continued.", isCompactSummary=True),
        claude("user", 11, 10, "Dates are day first."),
        {"type": "kind-from-the-future", "sessionId": SESSION},
        {"type": "queue-operation", "operation": "enqueue", "content": "never sent"},
    )
    assert (found.id, found.agent, found.cwd, found.git_branch) == (SESSION, "claude", "/home/dev/app", "main")
    assert found.user_texts == ("yes, carry on", "CSV has a BOM.", "Dates are day first.")
    assert found.assistant_texts == ("Carrying on.", "Plain answer.")
    assert found.source == "cli"
    assert (found.started_at, found.updated_at) == (START + 1, START + 11)
    outputs = [i for i in found.items if i.kind == "tool_output"]
    assert [(i.text, i.tool.name if i.tool else "") for i in outputs] == [
        ("3 passed", "Bash"),
        ("no\n[image omitted]", ""),
    ]
    assert found.title == "yes, carry on"


@pytest.mark.parametrize(
    ("text", "role", "kind"),
    [
        ("<command-name>/clear</command-name>", "user", "command"),
        ("<local-command-stdout></local-command-stdout>", "user", "notice"),
        ("<bash-input>ls</bash-input>", "user", "command"),
        ("[Request interrupted by user]", "user", "notice"),
        ("<task-notification>x</task-notification>", "agent", "message"),
        ("This session is being continued from", "user", "instructions"),
        ("<system-reminder>\nx\n</system-reminder>", "user", "instructions"),
        ("Base directory for this skill: /x", "user", "instructions"),
    ],
)
def test_host_text_by_its_start(text: str, role: str, kind: str):
    found = read(claude("user", 1, None, text))
    assert found.user_texts == ()
    assert [(i.role, i.kind, i.injected) for i in found.items] == [(role, kind, True)]


def test_reminders_are_cut_out_wherever_they_stand():
    reminder = "<system-reminder>\nbe careful\n</system-reminder>"
    found = read(
        claude("user", 1, None, f"{reminder}\ndo it\n{reminder}"),
        claude(
            "user",
            2,
            1,
            [{"type": "tool_result", "tool_use_id": "t", "content": f"out\n\n{reminder}\n", "is_error": True}],
        ),
        claude("user", 3, 2, ""),
    )
    assert found.user_texts == ("do it",)
    assert found.items[1].text == "out"
    assert found.items[1].tool is not None
    assert found.items[1].tool.failed


def test_a_prompt_queued_while_busy_is_the_persons():
    attachment = {"type": "queued_command", "prompt": "also the docs"}
    found = read(
        claude("user", 1, None, "start"),
        claude("attachment", 2, 1, None, attachment=attachment),
        claude("attachment", 3, 2, None, attachment={"type": "todo_reminder"}),
        claude("progress", 4, 3, None, data={"type": "hook_progress"}),
    )
    assert found.user_texts == ("start", "also the docs")


def test_made_up_answers_are_not_the_agents():
    synthetic = claude("assistant", 2, 1, [{"type": "text", "text": "No response requested."}])
    synthetic["message"]["model"] = "<synthetic>"
    found = read(
        claude("user", 1, None, "hi"),
        synthetic,
        claude("assistant", 3, 2, [{"type": "text", "text": "API Error"}], isApiErrorMessage=True),
        claude("assistant", 4, 3, [{"type": "text", "text": ""}, {"type": "image"}, {"type": "x"}, 3]),
    )
    assert found.assistant_texts == ()
    assert [(i.role, i.kind) for i in found.items[1:]] == [
        ("harness", "event"),
        ("harness", "event"),
        ("assistant", "image"),
    ]


def test_repeated_lines_count_once():
    line = claude("user", 1, None, "once")
    assert read(line, line, claude("user", 2, 1, "once")).user_texts == ("once", "once")


def test_lines_of_another_session_or_file_are_inherited():
    old = claude("user", 1, None, "old words")
    found = read(claude("user", 2, None, "older", sessionId="other"), old, claude("user", 3, 1, "new"))
    assert found.user_texts == ("old words", "new")
    found = read(old, claude("user", 3, 1, "new"), foreign=frozenset({uuid_of(1)}))
    assert found.user_texts == ("new",)
    assert [i.inherited for i in found.items] == [True, False]


# --- sub-agents ---


def test_side_chains_in_a_session_are_left_out_and_counted():
    found = read(
        claude("user", 1, None, "search it"),
        claude("user", 2, 1, "sub-agent, go", isSidechain=True),
        claude("assistant", 3, 2, [{"type": "text", "text": "found"}], isSidechain=True),
        claude("assistant", 4, 1, [{"type": "text", "text": "here"}]),
    )
    assert found.user_texts == ("search it",)
    assert found.assistant_texts == ("here",)
    assert found.source == "cli"
    assert found.warnings == ("left out: sub-agent work on 2 lines of this file",)


def test_a_file_of_a_sub_agent_is_one_and_names_its_session():
    found = read(
        claude("user", 1, None, "Search the code.", isSidechain=True, agentId="abc1"),
        claude("assistant", 2, 1, [{"type": "text", "text": "found"}], isSidechain=True, agentId="abc1"),
        stem="agent-abc1",
    )
    assert (found.id, found.source, found.parent) == ("abc1", "subagent", SESSION)
    assert found.user_texts == ()
    assert found.assistant_texts == ("found",)


@pytest.mark.parametrize(("entry", "source"), [("cli", "cli"), ("sdk-py", "exec"), ("claude-vscode", "vscode")])
def test_where_a_session_was_started(entry: str, source: str):
    assert read(claude("user", 1, None, "x", entrypoint=entry)).source == source


# --- the tree ---


def test_a_rewound_prompt_and_what_followed_is_left_behind():
    found = read(
        claude("user", 1, None, "first"),
        claude("assistant", 2, 1, [{"type": "text", "text": "one"}]),
        claude("user", 3, 2, "wrong way"),
        claude("assistant", 4, 3, [{"type": "text", "text": "going wrong"}]),
        claude("user", 5, 2, "right way"),
        claude("assistant", 6, 5, [{"type": "text", "text": "going right"}]),
    )
    assert found.user_texts == ("first", "right way")
    assert found.assistant_texts == ("one", "going right")
    assert [i.line for i in found.items if i.undone] == [3, 4]


def test_an_edited_first_prompt_is_left_behind():
    found = read(claude("user", 1, None, "typo"), claude("assistant", 2, 1, "x"), claude("user", 3, None, "fixed"))
    assert found.user_texts == ("fixed",)


def test_parallel_tool_calls_are_no_branches_to_leave():
    found = read(
        claude("user", 1, None, "go"),
        claude("assistant", 2, 1, [{"type": "tool_use", "id": "a", "name": "A", "input": {}}]),
        claude("assistant", 3, 2, [{"type": "tool_use", "id": "b", "name": "B", "input": {}}]),
        claude("user", 4, 2, [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]),
        claude("user", 5, 3, [{"type": "tool_result", "tool_use_id": "b", "content": "2"}]),
        claude("assistant", 6, 5, [{"type": "text", "text": "done"}]),
    )
    assert not any(i.undone for i in found.items)


def test_the_part_before_a_compaction_stays():
    found = read(
        claude("user", 1, None, "before"),
        claude("assistant", 2, 1, "ok"),
        claude("system", 3, None, "", subtype="compact_boundary"),
        claude("user", 4, 3, "This session is being continued", isCompactSummary=True),
        claude("user", 5, 4, "after"),
    )
    assert found.user_texts == ("before", "after")
    bridged = read(
        claude("user", 1, None, "before"),
        claude("system", 3, None, "", subtype="compact_boundary", logicalParentUuid=uuid_of(1)),
        claude("user", 5, 3, "after"),
    )
    assert bridged.user_texts == ("before", "after")


def test_missing_parents_and_rings_harm_nothing():
    found = read(
        claude("user", 1, 77, "a"), claude("user", 2, 3, "b"), claude("user", 3, 2, "c"), claude("user", 4, 1, "d")
    )
    assert found.user_texts == ("a", "b", "c", "d")
    ring = read(claude("user", 1, 2, "a"), claude("user", 2, 1, "b"))
    assert ring.user_texts == ("a", "b")
    assert read({"type": "summary", "summary": "x"}).id == SESSION


def test_titles():
    found = read(
        claude("user", 1, None, "hello"),
        {"type": "summary", "summary": "Mine", "leafUuid": uuid_of(1)},
    )
    assert found.title == "Mine"
    assert read(claude("user", 1, None, "x"), {"type": "ai-title", "aiTitle": "A"}).title == "A"
    named = read(
        claude("user", 1, None, "x"), {"type": "custom-title", "customTitle": "C"}, {"type": "ai-title", "aiTitle": "A"}
    )
    assert named.title == "C"


def test_hostile_values():
    found = read(
        {"type": "user", "message": None, "uuid": 3, "sessionId": [], "timestamp": "never", "cwd": {}},
        claude("user", 1, None, [{"type": "text", "text": 5}, {"type": "tool_result", "content": 3}, None]),
        claude("user", 2, 1, "half \ud83d"),
        {"type": ["user"]},
    )
    assert found.user_texts == ("half \ufffd",)
