"""Samples follow from their seed; shares carry intervals; agreement says when it says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.anchors import LocationStatus
from ltmem_gui.domain.audit import Claim, Support, Verdicts
from ltmem_gui.domain.audit_frames import DAY, METHODS, STRATA, draw, read_frame, stratum_of
from ltmem_gui.domain.audit_statistics import (
    agreement,
    at_most_wrong,
    coverage,
    differences,
    share,
    standing_of,
    unsettled,
)
from ltmem_gui.domain.errors import UsageError
from tests.helpers.audits import item, items, said

YES, PART, NO = Support.SUPPORTS, Support.PARTLY, Support.DOES_NOT_SUPPORT


def test_the_same_seed_draws_the_same_sample_in_reading_order() -> None:
    population = items(50)
    frame, drawn = draw(population, "random", size=10, seed=7)
    assert [found.key for found in drawn] == sorted(found.key for found in drawn)
    assert draw(list(reversed(population)), "random", size=10, seed=7)[0] == frame
    assert {i.key for i in draw(population[::-1], "random", size=10, seed=7)[1]} == {i.key for i in drawn}
    assert draw(population, "random", size=10, seed=8)[1] != drawn
    # Fixed for all platforms and versions.
    assert [found.key for found in drawn[:3]] == SEVEN


SEVEN = ["k0002", "k0009", "k0012"]


def test_every_item_is_as_likely_as_any_other() -> None:
    population = items(20)
    hits = dict.fromkeys((found.key for found in population), 0)
    for seed in range(800):
        for found in draw(population, "random", size=5, seed=seed)[1]:
            hits[found.key] += 1
    assert min(hits.values()) > 150
    assert max(hits.values()) < 250


def test_all_means_all() -> None:
    frame, drawn = draw(items(3), "all", seed=4, by="file")
    assert len(drawn) == 3
    assert (frame.method, frame.drawn, frame.population, frame.by) == ("all", 3, 3, None)


@example(["a"] * 55 + list("bcdef"), 6, 0)
@example(["a"] * 5 + ["b"] * 5 + ["c"] * 5, 4, 0)
@given(
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60),
    st.integers(1, 80),
    st.integers(0, 5),
)
@settings(max_examples=80)
def test_strata_get_their_share_and_none_is_forgotten(files: list[str], size: int, seed: int) -> None:
    population = [item(number, file=f"{name}.md") for number, name in enumerate(files, 1)]
    frame, drawn = draw(population, "stratified", size=size, seed=seed, by="file")
    assert len(drawn) == min(size, len(files)) == frame.drawn
    counts = {name: sum(found.file == f"{name}.md" for found in drawn) for name in set(files)}
    if size >= len(counts):
        assert min(counts.values()) >= 1
    for name, count in counts.items():
        exact = len(drawn) * files.count(name) / len(files)
        assert count <= files.count(name)
        assert abs(count - exact) <= len(counts)


def test_strata_have_names() -> None:
    now = 100 * DAY
    ages = [stratum_of(item(cited_at=now - days * DAY), "age", now) for days in (1, 20, 60, 99)]
    assert ages == ["up to 7 days", "up to 30 days", "up to 90 days", "older than 90 days"]
    assert stratum_of(item(), "age", now) == "age unknown"
    assert [stratum_of(item(is_new=new), "new", now) for new in (True, False)] == ["new since the last apply", "older"]
    assert [stratum_of(item(smells=s), "smell", now) for s in (("a", "b"), ())] == ["a", "no smell"]
    assert stratum_of(item(), "file", now) == "MEMORY.md"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, *STRATA])
def test_a_frame_is_read_back_from_its_name(method: str, by: str | None) -> None:
    if method == "stratified" and by is None:
        with pytest.raises(UsageError, match="strata"):
            draw(items(9), method, size=4, seed=3, by=None)
        return
    frame, _ = draw(items(9), method, size=4, seed=3, by=by)  # type: ignore[arg-type]
    assert read_frame(frame.name) == frame
    assert read_frame(f"{frame.name}!") is None


def test_a_sample_that_makes_no_sense_is_refused() -> None:
    for wrong in ({"size": -1}, {"size": 1, "seed": -1}, {"size": 0}):
        with pytest.raises(UsageError, match="sample"):
            draw(items(3), "random", **wrong)
    assert draw([], "stratified", size=3, by="file")[1] == ()


@given(st.integers(1, 500), st.data())
@settings(max_examples=100)
def test_an_interval_holds_its_share_and_narrows_with_more(total: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, total))
    found = share(hits, total)
    assert 0 <= found.low <= hits / total <= found.high <= 1
    wider = share(hits, total)
    more = share(hits * 4, total * 4)
    assert more.high - more.low < wider.high - wider.low


def test_known_intervals() -> None:
    assert (round(share(8, 10).low, 4), round(share(8, 10).high, 4)) == (0.4902, 0.9433)
    assert share(0, 0).words == "none yet"
    assert share(8, 10).words == "8 of 10 (80 %; 95 % interval 49.0 to 94.3 %)"
    assert share(8, 10).counted == "8 of 10 (80 %)"
    with pytest.raises(ValueError, match="no share"):
        share(2, 1)


def test_fifty_nine_without_error_leave_five_percent() -> None:
    assert at_most_wrong(59) <= 0.05 < at_most_wrong(58)
    assert at_most_wrong(0) == 1


def test_coverage_counts_what_is_cited_judged_and_supported() -> None:
    made = items(5)
    claims = [
        Claim("MEMORY.md", 1, "a", statuses=(LocationStatus.EXACT,)),
        Claim("MEMORY.md", 2, "b"),
        Claim("MEMORY.md", 3, "c", statuses=(LocationStatus.MISSING_FILE,)),
        Claim("MEMORY.md", 4, "d", statuses=(LocationStatus.NOT_CHECKED,)),
    ]
    records = [
        said(made[0], YES),
        said(made[1], YES),
        said(made[2], Support.CANNOT_JUDGE),
        said(replace(made[3], claim="before"), NO),
    ]
    found = coverage(claims, made, Verdicts(records), rater="ann", sessions=("T-1", "t-2"), cited_sessions=("t-1",))
    assert (found.cited.hits, found.cited.total, found.broken, found.not_checked) == (1, 4, 1, 1)
    assert [claim.text for claim in found.uncited] == ["b"]
    assert (found.judged.hits, found.judged.total, found.stale) == (3, 5, 1)
    assert (found.supported.hits, found.supported.total) == (2, 2)
    assert found.sessions_never_cited == ("t-2",)
    assert found.words[-1] == "2 with no error: at most 77.6 % are wrong (95 %)"
    assert "interval" in found.words[3]
    with_error = coverage(claims, made, Verdicts([*records, said(made[4], PART)]), rater="ann")
    assert (with_error.supported.hits, with_error.supported.total) == (2, 3)
    assert len(with_error.words) == 4
    assert coverage((), (), Verdicts(())).words[0].endswith("none yet")


def test_what_counts_is_the_adjudication_then_the_strictest_fresh_verdict() -> None:
    one = item()
    both = [said(one, YES), said(one, NO, "bob")]

    def counts(*records: object, rater: str | None = None) -> object:
        standing = standing_of(one, Verdicts(records), rater)  # type: ignore[arg-type]
        return standing and (standing.support, standing.is_stale)

    assert counts(*both) == (NO, False)
    assert counts(*both, rater="ann") == (YES, False)
    assert counts(*both, rater="eve") is None
    assert counts(*both, said(one, PART, "judge", final=True)) == (PART, False)
    stale_final = said(replace(one, claim="before"), PART, "judge", final=True)
    assert counts(*both, stale_final) == (NO, False)
    assert counts(stale_final) == (PART, True)
    assert counts(said(replace(one, claim="x"), NO, "bob"), said(one, YES)) == (YES, False)


def agreed(*pairs: tuple[Support, Support]) -> tuple[float | None, str, int]:
    made = items(len(pairs))
    records = [said(one, a) for one, (a, _) in zip(made, pairs, strict=True)]
    records += [said(one, b, "bob") for one, (_, b) in zip(made, pairs, strict=True)]
    found = agreement([*made, item(999)], Verdicts(records), "ann", "bob")
    return found.kappa, found.words, found.both


def test_kappa_of_a_known_table() -> None:
    # Cohen's example: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.4.
    kappa, words, both = agreed(*[(YES, YES)] * 20, *[(YES, NO)] * 5, *[(NO, YES)] * 10, *[(NO, NO)] * 15)
    assert kappa == pytest.approx(0.4)
    assert both == 50
    assert words == "κ = 0.40 (fair)"


def test_kappa_says_in_words_when_it_says_nothing() -> None:
    assert agreed()[:2] == (None, "κ is not defined: no item was judged by both")
    assert agreed((YES, YES), (YES, YES))[:2] == (None, "κ is not defined: both raters said “supports” of everything")
    kappa, words, _ = agreed(*[(YES, YES)] * 19, (YES, NO))
    assert kappa == 0
    assert "says little" in words
    assert agreed((YES, NO), (NO, YES))[1] == "κ = -1.00 (worse than chance)"
    assert agreed((YES, YES), (NO, NO))[1] == "κ = 1.00 (almost perfect)"


def test_differences_are_listed_with_their_adjudication_and_stale_ones_are_not() -> None:
    one, two, three = items(3)
    records = [
        said(one, YES), said(one, NO, "bob"), said(one, PART, "judge", final=True),
        said(two, YES), said(two, YES, "bob"),
        said(replace(three, claim="before"), YES), said(three, NO, "bob"),
    ]  # fmt: skip
    (found,) = differences([one, two, three], Verdicts(records), "ann", "bob")
    assert (found.item, found.first.support, found.second.support) == (one, YES, NO)
    assert found.final is not None
    assert found.final.support is PART


def test_what_is_not_settled_is_listed() -> None:
    one, two, three = items(3)
    records = [
        said(one, YES), said(one, NO, "bob"),
        said(two, YES), said(two, YES, "bob"),
        said(three, YES), said(three, NO, "bob"), said(three, PART, "judge", final=True),
    ]  # fmt: skip
    assert unsettled([one, two, three], Verdicts(records)) == (one,)
    changed = replace(three, claim="changed since")
    again = [*records, said(changed, YES), said(changed, NO, "bob")]
    assert unsettled([changed], Verdicts(again)) == (changed,)
