"""The fence of the staged copy under attack: folders that become links between look and step, and floods."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentCall, ToolOutcome
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.staging import StagingRefused
from ltmem_gui.pipeline.agent_tools import MAX_FILE_BYTES, MAX_FILE_LINES, MAX_FOUND, Toolbox
from ltmem_gui.workspace.staging import StagedCopy, staged_copy

FILES = {"MEMORY.md": b"one pnpm\n", "memory_summary.md": b"v1\n", "skills/x/SKILL.md": b"inside pnpm\n"}
MIB = 1024 * 1024
AT_CWD, RENAME_EXCHANGE = -100, 2


@pytest.fixture
def copy() -> Iterator[StagedCopy]:
    with staged_copy(FILES, max_bytes=64 * MIB, max_files=3_000) as folder:
        yield folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that looks like the one that is swapped for a link to it."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "SKILL.md").write_text("outside pnpm\n")
    return tmp_path


def call(box: Toolbox, name: str, **arguments: Any) -> tuple[ToolOutcome, dict[str, Any]]:
    action, text = box.call(AgentCall("c", name, json.dumps(arguments)))
    return action.outcome, json.loads(text)


def swap(copy: StagedCopy, outside: Path) -> None:
    """Put a link where `skills` was."""
    (copy.root / "skills").rename(copy.root / "kept")
    (copy.root / "skills").symlink_to(outside)


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list", {"path": "skills/x"}),
    ("read", {"path": "skills/x/SKILL.md"}),
    ("search", {"queries": ["pnpm"], "path": "skills/x/SKILL.md"}),
    ("write", {"path": "skills/x/SKILL.md", "content": "escaped\n"}),
    ("write", {"path": "skills/x/new.md", "content": "escaped\n"}),
    ("write", {"path": "skills/new/new.md", "content": "escaped\n"}),
    ("edit", {"path": "skills/x/SKILL.md", "old_text": "pnpm", "new_text": "escaped"}),
    ("delete", {"path": "skills/x/SKILL.md"}),
)


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_folder_that_becomes_a_link_after_it_was_looked_at(
    copy: StagedCopy, outside: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any]
) -> None:
    look: Callable[..., None] = StagedCopy._look
    swapped: list[bool] = []

    def late(self: StagedCopy, parts: tuple[str, ...], **more: Any) -> None:
        try:
            look(self, parts, **more)
        finally:
            if not swapped:
                swapped.append(True)
                swap(self, outside)

    monkeypatch.setattr(StagedCopy, "_look", late)
    box = Toolbox(copy)
    outcome, answer = call(box, name, **arguments)
    assert outcome is ToolOutcome.REFUSED, answer
    assert box.refusals == {"symlink": 1}
    assert sorted(path.name for path in outside.rglob("*")) == ["SKILL.md", "x"]
    assert (outside / "x" / "SKILL.md").read_text() == "outside pnpm\n"
    assert "outside" not in json.dumps(answer)


@pytest.mark.parametrize("made", ["link", "folder", "pipe", "gone"])
@pytest.mark.parametrize("name", ["read", "write", "delete"])
def test_a_file_that_becomes_something_else(
    copy: StagedCopy, outside: Path, monkeypatch: pytest.MonkeyPatch, made: str, name: str
) -> None:
    look: Callable[..., None] = StagedCopy._look

    def late(self: StagedCopy, parts: tuple[str, ...], **more: Any) -> None:
        look(self, parts, **more)
        at = self.root / "MEMORY.md"
        at.unlink()
        if made == "link":
            at.symlink_to(outside / "x" / "SKILL.md")
        elif made == "folder":
            at.mkdir()
        elif made == "pipe":
            os.mkfifo(at)

    monkeypatch.setattr(StagedCopy, "_look", late)
    more = {"content": "new\n"} if name == "write" else {}
    outcome, answer = call(Toolbox(copy), name, path="MEMORY.md", **more)
    # A link, a pipe or nothing in the way is replaced or removed itself: what it leads to is not.
    changed = name != "read" and made != "folder" and not (name == "delete" and made == "gone")
    assert (outcome is ToolOutcome.DONE) is changed, answer
    assert "outside" not in json.dumps(answer)
    assert (outside / "x" / "SKILL.md").read_text() == "outside pnpm\n"
    if name == "write" and changed:
        assert (copy.root / "MEMORY.md").read_bytes() == b"new\n"
        assert not (copy.root / "MEMORY.md").is_symlink()


def test_a_race_of_links_never_leads_out(copy: StagedCopy, outside: Path) -> None:
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    if exchange is None:
        pytest.skip("no way to exchange two names at once")
    stop = threading.Event()
    real, link = bytes(copy.root / "skills"), bytes(copy.root / "kept")
    (copy.root / "kept").symlink_to(outside)

    def race() -> None:
        while not stop.is_set():
            exchange(AT_CWD, real, AT_CWD, link, RENAME_EXCHANGE)

    racer = threading.Thread(target=race)
    racer.start()
    seen: set[str] = set()
    try:
        box = Toolbox(copy)
        for number in range(150):
            _, answer = call(box, "read", path="skills/x/SKILL.md")
            seen.add(str(answer.get("content", answer)))
            call(box, "write", path=f"skills/x/{number}.md", content="mine\n")
            call(box, "write", path=f"skills/new-{number}/a.md", content="mine\n")
            call(box, "delete", path=f"skills/x/{number}.md")
    finally:
        stop.set()
        racer.join()
    assert not any("outside" in text for text in seen)
    assert sorted(path.name for path in outside.rglob("*")) == ["SKILL.md", "x"]


def test_devices_are_neither_read_nor_written(copy: StagedCopy) -> None:
    try:
        os.mknod(copy.root / "null", 0o666 | 0o020000, os.makedev(1, 5))
    except (PermissionError, OSError):
        os.mkfifo(copy.root / "null")
    box = Toolbox(copy)
    assert call(box, "read", path="null")[0] is ToolOutcome.REFUSED
    assert call(box, "write", path="null", content="x")[0] is ToolOutcome.REFUSED
    assert box.refusals == {"not a file": 2}
    assert "null" not in copy.files()


def test_ten_gigabytes_are_refused_before_they_are_made(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    assert call(box, "write", path="a.md", content="x" * (5 * MIB))[0] is ToolOutcome.DONE
    tracemalloc.start()
    try:
        outcome, answer = call(box, "edit", path="a.md", old_text="x", new_text="y" * 2_048, replace_all=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outcome is ToolOutcome.REFUSED
    assert f"{10 * 1024 * MIB} bytes" in answer["refused"]
    assert peak < 64 * MIB
    assert call(box, "write", path="b.md", content="x" * (MAX_FILE_BYTES + 1))[0] is ToolOutcome.REFUSED
    wanted = [call(box, "write", path=f"c{number}.md", content="x" * (8 * MIB))[0] for number in range(9)]
    assert wanted == [ToolOutcome.DONE] * 7 + [ToolOutcome.REFUSED] * 2
    assert box.refusals == {"size": 4}
    assert sum(map(len, copy.files().values())) <= 64 * MIB


def test_a_flood_of_files_is_refused() -> None:
    """Five thousand of them; `tests/bench` has a hundred thousand."""
    refused = 0
    with staged_copy(FILES, max_bytes=MIB, max_files=200) as copy:
        for number in range(5_000):
            try:
                copy.write(f"{number}.md", b"x")
            except StagingRefused as error:
                refused += error.kind == "count"
        assert (refused, len(copy.files())) == (5_000 - 197, 200)


def test_a_flood_of_lines_is_refused_and_one_of_matches_is_cut(copy: StagedCopy) -> None:
    box = Toolbox(copy)
    assert call(box, "write", path="a.md", content="\n" * (MAX_FILE_LINES + 1))[0] is ToolOutcome.REFUSED
    assert call(box, "write", path="a.md", content="a\n" * 6_000)[0] is ToolOutcome.DONE
    outcome, _ = call(box, "edit", path="a.md", old_text="a", new_text="\n" * 200, replace_all=True)
    assert outcome is ToolOutcome.REFUSED
    copy.write("b.md", b"a\n" * 6_000)
    _, found = call(box, "search", queries=["a"], max_results=3)
    assert (found["total"], found["next_cursor"]) == (MAX_FOUND, "3")
    _, more = call(box, "search", queries=["a"], cursor=str(MAX_FOUND - 1))
    assert [(match["path"], match["start"]) for match in more["matches"]] == [("b.md", 4_000)]
    assert more["next_cursor"] is None
    assert call(box, "search", queries=["a"], cursor=str(MAX_FOUND + 1))[0] is ToolOutcome.ERROR
    assert call(box, "search", queries=["pnpm"], cursor="3")[0] is ToolOutcome.ERROR


def test_a_disk_that_is_full_ends_the_run(copy: StagedCopy, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(InputError, match="No space left"):
        call(Toolbox(copy), "write", path="a.md", content="x")
