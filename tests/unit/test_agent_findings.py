"""What a reviewer must look at in an agent's proposal, to the line."""

from __future__ import annotations

import pytest

from ltmem_gui.domain.agent import AgentAction, AgentStep, AgentTranscript, ToolOutcome
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.pipeline.agent_findings import review_findings

GROUP = """# Task Group: shop
scope: the shop
applies_to: cwd=/shop; reuse_rule=here

## Task 1: add a picker

### rollout_summary_files
- rollout_summaries/a.md (cwd=/shop, rollout_path=/r, updated_at=x, thread_id=t)

### keywords
- picker

## User preferences
- use pnpm [Task 1] [c1]
- tabs, not spaces [Task 1] [c2]

<citation_entries>
rollout_summaries/a.md:1-2 |note=[c1 said]
rollout:t:4-4 |note=[c2 said]
</citation_entries>
<rollout_ids>
t
</rollout_ids>
"""
FILES = {"rollout_summaries/a.md": b"thread_id: t\nx\n"}


def review(after: str, before: str = GROUP, files: dict[str, bytes] | None = None) -> list[tuple[str, int | None]]:
    now = FILES if files is None else files
    found = review_findings(now | {"MEMORY.md": after.encode()}, FILES | {"MEMORY.md": before.encode()})
    assert len({finding.id for finding in found}) == len(found)
    return [(finding.rule, finding.line) for finding in found]


def test_the_same_file_has_none() -> None:
    assert review(GROUP) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- use pnpm [Task 1] [c1]", "- use pnpm [Task 1]"),
        ("rollout_summaries/a.md:1-2 |note=[c1 said]\n", ""),
        ("rollout_summaries/a.md:1-2 |note=[c1", "rollout:t:9-9 |note=[c1"),
    ],
)
def test_a_citation_that_goes_while_its_bullet_stays(old: str, new: str) -> None:
    assert review(GROUP.replace(old, new)) == [("dropped-citation", 14)]


def test_lines_that_move_within_the_cited_file_are_no_loss() -> None:
    assert review(GROUP.replace("a.md:1-2", "a.md:2-2")) == []


def test_a_citation_that_goes_with_its_bullet_or_its_file_is_no_loss() -> None:
    gone = GROUP.replace("- use pnpm [Task 1] [c1]\n", "").replace("rollout_summaries/a.md:1-2 |note=[c1 said]\n", "")
    assert review(gone) == []
    assert review(GROUP.replace("rollout_summaries/a.md:1-2 |note=[c1 said]\n", ""), files={}) == []


def test_new_statements_need_a_citation_wherever_they_stand() -> None:
    added = GROUP.replace("- tabs, not", "- yarn is fine too [Task 1]\n- npm as well [Task 1] [c9]\n- tabs, not")
    assert review(added) == [("uncited", 15), ("uncited", 16)]
    assert review(f"- stray\n{GROUP}") == [("uncited", 1)]
    assert review(f"- stray\n{GROUP}", before=f"- stray\n{GROUP}") == []


def test_renumbering_is_no_change() -> None:
    renumbered = GROUP.replace("[c1]", "[c7]").replace("|note=[c1 ", "|note=[c7 ")
    assert review(renumbered) == []


def test_lines_that_were_turned_down_are_told_when_they_return() -> None:
    hunk = RefusedHunk("memory_summary.md", ("- a\n",), ("- b\n", "- c\n"), 1, note="not true")
    gone = RefusedHunk("memory_summary.md", ("- a\n",), (), 1)
    refused = (hunk, hunk, gone)

    def told(after: str, before: str = "v1\n- a\n") -> list[tuple[str, str, int | None, str]]:
        files = {"memory_summary.md": after.encode()}, {"memory_summary.md": before.encode()}
        return [(f.rule, f.path, f.line, f.text) for f in review_findings(*files, refused)]

    words = "you turned these lines down on 1970-01-01: not true"
    assert told("v1\n- b\n- c\n") == [("refused-before", "memory_summary.md", 2, words)]
    assert told("- b\n- c\n")[0][2] == 1
    assert told("v1\n- a\n") == told("v1\n-- b\n- c\n") == told("v1\n- b\n- c\n", "v1\n- b\n- c\n") == []


def test_no_memory_at_all_has_none() -> None:
    assert review_findings({}, {}) == ()


def test_a_transcript_in_figures_and_words() -> None:
    wrote = AgentAction("write", "MEMORY.md", ToolOutcome.DONE, "created")
    refused = AgentAction("delete", "../x", ToolOutcome.REFUSED, "outside")
    other = AgentAction("ghp_secret", "", ToolOutcome.REFUSED, "unknown")
    transcript = AgentTranscript((AgentStep(1, (wrote, refused, other), "", 10, 5), AgentStep(2)), {"outside": 1})
    assert transcript.files == ("MEMORY.md",)
    assert transcript.rows() == (
        "1: write MEMORY.md, delete (refused), unknown tool (refused); 10 tokens sent, 5 received, 0 s",
        "2: no call; 0 tokens sent, 0 received, 0 s",
    )
    assert transcript.counts()["refused_calls"] == 1
    assert transcript.in_words()[1:] == ("agent: changed MEMORY.md", "agent: refused calls: outside × 1")
    assert AgentTranscript().in_words()[1] == "agent: changed no file"
