"""Read a Codex rollout of any generation, record by record (reference: rollout-formats §1).

The envelope `{timestamp, type, payload}` and the bare item of 2025 are taken on every line; unknown types are passed
over. Events repeat what response items say, so they count only in a file that has no messages else.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import RateLimits, Rollout, RolloutItem
from ltmem_gui.sources.codex_items import RESPONSE_ITEMS, ItemMaker
from ltmem_gui.sources.decoding import Record, clean, list_of, record_of, text_of, unix_seconds, uuid7_seconds
from ltmem_gui.sources.host_text import codex_class, without_ide_context

_CWD = re.compile(r"<cwd>(.*?)</cwd>", re.DOTALL)
_ENVELOPES = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "token_usage_record",
    }
)
_SOURCE_ALIASES = {"appserver": "mcp", "app-server": "mcp", "app_server": "mcp"}
_FORK_BURST_SECONDS = 1


def looks_like_codex(record: Record) -> bool:
    """Tell whether a record is one of a Codex rollout."""
    kind = text_of(record.get("type"))
    if isinstance(record.get("payload"), dict):
        return kind in _ENVELOPES or "timestamp" in record
    if "record_type" in record:
        return True
    if "type" not in record:
        return isinstance(record.get("id"), str) and "timestamp" in record
    return kind in RESPONSE_ITEMS and not {"uuid", "sessionId"} & record.keys()


def source_word(value: object) -> tuple[str, str]:
    """Return (word that eligibility follows, detail behind it) of a `source`, which is a string or an object."""
    if isinstance(value, str):
        word = clean(value).strip().lower()
        return _SOURCE_ALIASES.get(word, word), ""
    for key, inner in record_of(value).items():
        detail = inner if isinstance(inner, str) else next(iter(record_of(inner)), "")
        if key == "custom":
            return clean(str(detail)).lower(), ""
        return clean(str(key)).lower().replace("sub_agent", "subagent"), clean(str(detail))
    return "", ""


class CodexReader:
    """Collect the records of one rollout. `file_id` is the thread id in the file's name, where there is one."""

    def __init__(self, file_id: str | None = None) -> None:
        self._file_id = file_id
        self._maker = ItemMaker()
        self._head: Record = {}
        self._items: list[RolloutItem] = []
        self._twins: list[RolloutItem] = []
        self._undone: set[int] = set()
        self._times: list[int] = []  # first and last
        self._memory_mode = ""
        self._turn_cwd = ""
        self._title = ""
        self._limits: RateLimits | None = None
        self._has_messages = False
        self._last: Record = {}
        self._fork = ForkSeam()

    def feed(self, line: int, record: Record) -> None:
        """Take one record."""
        if "timestamp" in record and record == self._last:
            return  # one record written twice: the same words typed in two turns have two times
        self._last = record
        payload = record.get("payload")
        if isinstance(payload, dict):
            at = unix_seconds(record.get("timestamp"))
            kind = record.get("type")
        else:
            at = None
            payload = record
            kind = "response_item" if "type" in record else "session_meta" if "id" in record else None
            if kind == "session_meta":
                at = unix_seconds(record.get("timestamp"))
        self._note_time(at)
        self._fork.note(len(self._items), kind, payload, at)
        match kind:
            case "session_meta":
                self._take_head(payload, at)
            case "response_item":
                for item in self._maker.make(payload, line, at):
                    self._items.append(item)
                    self._has_messages |= item.kind == "message" and item.role in ("user", "assistant")
            case "event_msg":
                self._take_event(payload, line, at)
            case "turn_context":
                self._turn_cwd = self._turn_cwd or text_of(payload.get("cwd"))
            case "inter_agent_communication":
                text = text_of(payload.get("content"))
                if text:
                    self._items.append(RolloutItem("agent", "message", text, line, injected=True, at=at))
            case _:
                pass

    def take_passed_over(self, newest: object, limits: object) -> None:
        """Take what the lines that were not decoded tell: their greatest time and their last rate limits."""
        self._note_time(unix_seconds(newest))
        record = record_of(limits)
        payload = record_of(record.get("payload"))
        self._limits = rate_limits(payload.get("rate_limits"), unix_seconds(record.get("timestamp"))) or self._limits

    def _note_time(self, at: int | None) -> None:
        if at is None:
            return
        # Clocks step back and copies carry old times: the newest time is the last record's.
        first, last = (self._times[0], self._times[1]) if self._times else (at, at)
        self._times = [min(first, at), max(last, at)]

    def _take_head(self, payload: Record, at: int | None) -> None:
        named = text_of(payload.get("id")) or text_of(payload.get("session_id"))
        mine = self._file_id is not None and named.lower() == self._file_id
        # The first head is the session's own, unless a later one has the id that the file is named after.
        if not self._head or (mine and text_of(self._head.get("id")).lower() != self._file_id):
            self._head = payload
            self._memory_mode = ""
            self._fork.begin(payload, at)
        if named == text_of(self._head.get("id")):
            self._memory_mode = text_of(payload.get("memory_mode")) or self._memory_mode

    def _take_event(self, payload: Record, line: int, at: int | None) -> None:
        match payload.get("type"):
            case "thread_rolled_back":
                turns = payload.get("num_turns")
                self._roll_back(turns if isinstance(turns, int) and not isinstance(turns, bool) else 0)
            case "thread_name_updated":
                self._title = text_of(payload.get("thread_name")) or text_of(payload.get("name")) or self._title
            case "token_count":
                self._limits = rate_limits(payload.get("rate_limits"), at) or self._limits
            case "user_message":
                self._twin("user", text_of(payload.get("message")), line, at)
            case "agent_message":
                self._twin("assistant", text_of(payload.get("message")), line, at)
            case "item_completed":
                item = record_of(payload.get("item"))
                role = {"UserMessage": "user", "AgentMessage": "assistant"}.get(str(item.get("type")))
                texts = [text_of(record_of(part).get("text")) for part in list_of(item.get("content"))]
                if role:
                    self._twin(role, "\n".join(text for text in texts if text), line, at, text_of(item.get("id")))
            case _:
                pass

    def _twin(self, role: str, text: str, line: int, at: int | None, message_id: str = "") -> None:
        if not text or self._has_messages:
            return
        name = codex_class(text) if role == "user" else "message"
        own = without_ide_context(text)[1] if name == "message" and role == "user" else text
        item = RolloutItem(role, name, own, line, injected=name != "message", at=at, message_id=message_id)
        self._twins.append(item)

    def _roll_back(self, turns: int) -> None:
        """Mark the last `turns` turns as undone; a turn begins with a message that the person typed."""
        if turns <= 0:
            return
        starts: list[int] = []
        for index, item in enumerate(self._items):
            typed = item.kind in ("message", "image") and item.role == "user" and not item.injected
            if typed and index not in self._undone:
                same = starts and self._items[starts[-1]].line == item.line
                if not same:
                    starts.append(index)
        if starts:
            begin = starts[-turns] if turns <= len(starts) else starts[0]
            self._undone.update(range(begin, len(self._items)))

    def finish(self, path: str) -> Rollout:
        """Return the rollout; the caller adds what it knows of lines and of the file."""
        if not self._has_messages and self._twins:
            # Only events tell what was said: they stand in for the missing items.
            both = sorted([*self._items, *self._twins], key=lambda item: item.line or 0)
            return self._assemble(path, tuple(both))
        seam = self._fork.seam(len(self._items))
        marked = tuple(
            replace(item, inherited=index < seam, undone=index in self._undone)
            if index < seam or index in self._undone
            else item
            for index, item in enumerate(self._items)
        )
        return self._assemble(path, marked)

    def _assemble(self, path: str, items: tuple[RolloutItem, ...]) -> Rollout:
        head = self._head
        word, detail = source_word(head.get("source"))
        thread_source = text_of(head.get("thread_source"))
        parent = text_of(head.get("forked_from_id")) or text_of(head.get("parent_thread_id"))
        spawn = record_of(record_of(record_of(head.get("source")).get("subagent")).get("thread_spawn"))
        parent = parent or text_of(spawn.get("parent_thread_id"))
        if word not in ("subagent", "internal"):
            word, detail = _second_signs(head, thread_source) or (word, detail)
        started = unix_seconds(head.get("timestamp"))
        rollout = Rollout(
            id=text_of(head.get("id")) or text_of(head.get("session_id")) or self._file_id or "",
            agent="codex",
            path=path,
            cwd=text_of(head.get("cwd")) or self._turn_cwd or _context_cwd(items),
            git_branch=text_of(record_of(head.get("git")).get("branch")) or None,
            source=word,
            source_detail=detail,
            parent=parent or None,
            originator=text_of(head.get("originator")),
            started_at=started if started is not None else self._times[0] if self._times else None,
            updated_at=self._times[1] if self._times else None,
            items=items,
            memory_mode=_mode(self._memory_mode),
            ephemeral=head.get("ephemeral") is True,
            rate_limits=self._limits,
            warnings=() if head else ("the session's head is missing: origin and folder are taken from what is left",),
        )
        title = self._title or next(iter(rollout.user_texts), "")
        return replace(rollout, title=one_line(title))


