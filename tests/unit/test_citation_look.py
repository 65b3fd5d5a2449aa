"""A look for the list: what is on the screen first, places of a claim, use and standing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ltmem_gui.domain.audit_evidence import Sight, first_sight, in_the_open
from ltmem_gui.domain.audit_repairs import pointed, repaired
from ltmem_gui.domain.citation_look import LookSources, look_up, places_of_claims, standings, usage_of
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.project_files import ProjectPlace, named_folders, project_paths, project_place
from ltmem_gui.domain.usage import CitedUse
from tests.helpers.audits import MEMORY, SUMMARY

FILES = {"MEMORY.md": MEMORY.encode(), "rollout_summaries/a.md": SUMMARY.encode()}


def sources(files: dict[str, bytes]) -> LookSources:
    found = first_sight(Sight(FILES), (), at=7)
    kept = {record.key: record for record in in_the_open(found, [True] * len(found))}
    return LookSources(files, {}, kept)


def test_only_what_is_known_is_answered_for_in_parts() -> None:
    moved = FILES | {"rollout_summaries/a.md": b"new\n" + SUMMARY.encode()}
    everything = look_up(sources(moved))
    assert {at: looked.location.label for at, looked in everything.items()} == {
        ("MEMORY.md", 20): "moved +1",
        ("MEMORY.md", 23): "moved +1",
    }
    first = look_up(sources(moved), only={("MEMORY.md", 23)})
    rest = look_up(sources(moved), without=set(first))
    assert {**first, **rest} == everything
    assert not set(first) & set(rest)
    looked = everything["MEMORY.md", 20]
    assert (looked.origin, looked.since, looked.taken.quote) == ("first sight", 7, "- use pnpm, never npm here")


def test_the_baseline_answers_where_nothing_was_kept() -> None:
    taken = {key[1:4]: record.taken for key, record in sources(FILES).kept.items()}
    looked = look_up(LookSources(FILES, taken, {}))["MEMORY.md", 20]
    assert (looked.origin, looked.since, looked.location.label) == ("baseline", None, "exact")


def test_citations_of_a_claim_belong_together() -> None:
    text = MEMORY.replace("never npm [Task 1] [c1]", "never npm [Task 1] [c1] [c2]")
    claims = places_of_claims({"MEMORY.md": text.encode()})
    found = claims.together
    assert [words for _, _, words in claims.uncited] == ["nobody said this", "points nowhere"]
    lines = text.split("\n")
    c1, c2, c3 = (next(n for n, line in enumerate(lines, 1) if f"note=[{c}" in line) for c in ("c1", "c2", "c3"))
    assert found["MEMORY.md", c1] == found["MEMORY.md", c2] == (c1, c2)
    assert found["MEMORY.md", c3] == (c3,)


def test_use_is_counted_by_thread_and_by_summary_file() -> None:
    row = StageOneOutput("T-1", 1, "raw", "sum", None, 86_400, 2, 86_400)
    uses = [
        CitedUse("1", ("t-1", "T-1"), 9),
        CitedUse("2", ("rollout_summaries/1970-01-01T00-00-01-0000.md",), None),
        CitedUse("3", ("other",), 99),
    ]
    names = usage_of([row], uses)
    assert names["T-1"].last == 9
    assert names["T-1"].count in (1, 2)
    words = standings([row, replace(row, thread_id="t-2")], uses, now=0, max_unused_days=30, fallback="generated_at")
    assert "cited" in words["t-1"]
    assert words["t-2"] == "used 2 times, last 1970-01-02; kept until 1970-02-01"


@pytest.mark.parametrize("path", ["a.py", "a.py@main", "a.py@012", "../a.py@0123abc", "/a.py@0123abc", "@0123abc"])
def test_other_paths_are_no_places_of_a_project(path: str) -> None:
    assert project_place(path) is None


def test_places_of_projects() -> None:
    assert project_place("a@b/c.py@0123abcdef") == ProjectPlace("a@b/c.py", "0123abcdef")
    assert project_paths([], ()) == ()
    assert named_folders({"rollout_summaries/a.md": b"cwd: /b\ncwd:  \n", "x": b"cwd: /c\n"}) == ("/b",)


def test_a_citation_is_pointed_to_lines_that_were_chosen() -> None:
    entry = CitationEntry("rollout_summaries/a.md", 5, 5, "c1 said so", 20)
    changed = repaired(dict(FILES), pointed("MEMORY.md", entry, 6, 6))
    assert changed.split(b"\n")[19] == b"rollout_summaries/a.md:6-6 |note=[c1 said so]"
