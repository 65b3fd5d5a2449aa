"""What a call asked for, as it is told: checked first, then on one line, then cut; nothing hides in it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given as example
from hypothesis import settings
from hypothesis import strategies as st

from ltmem_gui.domain.agent import AgentAction, AgentCall, CallArgument, ToolOutcome
from ltmem_gui.pipeline.agent_arguments import MAX_PER_CALL, MAX_TOLD, READ, as_told, given, unread
from ltmem_gui.pipeline.agent_tools import Toolbox
from ltmem_gui.workspace.staging import staged_copy

TOKEN = "TOKEN-77"


async def words(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Stand in for the choke point: it knows one secret."""
    return tuple(text.replace(TOKEN, "[gone]") for text in texts)


def told(*actions: AgentAction, said: str = "") -> tuple[AgentAction, ...]:
    return asyncio.run(as_told(actions, said, words))[0]


def called(name: str, arguments: str) -> AgentAction:
    """Carry out one call on a small folder and return it as it is told."""
    with staged_copy({"MEMORY.md": b"- always pnpm\n"}, max_bytes=1 << 20, max_files=10) as copy:
        action, _ = Toolbox(copy).call(AgentCall("c", name, arguments))
    (shown,) = told(action)
    return shown


def calling(name: str, **arguments: Any) -> AgentAction:
    return called(name, json.dumps(arguments))


def asked(action: AgentAction) -> list[tuple[str, str]]:
    return [(argument.name, argument.text) for argument in action.arguments]


def test_each_tool_tells_what_it_was_asked_for() -> None:
    assert asked(calling("read", path="MEMORY.md", line_offset=1, max_lines=9)) == [
        ("line_offset", "1"),
        ("max_lines", "9"),
    ]
    search = calling("search", queries=["pnpm", "a\nb"], case_sensitive=False, path="")
    assert asked(search) == [("queries", "pnpm"), ("queries", "a↵b"), ("case_sensitive", "false")]
    assert asked(calling("list")) == []
    assert asked(calling("delete", path="MEMORY.md")) == []
    assert calling("write", path="a.md", content="ä\n").arguments == (CallArgument("content", "ä↵", 0, 3),)
    edit = calling("edit", path="MEMORY.md", old_text="pnpm", new_text="", replace_all=True)
    assert edit.asked == "old_text (4 bytes) pnpm · new_text (0 bytes) · replace_all true"


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("read", '{"path": "../x"}', "outside"),
        ("read", '{"path": ".git/config"}', "hidden"),
        ("write", '{"path": "raw_memories.md", "content": "x"}', "read-only"),
        ("write", '{"path": "a.md", "content": "' + "x" * (1 << 20) + '"}', "size"),
        ("run_shell", '{"cmd": "id"}', "unknown tool"),
        ("read", '{"path": "nothing.md"}', "not found"),
        ("read", '{"path": 7}', "bad arguments"),
        ("read", "[1, 2]", "bad arguments"),
        ("read", '{"path": "MEMORY.md", "line_offset": 9}', "bad arguments"),
        ("list", '{"cursor": "x"}', "bad arguments"),
        ("search", '{"queries": [""]}', "bad arguments"),
        ("write", '{"path": "a.md", "content": "\\ud800"}', "bad arguments"),
        ("edit", '{"path": "MEMORY.md", "old_text": "q", "new_text": ""}', "no match"),
        ("edit", '{"path": "MEMORY.md", "old_text": "a", "new_text": ""}', "no match"),
    ],
)
def test_a_call_that_was_not_done_says_why(name: str, arguments: str, reason: str) -> None:
    action = called(name, arguments)
    assert action.outcome is not ToolOutcome.DONE
    assert action.reason == reason
    assert action.detail


def test_one_call_too_many_says_why() -> None:
    with staged_copy({}, max_bytes=9, max_files=1) as copy:
        action, _ = Toolbox(copy).too_many(AgentCall("c", "list", '{"path": "a"}'))
    assert (action.reason, asked(action)) == ("too many calls", [("arguments", '{"path": "a"}')])


def test_a_pattern_of_a_megabyte_is_cut_and_counted() -> None:
    pattern = "x" * 1_000_000
    (argument,) = calling("search", queries=[pattern]).arguments
    assert len(argument.text) == 400
    assert argument.text.endswith("…")
    assert argument.left_out == 1_000_000 - 399
    assert argument.in_words().endswith("(+999,601 characters)")


def test_many_arguments_share_the_room() -> None:
    action = calling("search", queries=[f"{n}{'y' * 500}" for n in range(32)])
    assert len(action.arguments) == 32
    assert sum(len(argument.text) for argument in action.arguments) <= MAX_PER_CALL + 32 * 40
    assert all(argument.left_out for argument in action.arguments)


@pytest.mark.parametrize("place", range(395, 404))
def test_a_secret_at_the_cut_does_not_show_its_half(place: int) -> None:
    (argument,) = calling("search", queries=["x" * place + TOKEN]).arguments
    assert "TOK" not in argument.text


@pytest.mark.parametrize("place", [READ - 4, READ - 500])
def test_a_secret_at_the_end_of_what_is_read_does_not_move_into_sight(place: int) -> None:
    """What was taken out before it makes the text shorter: the unchecked end may come near the beginning."""
    text = (TOKEN * 2_000)[: place // 8 * 8] + "-" * (place % 8) + TOKEN * 9

    async def shorter(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.replace(TOKEN, "") for text in texts)

    shown, _ = asyncio.run(as_told([AgentAction("x", "", ToolOutcome.ERROR, arguments=unread(text))], "", shorter))
    assert "TOK" not in shown[0].asked


def test_secrets_are_gone_from_every_part_and_from_what_hides_them() -> None:
    escaped = "".join(f"\\u{ord(c):04x}" for c in TOKEN)
    for name, arguments in (
        (TOKEN, "{}"),
        ("run", json.dumps({"env": {"deep": [{"er": TOKEN}]}})),
        ("run", f'{{"a": "{escaped}"}}'),
        ("run", f'{{"a": "{escaped}"'),
        ("read", json.dumps({"path": f"x/{TOKEN}.md"})),
        ("search", json.dumps({"queries": [TOKEN]})),
        ("write", json.dumps({"path": "a.md", "content": f"key {TOKEN}"})),
        ("edit", json.dumps({"path": "MEMORY.md", "old_text": TOKEN, "new_text": TOKEN})),
    ):
        shown = called(name, arguments)
        assert TOKEN not in repr(shown)
        assert "[gone]" in repr(shown)


def test_a_secret_over_two_lines_is_found_in_every_word_of_a_call() -> None:
    """On one line its halves would be there to be read."""

    async def over_lines(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.replace("TOKEN\n-77", "[gone]") for text in texts)

    secret = "TOKEN\n-77"
    with staged_copy({"MEMORY.md": b"- always pnpm\n"}, max_bytes=1 << 20, max_files=10) as copy:
        box = Toolbox(copy)
        calls = (
            AgentCall("c", secret, "{}"),
            AgentCall("c", "read", json.dumps({"path": f"a/{secret}"})),
            AgentCall("c", "search", json.dumps({"queries": ["x", secret]})),
        )
        actions = [box.call(call)[0] for call in calls]
    for shown in asyncio.run(as_told(actions, "", over_lines))[0]:
        assert "[gone]" in repr(shown)
        assert "TOKEN" not in repr(shown)
        assert "\n" not in shown.tool + shown.path + shown.detail


@pytest.mark.parametrize("place", range(70, 80))
def test_a_secret_that_was_looked_for_is_checked_before_what_was_found_is_cut(place: int) -> None:
    assert "TOK" not in calling("search", queries=["x" * place, TOKEN]).detail


def test_hidden_characters_are_seen() -> None:
    text = "a\u202eb\u200bc\x00d\re\tf\u2028g\x1b[31m"
    (valid,) = calling("search", queries=[text]).arguments
    assert valid.text == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d⟨U+000D⟩e⇥f⟨U+2028⟩g⟨U+001B⟩[31m"
    (raw,) = called("shell", json.dumps({"a": text}, ensure_ascii=False)).arguments
    assert "\u202e" not in raw.text
    assert "⟨U+202E⟩" in raw.text


@pytest.mark.parametrize(
    "arguments", ["", "  ", "null", "7", '"a"', "[[[[", '{"a": NaN}', "{" * 5_000, '{"path": {"a": [{}]}}', "\ud800"]
)
def test_what_is_no_arguments_is_told_as_it_is(arguments: str) -> None:
    shown = called("read", arguments)
    assert (shown.outcome, shown.reason) == (ToolOutcome.ERROR, "bad arguments")
    assert len(shown.asked) <= 500
    assert bool(shown.arguments) is bool(arguments.strip())


def test_a_flood_of_calls_is_counted_and_its_arguments_are_not_read() -> None:
    flood = [AgentAction("x", "", ToolOutcome.REFUSED, arguments=unread("{}")) for _ in range(MAX_TOLD + 5)]
    shown = told(*flood)
    assert [bool(action.arguments) for action in shown] == [True] * MAX_TOLD + [False] * 5


def test_a_step_is_checked_in_one_go() -> None:
    seen: list[tuple[str, ...]] = []

    async def once(texts: tuple[str, ...]) -> tuple[str, ...]:
        seen.append(texts)
        return texts

    actions = [AgentAction("read", "a.md", ToolOutcome.DONE, "lines", arguments=given({"path": "a.md", "n": 1}))] * 3
    shown, said = asyncio.run(as_told(actions, "done", once))
    assert seen == [("done", "a.md", "lines", "1")]
    assert (len(shown), said) == (3, "done")
    assert asyncio.run(as_told([], "", once)) == ((), "")
    assert len(seen) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@example(
    st.sampled_from(("list", "read", "search", "write", "edit", "delete", "other")),
    st.dictionaries(st.sampled_from(("path", "queries", "content", "old_text", "new_text", "x")), JSON).map(json.dumps)
    | st.text(),
)
def test_whatever_is_called_is_told_bounded_and_on_one_line(name: str, arguments: str) -> None:
    shown = called(name, arguments)
    assert "\n" not in shown.tool + shown.path + shown.detail + shown.asked
    assert shown.asked.isprintable() or any(c.isspace() for c in shown.asked)
    assert sum(len(argument.text) for argument in shown.arguments) <= MAX_PER_CALL + 40 * len(shown.arguments)
    json.dumps(shown.asked).encode("utf-8")
    shown.asked.encode("utf-8")
