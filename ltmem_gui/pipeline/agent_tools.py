"""The only six things the consolidation agent can do, all inside its staged copy (reference §4.9, §5.4).

Whatever the model writes as a call is answered: a malformed or unknown call with an error it can read, a call that
leaves the fence with a refusal that is counted. Nothing here raises for any call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ltmem_gui.domain.agent import AgentAction, AgentCall, CallArgument, ToolOutcome, ToolSpec
from ltmem_gui.domain.naming import (
    EXTENSIONS_SUBDIR,
    RAW_MEMORIES_FILENAME,
    ROLLOUT_SUMMARIES_SUBDIR,
    WORKSPACE_DIFF_FILENAME,
)
from ltmem_gui.domain.staging import StagingMissing, StagingRefused
from ltmem_gui.pipeline.agent_arguments import given, unread
from ltmem_gui.pipeline.agent_ports import StagedFolder
from ltmem_gui.pipeline.agent_search import Match, MatchMode, Search, find
from ltmem_gui.pipeline.failure_words import LONGEST

MAX_LISTED = 2_000
MAX_MATCHES = 200
MAX_CONTEXT_LINES = 50
READ_BYTES = 20_000 * 4
"""20 000 tokens at four bytes each."""
SMALLEST_ANSWER = 2_000
MAX_FOUND = 10_000
"""How many places a search counts; a model that finds more is to ask for less."""
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_FILE_LINES = 1_000_000
"""What a file may become by the tools: far beyond any memory, and what a computer can hold in lines."""
MAX_ARGUMENTS = 64 * 1024 * 1024

SMALLEST_PART = 200
BAD_ARGUMENTS = "bad arguments"
_UNKNOWN_CURSOR = "the cursor is not one that an earlier answer gave"
_OBJECT = TypeAdapter(dict[str, Any])

Path = Annotated[str, Field(max_length=4_096)]


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ListArguments(_Arguments):
    """Name the entries of a folder."""

    path: Path = ""
    cursor: str = ""
    max_results: Annotated[int, Field(ge=1)] = MAX_LISTED


class ReadArguments(_Arguments):
    """Read a text file by lines."""

    path: Path
    line_offset: Annotated[int, Field(ge=1)] = 1
    max_lines: Annotated[int, Field(ge=1)] | None = None


class SearchArguments(_Arguments):
    """Find substrings in a file or below a folder."""

    queries: Annotated[list[str], Field(min_length=1, max_length=32)]
    path: Path = ""
    match_mode: MatchMode = "any"
    line_count: Annotated[int, Field(ge=1, le=1_000)] = 5
    case_sensitive: bool = True
    normalized: bool = False
    context_lines: Annotated[int, Field(ge=0, le=MAX_CONTEXT_LINES)] = 0
    cursor: str = ""
    max_results: Annotated[int, Field(ge=1)] = MAX_MATCHES


class WriteArguments(_Arguments):
    """Create a file, or replace a whole one."""

    path: Path
    content: str


class EditArguments(_Arguments):
    """Replace a text that occurs exactly once, or everywhere."""

    path: Path
    old_text: Annotated[str, Field(min_length=1)]
    new_text: str
    replace_all: bool = False


class DeleteArguments(_Arguments):
    """Delete one file."""

    path: Path


_DESCRIPTIONS: dict[str, tuple[type[_Arguments], str]] = {
    "list": (
        ListArguments,
        "List the names directly in a folder (path empty: the root); folders end with '/'. "
        "Continue with the cursor of the answer.",
    ),
    "read": (
        ReadArguments,
        "Read a text file. Each line of the answer begins with its number and a tab, which are not part of the file. "
        "Long files come in parts: continue at next_line_offset.",
    ),
    "search": (
        SearchArguments,
        "Find substrings, in one file or below a folder. match_mode: any; all_on_same_line; all_within_lines, with "
        "line_count. normalized compares letters and digits only.",
    ),
    "write": (WriteArguments, "Create a file, or replace a whole file. Prefer edit for small changes."),
    "edit": (
        EditArguments,
        "Replace old_text by new_text. old_text must be in the file exactly once, without line numbers, unless "
        "replace_all is true.",
    ),
    "delete": (DeleteArguments, "Delete one file."),
}


def tool_specs() -> tuple[ToolSpec, ...]:
    """Return the tools as the model is told of them."""
    return tuple(ToolSpec(name, text, _schema(model)) for name, (model, text) in _DESCRIPTIONS.items())


def is_input(path: str) -> bool:
    """Tell whether the program made this file, or the person's tools did: the agent may read it only."""
    first = path.partition("/")[0]
    return path in (RAW_MEMORIES_FILENAME, WORKSPACE_DIFF_FILENAME) or first in (
        ROLLOUT_SUMMARIES_SUBDIR,
        EXTENSIONS_SUBDIR,
    )


