"""Tell folders apart by their names alone: nothing is resolved on disk just to show a list."""

from __future__ import annotations

import posixpath
import re

_DRIVE = re.compile(r"\A[A-Za-z]:(?:[\\/]|\Z)")


def folder_key(path: str) -> str:
    r"""Return one spelling for all spellings of a folder: `\\?\` prefix, separators, `..` and drive case evened out.

    POSIX paths keep their case; Windows paths do not, as their file systems do not. An empty path stays empty.
    """
    text = path.strip()
    if not text:
        return ""
    for prefix, replacement in (("\\\\?\\UNC\\", "\\\\"), ("\\\\?\\", ""), ("//?/", "")):
        if text.startswith(prefix):
            text = replacement + text.removeprefix(prefix)
            break
    windows = bool(_DRIVE.match(text)) or text.startswith("\\\\")
    if windows:
        text = text.replace("\\", "/").casefold()
    # normpath keeps exactly two leading slashes apart from one: that is how a network share is written.
    normal = posixpath.normpath(text)
    return normal[1:] if normal.startswith("//") and not windows else normal


def is_within(path: str, root: str) -> bool:
    """Tell whether `path` is `root` or lies below it; a shared name prefix is not enough."""
    inner, outer = folder_key(path), folder_key(root)
    if not inner or not outer:
        return False
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
