"""The one table of keys (reference/ui-features §5). Single letters act only while their list or diff has focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ltmem_gui.ui.verdict_ids import verdict_titles

Context = Literal["everywhere", "queue", "inbox", "diff", "citations", "history"]

CONTEXT_TITLES: dict[Context, str] = {
    "everywhere": "Everywhere",
    "queue": "Queue",
    "inbox": "Inbox",
    "diff": "Review",
    "citations": "Citations",
    "history": "History",
}


@dataclass(frozen=True, slots=True)
class KeyLine:
    """One line of the table: portable key texts and what they do. `action` is the id of a registered action, if any."""

    context: Context
    keys: tuple[str, ...]
    title: str
    action: str = ""


def _verdicts(context: Context, scope: str, front: str = "") -> tuple[KeyLine, ...]:
    titles = verdict_titles(scope, front).items()
    return tuple(KeyLine(context, (str(number),), title, id_) for number, (id_, title) in enumerate(titles, 1))


KEYS: tuple[KeyLine, ...] = (
    KeyLine("everywhere", ("Ctrl+1",), "Queue", "panel.queue"),
    KeyLine("everywhere", ("Ctrl+2",), "Review", "panel.review"),
    KeyLine("everywhere", ("Ctrl+3",), "Citations", "panel.citations"),
    KeyLine("everywhere", ("Ctrl+4",), "Memory", "panel.memory"),
    KeyLine("everywhere", ("Ctrl+5",), "History", "panel.history"),
    KeyLine("everywhere", ("Ctrl+6",), "Inbox", "panel.inbox"),
    KeyLine("everywhere", ("Ctrl+7",), "Steps of the agent", "agent.steps"),
    KeyLine("everywhere", ("Ctrl+K",), "Find an action", "palette.open"),
    KeyLine("everywhere", ("Ctrl+R",), "Run…", "run.start"),
    KeyLine("everywhere", ("Ctrl+Shift+S",), "Scan the sessions folder", "run.scan"),
    KeyLine("everywhere", ("Ctrl+.",), "Cancel the running task", "run.cancel"),
    KeyLine("everywhere", ("Ctrl+O",), "Name folders…", "folders.open"),
    KeyLine("everywhere", ("Ctrl+M",), "Choose a model…", "provider.open"),
    KeyLine("everywhere", ("Ctrl+F",), "Find or filter", "find.focus"),
    KeyLine("everywhere", ("F1",), "Keys", "keys.open"),
    KeyLine("everywhere", ("Ctrl+Q",), "Quit", "app.quit"),
    KeyLine("queue", ("Return",), "Go to the detail", "queue.detail"),
    KeyLine("queue", ("L",), "Open the rollout", "queue.rollout"),
    KeyLine("queue", ("I",), "Copy the id", "queue.copy_id"),
    KeyLine("queue", ("Shift+L",), "Go to the log", "queue.log"),
    KeyLine("queue", ("P",), "Show the input", "queue.input"),
    KeyLine("queue", ("M",), "Show the output", "queue.output"),
    KeyLine("queue", ("C",), "Show its citations", "queue.citations"),
    KeyLine("queue", ("O",), "Open in your editor…", "queue.editor"),
    KeyLine("queue", ("Del",), "Cancel this one", "queue.cancel"),
    KeyLine("queue", ("Ctrl+Shift+R",), "Retry…", "queue.retry"),
    KeyLine("queue", ("H",), "Hold…", "queue.hold"),
    KeyLine("inbox", ("T",), "Take the line", "inbox.take"),
    KeyLine("inbox", ("W",), "Reword and take it", "inbox.reword"),
    KeyLine("inbox", ("D",), "Drop it", "inbox.drop"),
    KeyLine("inbox", ("U",), "Back to undecided", "inbox.undecide"),
    KeyLine("inbox", ("L",), "Open the rollout at the line", "inbox.rollout"),
    KeyLine("diff", ("F7",), "Next change", "review.next_change"),
    KeyLine("diff", ("Shift+F7",), "Previous change", "review.previous_change"),
    KeyLine("diff", ("N",), "Next undecided change", "review.next_undecided"),
    KeyLine("diff", ("P",), "Previous undecided change", "review.previous_undecided"),
    KeyLine("diff", ("G",), "Next finding", "review.next_finding"),
    KeyLine("diff", ("Shift+G",), "Previous finding", "review.previous_finding"),
    KeyLine("diff", ("Ctrl+PgDown",), "Next file", "review.next_file"),
    KeyLine("diff", ("Ctrl+PgUp",), "Previous file", "review.previous_file"),
    KeyLine("diff", ("A",), "Accept", "review.accept"),
    KeyLine("diff", ("X",), "Reject", "review.reject"),
    KeyLine("diff", ("E",), "Edit", "review.edit"),
    KeyLine("diff", ("U",), "Back to undecided", "review.undecide"),
    KeyLine("diff", ("Z",), "Undo the last decision", "review.undo"),
    KeyLine("diff", ("B",), "Accept the task group", "review.accept_block"),
    KeyLine("diff", ("Shift+B",), "Reject the task group", "review.reject_block"),
    KeyLine("diff", ("Shift+A",), "Accept the whole file", "review.accept_file"),
    KeyLine("diff", ("Shift+X",), "Reject the whole file", "review.reject_file"),
    KeyLine("diff", ("T",), "Note on this change", "review.note"),
    KeyLine("diff", ("S",), "Go to the source of this line", "review.source"),
    KeyLine("diff", ("Shift+S",), "Next source of this line", "review.next_source"),
    *_verdicts("diff", "review", "Verdict: "),
    KeyLine("diff", ("0",), "Take the verdict back", "review.undo_verdict"),
    KeyLine("diff", ("Space",), "Show more of a fold", "review.unfold"),
    KeyLine("diff", ("F",), "Whole file or folded", "review.whole_file"),
    KeyLine("diff", ("V",), "Side by side or unified", "review.side_by_side"),
    KeyLine("diff", ("W",), "Next white space view", "review.whitespace"),
    KeyLine("diff", ("R",), "Reading list", "review.reading_list"),
    KeyLine("diff", ("L",), "Show the whole line", "review.long_line"),
    KeyLine("diff", ("F3",), "Next place found", "review.find_next"),
    KeyLine("diff", ("Shift+F3",), "Previous place found", "review.find_previous"),
    KeyLine("diff", ("Ctrl+C",), "Copy as text", "review.copy"),
    KeyLine("diff", ("Ctrl+Shift+C",), "Copy as patch", "review.copy_patch"),
    KeyLine("diff", ("Alt+C",), "Copy path:line", "review.copy_place"),
    KeyLine("diff", ("O",), "Open in your editor…", "review.open_editor"),
    KeyLine("diff", ("Shift+O",), "Show in the file manager…", "review.show_file"),
    KeyLine("diff", ("Ctrl+Shift+N",), "Regenerate with a note…", "review.regenerate"),
    KeyLine("diff", ("Ctrl+S",), "Export the review…", "review.export"),
    KeyLine("diff", ("Ctrl+Shift+A",), "Open Apply…", "review.apply"),
    KeyLine("citations", ("Return",), "Go to the evidence", "citations.evidence"),
    KeyLine("citations", ("O",), "Open at the line", "citations.open"),
    KeyLine("citations", ("I",), "Copy the location", "citations.copy"),
    KeyLine("citations", ("P",), "Copy a permalink", "citations.permalink"),
    KeyLine("citations", ("F5",), "Check again", "citations.check"),
    KeyLine("citations", ("Q",), "Copy the cited lines", "citations.quote"),
    KeyLine("citations", ("Alt+Down",), "Next place of this claim", "citations.next_place"),
    KeyLine("citations", ("Alt+Up",), "Previous place of this claim", "citations.previous_place"),
    KeyLine("citations", ("Alt+Shift+Down",), "Next citation of these lines", "citations.next_citing"),
    KeyLine("citations", ("Alt+Shift+Up",), "Previous citation of these lines", "citations.previous_citing"),
    KeyLine("citations", ("E",), "Open in your editor…", "citations.editor"),
    KeyLine("citations", ("F",), "Show in the file manager…", "citations.reveal"),
    *_verdicts("citations", "audit"),
    KeyLine("citations", ("T",), "Note on the verdict", "audit.note"),
    KeyLine("citations", ("S",), "Skip", "audit.skip"),
    KeyLine("citations", ("Z",), "Undo the last verdict", "audit.undo"),
    KeyLine("history", ("F7",), "Next change", "history.next_change"),
    KeyLine("history", ("Shift+F7",), "Previous change", "history.previous_change"),
    KeyLine("history", ("Space",), "Show more of a fold", "history.unfold"),
)


def keys_of(action: str) -> tuple[str, ...]:
    """Return the keys of an action."""
    return next((line.keys for line in KEYS if line.action == action), ())


def lines_of(context: Context) -> tuple[KeyLine, ...]:
    """Return the lines of one place, in order."""
    return tuple(line for line in KEYS if line.context == context)
