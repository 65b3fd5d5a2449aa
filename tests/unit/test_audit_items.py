"""From a memory folder to what can be judged: pairs, evidence, hints; and what a rater proposes instead."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.anchors import CitedText, Location, LocationStatus, snapshot
from ltmem_gui.domain.audit import AuditItem
from ltmem_gui.domain.audit_items import AuditSet, AuditSources, SessionText, collect, with_secrets
from ltmem_gui.domain.audit_repairs import Repair, anchored, anchorings, repaired
from ltmem_gui.domain.audit_smells import Smell, count_smells, smells_of
from ltmem_gui.domain.audit_support import RareWords, quote_spans, words_of
from ltmem_gui.domain.audit_usage import Usage, standing_words, usage_by_session, usage_of_lines, uses_in
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.errors import StalePlan, UsageError
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.rollouts import Rollout, RolloutItem
from tests.helpers.audits import MEMORY, SUMMARY, item

FILES = {"MEMORY.md": MEMORY.encode(), "rollout_summaries/a.md": SUMMARY.encode(), "raw_memories.md": b"x\n"}
SESSION = SessionText({2: "before", 3: "pin the lock file please", 4: "with each change", 9: "after"}, 9, 1_772_000_000)


def found(**changes: object) -> AuditSet:
    values = {"files": FILES, "sessions": {"t-1": SESSION}, "known": frozenset({"t-1"}), "complete": True}
    return collect(AuditSources(**(values | changes)))  # type: ignore[arg-type]


def by_claim(audit: AuditSet, start: str) -> AuditItem:
    return next(one for one in audit.items if one.claim.startswith(start))


def test_bullets_and_entries_are_paired_by_number() -> None:
    audit = found()
    assert [(one.claim, one.entry.location) for one in audit.items] == [
        ("use pnpm, never npm", "rollout_summaries/a.md:5-5"),
        ("pin the lock file\nwith every change", "rollout:t-1:3-4"),
        ("also pnpm", "rollout_summaries/a.md:5-5"),
        ("far away", "rollout_summaries/a.md:90-91"),
        ("a note alone", "rollout_summaries/a.md:6-6"),
    ]
    lines = MEMORY.split("\n")
    for one in audit.items:
        assert one.entry.path in lines[one.line - 1]
        assert not one.claim_lines or one.claim.split("\n")[0] in lines[one.claim_lines[0] - 1]
    assert by_claim(audit, "pin").claim_lines == (12, 13)
    assert len({one.key for one in audit.items}) == 5
    assert [status.location.status for status in audit.checked].count(LocationStatus.MALFORMED) == 1


def test_every_bullet_is_a_claim_and_says_how_it_is_cited() -> None:
    states = {claim.text.split("\n")[0]: claim.state for claim in found().claims}
    assert states == {
        "use pnpm, never npm": "cited",
        "pin the lock file": "cited",
        "nobody said this": "uncited",
        "also pnpm": "cited",
        "points nowhere": "uncited",
        "far away": "broken",
    }


def test_evidence_is_what_the_lines_say_now() -> None:
    audit = found()
    one = by_claim(audit, "use pnpm")
    assert (one.evidence, one.threads, one.cited_at) == ("- use pnpm, never npm here", ("t-1",), 1_772_359_200)
    assert one.before.endswith("\n\n")
    assert one.after == "- tabs\n"
    two = by_claim(audit, "pin")
    assert (two.evidence, two.before, two.after) == ("pin the lock file please\nwith each change", "before", "after")
    assert (two.threads, two.cited_at) == (("t-1",), 1_772_000_000)
    gone = by_claim(audit, "far away")
    assert (gone.evidence, gone.location.status) == ("", LocationStatus.OUT_OF_RANGE)
    assert one.score is not None
    assert one.score > 0.9
    assert gone.score is None


def test_moved_lines_are_the_evidence_and_the_number_alone_never_is() -> None:
    taken = snapshot("rollout_summaries/a.md", 5, 5, CitedText(SUMMARY.encode()))
    moved = SUMMARY.replace("\n\n", "\n\n- new\n- newer\n").encode()
    audit = found(files=FILES | {"rollout_summaries/a.md": moved}, snapshots={(taken.path, 5, 5): taken})
    one = by_claim(audit, "use pnpm")
    assert one.location.label == "moved +2"
    assert one.evidence == "- use pnpm, never npm here"
    assert anchored(one) == Repair("re-anchor", one, 7, 7)
    also = by_claim(audit, "also pnpm")
    assert also.line == one.line
    assert anchorings(audit.items) == (Repair("re-anchor", one, 7, 7),)
    with pytest.raises(UsageError, match="no other certain place"):
        anchored(by_claim(audit, "pin"))
    with pytest.raises(UsageError, match="no other certain place"):
        anchored(by_claim(audit, "far away"))


def test_what_was_not_read_is_not_evidence() -> None:
    unread = by_claim(found(sessions={}), "pin")
    assert (unread.location.status, unread.evidence, unread.threads) == (LocationStatus.NOT_CHECKED, "", ("t-1",))
    assert found(sessions={}).cited_sessions == {"t-1"}
    edges = SessionText({3: "a", 4: "b"}, 4)
    only = by_claim(found(sessions={"t-1": edges}), "pin")
    assert (only.evidence, only.before, only.after) == ("a\nb", "", "")
    hostile = MEMORY.replace("rollout_summaries/a.md:5-5", "../../etc/passwd:1-1")
    out = by_claim(found(files=FILES | {"MEMORY.md": hostile.encode()}), "use pnpm")
    assert (out.location.status, out.evidence) == (LocationStatus.OUTSIDE_ROOT, "")


@pytest.mark.parametrize("stamp", ["yesterday", "2026-03-01T10:00:00", ""])
def test_an_age_that_cannot_be_told_is_unknown(stamp: str) -> None:
    text = SUMMARY.replace("2026-03-01T10:00:00+00:00", stamp).replace("t-1", "", 1)
    one = by_claim(found(files=FILES | {"rollout_summaries/a.md": text.encode()}), "use pnpm")
    assert (one.cited_at, one.threads) == (None, ())


def test_new_lines_make_new_items() -> None:
    audit = found(new_lines=frozenset({("MEMORY.md", 13)}))
    assert [one.claim.split("\n")[0] for one in audit.items if one.is_new] == ["pin the lock file"]


def test_keys_stay_through_an_edit_elsewhere() -> None:
    longer = MEMORY.replace("scope: work in shop", "scope: work in shop\nmore: text")
    assert {one.key for one in found().items} == {
        one.key for one in found(files=FILES | {"MEMORY.md": longer.encode()}).items
    }


def test_one_sees_who_cites_some_lines() -> None:
    audit = found()
    assert [one.claim for one in audit.citing("rollout_summaries/a.md", 1, 5)] == ["use pnpm, never npm", "also pnpm"]
    assert [one.claim for one in audit.citing("rollout:t-1", 4, 8)] == ["pin the lock file\nwith every change"]
    assert audit.citing("rollout_summaries/a.md", 7, 20) == ()
    assert audit.item(audit.items[0].key) == audit.items[0]
    assert audit.item("nothing") is None


# hints


def test_smells_by_kind() -> None:
    def smells(one: AuditItem, known: tuple[str, ...] = ()) -> tuple[str, ...]:
        return smells_of([one], known_sessions=known)[one.key]

    path = "rollout_summaries/a.md"
    assert smells(item()) == ()
    assert smells(item(entry=CitationEntry(path, 1, 1, "c1 "))) == (Smell.NO_NOTE,)
    assert smells(item(entry=CitationEntry(path, 1, 1, "c1x"))) == ()
    assert smells(item(evidence="# Heading\n\n## other")) == (Smell.BLANK,)
    assert smells(item(evidence="")) == (Smell.BLANK,)
    assert smells(item(evidence="", location=Location(LocationStatus.MISSING_FILE, 1, 1))) == ()
    assert smells(item(evidence="- ok")) == (Smell.SHORT,)
    assert smells(item(entry=CitationEntry(path, 1, 61, "why"))) == (Smell.LONG,)
    assert smells(item(entry=CitationEntry(path, 1, 60, "why"))) == ()
    assert smells(item(entry=CitationEntry("./MEMORY.md", 1, 1, "why"))) == (Smell.ITSELF,)
    session = item(entry=CitationEntry("rollout:T-9", 1, 1, "why"))
    assert smells(session, ("t-1",)) == (Smell.UNKNOWN_SESSION,)
    assert smells(session, ("t-9",)) == smells(session) == ()
    assert smells(replace(session, evidence="")) == ()
    dated = item(claim="since 2026-03-02 use uv", cited_at=1_772_359_200)
    assert smells(dated) == (Smell.NEWER,)
    assert smells(replace(dated, claim="since 2026-03-01 use uv")) == ()
    assert smells(replace(dated, cited_at=None)) == ()


def test_smells_of_several() -> None:
    same = CitationEntry("rollout_summaries/a.md", 1, 1, "why")
    shared = [item(number, entry=same) for number in (1, 2, 3)]
    twin = replace(shared[0], key="twin")
    smells = smells_of([*shared, twin], secrets={"k0002"})
    assert smells["k0001"] == (Smell.SHARED,)
    assert smells["k0002"] == (Smell.SECRET, Smell.SHARED)
    assert smells["twin"] == (Smell.SHARED, Smell.DUPLICATE)
    assert smells_of(shared[:2])["k0001"] == ()
    counts = count_smells(smells)
    assert (counts["duplicate"], counts["cites itself"], len(counts)) == (1, 0, len(Smell))
    audit = with_secrets(found(), {found().items[0].key})
    assert Smell.SECRET in audit.items[0].smells
    assert Smell.SECRET not in audit.items[1].smells


def test_rare_words_weigh_more() -> None:
    rare = RareWords(["use the tool", "use the door", "use the kingfisher"])
    assert rare.weight("kingfisher") > rare.weight("use") > 0
    both = "use kingfisher"
    assert (rare.score(both, "kingfisher it is") or 0) > (rare.score(both, "use it") or 0)
    assert rare.score(both, "use the Kingfisher") == 1
    assert rare.score(both, "door") == 0
    assert rare.score("!!", "x y") is None
    assert rare.score(both, " ") is None
    assert words_of("Größe 数据库 ab_c") == {"grösse", "数", "据", "库", "ab"}


def test_quotations_are_marked_in_the_evidence() -> None:
    evidence = "He said:  Always run\nthe full tests first. Then no."

    def marked(claim: str) -> list[str]:
        return [evidence[start:end] for start, end in quote_spans(claim, evidence)]

    assert marked('keep: "always run the full tests"') == ["Always run\nthe full tests"]
    assert marked("“Always run the full tests, first…” and `the full tests`") == ["Always run\nthe full tests first"]
    assert marked('"too short"') == []
    assert marked('"something else entirely, and long"') == []
    assert marked(f'"{"x" * 200}"') == []
    assert marked("no quotation") == []
    assert quote_spans("`said: always` and `the full tests`", "said: always then the full tests") == ((0, 12), (18, 32))


# usage


def test_uses_are_read_from_agents_answers() -> None:
    block = (
        "Done.<oai-mem-citation><citation_entries>\nMEMORY.md:3-5 |note=[x]\n</citation_entries>"
        "<rollout_ids>\nT-1\nt-2\n</rollout_ids></oai-mem-citation>"
    )
    plain = RolloutItem("assistant", "message", block, line=4, at=50)
    rollout = Rollout(
        "t-9", "codex", "/x", updated_at=70,
        items=(
            plain, replace(plain, at=None), replace(plain, role="user"), replace(plain, kind="tool_call"),
            replace(plain, inherited=True), replace(plain, undone=True),
        ),
    )  # fmt: skip
    uses = uses_in(rollout)
    assert len(uses) == 6
    assert usage_by_session(uses) == {"t-1": Usage(2, 70), "t-2": Usage(2, 70)}
    assert usage_of_lines(uses, "MEMORY.md", 5, 9) == Usage(2, 70)
    assert usage_of_lines(uses, "MEMORY.md", 6, 9) == Usage(0, None)


def test_why_a_memory_is_kept_or_stale() -> None:
    day = 86_400
    row = StageOneOutput("t", 5 * day, "raw", "sum", None, 10 * day, None, None)

    def words(now: int, seen: Usage = Usage(), **changes: object) -> str:  # noqa: B008 - frozen
        fallback = changes.pop("fallback", "generated_at")
        made = replace(row, **changes)  # type: ignore[arg-type]
        return standing_words(made, seen, now=now * day, max_unused_days=30, fallback=fallback)  # type: ignore[arg-type]

    assert words(20) == "never used; made 1970-01-11; kept until 1970-02-10"
    assert words(40).endswith("kept until 1970-02-10")
    assert words(41).endswith("stale since 1970-02-10: not in the next selection")
    assert words(20, fallback="source_updated_at").startswith("never used; from a session of 1970-01-06; kept until")
    used = words(20, Usage(2, 15 * day), usage_count=1, last_usage=12 * day)
    assert used == "used 1 time, last 1970-01-13; cited 2× in the sessions that were read, last 1970-01-16;" + (
        " kept until 1970-02-12"
    )
    assert words(20, usage_count=None, last_usage=12 * day).startswith("used 0 times")
    assert "left out: the session's memory mode is polluted" in words(20, memory_mode="polluted")


# repairs


def test_a_re_anchored_citation_changes_its_line_alone() -> None:
    one = by_claim(found(), "use pnpm")
    after = repaired(dict(FILES), Repair("re-anchor", one, 6, 6))
    assert after == MEMORY.replace("a.md:5-5 |", "a.md:6-6 |").encode()
    in_session = repaired(dict(FILES), Repair("re-anchor", by_claim(found(), "pin"), 7, 8))
    assert b"rollout:t-1:7-8 |note=[c2]" in in_session
    assert Repair("re-anchor", one, 6, 6).reason == "points rollout_summaries/a.md:5-5 to lines 6-6"
    for start, end in ((0, 1), (3, 2), (5, 99)):
        with pytest.raises(UsageError, match="no lines of"):
            repaired(dict(FILES), Repair("re-anchor", one, start, end))
    with pytest.raises(UsageError, match="no lines of"):
        repaired({"MEMORY.md": FILES["MEMORY.md"]}, Repair("re-anchor", one, 1, 1))


def test_a_fixed_note_keeps_the_number_of_its_bullet_and_opens_no_block() -> None:
    one, alone = by_claim(found(), "use pnpm"), by_claim(found(), "a note alone")
    after = repaired(dict(FILES), Repair("fix note", one, note="asked\nfor </citation_entries> it")).decode()
    assert after == MEMORY.replace("[c1 said so]", "[c1 asked for ‹/citation_entries> it]")
    assert b"|note=[c1 better]" in repaired(dict(FILES), Repair("fix note", one, note="c1 better"))
    assert b"a.md:6-6 |note=[better]" in repaired(dict(FILES), Repair("fix note", alone, note="better"))
    assert Repair("fix note", one).reason.startswith("words the note of")


def test_carriage_returns_stay() -> None:
    files = {path: data.replace(b"\n", b"\r\n") for path, data in FILES.items()}
    one = next(one for one in found(files=files).items if one.entry.start == 6)
    assert repaired(files, Repair("fix note", one, note="n")).count(b"\r\n") == files["MEMORY.md"].count(b"\n")


def test_a_removed_claim_takes_only_the_citations_that_nobody_else_uses() -> None:
    shared = repaired(dict(FILES), Repair("remove claim", by_claim(found(), "use pnpm"))).decode()
    assert shared == MEMORY.replace("- use pnpm, never npm [Task 1] [c1]\n", "")
    own = repaired(dict(FILES), Repair("remove claim", by_claim(found(), "pin"))).decode()
    assert own == MEMORY.replace("- pin the lock file\n  with every change [c2]\n", "").replace(
        "rollout:t-1:3-4 |note=[c2]\n", ""
    )
    alone = repaired(dict(FILES), Repair("remove claim", by_claim(found(), "a note alone"))).decode()
    assert alone == MEMORY.replace("rollout_summaries/a.md:6-6 |note=[a note alone]\n", "")
    assert Repair("remove claim", by_claim(found(), "pin")).reason.startswith("removes a claim")


def test_other_groups_are_left_alone() -> None:
    two = MEMORY + "\n# Task Group: other\n" + MEMORY.split("\n", 1)[1]
    files = FILES | {"MEMORY.md": two.encode()}
    audit = found(files=files)
    assert len(audit.items) == 10
    assert len({one.key for one in audit.items}) == 10
    pins = [one for one in audit.items if one.claim.startswith("pin")]
    after = repaired(dict(files), Repair("remove claim", pins[1])).decode()
    assert after.startswith(MEMORY)
    assert after.count("rollout:t-1:3-4") == 1


@pytest.mark.parametrize("kind", ["re-anchor", "fix note", "remove claim"])
def test_nothing_is_replaced_by_guess(kind: str) -> None:
    one = by_claim(found(), "use pnpm")
    repair = Repair(kind, one, 5, 5, "n")  # type: ignore[arg-type]
    with pytest.raises(StalePlan, match="gone"):
        repaired({}, repair)
    with pytest.raises(StalePlan, match="not on its line"):
        repaired(FILES | {"MEMORY.md": b"\n" + MEMORY.encode()}, repair)
    with pytest.raises(StalePlan, match="not on its line"):
        repaired(FILES | {"MEMORY.md": b"short\n"}, repair)


def test_a_claim_that_was_reworded_meanwhile_is_not_removed() -> None:
    one = by_claim(found(), "use pnpm")
    reworded = MEMORY.replace("- use pnpm, never npm", "- use yarn")
    with pytest.raises(StalePlan, match="the claim is not"):
        repaired(FILES | {"MEMORY.md": reworded.encode()}, Repair("remove claim", one))


@given(st.text(max_size=300))
@settings(max_examples=60)
def test_any_memory_can_be_collected(text: str) -> None:
    data = ("# Task Group: x\n## User preferences\n" + text + "\n").encode("utf-8", "surrogatepass")
    audit = found(files={"MEMORY.md": data, "notes.md": MEMORY.encode()})
    assert all(hashlib.sha256 and one.binding for one in audit.items)
