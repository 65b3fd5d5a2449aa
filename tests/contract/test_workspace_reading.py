"""Reading a memory folder: never through a link, never through a device, and what was not read is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltmem_gui.domain.errors import InputError
from ltmem_gui.workspace import tree as walking
from ltmem_gui.workspace.folder import MemoryFolder
from ltmem_gui.workspace.reader import read
from tests.helpers.git_workspace import lay
from tests.helpers.guard import Guard


def test_files_are_read_with_content_and_mode(tmp_path: Path, guard: Guard) -> None:
    root = lay(tmp_path / "m", {"MEMORY.md": b"x\r\n", "a/b/c.sh": (b"#!", 0o750), "a/.git/config": b"no"})
    lay(root, {"phase2_workspace_diff.md": b"left", "deep/.git": b"file"})
    guard.protect(root)
    snapshot = MemoryFolder().read(root)
    assert {path: (f.data, f.mode) for path, f in snapshot.files.items()} == {
        "MEMORY.md": (b"x\r\n", 0o644),
        "a/b/c.sh": (b"#!", 0o750),
    }
    assert (snapshot.exists, snapshot.leftover, snapshot.baseline, snapshot.problems) == (True, True, None, ())
    mark = snapshot.mark()
    assert mark.fingerprint() == MemoryFolder().read(root).mark().fingerprint()
    guard.granted = True
    (root / "MEMORY.md").chmod(0o600)
    assert mark.fingerprint() != MemoryFolder().read(root).mark().fingerprint()


def test_a_missing_root_is_no_error(tmp_path: Path) -> None:
    snapshot = read(tmp_path / "no" / "such")
    assert (snapshot.exists, dict(snapshot.files), snapshot.root) == (False, {}, str(tmp_path / "no" / "such"))
    assert not (tmp_path / "no").exists()


def test_links_and_devices_are_named_and_never_followed(tmp_path: Path) -> None:
    outside = lay(tmp_path / "outside", {"secret.md": b"secret"})
    root = lay(tmp_path / "m", {"ok.md": b"ok"})
    (root / "file").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "dangling").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    (root / os.fsdecode(b"bad\xff.md")).write_bytes(b"x")
    (root / ".ltmem-0123").mkdir()
    snapshot = read(root)
    assert set(snapshot.files) == {"ok.md"}
    text = "\n".join(snapshot.problems)
    for name in ("file: a symlink", "folder: a symlink", "dangling: a symlink", "pipe: not a regular", "bad\\xff.md"):
        assert name in text
    assert ".ltmem-0123: left by an interrupted apply" in text
    assert len(snapshot.problems) == 6


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_root_that_is_no_folder_is_refused_with_path_and_remedy(tmp_path: Path, kind: str) -> None:
    target = lay(tmp_path / "target", {"x.md": b"x"})
    root = tmp_path / "root"
    if kind == "link":
        root.symlink_to(target)
    else:
        root.write_text("x")
    with pytest.raises(InputError) as caught:
        read(root)
    assert caught.value.where == str(root)
    assert caught.value.remedy
    if kind == "link":
        assert str(target) in caught.value.remedy
    with pytest.raises(InputError), walking.open_folder(root):
        pass


def test_a_root_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError) as caught:
        read(tmp_path / "file" / "m")
    assert caught.value.where == str(tmp_path / "file" / "m")


def test_a_folder_that_vanishes_while_it_is_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"), walking.open_folder(tmp_path / "gone"):
        pass


def test_unreadable_entries_are_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = lay(tmp_path / "m", {"a.md": b"a", "b.md": b"b"})

    def read_file(folder: int, name: str) -> tuple[bytes, int] | None:
        if name == "a.md":
            raise PermissionError(13, "Permission denied")
        return None  # as when a file became a pipe after it was listed

    monkeypatch.setattr(walking, "read_file", read_file)
    snapshot = read(root)
    assert snapshot.files == {}
    assert snapshot.problems == ("a.md: cannot be read: Permission denied", "b.md: not a regular file, not read")


def test_what_is_no_regular_file_has_no_content(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with walking.open_folder(tmp_path) as folder:
        assert walking.read_file(folder, "pipe") is None


def test_endless_depth_is_cut(tmp_path: Path) -> None:
    deep = tmp_path.joinpath("m", *["d"] * 70)
    lay(deep, {"x.md": b"x"})
    snapshot = read(tmp_path / "m")
    assert snapshot.files == {}
    assert "deeper than 64" in snapshot.problems[0]


def test_two_relative_spellings_are_one_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path / "m", {"x.md": b"x"})
    monkeypatch.chdir(tmp_path)
    assert read(Path("m")).root == read(tmp_path / "a" / ".." / "m").root == str(tmp_path / "m")
