"""Cited files of a project at a commit: read from real git objects, with nothing of the project run or written."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.cli.main import Surfaces
from ltmem_gui.cli.main import run as run_command
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.project_files import ProjectPlace, named_folders, project_paths, project_place
from ltmem_gui.pipeline.project_reading import read_project_file
from ltmem_gui.workspace import project
from ltmem_gui.workspace.baseline import read_baseline, read_head
from ltmem_gui.workspace.borrowing import borrowing
from ltmem_gui.workspace.project import GitProjects
from tests.helpers.bench import Bench
from tests.helpers.program import tree


def git(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    settings = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with a file in two versions, a link, a folder, and settings that would run a program."""
    top = tmp_path / "app"
    (top / "src").mkdir(parents=True)
    git(top, "init", "-q")
    (top / "src" / "a.py").write_bytes(b"one\r\ntwo\nthree\n")
    (top / "link").symlink_to("src/a.py")
    (top / ".gitattributes").write_text("*.py filter=bad -text\n")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")
    (top / "src" / "a.py").write_bytes(b"changed\n")
    git(top, "commit", "-q", "-am", "second")
    ran = tmp_path / "ran"
    git(top, "config", "filter.bad.smudge", f"touch {ran}")
    git(top, "config", "core.fsmonitor", f"touch {ran}")
    git(top, "config", "alias.cat-file", f"!touch {ran}")
    return top


def commit(repo: Path, name: str = "HEAD~1") -> str:
    return git(repo, "rev-parse", name)


