"""The one model of a session that everything else uses, whatever agent wrote it.

Times are Unix seconds, UTC. `line` counts bytes 0x0A from 1 in the file that was read; items that come from
a database have `row` instead.
"""

from __future__ import annotations

from dataclasses import dataclass

INTERACTIVE_SESSION_SOURCES = frozenset({"cli", "vscode", "atlas", "chatgpt"})
THREAD_SCAN_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """Name a folder of sessions: `agent` is "codex" or "claude"; `path` as the person gave it."""

    agent: str
    path: str


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """What an agent's own index says about a session; the session's file wins where both speak, except for modes."""

    source: str = ""
    source_detail: str = ""
    memory_mode: str = "enabled"
    archived: bool = False
    cwd: str = ""
    git_branch: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class RolloutRef:
    """Point at one session on disk without having read it.

    `size` (bytes) and `mtime_ns` are the fingerprint that tells a change; `thread_id` is set where it is known
    without reading everything, and always for sessions in a database. `root` is the folder the person named: a
    reader looks nowhere else (empty: at the file alone). `copied_from` names files whose lines this one repeats.
    """

    agent: str
    path: str
    size: int
    mtime_ns: int
    thread_id: str | None = None
    root: str = ""
    thread: ThreadRow | None = None
    copied_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """Name a file that was seen and not taken, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """Name a physical line that could not be used."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Name the tool of a call or an output; `call_id` pairs the two."""

    name: str
    call_id: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RolloutItem:
    """One thing said or done in a session.

    `role`: user, assistant, developer, system, tool, agent (another agent), harness.
    `kind`: message, tool_call, tool_output, image, context, instructions, notice, command, … (formats add kinds;
    unknown ones are passed over).
    `injected`: written by the host under the person's name; never counted as the person's words.
    `inherited`: copied from the parent of a fork or from a resumed session; never extracted.
    `undone`: rolled back or left behind by the person; never extracted.
    `message_id`: what the agent calls this answer, in its file and its database alike; empty where neither says.
    """

    role: str
    kind: str
    text: str
    line: int | None = None
    row: int | None = None
    injected: bool = False
    inherited: bool = False
    undone: bool = False
    tool: ToolUse | None = None
    at: int | None = None
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The newest limits a session recorded; percentages used, None where the session named none."""

    limit_id: str
    at: int
    primary_used_percent: float | None = None
    secondary_used_percent: float | None = None
    reached: str | None = None


@dataclass(frozen=True, slots=True)
class Rollout:
    """One session, read whole.

    `source` is the word that eligibility follows (`cli`, `exec`, `subagent`, `internal`, …; empty when the
    file names none), `source_detail` what stands behind it (`thread_spawn`, `memory_consolidation`, …);
    `memory_mode` is enabled, disabled or polluted.
    """

    id: str
    agent: str
    path: str
    cwd: str = ""
    git_branch: str | None = None
    source: str = ""
    source_detail: str = ""
    parent: str | None = None
    originator: str = ""
    started_at: int | None = None
    updated_at: int | None = None
    items: tuple[RolloutItem, ...] = ()
    memory_mode: str = "enabled"
    archived: bool = False
    ephemeral: bool = False
    title: str = ""
    rate_limits: RateLimits | None = None
    skipped_lines: tuple[SkippedLine, ...] = ()
    incomplete_tail_line: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def user_texts(self) -> tuple[str, ...]:
        """Return what the person typed here, in order; host text, inherited and undone turns left out."""
        return tuple(i.text for i in self.items if _is_own_message(i, "user"))

    @property
    def assistant_texts(self) -> tuple[str, ...]:
        """Return the agent's own answers, in order."""
        return tuple(i.text for i in self.items if _is_own_message(i, "assistant"))


@dataclass(frozen=True, slots=True)
class Reason:
    """One rule of eligibility with the value it met, so that every skip can be explained."""

    rule: str
    passed: bool
    text: str


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Answer "why was it (not) taken" with every rule."""

    reasons: tuple[Reason, ...]

    @property
    def eligible(self) -> bool:
        """Tell whether every rule passed."""
        return all(reason.passed for reason in self.reasons)

    @property
    def failed(self) -> tuple[Reason, ...]:
        """Return the rules that did not pass."""
        return tuple(reason for reason in self.reasons if not reason.passed)


def _is_own_message(item: RolloutItem, role: str) -> bool:
    own = not (item.injected or item.inherited or item.undone)
    return own and item.role == role and item.kind == "message"
