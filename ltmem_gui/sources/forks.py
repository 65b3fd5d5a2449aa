"""Find what a session took over from another one by comparing the two, where both lie below the named folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, RolloutRef
from ltmem_gui.sources.decoding import text_of, uuid7_seconds
from ltmem_gui.sources.files import open_lines
from ltmem_gui.sources.lines import read_lines
from ltmem_gui.sources.reading import read_session
from ltmem_gui.sources.walking import ROLLOUT_NAME


def line_uuids(paths: Iterable[str]) -> frozenset[str]:
    """Return the uuids of all lines of the files; a file that is gone by now has none."""
    found: set[str] = set()
    for path in paths:
        try:
            with open_lines(path) as stream:
                for line in read_lines(stream):
                    uuid = text_of(line.record.get("uuid")) if line.record else ""
                    if uuid:
                        found.add(uuid)
        except InputError:
            continue
    return frozenset(found)


def inherited_by_parent(rollout: Rollout, ref: RolloutRef) -> Rollout:
    """Mark the opening that a Codex fork shares with its parent, when the file's own signs did not tell it."""
    known = any(item.inherited for item in rollout.items)
    if rollout.agent != "codex" or not rollout.parent or known or rollout.source in ("subagent", "internal"):
        return rollout
    path = _parent_path(rollout.parent, ref)
    if path is None:
        return rollout
    try:
        parent = read_session(path)
    except InputError:
        return rollout
    shared = 0
    for own, theirs in zip(rollout.items, parent.items, strict=False):
        if _said(own) != _said(theirs):
            break
        shared += 1
    items = tuple(replace(item, inherited=True) if index < shared else item for index, item in enumerate(rollout.items))
    return replace(rollout, items=items)


def _said(item: RolloutItem) -> tuple[str, str, str]:
    return item.role, item.kind, item.text


def _parent_path(parent: str, ref: RolloutRef) -> str | None:
    """Look for the parent's file beside the child and in the day folders its id speaks of; nowhere else."""
    if not ref.root:
        return None
    folders = [Path(ref.path).parent]
    born = uuid7_seconds(parent)
    marker = f"{os.sep}sessions{os.sep}"
    if born is not None and marker in ref.path:
        home = Path(ref.path[: ref.path.index(marker)])
        days = (datetime.fromtimestamp(born, UTC) + timedelta(days=offset) for offset in (0, -1, 1))
        folders.extend(home / "sessions" / day.strftime("%Y/%m/%d") for day in days)  # folders have local dates
        folders.append(home / "archived_sessions")
    folders = [folder for folder in folders if folder.is_relative_to(ref.root)]
    for folder in folders:
        try:
            names = [entry.name for entry in folder.iterdir()]
        except OSError:
            continue
        for name in names:
            found = ROLLOUT_NAME.match(name)
            if found and found[2].lower() == parent.lower():
                return str(folder / name)
    return None