def test_a_file_is_read_as_it_was_and_nothing_is_written_or_run(repo: Path, tmp_path: Path) -> None:
    before = tree(repo)
    files = GitProjects()
    assert files.read(repo, commit(repo), "src/a.py") == b"one\r\ntwo\nthree\n"
    assert files.read(repo, commit(repo)[:7], "src/a.py") == b"one\r\ntwo\nthree\n"
    assert files.read(repo / "src", commit(repo, "HEAD"), "src/a.py") == b"changed\n"
    assert files.read(repo / "src", commit(repo, "HEAD"), "a.py") == b"changed\n"
    assert tree(repo) == before
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/b.py", "no file src/b.py at commit"),
        ("src", "is a folder"),
        ("link", "is a link"),
        ("src/*.py", r"no file src/\*.py"),
        (":(top)src/a.py", "no file"),
    ],
)
def test_what_is_not_there_is_said_in_words(repo: Path, path: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        GitProjects().read(repo, commit(repo), path)


def test_a_missing_repository_or_commit_is_said_in_words(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no commit 0123abcd"):
        GitProjects().read(repo, "0123abcdef", "src/a.py")
    with pytest.raises(InputError, match="no commit"):
        GitProjects().read(repo, "ab" * 32, "src/a.py")
    with pytest.raises(InputError, match="no git repository"):
        GitProjects().read(tmp_path / "nowhere", commit(repo), "src/a.py")
    work = tmp_path / "linked"
    work.mkdir()
    (work / ".git").write_text("gitdir: elsewhere\n")
    with pytest.raises(InputError, match="lie elsewhere"):
        GitProjects().read(work, commit(repo), "src/a.py")
    (work / ".git").unlink()
    (work / ".git").mkdir()
    (work / ".git" / "objects").symlink_to(repo / ".git" / "objects")
    with pytest.raises(InputError, match="lie elsewhere"):
        GitProjects().read(work, commit(repo), "src/a.py")


@pytest.mark.parametrize("how", ["alternates", "http-alternates", "pack", "loose", "info"])
def test_a_project_never_lends_the_objects_of_another_one(repo: Path, tmp_path: Path, how: str) -> None:
    private = tmp_path / "private"
    private.mkdir()
    git(private, "init", "-q")
    (private / "secret.txt").write_text("not of this project\n")
    git(private, "add", ".")
    git(private, "commit", "-q", "-m", "x")
    stolen, lent = commit(private, "HEAD"), private / ".git" / "objects"
    objects = repo / ".git" / "objects"
    if how.endswith("alternates"):
        (objects / "info" / how).write_text(f"{lent}\n")
    elif how == "info":
        (objects / "info").rmdir()
        (tmp_path / "lists").mkdir()
        (tmp_path / "lists" / "alternates").write_text(f"{lent}\n")
        (objects / "info").symlink_to(tmp_path / "lists")
    elif how == "pack":
        git(private, "repack", "-adq")
        (objects / "pack").rmdir()
        (objects / "pack").symlink_to(lent / "pack")
    else:
        for folder in lent.iterdir():
            if len(folder.name) == 2 and not (objects / folder.name).exists():
                (objects / folder.name).symlink_to(folder)
    with pytest.raises(InputError, match=r"from another folder|through a link"):
        GitProjects().read(repo, stolen, "secret.txt")
    with pytest.raises(InputError, match=r"from another folder|through a link"), borrowing(repo, stolen):
        pass
    baseline = read_baseline(repo)
    assert baseline.commit is None
    assert "made anew" in baseline.problem
    assert read_head(repo) is None


def test_objects_that_cannot_be_looked_through_are_not_lent(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shut(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ltmem_gui.workspace.lending.os.scandir", shut)
    with pytest.raises(InputError, match="cannot be looked through"):
        GitProjects().read(repo, commit(repo), "src/a.py")


def test_what_is_too_large_or_damaged_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "LARGEST", 3)
    with pytest.raises(InputError, match="larger than"):
        GitProjects().read(repo, commit(repo), "src/a.py")
    blob = git(repo, "rev-parse", "HEAD~1:src/a.py")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(InputError, match="cannot be read"):
        GitProjects().read(repo, commit(repo), "src/a.py")


def test_places_are_read_from_cited_paths() -> None:
    assert project_place("src/a.py@0123abc") == ProjectPlace("src/a.py", "0123abc")
    assert project_place("a@b/c.py@0123abcdef") == ProjectPlace("a@b/c.py", "0123abcdef")
    for path in ("a.py", "a.py@main", "a.py@012", "../a.py@0123abc", "/a.py@0123abc", "@0123abc"):
        assert project_place(path) is None
    entries = [CitationEntry(path, 1, 1) for path in ("a@0123abc", "a@0123abc", "own@0123abc", "b.md")]
    assert project_paths(entries, ("own@0123abc",)) == ("a@0123abc",)
    heads = {
        "rollout_summaries/b.md": b"thread_id: t\ncwd: /b\n",
        "rollout_summaries/a.md": b"cwd: /b\ncwd:  \n",
        "x": b"",
    }
    assert named_folders(heads) == ("/b",)


def test_folders_are_tried_in_turn(repo: Path, tmp_path: Path) -> None:
    cited = f"src/a.py@{commit(repo)}"
    assert read_project_file(GitProjects(), (tmp_path, repo), cited) == b"one\r\ntwo\nthree\n"
    words = read_project_file(GitProjects(), (tmp_path, repo), "src/a.py@0123abcdef")
    assert words == f"{tmp_path}: there is no git repository; {repo}: the repository has no commit 0123abcd"
    assert read_project_file(GitProjects(), (repo,), "a.py") == "the path names no commit"


def test_the_check_looks_into_projects_that_are_named(repo: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.memory.mkdir(exist_ok=True)
    at = commit(repo)
    lines = [f"src/a.py@{at}:{span} |note=[{span}]" for span in ("2-3", "3-4")]
    lines.append("src/a.py@0123abcdef:1-1 |note=[gone]")
    block = "\n".join(["<citation_entries>", *lines, "</citation_entries>", ""])
    (bench.memory / "MEMORY.md").write_text(block)

    def check(*more: str) -> tuple[int, list[dict[str, Any]]]:
        out = io.StringIO()
        argv = ["cite", "check", "--memory-root", str(bench.memory), "--json", *more]
        surfaces = Surfaces(compose=lambda home: bench, launch_window=lambda options: 0)
        code = run_command(argv, surfaces, io.StringIO(), out, out)
        return code, json.loads(out.getvalue())["citations"]

    code, found = check()
    assert code == 0
    assert {one["status"] for one in found} == {"not checked"}
    assert "folder was not named" in found[0]["detail"]
    code, found = check("--project", str(repo))
    assert code == 1
    assert [one["status"] for one in found] == ["exact", "out of range", "missing file"]
    assert "no commit 0123abcd" in found[2]["detail"]
