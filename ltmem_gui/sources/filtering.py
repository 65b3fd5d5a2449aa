"""Pass over a very large Codex rollout without decoding what memory has no use for (reference: performance §3).

Lines are found block by block and told apart by their first bytes. The pattern trusts the usual writer's key order;
every line it does not match is decoded, so that another writer costs time and never content. Lines passed over are
checked cheaply (closed, one record, no NUL); one that fails is decoded and then listed as damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from ltmem_gui.sources.lines import MAX_LINE_BYTES

BLOCK_BYTES = 4 * 1024 * 1024
EDGE_BYTES = 4 * 1024 * 1024
SMALL_LINE_BYTES = 1024
GLUE_BYTES = 8 * 1024

_USELESS_ITEMS = rb"reasoning|compaction|context_compaction|ghost_snapshot|image_generation_call|additional_tools"
_TOOL_ITEMS = (
    rb"function_call_output|function_call|custom_tool_call_output|custom_tool_call"
    rb"|tool_search_call|tool_search_output|local_shell_call|web_search_call"
)
_NEEDED_EVENTS = rb"thread_rolled_back|thread_name_updated|task_started"
_USELESS_LINES = rb"compacted|world_state|token_usage_record|realtime_item|retained_context|security_risk_score"
_PATTERN = re.compile(
    rb'\{"timestamp":"([^"\\]{1,40})",(?:"ordinal":\d+,)?"type":"(?:'
    rb'response_item","payload":\{"type":"(?:(?P<tool>' + _TOOL_ITEMS + rb")|" + _USELESS_ITEMS + rb')"'
    rb'|event_msg","payload":\{"type":"(?:(?P<limits>token_count)|(?!(?:' + _NEEDED_EVENTS + rb')")[a-z_]+)"'
    rb'|(?P<context>turn_context)"|(?:' + _USELESS_LINES + rb')"'
    rb")"
)
_RECORD_START = b'{"timestamp":"'


@dataclass(slots=True)
class FilterPass:
    """One pass over a stream of `size` bytes; the counts are complete when the iteration ends.

    `middle_lines` and `middle_bytes` count the tool calls and outputs that were passed over because they stand more
    than `edge` bytes from both ends; `newest` is the greatest timestamp of all lines passed over, `limits` the last
    line with rate limits.
    """

    size: int
    edge: int = EDGE_BYTES
    lines: int = 0
    kept_lines: int = 0
    middle_lines: int = 0
    middle_bytes: int = 0
    newest: bytes = b""
    limits: bytes = b""
    _start: int = field(init=False, default=0)  # behind the last line end of the block

    def run(self, stream: BinaryIO) -> Iterator[tuple[int, bytes | None, bool]]:
        """Yield every line to decode: number, bytes with the line end (None above the limit), far from both ends."""
        buffer = bytearray(2 * BLOCK_BYTES)
        filled, offset = 0, 0  # `offset`: place of the buffer's first byte in the stream
        damaged = False  # NUL bytes in this block: decode all its lines
        while True:
            if filled + BLOCK_BYTES > len(buffer):
                buffer.extend(bytes(BLOCK_BYTES))
            with memoryview(buffer) as view:
                count = stream.readinto(view[filled : filled + BLOCK_BYTES]) or 0  # type: ignore[attr-defined]
            end = filled + count
            damaged = buffer.find(0, filled, end) >= 0 or (filled > 0 and damaged)
            for number, start, stop, far in self._wanted(buffer, filled, end, offset, damaged):
                yield number, bytes(buffer[start:stop]), far
            start = self._start
            if not count:
                if start < end:
                    self.lines += 1
                    yield self.lines, bytes(buffer[start:end]), False
                return
            filled = end - start
            offset += start
            buffer[:filled] = buffer[start:end]
            if filled > MAX_LINE_BYTES:
                self.lines += 1
                yield self.lines, None, False
                offset += filled + _skip_line(stream)
                filled = 0
            if len(buffer) > 2 * BLOCK_BYTES >= 2 * filled:
                del buffer[2 * BLOCK_BYTES :]

    def _wanted(
        self, buffer: bytearray, searched: int, end: int, offset: int, damaged: bool
    ) -> list[tuple[int, int, int, bool]]:
        """Return (number, start, stop, far from both ends) of each line of this block that is to be decoded."""
        # One tight loop over local names: it runs once per line of a file of hundreds of megabytes.
        match, find = _PATTERN.match, buffer.find
        head, tail = self.edge - offset, self.size - self.edge - offset
        number, newest, limits = self.lines, self.newest, (0, 0)
        spans: list[tuple[int, int, int, bool]] = []
        near_only = ("tool", "context")
        start, stop = 0, find(b"\n", searched, end)
        while stop >= 0:
            number += 1
            far = head <= start < tail and stop - start > SMALL_LINE_BYTES
            found = None if damaged else match(buffer, start, stop)
            group = found.lastgroup if found else None
            if found is None or (group in near_only and not far) or _is_doubtful(buffer, find, found, stop):
                spans.append((number, start, stop + 1, far))
            else:
                if found[1] > newest:
                    newest = found[1]
                if group == "limits":
                    limits = (start, stop)
                elif group == "tool":
                    self.middle_lines += 1
                    self.middle_bytes += stop - start
            start = stop + 1
            stop = find(b"\n", start, end)
        if limits[1]:
            self.limits = bytes(buffer[limits[0] : limits[1]])
        self.kept_lines += len(spans)
        self.lines, self.newest, self._start = number, newest, start
        return spans


def _is_doubtful(buffer: bytearray, find: Callable[..., int], found: re.Match[bytes], stop: int) -> bool:
    """Tell whether a line is not closed, or may hold a second record glued on a cut one.

    The glued one stands last, and few are longer than `GLUE_BYTES`.
    """
    if buffer[stop - 1] != 0x7D and buffer[stop - 2 : stop] != b"}\r":
        return True
    begin, window = found.end(), stop - GLUE_BYTES
    brace = find(0x7B, begin if begin > window else window, stop)
    return brace >= 0 and find(_RECORD_START + found[1][:4], brace, stop) >= 0


def _skip_line(stream: BinaryIO) -> int:
    """Read on to the end of the line; return the number of bytes read."""
    count = 0
    while more := stream.readline(BLOCK_BYTES):
        count += len(more)
        if more.endswith(b"\n"):
            break
    return count
