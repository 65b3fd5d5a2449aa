"""Patches against the real git: what we write applies, what git writes is read back byte for byte."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.export import patch_of, patch_of_decision, patch_of_hunks
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.unified import parse_patch, write_patch
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark
from ltmem_gui.domain.review import Review
from ltmem_gui.domain.settings import Settings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

ENV = {
    "PATH": os.environ.get("PATH", ""),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "LC_ALL": "C",
}


def git(folder: Path, *args: str, data: bytes = b"", check: bool = True) -> bytes:
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *args], cwd=folder, input=data, env=ENV, capture_output=True, check=False
    )
    assert not check or done.returncode in (0, 1), done.stderr.decode()
    if check and args[0] == "apply":
        assert done.returncode == 0, done.stderr.decode() + data.decode("utf-8", "replace")
    return done.stdout


def applied(folder: Path, path: str, old: bytes | None, new: bytes | None) -> bytes | None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    if old is not None:
        target.write_bytes(old)
    git(folder, "apply", "--whitespace=nowarn", "-", data=patch_of(path, old, new))
    return target.read_bytes() if target.exists() else None


LINE = ["a\n", "b\n", "-- x\n", "++ y\n", "@@ -1 +1 @@\n", "diff --git a/x b/x\n", "c\r\n", "\n", "ä\u2028z\n"]


def random_text(chance: random.Random) -> bytes:
    text = "".join(chance.choice(LINE) for _ in range(chance.randrange(24)))
    return (text if chance.random() < 0.6 else text.removesuffix("\n")).encode()


def test_patches_of_random_texts_apply(tmp_path: Path) -> None:
    chance = random.Random(11)
    for number in range(25):
        old, new = random_text(chance), random_text(chance)
        if old != new:
            assert applied(tmp_path, f"f{number}.md", old, new) == new


@pytest.mark.parametrize(
    "name", ["plain.md", "na me.md", 'qu"ote.md', "tab\tin.md", "ä ö.md", "back\\slash.md", "a/b c/d.md"]
)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"x\n", b"y"),
        (None, b"new\n"),
        (b"gone", None),
        (None, b""),
        (b"x\n", b""),
        (b"a\0b", b"\xff\xfe" * 90),
        (None, b"\0"),
        (b"\0gone", None),
    ],
)
def test_every_kind_of_change_and_name_applies(tmp_path: Path, name: str, old: bytes | None, new: bytes | None) -> None:
    assert applied(tmp_path, name, old, new) == new


def test_a_mode_change_applies(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_bytes(b"x\n")
    (tmp_path / "x.sh").chmod(0o644)
    git(tmp_path, "init", "-q")
    data = patch_of("x.sh", b"x\n", b"x\n", old_mode=0o644, new_mode=0o755)
    git(tmp_path, "apply", data=data)
    assert (tmp_path / "x.sh").stat().st_mode & 0o100
    assert patch_of("x.sh", b"x\n", b"x\n", old_mode=0o644, new_mode=0o600) == b""


def test_what_git_writes_is_read_back_byte_for_byte(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    chance = random.Random(4)
    names = [f"f{n}.md" for n in range(12)] + ["na me.md", 'qu"ote.md', "ä.md"]
    for name in names:
        (tmp_path / name).write_bytes(random_text(chance) + b"same\n" * 12)
    (tmp_path / "bin").write_bytes(b"\0" * 40)
    (tmp_path / "odd").write_bytes(b"\xff not utf-8 \xe9\n")
    (tmp_path / "mode").write_bytes(b"m\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "base")
    for name in names[1:]:
        (tmp_path / name).write_bytes(random_text(chance) + b"same\n" * 12)
    (tmp_path / names[0]).rename(tmp_path / "moved to.md")
    (tmp_path / "bin").write_bytes(b"\0" * 41)
    (tmp_path / "odd").write_bytes(b"\xfe not utf-8 \xe8")
    (tmp_path / "mode").chmod(0o755)
    (tmp_path / "new.md").write_bytes(b"n\n")
    git(tmp_path, "add", "-A")
    for extra in ([], ["--binary"], ["-U0"], ["-M10%"], ["--no-prefix", "-U1"]):
        patch = git(tmp_path, "diff", "--cached", *extra)
        files = parse_patch(patch)
        assert write_patch(files) == patch
    stat = git(tmp_path, "diff", "--cached", "--numstat", "-M10%").decode().split("\n")
    assert len(parse_patch(git(tmp_path, "diff", "--cached", "-M10%"))) == len(stat) - 1
    by_path = {file.path: file for file in parse_patch(git(tmp_path, "diff", "--cached", "-M10%"))}
    assert (by_path["moved to.md"].kind, by_path["moved to.md"].old_path) == ("renamed", names[0])
    assert (by_path["mode"].kind, by_path["mode"].new_mode) == ("mode", 0o100755)
    assert by_path["bin"].binary
    assert {'qu"ote.md', "na me.md", "ä.md"} <= set(by_path)


def test_accepted_and_rejected_parts_of_a_review_apply(tmp_path: Path) -> None:
    base = {"MEMORY.md": b"".join(b"line %d\n" % n for n in range(40)) + b"end", "gone.md": b"old\n"}
    new = base["MEMORY.md"].replace(b"line 3\n", b"three\n").replace(b"line 30\n", b"") + b"\nmore"
    changes = (
        file_change("MEMORY.md", base["MEMORY.md"], new),
        file_change("gone.md", base["gone.md"], None),
        file_change("raw.bin", None, b"\0\1"),
    )
    plan = Plan(
        kind="apply",
        operation="consolidate",
        id="p",
        created_at=0,
        state=PlanState.APPLYABLE,
        home="/h",
        provider=ProviderMark(name="builtin", label="b"),
        settings=Settings(),
        changes=tuple(change for change in changes if change),
    ).sealed()
    review = Review(plan)
    first, second, third, gone, raw = (unit.key for unit in review.units)
    review = review.decide([first, gone], Decision.ACCEPT).decide([third, raw], Decision.REJECT)
    review = review.edit(second, ("line thirty\n",))
    outcome: dict[Decision, bytes] = {}
    for decision in (Decision.ACCEPT, Decision.REJECT):
        for path, data in base.items():
            (tmp_path / path).write_bytes(data)
        git(tmp_path, "apply", "--check", data=patch_of_decision(review, base, decision))
        git(tmp_path, "apply", data=patch_of_decision(review, base, decision))
        outcome[decision] = (tmp_path / "MEMORY.md").read_bytes()
    expected = base["MEMORY.md"].replace(b"line 3\n", b"three\n").replace(b"line 30\n", b"line thirty\n")
    assert outcome[Decision.ACCEPT] == expected
    assert outcome[Decision.REJECT] == base["MEMORY.md"] + b"\nmore"
    assert (tmp_path / "raw.bin").read_bytes() == b"\0\1"


def test_one_hunk_is_a_patch_of_its_own(tmp_path: Path) -> None:
    old, new = b"1\n2\n3\n4\n5\n6\n7\n8\n9", b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n"
    change = file_change("n.md", old, new)
    assert change is not None
    (tmp_path / "n.md").write_bytes(old)
    for hunk in change.hunks:
        patch = patch_of_hunks(change, split_lines(old.decode()), [hunk])
        git(tmp_path, "apply", "--check", data=patch.encode())
    bare = patch_of_hunks(change, None, change.hunks[:1])
    git(tmp_path, "apply", "--unidiff-zero", data=bare.encode())
    assert (tmp_path / "n.md").read_bytes() == b"1\n2\n3\n4\nfive\n6\n7\n8\n9"


def test_neighbouring_hunks_added_and_deleted_files_are_patches_that_apply(tmp_path: Path) -> None:
    old, new = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n", b"1\ntwo\n3\n4\nfive\n6\n7\n8\nnine\nten"
    change = file_change("n.md", old, new)
    assert change is not None
    (tmp_path / "n.md").write_bytes(old)
    git(tmp_path, "apply", data=patch_of_hunks(change, split_lines(old.decode()), change.hunks).encode())
    assert (tmp_path / "n.md").read_bytes() == new
    (tmp_path / "n.md").write_bytes(old)
    git(tmp_path, "apply", data=patch_of_hunks(change, split_lines(old.decode()), change.hunks[1:2]).encode())
    assert (tmp_path / "n.md").read_bytes() == old.replace(b"5", b"five")
    added, gone = file_change("added.md", None, b"x\ny"), file_change("n.md", old, None)
    assert added is not None
    assert gone is not None
    (tmp_path / "n.md").write_bytes(old)
    git(tmp_path, "apply", data=patch_of_hunks(added, (), added.hunks).encode())
    git(tmp_path, "apply", data=patch_of_hunks(gone, split_lines(old.decode()), gone.hunks).encode())
    assert (tmp_path / "added.md").read_bytes() == b"x\ny"
    assert not (tmp_path / "n.md").exists()
