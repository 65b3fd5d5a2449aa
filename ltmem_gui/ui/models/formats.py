"""Numbers, times and long texts as the window writes them."""

from __future__ import annotations

import posixpath
from datetime import datetime

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.measures import DASH as DASH
from ltmem_gui.domain.measures import count as count
from ltmem_gui.domain.measures import plural as plural
from ltmem_gui.domain.measures import size as size
from ltmem_gui.domain.measures import span as span
from ltmem_gui.domain.measures import tokens as tokens


def ago(at: int | None, now: int) -> str:
    """Return how long ago a Unix time was."""
    return DASH if at is None else f"{span(now - at)} ago" if at <= now else f"in {span(at - now)}"


def absolute(at: int | None) -> str:
    """Return a Unix time as local date and time."""
    if at is None:
        return DASH
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def moment(at: int | None, now: int) -> str:
    """Return the time of day within the last day, the date before that."""
    if at is None:
        return DASH
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M" if now - at < 86_400 else "%m-%d")


def minutes(seconds: int) -> str:
    """Return a remaining time as mm:ss."""
    return f"{max(0, seconds) // 60}:{max(0, seconds) % 60:02d}"


def folder(path: str, home: str = "") -> str:
    """Return a path with the person's home shortened to `~`."""
    path = one_line(path, 400)
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path


def project(cwd: str) -> str:
    """Return the last part of a working folder: what people call the project."""
    name = posixpath.basename(cwd.replace("\\", "/").rstrip("/"))
    return one_line(name or cwd, 60) or DASH


def middle(text: str, limit: int = 13) -> str:
    """Cut a long id in the middle."""
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-(limit // 2) :]}"
