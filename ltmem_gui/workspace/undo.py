"""The undo image of the last apply: contents before, kept in the data folder until the next apply or for 24 hours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.errors import InputError, WorkspaceMoved
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.pipeline.ports import UndoOffer, WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.workspace.disk import make_private, remove_tree, replace_file, sync_folder
from ltmem_gui.workspace.journal import JOURNAL_SUBDIR, Journal

UNDO_SUBDIR = "undo"
IMAGE_SECONDS = 24 * 3_600


@dataclass(frozen=True)
class UndoImage:
    """What the last apply replaced; usable until `expires_at` (Unix seconds)."""

    journal: Journal
    expires_at: int

    @property
    def digest(self) -> str:
        """Return the digest of the plan that can be undone."""
        return self.journal.operation.digest


def keep_image(home: Path, journal: Journal, finished_at: int) -> None:
    """Turn the journal of a finished operation into the undo image; the image before it goes. Raises `OSError`."""
    discard_image(home)
    if journal.operation.plan.forgets:
        remove_tree(journal.folder)
    else:
        replace_file(journal.folder / "finished.json", json.dumps({"finished_at": finished_at}).encode("ascii"))
        remove_tree(journal.folder / "new")
        make_private(home / UNDO_SUBDIR)
        journal.folder.rename(home / UNDO_SUBDIR / journal.folder.name)
        sync_folder(home / UNDO_SUBDIR)
    sync_folder(home / JOURNAL_SUBDIR)


def discard_image(home: Path) -> None:
    """Remove the image, whatever its age. Raises `OSError`."""
    remove_tree(home / UNDO_SUBDIR)


def find_image(home: Path, now: int) -> UndoImage | None:
    """Return the image while it is usable; past its time it counts as gone. Writes nothing.

    Raises `InputError` for an image that cannot be read.
    """
    folder = home / UNDO_SUBDIR
    for child in sorted(folder.iterdir()) if folder.is_dir() else ():
        journal = Journal.open(child)
        try:
            finished_at = int(json.loads((child / "finished.json").read_bytes())["finished_at"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("the undo image cannot be read", "it is removed by the next apply", str(child)) from error
        expires_at = finished_at + IMAGE_SECONDS
        return UndoImage(journal, expires_at) if now <= expires_at else None
    return None


def undo_changes(image: UndoImage, files: Mapping[str, WorkspaceFile]) -> tuple[FileChange, ...]:
    """Return the changes that lead from the folder as it is to the folder before the apply, each decided as a whole.

    Raises `WorkspaceMoved` naming the first file that was changed since.
    """
    changes: list[FileChange] = []
    for entry in image.journal.operation.entries:
        current = files.get(entry.path)
        if (None if current is None else content_hash(current.data)) != entry.new_sha256:
            raise WorkspaceMoved("the file was changed since the apply", "undo it by hand", entry.path)
        change = file_change(
            entry.path,
            None if current is None else current.data,
            None if entry.old_sha256 is None else image.journal.pre(entry),
            old_mode=None if current is None else current.mode,
            new_mode=entry.old_mode,
            unit="whole",
        )
        if change is not None:
            changes.append(change)
    return tuple(changes)


class UndoImages:
    """Implement the port `UndoSource`."""

    def offer(self, home: Path, now: int, snapshot: WorkspaceSnapshot) -> UndoOffer | None:
        """Return what would take the last apply to this folder back, None without a usable image.

        Raises `WorkspaceMoved` for files changed since.
        """
        image = find_image(home, now)
        if image is None or image.journal.operation.root != snapshot.root:
            return None
        return UndoOffer(image.digest, image.expires_at, undo_changes(image, snapshot.files))

    def expired(self, home: Path, now: int) -> str:
        """Return the folder of an image past its time, nothing when there is none."""
        folder = home / UNDO_SUBDIR
        kept = folder.is_dir() and any(folder.iterdir())
        return str(folder) if kept and find_image(home, now) is None else ""

    def discard(self, home: Path) -> None:
        """Remove the image. Raises `OSError`."""
        discard_image(home)
