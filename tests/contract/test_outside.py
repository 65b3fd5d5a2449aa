"""Acts outside the named folders on a real disk: what is started, what is written, what is refused."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.domain.errors import GrantReused, InputError, RefusedError, UsageError
from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.outside import StartProgram
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.outside import OutsideActs
from ltmem_gui.workspace import outside
from ltmem_gui.workspace.disk import write_new
from ltmem_gui.workspace.outside import Outside
from tests.helpers.waiting import wait_for

EDITOR = 'import sys; open(sys.argv[1], "w").write("\\n".join(sys.argv[2:]))'


@pytest.fixture
def adapters() -> Iterator[Composition]:
    made = compose(None)
    yield made
    made.close()


@pytest.fixture
def acts(adapters: Composition) -> OutsideActs:
    return Operations(adapters).outside


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "memory"
    (top / "sub").mkdir(parents=True)
    (top / "MEMORY.md").write_text("a\n")
    (top / "sub" / "a b;c.md").write_text("a\n")
    (top / "link.md").symlink_to(top / "MEMORY.md")
    (top / "out").symlink_to(tmp_path)
    return top


def done(work: Any) -> Any:
    return asyncio.run(work)


def test_an_editor_is_started_once_with_the_file_as_one_argument(acts: OutsideActs, root: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "editor.py"
    program.write_text(EDITOR)
    template = f"'{sys.executable}' '{program}' '{said}' {{file}} +{{line}}"
    act = done(acts.plan_editor(Place(str(root), "sub/a b;c.md", 12), template))
    assert act.argv[0] == sys.executable
    assert act.argv[-2:] == (str(root / "sub" / "a b;c.md"), "+12")
    assert not said.exists()
    grant = acts.approve(act)
    done(acts.start(grant))
    wait_for(lambda: said.exists() and said.read_text().endswith("+12"), "the editor's note")
    assert said.read_text().split("\n") == [str(root / "sub" / "a b;c.md"), "+12"]
    with pytest.raises(GrantReused):
        done(acts.start(grant))


def test_without_an_editor_the_reason_and_the_remedy_are_told(acts: OutsideActs, root: Path) -> None:
    with pytest.raises(UsageError, match="no editor is set") as caught:
        done(acts.plan_editor(Place(str(root), "MEMORY.md"), ""))
    assert "--set" in caught.value.remedy


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("link.md", RefusedError, "symlink"),
        ("out/memory/MEMORY.md", RefusedError, "symlink"),
        ("sub", RefusedError, "not a regular file"),
        ("gone.md", InputError, "cannot be found"),
        ("MEMORY.md/x", RefusedError, "not a regular file"),
        ("../memory/MEMORY.md", RefusedError, "leaves its folder"),
    ],
)
def test_what_is_no_file_inside_its_folder_is_not_opened(
    acts: OutsideActs, root: Path, path: str, error: type[Exception], words: str
) -> None:
    for plan in (acts.plan_editor(Place(str(root), path), "git {file} {line}"),):
        with pytest.raises(error, match=words):
            done(plan)
    with pytest.raises(error, match=words):
        done(acts.plan_file_manager(Place(str(root), path)))


def test_a_file_that_became_a_link_after_the_yes_is_not_opened(acts: OutsideActs, root: Path) -> None:
    act = done(acts.plan_editor(Place(str(root), "MEMORY.md"), "git {file} {line}"))
    grant = acts.approve(act)
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to("/etc/passwd")
    with pytest.raises(RefusedError, match="symlink"):
        done(acts.start(grant))


def test_a_program_is_found_on_the_path_and_never_inside_the_folder(acts: OutsideActs, root: Path) -> None:
    program = root / "edit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (root.parent / "way").symlink_to(program)
    for name in (program, root.parent / "way"):
        with pytest.raises(RefusedError, match="never started"):
            done(acts.plan_editor(Place(str(root), "MEMORY.md"), f"{name} {{file}} {{line}}"))
    for name in ("no-such-editor", "./edit"):
        with pytest.raises(InputError, match="was not found"):
            done(acts.plan_editor(Place(str(root), "MEMORY.md"), f"{name} {{file}} {{line}}"))


def test_a_program_that_cannot_be_started_is_told(acts: OutsideActs, root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    act = done(acts.plan_editor(Place(str(root), "MEMORY.md"), f"{broken} {{file}} {{line}}"))
    with pytest.raises(InputError, match="cannot be started"):
        done(acts.start(acts.approve(act)))


@contextmanager
def anything(argv: tuple[str, ...]) -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    ("platform", "command"),
    [
        ("linux", ("xdg-open", "/m/sub")),
        ("darwin", ("open", "-R", "/m/sub/x.md")),
        ("win32", ("explorer", "/select,", "/m/sub/x.md")),
    ],
)
def test_each_system_has_its_file_manager(platform: str, command: tuple[str, ...]) -> None:
    assert Outside(anything, platform=platform).manager_command("/m/sub/x.md") == command


def test_a_batch_file_would_need_a_shell(tmp_path: Path) -> None:
    batch = tmp_path / "code.cmd"
    batch.write_text("")
    batch.chmod(0o755)
    with pytest.raises(RefusedError, match="shell"):
        Outside(anything, platform="win32").program(str(batch), "/m")


def test_the_file_manager_gets_the_folder(
    adapters: Composition, acts: OutsideActs, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "xdg-open"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    monkeypatch.setattr(adapters.outside, "_platform", "linux")
    act = done(acts.plan_file_manager(Place(str(root), "sub/a b;c.md")))
    assert act == StartProgram((str(tool), str(root / "sub")), "file manager", Place(str(root), "sub/a b;c.md"))


# copies


def test_a_copy_is_written_whole_and_only_where_nothing_was(acts: OutsideActs, tmp_path: Path) -> None:
    target = tmp_path / "review.md"
    act = done(acts.plan_copy(target, b"text\n", "the review", roots=(tmp_path / "memory",), redactions=2))
    assert (act.path, act.size, act.replaces, act.redactions) == (str(target), 5, None, 2)
    assert not target.exists()
    with pytest.raises(RefusedError, match="not what was confirmed"):
        done(acts.write(acts.approve(act), b"other\n"))
    grant = acts.approve(act)
    done(acts.write(grant, b"text\n"))
    assert target.read_bytes() == b"text\n"
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(RefusedError):
        done(acts.write(grant, b"text\n"))
    assert [path.name for path in tmp_path.iterdir()] == ["review.md"]


def test_a_file_that_is_there_is_replaced_only_with_its_own_yes(acts: OutsideActs, tmp_path: Path) -> None:
    target = tmp_path / "review.md"
    fresh = done(acts.plan_copy(target, b"new\n", "the review"))
    target.write_bytes(b"older text\n")
    target.chmod(0o640)
    with pytest.raises(RefusedError, match="changed since"):
        done(acts.write(acts.approve(fresh), b"new\n"))
    again = done(acts.plan_copy(target, b"new\n", "the review"))
    assert again.replaces.size == 11
    done(acts.write(acts.approve(again), b"new\n"))
    assert target.read_bytes() == b"new\n"
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["review.md"]


@pytest.mark.parametrize("how", ["written", "written with its old time", "another file"])
def test_a_file_that_changed_but_for_its_size_is_not_replaced(acts: OutsideActs, tmp_path: Path, how: str) -> None:
    target = tmp_path / "review.md"
    target.write_bytes(b"older text\n")
    state = target.stat()
    act = done(acts.plan_copy(target, b"new\n", "the review"))
    if how == "another file":
        (tmp_path / "other").write_bytes(b"newer work\n")
        (tmp_path / "other").replace(target)
    else:
        target.write_bytes(b"newer work\n")
    if how != "written":
        os.utime(target, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(RefusedError, match="changed since"):
        done(acts.write(acts.approve(act), b"new\n"))
    assert target.read_bytes() == b"newer work\n"
    assert [path.name for path in tmp_path.iterdir()] == ["review.md"]


def test_a_file_that_changes_while_the_copy_is_written_stays(
    acts: OutsideActs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "review.md"
    target.write_bytes(b"older text\n")
    act = done(acts.plan_copy(target, b"new\n", "the review"))

    def slow(path: Path, data: bytes, mode: int) -> None:
        write_new(path, data, mode)
        target.write_bytes(b"newer work\n")

    monkeypatch.setattr(outside, "write_new", slow)
    with pytest.raises(RefusedError, match="changed since"):
        done(acts.write(acts.approve(act), b"new\n"))
    assert target.read_bytes() == b"newer work\n"
    assert [path.name for path in tmp_path.iterdir()] == ["review.md"]


@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_leaves_nothing_and_takes_nothing(
    acts: OutsideActs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    target = tmp_path / "review.md"
    if there:
        target.write_bytes(b"older text\n")
    act = done(acts.plan_copy(target, b"new\n", "the review"))

    def full(path: Path, data: bytes, mode: int) -> None:
        path.write_bytes(data[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(outside, "write_new", full)
    with pytest.raises(InputError, match="No space left"):
        done(acts.write(acts.approve(act), b"new\n"))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"older text\n"] * there


def test_only_what_was_made_here_is_removed(acts: OutsideActs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "review.md"
    target.write_bytes(b"older text\n")
    foreign = tmp_path / ".ltmem-00.new"
    foreign.write_bytes(b"of somebody else\n")
    monkeypatch.setattr(outside.secrets, "token_hex", lambda _: "00")
    act = done(acts.plan_copy(target, b"new\n", "the review"))
    with pytest.raises(InputError, match="File exists"):
        done(acts.write(acts.approve(act), b"new\n"))
    assert foreign.read_bytes() == b"of somebody else\n"
    assert target.read_bytes() == b"older text\n"


def test_a_copy_never_goes_into_a_kept_folder(acts: OutsideActs, root: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(root / "sub")
    for target in (root / "sub" / "copy.md", tmp_path / "way" / "copy.md"):
        with pytest.raises(RefusedError, match="memory or data folder"):
            done(acts.plan_copy(target, b"x", "the review", roots=(tmp_path / "home", root)))


def test_links_and_missing_folders_are_no_targets(acts: OutsideActs, root: Path, tmp_path: Path) -> None:
    for target, error in (
        (root / "link.md", RefusedError),
        (root / "gone" / "x.md", InputError),
        (root / "sub", RefusedError),
    ):
        with pytest.raises(error):
            done(acts.plan_copy(target, b"x", "the review"))
    through = done(acts.plan_copy(root / "out" / "x.md", b"x", "the review"))
    assert through.path == str(tmp_path / "x.md")  # the person named the link: where it leads is shown
    locked = tmp_path / "locked"
    locked.mkdir()
    act = done(acts.plan_copy(locked / "x.md", b"x", "the review"))
    locked.rmdir()
    with pytest.raises(InputError):
        done(acts.write(acts.approve(act), b"x"))
