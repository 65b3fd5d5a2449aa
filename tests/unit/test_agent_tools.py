"""The six tools on a staged copy: what they answer, and that nothing a model writes breaks them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.agent import AgentCall, ToolOutcome
from ltmem_gui.domain.staging import StagingMissing, StagingRefused
from ltmem_gui.pipeline.agent_search import Match, Search, find
from ltmem_gui.pipeline.agent_tools import MAX_LISTED, READ_BYTES, Toolbox, is_input, tool_specs
from ltmem_gui.workspace.staging import StagedCopy, staged_copy

FILES = {
    "MEMORY.md": b"one\ntwo\nthree pnpm\nfour\nPNPM-run here\n",
    "memory_summary.md": b"v1\n",
    "raw_memories.md": b"raw pnpm\n",
    "rollout_summaries/a.md": b"thread_id: t\npnpm\n",
    "skills/x/SKILL.md": b"no end",
    "picture.png": b"\x89PNG\xff",
}


@pytest.fixture
def copy() -> Iterator[StagedCopy]:
    with staged_copy(FILES, max_bytes=10_000_000, max_files=3_000) as folder:
        yield folder


def call(box: Toolbox, name: str, **arguments: Any) -> tuple[ToolOutcome, dict[str, Any]]:
    action, text = box.call(AgentCall("c", name, json.dumps(arguments)))
    return action.outcome, json.loads(text)


def test_specs_are_plain_schemas() -> None:
    specs = tool_specs()
    assert [spec.name for spec in specs] == ["list", "read", "search", "write", "edit", "delete"]
    for spec in specs:
        assert spec.parameters["additionalProperties"] is False
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
        assert "title" not in json.dumps(spec.parameters)


def test_listing_goes_in_pages(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    outcome, found = call(box, "list")
    assert outcome is ToolOutcome.DONE
    assert found["entries"] == [
        "MEMORY.md", "memory_summary.md", "picture.png", "raw_memories.md", "rollout_summaries/", "skills/",
    ]  # fmt: skip
    assert found["next_cursor"] is None
    _, first = call(box, "list", max_results=4)
    _, rest = call(box, "list", cursor=first["next_cursor"])
    assert first["entries"] + rest["entries"] == found["entries"]
    for number in range(MAX_LISTED + 10):
        copy.write(f"many/{number}.md", b"")
    _, many = call(box, "list", path="many/", max_results=10_000)
    assert (len(many["entries"]), many["next_cursor"]) == (MAX_LISTED, str(MAX_LISTED))
    assert call(box, "list", path="MEMORY.md")[0] is ToolOutcome.REFUSED
    assert call(box, "list", path="nowhere")[0] is ToolOutcome.ERROR
    for cursor in ("x", "-1", "9" * 12, "7777", "١"):
        assert call(box, "list", cursor=cursor)[0] is ToolOutcome.ERROR


def test_reading_numbers_lines_and_continues(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    _, part = call(box, "read", path="MEMORY.md", line_offset=2, max_lines=2)
    assert part["content"] == "2\ttwo\n3\tthree pnpm"
    assert (part["total_lines"], part["next_line_offset"], part["truncated"]) == (5, 4, True)
    _, end = call(box, "read", path="MEMORY.md", line_offset=4)
    assert (end["next_line_offset"], end["truncated"]) == (None, False)
    assert call(box, "read", path="skills/x/SKILL.md")[1]["content"] == "1\tno end"
    assert call(box, "read", path="MEMORY.md", line_offset=6)[1] == {"error": "the file has 5 lines"}
    for wrong in ({"line_offset": 0}, {"max_lines": 0}, {"line_offset": "2"}, {"offset": 2}):
        assert call(box, "read", path="MEMORY.md", **wrong)[0] is ToolOutcome.ERROR
    assert "not UTF-8" in call(box, "read", path="picture.png")[1]["error"]
    copy.write("empty.md", b"")
    assert call(box, "read", path="empty.md")[1]["content"] == ""


def test_long_files_come_in_parts_and_long_lines_are_cut(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    copy.write("long.md", b"".join(b"%06d %s\n" % (n, b"x" * 90) for n in range(2_000)))
    _, part = call(box, "read", path="long.md")
    assert part["truncated"]
    assert len(part["content"]) <= READ_BYTES
    _, rest = call(box, "read", path="long.md", line_offset=part["next_line_offset"])
    assert rest["content"].startswith(f"{part['next_line_offset']}\t")
    assert "cut" not in part["content"] + rest["content"]
    copy.write("wide.md", "ä".encode() * 100_000)
    _, wide = call(box, "read", path="wide.md")
    assert wide["truncated"]
    assert wide["content"].endswith("ä…line cut…")
    assert len(wide["content"].encode()) < READ_BYTES + 40


def test_answers_shrink_with_the_room_of_the_model(copy: StagedCopy) -> None:
    box = Toolbox(copy, answer_bytes=10)
    copy.write("long.md", b"".join(b"%06d %s\n" % (n, b"x" * 90) for n in range(2_000)))
    _, part = call(box, "read", path="long.md")
    assert 1_000 < len(part["content"]) <= 2_000
    _, found = call(box, "search", queries=["x"], path="long.md")
    assert len(found["matches"]) < 25


def test_searching_files_and_folders(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    _, found = call(box, "search", queries=["pnpm"])
    assert [(m["path"], m["start"]) for m in found["matches"]] == [
        ("MEMORY.md", 3), ("raw_memories.md", 1), ("rollout_summaries/a.md", 2),
    ]  # fmt: skip
    _, loose = call(box, "search", queries=["pnpm RUN"], normalized=True, case_sensitive=False, path="MEMORY.md")
    assert [m["content"] for m in loose["matches"]] == ["5\tPNPM-run here"]
    _, near = call(box, "search", queries=["two", "four"], match_mode="all_within_lines", line_count=3, context_lines=1)
    assert (near["matches"][0]["start"], near["matches"][0]["end"]) == (2, 4)
    assert near["matches"][0]["content"].split("\n")[0] == "1\tone"
    _, paged = call(box, "search", queries=["pnpm"], max_results=1)
    _, after = call(box, "search", queries=["pnpm"], cursor=paged["next_cursor"])
    assert (len(paged["matches"]), len(after["matches"]), paged["total"]) == (1, 2, 3)
    for wrong in ({"queries": []}, {"queries": ["--"], "normalized": True}, {"queries": [""]}, {"query": "x"}):
        assert call(box, "search", **wrong)[0] is ToolOutcome.ERROR
    assert call(box, "search", queries=["x"], path="../")[0] is ToolOutcome.REFUSED
    copy.write("many.md", b"pnpm " * 4_000 + b"\n" + b"pnpm\n" * 500)
    _, capped = call(box, "search", queries=["pnpm"], path="many.md")
    assert (len(capped["matches"]), capped["next_cursor"]) == (200, "200")


def test_windows_are_minimal() -> None:
    lines = ["a", "x", "b", "a", "b", "x", "a"]
    found = list(find("p", lines, Search(("a", "b"), "all_within_lines", 3)))
    assert found == [Match("p", 1, 3), Match("p", 3, 4), Match("p", 4, 5), Match("p", 5, 7)]
    assert list(find("p", ["ab", "a"], Search(("a", "b"), "all_on_same_line"))) == [Match("p", 1, 1)]


def test_writing_editing_and_deleting(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    assert call(box, "write", path="skills/new/SKILL.md", content="x\n")[1]["done"] == "created, 2 bytes"
    assert call(box, "write", path="skills/new/SKILL.md", content="y y\n")[1]["done"] == "replaced, 4 bytes"
    assert "2 times" in call(box, "edit", path="skills/new/SKILL.md", old_text="y", new_text="z")[1]["error"]
    many = call(box, "edit", path="skills/new/SKILL.md", old_text="y", new_text="z", replace_all=True)
    assert many[1]["done"] == "2 replaced"
    assert call(box, "edit", path="MEMORY.md", old_text="two\n", new_text="")[1]["done"] == "replaced"
    assert copy.read("MEMORY.md").startswith(b"one\nthree")
    assert call(box, "edit", path="MEMORY.md", old_text="", new_text="x")[0] is ToolOutcome.ERROR
    assert call(box, "edit", path="picture.png", old_text="x", new_text="y")[0] is ToolOutcome.ERROR
    assert call(box, "delete", path="skills/new/SKILL.md")[1]["done"] == "deleted"
    assert call(box, "delete", path="skills/new/SKILL.md")[0] is ToolOutcome.ERROR
    assert "skills/new/SKILL.md" not in copy.files()
    surrogate = AgentCall("c", "write", '{"path": "a.md", "content": "\\ud800"}')
    assert box.call(surrogate)[0].outcome is ToolOutcome.ERROR


@pytest.mark.parametrize(
    "path", ["raw_memories.md", "rollout_summaries/a.md", "extensions/x/y", "phase2_workspace_diff.md"]
)
def test_inputs_are_read_only(copy: StagedCopy, path: str) -> None:
    box = Toolbox(copy)
    assert is_input(path)
    for name, more in (("write", {"content": "x"}), ("edit", {"old_text": "a", "new_text": "b"}), ("delete", {})):
        assert call(box, name, path=path, **more)[0] is ToolOutcome.REFUSED
    assert box.refusals == {"read-only": 3}
    assert not is_input("MEMORY.md")


def test_links_and_devices_are_refused(copy: StagedCopy, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret\n")
    (copy.root / "link.md").symlink_to(tmp_path / "outside.md")
    (copy.root / "away").symlink_to(tmp_path)
    os.mkfifo(copy.root / "pipe")
    box = Toolbox(copy)
    for path in ("link.md", "away/outside.md", "pipe"):
        assert call(box, "read", path=path)[0] is ToolOutcome.REFUSED
        assert call(box, "write", path=path, content="x")[0] is ToolOutcome.REFUSED
        assert call(box, "delete", path=path)[0] is ToolOutcome.REFUSED
    assert call(box, "write", path="away/new.md", content="x")[0] is ToolOutcome.REFUSED
    assert call(box, "list", path="away")[0] is ToolOutcome.REFUSED
    assert "link.md" not in call(box, "list")[1]["entries"]
    assert box.refusals["symlink"] == 8
    assert sorted(p.name for p in tmp_path.iterdir()) == ["outside.md"]
    assert (tmp_path / "outside.md").read_text() == "secret\n"
    assert not copy.files().keys() & {"link.md", "pipe"}


def test_the_copy_is_private_bounded_and_gone(copy: StagedCopy) -> None:
    assert copy.root.stat().st_mode & 0o777 == 0o700
    with staged_copy(FILES, max_bytes=10, max_files=1) as small:
        assert small.files() == FILES
        with pytest.raises(StagingRefused) as size:
            small.write("MEMORY.md", b"x" * 1_000)
        with pytest.raises(StagingRefused) as count:
            small.write("new.md", b"")
        small.delete("picture.png")
        small.write("new.md", b"")
        root = small.root
    assert (size.value.kind, count.value.kind) == ("size", "count")
    assert not root.exists()
    with pytest.raises(StagingMissing):
        copy.read("nothing.md")
    with pytest.raises(StagingMissing):
        copy.read("nothing/x.md")


def test_files_the_fence_does_not_let_through_are_kept_aside() -> None:
    odd = {"a:b.md": b"1", ".hidden": b"2", "x/.git2": b"3", "ok.md": b"4"}
    with staged_copy(odd, max_bytes=100, max_files=10) as copy:
        assert [name for name, _ in copy.names("")] == ["ok.md"]
        assert copy.files() == odd


WORDS = st.sampled_from(
    ["..", ".", "", "MEMORY.md", ".git", "skills", "a", "/", "\\", "C:", "\0", "~", "con", "x" * 300, "é", "\u202e"]
)
PATHS = st.one_of(st.lists(WORDS, max_size=6).map("/".join), st.text(max_size=30))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["list", "read", "search", "write", "edit", "delete", "run"]), PATHS, st.text(max_size=20))
def test_no_call_breaks_or_leaves_the_copy(name: str, path: str, text: str) -> None:
    with staged_copy({"MEMORY.md": b"a\n"}, max_bytes=100_000, max_files=50) as copy:
        box = Toolbox(copy)
        arguments = {"path": path, "content": text, "old_text": text or "a", "new_text": "", "queries": [text]}
        wanted = {
            "list": ("path",), "read": ("path",), "search": ("path", "queries"), "write": ("path", "content"),
            "edit": ("path", "old_text", "new_text"), "delete": ("path",), "run": ("path",),
        }  # fmt: skip
        given_arguments = {key: arguments[key] for key in wanted[name]}
        _, answer = box.call(AgentCall("c", name, json.dumps(given_arguments)))
        assert isinstance(json.loads(answer), dict)
        inside = {str(p) for p in copy.root.rglob("*")}
        assert all(entry.startswith(str(copy.root)) for entry in inside)
        assert not any(part.startswith(".") for entry in copy.files() for part in entry.split("/"))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_arguments_are_answered(arguments: str) -> None:
    with staged_copy({"MEMORY.md": b"a\n"}, max_bytes=100_000, max_files=50) as copy:
        box = Toolbox(copy)
        for name in ("read", "write", "nothing"):
            action, answer = box.call(AgentCall("c", name, arguments))
            assert action.outcome is not ToolOutcome.DONE
            assert json.loads(answer)


def test_a_flood_of_nesting_is_an_error(copy: StagedCopy) -> None:
    action, _ = Toolbox(copy).call(AgentCall("c", "read", "[" * 100_000))
    assert action.outcome is ToolOutcome.ERROR
