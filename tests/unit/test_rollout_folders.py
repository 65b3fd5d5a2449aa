"""One folder, several spellings: told by name alone."""

from __future__ import annotations

import pytest

from ltmem_gui.domain.folders import folder_key, is_within


@pytest.mark.parametrize("spelling", ["C:\\Work\\App", "c:\\work\\app\\", "\\\\?\\C:\\Work\\App", "C:/Work/App/."])
def test_spellings_of_a_windows_folder_are_one(spelling: str):
    assert folder_key(spelling) == "c:/work/app"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/home/dev/app/", "/home/dev/app"),
        ("//home//dev/./app", "/home/dev/app"),
        ("/home/dev/x/../app", "/home/dev/app"),
        ("/Home/Dev", "/Home/Dev"),
        ("  ", ""),
        ("\\\\server\\share\\a", "//server/share/a"),
        ("\\\\?\\UNC\\Server\\share\\a", "//server/share/a"),
        ("/", "/"),
    ],
)
def test_keys(path: str, key: str):
    assert folder_key(path) == key


def test_a_worktree_is_its_own_folder():
    assert folder_key("/home/dev/app") != folder_key("/home/dev/app-wt")


@pytest.mark.parametrize(
    ("path", "root", "inside"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b/", True),
        ("/a/bc", "/a/b", False),
        ("/a", "/", True),
        ("", "/", False),
        ("/a", "", False),
        ("C:\\Mem\\x", "c:/mem", True),
    ],
)
def test_within(path: str, root: str, inside: bool):
    assert is_within(path, root) is inside
