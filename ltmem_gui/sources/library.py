"""The source of rollouts: find them, read them, tell whether they changed. It never writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.rollouts import Rollout, RolloutRef, SourceSpec, ThreadRow
from ltmem_gui.pipeline.ports import Discovery
from ltmem_gui.sources.codex_db import list_threads, load_thread, threads_beside
from ltmem_gui.sources.discovery import Discoverer
from ltmem_gui.sources.files import SQLITE_MAGIC, first_bytes
from ltmem_gui.sources.forks import inherited_by_parent, line_uuids
from ltmem_gui.sources.index import ScanIndex
from ltmem_gui.sources.reading import read_session


class RolloutLibrary:
    """Implement the port `RolloutSource` for files and databases of Codex and Claude Code.

    `index` is the cache of a data folder that exists; without one, nothing is ever written.
    """

    def __init__(self, index: ScanIndex | None = None) -> None:
        self._index = index

    def discover(self, specs: Sequence[SourceSpec], *, limit: int, cancel: CancelToken, listen: Listener) -> Discovery:
        """List the newest `limit` sessions below the folders (or in the files) the person named.

        Raises `InputError` naming the folder when it is missing or unreadable.
        """
        return Discoverer(limit, cancel, listen, self._index).discover(specs)

    def locate(self, thread_id: str) -> str | None:
        """Return the file in which a thread was last seen, None when the index does not know; opens no session."""
        paths = self._index.paths_of(thread_id) if self._index else ()
        return next(iter(paths), None)

    def load(self, ref: RolloutRef) -> Rollout:
        """Read one session whole. Raises `InputError` when the file is gone, unreadable or no session."""
        return load_rollout(ref)

    def fingerprint(self, ref: RolloutRef) -> RolloutRef | None:
        """Stat the file again; None when it is gone. A session in a database has the fingerprint of its own rows."""
        try:
            status = os.lstat(ref.path)
        except OSError:
            return None
        if is_database(ref):
            try:
                rows = list_threads(ref.path)
            except InputError:
                return None
            now = next((row for row in rows if row.thread_id == ref.thread_id), None)
            return now and replace(ref, size=now.size, mtime_ns=now.mtime_ns)
        return replace(ref, size=status.st_size, mtime_ns=status.st_mtime_ns)


def is_database(ref: RolloutRef) -> bool:
    """Tell by its first bytes whether a reference points into a database. Raises `InputError` when it is gone."""
    return first_bytes(ref.path, len(SQLITE_MAGIC)) == SQLITE_MAGIC


def load_rollout(ref: RolloutRef) -> Rollout:
    """Read one session whole; pure but for the reading, and fit for a worker process.

    Raises `InputError` when the file is gone, unreadable or holds no session.
    """
    if is_database(ref):
        rollout = load_thread(ref)
        if ref.thread is None and (known := threads_beside(ref.path).get(rollout.id)):
            ref = replace(ref, thread=known.row)
    else:
        rollout = read_session(ref.path, line_uuids(ref.copied_from))
        rollout = inherited_by_parent(rollout, ref)
    return rollout if ref.thread is None else _with_index(rollout, ref.thread)


def _with_index(rollout: Rollout, row: ThreadRow) -> Rollout:
    """Add what the agent's index says: it alone knows of pollution and archiving; else the file wins."""
    named = rollout.source or not row.source
    agents = row.source in ("subagent", "internal")
    return replace(
        rollout,
        source=rollout.source if named and not agents else row.source,
        source_detail=rollout.source_detail if named and not agents else row.source_detail or rollout.source_detail,
        memory_mode=row.memory_mode if rollout.memory_mode == "enabled" else rollout.memory_mode,
        archived=rollout.archived or row.archived,
        cwd=rollout.cwd if rollout.source else row.cwd or rollout.cwd,
        git_branch=rollout.git_branch or row.git_branch,
        title=row.title or rollout.title,
    )
