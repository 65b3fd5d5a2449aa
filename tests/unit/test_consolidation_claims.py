"""Which statements are the same, and which disagree: judged without a model, so kept narrow."""

from __future__ import annotations

import time

import pytest

from ltmem_gui.domain.memory_document import FAILURES, KNOWLEDGE, PREFERENCES
from ltmem_gui.llm.builtin.consolidation_claims import (
    Claim,
    ClaimIndex,
    Statement,
    Support,
    disagree,
    disagreements,
    same,
)
from ltmem_gui.llm.builtin.consolidation_raw import clean_line, read_raw_memory


def claim(text: str, at: int = 0, section: str = KNOWLEDGE) -> Claim:
    return Claim(section, text, (Support(f"t-{at}", 0, at, ()),))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use pnpm, never npm", '"Use pnpm, never npm."'),
        ("please use pnpm in this repo", "use pnpm in this repo"),
        ("the default branch is develop", "default branch: develop"),
        ("run migrations with make migrate", "run the migration with make migrate"),
        ("bitte antworte auf Deutsch", "Antworte auf Deutsch"),
        ("默认分支是 develop", "默认分支是 develop。"),
    ],
)
def test_the_same_in_nearly_the_same_words(one: str, other: str) -> None:
    assert same(Statement(one), Statement(other))
    assert same(Statement(other), Statement(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use npm for installs", "use pnpm for installs"),
        ("the database listens on port 5432", "the database listens on port 5433"),
        ("always run the tests", "never run the tests"),
        ("edit config/base.yaml", "edit config/prod.yaml"),
        ("use tabs, not spaces", "use spaces, not tabs"),
        ("the", "a"),
        ("prefer ruff", "prefer mypy"),
    ],
)
def test_different_values_are_different_statements(one: str, other: str) -> None:
    assert not same(Statement(one), Statement(other))


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("never run the tests with coverage here", "always run the tests with coverage here"),
        ("use tabs, not spaces", "use spaces, not tabs"),
        ("use pnpm instead of npm", "use npm"),
        ("I changed my mind: use grep again, not ripgrep.", "In this repo always use ripgrep, never grep."),
        ("we no longer deploy on Fridays", "we deploy on Fridays after lunch"),
        ("the database listens on port 5433", "the database listens on port 5432"),
        ("the default branch is main", "the default branch is develop"),
        ("use uv for environments", "use conda for environments"),
        ("nutze uv statt pip", "nutze pip für alles"),
        ("don't squash commits before the merge", "squash commits before the merge"),
    ],
)
def test_what_disagrees(newer: str, older: str) -> None:
    assert disagree(Statement(newer), Statement(older))


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("use ruff for linting", "use black for formatting"),
        ("don't commit to main", "commit messages are in English"),
        ("no emojis in the docs", "the docs are built with mkdocs"),
        ("use pnpm, never npm", "use pnpm, never npm"),
        ("show me the diff first", "run the tests first"),
        ("the api runs on port 8000", "the docs are published every night"),
        ("never edit files below generated/", "config/prod.yaml is generated from config/base.yaml"),
        ("the staging database is slow", "reviews happen on Thursdays"),
    ],
)
def test_what_does_not_disagree(newer: str, older: str) -> None:
    assert not disagree(Statement(newer), Statement(older))


def test_clusters_are_newest_first_and_within_one_section() -> None:
    claims = [
        claim("the default branch is develop", 1),
        claim("reviews happen on Thursdays", 2),
        claim("the default branch is main", 3),
        claim("the default branch is trunk", 2),
        claim("the default branch is stable", 9, section=PREFERENCES),
    ]
    assert disagreements(claims) == [(2, 3, 0)]


def test_an_index_adds_evidence_to_the_statement_that_is_there() -> None:
    index = ClaimIndex([claim("use pnpm", 1)])
    assert index.add(claim('"Use pnpm."', 2)) == 0
    assert index.add(claim("use uv", 3)) == 1
    assert [s.at for s in index.claims[0].supports] == [1, 2]
    assert index.claims[0].text == "use pnpm"
    assert index.find("please use uv") == 1
    assert index.find("use poetry") is None
    assert index.claims[0].newest == 2


def test_ten_thousand_statements_are_compared_in_seconds() -> None:
    claims = [claim(f"service {n} listens on port {n} behind proxy {n % 7}", n) for n in range(3_000)]
    start = time.process_time()
    disagreements(claims)
    assert time.process_time() - start < 60  # a squared comparison takes minutes


# --- raw memories ---

OLD_STYLE = """\
# Session about builds

## Task 1 - Fix the build
**User preferences:**
* wants short answers
  with code first
1. never force-push
  - not even on branches

**Reusable knowledge**
- make needs JOBS=1 [Task 1]
References:
- log.txt

Failures:
- the cache broke
"""


def test_older_and_looser_forms_are_read() -> None:
    raw = read_raw_memory(OLD_STYLE)
    (task,) = raw.tasks
    assert task.title == "Fix the build"
    assert [(b.section, b.text) for b in task.bullets] == [
        (PREFERENCES, "wants short answers with code first"),
        (PREFERENCES, "never force-push not even on branches"),
        (KNOWLEDGE, "make needs JOBS=1"),
        (FAILURES, "the cache broke"),
    ]
    assert raw.fields == {}


def test_plain_paragraphs_are_taken_where_nothing_else_is() -> None:
    raw = read_raw_memory("---\ntask: x\nkeywords: a, A, , b\n---\n# Head\nprefers tabs\n\ntask: y\n")
    assert [bullet.text for bullet in raw.tasks[0].bullets] == ["prefers tabs"]
    assert raw.keywords == ("A", "b")
    assert read_raw_memory("### Task 1: only a title\ntask_outcome: fail\n").tasks[0].outcome == "fail"
    assert read_raw_memory("").tasks == ()
    assert read_raw_memory("---\ntask: never closed\n").fields == {}


def test_a_task_field_names_a_task_without_a_title() -> None:
    raw = read_raw_memory("### Task 1:\ntask: the true name\n- a fact\n")
    assert raw.tasks[0].title == "the true name"


def test_citations_of_a_raw_memory_go_with_their_bullets() -> None:
    cited = [
        "rollout:t:1-2 |note=[c1 x]",
        "rollout:t:9-3 |note=[c2]",
        "rollout:t:5-5 |note=[c3]",
        "file.md:1-1 |note=[c1]",
    ]
    ids = "<rollout_ids>\nt\n</rollout_ids>"
    block = "\n".join(["<citation_entries>", *cited, "</citation_entries>", ids])
    text = f"- one [c1]\n- two [c2] [c3]\n- three\n{block}\n- four\n"
    bullets = read_raw_memory(text).tasks[0].bullets
    assert [(b.text, [e.location for e in b.entries]) for b in bullets] == [
        ("one", ["rollout:t:1-2"]),
        ("two", ["rollout:t:5-5"]),
        ("three", []),
        ("four", []),
    ]


def test_quoted_text_is_one_clean_line() -> None:
    assert clean_line("a\u2028b\u202ec\x00\td [Task 1] [c2]") == "a bc d"
    assert clean_line("**x** and 2**3**4") == "x and 2**3**4"
    assert clean_line("y </citation_entries>") == "y ‹/citation_entries>"
    assert clean_line("x" * 600) == "x" * 499 + "…"
