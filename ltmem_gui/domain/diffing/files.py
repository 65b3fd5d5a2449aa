"""What becomes of one file: hunks where it is text, the whole content where it is not (D27)."""

from __future__ import annotations

import base64
from typing import Literal

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.diffing.hunks import make_hunks
from ltmem_gui.domain.diffing.sections import section_start
from ltmem_gui.domain.plan import FileChange

Unit = Literal["hunk", "thread", "whole"]
Kind = Literal["added", "modified", "deleted", "mode"]

NOT_UTF8 = "not UTF-8 text: shown by size and hash, decided whole"
HAS_NUL = "holds NUL bytes: shown by size and hash, decided whole"
DELETED = "the file would be deleted"
EMPTY = "an empty file"
MODE_ONLY = "only the permission bits change"


def decode_text(data: bytes) -> str | None:
    """Return the text of a file, or None when it is no UTF-8 text; nothing is replaced or dropped."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def file_change(
    path: str,
    old: bytes | None,
    new: bytes | None,
    *,
    old_mode: int | None = None,
    new_mode: int | None = None,
    unit: Unit = "hunk",
) -> FileChange | None:
    """Return the change from `old` to `new`, or None when there is none.

    None as content stands for a file that is not there; sizes in bytes, modes are permission bits. `unit` holds for
    text that is added or modified; `MEMORY.md` and `raw_memories.md` are cut at their sections, so that each can be
    decided alone; deletions, mode changes, empty new files and files that are not text become
    `whole`. A deletion of text keeps its hunks for display; a `whole` change carries the new bytes as base64.
    """
    kind = _kind(old, new, old_mode, new_mode)
    if kind is None:
        return None
    common = FileChange(
        path=path,
        change=kind,
        unit="whole",
        old_sha256=None if old is None else content_hash(old),
        new_sha256=None if new is None else content_hash(new),
        old_mode=old_mode,
        new_mode=new_mode,
        old_size=len(old or b""),
        new_size=len(new or b""),
    )
    if kind == "mode":
        return common.model_copy(update={"reason": MODE_ONLY})
    content = None if new is None else base64.b64encode(new).decode("ascii")
    old_text, new_text = decode_text(old or b""), decode_text(new or b"")
    if old_text is None or new_text is None:
        reason = HAS_NUL if b"\0" in (old or b"") or b"\0" in (new or b"") else NOT_UTF8
        return common.model_copy(update={"content": content, "reason": reason})
    hunks = make_hunks(
        path, None if old is None else old_text, None if new is None else new_text, cut=section_start(path)
    )
    if kind == "deleted":
        return common.model_copy(update={"hunks": hunks, "reason": DELETED})
    if unit == "whole" or (unit == "hunk" and not hunks):
        return common.model_copy(update={"content": content, "hunks": hunks, "reason": "" if hunks else EMPTY})
    return common.model_copy(update={"unit": unit, "hunks": hunks})


def _kind(old: bytes | None, new: bytes | None, old_mode: int | None, new_mode: int | None) -> Kind | None:
    if old is None:
        return None if new is None else "added"
    if new is None:
        return "deleted"
    if old != new:
        return "modified"
    return None if old_mode == new_mode else "mode"