def _second_signs(head: Record, thread_source: str) -> tuple[str, str] | None:
    """Return a source for heads that name an agent only in passing (reference: rollout-formats §1.4)."""
    if thread_source and thread_source != "user":
        return ("subagent" if thread_source == "subagent" else "internal"), thread_source
    for key in ("agent_role", "agent_type", "agent_nickname", "parent_thread_id"):
        if text_of(head.get(key)):
            return "subagent", key
    return None


def _mode(word: str) -> str:
    return {"": "enabled", "enabled": "enabled", "polluted": "polluted"}.get(word, "disabled")


def _context_cwd(items: tuple[RolloutItem, ...]) -> str:
    for item in items:
        if item.kind == "context" and (found := _CWD.search(item.text)):
            return found[1].strip()
    return ""


def rate_limits(value: object, at: int | None) -> RateLimits | None:
    """Return the limits a `token_count` event carries, None when it names none."""
    limits = record_of(value)
    if not limits:
        return None
    reached = text_of(limits.get("rate_limit_reached_type")) or None
    return RateLimits(
        limit_id=text_of(limits.get("limit_id")),
        at=at or 0,
        primary_used_percent=_percent(limits.get("primary")),
        secondary_used_percent=_percent(limits.get("secondary")),
        reached=reached,
    )


