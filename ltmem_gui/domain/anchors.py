"""Where cited lines are now: a machine's answer, apart from whether they support the claim (design §4)."""

from __future__ import annotations

import posixpath
import re

_DRIVE = re.compile(r"[A-Za-z]:")


def inside_root(path: str) -> str | None:
    """Return the path below the memory root in its normal form, None for one that leads outside.

    Absolute paths, drive letters, backslashes, `~`, NUL and `..` that climbs out are outside.
    """
    if not path or path.startswith(("/", "~")) or "\\" in path or "\x00" in path or _DRIVE.match(path):
        return None
    normal = posixpath.normpath(path)
    return None if normal in (".", "..") or normal.startswith("../") else normal


def line_count(data: bytes) -> int:
    """Return the number of lines, ended by 0x0A; a last line without one counts."""
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)
