"""Read one file whole: recognise the format by what is in it, use every whole line, list every other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import BinaryIO, Protocol

import zstandard

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.rollouts import Rollout, SkippedLine
from ltmem_gui.sources.claude import ClaudeReader, looks_like_claude
from ltmem_gui.sources.codex import CodexReader, looks_like_codex
from ltmem_gui.sources.codex_items import is_tool_item
from ltmem_gui.sources.decoding import Record, record_of, text_of, uuids_in
from ltmem_gui.sources.files import first_bytes, is_compressed, open_lines
from ltmem_gui.sources.filtering import FilterPass
from ltmem_gui.sources.lines import Line, decode_line, read_lines, too_long

UNDECIDED_LINES = 1_000
PEEK_BYTES = 8 * 1024
# The head as Codex writes it; any other is decoded. Heads are long (12–18 kB of instructions) and start with the id.
_USUAL_HEAD = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{'
    rb'(?:"account_scoped":(?:true|false),)?(?:"session_id":"[^"\\]*",)?"id":"([0-9A-Za-z-]+)"'
)
HUGE_BYTES = 32 * 1024 * 1024
_ENDINGS = (".zst", ".jsonl", ".json")


class NotASession(InputError):
    """A file that was read and holds no session of a known agent."""


class Reader(Protocol):
    """Collect records of one format."""

    def feed(self, line: int, record: Record) -> None:
        """Take one record."""
        ...

    def finish(self, path: str) -> Rollout:
        """Return what was collected."""
        ...


@dataclass(slots=True)
class Damage:
    """What a file holds besides records: its lines, those that could not be used, its unfinished tail."""

    skipped: list[SkippedLine] = field(default_factory=list)
    tail: int | None = None
    ended_early: bool = False
    lines: int = 0


def stem_of(path: str) -> str:
    """Return a file's name without the endings of sessions."""
    name = PurePath(path).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def read_session(path: str, foreign: frozenset[str] = frozenset()) -> Rollout:
    """Read a session file. `foreign` holds uuids of lines that another file holds already.

    Raises `InputError` when the file cannot be opened, is empty, or holds no session of a known agent.
    """
    damage = Damage()
    with open_lines(path) as stream:
        status = os.lstat(path)
        compressed = is_compressed(stream)
        if status.st_size > HUGE_BYTES and not compressed and peek_session(path).agent == "codex":
            rollout = _read_huge(path, stream, damage)
            return with_damage(rollout, damage, int(status.st_mtime))
        reader = feed_all(decoded(read_lines(stream), damage), path, foreign=foreign)
    # A cut compressed file ends like a whole one, but in the middle of a line.
    damage.ended_early = damage.ended_early or (compressed and (damage.tail is not None or not damage.lines))
    if reader is None:
        raise _not_a_session(path, damage)
    return with_damage(reader.finish(path), damage, int(status.st_mtime))


def _read_huge(path: str, stream: BinaryIO, damage: Damage) -> Rollout:
    """Read a Codex rollout above `HUGE_BYTES`: all that was said, and the tools' part near both ends.

    The middle of a long session is cut from a model's input anyway; here it is not even decoded, and that is said.
    """
    filtered = FilterPass(os.fstat(stream.fileno()).st_size)
    reader = CodexReader(_file_id(path))

    def lines() -> Iterator[Line]:
        for number, data, far in filtered.run(stream):
            line = too_long(number) if data is None else decode_line(number, data)
            payload = record_of((line.record or {}).get("payload", line.record))
            if far and data is not None and is_tool_item(payload):
                filtered.middle_lines += 1
                filtered.middle_bytes += len(data)
                continue
            yield line

    for number, record in decoded(lines(), damage):
        reader.feed(number, record)
    damage.lines = filtered.lines
    limits = decode_line(0, filtered.limits).record if filtered.limits else None
    reader.take_passed_over(filtered.newest.decode("ascii", "replace"), limits)
    rollout = reader.finish(path)
    if not filtered.middle_lines:
        return rollout
    note = f"a very large session: {filtered.middle_lines} tool calls and outputs in its middle were not read"
    return replace(rollout, warnings=(*rollout.warnings, f"{note} ({filtered.middle_bytes >> 20} MiB)"))


def decoded(lines: Iterator[Line], damage: Damage) -> Iterator[tuple[int, Record]]:
    """Yield (line number, record) and note everything else."""
    try:
        for line in lines:
            damage.lines = line.number
            if line.record is not None:
                yield line.number, line.record
            elif line.unfinished:
                damage.tail = line.number
            elif line.reason:
                damage.skipped.append(SkippedLine(line.number, line.reason))
    except (zstandard.ZstdError, EOFError):
        damage.ended_early = True