def _percent(window: object) -> float | None:
    value: Any = record_of(window).get("used_percent")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


class ForkSeam:
    """Find where a fork's own part begins: after its head stand its parent's head and records.

    Signs, best first: a turn id made after the fork itself (UUIDv7 holds its time); a jump in time after the copies,
    which were all written at once.
    """

    def __init__(self) -> None:
        self._born: float | None = None
        self._is_fork = False
        self._began_at: int | None = None
        self._copied_head = False
        self._old_turns = False
        self._by_turn: int | None = None
        self._by_time: int | None = None
        self._id = ""

    def begin(self, head: Record, at: int | None) -> None:
        """Take the head of the file."""
        self._id = text_of(head.get("id"))
        self._is_fork = bool(text_of(head.get("forked_from_id")))
        self._born = uuid7_seconds(self._id)
        self._began_at = at

    def note(self, position: int, kind: object, payload: Record, at: int | None) -> None:
        """Take one record that stands before item number `position`."""
        if not self._id:
            return
        if kind == "session_meta" and text_of(payload.get("id")) not in ("", self._id):
            self._copied_head = True
            return
        meta = record_of(payload.get("internal_chat_message_metadata_passthrough"))
        made = uuid7_seconds(payload.get("turn_id") or meta.get("turn_id"))
        if made is not None and self._born is not None:
            if made < self._born:
                self._old_turns = True
            elif self._by_turn is None:
                self._by_turn = position
        late = at is not None and self._began_at is not None and at > self._began_at + _FORK_BURST_SECONDS
        if late and self._by_time is None:
            self._by_time = position

    def seam(self, count: int) -> int:
        """Return the number of items at the start that were inherited."""
        if not (self._is_fork or self._copied_head):
            return 0
        if self._by_turn is not None or self._old_turns:
            return count if self._by_turn is None else self._by_turn
        if not self._copied_head:
            return 0
        return count if self._by_time is None else self._by_time
