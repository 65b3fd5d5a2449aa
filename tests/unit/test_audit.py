"""Verdicts: what counts, what went stale, what was taken back, and what an adjudicator decided."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.anchors import LocationStatus
from ltmem_gui.domain.audit import (
    GUIDELINE,
    Claim,
    Support,
    Verdicts,
    permalink,
    support_of,
    text_hash,
    undo_record,
    verdict_record,
)
from ltmem_gui.domain.audit_queue import AuditQueue
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.verdicts import VerdictRecord
from tests.helpers.audits import item, items, said


def test_there_are_five_verdicts_each_with_a_rule() -> None:
    assert [str(support) for support in Support] == [
        "supports",
        "partly",
        "does not support",
        "wrong place",
        "cannot judge",
    ]
    assert set(GUIDELINE) == set(Support)
    assert [support.asks_for_note for support in Support] == [False, True, True, True, False]


def test_a_verdict_holds_for_exactly_these_texts() -> None:
    one = item()
    verdicts = Verdicts([said(one, Support.PARTLY)], [one.key])
    for changed in (replace(one, claim="another"), replace(one, evidence="another"), replace(one, evidence="")):
        standing = verdicts.of(changed, "ann")
        assert standing is not None
        assert standing.is_stale
        assert standing.support is Support.PARTLY
    fresh = verdicts.of(replace(one, line=7, smells=("x",)), "ann")
    assert fresh is not None
    assert not fresh.is_stale
    assert verdicts.of(one, "bob") is None
    assert verdicts.of(item(2), "ann") is None


def test_a_verdict_follows_its_texts_to_a_new_number_unless_its_own_item_is_still_there() -> None:
    one = item()
    moved = replace(one, key="elsewhere")
    standing = Verdicts([said(one, Support.SUPPORTS)], ["elsewhere"]).of(moved, "ann")
    assert standing is not None
    assert not standing.is_stale
    assert Verdicts([said(one, Support.SUPPORTS)], [one.key, "elsewhere"]).of(moved, "ann") is None
    bare = replace(one, evidence="")
    assert Verdicts([said(bare, Support.SUPPORTS)], ["elsewhere"]).of(replace(bare, key="elsewhere"), "ann") is None


def test_an_undo_lets_the_verdict_before_count_again_and_touches_nobody_else() -> None:
    one = item()
    first, second = said(one, Support.SUPPORTS), said(one, Support.WRONG_PLACE)
    other = said(one, Support.PARTLY, "bob")
    undo = undo_record(second, frame="f", at=11)
    back = Verdicts([first, other, second, undo], [one.key])
    assert back.of(one, "ann") == Verdicts([first]).of(one, "ann")
    assert [standing.support for standing in back.all_of(one)] == [Support.SUPPORTS, Support.PARTLY]
    twice = Verdicts([first, undo, undo, undo], [one.key])
    assert twice.of(one, "ann") is None
    assert twice.raters == ()


def test_words_of_another_version_are_kept_and_count_for_nothing() -> None:
    one = item()
    odd = VerdictRecord(1, "ann", "f", one.key, "brilliant", binding=one.binding)
    assert support_of(odd) is None
    verdicts = Verdicts([odd])
    assert verdicts.of(one, "ann") is None
    assert verdicts.records == (odd,)


def test_the_latest_adjudication_counts_a_fresh_one_before_a_stale_one() -> None:
    one = item()
    old = replace(one, claim="as it was")
    fresh = said(one, Support.PARTLY, "judge", final=True)
    stale = said(old, Support.SUPPORTS, "chief", final=True)
    found = Verdicts([fresh, stale], [one.key]).final(one)
    assert found is not None
    assert (found.support, found.is_final, found.is_stale) == (Support.PARTLY, True, False)
    taken_back = Verdicts([fresh, stale, undo_record(fresh, frame="f", at=12)], [one.key]).final(one)
    assert taken_back is not None
    assert taken_back.is_stale
    assert Verdicts([said(one, Support.SUPPORTS)]).final(one) is None


def test_notes_are_trimmed_and_threads_travel_with_the_record() -> None:
    record = verdict_record(item(), Support.PARTLY, rater="ann", frame="f", at=3, note="  half of it \n")
    assert (record.note, record.thread_ids, record.verdict) == ("half of it", ("t-1",), "partly")


def test_any_text_has_a_hash() -> None:
    assert text_hash("\ud800") != text_hash("?")


def test_a_claim_says_how_its_citations_stand() -> None:
    def state(*statuses: LocationStatus) -> str:
        return Claim("MEMORY.md", 1, "x", statuses=statuses).state

    assert state() == "uncited"
    assert state(LocationStatus.MISSING_FILE) == "broken"
    assert state(LocationStatus.MISSING_FILE, LocationStatus.NOT_CHECKED) == "not checked"
    assert state(LocationStatus.NOT_CHECKED, LocationStatus.MOVED) == "cited"


# the queue


def queue(count: int = 4, records: tuple[VerdictRecord, ...] = (), rater: str = "ann") -> AuditQueue:
    return AuditQueue(items(count), records, rater=rater, frame="f")


def test_the_queue_goes_on_by_itself_and_ends() -> None:
    walk = queue(3)
    seen: list[str] = []
    for number in range(3):
        current = walk.current
        assert current is not None
        seen.append(current.key)
        record = walk.judge(Support.SUPPORTS, at=number)
        assert record is not None
        assert record.item == current.key
    assert seen == ["k0001", "k0002", "k0003"]
    assert walk.current is None
    assert walk.judge(Support.SUPPORTS, at=9) is None
    assert walk.words == "3 of 3 judged"
    walk.skip()
    assert walk.current is None


def test_a_skipped_item_comes_again_at_the_end() -> None:
    walk = queue(3)
    walk.skip()
    assert walk.words == "0 of 3 judged, 1 skipped"
    order: list[str] = []
    while walk.current is not None:
        order.append(walk.current.key)
        walk.judge(Support.PARTLY, at=1)
    assert order == ["k0002", "k0003", "k0001"]
    assert walk.words == "3 of 3 judged"


def test_undo_goes_back_to_the_item_and_can_be_repeated() -> None:
    walk = queue(3)
    walk.judge(Support.SUPPORTS, at=1)
    walk.judge(Support.PARTLY, at=2)
    undone = walk.undo(at=3)
    assert undone is not None
    assert (undone.item, undone.verdict) == ("k0002", "undo")
    assert walk.current is not None
    assert walk.current.key == "k0002"
    walk.undo(at=4)
    assert walk.undo(at=5) is None
    assert walk.progress == (0, 3)


def test_a_sitting_resumes_with_what_is_pending_stale_verdicts_too() -> None:
    one, two, three = items(3)
    records = (said(one, Support.SUPPORTS), said(replace(two, claim="before"), Support.SUPPORTS))
    walk = AuditQueue([one, two, three], records, rater="ann", frame="f")
    assert walk.current == two
    assert walk.progress == (1, 3)
    assert [found.key for found in walk.pending] == [two.key, three.key]
    assert AuditQueue([one, two, three], records, rater="bob", frame="f").current == one


def test_a_blind_rater_sees_others_only_after_the_own_verdict() -> None:
    records = tuple(said(one, Support.PARTLY, "bob") for one in items(2))
    walk = queue(2, records)
    first = walk.current
    assert first is not None
    assert walk.others(first, blind=True) == ()
    assert len(walk.others(first, blind=False)) == 1
    walk.judge(Support.SUPPORTS, at=1)
    assert [found.record.rater for found in walk.others(first, blind=True)] == ["bob"]


def test_a_filter_is_walked_through_first() -> None:
    walk = queue(5)
    walk.show({"k0002", "k0004"})
    order: list[str] = []
    while walk.current is not None:
        order.append(walk.current.key)
        walk.judge(Support.PARTLY, at=1)
    assert order == ["k0001", "k0002", "k0004", "k0005", "k0003"]
    walk = queue(3)
    walk.show({"k0003"})
    walk.show(None)
    walk.judge(Support.PARTLY, at=1)
    assert walk.current is not None
    assert walk.current.key == "k0002"


def test_one_can_walk_without_judging() -> None:
    walk = queue(4)
    walk.step(2)
    assert walk.current is not None
    assert walk.current.key == "k0003"
    walk.step(9)
    assert walk.current.key == "k0004"
    walk.step(-1, lambda found: found.key in ("k0002", "k0004"))
    assert walk.current.key == "k0002"
    walk.step(1, lambda _: False)
    assert walk.current.key == "k0002"
    walk.step(1, lambda found: found.key == "k0004")
    assert walk.current.key == "k0004"
    assert walk.go_to("k0001")
    assert not walk.go_to("nowhere")
    walk.judge(Support.SUPPORTS, at=1)
    walk.go_to("k0001")
    walk.judge(Support.PARTLY, at=2)
    standing = walk.verdicts.of(items(1)[0], "ann")
    assert standing is not None
    assert standing.support is Support.PARTLY


@given(st.lists(st.sampled_from(["judge", "skip", "undo", "back", "on"]), max_size=30))
@settings(max_examples=60)
def test_whatever_is_pressed_the_records_tell_the_whole_story(keys: list[str]) -> None:
    walk = queue(4)
    records: list[VerdictRecord] = []
    for at, key in enumerate(keys):
        made = None
        if key == "judge":
            made = walk.judge(list(Support)[at % 5], at=at)
        elif key == "undo":
            made = walk.undo(at=at)
        elif key == "skip":
            walk.skip()
        else:
            walk.step(-1 if key == "back" else 1)
        records += [made] if made else []
    again = queue(4, tuple(records))
    assert again.progress == walk.progress
    assert {found.key for found in again.pending} == {found.key for found in walk.pending}


def test_differences_are_settled_by_a_third_record() -> None:
    one, two = items(2)
    records = (said(one, Support.SUPPORTS), said(one, Support.PARTLY, "bob"))
    walk = AuditQueue([one, two], records, rater="judge", frame="f", final=True)
    assert len(walk.others(one, blind=True)) == 2
    record = walk.judge(Support.PARTLY, at=5, note="half")
    assert record is not None
    assert record.verdict == "final: partly"
    assert walk.progress == (1, 2)
    standing = walk.standing(one)
    assert standing is not None
    assert standing.is_final
    undone = walk.undo(at=6)
    assert undone is not None
    assert undone.verdict == "final: undo"
    assert walk.standing(one) is None
    assert len(walk.verdicts.all_of(one)) == 2


def test_a_permalink_names_lines_at_a_commit() -> None:
    assert permalink(CitationEntry("a/b.md", 10, 15), "3f9c") == "a/b.md@3f9c#L10-15"
    assert permalink(CitationEntry("a.md", 3, 3), None) == "a.md#L3"
