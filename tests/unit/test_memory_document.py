"""`MEMORY.md` read and written: total, and unchanged blocks keep their bytes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.memory_document import (
    Bullet,
    FileReference,
    Group,
    Loose,
    read_document,
    render_document,
    split_reference,
)

BLOCK = """\
# Task Group: shop-web
scope: work in shop-web
applies_to: cwd=/home/dev/shop-web; reuse_rule=here

## Task 1: Date picker, success
### rollout_summary_files
- rollout_summaries/a.md (cwd=/home/dev/shop-web, rollout_path=/x, y/r.jsonl, updated_at=x, thread_id=t-1, main)
### keywords
- date picker, react

extra line

## User preferences
- use pnpm [Task 1] [c1]
  more of it

a paragraph

## Reusable knowledge
- develop is the default branch [Task 1][c2]

<citation_entries>
rollout:t-1:3-4 |note=[c1 use pnpm]
rollout:t-1:5-5 |note=[c2 develop]
rollout:t-1:7-7 |note=[c2 again]
not a citation
</citation_entries>
<rollout_ids>
t-1
</rollout_ids>
"""


def only_group(text: str) -> Group:
    (group,) = read_document(text).groups
    return group


def test_a_block_is_read_into_its_parts() -> None:
    group = only_group(BLOCK)
    assert (group.title, group.cwd, group.value_of("scope")) == ("shop-web", "/home/dev/shop-web", "work in shop-web")
    task = group.tasks[0]
    assert (task.number, task.title, task.keywords, task.extra) == (
        1, "Date picker, success", ("- date picker, react",), ("extra line",),
    )  # fmt: skip
    assert task.files[0].thread_id == "t-1"
    assert task.files[0].attributes["rollout_path"] == "/x, y/r.jsonl"
    preferences, knowledge = group.sections
    assert preferences.items == (Bullet("use pnpm", (1,), (1,), ("  more of it",)), Loose(("a paragraph",)))
    assert knowledge.items == (Bullet("develop is the default branch", (1,), (2,)),)
    assert {claim: len(entries) for claim, entries in group.entries_by_claim.items()} == {1: 1, 2: 2}
    assert [item.text for item in group.citations.rejected] == ["not a citation"]


def test_lines_are_those_of_the_file() -> None:
    text = "preface\n\n" + BLOCK
    group = only_group(text)
    lines = text.split("\n")
    assert lines[group.line - 1].startswith("# Task Group")
    assert lines[group.tasks[0].line - 1].startswith("## Task 1")
    assert "a.md" in lines[group.tasks[0].files[0].line - 1]
    bullet = group.sections[0].items[0]
    assert lines[bullet.line - 1].startswith("- use pnpm")
    assert lines[group.citations.entries[0].line - 1].startswith("rollout:t-1:3-4")


def test_unchanged_parts_keep_their_bytes() -> None:
    text = "preface\r\n\n# Notes\n\n\n" + BLOCK + "\n\n" + BLOCK.replace("shop-web", "api")
    assert render_document(read_document(text).parts) == text


def test_a_changed_block_is_laid_out_anew_and_reads_the_same() -> None:
    first, second = read_document(BLOCK + "\n" + BLOCK.replace("shop-web", "api")).groups
    text = render_document([Loose(("preface",)), replace(first, raw=()), second])
    assert text.startswith("preface\n\n# Task Group: shop-web\n")
    assert read_document(text).groups == (first, second)
    assert text.endswith("\n".join(second.raw).rstrip("\n") + "\n")


def test_a_block_of_a_model_with_blank_lines_between_reads_the_same() -> None:
    airy = BLOCK.replace("\n###", "\n\n###").replace("files\n-", "files\n\n-").replace("scope:", "\nscope:")
    assert only_group(airy) == only_group(BLOCK)


def test_fences_hide_headings_and_bullets_but_never_a_task_group() -> None:
    text = "# Task Group: x\n\n## User preferences\n- a\n```md\n# Notes\n## Task 1: z\n- b\n```\n- c\n"
    group = only_group(text)
    assert [type(item).__name__ for item in group.sections[0].items] == ["Bullet", "Loose", "Bullet"]
    stray = read_document("~~~\n# Task Group: x\n\n## User preferences\n```\n- b\n# Task Group: y\n```\n~~~\n")
    assert [g.title for g in stray.groups] == ["x", "y"]
    assert Bullet("b") in stray.groups[0].sections[0].items


def test_odd_parts_are_kept_as_they_are() -> None:
    text = (
        "# Task Group:\nno colon here\n\n## Task 1:\n### rollout_summary_files\nloose\n### other\nmore\n"
        "### keywords\n### keywords\nagain\n\n## Oddities\n<citation_entries>\nno end\n"
    )
    group = only_group(text)
    assert (group.title, group.cwd, group.value_of("scope")) == ("", "", "")
    assert group.tasks[0].extra == ("### other", "more", "### keywords", "again", "loose")
    assert group.sections[0].items == (Loose(("<citation_entries>", "no end")),)


def test_cwd_takes_what_the_header_gives() -> None:
    assert only_group("# Task Group: x\napplies_to: cwd=/a;b; reuse_rule=z\n").cwd == "/a;b"
    assert only_group("# Task Group: x\napplies_to: cwd=/a; rest\n").cwd == "/a"
    assert only_group("# Task Group: x\napplies_to: everything\n").cwd == ""
    assert only_group("# Task Group: x\napplies_to: cwd=/a\n").value_of("scope") == ""
    assert FileReference("a.md").thread_id == ""


def test_references_at_the_end_of_a_bullet() -> None:
    assert split_reference("a [Task 1] [c2]") == ("a", (1,), (2,))
    assert split_reference("a [Task 1][Task 2, Task 3] [c2, c3] ") == ("a", (1, 2, 3), (2, 3))
    assert split_reference("a [x] [Task 1] b") == ("a [x] [Task 1] b", (), ())
    assert split_reference("[Task 1] [Task 1]") == ("", (1,), ())


def test_a_task_without_its_parts_is_laid_out_without_them() -> None:
    (group,) = read_document("# Task Group: x\n\n## Task 1: bare\n").groups
    assert render_document([Loose(("",)), replace(group, raw=())]) == "# Task Group: x\n\n## Task 1: bare\n"


def test_a_stray_tag_opens_no_block() -> None:
    text = (
        "# Task Group: x\n<citation_entries>\n\n## Task 1: a\n<rollout_ids>\n<citation_entries>\n#odd.md:1-1|note=[n]\n"
    )
    group = only_group(text + "</citation_entries>\n")
    assert [task.title for task in group.tasks] == ["a"]
    assert [entry.path for entry in group.citations.entries] == ["#odd.md"]
    fresh = render_document([replace(group, raw=())])
    assert fresh.count("‹") == 2
    assert only_group(fresh).citations == group.citations


def test_an_empty_file_stays_empty() -> None:
    assert render_document(read_document("").parts) == ""
    assert render_document([]) == ""


_lines = st.sampled_from([*BLOCK.split("\n"), "```", "* star", "\ttab", "## Task 2: b", "# Notes", "\r", "- x [c1]"])


@settings(max_examples=150, deadline=None)
@given(st.lists(_lines | st.text(max_size=6), max_size=30))
def test_reading_is_total_and_layout_is_stable(lines: list[str]) -> None:
    document = read_document("\n".join(lines))
    fresh = render_document([replace(p, raw=()) if isinstance(p, Group) else p for p in document.parts])
    again = read_document(fresh)
    assert render_document([replace(p, raw=()) if isinstance(p, Group) else p for p in again.parts]) == fresh
