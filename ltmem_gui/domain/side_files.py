"""What lies beside an SQLite database, and what opening one would do because of it.

A journal may end in the name of a second journal (SQLite file format §3, "super-journal"): SQLite takes the change back
and deletes the file of that name, wherever it lies. No database that is read or kept here ever takes part in such a
change, so the name is never honoured.
"""

from __future__ import annotations

from typing import Final

WRITE_AHEAD_LOG: Final = "-wal"
JOURNAL: Final = "-journal"
SIDE_FILES: Final = (WRITE_AHEAD_LOG, JOURNAL)
"""What holds changes of a database, by the ends of their names."""

BESIDE: Final = (*SIDE_FILES, "-shm")
"""All that SQLite keeps beside a database while it works."""

NAME_MARK: Final = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a journal that ends in the name of another one; without them there is no name."""

NO_NAME: Final = bytes(len(NAME_MARK))


def names_another_file(tail: bytes) -> bool:
    """Tell whether the last bytes of a journal say that a name stands before them."""
    return tail == NAME_MARK