class _Refused(Exception):
    """A call that cannot be answered with a result."""

    def __init__(self, outcome: ToolOutcome, kind: str, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome
        self.kind = kind


class Toolbox:
    """Carry out tool calls on one staged copy; `refusals` counts by kind what was refused."""

    def __init__(self, folder: StagedFolder, answer_bytes: int = READ_BYTES) -> None:
        """Take the copy; `answer_bytes` bounds what one `read` or `search` tells, for models with little room."""
        self._folder = folder
        self._answer_bytes = max(min(answer_bytes, READ_BYTES), SMALLEST_ANSWER)
        self.refusals: Counter[str] = Counter()
        # A large file is read part by part: it is cut into lines once while it stays the same.
        self._cut: tuple[bytes, list[str]] = (b"", [])
        self._tools: dict[str, Callable[[Any], dict[str, Any]]] = {
            "list": self._list,
            "read": self._read,
            "search": self._search,
            "write": self._write,
            "edit": self._edit,
            "delete": self._delete,
        }

    def call(self, call: AgentCall) -> tuple[AgentAction, str]:
        """Carry out one call; return what the transcript shows and what the model is told, as JSON."""
        path, asked = "", None
        try:
            arguments = self._arguments(call)
            path = getattr(arguments, "path", "")
            asked = given({name: getattr(arguments, name) for name in _in_order(arguments)})
            result = self._tools[call.name](arguments)
        except _Refused as error:
            outcome, kind, text = error.outcome, error.kind, str(error)
        except StagingMissing as error:
            outcome, kind, text = ToolOutcome.ERROR, "not found", str(error)
        except StagingRefused as error:
            outcome, kind, text = ToolOutcome.REFUSED, error.kind, str(error)
        else:
            done = _action(call, path, ToolOutcome.DONE, str(result.pop("detail", "")), "", asked)
            return done, json.dumps(result, ensure_ascii=False)
        if outcome is ToolOutcome.REFUSED:
            self.refusals[kind] += 1
        action = _action(call, path, outcome, text, kind, unread(call.arguments) if asked is None else asked)
        return action, json.dumps({outcome.value: text}, ensure_ascii=False)

    def too_many(self, call: AgentCall) -> tuple[AgentAction, str]:
        """Answer a call that is one too many for its step; it is refused and counted."""
        kind, text = "too many calls", "not carried out: too many calls in one step"
        self.refusals[kind] += 1
        action = _action(call, "", ToolOutcome.REFUSED, text, kind, unread(call.arguments))
        return action, json.dumps({ToolOutcome.REFUSED.value: text})

    def _arguments(self, call: AgentCall) -> _Arguments:
        known = _DESCRIPTIONS.get(call.name)
        if known is None:
            names = ", ".join(_DESCRIPTIONS)
            raise _Refused(ToolOutcome.REFUSED, "unknown tool", f"there is no such tool; there are: {names}")
        if len(call.arguments) > MAX_ARGUMENTS:
            raise _Refused(ToolOutcome.REFUSED, "size", "the call is too large")
        try:
            given = _OBJECT.validate_json(call.arguments or "{}")
            # Many models write null for what they leave out.
            return known[0].model_validate({k: v for k, v in given.items() if v is not None}, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "arguments"
            text = f"the call cannot be read: {where}: {first['msg']}"
            raise _Refused(ToolOutcome.ERROR, BAD_ARGUMENTS, text) from error

    def _list(self, wanted: ListArguments) -> dict[str, Any]:
        path = wanted.path.rstrip("/")
        names = [f"{name}/" if folder else name for name, folder in self._folder.names(path)]
        start = _cursor(wanted.cursor, len(names))
        end = min(start + min(wanted.max_results, MAX_LISTED), len(names))
        return {
            "path": path,
            "entries": names[start:end],
            "next_cursor": str(end) if end < len(names) else None,
            "detail": f"{end - start} entries",
        }

    def _read(self, wanted: ReadArguments) -> dict[str, Any]:
        lines = self._lines(wanted.path)
        if wanted.line_offset > max(len(lines), 1):
            raise _Refused(ToolOutcome.ERROR, BAD_ARGUMENTS, f"the file has {len(lines)} lines")
        start = wanted.line_offset - 1
        last = len(lines) if wanted.max_lines is None else min(start + wanted.max_lines, len(lines))
        shown: list[str] = []
        room = self._answer_bytes
        for number in range(start, last):
            row, left = _numbered(number + 1, lines[number], room)
            if left < 0 and shown:
                break  # a line is only cut where it is longer than a whole answer
            shown.append(row)
            room = left
            if room <= 0:
                break
        end = start + len(shown)
        return {
            "path": wanted.path,
            "start_line_number": wanted.line_offset,
            "total_lines": len(lines),
            "truncated": end < len(lines) or room < 0,
            "next_line_offset": end + 1 if end < len(lines) else None,
            "content": "\n".join(shown),
            "detail": f"lines {wanted.line_offset}-{end} of {len(lines)}",
        }

    def _search(self, wanted: SearchArguments) -> dict[str, Any]:
        search = Search(
            tuple(wanted.queries), wanted.match_mode, wanted.line_count, wanted.case_sensitive, wanted.normalized
        )
        start = _cursor(wanted.cursor, MAX_FOUND)
        page = min(wanted.max_results, MAX_MATCHES)
        matches: list[dict[str, Any]] = []
        total = 0
        room = self._answer_bytes
        try:
            for match, lines in islice(self._found(wanted.path.rstrip("/"), search), MAX_FOUND):
                total += 1
                if start < total <= start + page and (room > SMALLEST_PART or not matches):
                    shown, room = _shown(match, lines, wanted.context_lines, room)
                    matches.append(shown)
        except ValueError as error:
            raise _Refused(ToolOutcome.ERROR, BAD_ARGUMENTS, str(error)) from error
        if start > total:
            raise _Refused(ToolOutcome.ERROR, BAD_ARGUMENTS, _UNKNOWN_CURSOR)
        end = start + len(matches)
        counted = f"{total}{' or more' if total == MAX_FOUND else ''} matches"
        return {
            "matches": matches,
            "total": total,
            "next_cursor": str(end) if end < total else None,
            "detail": f"{counted} of {', '.join(wanted.queries)}",
        }

    def _found(self, path: str, search: Search) -> Iterator[tuple[Match, list[str]]]:
        """Yield the matches with the lines of their file, file after file."""
        for name in self._below(path):
            lines = self._text_lines(name)
            for match in find(name, lines, search):
                yield match, lines

    def _write(self, wanted: WriteArguments) -> dict[str, Any]:
        self._require_writable(wanted.path)
        data = _bytes(wanted.content)
        _require_size(len(data), data.count(b"\n"))
        new = self._folder.write(wanted.path, data)
        done = f"{'created' if new else 'replaced'}, {len(data)} bytes"
        return {"path": wanted.path, "done": done, "detail": done}

    def _edit(self, wanted: EditArguments) -> dict[str, Any]:
        self._require_writable(wanted.path)
        text = self._text(wanted.path)
        count = text.count(wanted.old_text)
        if count == 0:
            raise _Refused(ToolOutcome.ERROR, "no match", "old_text is not in the file; read the file again")
        if count > 1 and not wanted.replace_all:
            wrong = f"old_text is in the file {count} times; give more of what surrounds"
            raise _Refused(ToolOutcome.ERROR, "no match", wrong)
        old, new = _bytes(wanted.old_text), _bytes(wanted.new_text)
        grown = len(text.encode("utf-8")) + count * (len(new) - len(old))
        _require_size(grown, text.count("\n") + count * (new.count(b"\n") - old.count(b"\n")))
        self._folder.write(wanted.path, _bytes(text.replace(wanted.old_text, wanted.new_text)))
        done = f"{count} replaced" if count > 1 else "replaced"
        return {"path": wanted.path, "done": done, "detail": done}

    def _delete(self, wanted: DeleteArguments) -> dict[str, Any]:
        self._require_writable(wanted.path)
        self._folder.delete(wanted.path)
        return {"path": wanted.path, "done": "deleted", "detail": "deleted"}

    def _require_writable(self, path: str) -> None:
        if is_input(path):
            text = "this file is an input of the consolidation and may only be read"
            raise _Refused(ToolOutcome.REFUSED, "read-only", text)

    def _text(self, path: str) -> str:
        return _decoded(self._folder.read(path))

    def _lines(self, path: str) -> list[str]:
        data = self._folder.read(path)
        if data != self._cut[0]:
            self._cut = (data, _split(_decoded(data)))
        return self._cut[1]

    def _text_lines(self, path: str) -> list[str]:
        try:
            return _split(self._folder.read(path).decode("utf-8"))
        except UnicodeDecodeError:
            return []

    def _below(self, path: str) -> Iterator[str]:
        """Yield a file, or every file below a folder, by path."""
        try:
            names = self._folder.names(path)
        except StagingRefused as error:
            if error.kind != "not a file":
                raise
            yield path
            return
        prefix = f"{path}/" if path else ""
        for name, folder in names:
            if folder:
                yield from self._below(prefix + name)
            else:
                yield prefix + name


def _action(
    call: AgentCall,
    path: str,
    outcome: ToolOutcome,
    detail: str,
    reason: str,
    asked: tuple[CallArgument, ...],
) -> AgentAction:
    """Return a call with its words as they are: whoever shows it takes secrets out, and only then cuts and joins lines.

    A secret may go over lines, and is not found any more when they are one.
    """
    name, where, why = (text[:LONGEST] for text in (call.name, path, detail))
    return AgentAction(name, where, outcome, why, reason, asked)


def _in_order(arguments: _Arguments) -> list[str]:
    """Return the names that the model gave a value for, as the tool lists them."""
    return [name for name in type(arguments).model_fields if name in arguments.model_fields_set]


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Refused(ToolOutcome.ERROR, "not text", "not UTF-8 text") from error


def _split(text: str) -> list[str]:
    """Return the lines of a text; they end at 0x0A only, and a last end makes no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _numbered(number: int, line: str, room: int) -> tuple[str, int]:
    """Return a line with its number, cut to the room that is left, and the room after it (negative: it was cut)."""
    row = f"{number}\t{line}"
    size = len(row.encode("utf-8", "replace")) + 1
    if size <= room:
        return row, room - size
    kept = row.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return f"{kept}…line cut…", -1


def _shown(match: Match, lines: list[str], context: int, room: int) -> tuple[dict[str, Any], int]:
    """Return a match with the lines around it, and the room that is left."""
    rows: list[str] = []
    for number in range(max(match.start - context, 1), min(match.end + context, len(lines)) + 1):
        row, room = _numbered(number, lines[number - 1], max(room, SMALLEST_PART))
        rows.append(row)
    return {"path": match.path, "start": match.start, "end": match.end, "content": "\n".join(rows)}, room


def _require_size(size: int, lines: int) -> None:
    """Refuse a file before it is made in memory: one edit can ask for any size."""
    if size > MAX_FILE_BYTES or lines > MAX_FILE_LINES:
        text = f"the file would have {size} bytes in {lines} lines; {MAX_FILE_BYTES} in {MAX_FILE_LINES} are allowed"
        raise _Refused(ToolOutcome.REFUSED, "size", text)


def _cursor(text: str, total: int) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > total:
        raise _Refused(ToolOutcome.ERROR, BAD_ARGUMENTS, _UNKNOWN_CURSOR)
    return int(text)


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        wrong = "the text is not valid Unicode (a lone surrogate)"
        raise _Refused(ToolOutcome.ERROR, BAD_ARGUMENTS, wrong) from error


def _schema(model: type[_Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments without titles and docstrings, which only cost tokens."""
    schema = model.model_json_schema()
    properties = {
        name: {key: value for key, value in part.items() if key != "title"}
        for name, part in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }
