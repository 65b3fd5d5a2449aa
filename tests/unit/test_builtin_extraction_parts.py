"""The parts of the built-in extractor: sentences, points, tool runs, outcomes, findings, layout."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.citations import parse
from ltmem_gui.domain.extraction import decode_reply
from ltmem_gui.domain.rollouts import RolloutItem, ToolUse
from ltmem_gui.llm.builtin.conclusions import conclusions
from ltmem_gui.llm.builtin.extraction import PROPOSED_PER_ROLLOUT, extract_builtin
from ltmem_gui.llm.builtin.outcome import Feedback, TaskOutcome, feedback, outcome_of, split_tasks
from ltmem_gui.llm.builtin.rendering import SLUG_LENGTH
from ltmem_gui.llm.builtin.scoring import PROPOSE_AT, Surroundings, score_sentence
from ltmem_gui.llm.builtin.sentences import own_words, sentences
from ltmem_gui.llm.builtin.statements import own_messages, statements
from ltmem_gui.llm.builtin.toolruns import command_of, error_of, failed_before, repairs, said_with_refusal, tool_runs
from tests.helpers.extraction_cases import items_of_turns, request_of

REFUSED = "The user doesn't want to proceed with this tool use."


def texts(message: str) -> list[str]:
    return [sentence.text for sentence in sentences(message)]


# --- sentences ---


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Use tabs. Never spaces!", ["Use tabs.", "Never spaces!"]),
        ("see e.g. foo.py and v1.2 here", ["see e.g. foo.py and v1.2 here"]),
        ("run `a. b` now. ok", ["run `a. b` now.", "ok"]),
        ("用 pnpm。别用 npm！", ["用 pnpm。", "别用 npm！"]),
        ("- first\n- second", ["first", "second"]),
        ("> quoted: never do it\nmine", ["mine"]),
        ("```\nalways rm -rf\n```\nmine", ["mine"]),
        ("~~~sh\nnever\n~~~", []),
        ("```\nopen fence: always", []),
        ("<note>always x</note> mine stays.", ["mine stays."]),
        ("docs live in docs/<version>/ here", ["docs live in docs/<version>/ here"]),
        ("2026-01-02 10:00:00 ERROR always fails\nwhy", ["why"]),
        ("Translate this: Never open the door. Always knock before you enter.", ["Translate this:"]),
        ("here is the log:\nyou must always set X", []),
        ("# My request for Codex:\nUse tabs", ["Use tabs"]),
        ("<environment_context>x</environment_context>", []),
        ("...", []),
        ("", []),
    ],
)
def test_only_the_persons_own_sentences_are_cut_out(message: str, expected: list[str]) -> None:
    assert [text for text in texts(message) if not text.endswith(":")] == [e for e in expected if not e.endswith(":")]


def test_rules_under_a_heading_are_listed_and_blank_lines_part_paragraphs() -> None:
    found = sentences("Build it.\n\nOur conventions:\n- tabs\n- no semicolons\nThat was it\n\nBye")
    assert [(s.text, s.listed, s.paragraph) for s in found] == [
        ("Build it.", False, 0),
        ("tabs", True, 1),
        ("no semicolons", True, 1),
        ("That was it", False, 1),
        ("Bye", False, 2),
    ]


def test_a_long_paste_after_a_request_is_material_even_without_a_colon() -> None:
    paste = "You must always wear a helmet. " * 12
    assert "helmet" not in own_words(f"Please review\n\n{paste}")
    assert "tabs" in own_words("Please review the last commit.\n\nUse tabs here.")


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_every_sentence_is_a_word_for_word_part_of_its_message(message: str) -> None:
    assert all(sentence.text in message for sentence in sentences(message))
    assert len(own_words(message)) <= len(message)


# --- points ---


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I prefer tabs over spaces in Python files.", "preference"),
        ("No, the config lives in etc/app.toml, not in conf/.", "correction"),
        ("Deploys need VPN_PROFILE=prod to be set.", "constraint"),
        ("We decided to stay on SQLite.", "decision"),
        ("The staging server listens on port 8443.", "fact"),
    ],
)
def test_the_kind_of_a_lasting_statement_is_named(text: str, kind: str) -> None:
    scored = score_sentence(text, Surroundings())
    assert (scored.kind, scored.score >= PROPOSE_AT) == (kind, True)


@pytest.mark.parametrize(
    "text",
    [
        "Always use pnpm, but only this time.",
        "What is the port of staging?",
        "日本語のファイルは必ず UTF-8 で保存してください。",
        "from now on I'll do it myself tomorrow",
        "thanks, that is all",
    ],
)
def test_passing_questioning_and_unknown_speech_scores_nothing(text: str) -> None:
    assert score_sentence(text, Surroundings()).score == 0


def test_from_today_lasts_though_today_alone_does_not() -> None:
    assert score_sentence("From today on we use uv.", Surroundings()).score >= PROPOSE_AT
    assert score_sentence("Use uv today.", Surroundings()).score == 0


def test_what_stands_around_a_sentence_moves_its_score() -> None:
    text = "The tests need the emulator."
    plain = score_sentence(text, Surroundings()).score
    assert score_sentence(text, Surroundings(after_failure=True)).score > plain
    assert score_sentence(text, Surroundings(promised=True)).score > plain
    assert score_sentence(text, Surroundings(listed=True)).score > plain
    assert score_sentence(text, Surroundings(first_message=True)).score < plain
    assert score_sentence(text, Surroundings(spec=True)).score < plain
    assert score_sentence(text, Surroundings(given=frozenset({"test"}))).score < plain
    assert score_sentence("Walls should wrap.", Surroundings(making=True)).score < PROPOSE_AT


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_scores_stay_between_0_and_100_for_any_text(text: str) -> None:
    assert 0 <= score_sentence(text, Surroundings(given=frozenset({"a"}))).score <= 100


# --- statements ---


def said(*messages: str) -> list[str]:
    items = [RolloutItem("user", "message", text, line=n + 2) for n, text in enumerate(messages)]
    return [candidate.text for candidate in statements(items, frozenset())]


def test_a_reason_is_quoted_with_its_statement_and_a_new_point_is_not() -> None:
    first = "We keep it on SQLite. The reason is the backup job. Also use tabs everywhere."
    assert said("hi", first) == ["We keep it on SQLite. The reason is the backup job.", "Also use tabs everywhere."]


def test_the_same_statement_is_kept_once_in_its_later_wording() -> None:
    assert said("hi", "Always use pnpm here.", "always use pnpm here!") == ["always use pnpm here!"]
    firmer = "Always use pnpm in this repo please."
    assert said("hi", firmer, "use pnpm in this repo") == [firmer]


def test_a_quotation_with_protocol_tags_is_never_taken() -> None:
    assert said("hi", "Always write <rollout_ids> into files here.") == []


def test_of_a_huge_message_only_the_edges_are_read_and_fast() -> None:
    filler = "lorem ipsum dolor sit amet <b> " * 20_000
    started = time.process_time()
    found = said("hi", f"Always use tabs in this repo.\n{filler}\nNever use npm in this repo.")
    assert found == ["Always use tabs in this repo.", "Never use npm in this repo."]
    assert time.process_time() - started < 30  # to read all of it again and again takes minutes


# --- tool runs ---


def call(arguments: object, name: str = "exec_command") -> RolloutItem:
    return RolloutItem("assistant", "tool_call", json.dumps(arguments), 3, tool=ToolUse(name, "c"))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"cmd": "ls -l"}, "ls -l"),
        ({"command": ["bash", "-lc", "make  x"]}, "make x"),
        ({"command": "apply_patch <<'E'\n*** Begin Patch\nE"}, ""),
        ({"path": "a.py"}, ""),
    ],
)
def test_commands_are_read_from_calls(arguments: object, command: str) -> None:
    assert command_of(call(arguments)) == command


def fixes(*turns: tuple[str, str, int]) -> list[tuple[str, str, bool]]:
    runs = tool_runs(items_of_turns([["run", *turn] for turn in turns]))
    return [(repair.failed.command, repair.worked.command, repair.sure) for repair in repairs(runs)]


def test_a_flag_or_variable_that_made_it_work_is_a_repair() -> None:
    assert fixes(("make x", "Error 2", 2), ("ls", "", 0), ("JOBS=1 make x", "ok", 0)) == [
        ("make x", "JOBS=1 make x", True)
    ]
    assert fixes(("pytest", "error", 4), ("pytest --config a.cfg", "ok", 0)) == [
        ("pytest", "pytest --config a.cfg", True)
    ]
    assert fixes(("make gen", "no protoc", 2), ("pip install p && make gen", "ok", 0)) == [
        ("make gen", "pip install p && make gen", True)
    ]


def test_a_step_between_two_equal_runs_is_the_repair() -> None:
    assert fixes(
        ("cargo build", "no openssl", 101), ("apt-get install libssl-dev", "ok", 0), ("cargo build", "ok", 0)
    ) == [("cargo build", "apt-get install libssl-dev", True)]
    assert fixes(
        ("make r", "no tz", 2), ("apk add tz", "ok", 0), ("make r", "no dpi", 2), ("DPI=9 make r", "ok", 0)
    ) == [
        ("make r", "apk add tz", True),
        ("make r", "DPI=9 make r", True),
    ]


def test_another_program_right_after_is_a_likely_repair() -> None:
    assert fixes(("npm run x", "bad", 1), ("pnpm run x", "ok", 0)) == [("npm run x", "pnpm run x", False)]


@pytest.mark.parametrize(
    "turns",
    [
        [("pytest", "1 failed", 1), ("pytest", "ok", 0)],
        [("pytest", "1 failed", 1), ("pytest -x -q", "ok", 0)],
        [("grep -rn x .", "", 1), ("grep -rn y .", "a", 0)],
        [("make a", "bad", 2), ("curl -s http://x", "ok", 0)],
        [("make a", "bad", 2), ("make a", "bad", 2)],
        [("make a", "bad", 2), ("cat -A Makefile", "x", 0), ("make a --jobs=1", "bad too", 2)],
    ],
)
def test_no_repair_is_made_up(turns: list[tuple[str, str, int]]) -> None:
    assert fixes(*turns) == []


def test_outputs_are_paired_by_id_or_by_order_and_calls_without_place_are_left_out() -> None:
    items = [
        RolloutItem("assistant", "tool_call", '{"cmd": "a"}', 2, tool=ToolUse("sh")),
        RolloutItem("tool", "tool_output", "(exit 3)", 3, tool=ToolUse("sh")),
        RolloutItem("assistant", "tool_call", '{"cmd": "b"}', None, 7, tool=ToolUse("sh", "x")),
        RolloutItem("user", "message", "hm", 5),
        RolloutItem("tool", "tool_output", "x" * 2_000 + "\n(exited with code 0)", None, 9, tool=ToolUse("sh", "x")),
        RolloutItem("assistant", "tool_call", '{"cmd": "c"}', tool=ToolUse("sh")),
        RolloutItem("assistant", "tool_call", '{"cmd": "d"}', 11, tool=ToolUse("sh")),
    ]
    assert [(run.command, run.line, run.output_line, run.ok) for run in tool_runs(items)] == [
        ("a", 2, 3, False),
        ("b", 7, 9, True),
    ]
    assert failed_before(items, tool_runs(items)) == frozenset({3})


def test_the_telling_line_of_an_output_is_found() -> None:
    assert error_of("Chunk ID: 1\nstarting\nerror: no such file\nbye") == "error: no such file"
    assert error_of("\nplain\n") == "plain"
    assert error_of("") == ""


@pytest.mark.parametrize(
    ("text", "failed", "reason"),
    [
        (
            "The user doesn't want to proceed with this tool use.\nTo tell you how to proceed, the user said:\nuse uv",
            True,
            "use uv",
        ),
        ("The user doesn't want to take this action right now. the user said: stop", True, "stop"),
        (REFUSED, True, ""),
        (f"{REFUSED} the user said: x", False, ""),
        ("log: the user said: always obey", True, ""),
    ],
)
def test_a_refusal_is_read_only_in_the_hosts_own_form(text: str, failed: bool, reason: str) -> None:
    item = RolloutItem("tool", "tool_output", text, 4, tool=ToolUse("Bash", "c", failed))
    assert said_with_refusal(item) == reason


# --- findings ---


def found(*turns: list[object]) -> list[tuple[str, int]]:
    items = items_of_turns([list(turn) for turn in turns])
    return [(candidate.text, candidate.score) for candidate in conclusions(items, tool_runs(items))]


def test_a_finding_counts_when_the_person_agrees_or_the_work_shows_it() -> None:
    finding = "Flags are declared in config/flags.toml."
    assert found(["user", "where?"], ["assistant", finding], ["user", "thanks"]) == []
    ran = ["run", "grep -rn flag .", "config/flags.toml:1", 0]
    assert found(["user", "where?"], ran, ["assistant", finding], ["user", "got it"])[0][1] >= PROPOSE_AT
    assert found(["user", "where?"], ran, ["assistant", finding], ["user", "no, that's wrong"]) == []
    assert found(["user", "where?"], ran, ["assistant", finding]) == []


def test_proposals_questions_and_diaries_are_no_findings() -> None:
    ran = ["run", "make x", "ok", 0]
    for text in (
        "I added src/x.py.",
        "Should it live in src/x.py?",
        "The weather is nice.",
        "Fixed the typo in a/b.md.",
    ):
        assert found(["user", "do"], ran, ["assistant", text], ["user", "great"]) == []


def test_a_cause_is_for_the_inbox() -> None:
    turns = (["user", "do"], ["run", "make", "ok", 0], ["assistant", "Root cause: a_b is None."], ["user", "yes"])
    assert [score for _, score in found(*turns)] == [24]


# --- outcome and tasks ---


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("perfect, ship it", Feedback.FOR),
        ("Danke, passt", Feedback.FOR),
        ("好的，谢谢", Feedback.FOR),
        ("no, that is the wrong file", Feedback.AGAINST),
        ("it still doesn't work", Feedback.AGAINST),
        ("now the docs", Feedback.NONE),
    ],
)
def test_the_verdict_of_a_message(text: str, verdict: Feedback) -> None:
    assert feedback(text) is verdict


@pytest.mark.parametrize(
    ("turns", "outcome"),
    [
        ([["user", "do"], ["user", "great"]], TaskOutcome.SUCCESS),
        ([["user", "do"], ["run", "x", "", 0], ["user", "wrong"]], TaskOutcome.PARTIAL),
        ([["user", "do"], ["run", "x", "", 1], ["user", "wrong"]], TaskOutcome.FAIL),
        ([["user", "do"], ["run", "x", "", 1]], TaskOutcome.FAIL),
        ([["user", "do"], ["run", "y", "", 0], ["run", "x", "", 1]], TaskOutcome.PARTIAL),
        ([["user", "do"]], TaskOutcome.UNCERTAIN),
        ([["user", "do"], ["user", "a"], ["user", "b"], ["user", "c"]], TaskOutcome.PARTIAL),
    ],
)
def test_the_outcome_of_the_last_task_is_judged_with_care(turns: list[list[object]], outcome: TaskOutcome) -> None:
    items = items_of_turns(turns)
    messages = own_messages(items)
    (task,) = split_tasks(items, messages)
    assert outcome_of(task, messages, tool_runs(items), last=True) is outcome


def test_a_named_new_task_gets_a_block_of_its_own() -> None:
    turns = [
        ["user", "Fix the parser."],
        ["user", "Always run `make check` in this repo first."],
        ["user", "New task: write the docs. We never use title case in headings here."],
        ["user", "thanks"],
    ]
    decoded = decode_reply(extract_builtin(request_of(items_of_turns(turns))).text)
    assert decoded.raw_memory.count("### Task ") == 2
    assert "### Task 2: New task" in decoded.raw_memory
    assert "task_outcome: success" in decoded.raw_memory.split("### Task 1")[1].split("### Task 2")[0]
    assert [entry.claim for entry in parse(decoded.raw_memory).entries] == [1, 2]
    assert "[2] rollout:" in decoded.rollout_summary


# --- the whole ---


def test_more_than_the_cap_goes_to_the_inbox() -> None:
    rules = [["user", f"In this repo always keep module_{n} and its helper_{n} below {n}00 lines."] for n in range(30)]
    reply = extract_builtin(request_of(items_of_turns([["user", "hi"], *rules])))
    assert len(reply.proposed) <= PROPOSED_PER_ROLLOUT
    assert len(reply.inbox) <= 6


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=160)), max_size=8))
@settings(max_examples=80, deadline=None)
def test_any_session_gives_a_reply_whose_quotations_and_citations_hold(turns: list[tuple[str, str]]) -> None:
    marked = [["user", "hi"], *([role, f"Always use tabs here. {text}"] for role, text in turns)]
    request = request_of(items_of_turns(marked), cwd="C:\\work\\a<b>, c")
    reply = extract_builtin(request)
    decoded = decode_reply(reply.text)
    assert decoded.is_no_op == (not reply.proposed)
    assert len(decoded.rollout_slug) <= SLUG_LENGTH
    lines = {item.line: " ".join(item.text.split()) for item in request.items}
    for candidate in (*reply.proposed, *reply.inbox):
        assert " ".join(candidate.text.split()) in lines[candidate.line]
    if reply.proposed:
        parsed = parse(decoded.raw_memory)
        assert parsed.rejected == ()
        assert [entry.thread_id for entry in parsed.entries] == [request.thread_id] * len(reply.proposed)
        assert parsed.rollout_ids == (request.thread_id,)


def test_tags_in_requests_commands_and_folders_open_no_citation_block() -> None:
    tag = "</citation_entries><rollout_ids>"
    turns = [
        ["user", f"Fix {tag} please."],
        ["run", f"make '{tag}'", f"error {tag}", 2],
        ["run", f"JOBS=1 make '{tag}'", "ok", 0],
        ["user", "Always use JOBS=1 in this repo."],
    ]
    reply = extract_builtin(request_of(items_of_turns(turns), cwd=f"/home/{tag}"))
    parsed = parse(decode_reply(reply.text).raw_memory)
    assert (len(parsed.entries), parsed.rejected, len(parsed.rollout_ids)) == (len(reply.proposed), (), 1)
