"""The one table of keys (reference/ui-features §5). Single letters act only while their list or diff has focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Context = Literal["everywhere", "queue", "diff", "citations"]

CONTEXT_TITLES: dict[Context, str] = {
    "everywhere": "Everywhere",
    "queue": "Queue",
    "diff": "Review",
    "citations": "Citations",
}


@dataclass(frozen=True, slots=True)
class KeyLine:
    """One line of the table: portable key texts and what they do. `action` is the id of a registered action, if any."""

    context: Context
    keys: tuple[str, ...]
    title: str
    action: str = ""


KEYS: tuple[KeyLine, ...] = (
    KeyLine("everywhere", ("Ctrl+1",), "Queue", "panel.queue"),
    KeyLine("everywhere", ("Ctrl+2",), "Review", "panel.review"),
    KeyLine("everywhere", ("Ctrl+3",), "Citations", "panel.citations"),
    KeyLine("everywhere", ("Ctrl+4",), "Memory", "panel.memory"),
    KeyLine("everywhere", ("Ctrl+5",), "History", "panel.history"),
    KeyLine("everywhere", ("Ctrl+K",), "Find an action", "palette.open"),
    KeyLine("everywhere", ("Ctrl+R",), "Run…", "run.start"),
    KeyLine("everywhere", ("Ctrl+Shift+S",), "Scan the sessions folder", "run.scan"),
    KeyLine("everywhere", ("Ctrl+.",), "Cancel the running task", "run.cancel"),
    KeyLine("everywhere", ("Ctrl+O",), "Name folders…", "folders.open"),
    KeyLine("everywhere", ("Ctrl+F",), "Find or filter", "find.focus"),
    KeyLine("everywhere", ("F1",), "Keys", "keys.open"),
    KeyLine("everywhere", ("Ctrl+Q",), "Quit", "app.quit"),
    KeyLine("queue", ("Return",), "Go to the detail", "queue.detail"),
    KeyLine("queue", ("L",), "Open the rollout", "queue.rollout"),
    KeyLine("queue", ("I",), "Copy the id", "queue.copy_id"),
    KeyLine("diff", ("F7",), "Next change"),
    KeyLine("diff", ("Shift+F7",), "Previous change"),
    KeyLine("diff", ("N",), "Next undecided hunk"),
    KeyLine("diff", ("P",), "Previous undecided hunk"),
    KeyLine("diff", ("G",), "Next finding"),
    KeyLine("diff", ("A",), "Accept"),
    KeyLine("diff", ("X",), "Reject"),
    KeyLine("diff", ("E",), "Edit"),
    KeyLine("diff", ("U",), "Back to undecided"),
    KeyLine("diff", ("Z",), "Undo the last decision"),
    KeyLine("diff", ("Shift+A",), "Accept the whole file"),
    KeyLine("diff", ("Shift+X",), "Reject the whole file"),
    KeyLine("diff", ("Space",), "Fold, or show more"),
    KeyLine("diff", ("R",), "Reading list"),
    KeyLine("diff", ("Ctrl+Shift+A",), "Open Apply…"),
    KeyLine("citations", ("Return",), "Go to the evidence", "citations.evidence"),
    KeyLine("citations", ("O",), "Open at the line", "citations.open"),
    KeyLine("citations", ("I",), "Copy the location", "citations.copy"),
)


def keys_of(action: str) -> tuple[str, ...]:
    """Return the keys of an action."""
    return next((line.keys for line in KEYS if line.action == action), ())


def lines_of(context: Context) -> tuple[KeyLine, ...]:
    """Return the lines of one place, in order."""
    return tuple(line for line in KEYS if line.context == context)
