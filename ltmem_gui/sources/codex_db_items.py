"""Turn one row of `thread_items` into items of a rollout; they carry their row, not a line."""

from __future__ import annotations

from collections.abc import Iterator

from ltmem_gui.domain.citations import (
    ENTRIES_OPEN,
    IDS_OPEN,
    OUTER_CLOSE,
    OUTER_OPEN,
    CitationEntry,
    ParsedCitations,
    unique_ids,
)
from ltmem_gui.domain.citations import format as format_citations
from ltmem_gui.domain.rollouts import RolloutItem, ToolUse
from ltmem_gui.sources.codex_items import IMAGE
from ltmem_gui.sources.decoding import (
    Record,
    Undecodable,
    decode_record,
    json_text,
    list_of,
    record_of,
    text_of,
    unix_seconds,
)
from ltmem_gui.sources.host_text import codex_class, without_ide_context


def items_of(row: Record, position: int) -> tuple[list[RolloutItem], str]:
    """Return the items of a row and the working folder it names ("" for none).

    `row` of the items is the record's ordinal in the rollout, or its place in the thread where there is none.
    """
    ordinal = row.get("rollout_ordinal")
    number = ordinal if isinstance(ordinal, int) and ordinal > 0 else position
    at = unix_seconds(row.get("created_at_ms")) or unix_seconds(row.get("started_at_ms"))
    end = unix_seconds(row.get("completed_at_ms")) or at
    try:
        item = decode_record(text_of(row.get("item_json")).encode("utf-8", "replace")) or {}
    except Undecodable:
        return [], ""
    return list(_items(item, number, at, end)), text_of(item.get("cwd")).removeprefix("file://")


def _items(item: Record, row: int, at: int | None, end: int | None) -> Iterator[RolloutItem]:
    call_id = text_of(item.get("id"))
    match item.get("type"):
        case "userMessage":
            yield from _user(item, row, at)
        case "agentMessage":
            text = _answer(item)
            if text:
                yield RolloutItem("assistant", "message", text, row=row, at=at, message_id=call_id)
        case "commandExecution":
            code = item.get("exitCode")
            failed = (isinstance(code, int) and code != 0) or item.get("status") in ("failed", "declined")
            call = json_text({"cmd": text_of(item.get("command")), "workdir": text_of(item.get("cwd"))})
            yield from _tool("exec_command", call, item.get("aggregatedOutput"), (call_id, failed, row, at, end))
        case "fileChange":
            failed = item.get("status") in ("failed", "declined")
            yield from _tool("apply_patch", json_text(item.get("changes")), None, (call_id, failed, row, at, end))
        case "mcpToolCall":
            name = ".".join(filter(None, (text_of(item.get("server")), text_of(item.get("tool")))))
            answer = item.get("result") if item.get("result") is not None else item.get("error")
            place = (call_id, item.get("error") is not None, row, at, end)
            yield from _tool(name, json_text(item.get("arguments")), answer, place)
        case "webSearch":
            yield from _tool("web_search", json_text(item.get("query")), None, (call_id, False, row, at, end))
        case _:
            pass


def _user(item: Record, row: int, at: int | None) -> Iterator[RolloutItem]:
    texts = [text_of(record_of(part).get("text")) for part in list_of(item.get("content"))]
    text = "\n".join(text for text in texts if text)
    if text:
        name = codex_class(text)
        own = without_ide_context(text)[1] if name == "message" else text
        role = "agent" if name == "agent" else "user"
        kind = "message" if name == "agent" else name
        if own:
            yield RolloutItem(role, kind, own, row=row, injected=name != "message", at=at)
    for part in map(record_of, list_of(item.get("content"))):
        if part.get("type") in ("image", "localImage"):
            yield RolloutItem("user", "image", IMAGE, row=row, at=at)


def _answer(item: Record) -> str:
    """Return an answer as a rollout file has it: the database keeps what was cited beside the text, not in it."""
    text, kept = text_of(item.get("text")), record_of(item.get("memoryCitation"))
    entries = tuple(_entry(record_of(entry)) for entry in list_of(kept.get("entries")))
    ids = tuple(text_of(id_) for id_ in list_of(kept.get("rolloutIds")) or list_of(kept.get("threadIds")))
    if (not entries and not any(ids)) or ENTRIES_OPEN in text or IDS_OPEN in text:
        return text
    block = format_citations(ParsedCitations(entries, unique_ids(ids)))
    return f"{text}\n{OUTER_OPEN}\n{block}{OUTER_CLOSE}".lstrip()


def _entry(entry: Record) -> CitationEntry:
    start, end = entry.get("lineStart"), entry.get("lineEnd")
    return CitationEntry(
        text_of(entry.get("path")),
        start if isinstance(start, int) and start > 0 else 0,
        end if isinstance(end, int) and end > 0 else 0,
        text_of(entry.get("note")),
    )


def _tool(
    name: str, call: str, output: object, place: tuple[str, bool, int, int | None, int | None]
) -> Iterator[RolloutItem]:
    call_id, failed, row, at, end = place
    yield RolloutItem("assistant", "tool_call", call, row=row, tool=ToolUse(name, call_id), at=at)
    text = json_text(output)
    if text or failed:
        yield RolloutItem("tool", "tool_output", text, row=row, tool=ToolUse(name, call_id, failed), at=end)
