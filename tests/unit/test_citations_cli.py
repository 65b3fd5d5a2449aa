"""`cite` and `check` as a person calls them."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ltmem_gui.cli import citations as commands
from ltmem_gui.cli.context import Context
from ltmem_gui.domain.errors import InputError, UsageError
from ltmem_gui.domain.memory_files import validate
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, RolloutRef, SkippedFile, SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import Adapters, Discovery, WorkspaceFile, WorkspaceSnapshot

BLOCK = "<citation_entries>\n{}\n</citation_entries>\n"


class Folder:
    """A memory folder in memory."""

    def __init__(self, files: dict[str, str], *, problems: tuple[str, ...] = (), exists: bool = True) -> None:
        self._files = {path: WorkspaceFile(path, text.encode(), 0o600) for path, text in files.items()}
        self._problems = problems
        self._exists = exists

    def read(self, root: Path) -> WorkspaceSnapshot:
        return WorkspaceSnapshot(str(root), self._exists, self._files, "base", {}, problems=self._problems)


class Sessions:
    """Sessions of three kinds: a file, one whose id is inside, one that cannot be read."""

    def __init__(self, path: Path, *, skipped: bool = False) -> None:
        self._path = path
        self._skipped = (SkippedFile("x", "odd"),) if skipped else ()

    def discover(self, specs: Any, **_: Any) -> Discovery:
        refs = [
            RolloutRef("codex", str(self._path / "a.jsonl"), 1, 1, "t-1"),
            RolloutRef("codex", str(self._path / "gone.jsonl"), 1, 1, "t-2"),
            RolloutRef("codex", str(self._path / "b.jsonl.zst"), 1, 1, "t-3"),
            RolloutRef("claude", str(self._path / "inside"), 1, 1),
            RolloutRef("claude", str(self._path / "broken"), 1, 1),
        ]
        return Discovery(tuple(refs), self._skipped)

    def load(self, ref: RolloutRef) -> Rollout:
        if ref.path.endswith("broken"):
            raise InputError("broken")
        return Rollout("t-4", "claude", ref.path, items=(RolloutItem("user", "message", "x", line=7),))


def call(
    *argv: str,
    folder: Folder | None = None,
    stdin: bytes | str = "",
    rollouts: Sessions | None = None,
    root: bool = True,
) -> tuple[int, str]:
    parser = argparse.ArgumentParser()
    commands.register(parser.add_subparsers())
    out = io.StringIO()
    adapters = SimpleNamespace(workspace=folder, validate=validate, rollouts=rollouts)
    context = Context(
        adapters=cast(Adapters, adapters),
        home=None,
        memory_root=Path("/memory") if root else None,
        sources=(SourceSpec("codex", "/sessions"),) if rollouts else (),
        settings=Settings(),
        stdin=io.TextIOWrapper(io.BytesIO(stdin)) if isinstance(stdin, bytes) else io.StringIO(stdin),
        out=out,
        err=io.StringIO(),
    )
    args = parser.parse_args(argv)
    return args.run(args, context), out.getvalue()


def test_parse_lists_entries_ids_and_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "reply.txt"
    path.write_bytes(
        b"text\r\n<citation_entries>\r\n"
        b"MEMORY.md:9-3 |note=[caf\xc3\xa9 \xe2\x80\xae]\r\nwhat?\r\n</citation_entries>\r\n"
        b"<rollout_ids>\r\nABC\r\nabc\r\n</rollout_ids>"
    )
    code, out = call("cite", "parse", str(path), "--json")
    assert code == 0
    assert out.isascii()
    assert json.loads(out) == {
        "entries": [
            {"path": "MEMORY.md", "start": 9, "end": 3, "note": "café \u202e", "line": 3, "status": "reversed"}
        ],
        "rollout_ids": ["ABC"],
        "rejected": [{"line": 4, "text": "what?", "reason": "no |note=[ after the location"}],
    }
    code, out = call("cite", "parse", str(path))
    assert out.split("\n")[:3] == [
        "3: MEMORY.md:9-3  café ⟨U+202E⟩  (reversed)",
        "session ABC",
        "4: not a citation: no |note=[ after the location: what?",
    ]


@pytest.mark.parametrize("text", [BLOCK.format("a\r:1-2 |note=[x]"), BLOCK.format("a\r:1-2 |note=[x]").encode()])
def test_parse_reads_standard_input_to_the_byte(text: str | bytes) -> None:
    code, out = call("cite", "parse", "-", "--json", stdin=text)
    assert code == 0
    assert json.loads(out)["entries"][0] == {
        "path": "a", "start": 1, "end": 2, "note": "x", "line": 2, "status": "ok",
    }  # fmt: skip


def test_parse_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        call("cite", "parse", str(tmp_path / "gone.txt"))


def test_check_counts_and_ends_with_one_when_a_citation_does_not_resolve() -> None:
    good, bad = "MEMORY.md:1-1 |note=[a]", "gone.md:1-1 |note=[b]"
    code, out = call("cite", "check", "--json", folder=Folder({"MEMORY.md": BLOCK.format(good + "\n" + bad)}))
    assert code == 1
    document = json.loads(out)
    assert (document["total"], document["resolved"]) == (2, 1)
    assert (document["counts"]["exact"], document["counts"]["missing file"]) == (1, 1)
    assert document["citations"][1] == {
        "file": "MEMORY.md",
        "line": 3,
        "status": "missing file",
        "resolves": False,
        "path": "gone.md",
        "start": 1,
        "end": 1,
        "note": "b",
        "text": "gone.md:1-1 |note=[b]",
        "detail": "",
        "now": None,
        "likeness": None,
        "candidates": [],
        "against": None,
        "known_since": None,
        "commit": None,
    }
    code, out = call("cite", "check", folder=Folder({"MEMORY.md": BLOCK.format(good)}))
    assert (code, out) == (0, "1 citations: 1 exact\n")
    assert call("cite", "check", folder=Folder({"MEMORY.md": ""})) == (0, "no citations\n")
    code, out = call("cite", "check", folder=Folder({"MEMORY.md": BLOCK.format("huh")}))
    assert (code, out.split("\n")[0]) == (1, "MEMORY.md:2: malformed: no |note=[ after the location: huh")


def test_check_asks_the_sessions_that_were_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n{}\n")
    lines = [
        f"rollout:t-{n}:{end}-{end} |note=[x]" for n, end in ((1, 2), (1, 3), (2, 1), (3, 1), (4, 7), (4, 8), (5, 1))
    ]
    folder = Folder({"MEMORY.md": BLOCK.format("\n".join(lines))})
    code, out = call("cite", "check", "--json", folder=folder, rollouts=Sessions(tmp_path))
    assert code == 1
    assert [item["status"] for item in json.loads(out)["citations"]] == [
        "exact", "out of range", "not checked", "not checked", "exact", "out of range", "missing file",
    ]  # fmt: skip
    code, out = call("cite", "check", "--json", folder=folder, rollouts=Sessions(tmp_path, skipped=True))
    assert json.loads(out)["citations"][-1]["status"] == "not checked"


def test_check_tells_moves_against_earlier_output(tmp_path: Path) -> None:
    text = "".join(f"line {n} on topic {n * 31}\n" for n in range(9))
    cited = BLOCK.format("t.md:3-4 |note=[x]")
    _, out = call("cite", "check", "--json", "--snapshots", folder=Folder({"MEMORY.md": cited, "t.md": text}))
    earlier = tmp_path / "earlier.json"
    earlier.write_text(out)
    moved = Folder({"MEMORY.md": cited, "t.md": "new\n" + text})
    code, out = call("cite", "check", "--json", "--against", str(earlier), folder=moved)
    found = json.loads(out)["citations"][0]
    assert (code, found["status"], found["now"], found["detail"]) == (0, "moved", [4, 5], "+1")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"snapshots": [{"path": 1}]}'])
def test_check_names_what_is_no_earlier_output(tmp_path: Path, text: str) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(text)
    with pytest.raises(InputError, match="holds no snapshots"):
        call("cite", "check", "--against", str(earlier), folder=Folder({}))
    with pytest.raises(InputError, match="cannot be read"):
        call("cite", "check", "--against", str(tmp_path / "gone.json"), folder=Folder({}))


def test_memory_lists_findings_by_file_and_line() -> None:
    folder = Folder({"MEMORY.md": "# old memory\n", "memory_summary.md": "v2\n"}, problems=("a link",))
    code, out = call("check", "memory", "--json", folder=folder)
    assert code == 1
    document = json.loads(out)
    assert document["ok"] is False
    assert all(item["file"] == item["path"] for item in document["findings"])
    assert document["counts"]["blocking"] == 1
    places = [(item["rule"], item["path"], item["line"]) for item in document["findings"]]
    assert places[:2] == [("problem", "", None), ("schema", "MEMORY.md", 1)]
    assert ("schema", "memory_summary.md", 1) in places
    code, out = call("check", "memory", folder=folder)
    assert "memory_summary.md:1: blocking: schema: line 1 must be exactly v1\n" in out
    assert out.endswith(" findings\n")


def test_memory_of_a_clean_folder_is_clean() -> None:
    headings = "## User Profile\n\n## User preferences\n\n## General Tips\n\n## What's in Memory\n"
    folder = Folder({"MEMORY.md": "", "memory_summary.md": f"v1\n\n{headings}"})
    assert call("check", "memory", folder=folder) == (0, "no findings\n")
    code, out = call("check", "memory", "--json", folder=folder)
    assert (code, json.loads(out)["ok"]) == (0, True)


def test_a_folder_must_be_named_and_be_there() -> None:
    with pytest.raises(UsageError, match="no memory folder was named"):
        call("check", "memory", folder=Folder({}), root=False)
    with pytest.raises(InputError, match="no such folder"):
        call("cite", "check", folder=Folder({}, exists=False))
