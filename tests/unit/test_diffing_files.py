from __future__ import annotations

import base64
import hashlib

import pytest

from ltmem_gui.domain.diffing.files import HAS_NUL, NOT_UTF8, decode_text, file_change


def test_no_change_is_none() -> None:
    assert file_change("a", None, None) is None
    assert file_change("a", b"x", b"x", old_mode=0o644, new_mode=0o644) is None


def test_a_modified_text_has_hunks_sizes_and_hashes() -> None:
    change = file_change("a", b"x\n", b"xy\n", old_mode=0o644, new_mode=0o600)
    assert change is not None
    assert (change.change, change.unit, change.content) == ("modified", "hunk", None)
    assert (change.old_size, change.new_size) == (2, 3)
    assert change.old_sha256 == hashlib.sha256(b"x\n").hexdigest()
    assert change.new_sha256 == hashlib.sha256(b"xy\n").hexdigest()
    assert (change.old_mode, change.new_mode) == (0o644, 0o600)
    assert len(change.hunks) == 1


def test_the_unit_of_a_thread_is_kept() -> None:
    change = file_change("raw_memories.md", None, b"x\n", unit="thread")
    assert change is not None
    assert (change.change, change.unit) == ("added", "thread")


@pytest.mark.parametrize(("data", "reason"), [(b"\xff\xfe", NOT_UTF8), (b"a\0b", HAS_NUL), (b"\xed\xa0\x80", NOT_UTF8)])
def test_what_is_no_text_travels_whole(data: bytes, reason: str) -> None:
    change = file_change("a.bin", b"old\n", data)
    assert change is not None
    assert (change.unit, change.reason, change.hunks) == ("whole", reason, ())
    assert base64.b64decode(change.content or "") == data
    back = file_change("a.bin", data, b"old\n", unit="thread")
    assert back is not None
    assert (back.unit, back.content) == ("whole", base64.b64encode(b"old\n").decode())
    gone = file_change("a.bin", data, None)
    assert gone is not None
    assert (gone.change, gone.unit, gone.content) == ("deleted", "whole", None)


def test_a_deletion_is_whole_and_shows_its_lines() -> None:
    change = file_change("a.md", b"x\ny\n", None)
    assert change is not None
    assert (change.change, change.unit, change.new_sha256, change.content) == ("deleted", "whole", None, None)
    assert change.hunks[0].old == ("x\n", "y\n")


def test_mode_only_and_empty_files_are_decided_whole() -> None:
    mode = file_change("a", b"x", b"x", old_mode=0o644, new_mode=0o755)
    assert mode is not None
    assert (mode.change, mode.unit, mode.content) == ("mode", "whole", None)
    empty = file_change("a", None, b"")
    assert empty is not None
    assert (empty.change, empty.unit, empty.content, empty.hunks) == ("added", "whole", "", ())
    asked = file_change("a", b"x\n", b"y\n", unit="whole")
    assert asked is not None
    assert (asked.unit, asked.content, len(asked.hunks)) == ("whole", base64.b64encode(b"y\n").decode(), 1)


def test_decode_text_never_replaces() -> None:
    assert decode_text("ä\u2028\r".encode()) == "ä\u2028\r"
    assert decode_text(b"\xef\xbb\xbfx") == "\ufeffx"
    assert decode_text(b"\xff") is None
