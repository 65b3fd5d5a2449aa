"""Names of the memory folder: summary stems, fixed names, and which relative paths are allowed (reference §4.5–4.7).

A stem is `<time>-<hash>[-<slug>]`, byte for byte what Codex writes for the same row. Stems that would be one file
on a disk that ignores case or Unicode form are told apart by `-2`, `-3`, … for the later thread id (design §5.2).
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.extraction import StageOneOutput

FILENAME_TS_FORMAT: Final = "%Y-%m-%dT%H-%M-%S"
RETENTION_DAYS: Final = 7
EXTENSIONS_SUBDIR: Final = "extensions"
ROLLOUT_SUMMARIES_SUBDIR: Final = "rollout_summaries"
RAW_MEMORIES_FILENAME: Final = "raw_memories.md"
WORKSPACE_DIFF_FILENAME: Final = "phase2_workspace_diff.md"
WORKSPACE_DIFF_MAX_BYTES: Final = 4 * 1024 * 1024
SLUG_CHARACTERS: Final = 60
STAGING_PREFIX: Final = ".ltmem-"

_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HASH_CHARACTERS: Final = 4
_UUID: Final = re.compile(
    r"(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}",
    re.IGNORECASE,
)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}", re.ASCII)
_GREGORIAN_TO_UNIX: Final = 12_219_292_800  # seconds between 1582-10-15 and 1970-01-01
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
# White space as Unicode defines it, which is what Codex trims; str.strip() would take U+001C–U+001F too.
WHITE_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" + (
    "\u2028\u2029\u202f\u205f\u3000"
)


def utc(seconds: int) -> datetime:
    """Return Unix seconds as a UTC time; what the calendar cannot hold becomes its nearest end."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC, microsecond=0) if seconds > 0 else datetime.min.replace(tzinfo=UTC)


def summary_stem(output: StageOneOutput) -> str:
    """Return the stem Codex gives the row's summary file (reference §4.5)."""
    identity = _parse_uuid(output.thread_id)
    seconds = output.source_updated_at
    if identity is not None:
        embedded = _embedded_seconds(identity)
        seconds = output.source_updated_at if embedded is None else embedded
        seed = identity.int & 0xFFFF_FFFF
    else:
        seed = _rolling_hash(output.thread_id.encode("utf-8", "surrogatepass"))
    stem = f"{_timestamp(seconds)}-{_base62(seed)}"
    slug = file_slug(output.rollout_slug)
    return f"{stem}-{slug}" if slug else stem


def file_slug(slug: str | None) -> str:
    """Make a slug safe for a file name: ASCII letters and digits in lower case, `_` for all else, 60 characters."""
    trimmed = (slug or "").strip(WHITE_SPACE)[:SLUG_CHARACTERS]
    return "".join(c.lower() if c.isascii() and c.isalnum() else "_" for c in trimmed).rstrip("_")


def summary_stems(outputs: Iterable[StageOneOutput]) -> dict[str, str]:
    """Return thread id → stem, all distinct after NFC and case folding, independent of the order of `outputs`."""
    taken: set[str] = set()
    stems: dict[str, str] = {}
    for output in sorted(outputs, key=lambda o: o.thread_id):
        base = stem = summary_stem(output)
        number = 1
        while fold(stem) in taken:
            number += 1
            stem = f"{base}-{number}"
        taken.add(fold(stem))
        stems[output.thread_id] = stem
    return stems


def fold(name: str) -> str:
    """Return what two names have in common on disks that ignore case and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def resource_time(name: str) -> datetime | None:
    """Return the UTC time a file name begins with (its first 19 characters); None where there is none."""
    head = name[:19]
    if not _TIMESTAMP.fullmatch(head):
        return None
    try:
        return datetime.strptime(head, FILENAME_TS_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def check_path(path: str) -> tuple[str, ...]:
    """Return the components of a path inside a memory folder.

    Raises `RefusedError` for a path that is absolute, climbs, is not portable (Windows, 255 bytes a name), or lies
    in `.git` or in the program's own staging folder.
    """
    parts = tuple(path.split("/"))
    for part in parts:
        reason = _unsafe(part)
        if reason:
            raise RefusedError(f"a path that {reason} is not written", "leave this file out", path)
    if parts[0].startswith(STAGING_PREFIX):
        raise RefusedError("the name is kept for the program's own staging", "leave this file out", path)
    return parts


def _unsafe(part: str) -> str:
    if part in ("", ".", ".."):
        return "is absolute or climbs out of the folder"
    if fold(part).rstrip(". ") == ".git" or fold(part) == "git~1":
        return "enters the git folder"
    if any(ord(c) < 32 or c in '<>:"\\|?*\x7f' for c in part) or part[-1] in ". " or _RESERVED.fullmatch(part):
        return "has a name not legal on every system"
    try:
        too_long = len(part.encode("utf-8")) > 255
    except UnicodeEncodeError:
        return "is not Unicode text"
    return "has a name longer than 255 bytes" if too_long else ""


def _parse_uuid(text: str) -> uuid.UUID | None:
    return uuid.UUID(text) if _UUID.fullmatch(text) else None


def _embedded_seconds(identity: uuid.UUID) -> int | None:
    version = (identity.int >> 76) & 0xF
    if version == 7:
        return (identity.int >> 80) // 1000
    if version == 1:
        return identity.time // 10_000_000 - _GREGORIAN_TO_UNIX
    if version == 6:
        ticks = (identity.int >> 80) << 12 | (identity.int >> 64) & 0xFFF
        return ticks // 10_000_000 - _GREGORIAN_TO_UNIX
    return None


def _timestamp(seconds: int) -> str:
    # strftime does not pad years below 1000 everywhere.
    return utc(seconds).isoformat(timespec="seconds")[:19].replace(":", "-")


def _base62(seed: int) -> str:
    digits = ""
    for _ in range(_HASH_CHARACTERS):
        seed, rest = divmod(seed, len(_ALPHABET))
        digits = _ALPHABET[rest] + digits
    return digits


def _rolling_hash(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value * 31 + byte) & 0xFFFF_FFFF
    return value
