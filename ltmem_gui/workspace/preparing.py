"""From a granted plan and the folder as it is under the lock to a journaled operation. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ltmem_gui.domain.applying import is_chosen, result_bytes, result_mode
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import Approval, Selection
from ltmem_gui.domain.effects import DeleteFile, EnsureLayout, ResetBaseline, WriteFile
from ltmem_gui.domain.errors import InputError, RefusedError, WorkspaceMoved
from ltmem_gui.domain.naming import ROLLOUT_SUMMARIES_SUBDIR, check_path, fold
from ltmem_gui.domain.plan import FileChange, Plan, WorkspaceMark
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.workspace.journal import Entry, Operation
from ltmem_gui.workspace.transaction import CLEAR

_NAMED = 10


@dataclass(frozen=True)
class Prepared:
    """An operation with its contents by entry number, and the tree it leads to."""

    operation: Operation
    pre: Mapping[int, bytes]
    new: Mapping[int, bytes]
    after: tuple[WorkspaceFile, ...]


def require_unmoved(plan: Plan, snapshot: WorkspaceSnapshot) -> None:
    """Raise `WorkspaceMoved` naming every file, mode or baseline that is not what the plan was made from."""
    if plan.base is None:
        raise RefusedError("the plan names no state of the folder", "make a new plan", plan.memory_root)
    moved = _differences(plan.base, snapshot.mark())
    if moved:
        more = f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
        what = "the folder is not the one the plan was made from: " + ", ".join(moved[:_NAMED]) + more
        raise WorkspaceMoved(what, "make a new plan", plan.memory_root)


def require_writable(snapshot: WorkspaceSnapshot) -> None:
    """Raise `InputError` when the folder is marked read-only, also for a user whom the system would let write."""
    root = Path(snapshot.root)
    while not root.exists():
        root = root.parent
    if not root.stat().st_mode & 0o222 or not os.access(root, os.W_OK):
        raise InputError("the folder is read-only", f"allow writing: chmod u+w {root}", str(root))


def prepare(
    plan: Plan, selection: Selection, approval: Approval, snapshot: WorkspaceSnapshot, started_at: int
) -> Prepared:
    """Work out what each file becomes.

    Raises `RefusedError` for a path outside the folder, one the plan's effects do not name, or one that would be
    another's file on some disks; what `result_bytes` raises for a selection that does not fit.
    """
    named = {effect.path for effect in plan.effects_of(WriteFile, DeleteFile)}
    entries: list[Entry] = []
    pre: dict[int, bytes] = {}
    new: dict[int, bytes] = {}
    after = dict(snapshot.files)
    for change in plan.changes:
        if not is_chosen(change, selection):
            continue
        check_path(change.path)
        if change.path not in named:
            raise RefusedError("the plan's effects do not name this file", "make a new plan", change.path)
        found = _entry(len(entries), change, selection, snapshot, pre, new)
        if found is None:
            continue
        entries.append(found)
        if found.new_sha256 is None:
            after.pop(change.path, None)
        else:
            after[change.path] = WorkspaceFile(change.path, new[found.number], found.new_mode or 0)
    _refuse_clashes(after)
    operation = _operation(plan, selection, approval, snapshot, started_at, entries)
    return Prepared(operation, pre, new, tuple(after.values()))


def _entry(
    number: int,
    change: FileChange,
    selection: Selection,
    snapshot: WorkspaceSnapshot,
    pre: dict[int, bytes],
    new: dict[int, bytes],
) -> Entry | None:
    old = snapshot.files.get(change.path)
    data = result_bytes(old.data if old else None, change, selection)
    mode = result_mode(old.mode if old else None, change, selection)
    if (data is None and old is None) or (old is not None and data == old.data and mode == old.mode):
        return None
    if old is not None:
        pre[number] = old.data
    if data is not None:
        new[number] = data
    return Entry(
        number=number,
        path=change.path,
        old_sha256=None if old is None else content_hash(old.data),
        old_mode=None if old is None else old.mode,
        new_sha256=None if data is None else content_hash(data),
        new_mode=None if data is None else mode,
    )


def _operation(
    plan: Plan,
    selection: Selection,
    approval: Approval,
    snapshot: WorkspaceSnapshot,
    started_at: int,
    entries: list[Entry],
) -> Operation:
    root = Path(snapshot.root)
    layout = bool(plan.effects_of(EnsureLayout))
    written = [entry for entry in entries if entry.new_sha256 is not None]
    if not snapshot.exists and written and not layout:
        raise RefusedError("the folder is missing and the plan does not create it", "make a new plan", snapshot.root)
    wanted = {folder for entry in written for folder in _parents(entry.path)}
    wanted |= {ROLLOUT_SUMMARIES_SUBDIR} if layout else set()
    creates = [folder for folder in wanted if not (root / folder).exists()]
    emptied = {folder for e in entries if e.new_sha256 is None for folder in _parents(e.path)}
    kept = set() if plan.operation == CLEAR else {ROLLOUT_SUMMARIES_SUBDIR}
    return Operation(
        plan=plan,
        selection=selection,
        approval=approval,
        started_at=started_at,
        root=snapshot.root,
        entries=tuple(entries),
        creates=tuple(sorted([*creates, *([] if snapshot.exists else [""])])),
        creates_above=tuple(str(p) for p in root.parents if not p.exists()) if not snapshot.exists else (),
        folders={folder: (root / folder).stat().st_mode & 0o7777 for folder in sorted(emptied - kept)},
        had_git=os.path.lexists(root / ".git"),
        resets_baseline=bool(plan.effects_of(ResetBaseline)),
    )


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _refuse_clashes(after: Mapping[str, WorkspaceFile]) -> None:
    seen: dict[str, str] = {}
    for path in after:
        other = seen.setdefault(fold(path), path)
        if other != path:
            what = f"the name is that of {other} on disks that ignore case or Unicode form"
            raise RefusedError(what, "rename or leave out one of them", path)


def _differences(base: WorkspaceMark, now: WorkspaceMark) -> list[str]:
    moved: list[str] = []
    if base.root != now.root:
        moved.append(f"the folder ({now.root})")
    if base.exists != now.exists:
        moved.append("the folder was created" if now.exists else "the folder is gone")
    for path in sorted(set(base.files) | set(now.files)):
        before, after = base.files.get(path), now.files.get(path)
        if before is None or after is None:
            moved.append(f"{path} ({'added' if before is None else 'gone'})")
        elif before != after:
            moved.append(f"{path} ({'content' if before.sha256 != after.sha256 else 'mode'})")
    if base.baseline != now.baseline:
        moved.append("the git baseline")
    return moved
