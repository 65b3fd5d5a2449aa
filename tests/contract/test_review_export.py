"""`review` as a person calls it: the form, what is redacted, where it may be written."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ltmem_gui import bootstrap
from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.plan import Plan
from tests.helpers.reviews import many_hunks, plan_of_files

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir()
    return root


@pytest.fixture
def plan(memory: Path, tmp_path: Path) -> Plan:
    old, new = many_hunks(2)
    new = new.replace("changed fact number 12", f"changed fact {SECRET} 12")
    made, base = plan_of_files({"MEMORY.md": old}, {"MEMORY.md": new, "fresh.md": "x\n"})
    for path, data in base.items():
        (memory / path).write_bytes(data)
    made = made.model_copy(update={"memory_root": str(memory), "home": str(tmp_path / "home")}).sealed()
    (tmp_path / "plan.json").write_text(made.model_dump_json())
    return made


@pytest.fixture
def call(plan: Plan, tmp_path: Path) -> Call:
    def run_it(*argv: str) -> tuple[int, str, str]:
        def compose(home: Path | None) -> Composition:
            return bootstrap.compose(home)

        def no_window(options: WindowOptions) -> int:
            raise AssertionError(options)

        out, err = io.StringIO(), io.StringIO()
        surfaces = Surfaces(compose=compose, launch_window=no_window)
        code = run(["review", "--plan", str(tmp_path / "plan.json"), *argv], surfaces, io.StringIO(), out, err)
        return code, out.getvalue(), err.getvalue()

    return run_it


def test_markdown_and_json_hold_the_decisions_and_no_secret(call: Call, plan: Plan) -> None:
    first = f"MEMORY.md:{plan.changes[0].hunks[0].id}"
    code, text, _ = call("--reject", first, "--rest", "accept")
    assert code == 0
    assert "0 of 3 undecided" in text
    assert "- **reject**" in text
    assert "changed fact number 4" in text
    assert SECRET not in text
    code, text, _ = call("--format", "json", "--reject", first, "--rest", "accept")
    assert code == 0
    assert [c["decision"] for c in json.loads(text)["changes"]] == ["reject", "accept", "accept"]
    assert SECRET not in text


@pytest.mark.parametrize(("form", "there", "gone"), [("accepted", "12 ", "number 4"), ("rejected", "number 4", "+x")])
def test_a_patch_holds_one_side_and_applies(
    call: Call, plan: Plan, memory: Path, form: str, there: str, gone: str
) -> None:
    first = f"MEMORY.md:{plan.changes[0].hunks[0].id}"
    code, text, _ = call("--format", form, "--reject", first, "--rest", "accept")
    assert code == 0
    added = "".join(line for line in text.split("\n") if line.startswith("+"))
    assert there in added
    assert gone not in added
    assert SECRET not in text
    subprocess.run(["git", "apply", "--check"], input=text, text=True, cwd=memory, check=True)


def test_a_file_is_made_new_or_replaced_on_request_only(call: Call, tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    code, text, _ = call("--out", str(target))
    assert (code, text) == (0, f"written: {target}\n")
    kept = target.read_text()
    assert kept.startswith("# Review of plan")
    code, _, err = call("--out", str(target), "--format", "json")
    assert code == 4
    assert "there already" in err
    assert target.read_text() == kept
    assert call("--out", str(target), "--format", "json", "--replace")[0] == 0
    json.loads(target.read_text())


def test_the_folders_of_the_program_are_no_place_for_a_copy(call: Call, memory: Path) -> None:
    code, _, err = call("--out", str(memory / "review.md"))
    assert code == 4
    assert "memory or data folder" in err
    assert [path.name for path in memory.iterdir()] == ["MEMORY.md"]


def test_a_patch_of_a_folder_that_moved_is_refused(call: Call, memory: Path) -> None:
    (memory / "MEMORY.md").write_text("other\n")
    code, _, err = call("--format", "accepted")
    assert code == 4, err
