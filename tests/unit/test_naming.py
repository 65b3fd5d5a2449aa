"""Names of the memory folder: Codex's stems, collisions, and which paths may be written."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.naming import check_path, file_slug, fold, resource_time, summary_stem, summary_stems, utc

SAFE = re.compile(r"[0-9A-Za-z_-]+")


def row(thread_id: str, slug: str | None = None, updated: int = 1_795_000_000) -> StageOneOutput:
    """Return a row of which only the name matters."""
    return StageOneOutput(thread_id, updated, "raw", "summary", slug)


@pytest.mark.parametrize(
    ("thread_id", "stem"),
    [
        ("0194f5a6-89ab-7cde-8123-456789abcdef", "2025-02-11T15-35-19-jqmb"),  # the reference's own example
        ("0194F5A6-89AB-7CDE-8123-456789ABCDEF", "2025-02-11T15-35-19-jqmb"),
        ("0194f5a689ab7cde8123456789abcdef", "2025-02-11T15-35-19-jqmb"),
        ("{0194f5a6-89ab-7cde-8123-456789abcdef}", "2025-02-11T15-35-19-jqmb"),
        ("urn:uuid:0194f5a6-89ab-7cde-8123-456789abcdef", "2025-02-11T15-35-19-jqmb"),
        ("c5d71484-f8cf-4bf4-b76f-47904730804b", "2026-11-18T11-06-40-PpPB"),  # no time inside: the row's
        ("d9428888-122b-11e1-b85c-61cd3cbb3210", "2011-11-18T21-25-33-XcHe"),  # version 1
        ("1e1122bd-9428-6888-b85c-61cd3cbb3210", "2011-11-18T21-25-33-XcHe"),  # version 6 of the same moment
        ("abc", "2026-11-18T11-06-40-0p46"),  # no UUID: a rolling hash
        ("", "2026-11-18T11-06-40-0000"),
    ],
)
def test_time_and_hash_follow_from_the_thread_id(thread_id: str, stem: str) -> None:
    assert summary_stem(row(thread_id)) == stem


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        (None, ""),
        ("  ", ""),
        (". .", ""),
        ("Fix CI", "fix_ci"),
        ("UPPER-case_x", "upper_case_x"),
        ("日本語 slug", "____slug"),
        ("--lead--trail--", "__lead__trail"),
        ("many   spaces\tand\nnewline", "many___spaces_and_newline"),
        ("a" * 59 + "-b" + "c" * 20, "a" * 59),
        ("x" * 112, "x" * 60),
        ("\x1cx", "_x"),  # U+001C is no white space to Codex
        ("../../etc/passwd", "______etc_passwd"),
    ],
)
def test_slugs_are_what_codex_makes_of_them(slug: str | None, expected: str) -> None:
    assert file_slug(slug) == expected


def test_times_outside_the_calendar_are_clamped() -> None:
    assert summary_stem(row("x", updated=10**15)).startswith("9999-12-31T23-59-59-")
    assert summary_stem(row("x", updated=-(10**15))).startswith("0001-01-01T00-00-00-")
    assert utc(0) == datetime(1970, 1, 1, tzinfo=UTC)


def colliding(count: int) -> list[StageOneOutput]:
    """Return rows whose time, hash and slug are the same: version 4 ids that share their low 32 bits."""
    return [row(f"0000000{n}-0000-4000-8000-000011111111", "same") for n in range(count)]


def test_the_later_thread_id_gets_a_number_whatever_the_order() -> None:
    rows = colliding(3)
    stems = summary_stems(rows)
    base = stems[rows[0].thread_id]
    assert [stems[r.thread_id] for r in rows] == [base, f"{base}-2", f"{base}-3"]
    for _ in range(5):
        shuffled = random.sample(rows, len(rows))
        assert summary_stems(shuffled) == stems


def test_a_number_never_takes_a_name_that_is_in_use() -> None:
    first, second, third = colliding(3)
    first, second, third = replace(first, rollout_slug=None), replace(second, rollout_slug=None), third
    third = replace(third, rollout_slug="2")
    stems = summary_stems([third, second, first])
    assert len({fold(stem) for stem in stems.values()}) == 3
    assert stems[second.thread_id].endswith("-2")
    assert stems[third.thread_id].endswith("-2-2")


def test_hashes_that_differ_in_case_only_are_told_apart() -> None:
    # 62 + 10 = "1a" and 62 + 36 = "1A" as last digits
    low = row(f"00000000-0000-4000-8000-0000{62 + 10:08x}")
    high = row(f"00000001-0000-4000-8000-0000{62 + 36:08x}")
    assert summary_stem(low).casefold() == summary_stem(high).casefold() != summary_stem(low)
    stems = summary_stems([high, low])
    assert len({fold(stem) for stem in stems.values()}) == 2


slugs = st.one_of(
    st.none(), st.text(max_size=80), st.sampled_from(["Fix-Auth", "fix-auth", "café", "cafe\u0301", "con"])
)
thread_ids = st.one_of(st.uuids().map(str), st.text(max_size=40))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(thread_ids, slugs), max_size=20, unique_by=lambda pair: pair[0]), st.randoms())
def test_names_are_safe_distinct_and_independent_of_order(
    pairs: list[tuple[str, str | None]], chance: random.Random
) -> None:
    rows = [row(thread_id, slug) for thread_id, slug in pairs]
    stems = summary_stems(rows)
    assert len({fold(stem) for stem in stems.values()}) == len(rows)
    for stem in stems.values():
        assert SAFE.fullmatch(stem)
        assert len(f"{stem}.md") <= 120
        assert check_path(f"rollout_summaries/{stem}.md")
    chance.shuffle(rows)
    assert summary_stems(rows) == stems


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a/./b",
        "a//b",
        "a/",
        ".git/config",
        "a/.git/config",
        ".GIT/config",
        ".git./x",
        "git~1/x",
        "GIT~1/x",
        "a\\b",
        "c:x",
        "a\nb",
        "a\x00b",
        "a\x7fb",
        "con",
        "CON.md",
        "aux.notes",
        "lpt1",
        "com¹.md",
        "trailing.",
        "trailing ",
        "x" * 256,
        "é" * 128,
        "\ud800.md",
        ".ltmem-0123/new",
    ],
)
def test_paths_that_leave_the_folder_or_a_system_are_refused(path: str) -> None:
    with pytest.raises(RefusedError) as caught:
        check_path(path)
    assert caught.value.where == path


@pytest.mark.parametrize("path", ["MEMORY.md", "a/b/c.md", "notes/.ltmem-x", "contents.md", "x" * 255, ".gitignore"])
def test_ordinary_paths_are_taken_apart(path: str) -> None:
    assert check_path(path) == tuple(path.split("/"))


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("2026-03-13T09-20-00-abc.md", datetime(2026, 3, 13, 9, 20, tzinfo=UTC)),
        ("2026-03-13T09-20-00.md", datetime(2026, 3, 13, 9, 20, tzinfo=UTC)),
        ("2026-13-13T09-20-00.md", None),
        ("2026-3-13T09-20-000.md", None),
        ("no-timestamp.md", None),
        ("٢٠٢٦-03-13T09-20-00.md", None),
    ],
)
def test_resources_are_dated_by_their_name(name: str, time: datetime | None) -> None:
    assert resource_time(name) == time
