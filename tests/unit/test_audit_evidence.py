"""What cited lines said: taken with the citation, carried with it, and never followed by guess."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from ltmem_gui.domain.anchors import (
    CitedText,
    EvidenceSnapshot,
    LocationStatus,
    line_hashes,
    locate,
    quote_hash,
    session_hash,
    snapshot,
)
from ltmem_gui.domain.audit_evidence import (
    KeptEvidence,
    Sight,
    Unchecked,
    after_apply,
    cited_entries,
    extracted_evidence,
    first_sight,
    hashed,
    in_the_open,
    origin_of,
    without_lost_text,
)
from ltmem_gui.domain.audit_items import AuditSources, SessionText, collect
from ltmem_gui.domain.citation_check import Sessions, check_citations
from ltmem_gui.domain.citations import CitationEntry

SUMMARY = "thread_id: t-1\nupdated_at: x\n\n- use pnpm, never npm here\n- pin the lock file with every change\n- tabs\n"


def memory(*entries: str) -> bytes:
    return "\n".join(["# Memory", "<citation_entries>", *entries, "</citation_entries>", ""]).encode()


def folder(*entries: str, summary: str = SUMMARY) -> dict[str, bytes]:
    return {"MEMORY.md": memory(*entries), "rollout_summaries/a.md": summary.encode()}


PNPM = "rollout_summaries/a.md:4-4 |note=[c1 pnpm]"
LOCK = "rollout_summaries/a.md:5-5 |note=[c2 lock]"


def opened(found: tuple[Unchecked, ...]) -> tuple[KeptEvidence, ...]:
    return in_the_open(found, [True] * len(found))


def statuses(files: Mapping[str, bytes], records: tuple[KeptEvidence, ...], **more: Sessions) -> list[str]:
    kept = {record.key: record.taken for record in records}
    checked = check_citations(files, sessions=more.get("sessions", Sessions({})), kept=kept)
    return [item.location.label for item in checked]


def test_first_sight_records_what_is_there_once() -> None:
    files = folder(
        PNPM, LOCK, PNPM, "gone.md:1-1 |note=[x]", "rollout_summaries/a.md:9-9 |note=[out]", "a:2-1 |note=[]"
    )
    records = opened(first_sight(Sight(files, baseline="b1"), (), at=7))
    assert [(r.key, r.origin, r.at, r.thread_ids) for r in records] == [
        (("MEMORY.md", "rollout_summaries/a.md", 4, 4, "c1 pnpm"), "first sight", 7, ("t-1",)),
        (("MEMORY.md", "rollout_summaries/a.md", 5, 5, "c2 lock"), "first sight", 7, ("t-1",)),
    ]
    assert (records[0].taken.quote, records[0].taken.baseline) == ("- use pnpm, never npm here", "b1")
    assert first_sight(Sight(files), {record.key for record in records}, at=8) == ()
    assert len(cited_entries(files)) == 4


def test_the_baseline_tells_what_a_changed_file_said() -> None:
    before = snapshot("rollout_summaries/a.md", 4, 4, CitedText(SUMMARY.encode()), "b1")
    files = folder(PNPM, summary=SUMMARY.replace("- use", "- new\n- use"))
    earlier = {"rollout_summaries/a.md": CitedText(SUMMARY.encode())}
    places = {("rollout_summaries/a.md", 4, 4): before}
    (found,) = first_sight(Sight(files, places, earlier=earlier), (), at=7)
    assert found.text == f"{before.before}{before.quote}\n{before.after}"
    assert found.whole == SUMMARY
    (record,) = opened((found,))
    assert (record.origin, record.taken) == ("baseline", before)
    assert statuses(files, (record,)) == ["moved +1"]


@pytest.mark.parametrize("earlier", [{}, {"rollout_summaries/a.md": CitedText(b"another\ntext\nthan\nthat\n")}])
def test_words_of_the_baseline_that_cannot_be_seen_in_their_file_are_not_stored(earlier: dict[str, CitedText]) -> None:
    before = snapshot("rollout_summaries/a.md", 4, 4, CitedText(SUMMARY.encode()), "b1")
    places = {("rollout_summaries/a.md", 4, 4): before}
    (record,) = opened(first_sight(Sight(folder(PNPM), places, earlier=earlier), (), at=7))
    assert (record.origin, record.taken) == ("baseline", hashed(before))


def test_an_apply_records_what_comes_and_drops_what_goes() -> None:
    first = opened(first_sight(Sight(folder(PNPM)), (), at=1))
    change, made = after_apply(Sight(folder(LOCK)), first, at=2)
    assert change.gone == (first[0].key,)
    assert change.put == ()
    (record,) = opened(made)
    assert (record.note, record.origin, record.at) == ("c2 lock", "cited", 2)


def test_a_new_note_keeps_the_record_and_a_drifted_citation_is_never_recorded_anew() -> None:
    first = opened(first_sight(Sight(folder(PNPM)), (), at=1))
    drifted = folder("rollout_summaries/a.md:4-4 |note=[c1 better words]", summary="x\n" * 9)
    change, made = after_apply(Sight(drifted), first, at=2)
    assert made == ()
    (record,) = change.put
    assert (record.note, record.taken, record.at) == ("c1 better words", first[0].taken, 1)
    assert statuses(drifted, (record,)) == ["missing text"]


def test_another_claim_that_cites_the_same_lines_is_recorded_by_itself() -> None:
    first = opened(first_sight(Sight(folder(PNPM)), (), at=1))
    changed = SUMMARY.replace("- use pnpm, never npm here", "- use yarn and nothing else at all")
    files = folder(PNPM, "rollout_summaries/a.md:4-4 |note=[c3 yarn]", summary=changed)
    change, made = after_apply(Sight(files), first, at=2)
    assert change.put == change.gone == ()
    assert statuses(files, (*first, *opened(made))) == ["missing text", "exact"]


@pytest.mark.parametrize("start", [4, 5])
def test_what_may_not_be_stored_is_found_by_its_hash_alone(start: int) -> None:
    entry = f"rollout_summaries/a.md:{start}-{start + 1} |note=[n]"
    (found,) = first_sight(Sight(folder(entry)), (), at=1)
    assert "- use pnpm, never npm here" in found.text
    (record,) = in_the_open((found,), [False])
    assert (record.taken.quote, record.taken.before, record.taken.after) == ("", "", "")
    assert record.taken.is_hash_only
    assert statuses(folder(entry), (record,)) == ["exact"]
    later = SUMMARY.replace("- use", "- one more\n- use")
    assert statuses(folder(entry, summary=later), (record,)) == ["moved +1"]
    twice = SUMMARY.replace("updated_at: x\n", "") + SUMMARY
    assert statuses(folder(entry, summary=twice), (record,)) == ["ambiguous (2 places)"]
    assert statuses(folder(entry, summary=SUMMARY.replace("pin", "pinned").replace("use", "used")), (record,)) == [
        "missing text"
    ]


def test_bytes_that_are_no_text_are_kept_as_a_hash() -> None:
    files = {"MEMORY.md": memory("b.md:1-1 |note=[n]"), "b.md": b"caf\xe9 and more\nx\n"}
    (record,) = opened(first_sight(Sight(files), (), at=1))
    assert record.taken.is_hash_only
    assert record.thread_ids == ()
    assert statuses(files, (record,)) == ["exact"]
    assert statuses(files | {"b.md": b"x\ncaf\xe9 and more\n"}, (record,)) == ["moved +1"]


def test_a_blank_line_is_no_hash() -> None:
    blank = EvidenceSnapshot("a.md", 1, 1, "", quote_hash(""))
    assert not blank.is_hash_only
    assert locate(CitationEntry("a.md", 1, 1), CitedText(b"\nx\n"), blank).status is LocationStatus.EXACT


def test_sessions_are_kept_by_their_hash() -> None:
    files = folder("rollout:t-1:3-4 |note=[c1]", "rollout:t-1:90-99 |note=[silent]", "rollout:t-2:1-1 |note=[unread]")
    said = {3: "use pnpm", 4: "never npm", 9: "bye"}
    (record,) = opened(first_sight(Sight(files, sessions={"t-1": said}), (), at=1))
    assert (record.taken.quote, record.thread_ids) == ("", ("t-1",))

    def status(lines: dict[int, str]) -> str:
        return statuses(files, (record,), sessions=Sessions({"t-1": 99}, texts={"t-1": lines}))[0]

    assert status(said) == "exact"
    assert quote_hash("\ud800") != quote_hash("\udc80")
    assert status({2: "new", 5: "use pnpm", 6: "never npm"}) == "moved +2"
    assert status({3: "use yarn", 4: "never npm"}) == "missing text"
    assert status({5: "use pnpm", 6: "never npm", 8: "use pnpm", 9: "never npm"}) == "ambiguous (2 places)"
    assert statuses(files, (record,), sessions=Sessions({"t-1": 99}))[0] == "exact"
    older = replace(record, taken=replace(record.taken, baseline="session reading 0"))
    read = Sessions({"t-1": 99}, texts={"t-1": {3: "use yarn"}})
    assert statuses(files, (older,), sessions=read)[0] == "exact"  # hashed by another reader: not comparable


def test_a_range_far_longer_than_the_session_is_no_burden() -> None:
    files = folder("rollout:t-1:1-4000000000 |note=[c1]")
    (record,) = opened(first_sight(Sight(files, sessions={"t-1": {3: "a", 1: "b"}}), (), at=1))
    assert record.taken.sha256 == session_hash(line_hashes({1: "b", 3: "a"}), 1, 3)


def test_what_an_extraction_cites_is_kept_as_hashes() -> None:
    hashes = line_hashes({3: "use pnpm", 4: "never npm"})
    texts = (
        "- use pnpm [c1]\nrollout:t-1:3-4 |note=[c1]\nrollout:t-1:9-9 |note=[c2]",
        "[1] rollout:t-1:3-4\nrollout:t-2:3-3",
    )
    (record,) = extracted_evidence(texts, "t-1", hashes, at=5)
    assert record.key == ("", "rollout:t-1", 3, 4, "")
    assert (record.origin, record.at, record.thread_ids, record.taken.quote) == ("cited", 5, ("t-1",), "")
    before = {record.key[1:4]: record.taken}
    files = folder("rollout:t-1:3-4 |note=[c1]")
    changed = {3: "use yarn", 4: "never npm"}
    (seen,) = opened(first_sight(Sight(files, before, {"t-1": changed}), (), at=9))
    assert (seen.origin, seen.taken.sha256) == ("cited", record.taken.sha256)
    sessions = Sessions({"t-1": 9}, texts={"t-1": changed})
    (checked,) = check_citations(files, sessions=sessions, snapshots=before)
    assert checked.location.status is LocationStatus.MISSING_TEXT


def test_forgetting_leaves_no_text_that_the_folder_does_not_say_any_more() -> None:
    secret = SUMMARY.replace("- tabs", "- the forgotten thing")
    records = opened(first_sight(Sight(folder(PNPM, LOCK, summary=secret)), (), at=1))
    assert "forgotten" in records[1].taken.after
    later = Sight(folder(PNPM, LOCK, summary=SUMMARY.replace("- use pnpm, never npm here", "- use yarn")))
    left = opened(
        without_lost_text(later, (*records, KeptEvidence("f", "n", EvidenceSnapshot("../x", 1, 1, "q", "0"), 1)))
    )
    assert [(record.taken.quote, record.taken.after) for record in left] == [
        ("", ""),
        ("- pin the lock file with every change", "- tabs\n"),
        ("", ""),
    ]
    assert [record.key for record in left[:2]] == [record.key for record in records]
    assert in_the_open((), ()) == ()


def test_words_of_a_newer_program_promise_the_least() -> None:
    assert (origin_of("cited"), origin_of("else")) == ("cited", "first sight")
    assert hashed(EvidenceSnapshot("a", 1, 1, "q", "0", "b", "c")) == EvidenceSnapshot("a", 1, 1, "", "0")


def test_after_random_edits_moves_are_found_exactly_and_nothing_changed_is_called_exact() -> None:
    chance = random.Random(12)
    words = ["cache", "index", "queue", "lease", "hunk", "token", "build", "deploy", "shard", "tile", "flag"]
    for _ in range(20):
        lines = [f"- {' '.join(chance.choices(words, k=8))} {n}" for n in range(60)]
        entries = [f"a.md:{n}-{n + 1} |note=[c{n}]" for n in range(1, 59)]
        files = {"MEMORY.md": memory(*entries), "a.md": ("\n".join(lines) + "\n").encode()}
        records = opened(first_sight(Sight(files), (), at=1))
        tags = list(enumerate(lines, 1))
        for _ in range(8):
            place = chance.randrange(len(tags))
            edit = chance.choice(("insert", "delete", "change"))
            if edit == "insert":
                tags.insert(place, (0, f"- inserted {chance.random()}"))
            elif edit == "delete":
                tags.pop(place)
            else:
                tags[place] = (0, tags[place][1] + "!")
        later = files | {"a.md": ("\n".join(text for _, text in tags) + "\n").encode()}
        kept = {record.key: record.taken for record in records}
        now = [number for number, _ in tags]
        for item in check_citations(later, sessions=Sessions({}), kept=kept):
            entry = item.entry
            assert entry is not None
            places = [at for at in range(len(now) - 1) if now[at : at + 2] == [entry.start, entry.end]]
            if places:
                assert (item.location.start, item.location.end) == (places[0] + 1, places[0] + 2)
                assert item.location.status in (LocationStatus.EXACT, LocationStatus.MOVED)
            else:
                assert item.location.status not in (LocationStatus.EXACT, LocationStatus.MOVED)


def test_ids_that_differ_only_in_letter_case_are_one_session() -> None:
    files = folder("rollout:T-1:3-4 |note=[c1]", "rollout:t-1:3-4 |note=[c2]")
    said = {3: "use pnpm", 4: "never npm"}
    records = opened(first_sight(Sight(files, sessions={"t-1": said}), (), at=1))
    assert len(records) == 2
    read = Sessions({"t-1": 9}, complete=True, texts={"t-1": said})
    assert statuses(files, records, sessions=read) == ["exact", "exact"]
    assert statuses(files, (), sessions=Sessions({"t-1": 9}, complete=True)) == ["exact", "exact"]
    items = collect(AuditSources(files, {"t-1": SessionText(said, 9)}, frozenset({"t-1"}))).items
    assert [(item.evidence, item.threads) for item in items] == [("use pnpm\nnever npm", ("t-1",))] * 2
