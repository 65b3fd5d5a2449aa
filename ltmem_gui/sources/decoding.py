"""Turn one physical line into one record, and hostile values into plain ones; never raise for what a file holds.

Lone surrogates and U+0000 become U+FFFD here, at the border, so that every later step can encode and store the text.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import orjson

Record = dict[str, Any]

_BAD_CHARS = re.compile("[\ud800-\udfff\x00]")
_LATEST = 32_503_680_000  # the year 3000: later numbers are milliseconds or finer
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


class Undecodable(Exception):
    """A line that holds no record; the message says why."""


def decode_record(data: bytes) -> Record | None:
    """Decode one line without its line end; None for a blank one.

    NUL runs around a record (a crash leaves them) are taken off. Raises `Undecodable` with the reason.
    """
    text = data.strip(b" \t\r\n\x00")
    if not text:
        if b"\x00" in data:
            raise Undecodable("nul-bytes")
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _decode_leniently(text)
    if not isinstance(value, dict):
        raise Undecodable("not-an-object")
    return value


def _decode_leniently(text: bytes) -> Any:
    """Accept what orjson refuses and JSON allows: halves of surrogate pairs. Raises `Undecodable`."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Undecodable("invalid-utf8") from error
    try:
        return json.loads(decoded)
    except RecursionError as error:
        raise Undecodable("nested-too-deeply") from error
    except ValueError as error:
        raise Undecodable("invalid-json") from error


def clean(text: str) -> str:
    """Replace halves of surrogate pairs and U+0000 by U+FFFD; whole pairs stay whole."""
    if text.isascii() and "\x00" not in text:
        return text
    return _BAD_CHARS.sub("\ufffd", text)


def text_of(value: object) -> str:
    """Return a string as it is (cleaned), "" for everything else."""
    return clean(value) if isinstance(value, str) else ""


def record_of(value: object) -> Record:
    """Return an object as it is, an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return a list as it is, an empty one for everything else."""
    return value if isinstance(value, list) else []


def json_text(value: object) -> str:
    """Return a string as it is and any other value as compact JSON; "" for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value)
    try:
        return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return ""


def unix_seconds(value: object) -> int | None:
    """Return a time as Unix seconds: ISO text (no zone means UTC), seconds, milliseconds, micro- or nanoseconds."""
    if isinstance(value, str):
        return _from_iso(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 < value < 1e22:
        return None
    while value > _LATEST:
        value /= 1000
    return int(value)


def _from_iso(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = int(moment.timestamp() // 1)
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < _LATEST else None


def uuids_in(name: str) -> list[str]:
    """Return the UUIDs in a file name, lower case."""
    return [found.lower() for found in _UUID.findall(name)]


def uuid7_seconds(value: object) -> float | None:
    """Return the creation time within a UUIDv7, None for any other text."""
    text = value.removeprefix("msg_") if isinstance(value, str) else ""
    if not _UUID.fullmatch(text) or text[14] != "7":
        return None
    return int(text[:8] + text[9:13], 16) / 1000
