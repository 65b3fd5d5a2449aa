"""Tell the person's words from text that a host wrote under the person's name (reference: rollout-formats §1.5, §4.3).

A class is the `kind` the item gets: "message" for the person's own words; "context" and "notice" are kept for the
model and never counted as the person's words; "instructions" are dropped; "agent" is another agent speaking.
"""

from __future__ import annotations

import re

IDE_HEAD = "# Context from my IDE setup:"
_IDE_REQUEST = re.compile(r"^## My request for [^\n:]+:[ \t]*\n", re.MULTILINE)
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_TASK_MESSAGE = re.compile(r"\AMessage Type:[^\n]*\nTask name:[^\n]*\nSender:[^\n]*\nPayload:", re.IGNORECASE)

# (start, end, kind): both compared without case on the trimmed text; an empty end means the start is enough.
_CODEX_MARKS: tuple[tuple[str, str, str], ...] = (
    ("# agents.md instructions", "</instructions>", "instructions"),
    ("<user_instructions>", "</user_instructions>", "instructions"),
    ("<skill>", "</skill>", "instructions"),
    ("<environment_context>", "", "context"),
    ("<turn_aborted>", "", "notice"),
    ("<subagent_notification>", "", "agent"),
    ("<user_shell_command>", "", "command"),
    ("<recommended_plugins>", "", "instructions"),
    ("<model_switch>", "", "instructions"),
    ("<hook_prompt", "", "instructions"),
    ("<permissions instructions>", "", "instructions"),
    ("<collaboration_mode>", "", "instructions"),
    ("<skills_instructions>", "", "instructions"),
    ("<apps_instructions>", "", "instructions"),
    ("<plugins_instructions>", "", "instructions"),
    ("<multi_agent_mode>", "", "instructions"),
    ("<app-context>", "", "instructions"),
)

_CLAUDE_MARKS: tuple[tuple[str, str], ...] = (
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<command-args>", "command"),
    ("<local-command-stdout>", "notice"),
    ("<local-command-stderr>", "notice"),
    ("<local-command-caveat>", "instructions"),
    ("caveat: the messages below", "instructions"),
    ("<bash-input>", "command"),
    ("<bash-stdout>", "notice"),
    ("<bash-stderr>", "notice"),
    ("<system-reminder>", "instructions"),
    ("<task-notification>", "agent"),
    ("[request interrupted by user", "notice"),
    ("base directory for this skill:", "instructions"),
    ("this session is being continued", "instructions"),
    ("<user-prompt-submit-hook>", "instructions"),
)

_CODEX_KINDS = {
    "user.text": "message",
    "environments.environment_context": "context",
    "turn_aborted": "notice",
    "user_shell_command": "command",
    "subagent_notification": "agent",
}


def codex_class(text: str, kind: str | None = None) -> str:
    """Return the class of one content part of a Codex `user` message.

    `kind` is the host's own mark (`content_item_kinds`); it is believed where it is known, else the tags decide.
    """
    if kind in _CODEX_KINDS:
        return _CODEX_KINDS[kind]
    trimmed = text.strip()
    lowered = trimmed[:200].casefold()
    for start, end, name in _CODEX_MARKS:
        if lowered.startswith(start) and (not end or trimmed[-len(end) :].casefold() == end):
            return name
    if _TASK_MESSAGE.match(trimmed):
        return "agent"
    return "instructions" if kind and kind.endswith((".instructions", ".context")) else "message"


def without_ide_context(text: str) -> tuple[str, str]:
    """Split a prompt of an editor plug-in into (what the editor put in front, what the person typed)."""
    if not text.lstrip().startswith(IDE_HEAD):
        return "", text
    heads = list(_IDE_REQUEST.finditer(text))
    if not heads:
        return text.strip(), ""
    return text[: heads[-1].start()].strip(), text[heads[-1].end() :].strip()


def claude_class(text: str) -> str:
    """Return the class of a Claude Code `user` text."""
    lowered = text.lstrip()[:80].casefold()
    return next((name for start, name in _CLAUDE_MARKS if lowered.startswith(start)), "message")


def without_reminders(text: str) -> str:
    """Cut the host's reminders out of a text, wherever they stand."""
    if "<system-reminder>" not in text:
        return text
    return _REMINDER.sub("", text).rstrip()
