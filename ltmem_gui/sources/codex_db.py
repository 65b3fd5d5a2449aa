"""Read Codex's databases from a private copy: nothing is written beside them and a running Codex is never locked.

`state_<n>.sqlite` holds the `threads` table, `thread_history_<n>.sqlite` the items of paginated sessions
(reference: rollout-formats §2). Columns are taken as they are there; each file may be missing or behind.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, RolloutRef, ThreadRow
from ltmem_gui.domain.side_files import JOURNAL, NAME_MARK, NO_NAME, SIDE_FILES, WRITE_AHEAD_LOG, names_another_file
from ltmem_gui.sources.codex import source_word
from ltmem_gui.sources.codex_db_items import items_of
from ltmem_gui.sources.decoding import Record, Undecodable, clean, decode_record, text_of, unix_seconds
from ltmem_gui.sources.files import first_bytes
from ltmem_gui.sources.foreign_tables import MOST_ROWS, Bound, columns_of, not_too_many, rows_of
from ltmem_gui.sources.sparse_copy import MOST_COPIED, copy_sparse

STATE_NAME = re.compile(r"\Astate_(\d+)\.sqlite\Z")
HISTORY_NAME = re.compile(r"\Athread_history_(\d+)\.sqlite\Z")
COPY_ATTEMPTS = 3
_WAL_HEADER = 32
_REMEDY = "close the program that writes it and try again, or name the rollout files"


@contextmanager
def private_copy(path: str, cancel: CancelToken | None = None) -> Iterator[sqlite3.Connection]:
    """Copy a database with its write-ahead log to a private folder and open the copy.

    Raises `InputError` when no consistent copy can be made, the file is no database, or reading it asks for more work
    than its size explains; `Cancelled`.
    """
    with tempfile.TemporaryDirectory(prefix="ltmem-") as folder:  # mode 0700
        copy, size = _sound_copy(path, Path(folder), cancel)
        bound = Bound(size, cancel)
        with closing(_connect(copy, bound)) as connection:
            try:
                yield connection
            except sqlite3.Error as error:
                raise InputError(f"this database cannot be read: {bound.cause(error)}", _REMEDY, path) from error


def _sound_copy(path: str, folder: Path, cancel: CancelToken | None) -> tuple[Path, int]:
    """Copy until the copy is consistent: the owner may write meanwhile; return it and the bytes of data copied.

    Raises `InputError` when it never is, or what is to be copied is more than `MOST_COPIED`.

    Frames that are added to the log meanwhile do no harm; a checkpoint, which moves them into the file, does. A journal
    that lies there means a change half made, which opening the copy takes back.
    """
    problem: str | None = ""
    for attempt in range(1, COPY_ATTEMPTS + 1):
        copy = folder / f"{attempt}.sqlite"
        before = _state(path)
        size = copy_sparse(path, copy, MOST_COPIED, cancel)
        for log in SIDE_FILES:
            size += _copy_log(f"{path}{log}", Path(f"{copy}{log}"), MOST_COPIED - size, cancel)
        _forget_name(Path(f"{copy}{JOURNAL}"))
        problem = _problem(copy, Bound(size, cancel)) if _state(path) == before else "it is being written at the moment"
        if problem is None:
            return copy, size
    raise InputError(f"this database cannot be read: {problem}", _REMEDY, path)


def _state(path: str) -> tuple[int, int, bytes, bool]:
    """Return what a checkpoint or a change of the file itself would alter: size, time, start of the log, journal."""
    size = changed = 0
    head = b""
    with suppress(OSError):
        status = os.lstat(path)
        size, changed = status.st_size, status.st_mtime_ns
    with suppress(InputError):  # a log that is not there, or goes away at this moment
        head = first_bytes(f"{path}{WRITE_AHEAD_LOG}", _WAL_HEADER)
    return size, changed, head, os.path.lexists(f"{path}{JOURNAL}")


def _copy_log(source: str, target: Path, most: int, cancel: CancelToken | None) -> int:
    """Copy a log that lies beside a database and return its bytes; one that goes away is seen by `_state`."""
    if not os.path.lexists(source):
        return 0
    try:
        return copy_sparse(source, target, most, cancel)
    except InputError:
        if os.path.lexists(source):
            raise
        target.unlink(missing_ok=True)
        return 0


def _forget_name(journal: Path) -> None:
    """Take the name of another file from a copied journal: opening the copy would delete that file."""
    if not journal.exists() or journal.stat().st_size < len(NAME_MARK):
        return
    with journal.open("r+b") as file:
        file.seek(-len(NAME_MARK), os.SEEK_END)
        if names_another_file(file.read()):
            file.seek(-len(NAME_MARK), os.SEEK_END)
            file.write(NO_NAME)


def _connect(path: Path, bound: Bound) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    bound.watch(connection)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.row_factory = sqlite3.Row
    return connection


def _problem(path: Path, bound: Bound) -> str | None:
    try:
        with closing(_connect(path, bound)) as connection:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        return bound.cause(error)
    return None if answer == "ok" else str(answer)


@dataclass(frozen=True, slots=True)
class IndexedThread:
    """One row of `threads`: what it says, where its rollout should be, and when it changed (Unix seconds)."""

    id: str
    row: ThreadRow
    rollout_path: str
    started_at: int | None
    updated_at: int | None


def read_threads(path: str, cancel: CancelToken | None = None) -> dict[str, IndexedThread]:
    """Return all rows of the `threads` table by id. Raises `InputError` for an unreadable database; `Cancelled`."""
    with private_copy(path, cancel) as connection:
        if "id" not in columns_of(connection, "threads"):
            return {}
        rows = rows_of(connection, "threads")
    threads = (_thread(row) for row in rows)
    return {thread.id: thread for thread in threads}


def _thread(row: Record) -> IndexedThread:
    source = text_of(row.get("source"))
    value: object = source
    if source.startswith("{"):
        try:
            value = decode_record(source.encode("utf-8", "replace"))
        except Undecodable:
            value = source
    word, detail = source_word(value)
    thread_source = text_of(row.get("thread_source"))
    if word not in ("subagent", "internal") and thread_source not in ("", "user"):
        word, detail = ("subagent" if thread_source == "subagent" else "internal"), thread_source
    if word not in ("subagent", "internal") and (text_of(row.get("agent_role")) or text_of(row.get("agent_nickname"))):
        word, detail = "subagent", "agent_role"
    mode = text_of(row.get("memory_mode")) or "enabled"
    title = text_of(row.get("name")) or text_of(row.get("title"))
    return IndexedThread(
        id=text_of(row.get("id")),
        row=ThreadRow(
            source=word,
            source_detail=detail,
            memory_mode=mode if mode in ("enabled", "polluted") else "disabled",
            archived=bool(row.get("archived")),
            cwd=text_of(row.get("cwd")),
            # Codex writes the line of an empty branch too; only NULL is none.
            git_branch=None if row.get("git_branch") is None else text_of(row["git_branch"]),
            title=one_line(title),
        ),
        rollout_path=text_of(row.get("rollout_path")),
        started_at=unix_seconds(row.get("created_at_ms")) or unix_seconds(row.get("created_at")),
        updated_at=unix_seconds(row.get("updated_at_ms")) or unix_seconds(row.get("updated_at")),
    )


def threads_beside(history: str, cancel: CancelToken | None = None) -> dict[str, IndexedThread]:
    """Return the rows of the state database that belongs to a history database: it lies beside it."""
    folder = Path(history).parent
    found = [match for match in (STATE_NAME.match(entry.name) for entry in folder.iterdir()) if match]
    for name in (match[0] for match in sorted(found, key=lambda match: -int(match[1]))):
        try:
            return read_threads(str(folder / name), cancel)
        except InputError:
            continue
    return {}


def list_threads(path: str, cancel: CancelToken | None = None) -> list[RolloutRef]:
    """Return one reference per thread of a history database; `size` counts its items, `mtime_ns` is its last change.

    Raises `InputError` for an unreadable database; `Cancelled`.
    """
    with private_copy(path, cancel) as connection:
        columns = columns_of(connection, "thread_items")
        if not {"thread_id", "item_json"} <= set(columns):
            return []
        times = [name for name in ("created_at_ms", "completed_at_ms", "updated_at_ordinal") if name in columns]
        selected = ", ".join(["thread_id", "count(*) AS items", *(f"max({name}) AS {name}" for name in times)])
        query = f"SELECT {selected} FROM thread_items GROUP BY thread_id LIMIT {MOST_ROWS + 1}"
        rows = not_too_many([dict(row) for row in connection.execute(query)], "thread_items")
    refs: list[RolloutRef] = []
    for row in rows:
        newest_ms = max(_int(row.get("created_at_ms")), _int(row.get("completed_at_ms")))
        change = newest_ms * 1_000_000 + _int(row.get("updated_at_ordinal")) % 1_000_000
        refs.append(RolloutRef("codex", path, _int(row["items"]), change, text_of(row["thread_id"])))
    return refs


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def load_thread(ref: RolloutRef) -> Rollout:
    """Read one session of a history database. Raises `InputError` when it is not there."""
    thread_id = ref.thread_id or ""
    with private_copy(ref.path) as connection:
        columns = columns_of(connection, "thread_items")
        if not {"thread_id", "item_json"} <= set(columns):
            raise InputError("this database holds no items of sessions", "name thread_history_*.sqlite", ref.path)
        order = "rollout_ordinal, rowid" if "rollout_ordinal" in columns else "rowid"
        rows = rows_of(connection, "thread_items", where="thread_id = ?", order=order, params=(thread_id,))
        undone = _undone_turns(connection, thread_id)
    if not rows:
        raise InputError(f"no session {thread_id!r} is in this database", "list them with --source", ref.path)
    items: list[RolloutItem] = []
    cwd = ""
    for position, row in enumerate(rows, 1):
        made, folder = items_of(row, position)
        cwd = cwd or folder
        left = text_of(row.get("turn_id")) in undone
        items.extend(replace(item, undone=True) if left else item for item in made)
    times = [item.at for item in items if item.at is not None]
    rollout = Rollout(
        id=thread_id,
        agent="codex",
        path=ref.path,
        cwd=cwd,
        started_at=min(times, default=None),
        updated_at=max(times, default=None) or ref.mtime_ns // 1_000_000_000,
        items=tuple(items),
        warnings=() if any(item.kind == "message" for item in items) else (f"{len(rows)} rows and no message",),
    )
    return replace(rollout, title=one_line(clean(next(iter(rollout.user_texts), ""))))


def _undone_turns(connection: sqlite3.Connection, thread_id: str) -> set[str]:
    if not {"thread_id", "turn_id", "status"} <= set(columns_of(connection, "thread_turns")):
        return set()
    rows = rows_of(connection, "thread_turns", where="thread_id = ?", params=(thread_id,))
    gone = {"rolledback", "rolled_back", "rolled-back"}
    return {text_of(row["turn_id"]) for row in rows if text_of(row["status"]).lower() in gone}
