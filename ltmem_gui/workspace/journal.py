"""The write-ahead journal: what an apply will do, with all contents before and after, outside the memory folder.

Layout below `home/journal/<digest>/` (0700): `journal.json` (written last, so that it is there only when all else
is), `pre/<n>` and `new/<n>` with file contents, `step` with the last step reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import Approval, Selection
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.plan import Plan
from ltmem_gui.workspace.disk import make_private, remove_tree, replace_file, sync_folder, write_new
from ltmem_gui.workspace.steps import Reached

JOURNAL_SUBDIR = "journal"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(_Value):
    """One file of an apply: hash and permission bits before and after, None where there is none; `number` names its
    contents in the journal."""

    number: int
    path: str
    old_sha256: str | None
    old_mode: int | None
    new_sha256: str | None
    new_mode: int | None


class Operation(_Value):
    """Everything that finishing or rolling back needs to know.

    `creates` lists folders below the root that are missing (`""` is the root), `creates_above` those it lies in;
    `folders` maps folders that deletions may empty to their permission bits.
    """

    plan: Plan
    selection: Selection
    approval: Approval
    started_at: int
    root: str
    entries: tuple[Entry, ...]
    creates: tuple[str, ...] = ()
    creates_above: tuple[str, ...] = ()
    folders: dict[str, int] = {}
    had_git: bool = False
    resets_baseline: bool = False

    @property
    def digest(self) -> str:
        """Return the digest of the plan, which names the operation."""
        return self.plan.digest


class Journal:
    """One journal on disk."""

    def __init__(self, folder: Path, operation: Operation) -> None:
        self.folder = folder
        self.operation = operation

    @classmethod
    def write(
        cls, home: Path, operation: Operation, pre: Mapping[int, bytes], new: Mapping[int, bytes], reach: Reached
    ) -> Journal:
        """Write and sync a journal; until it returns nothing has happened to the folder. Raises `OSError`."""
        folder = home / JOURNAL_SUBDIR / operation.digest
        remove_tree(folder)
        make_private(home / JOURNAL_SUBDIR)
        try:
            return cls._write(folder, operation, pre, new, reach)
        except BaseException:
            remove_tree(folder)
            raise

    @classmethod
    def _write(
        cls, folder: Path, operation: Operation, pre: Mapping[int, bytes], new: Mapping[int, bytes], reach: Reached
    ) -> Journal:
        make_private(folder)
        reach(Step.JOURNAL)
        for name, contents in (("pre", pre), ("new", new)):
            make_private(folder / name)
            for number, data in contents.items():
                write_new(folder / name / str(number), data, 0o600)
            sync_folder(folder / name)
        journal = cls(folder, operation)
        journal.note(Step.JOURNAL)
        reach(Step.JOURNAL)
        replace_file(folder / "journal.json", operation.model_dump_json().encode("utf-8"))
        sync_folder(folder.parent)
        return journal

    @classmethod
    def open(cls, folder: Path) -> Journal:
        """Read a journal. Raises `InputError` naming its file when it cannot be read."""
        path = folder / "journal.json"
        try:
            return cls(folder, Operation.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError) as error:
            raise InputError("the journal cannot be read", "restore it, or remove it by hand", str(path)) from error

    def note(self, step: Step) -> None:
        """Write down the step that was reached, for people; recovery looks at the folder itself."""
        path = self.folder / "step"
        path.touch(mode=0o600)
        path.write_text(step, encoding="ascii")

    @property
    def step(self) -> str:
        """Return the last step written down."""
        path = self.folder / "step"
        return path.read_text(encoding="ascii") if path.is_file() else Step.JOURNAL

    def pre(self, entry: Entry) -> bytes:
        """Return the content before. Raises `InputError` when the stored copy is damaged."""
        return self._content("pre", entry.number, entry.old_sha256)

    def new(self, entry: Entry) -> bytes:
        """Return the content after. Raises `InputError` when the stored copy is damaged."""
        return self._content("new", entry.number, entry.new_sha256)

    def remove(self) -> None:
        """Forget the operation: the folder is as it was. Raises `OSError`."""
        (self.folder / "journal.json").unlink(missing_ok=True)
        remove_tree(self.folder)

    def _content(self, kind: str, number: int, sha256: str | None) -> bytes:
        path = self.folder / kind / str(number)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError("a stored copy cannot be read", "restore the data folder", str(path)) from error
        if content_hash(data) != sha256:
            raise InputError("a stored copy is damaged", "restore the data folder", str(path))
        return data


def journals(home: Path) -> Iterator[Journal]:
    """Yield the journals of a data folder; those that were never completed are no operations. Writes nothing."""
    folder = home / JOURNAL_SUBDIR
    if not folder.is_dir():
        return
    for child in sorted(folder.iterdir()):
        if _DIGEST.fullmatch(child.name) and (child / "journal.json").is_file():
            yield Journal.open(child)


def remove_incomplete(home: Path) -> None:
    """Remove what a crash before the end of the journal left; only inside a confirmed apply or recovery."""
    folder = home / JOURNAL_SUBDIR
    if folder.is_dir():
        for child in folder.iterdir():
            if not (child / "journal.json").is_file():
                remove_tree(child)
