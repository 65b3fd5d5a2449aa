"""Apply a selection to the bytes of one file: base plus exactly the accepted hunks, byte for byte (invariant I3).

Lines end at 0x0A alone; CR belongs to its line. `whole` and `thread` changes are decided as one, under the hunk id
`*`; the sections of a `thread` change may also be named by their ids.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import InputError, WorkspaceMoved, WrongDigest
from ltmem_gui.domain.plan import FileChange, Hunk, Plan

WHOLE = "*"
DEFAULT_MODE = 0o644


def split_lines(data: bytes) -> list[bytes]:
    """Split at 0x0A, each line with its terminator; the last may lack one. No text, no lines."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def is_chosen(change: FileChange, selection: Selection) -> bool:
    """Tell whether the selection takes anything of this change."""
    return bool(_accepted(change, selection) or selection.edited.get(change.path))


def result_bytes(base: bytes | None, change: FileChange, selection: Selection) -> bytes | None:
    """Return what the file becomes: None when it is to be gone, `base` itself when nothing of the change was taken.

    Raises `WorkspaceMoved` when `base` is not what the plan was made from, `InputError` for a selection that does not
    fit the change, `WrongDigest` for a change that does not lead to the content it names.
    """
    if not is_chosen(change, selection):
        return base
    if (None if base is None else content_hash(base)) != change.old_sha256:
        raise WorkspaceMoved("the file is not the one the plan was made from", "make a new plan", change.path)
    accepted, edited = _taken(change, selection), selection.edited.get(change.path, {})
    all_ids = {hunk.id for hunk in change.hunks}
    if accepted is None or accepted == all_ids != set():
        result = _whole(base, change, all_ids)
        if (None if result is None else content_hash(result)) != change.new_sha256:
            raise WrongDigest("the change does not lead to the content it names", "make a new plan", change.path)
        return result
    return _with_hunks(base, change, accepted, edited)


def result_mode(base_mode: int | None, change: FileChange, selection: Selection) -> int:
    """Return the permission bits the file gets; an existing file keeps its own unless the change names others."""
    kept = DEFAULT_MODE if base_mode is None else base_mode
    if not is_chosen(change, selection) or change.new_mode is None or change.new_mode == change.old_mode:
        return kept
    return change.new_mode & 0o777


def apply_selection(base: Mapping[str, bytes], plan: Plan, selection: Selection) -> dict[str, bytes]:
    """Return the whole tree after the selection; paths that are deleted are absent."""
    tree = dict(base)
    for change in plan.changes:
        result = result_bytes(base.get(change.path), change, selection)
        if result is None:
            tree.pop(change.path, None)
        else:
            tree[change.path] = result
    return tree


def _accepted(change: FileChange, selection: Selection) -> tuple[str, ...]:
    return selection.accepted.get(change.path, ())


def _taken(change: FileChange, selection: Selection) -> set[str] | None:
    """Return the ids of the accepted hunks, None when the change is accepted as one."""
    accepted, edited = set(_accepted(change, selection)), set(selection.edited.get(change.path, {}))
    known = {hunk.id for hunk in change.hunks}
    if accepted == {WHOLE} and not edited and (change.unit != "hunk" or not known):
        return None
    unknown = (accepted | edited) - known
    if unknown:
        raise InputError(f"the change has no hunk {min(unknown)}", "decide on the hunks of this plan", change.path)
    if change.unit == "whole" and (edited or accepted != known):
        raise InputError("this file is decided as a whole", "accept or reject all of it", change.path)
    if accepted & edited:
        raise InputError("a hunk is accepted and edited at once", "decide once", change.path)
    return accepted


def _whole(base: bytes | None, change: FileChange, all_ids: set[str]) -> bytes | None:
    if change.change == "deleted":
        return None
    if change.content is not None:
        try:
            return base64.b64decode(change.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError("the content of the change is not base64", "make a new plan", change.path) from error
    if change.change == "mode":
        return base
    return _with_hunks(base, change, all_ids, {})


def _with_hunks(
    base: bytes | None, change: FileChange, accepted: set[str], edited: Mapping[str, tuple[str, ...]]
) -> bytes:
    lines = split_lines(base or b"")
    flat: list[bytes] = []
    position = 0
    for hunk in sorted(change.hunks, key=lambda h: (h.old_start, h.new_start)):
        old = _encoded(hunk.old)
        end = hunk.old_start + len(old)
        if hunk.old_start < position or lines[hunk.old_start : end] != old:
            raise WorkspaceMoved(f"hunk {hunk.id} does not fit the file", "make a new plan", change.path)
        flat.extend(lines[position : hunk.old_start])
        flat.extend(_replacement(hunk, old, accepted, edited))
        position = end
    flat.extend(lines[position:])
    return _joined(flat, b"\r\n" if b"\r\n" in (base or b"") else b"\n")


def _replacement(hunk: Hunk, old: list[bytes], wanted: set[str], edited: Mapping[str, tuple[str, ...]]) -> list[bytes]:
    if hunk.id in edited:
        return _encoded(edited[hunk.id])
    return _encoded(hunk.new) if hunk.id in wanted else old


def _joined(lines: list[bytes], terminator: bytes) -> bytes:
    # A line without an end stands before others only after an edit, or when the removal of the last one was rejected.
    kept = [line for line in lines if line]
    return b"".join([line if line.endswith(b"\n") else line + terminator for line in kept[:-1]] + kept[-1:])


def _encoded(lines: Iterable[str]) -> list[bytes]:
    return [line.encode("utf-8") for line in lines]
