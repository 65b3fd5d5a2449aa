"""List candidate files below one named folder, newest first; no link is followed and nothing is opened.

Day folders (`YYYY/MM/DD`) are walked from the newest back and left as soon as the limit is reached, because a full
listing of a hundred thousand files takes ten times as long (reference: performance §4).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.rollouts import SkippedFile
from ltmem_gui.sources.codex_db import HISTORY_NAME, STATE_NAME

ROLLOUT_NAME = re.compile(
    r"\Arollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-"
    r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl(?:\.zst)?\Z"
)
_ENDINGS = (".jsonl", ".jsonl.zst")
_CODEX_FOLDERS = frozenset({"sessions", "archived_sessions"})
_YEAR = re.compile(r"\A\d{4}\Z")
_INDEX_FILES = frozenset({"history.jsonl", "session_index.jsonl"})


@dataclass(slots=True)
class Listing:
    """What lies below one folder: rollouts named as Codex names them (with their date), other candidates, databases."""

    rollouts: list[tuple[str, str, str]] = field(default_factory=list)  # (date in the name, thread id, path)
    others: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    histories: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # session_index.jsonl
    skipped: list[SkippedFile] = field(default_factory=list)
    cut: bool = False


def list_folder(root: str, limit: int, tick: Callable[[str], None]) -> Listing:
    """List everything below `root` that could be a session.

    `tick` is called with each folder's path; it may raise to stop. Raises `InputError` naming a missing or
    unreadable `root`; unreadable folders below it are listed as skipped.
    """
    listing = Listing()
    pending = [(root, "")]  # the second is the dated tree a folder belongs to, "" for none
    counts: dict[str, int] = {}
    while pending:
        folder, tree = pending.pop()
        if counts.get(tree, 0) >= limit:
            listing.cut = True
            continue
        tick(folder)
        names, folders = _entries(folder, root, listing)
        home = bool(_CODEX_FOLDERS & set(folders)) or any(STATE_NAME.match(name) for name in names)
        claude_home = "projects" in folders and not home
        if home:
            folders = [name for name in folders if name in _CODEX_FOLDERS]
        elif claude_home:
            folders = ["projects"]
        before = len(listing.rollouts)
        _take_files(folder, names, listing, top=home or claude_home)
        if not tree and any(_YEAR.match(name) for name in folders):
            tree = folder
        if tree:
            counts[tree] = counts.get(tree, 0) + len(listing.rollouts) - before
        # The stack gives back the last entry first: ascending order here is newest first there.
        pending.extend((f"{folder}{os.sep}{name}", tree) for name in sorted(folders))
    return listing


def _entries(folder: str, root: str, listing: Listing) -> tuple[list[str], list[str]]:
    names: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    if entry.name.endswith(_ENDINGS) or entry.name in _CODEX_FOLDERS or _YEAR.match(entry.name):
                        listing.skipped.append(SkippedFile(entry.path, "a link: links are not followed"))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    names.append(entry.name)
                elif entry.name.endswith(_ENDINGS):
                    listing.skipped.append(SkippedFile(entry.path, "not a regular file"))
    except OSError as error:
        if folder == root:
            cause = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            raise InputError(
                f"this path {cause}", "name a folder of sessions or a session file that exists", root
            ) from error
        listing.skipped.append(SkippedFile(folder, f"this folder cannot be read ({error.strerror})"))
    return names, folders


def _take_files(folder: str, names: list[str], listing: Listing, *, top: bool) -> None:
    databases: tuple[list[tuple[int, str]], list[tuple[int, str]]] = ([], [])
    for name in names:
        if name.endswith(_ENDINGS):
            if found := ROLLOUT_NAME.match(name):
                listing.rollouts.append((found[1], found[2].lower(), f"{folder}{os.sep}{name}"))
            elif top and name in _INDEX_FILES:
                if name == "session_index.jsonl":
                    listing.names.append(f"{folder}{os.sep}{name}")
            else:
                listing.others.append(f"{folder}{os.sep}{name}")
        elif state := STATE_NAME.match(name):
            databases[0].append((int(state[1]), name))
        elif history := HISTORY_NAME.match(name):
            databases[1].append((int(history[1]), name))
    # An upgrade leaves older generations behind; the highest number is the one in use.
    for found_names, target in zip(databases, (listing.states, listing.histories), strict=True):
        if found_names:
            target.append(f"{folder}{os.sep}{max(found_names)[1]}")
