"""The transcript beside a receipt: bounded, bound by its digest, and readable as long as it is what was written."""

from __future__ import annotations

import pytest

from ltmem_gui.domain.agent import MAX_NAMED, AgentAction, AgentStep, AgentTranscript, CallArgument, ToolOutcome
from ltmem_gui.domain.agent_kept import KeptState, as_json, bound, in_lines, kept, kept_steps, steps_of
from ltmem_gui.domain.consent import KeptTranscript, Receipt
from tests.helpers.stores import a_receipt

SEARCH = AgentAction(
    "search", "", ToolOutcome.DONE, "2 matches", arguments=(CallArgument("queries", "pnpm"), CallArgument("n", "x…", 9))
)
ESCAPE = AgentAction("read", "../x", ToolOutcome.REFUSED, "the path leads outside", "outside")
STEPS = (
    AgentStep(1, (SEARCH, ESCAPE), "Let me look.", 900, 20, 0.25),
    AgentStep(2, (), "I took in two sessions.", 1_400, 10, 0.5, 7, counted=False),
)


def with_texts(texts: KeptTranscript | None, sha256: str) -> Receipt:
    return a_receipt(transcript=texts, transcript_sha256=sha256)


def test_what_is_kept_is_read_again() -> None:
    texts = kept(AgentTranscript(STEPS), ("t2", "t1", "t2"))
    assert texts.thread_ids == ("t1", "t2")
    read = kept_steps(with_texts(texts, bound(texts)))
    assert (read.state, read.steps, read.left_out, read.state.words) == (KeptState.WHOLE, STEPS, 0, "")
    assert as_json(read.steps)[0]["actions"][1]["reason"] == "outside"  # type: ignore[index]


def test_a_receipt_of_an_earlier_version_opens_and_says_so() -> None:
    old = a_receipt(steps=("1: read a.md; 5 tokens sent, 2 received",)).model_dump(mode="json")
    del old["transcript_sha256"]
    receipt = Receipt.model_validate(old)
    assert kept_steps(receipt).state is KeptState.NONE
    assert "earlier version" in kept_steps(receipt).state.words
    assert "transcript" not in receipt.model_dump(mode="json")


@pytest.mark.parametrize(
    ("texts", "sha256", "state"),
    [
        (None, "0" * 64, KeptState.REMOVED),
        (KeptTranscript(body="{}"), "0" * 64, KeptState.ALTERED),
        (KeptTranscript(body="[]"), bound(KeptTranscript(body="[]")), KeptState.ALTERED),
        (KeptTranscript(body="\ud800"), "0" * 64, KeptState.ALTERED),
        (KeptTranscript(body="{}"), 7, KeptState.ALTERED),
        (KeptTranscript(body="{}"), None, KeptState.NONE),
    ],
)
def test_what_is_not_what_the_receipt_binds_is_not_shown(
    texts: KeptTranscript | None, sha256: object, state: KeptState
) -> None:
    found = steps_of(sha256, texts)
    assert (found.state, found.steps) == (state, ())
    assert found.state.words


@pytest.mark.parametrize("letter", ["s", "語"])
def test_it_is_bounded_in_bytes_and_what_has_no_room_is_counted(letter: str) -> None:
    steps = tuple(AgentStep(n, (SEARCH,) * 20, letter * 300) for n in range(1, 30))
    texts = kept(AgentTranscript(steps), (), room=40_000)
    assert 35_000 < len(texts.body.encode()) <= 40_000
    read = steps_of(bound(texts), texts)
    assert len(read.steps) == 29
    assert sum(len(step.actions) for step in read.steps) + read.left_out == 29 * 20
    assert read.left_out > 0


def test_a_flood_is_named_up_to_a_number_in_the_receipt() -> None:
    step = AgentStep(1, (AgentAction("list", "", ToolOutcome.DONE),) * (MAX_NAMED + 7))
    (row,) = AgentTranscript((step,)).rows()
    assert row.count("list") == MAX_NAMED
    assert ", and 7 more calls; 0 tokens sent" in row


def test_a_refusal_names_its_reason_in_the_receipt() -> None:
    assert AgentTranscript(STEPS).rows()[0].startswith("1: search, read (refused: outside); ")


def test_calls_in_lines() -> None:
    done = AgentAction("list", "", ToolOutcome.DONE)
    bad = AgentAction("run", "", ToolOutcome.REFUSED)
    lines = list(in_lines((*STEPS, AgentStep(3, (done, bad)), AgentStep(4))))
    assert lines == [
        "1: search [queries pnpm · n x… (+9 characters)] (done)",
        "1: read ../x (refused, outside: the path leads outside)",
        "2: I took in two sessions.",
        "3: list (done)",
        "3: run (refused)",
        "4: done",
    ]
    assert next(in_lines(STEPS, results=True)).endswith("(done): 2 matches")
