"""Codex rollouts of every generation, from records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.sources.codex import CodexReader, source_word
from ltmem_gui.sources.codex_items import AUDIO, IMAGE
from tests.helpers.session_lines import OTHER, START, THREAD, assistant, event, item, line, meta, stamp, user


def read(*records: dict[str, Any], file_id: str | None = THREAD) -> Rollout:
    reader = CodexReader(file_id)
    for number, record in enumerate(records, 1):
        reader.feed(number, record)
    return reader.finish("/s/r.jsonl")


def kinds(rollout: Rollout) -> list[tuple[str, str, int | None]]:
    return [(i.role, i.kind, i.line) for i in rollout.items]


def test_a_plain_session():
    found = read(
        meta(git={"branch": "main", "repository_url": "https://x"}),
        line("turn_context", {"turn_id": "t", "cwd": "/elsewhere", "model": "m"}, 0.5),
        user("Use uv."),
        event("user_message", message="Use uv."),
        assistant("Noted."),
        event("agent_message", message="Noted.", at=9.7),
    )
    assert (found.id, found.cwd, found.git_branch, found.source) == (THREAD, "/home/dev/app", "main", "cli")
    assert found.user_texts == ("Use uv.",)
    assert found.assistant_texts == ("Noted.",)
    assert kinds(found) == [("user", "message", 3), ("assistant", "message", 5)]
    assert (found.started_at, found.updated_at) == (START, START + 9)
    assert found.title == "Use uv."
    assert found.warnings == ()


def test_the_bare_format_of_2025_takes_its_folder_from_the_environment():
    found = read(
        {"id": THREAD, "timestamp": stamp(0), "instructions": "# rules", "git": {"branch": "dev"}},
        {"record_type": "state"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {
                    "type": "input_text",
                    "text": "<environment_context>\n  <cwd>/home/dev/old</cwd>\n</environment_context>",
                }
            ],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Print KiB."}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "main.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    )
    assert (found.id, found.cwd, found.git_branch, found.source) == (THREAD, "/home/dev/old", "dev", "")
    assert found.user_texts == ("Print KiB.",)
    assert found.updated_at == START
    assert [i.tool.name for i in found.items if i.tool] == ["shell", "shell"]


def test_the_same_words_in_two_turns_are_two_but_one_record_written_twice_is_one():
    again = user("yes", at=5)
    found = read(meta(), user("yes", at=1), again, again, assistant("ok", at=6))
    assert found.user_texts == ("yes", "yes")


def test_the_head_is_the_one_the_file_is_named_after_and_recurring_heads_only_change_the_mode():
    found = read(meta(OTHER, cwd="/wrong"), meta(THREAD), user("a"), meta(THREAD, memory_mode="disabled", cwd="/later"))
    assert (found.id, found.cwd, found.memory_mode) == (THREAD, "/home/dev/app", "disabled")
    renamed = read(meta(OTHER), user("a"), file_id=THREAD)
    assert renamed.id == OTHER


@pytest.mark.parametrize(
    ("mode", "expected"), [(None, "enabled"), ("enabled", "enabled"), ("polluted", "polluted"), ("off", "disabled")]
)
def test_memory_modes(mode: str | None, expected: str):
    assert read(meta(memory_mode=mode), user("a")).memory_mode == expected


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("cli", ("cli", "")),
        ("VSCode", ("vscode", "")),
        ("app-server", ("mcp", "")),
        ({"custom": "Atlas"}, ("atlas", "")),
        ({"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}, ("subagent", "thread_spawn")),
        ({"subagent": "review"}, ("subagent", "review")),
        ({"internal": "memory_consolidation"}, ("internal", "memory_consolidation")),
        (None, ("", "")),
        ({}, ("", "")),
        (3, ("", "")),
    ],
)
def test_sources_are_strings_or_objects(source: object, word: tuple[str, str]):
    assert source_word(source) == word


@pytest.mark.parametrize(
    ("head", "source", "parent"),
    [
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p1"}}}}, "subagent", "p1"),
        ({"thread_source": "subagent", "parent_thread_id": "p2"}, "subagent", "p2"),
        ({"thread_source": "memory_consolidation"}, "internal", None),
        ({"agent_nickname": "Kepler"}, "subagent", None),
        ({"thread_source": "user"}, "cli", None),
    ],
)
def test_second_signs_of_an_agent(head: dict[str, Any], source: str, parent: str | None):
    found = read(meta(**head), user("do it"))
    assert (found.source, found.parent) == (source, parent)


def test_host_text_is_told_from_the_persons_words_part_by_part():
    agents = "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nr\n</INSTRUCTIONS>"
    env = "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"
    found = read(
        meta(cwd=None),
        user(agents, env),
        user("<skill>\nbody\n</skill>"),
        user("<user_instructions>\n\nr\n\n</user_instructions>"),
        user("<turn_aborted>\nx\n</turn_aborted>"),
        user("<subagent_notification>done</subagent_notification>"),
        user("Message Type: x\nTask name: y\nSender: z\nPayload:\nw"),
        user("<user_shell_command>ls</user_shell_command>"),
        user(agents + "\nand please fix the test"),
        line(
            "response_item", {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "d"}]}
        ),
        user("## User Input\n\npasted prompt"),
    )
    assert found.cwd == "/x"
    assert found.user_texts == (agents + "\nand please fix the test", "## User Input\n\npasted prompt")
    assert [(i.role, i.kind, i.injected) for i in found.items] == [
        ("user", "instructions", True),
        ("user", "context", True),
        ("user", "instructions", True),
        ("user", "instructions", True),
        ("user", "notice", True),
        ("agent", "message", True),
        ("agent", "message", True),
        ("user", "command", True),
        ("user", "message", False),
        ("developer", "instructions", True),
        ("user", "message", False),
    ]


def test_the_hosts_own_marks_are_believed_before_the_tags():
    def marked(text: str, kind: str) -> dict[str, Any]:
        return user(text, internal_chat_message_metadata_passthrough={"content_item_kinds": [kind]})

    found = read(
        meta(),
        marked("<environment_context> is a tag I typed", "user.text"),
        marked("plain looking", "environments.environment_context"),
        marked("rules", "agents_md.instructions"),
        marked("typed, unknown mark", "from.the.future"),
    )
    assert found.user_texts == ("<environment_context> is a tag I typed", "typed, unknown mark")
    assert [i.kind for i in found.items] == ["message", "context", "instructions", "message"]


def test_of_an_editors_prompt_only_what_was_typed_counts():
    front = "# Context from my IDE setup:\n\n## Active file: a.py\n\n"
    found = read(
        meta(),
        user(front + "## My request for Codex:\nfix it\n"),
        user(front),
    )
    assert found.user_texts == ("fix it",)
    assert [i.kind for i in found.items] == ["instructions", "message", "instructions"]


def test_pictures_and_sound_become_placeholders_and_are_not_words():
    parts = [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_audio", "data": "AAAA"},
    ]
    found = read(meta(), line("response_item", {"type": "message", "role": "user", "content": parts}))
    assert found.user_texts == ("look",)
    assert [i.text for i in found.items] == ["look", IMAGE, AUDIO]


def test_shapes_of_tool_outputs():
    shapes: list[tuple[object, str | None, bool]] = [
        (json.dumps({"output": "a\nb", "metadata": {"exit_code": 1}}), "a\nb", True),
        (json.dumps({"output": "a", "metadata": {"exit_code": 0}}), "a", False),
        ("Chunk ID: 1\nWall time: 1\nProcess exited with code 3\nOutput:\nx", None, True),
        ("Exit code: 0\nWall time: 1\nOutput:\nx", None, False),
        (
            [
                {"type": "input_text", "text": "Script completed\n"},
                {"type": "input_text", "text": "x"},
                {"type": "input_image"},
            ],
            f"Script completed\nx\n{IMAGE}",
            False,
        ),
        ([{"type": "input_text", "text": "Script failed\nOutput:\n"}], "Script failed\nOutput:\n", True),
        ("plain\n(exited with code 2)", None, True),
        ({"content": "c", "success": False}, "c", True),
        ({"other": 1}, '{"other":1}', False),
        ('{"output":broken', None, False),
        (7, "7", False),
        (None, "", False),
    ]
    found = read(
        meta(),
        item(type="function_call", name="read", namespace="fs", arguments="{}", call_id="c"),
        *(
            item(type="function_call_output", call_id="c", output=shape, at=10 + n)
            for n, (shape, _, _) in enumerate(shapes)
        ),
    )
    call, *outputs = found.items
    assert call.tool is not None
    assert call.tool.name == "fs.read"
    for (shape, text, failed), got in zip(shapes, outputs, strict=True):
        assert got.tool is not None
        assert got.text == (shape if text is None else text)
        assert (got.tool.name, got.tool.failed, got.role, got.kind) == ("fs.read", failed, "tool", "tool_output")


def test_calls_of_every_kind():
    found = read(
        meta(),
        item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c1"),
        item(type="local_shell_call", action={"type": "exec", "command": ["ls"]}, call_id="c2"),
        item(type="web_search_call", action={"type": "search", "query": "q"}),
        item(type="tool_search_call", arguments={"q": 1}, call_id="c3"),
        item(type="tool_search_output", tools=[{"name": "t"}], call_id="c3"),
        item(type="agent_message", content=[{"type": "text", "text": "other agent"}]),
        item(type="agent_message", content=[{"type": "encrypted_content"}]),
        line("inter_agent_communication", {"author": "a", "content": "hello"}),
        line("inter_agent_communication", {"author": "a"}),
        item(type="image_generation_call", result="AAAA"),
        item(type="ghost_snapshot"),
        item(type="from_2027", text="x"),
        line("hologram", {"type": "new", "text": "y"}),
        line("world_state", {"full": True}),
    )
    assert [(i.kind, i.tool.name if i.tool else i.role) for i in found.items] == [
        ("tool_call", "apply_patch"),
        ("tool_call", "local_shell"),
        ("tool_call", "web_search"),
        ("tool_call", "tool_search"),
        ("tool_output", "tool_search"),
        ("message", "agent"),
        ("message", "agent"),
    ]


def test_compaction_copies_are_passed_over():
    copies = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}]
    found = read(
        meta(), user("one"), line("compacted", {"message": "", "replacement_history": copies}), user("two", at=9)
    )
    assert found.user_texts == ("one", "two")


def test_rolled_back_turns_are_marked():
    found = read(
        meta(),
        user("<environment_context></environment_context>"),
        user("keep", at=1),
        assistant("kept", at=2),
        user("second", at=3),
        assistant("gone too", at=4),
        user("third", at=5),
        assistant("gone", at=6),
        event("thread_rolled_back", num_turns=2, at=7),
        user("instead", at=8),
        event("thread_rolled_back", num_turns=True, at=9),
        event("thread_rolled_back", num_turns="x", at=9),
    )
    assert found.user_texts == ("keep", "instead")
    assert found.assistant_texts == ("kept",)
    assert [i.line for i in found.items if i.undone] == [5, 6, 7, 8]
    everything = read(meta(), user("a", at=1), user("b", at=2), event("thread_rolled_back", num_turns=99))
    assert everything.user_texts == ()
    twice = read(
        meta(),
        user("a", at=1),
        user("b", at=2),
        user("c", at=3),
        event("thread_rolled_back", num_turns=1, at=4),
        event("thread_rolled_back", num_turns=1, at=5),
    )
    assert twice.user_texts == ("a",)
    assert read(meta(), event("thread_rolled_back", num_turns=1)).items == ()


def test_events_stand_in_where_there_are_no_messages():
    found = read(
        meta(),
        event("user_message", message="typed"),
        event("agent_message", message="said"),
        event("item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": "more"}]}),
        event("item_completed", item={"type": "CommandExecution"}),
        event("user_message", message="<environment_context></environment_context>"),
        event("user_message", message=""),
        item(type="function_call", name="sh", arguments="{}", call_id="c"),
    )
    assert found.user_texts == ("typed", "more")
    assert found.assistant_texts == ("said",)
    assert [i.line for i in found.items] == [2, 3, 4, 6, 8]


# --- forks ---


def fork(*own: dict[str, Any], **head: Any) -> Rollout:
    return read(
        meta(THREAD, at=100, forked_from_id=OTHER, **head),
        meta(OTHER, at=100),
        user("parent's", at=100),
        assistant("parent's answer", at=100.5),
        *own,
    )


def test_a_forks_opening_is_inherited_up_to_the_jump_in_time():
    found = fork(user("own", at=105), assistant("own answer", at=106))
    assert (found.id, found.parent) == (THREAD, OTHER)
    assert found.user_texts == ("own",)
    assert [i.inherited for i in found.items] == [True, True, False, False]
    assert fork().user_texts == ()


def test_a_forks_own_turn_is_known_by_its_id_even_when_all_was_written_at_once():
    old, new = "019cb812-0000-7000-8000-000000000001", "019cb814-0000-7000-8000-000000000001"
    found = read(
        meta(THREAD, at=100, forked_from_id=OTHER),
        meta(OTHER, at=100),
        event("task_started", turn_id=old, at=100),
        user("parent's", at=100),
        event("task_started", turn_id=new, at=100.1),
        user("own", at=100.2),
    )
    assert found.user_texts == ("own",)
    only_old = read(meta(THREAD, forked_from_id=OTHER), event("task_started", turn_id=old), user("parent's", at=500))
    assert only_old.user_texts == ()


def test_a_fork_without_copies_keeps_its_words():
    assert read(meta(forked_from_id=OTHER), user("own")).user_texts == ("own",)


# --- details ---


def test_without_a_head_the_rest_is_used_and_said():
    found = read(
        line("turn_context", {"cwd": "/home/dev/app"}, 1),
        user("hello"),
        {"type": "from_2027"},
        {"no": "type"},
    )
    assert (found.id, found.cwd, found.user_texts) == (THREAD, "/home/dev/app", ("hello",))
    assert "head is missing" in found.warnings[0]
    assert read(user("x"), file_id=None).id == ""


def test_rate_limits_of_the_last_record():
    def limits(percent: object, at: float, **more: Any) -> dict[str, Any]:
        return event(
            "token_count", rate_limits={"limit_id": "codex", "primary": {"used_percent": percent}, **more}, at=at
        )

    found = read(
        meta(), limits(10, 1), limits(42.5, 2, rate_limit_reached_type="primary"), event("token_count", info=None)
    )
    assert found.rate_limits is not None
    assert (found.rate_limits.primary_used_percent, found.rate_limits.at) == (42.5, START + 2)
    assert found.rate_limits.secondary_used_percent is None
    assert found.rate_limits.reached == "primary"
    assert read(meta(), event("token_count", rate_limits=None)).rate_limits is None
    bad = read(meta(), limits("much", 1), event("x", at=5)).rate_limits
    assert bad is not None
    assert bad.primary_used_percent is None


def test_a_name_given_to_the_thread_is_its_title():
    assert read(meta(), user("hello"), event("thread_name_updated", thread_name="Nice")).title == "Nice"


def test_hostile_values_are_nothing_worse_than_nothing():
    found = read(
        meta(cwd=3, git="x", source=["a"], timestamp=[], originator=None, memory_mode={}),
        line("response_item", {"type": "message", "role": 3, "content": "as a string"}),
        line("response_item", {"type": "message", "role": "user", "content": {"text": "x"}}),
        line("response_item", {"type": "message", "role": "user", "content": [None, 3, {"text": 5}]}),
        line("response_item", {"type": "function_call", "name": {}, "arguments": None, "call_id": []}),
        line("event_msg", {"type": "item_completed", "item": "x"}),
        line("event_msg", {"type": None}),
        line("response_item", {"type": ["message"]}),
        {"timestamp": {}, "type": {}, "payload": {}},
    )
    assert found.user_texts == ("as a string",)
    assert found.cwd == ""
    assert read(meta(), user("a\ud83d b\x00")).user_texts == ("a\ufffd b\ufffd",)
    assert read(meta(ephemeral=True), user("a")).ephemeral
