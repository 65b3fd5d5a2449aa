"""Read physical lines: they end at byte 0x0A and nowhere else, whatever their length."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from ltmem_gui.sources.decoding import Record, Undecodable, decode_record

MAX_LINE_BYTES = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line: its record, or why it has none.

    `number` counts from 1; `record` is None with an empty `reason` for a blank line. `unfinished` marks a last line
    without a line end that holds no whole record: not damage, only not written yet.
    """

    number: int
    record: Record | None
    reason: str = ""
    unfinished: bool = False


def read_lines(stream: BinaryIO, *, limit: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield every line of a stream, decoded; a line above `limit` bytes is passed over and says so."""
    number = 0
    while data := stream.readline(limit + 1):
        number += 1
        if len(data) > limit and not data.endswith(b"\n"):
            _skip_to_line_end(stream)
            yield too_long(number, limit)
            continue
        yield decode_line(number, data)


def decode_line(number: int, data: bytes) -> Line:
    """Decode one physical line, given with its line end."""
    if number == 1 and data.startswith(_BOM):
        data = data[len(_BOM) :]
    try:
        return Line(number, decode_record(data))
    except Undecodable as error:
        reason = str(error)
        cut = not data.endswith(b"\n") and reason in ("invalid-json", "invalid-utf8")
        return Line(number, None, reason, unfinished=cut)


def too_long(number: int, limit: int = MAX_LINE_BYTES) -> Line:
    """Return the line that stands for one above the limit."""
    return Line(number, None, f"longer-than-{limit}-bytes")


def _skip_to_line_end(stream: BinaryIO) -> None:
    while more := stream.readline(1 << 20):
        if more.endswith(b"\n"):
            return


def open_zstd(raw: BinaryIO) -> BinaryIO:
    """Wrap a compressed file; reading raises `zstandard.ZstdError` when the file is damaged."""
    reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return io.BufferedReader(reader, 1 << 20)  # type: ignore[arg-type]  # a RawIOBase by duck typing
