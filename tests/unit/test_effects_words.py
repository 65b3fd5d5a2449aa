"""The effects of a plan in words, and the measures they are said in: every effect, every variant."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ltmem_gui.domain import effects
from ltmem_gui.domain.effects_words import EffectWords, FileWords, taken_over, words_of, written
from ltmem_gui.domain.jobs import JobStatus
from ltmem_gui.domain.measures import DASH, count, plural, size, span, tokens

LATER = 1_779_000_000
ROW = effects.TakeOverRow(change="added", thread_id="t1", source_updated_at=LATER, rollout_summary="# Tabs\n")


def when(seconds: int) -> str:
    return f"<{seconds}>"


def said(effect: Any) -> str:
    words = words_of(effect, when)
    return "\n".join((words.sentence, *words.details))


def job(**more: Any) -> effects.PlannedJob:
    known = {"agent": "codex", "path": "/r", "size": 1, "mtime_ns": 1, "source_updated_at": 1}
    return effects.PlannedJob(thread_id="t1", **(known | more))


SAID = (
    (
        effects.SendToModel(provider="p", host="api.example", model="m", requests=2, tokens=10, redactions={"key": 3}),
        "10 tokens of redacted text to api.example; price unknown\nmodel m, 2 requests\ncost: price unknown\n"
        "3 secrets redacted before sending: key × 3",
    ),
    (
        effects.SendToModel(provider="p", host="h:1", model="", requests=1, tokens=1_500, loopback=True),
        "1.5k tokens of redacted text to h:1 (this computer); price unknown\nmodel default, 1 request\n"
        "cost: price unknown\n0 secrets redacted before sending",
    ),
    (effects.CreateDataFolder(path="/h", housekeeping=("a",)), "/h\nkept there unasked from then on: a"),
    (effects.EnsureLayout(path="/m"), "1 new folders for the memory\n/m"),
    (effects.EnsureLayout(path="/m", creates=("x",)), "1 new folder for the memory\nx"),
    (effects.DeleteFile(path="b", reason="stale", size_before=9), "1 b (9 B)\nstale"),
    (
        effects.WriteFile(path="a", change="added", size_before=0, size_after=9, lines_added=2, lines_removed=1),
        "1 file in the memory folder (+2 −1 lines)\na   added   +2 −1   0 B → 9 B",
    ),
    (
        effects.ClaimJobs(jobs=(job(title="Tabs", tokens=7, redactions={"k": 2}),), concurrency=8, lease_seconds=9),
        "1 extractions, 8 at a time, ~7 tokens, 2 secrets redacted\ncodex   Tabs   7 tokens   2 redacted",
    ),
    (
        effects.ClaimJobs(jobs=(job(tokens=9, tokens_sent=7),), concurrency=1, lease_seconds=9),
        "1 extractions, 1 at a time, ~7 tokens\ncodex   t1   7 tokens",
    ),
    (effects.UpdateJobs(scope="stage1", count=4), "4 job records\nrecord outcome"),
    (
        effects.UpdateJobs(
            scope="stage1", count=1, action="hold", jobs=(effects.JobMark(thread_id="t1", status=JobStatus.PENDING),)
        ),
        "1 job record: hold\nt1 (pending)",
    ),
    (
        effects.UpdateJobs(scope="global", watermark=7),
        "1 record of this consolidation, watermark <7>\nrecord outcome",
    ),
    (effects.UpdateJobs(scope="global", action="hold the lock"), "1 record of this consolidation\nhold the lock"),
    (effects.StoreOutputs(count=4), "4 extracted memories at most\nwith hashes of the lines they cite"),
    (effects.StoreOutputs(count=0, lifted=("k",)), "1 rejected hunks that may be proposed again\nk"),
    (
        effects.StoreOutputs(count=0, edited=({"thread_id": "t1", "excluded": "private"},)),
        "1 session left out of the memory\nt1   left out of the memory",
    ),
    (
        effects.StoreOutputs(
            count=0, edited=({"thread_id": "t2", "excluded": ""}, {"thread_id": "t3", "raw_memory": "x"})
        ),
        "2 sessions: 1 taken into the memory again, 1 with an edited memory\n"
        "t2   taken into the memory again\nt3   with an edited memory",
    ),
    (effects.PruneOutputs(thread_ids=("t",), reason="unused"), "1 extracted memories removed: unused\nt"),
    (effects.CreditUsage(credits=({"cited_id": "a"},) * 2), "2 uses of 1 memory credited, as agents cited them"),
    (
        effects.TakeOverJobs(done={"b": 1, "a": 2}, watermark=7),
        "2 sessions count as extracted, as Codex did\nwatermark <7>\na\nb",
    ),
    (effects.TakeOverJobs(done={"a": 2}), "1 session counts as extracted, as Codex did\na"),
    (effects.TakeOverJobs(watermark=7), "1 watermark of Codex's last consolidation\nwatermark <7>"),
    (effects.StoreVerdicts(rater="me", frame="all"), "verdicts of me are appended\nframe: all"),
    (effects.KeepEvidence(root="/m", count=3), "≤ 3 cited places: what they say now is kept"),
    (effects.StoreInboxDecisions(count=1), "1 inbox decision"),
    (
        effects.StoreInboxDecisions(
            count=2,
            decisions=(
                effects.InboxDecision(line_id=1, thread_id="t", decision="reword", quote="maybe", text="tabs"),
                effects.InboxDecision(line_id=2, thread_id="t", decision="drop", quote="or"),
            ),
        ),
        "2 inbox decisions\nreword line 1: “maybe” as “tabs”\ndrop line 2: “or”",
    ),
    (
        effects.ResetBaseline(path="/m", previous="0123456789", repairs="a lost object"),
        "1 new baseline commit without history (replaces 01234567)\n/m\na lost object",
    ),
    (effects.ResetBaseline(path="/m", previous=None), "1 new baseline commit without history (the first one)\n/m"),
    (ROW, "1 memory taken over from Codex\nTabs   t1   <1779000000>   new here   used 0 times"),
)


@pytest.mark.parametrize(("effect", "words"), SAID)
def test_every_effect_is_said_in_words(effect: Any, words: str) -> None:
    assert words in said(effect)


def test_the_cost_is_a_range_and_where_it_stops() -> None:
    send = effects.SendToModel(
        provider="p", host="h", model="m", requests=1, tokens=1, cost_low="0.012", cost_high="0.5", currency="USD"
    )
    assert words_of(send).text.endswith("; about 0.012 to 0.50 USD")
    stopped = send.model_copy(update={"cost_limit": "0.3"})
    assert words_of(stopped).text.endswith("to 0.50 USD, stops at 0.30 USD")


def test_the_agent_is_shown_with_its_fence_unfolded() -> None:
    agent = effects.StartAgent(
        provider="p",
        model="m",
        constraints=effects.AgentConstraints(cwd="/m"),
        mode="INIT",
        note="mind pnpm",
        refused=("a", "b"),
    )
    words = words_of(agent)
    assert words.unfolded
    assert "it writes the first memory" in words.details[1]
    assert words.details[-2:] == ("is told: mind pnpm", "is told of 2 changes you turned down")
    plain = words_of(agent.model_copy(update={"note": "", "refused": ()}))
    assert plain.details == words.details[:-2]


def test_verdicts_and_places_that_are_listed_are_counted() -> None:
    mark = effects.VerdictMark(at=1, item="i", verdict="supported")
    assert words_of(effects.StoreVerdicts(rater="me", frame="f", records=(mark,))).number == "1"
    place = effects.EvidenceMark(
        file="f", note="", path="/p", start=1, end=1, quote="q", sha256="0", at=1, origin="apply"
    )
    assert words_of(effects.KeepEvidence(root="/m", count=1, records=(place,))).number == "1"


def test_a_row_says_what_it_replaces_and_what_is_special() -> None:
    row = ROW.model_copy(
        update={
            "change": "replaced",
            "replaces": 5,
            "usage_count": 1,
            "selected_at": 9,
            "memory_mode": "disabled",
            "redactions": {"k": 2},
            "rollout_summary": "",
        }
    )
    words = taken_over((row, ROW), when)
    assert words.sentence == "2 memories taken over from Codex"
    expected = "replaces the one of <5>   used 1 time   in Codex's last selection   disabled   2 secrets redacted"
    assert words.details[0] == f"t1   <{LATER}>   {expected}"
    unknown = row.model_copy(update={"replaces": None})
    assert "replaces an older one" in taken_over((unknown,)).details[0]
    assert "2026-05-17 06:40 UTC" in taken_over((unknown,)).details[0]


def test_files_are_summed() -> None:
    words = written((FileWords("a", "modified", 2, 1, 9, 10, partly=True), FileWords("b", "added", 1, 0, 0, 4)))
    assert words == EffectWords(
        "2",
        "files in the memory folder (+3 −1 lines)",
        ("a   modified   +2 −1   9 B → 10 B   as decided", "b   added   +1 −0   0 B → 4 B"),
    )


def test_what_is_no_effect_has_no_words() -> None:
    with pytest.raises(TypeError, match="no words for Other"):
        words_of(cast("Any", type("Other", (), {"type": "Other"})()))


def test_measures() -> None:
    assert (count(1_234_567), plural(1, "file"), plural(2, "memory", "memories")) == (
        "1\u202f234\u202f567",
        "1 file",
        "2 memories",
    )
    assert (tokens(None), tokens(999), tokens(1_000)) == (DASH, "999", "1.0k")
    assert (size(1_023), size(1_024), size(1_048_576)) == ("1023 B", "1.0 KiB", "1.0 MiB")
    assert (span(86_400), span(3_599), span(59.5), span(-1)) == ("1 d", "59 min", "59 s", "0 s")
