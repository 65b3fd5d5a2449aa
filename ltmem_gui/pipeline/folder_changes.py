"""From two trees to what a plan holds: file changes with hunks, and the effects that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ltmem_gui.domain.audit_evidence import cited_entries
from ltmem_gui.domain.citation_check import citing_files
from ltmem_gui.domain.citations import NOTE_MARK, CitationEntry, parse_entry
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.effects import DeleteFile, Effect, EnsureLayout, KeepEvidence, ResetBaseline, WriteFile
from ltmem_gui.domain.naming import RAW_MEMORIES_FILENAME, ROLLOUT_SUMMARIES_SUBDIR, WORKSPACE_DIFF_FILENAME
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.pipeline.ports import WorkspaceSnapshot

NEW_FILE_MODE = 0o644


def file_changes(
    snapshot: WorkspaceSnapshot, result: Mapping[str, bytes], reasons: Mapping[str, str]
) -> tuple[FileChange, ...]:
    """Return what leads from the folder on disk to `result`, by path; `reasons` says why a path is deleted."""
    changes: list[FileChange] = []
    for path in sorted(snapshot.files.keys() | result.keys()):
        file = snapshot.files.get(path)
        new = result.get(path)
        change = file_change(
            path,
            None if file is None else file.data,
            new,
            old_mode=None if file is None else file.mode,
            new_mode=None if new is None else NEW_FILE_MODE if file is None else file.mode,
            unit=unit_of(path),
        )
        if change is not None:
            reason = reasons.get(path)
            changes.append(change.model_copy(update={"reason": reason}) if reason else change)
    return tuple(changes)


def unit_of(path: str) -> Literal["hunk", "thread"]:
    """Tell how a file is decided: rendered inputs per thread, everything else per hunk (design §2)."""
    rendered = path == RAW_MEMORIES_FILENAME or path.startswith(f"{ROLLOUT_SUMMARIES_SUBDIR}/")
    return "thread" if rendered else "hunk"


def folder_effects(snapshot: WorkspaceSnapshot, changes: tuple[FileChange, ...]) -> tuple[Effect, ...]:
    """Name every change of the folder: layout, files, the left-over diff file, the baseline."""
    effects: list[Effect] = []
    if not snapshot.exists or not any(path.startswith(f"{ROLLOUT_SUMMARIES_SUBDIR}/") for path in snapshot.files):
        creates = () if snapshot.exists else (snapshot.root,)
        effects.append(EnsureLayout(path=snapshot.root, creates=(*creates, ROLLOUT_SUMMARIES_SUBDIR)))
    effects += [_effect(change) for change in changes]
    if snapshot.leftover:
        effects.append(DeleteFile(path=WORKSPACE_DIFF_FILENAME, reason="left over by an earlier run"))
    repairs = "" if snapshot.baseline else "creates the baseline"
    effects.append(ResetBaseline(path=snapshot.root, previous=snapshot.baseline, repairs=repairs))
    count = _citations(snapshot, changes)
    if count:
        effects.append(KeepEvidence(root=snapshot.root, count=count))
    return tuple(effects)


def _citations(snapshot: WorkspaceSnapshot, changes: tuple[FileChange, ...]) -> int:
    """Return how many citations of files there can be after the changes: those that are there, and those that come."""
    there = cited_entries({path: file.data for path, file in snapshot.files.items()}).values()
    citing = set(citing_files(change.path for change in changes))
    lines = (line for change in changes if change.path in citing for hunk in change.hunks for line in hunk.new)
    come = (parse_entry(line) for line in lines if NOTE_MARK in line)
    return sum(isinstance(entry, CitationEntry) and entry.thread_id is None for entry in (*there, *come))


def _effect(change: FileChange) -> Effect:
    if change.change == "deleted":
        reason = change.reason or "no longer supported by any memory"
        return DeleteFile(path=change.path, reason=reason, size_before=change.old_size)
    return WriteFile(
        path=change.path,
        change=change.change,
        size_before=change.old_size,
        size_after=change.new_size,
        lines_added=sum(len(hunk.new) for hunk in change.hunks),
        lines_removed=sum(len(hunk.old) for hunk in change.hunks),
    )
