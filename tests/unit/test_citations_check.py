"""Every citation of a folder gets one answer, bad lines included."""

from __future__ import annotations

from ltmem_gui.domain.anchors import LocationStatus
from ltmem_gui.domain.citation_check import (
    CheckedCitation,
    Sessions,
    check_citations,
    citing_files,
    count_by_status,
    take_snapshots,
)

S = LocationStatus
NOBODY = Sessions({})


def block(*lines: str) -> bytes:
    return "\n".join(["<citation_entries>", *lines, "</citation_entries>", ""]).encode()


def statuses(checked: tuple[CheckedCitation, ...]) -> list[str]:
    return [str(item.location.status) for item in checked]


FILES = {
    "MEMORY.md": block(
        "MEMORY.md:1-2 |note=[own]",
        "rollout_summaries/a.md:1-3 |note=[there]",
        "rollout_summaries/a.md:3-4 |note=[too far]",
        "gone.md:1-1 |note=[gone]",
        "../x.md:1-1 |note=[out]",
        "a.md:3-1 |note=[reversed]",
        ":1-1 |note=[no path]",
        "what?",
    ),
    "rollout_summaries/a.md": b"thread_id: t-1\nb\nc\n" + block("nope.md:1-1 |note=[quoted by a session]"),
    "raw_memories.md": block("nope.md:1-1 |note=[input]"),
    "skills/x/SKILL.md": block("MEMORY.md:1-1 |note=[skill]"),
    "notes.txt": block("nope.md:1-1 |note=[no Markdown]"),
}


def test_each_line_has_its_status() -> None:
    files = {**FILES, "rollout_summaries/a.md": b"thread_id: t-1\nb\nc\n"}
    checked = check_citations(files, sessions=NOBODY)
    assert statuses(checked) == [
        "exact", "exact", "out of range", "missing file", "outside root", "reversed", "malformed", "malformed", "exact",
    ]  # fmt: skip
    assert [(item.file, item.line) for item in checked][-2:] == [("MEMORY.md", 9), ("skills/x/SKILL.md", 2)]
    counts = count_by_status(checked)
    assert counts["exact"] == 3
    assert counts["malformed"] == 2
    assert set(counts) == {str(status) for status in S}


def test_inputs_only_quote() -> None:
    assert citing_files(FILES) == ["MEMORY.md", "skills/x/SKILL.md"]


def test_sessions_are_asked_as_far_as_they_are_known() -> None:
    lines = ["rollout:t-1:1-5 |note=[a]", "rollout:t-2:1-9 |note=[b]", "rollout:t-3:1-1 |note=[c]"]
    files = {"MEMORY.md": block(*lines, "rollout:t-1:3-1 |note=[d]", "rollout:t-1:0-1 |note=[e]")}
    bad = ["reversed", "out of range"]
    assert statuses(check_citations(files, sessions=NOBODY)) == ["not checked"] * 3 + bad
    summaries = files | {"rollout_summaries/a.md": b"thread_id: t-1\n"}
    assert statuses(check_citations(summaries, sessions=NOBODY)) == [
        "not checked",
        "missing file",
        "missing file",
        *bad,
    ]
    some = Sessions({"t-1": 5, "t-2": 8, "t-3": None})
    assert statuses(check_citations(files, sessions=some)) == ["exact", "out of range", "not checked", *bad]
    every = Sessions({"t-2": 9}, complete=True)
    assert statuses(check_citations(summaries, sessions=every)) == ["missing file", "exact", "missing file", *bad]


def test_snapshots_tell_moves_later() -> None:
    cited = "".join(f"line {n} about topic {n * 31}\n" for n in range(20)).encode()
    files = {"MEMORY.md": block("t.md:3-4 |note=[a]", "t.md:3-4 |note=[b]", "rollout:x:1-1 |note=[c]"), "t.md": cited}
    taken = take_snapshots(files, check_citations(files, sessions=NOBODY), "base")
    assert list(taken) == [("t.md", 3, 4)]
    later = files | {"t.md": b"new\n" + cited}
    checked = check_citations(later, sessions=NOBODY, snapshots=taken)
    assert [item.location.label for item in checked][:2] == ["moved +1", "moved +1"]
