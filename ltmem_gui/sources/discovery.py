"""Find the sessions below the folders a person named: one reference per thread, newest first."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.events import Listener, ScanProgressed
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import RolloutRef, SkippedFile, SourceSpec, ThreadRow
from ltmem_gui.pipeline.ports import Discovery
from ltmem_gui.sources.codex_db import IndexedThread, list_threads, read_threads, threads_beside
from ltmem_gui.sources.decoding import text_of
from ltmem_gui.sources.files import SQLITE_MAGIC, first_bytes, open_lines
from ltmem_gui.sources.index import IndexedFile, ScanIndex
from ltmem_gui.sources.lines import read_lines
from ltmem_gui.sources.reading import NotASession, peek_session
from ltmem_gui.sources.walking import Listing, list_folder

_PROGRESS_EVERY = 256


@dataclass(slots=True)
class _Found:
    refs: list[RolloutRef] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    threads: dict[str, IndexedThread] = field(default_factory=dict)
    first_uuids: dict[str, str] = field(default_factory=dict)  # path → uuid of its first line
    seen: list[IndexedFile] = field(default_factory=list)


class Discoverer:
    """Carry out one discovery."""

    def __init__(self, limit: int, cancel: CancelToken, listen: Listener, index: ScanIndex | None = None) -> None:
        self._index = index
        self._known = index.known() if index else {}
        self._limit = limit
        self._cancel = cancel
        self._listen = listen
        self._seen = 0

    def discover(self, specs: Sequence[SourceSpec]) -> Discovery:
        """List the sessions of all folders. Raises `InputError` for a missing or unreadable one."""
        found = _Found()
        for spec in specs:
            root = absolute(spec.path)
            if Path(root).is_file():
                self._take_file(str(Path(root).resolve()), found)
            else:
                self._take_folder(root, found)
        if self._index is not None:
            self._index.remember(file for file in found.seen if self._known.get(file.path) != file)
        refs = merge_duplicates(found.refs, found.skipped)
        refs = [_with_row(ref, found.threads) for ref in refs]
        refs = _mark_copies(refs, found.first_uuids)
        refs.sort(key=lambda ref: (-ref.mtime_ns, ref.path, ref.thread_id or ""))
        if len(refs) > self._limit:
            found.skipped.append(
                SkippedFile(
                    refs[self._limit].path, f"older than the newest {self._limit} (scan_limit), and all after it"
                )
            )
        return Discovery(tuple(refs[: self._limit]), tuple(found.skipped))

    def _tick(self, path: str) -> None:
        self._cancel.check()
        self._seen += 1
        if self._seen % _PROGRESS_EVERY == 0:
            self._listen(ScanProgressed(self._seen, 0, path))

    def _take_file(self, path: str, found: _Found) -> None:
        database = first_bytes(path, len(SQLITE_MAGIC)) == SQLITE_MAGIC
        if not database:
            self._peek(path, "", found)
            return
        refs = list_threads(path, self._cancel)
        if not refs:
            raise InputError(
                "this database holds no items of sessions", "name thread_history_*.sqlite, or a rollout file", path
            )
        found.refs.extend(refs)
        found.threads.update(threads_beside(path, self._cancel))

    def _take_folder(self, root: str, found: _Found) -> None:
        listing = list_folder(root, self._limit, self._tick)
        found.skipped.extend(listing.skipped)
        if listing.cut:
            found.skipped.append(
                SkippedFile(root, f"day folders before the newest {self._limit} sessions (scan_limit) were not listed")
            )
        for index in listing.names:
            _take_names(index, found)
        for state in listing.states:
            self._take_state(state, root, listing, found)
        listing.rollouts.sort(reverse=True)
        for _, thread_id, path in listing.rollouts[: max(self._limit * 2, 64)]:
            self._tick(path)
            self._add(path, thread_id, root, found)
        self._take_resumed(root, listing, found)
        for path in listing.others:
            self._tick(path)
            try:
                self._peek(path, root, found)
            except InputError as error:
                found.skipped.append(SkippedFile(path, error.what))
        for history in listing.histories:
            try:
                refs = list_threads(history, self._cancel)
            except InputError as error:
                found.skipped.append(SkippedFile(history, error.what))
                continue
            found.refs.extend(replace(ref, root=root) for ref in refs)

    def _take_state(self, state: str, root: str, listing: Listing, found: _Found) -> None:
        """Take what the index says, and the sessions it knows to be recent whose day folders are old."""
        try:
            threads = read_threads(state, self._cancel)
        except InputError as error:
            found.skipped.append(SkippedFile(state, error.what))
            return
        for thread_id, thread in threads.items():
            named = found.threads.get(thread_id)
            row = replace(thread.row, title=named.row.title) if named and named.row.title else thread.row
            found.threads[thread_id] = replace(thread, row=row)
        known = {thread_id for _, thread_id, _ in listing.rollouts}
        recent = sorted(threads.values(), key=lambda thread: -(thread.updated_at or 0))
        for thread in recent[: self._limit]:
            path = _below_home(thread.rollout_path, str(Path(state).parent))
            if thread.id not in known and path and Path(path).is_file() and not _through_link(path, root):
                self._add(path, thread.id, root, found)

    def _take_resumed(self, root: str, listing: Listing, found: _Found) -> None:
        """Take the sessions seen before whose day folders were not listed now: an old one may have been resumed."""
        if not listing.cut:
            return
        listed = {path for _, _, path in listing.rollouts}
        below = root.rstrip(os.sep) + os.sep
        recent = sorted(self._known.values(), key=lambda file: -file.mtime_ns)[: self._limit]
        for known in recent:
            missing = known.path.startswith(below) and known.path not in listed and not known.refused
            if missing and os.path.lexists(known.path) and not _through_link(known.path, root):
                self._tick(known.path)
                self._add(known.path, known.thread_id or None, root, found, known.agent)

    def _peek(self, path: str, root: str, found: _Found) -> None:
        try:
            status = os.lstat(path)
        except OSError as error:
            raise InputError(f"this file cannot be read ({error.strerror})", "scan again", path) from error
        known = self._known.get(path)
        if known is None or (known.size, known.mtime_ns) != (status.st_size, status.st_mtime_ns):
            known = self._look(path, status)
        found.seen.append(known)
        if known.refused:
            raise InputError(known.refused, "name a rollout file, or the folder that holds rollouts", path)
        if known.first_uuid:
            found.first_uuids[path] = known.first_uuid
        found.refs.append(
            RolloutRef(known.agent, path, status.st_size, status.st_mtime_ns, known.thread_id or None, root)
        )

    def _look(self, path: str, status: os.stat_result) -> IndexedFile:
        seen = IndexedFile(path, status.st_size, status.st_mtime_ns, "")
        try:
            peek = peek_session(path)
        except NotASession as error:
            return replace(seen, refused=error.what)
        return replace(seen, agent=peek.agent, thread_id=peek.thread_id or "", first_uuid=peek.first_uuid)

    def _add(self, path: str, thread_id: str | None, root: str, found: _Found, agent: str = "codex") -> None:
        try:
            status = os.lstat(path)
        except OSError as error:
            found.skipped.append(SkippedFile(path, f"this file cannot be read ({error.strerror})"))
            return
        if stat.S_ISREG(status.st_mode):
            found.refs.append(RolloutRef(agent, path, status.st_size, status.st_mtime_ns, thread_id, root))
            if self._index is not None:
                found.seen.append(IndexedFile(path, status.st_size, status.st_mtime_ns, agent, thread_id or ""))


def _take_names(path: str, found: _Found) -> None:
    """Take the names of threads from the index that is appended on each rename: the last line of an id wins."""
    try:
        with open_lines(path) as stream:
            for line in read_lines(stream):
                record = line.record or {}
                thread_id, name = text_of(record.get("id")), text_of(record.get("thread_name"))
                if thread_id and name:
                    found.threads[thread_id] = IndexedThread(thread_id, ThreadRow(title=one_line(name)), "", None, None)
    except InputError as error:
        found.skipped.append(SkippedFile(path, error.what))


def absolute(path: str) -> str:
    """Make a path absolute by its letters alone: a link in it stays visible as one."""
    return os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - Path.absolute keeps `..`


def _with_row(ref: RolloutRef, threads: dict[str, IndexedThread]) -> RolloutRef:
    thread = threads.get(ref.thread_id or "") if ref.agent == "codex" else None
    return ref if thread is None else replace(ref, thread=thread.row)


def _below_home(rollout_path: str, home: str) -> str | None:
    """Return where a rollout of the index lies in this home; the index may come from another machine."""
    parts = rollout_path.replace("\\", "/").split("/")
    for index in range(len(parts) - 1, -1, -1):
        if parts[index] in ("sessions", "archived_sessions"):
            tail = parts[index:]
            return None if ".." in tail or "" in tail else str(Path(home, *tail))
    return None


def _through_link(path: str, root: str) -> bool:
    """Tell whether a folder between `root` and `path`, or the file, is a link."""
    folder = path
    while len(folder) > len(root):
        if Path(folder).is_symlink():
            return True
        folder = str(Path(folder).parent)
    return False


def merge_duplicates(refs: Iterable[RolloutRef], skipped: list[SkippedFile]) -> list[RolloutRef]:
    """Keep one reference per thread and list the others.

    A file wins over database rows, a live one over an archived one, a plain one over a compressed one, then the
    longer one, then the newer one.
    """
    kept: dict[tuple[str, str], RolloutRef] = {}
    alone: list[RolloutRef] = []
    for ref in refs:
        if not ref.thread_id:
            alone.append(ref)
            continue
        key = (ref.agent, ref.thread_id)
        other = kept.get(key)
        if other is None:
            kept[key] = ref
            continue
        if other.path == ref.path:
            continue
        first, second = sorted((ref, other), key=_preference)
        kept[key] = first
        if not second.path.endswith(".sqlite"):
            skipped.append(SkippedFile(second.path, f"the same thread as {first.path}"))
    return [*kept.values(), *alone]


def _preference(ref: RolloutRef) -> tuple[bool, bool, bool, int, int, str]:
    archived = f"{os.sep}archived_sessions{os.sep}" in ref.path
    return (
        ref.path.endswith(".sqlite"),
        archived,
        ref.path.endswith(".zst"),
        -ref.size,
        -ref.mtime_ns,
        ref.path,
    )


def _mark_copies(refs: list[RolloutRef], first_uuids: dict[str, str]) -> list[RolloutRef]:
    """Name, for each transcript that opens with the line another one opens with, the older files of that line."""
    groups: dict[str, list[RolloutRef]] = {}
    for ref in refs:
        if uuid := first_uuids.get(ref.path):
            groups.setdefault(uuid, []).append(ref)
    older: dict[str, tuple[str, ...]] = {}
    for group in groups.values():
        ordered = sorted(group, key=lambda ref: (ref.mtime_ns, ref.size, ref.path))
        for index, ref in enumerate(ordered):
            if index:
                older[ref.path] = tuple(earlier.path for earlier in ordered[:index])
    return [replace(ref, copied_from=older[ref.path]) if ref.path in older else ref for ref in refs]
