"""Read a Claude Code transcript, line by line (reference: rollout-formats §4).

Lines form a tree by `parentUuid`. File order is kept; branches that the person left behind (a prompt edited or
rewound) are marked undone. Work of sub-agents inside the file is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, ToolUse
from ltmem_gui.sources.claude_tree import Node, abandoned
from ltmem_gui.sources.codex_items import IMAGE
from ltmem_gui.sources.decoding import Record, clean, json_text, list_of, record_of, text_of, unix_seconds
from ltmem_gui.sources.host_text import claude_class, without_reminders

_STATE_LINES = frozenset(
    {
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "custom-title",
        "ai-title",
        "last-prompt",
        "agent-name",
        "pr-link",
        "permission-mode",
        "worktree-state",
        "relocated",
    }
)
_CONVERSATION = frozenset({"user", "assistant", "system", "attachment", "progress"})


def looks_like_claude(record: Record) -> bool:
    """Tell whether a record is a line of a Claude Code transcript."""
    kind = record.get("type")
    if not isinstance(kind, str) or ("payload" in record and "sessionId" not in record):
        return False
    if kind in ("user", "assistant"):
        return isinstance(record.get("message"), dict) and bool({"uuid", "sessionId"} & record.keys())
    return kind in _STATE_LINES or ("uuid" in record and "sessionId" in record)


@dataclass(slots=True)
class _Line:
    """One conversation line: its place in the tree and its items."""

    node: Node
    session: str
    items: list[RolloutItem]


class ClaudeReader:
    """Collect the lines of one transcript. `stem` is the file's name without its ending."""

    def __init__(self, stem: str = "", foreign: frozenset[str] = frozenset()) -> None:
        self._stem = stem
        self._foreign = foreign  # uuids of lines that another file holds already
        self._lines: list[_Line] = []
        self._seen: set[str] = set()
        self._sessions: dict[str, int] = {}
        self._tools: dict[str, str] = {}
        self._times: list[int] = []
        self._cwd = ""
        self._branch = ""
        self._entrypoint = ""
        self._version_agent = ""
        self._titles: dict[str, str] = {}
        self._summaries: list[tuple[str, str]] = []
        self._side: list[int] = []  # line numbers of sub-agent work

    def feed(self, line: int, record: Record) -> None:
        """Take one record."""
        kind = text_of(record.get("type"))
        at = unix_seconds(record.get("timestamp"))
        if at is not None:
            first, last = (self._times[0], self._times[1]) if self._times else (at, at)
            self._times = [min(first, at), max(last, at)]
        if kind in _CONVERSATION:
            self._take_line(line, kind, record, at)
        elif kind == "summary":
            self._summaries.append((text_of(record.get("summary")), text_of(record.get("leafUuid"))))
        elif kind in ("custom-title", "ai-title"):
            title = text_of(record.get("customTitle")) or text_of(record.get("aiTitle")) or text_of(record.get("title"))
            self._titles[kind] = title or self._titles.get(kind, "")

    def _take_line(self, line: int, kind: str, record: Record, at: int | None) -> None:
        uuid = text_of(record.get("uuid"))
        if uuid and uuid in self._seen:
            return  # a resumed session repeats its old lines
        self._seen.add(uuid)
        session = text_of(record.get("sessionId"))
        if session:
            self._sessions[session] = self._sessions.get(session, 0) + 1
        self._cwd = self._cwd or text_of(record.get("cwd"))
        self._branch = self._branch or text_of(record.get("gitBranch"))
        self._entrypoint = self._entrypoint or text_of(record.get("entrypoint"))
        self._version_agent = self._version_agent or text_of(record.get("agentId"))
        side = record.get("isSidechain") is True
        if side and kind in ("user", "assistant"):
            self._side.append(line)
        items = list(self._items(line, kind, record, at))
        typed = any(item.role == "user" and item.kind == "message" and not item.injected for item in items)
        parent = text_of(record.get("parentUuid")) or text_of(record.get("logicalParentUuid"))
        node = Node(uuid, parent, typed=typed, leaf=typed or kind in ("user", "assistant"), side=side)
        self._lines.append(_Line(node, session, items))

    def _items(self, line: int, kind: str, record: Record, at: int | None) -> Iterator[RolloutItem]:
        message = record_of(record.get("message"))
        if kind == "user":
            yield from self._user(line, record, message, at)
        elif kind == "assistant":
            yield from self._assistant(line, record, message, at)
        elif kind == "attachment":
            attachment = record_of(record.get("attachment"))
            if attachment.get("type") == "queued_command":
                yield from _user_text(line, _joined(attachment.get("prompt")), at, host=False)
        elif kind == "system" and record.get("subtype") == "api_error":
            yield RolloutItem("harness", "event", "api error", line, injected=True, at=at)

    def _user(self, line: int, record: Record, message: Record, at: int | None) -> Iterator[RolloutItem]:
        host = any(record.get(key) is True for key in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"))
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
        texts: list[str] = []
        for block in map(record_of, blocks):
            match block.get("type"):
                case "text":
                    texts.append(text_of(block.get("text")))
                case "tool_result":
                    yield self._tool_result(line, block, at)
                case "image":
                    yield RolloutItem("user", "image", IMAGE, line, injected=host, at=at)
                case _:
                    pass
        for text in texts:
            yield from _user_text(line, text, at, host=host)

    def _tool_result(self, line: int, block: Record, at: int | None) -> RolloutItem:
        call_id = text_of(block.get("tool_use_id"))
        tool = ToolUse(self._tools.get(call_id, ""), call_id, block.get("is_error") is True)
        text = without_reminders(_joined(block.get("content")))
        return RolloutItem("tool", "tool_output", text, line, tool=tool, at=at)

    def _assistant(self, line: int, record: Record, message: Record, at: int | None) -> Iterator[RolloutItem]:
        made_up = message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
        for block in map(record_of, blocks):
            match block.get("type"):
                case "text":
                    text = text_of(block.get("text"))
                    if not text:
                        continue
                    if made_up:
                        yield RolloutItem("harness", "event", text, line, injected=True, at=at)
                    else:
                        yield RolloutItem("assistant", "message", text, line, at=at)
                case "tool_use" | "server_tool_use":
                    name, call_id = text_of(block.get("name")), text_of(block.get("id"))
                    self._tools[call_id] = name
                    tool = ToolUse(name, call_id)
                    yield RolloutItem("assistant", "tool_call", json_text(block.get("input")), line, tool=tool, at=at)
                case "image":
                    yield RolloutItem("assistant", "image", IMAGE, line, at=at)
                case _:
                    pass

    def finish(self, path: str) -> Rollout:
        """Return the rollout; the caller adds what it knows of lines and of the file."""
        agent_file = bool(self._lines) and all(x.node.side for x in self._lines if x.node.leaf)
        agent_file = agent_file and any(x.node.leaf for x in self._lines)
        own_session = self._session()
        undone = abandoned([x.node for x in self._lines]) if not agent_file else frozenset[str]()
        items: list[RolloutItem] = []
        for entry in self._lines:
            if entry.node.side and not agent_file:
                continue
            inherited = entry.node.uuid in self._foreign or (bool(entry.session) and entry.session != own_session)
            left = entry.node.uuid in undone
            for item in entry.items:
                given = replace(item, role="agent", injected=True) if agent_file and _is_typed(item) else item
                items.append(replace(given, inherited=inherited, undone=left) if inherited or left else given)
        warnings: tuple[str, ...] = ()
        if self._side and not agent_file:
            warnings = (f"left out: sub-agent work on {len(self._side)} lines of this file",)
        source, detail = self._source(agent_file)
        rollout = Rollout(
            id=(self._version_agent or self._stem.removeprefix("agent-")) if agent_file else own_session or self._stem,
            agent="claude",
            path=path,
            cwd=self._cwd,
            git_branch=self._branch or None,
            source=source,
            source_detail=detail,
            parent=own_session or None if agent_file else None,
            originator=self._entrypoint,
            started_at=self._times[0] if self._times else None,
            updated_at=self._times[1] if self._times else None,
            items=tuple(items),
            warnings=warnings,
        )
        return replace(rollout, title=one_line(self._title() or next(iter(rollout.user_texts), "")))

    def _session(self) -> str:
        if self._stem in self._sessions:
            return self._stem
        return next(iter(self._sessions), "")

    def _source(self, agent_file: bool) -> tuple[str, str]:
        if agent_file:
            return "subagent", "sidechain"
        if self._entrypoint.startswith("sdk"):
            return "exec", self._entrypoint
        return ("vscode", "") if "vscode" in self._entrypoint else ("cli", "")

    def _title(self) -> str:
        named = self._titles.get("custom-title") or self._titles.get("ai-title")
        if named:
            return named
        own = [text for text, leaf in self._summaries if leaf in self._seen]
        return own[-1] if own else ""


def _is_typed(item: RolloutItem) -> bool:
    return item.role == "user" and item.kind == "message"


def _user_text(line: int, text: str, at: int | None, *, host: bool) -> Iterator[RolloutItem]:
    if host:
        if text:
            yield RolloutItem("user", "instructions", text, line, injected=True, at=at)
        return
    own = without_reminders(text)
    if not own:
        if text:
            yield RolloutItem("user", "instructions", text, line, injected=True, at=at)
        return
    name = claude_class(own)
    if name == "agent":
        yield RolloutItem("agent", "message", own, line, injected=True, at=at)
    else:
        yield RolloutItem("user", name, own, line, injected=name != "message", at=at)


def _joined(content: object) -> str:
    """Return the text of a content that is a string here and a list of blocks there."""
    if isinstance(content, str):
        return clean(content)
    parts: list[str] = []
    for block in map(record_of, list_of(content)):
        if block.get("type") == "image":
            parts.append(IMAGE)
        elif isinstance(block.get("text"), str):
            parts.append(text_of(block["text"]))
    return "\n".join(parts)
