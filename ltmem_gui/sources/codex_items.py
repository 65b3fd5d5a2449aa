"""Turn one Codex response item into items of a rollout (reference: rollout-formats §1.5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ltmem_gui.domain.rollouts import RolloutItem, ToolUse
from ltmem_gui.sources.decoding import Record, clean, json_text, list_of, record_of, text_of
from ltmem_gui.sources.host_text import codex_class, without_ide_context

IMAGE = "[image omitted]"
AUDIO = "[audio omitted]"
RESPONSE_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "tool_search_output",
        "image_generation_call",
        "agent_message",
        "compaction",
        "context_compaction",
        "ghost_snapshot",
    }
)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_TRAILING_EXIT_CODE = re.compile(r"\(exited with code (-?\d+)\)\s*\Z")
_HEADER_CHARS = 400  # exit codes stand in the few lines that the host puts in front of an output


def is_tool_item(payload: Record) -> bool:
    """Tell whether a response item is a tool's call or output."""
    return text_of(payload.get("type")) in _CALLS | _OUTPUTS


class ItemMaker:
    """Make items; it keeps the names of the tools that were called, to name their outputs."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}

    def make(self, payload: Record, line: int | None, at: int | None) -> Iterator[RolloutItem]:
        """Yield the items of one response item; nothing for kinds that memory has no use for."""
        kind = text_of(payload.get("type"))
        if kind == "message":
            yield from _message(payload, line, at)
        elif kind in _CALLS:
            yield self._call(payload, kind, line, at)
        elif kind in _OUTPUTS:
            yield self._output(payload, line, at)
        elif kind == "agent_message":
            text = "\n".join(_texts(payload.get("content")))
            if text:
                yield RolloutItem("agent", "message", text, line, injected=True, at=at)

    def _call(self, payload: Record, kind: str, line: int | None, at: int | None) -> RolloutItem:
        name = text_of(payload.get("name")) or kind.removesuffix("_call")
        namespace = text_of(payload.get("namespace"))
        if namespace:
            name = f"{namespace}.{name}"
        call_id = text_of(payload.get("call_id"))
        if call_id:
            self._tools[call_id] = name
        body = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key) is not None), None)
        return RolloutItem("assistant", "tool_call", json_text(body), line, tool=ToolUse(name, call_id), at=at)

    def _output(self, payload: Record, line: int | None, at: int | None) -> RolloutItem:
        call_id = text_of(payload.get("call_id"))
        body = payload.get("output", payload.get("tools"))
        text, failed = output_text(body)
        tool = ToolUse(self._tools.get(call_id, ""), call_id, failed)
        return RolloutItem("tool", "tool_output", text, line, tool=tool, at=at)


def _message(payload: Record, line: int | None, at: int | None) -> Iterator[RolloutItem]:
    role = text_of(payload.get("role")) or "user"
    content = payload.get("content")
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else list_of(content)
    if role == "user":
        meta = record_of(payload.get("internal_chat_message_metadata_passthrough"))
        kinds = list_of(meta.get("content_item_kinds"))
        yield from _user_items(parts, kinds if len(kinds) == len(parts) else [], line, at)
        return
    host = role == "developer"
    text = "\n".join(_texts(parts))
    if text:
        kind = "instructions" if host else "message"
        yield RolloutItem(role, kind, text, line, injected=host, at=at, message_id=text_of(payload.get("id")))
    for placeholder in _media(parts):
        yield RolloutItem(role, "image", placeholder, line, injected=host, at=at)


def _user_items(
    parts: Sequence[object], kinds: Sequence[object], line: int | None, at: int | None
) -> Iterator[RolloutItem]:
    """Yield one item per run of parts of one class: a message can mix host text and the person's words."""
    run: list[str] = []
    run_class = ""
    for index, part in enumerate(parts):
        text = next(iter(_texts([part])), None)
        if text is None:
            continue
        mark = kinds[index] if index < len(kinds) else None
        name = codex_class(text, mark if isinstance(mark, str) else None)
        if name != run_class and run:
            yield from _user_item(run_class, "\n".join(run), line, at)
            run = []
        run_class = name
        run.append(text)
    if run:
        yield from _user_item(run_class, "\n".join(run), line, at)
    for placeholder in _media(parts):
        yield RolloutItem("user", "image", placeholder, line, at=at)


def _user_item(name: str, text: str, line: int | None, at: int | None) -> Iterator[RolloutItem]:
    if name == "agent":
        yield RolloutItem("agent", "message", text, line, injected=True, at=at)
    elif name != "message":
        yield RolloutItem("user", name, text, line, injected=True, at=at)
    else:
        front, own = without_ide_context(text)
        if front:
            yield RolloutItem("user", "instructions", front, line, injected=True, at=at)
        if own:
            yield RolloutItem("user", "message", own, line, at=at)


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [clean(content)]
    found = (record_of(part).get("text") for part in list_of(content))
    return [clean(text) for text in found if isinstance(text, str)]


def _media(content: object) -> list[str]:
    kinds = (record_of(part).get("type") for part in list_of(content))
    names = {"input_image": IMAGE, "image": IMAGE, "local_image": IMAGE, "input_audio": AUDIO, "audio": AUDIO}
    return [names[kind] for kind in kinds if isinstance(kind, str) and kind in names]


def output_text(body: object) -> tuple[str, bool]:
    """Return the text of a tool's output and whether it tells of a failure; five shapes occur."""
    if isinstance(body, list):
        text = ""
        for part in _texts(body) + _media(body):
            text += part if not text or text.endswith("\n") else "\n" + part
        return text, _failed(text) or text.startswith("Script failed")
    if isinstance(body, dict):
        return _wrapped(body)
    if isinstance(body, str):
        if body.startswith('{"output":'):
            try:
                inner = json.loads(body)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, dict):
                return _wrapped(inner)
        return clean(body), _failed(body)
    return json_text(body), False


def _wrapped(body: Record) -> tuple[str, bool]:
    text = body.get("output", body.get("content"))
    code = record_of(body.get("metadata")).get("exit_code")
    failed = body.get("success") is False or (isinstance(code, int) and code != 0)
    if not isinstance(text, str):
        return json_text(body if text is None else text), failed
    return clean(text), failed


def _failed(text: str) -> bool:
    found = _EXIT_CODE.search(text[:_HEADER_CHARS]) or _TRAILING_EXIT_CODE.search(text[-40:])
    return found is not None and int(found[1]) != 0