def feed_all(
    records: Iterator[tuple[int, Record]],
    path: str,
    reader: Reader | None = None,
    *,
    foreign: frozenset[str] = frozenset(),
) -> Reader | None:
    """Feed all records to the reader, or to the one that the first telling record chooses; None when none tells."""
    waiting: list[tuple[int, Record]] = []
    for number, record in records:
        if reader is None:
            waiting.append((number, record))
            reader = choose_reader(record, path, foreign)
            if reader is None:
                if number > UNDECIDED_LINES:
                    return None
                continue
            for early in waiting:
                reader.feed(*early)
            waiting.clear()
        else:
            reader.feed(number, record)
    return reader


def choose_reader(record: Record, path: str, foreign: frozenset[str] = frozenset()) -> Reader | None:
    """Return a reader for the format that this record belongs to, None when it does not tell."""
    stem = stem_of(path)
    if looks_like_claude(record):
        return ClaudeReader(stem, foreign)
    if looks_like_codex(record):
        return CodexReader(_file_id(path))
    return None


def _file_id(path: str) -> str | None:
    ids = uuids_in(stem_of(path))
    return ids[-1] if ids else None


@dataclass(frozen=True, slots=True)
class Peek:
    """What the first lines of a file tell: agent, thread id where it is known, and the first line's uuid."""

    agent: str
    thread_id: str | None
    first_uuid: str = ""


def peek_session(path: str) -> Peek:
    """Recognise a file by its first lines. Raises `InputError` when it is no session."""
    start = first_bytes(path, PEEK_BYTES)
    if head := _USUAL_HEAD.match(start):
        return Peek("codex", head[1].decode("ascii"))
    first = _peek_record(_first_record(start), path)
    if first is not None:
        return first
    damage = Damage()
    with open_lines(path) as stream:
        for number, record in decoded(read_lines(stream), damage):
            found = _peek_record(record, path)
            if found is not None:
                return found
            if number > UNDECIDED_LINES:
                break
    raise _not_a_session(path, damage)


def _first_record(start: bytes) -> Record:
    """Return the first line's record when one short read holds it, else an empty one: most files tell at once."""
    line, ended, _ = start.partition(b"\n")
    if not ended:
        return {}
    return decode_line(1, line + b"\n").record or {}


def _peek_record(record: Record, path: str) -> Peek | None:
    if looks_like_claude(record):
        return _peek_claude(record, path)
    if looks_like_codex(record):
        head = record_of(record.get("payload")) if "payload" in record else record
        named = text_of(head.get("id")) if record.get("type") in (None, "session_meta") else ""
        return Peek("codex", named or _file_id(path))
    return None


def _peek_claude(record: Record, path: str) -> Peek | None:
    session = text_of(record.get("sessionId"))
    uuid = text_of(record.get("uuid"))
    if not session or not uuid:
        return None
    stem = stem_of(path)
    if record.get("isSidechain") is True and text_of(record.get("agentId")):
        return Peek("claude", text_of(record.get("agentId")), uuid)
    return Peek("claude", stem if uuids_in(stem) == [stem.lower()] else session, uuid)


def _not_a_session(path: str, damage: Damage) -> NotASession:
    if damage.ended_early:
        return NotASession("this compressed file is cut or damaged", "restore it from a copy, or leave it out", path)
    if not damage.lines:
        return NotASession("this file is empty", "leave it out, or name another file", path)
    what = "no line of this file is a record of a session that is known (Codex, Claude Code)"
    if damage.tail is not None or damage.skipped:
        first = damage.skipped[0] if damage.skipped else SkippedLine(damage.tail or 1, "unfinished")
        what += f"; line {first.line} is {first.reason}"
    return NotASession(what, "name a rollout file, or the folder that holds rollouts", path)


def with_damage(rollout: Rollout, damage: Damage, modified: int) -> Rollout:
    """Add what is known of the file; `modified` (Unix seconds) is its time where no record has one."""
    warnings = list(rollout.warnings)
    if damage.ended_early:
        warnings.append(f"the compressed file ends early, after line {damage.lines}")
    if not any(item.kind == "message" for item in rollout.items):
        warnings.append(f"{damage.lines} lines and no message: nothing can be learnt from this session")
    return replace(
        rollout,
        updated_at=rollout.updated_at if rollout.updated_at is not None else modified,
        archived="archived_sessions" in PurePath(rollout.path).parts,
        skipped_lines=tuple(damage.skipped),
        incomplete_tail_line=damage.tail,
        warnings=tuple(warnings),
    )
