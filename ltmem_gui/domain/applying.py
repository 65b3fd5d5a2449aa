"""Apply a selection to the bytes of one file: base plus exactly the accepted hunks, byte for byte (invariant I3).

Lines end at 0x0A alone; CR belongs to its line. `whole` and `thread` changes are decided as one, under the hunk id
`*` (`thread` changes also by all their hunk ids).
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

    Raises `WorkspaceMoved` when `base` is not what the plan was made from, `InputError` for a selection that names a
    hunk the change does not have or a change whose parts contradict each other.
    """
    if not is_chosen(change, selection):
        return base
    if (None if base is None else content_hash(base)) != change.old_sha256:
        raise WorkspaceMoved("the file is not the one the plan was made from", "make a new plan", change.path)
    accepted, edited = _accepted(change, selection), selection.edited.get(change.path, {})
    _refuse_unknown(change, accepted, edited)
    if change.unit != "hunk":
        result = _whole(base, change)
    else:
        result = _with_hunks(base, change, accepted, edited)
    taken_as_planned = not edited and (change.unit != "hunk" or set(accepted) == {h.id for h in change.hunks})
    if taken_as_planned and (None if result is None else content_hash(result)) != change.new_sha256:
        raise WrongDigest("the change does not lead to the content it names", "make a new plan", change.path)
    return result


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


def _refuse_unknown(change: FileChange, accepted: tuple[str, ...], edited: Mapping[str, object]) -> None:
    known = {hunk.id for hunk in change.hunks} | ({WHOLE} if change.unit != "hunk" or not change.hunks else set())
    unknown = (set(accepted) | set(edited)) - known
    if unknown:
        raise InputError(
            f"the change has no hunk {sorted(unknown)[0]}", "decide on the hunks of this plan", change.path
        )
    if edited and change.unit != "hunk":
        raise InputError("this file is decided as a whole and cannot be edited", "accept or reject it", change.path)
    if set(accepted) & set(edited):
        raise InputError("a hunk is accepted and edited at once", "decide once", change.path)


def _whole(base: bytes | None, change: FileChange) -> bytes | None:
    if change.change == "deleted":
        return None
    if change.content is not None:
        try:
            return base64.b64decode(change.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError("the content of the change is not base64", "make a new plan", change.path) from error
    if change.change == "mode":
        return base
    return _with_hunks(base, change, tuple(hunk.id for hunk in change.hunks), {})


def _with_hunks(
    base: bytes | None, change: FileChange, accepted: Iterable[str], edited: Mapping[str, tuple[str, ...]]
) -> bytes | None:
    lines = split_lines(base or b"")
    wanted = set(accepted)
    parts: list[list[bytes]] = []
    position = 0
    for hunk in sorted(change.hunks, key=lambda h: (h.old_start, h.new_start)):
        old = _encoded(hunk.old)
        end = hunk.old_start + len(old)
        if hunk.old_start < position or lines[hunk.old_start : end] != old:
            raise WorkspaceMoved(f"hunk {hunk.id} does not fit the file", "make a new plan", change.path)
        parts.append(lines[position : hunk.old_start])
        parts.append(_replacement(hunk, old, wanted, edited))
        position = end
    parts.append(lines[position:])
    result = _joined(parts, b"\r\n" if b"\r\n" in (base or b"") else b"\n")
    all_taken = wanted | set(edited) == {hunk.id for hunk in change.hunks}
    if not result and change.change == "deleted" and all_taken:
        return None
    return result


def _replacement(hunk: Hunk, old: list[bytes], wanted: set[str], edited: Mapping[str, tuple[str, ...]]) -> list[bytes]:
    if hunk.id in edited:
        return _encoded(edited[hunk.id])
    return _encoded(hunk.new) if hunk.id in wanted else old


def _joined(parts: list[list[bytes]], terminator: bytes) -> bytes:
    flat = [line for part in parts for line in part if line]
    # Only an edit can leave a line without an end in the middle of the file.
    ended = [line if line.endswith(b"\n") else line + terminator for line in flat[:-1]]
    return b"".join(ended + flat[-1:])


def _encoded(lines: Iterable[str]) -> list[bytes]:
    return [line.encode("utf-8") for line in lines]
