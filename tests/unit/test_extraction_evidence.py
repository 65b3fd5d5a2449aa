"""References of a model are checked against what it was given."""

from __future__ import annotations

import pytest

from ltmem_gui.domain.evidence import lines_of, references_supported
from ltmem_gui.domain.extraction import StageOneReply, decode_reply
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.extraction import extract_builtin
from tests.helpers.extraction_cases import items_of_turns, request_of

THREAD = "01a17720-0000-7000-8000-000000000001"
LINES = {3: "No, never use npm in this repo.\nAlways pnpm.", 5: "All tests pass.", 9: "迁移之后要重启服务"}


def reply(memory: str, summary: str = "# s") -> StageOneReply:
    return StageOneReply(raw_memory=memory, rollout_summary=summary, rollout_slug="s")


def rules(memory: str, summary: str = "# s") -> list[str]:
    return [finding.rule for finding in references_supported(reply(memory, summary), THREAD, LINES)]


@pytest.mark.parametrize(
    "bullet",
    [
        '- "never use npm in this repo" → keep to it [c1]',
        "- „never use npm in this repo“ [c1]",
        "- use pnpm and never npm in this repo [c1]",
        "- a b [c1]",
    ],
)
def test_a_bullet_that_its_lines_say_has_no_finding(bullet: str) -> None:
    assert rules(f"{bullet}\nrollout:{THREAD}:3-4 |note=[c1 said]") == []


@pytest.mark.parametrize(
    ("reference", "rule"),
    [
        (f"rollout:{THREAD}:4-4 |note=[c1 x]", "unresolved-citation"),
        (f"rollout:{THREAD}:0-3 |note=[c1 x]", "unresolved-citation"),
        (f"rollout:{THREAD}:5-3 |note=[c1 x]", "unresolved-citation"),
        ("rollout:another:3-3 |note=[c1 x]", "unresolved-citation"),
        (f"rollout:{THREAD}:5-5 |note=[c1 x]", "unsupported"),
    ],
)
def test_a_reference_that_does_not_hold_is_flagged_with_its_line(reference: str, rule: str) -> None:
    found = references_supported(reply(f'- "never use npm in this repo" [c1]\n{reference}'), THREAD, LINES)
    assert [(f.rule, f.path, f.line) for f in found] == [(rule, "raw_memory", 2)]


def test_words_nobody_said_are_flagged_even_without_a_quotation() -> None:
    assert rules(f"- deploys happen through jenkins nightly [c1]\nrollout:{THREAD}:3-3 |note=[c1 x]") == ["unsupported"]


def test_chinese_words_are_compared_by_character() -> None:
    assert rules(f"- 迁移后重启 [c1]\nrollout:{THREAD}:9-9 |note=[c1 x]") == []
    assert rules(f"- 使用缓存加速 [c1]\nrollout:{THREAD}:9-9 |note=[c1 x]") == ["unsupported"]


def test_numbered_references_of_the_summary_are_checked_too() -> None:
    memory = f"rollout:{THREAD}:3-3"
    assert rules(memory, f'- "All tests pass." [1]\nReferences\n[1] rollout:{THREAD}:5-5') == []
    assert rules(memory, f'- "All tests pass." [1]\nReferences\n[1] rollout:{THREAD}:3-3') == ["unsupported"]


def test_a_reply_without_any_reference_is_flagged_once_and_a_no_op_never() -> None:
    assert rules("- something") == ["uncited"]
    assert references_supported(reply(" ", ""), THREAD, LINES) == ()


def test_places_are_lines_or_rows_and_shared_ones_are_joined() -> None:
    items = [
        RolloutItem("user", "message", "a", 3),
        RolloutItem("user", "message", "b", 3),
        RolloutItem("user", "message", "c", None, 4),
        RolloutItem("user", "message", "d"),
    ]
    assert lines_of(items) == {3: "a\nb", 4: "c"}


def test_the_built_in_extractor_needs_no_finding() -> None:
    request = request_of(
        items_of_turns(
            [
                ["user", "Build it."],
                ["run", "make gen", "protoc: command not found", 127],
                ["run", "pip install grpcio-tools && make gen", "ok", 0],
                ["user", "No, never edit api/gen by hand. Always run `make gen`."],
            ]
        )
    )
    decoded = decode_reply(extract_builtin(request).text)
    assert not decoded.is_no_op
    assert references_supported(decoded, request.thread_id, lines_of(request.items)) == ()
