"""Actions are data: one registry feeds menus, buttons, keys, the palette and the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QWidget

from ltmem_gui.ui.keys import Context, keys_of
from ltmem_gui.ui.verdict_ids import verdict_titles


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One thing a person can do. `id` is dotted and never changes; `tip` says what it reads or changes."""

    id: str
    title: str
    context: Context = "everywhere"
    icon: str = ""
    tip: str = ""


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("panel.queue", "Queue", icon="queue", tip="Every rollout with its state and reason"),
    ActionSpec("panel.inbox", "Inbox", icon="inbox", tip="Lines that wait for a decision"),
    ActionSpec("panel.review", "Review", icon="review", tip="Decide a plan hunk by hunk"),
    ActionSpec("panel.citations", "Citations", icon="citations", tip="What the memory folder cites, and where"),
    ActionSpec("panel.memory", "Memory", icon="memory", tip="The files of the memory folder"),
    ActionSpec("panel.history", "History", icon="history", tip="Receipts of what was written"),
    ActionSpec("folders.open", "Name folders…", icon="folder", tip="Name folders to work with; reads nothing"),
    ActionSpec("demo.open", "Open the demo…", icon="demo", tip="Sample rollouts in a fresh folder that you choose"),
    ActionSpec("run.scan", "Scan", icon="scan", tip="Reads the sessions folder; nothing is written or sent"),
    ActionSpec("run.estimate", "Estimate", icon="search", tip="Reads and redacts in memory only; no lease, no lock"),
    ActionSpec("run.dry", "Dry run", icon="search", tip="Both phases in memory; no lease, no lock, nothing sent"),
    ActionSpec("run.start", "Run…", icon="run", tip="Extract, then consolidate; effects are shown first"),
    ActionSpec("run.consolidate", "Consolidate…", icon="review", tip="Make a plan to review from what is extracted"),
    ActionSpec("run.inputs", "Review the agent's inputs…", tip="Decide by session what the agent gets, then start it"),
    ActionSpec("run.undo", "Undo the last apply…", tip="A plan to review like any other, within 24 hours"),
    ActionSpec("memory.redact", "Take secrets out…", tip="Of the memory folder and its git objects: a plan to review"),
    ActionSpec(
        "codex.take_over", "Take over from Codex…", icon="memory", tip="Its own memories; its home is only read"
    ),
    ActionSpec("provider.open", "Choose a model…", icon="memory", tip="Who extracts and consolidates; sends nothing"),
    ActionSpec("agent.steps", "Steps of the agent", icon="history", tip="What the agent did, beside the panel"),
    ActionSpec("run.cancel", "Cancel", icon="cancel", tip="Stop the running task; leases are given back"),
    ActionSpec("find.focus", "Find or filter", icon="search"),
    ActionSpec("keys.open", "Keys", icon="keys", tip="All keys of the window"),
    ActionSpec("palette.open", "Find an action…", icon="search"),
    ActionSpec("theme.toggle", "Switch light and dark"),
    ActionSpec("about.open", "About", icon="info"),
    ActionSpec("app.quit", "Quit"),
    ActionSpec("queue.detail", "Go to the detail", "queue"),
    ActionSpec("queue.rollout", "Open the rollout", "queue", icon="file", tip="Reads this one rollout file"),
    ActionSpec("queue.copy_id", "Copy the id", "queue"),
    ActionSpec("queue.log", "Go to the log", "queue", tip="What a run told of this row, and what is stored of it"),
    ActionSpec("queue.input", "Show the input", "queue", tip="What a provider would get, redacted; nothing is sent"),
    ActionSpec("queue.output", "Show the output", "queue", icon="memory", tip="What was extracted and is stored"),
    ActionSpec("queue.citations", "Show its citations", "queue", tip="Places of the memory that cite this rollout"),
    ActionSpec("queue.editor", "Open in your editor…", "queue", tip="Asks first, and shows the command"),
    ActionSpec("queue.reveal", "Show in the file manager…", "queue", tip="Asks first"),
    ActionSpec("queue.others", "Show the others", "queue", tip="The rows that the last action was not for"),
    ActionSpec("queue.figures", "Failures and times", tip="Failures by cause, how long jobs took, files left aside"),
    ActionSpec("queue.cancel", "Cancel this one", "queue", icon="cancel", tip="Only its extraction; no try is lost"),
    ActionSpec("queue.retry", "Retry…", "queue", tip="The next run takes them, with all tries"),
    ActionSpec("queue.run_now", "Run now…", "queue", icon="run", tip="Extract just these rollouts"),
    ActionSpec("queue.larger", "Retry with a larger budget…", "queue", tip="Twice the context window"),
    ActionSpec("queue.smaller", "Retry with a smaller budget…", "queue", tip="Half the context window"),
    ActionSpec("queue.split", "Split…", "queue", tip="Extract a session that is too large in parts"),
    ActionSpec("queue.hold", "Hold…", "queue", tip="No run takes them until they are released"),
    ActionSpec("queue.release", "Release…", "queue", tip="The next run takes them"),
    ActionSpec("queue.exclude", "Leave out of the memory…", "queue", tip="The next consolidation leaves them out"),
    ActionSpec("queue.lift", "Take into the memory again…", "queue", tip="The next consolidation takes them in"),
    ActionSpec("queue.forget", "Forget…", "queue", tip="Rows, files, undo image and git objects of one session"),
    ActionSpec("inbox.take", "Take the line", "inbox"),
    ActionSpec("inbox.reword", "Reword and take the line", "inbox"),
    ActionSpec("inbox.drop", "Drop the line", "inbox"),
    ActionSpec("inbox.undecide", "Back to undecided", "inbox"),
    ActionSpec("inbox.rollout", "Open the rollout at the line", "inbox", icon="file", tip="Reads its rollout file"),
    ActionSpec("recovery.open", "What was interrupted…", icon="warning", tip="What a run that was cut off left behind"),
    ActionSpec("why.open", "Why is my memory empty?", icon="info", tip="The chain in words; reads the memory folder"),
    ActionSpec("citations.evidence", "Go to the evidence", "citations"),
    ActionSpec("citations.open", "Open at the line", "citations", icon="file"),
    ActionSpec("citations.copy", "Copy the location", "citations"),
    ActionSpec("citations.permalink", "Copy a permalink", "citations", tip="The lines at the baseline of this folder"),
    ActionSpec("citations.check", "Check again", "citations", tip="Reads the memory folder again"),
    ActionSpec("citations.quote", "Copy the cited lines", "citations"),
    ActionSpec("citations.next_place", "Next place of this claim", "citations"),
    ActionSpec("citations.previous_place", "Previous place of this claim", "citations"),
    ActionSpec("citations.next_citing", "Next citation of these lines", "citations"),
    ActionSpec("citations.previous_citing", "Previous citation of these lines", "citations"),
    ActionSpec("citations.editor", "Open in your editor…", "citations", tip="Asks first, and shows the command"),
    ActionSpec("citations.reveal", "Show in the file manager…", "citations", tip="Asks first"),
    *(ActionSpec(id_, title, "citations") for id_, title in verdict_titles("audit").items()),
    ActionSpec("audit.note", "Note on the verdict", "citations"),
    ActionSpec("audit.skip", "Skip", "citations"),
    ActionSpec("audit.undo", "Undo the last verdict", "citations"),
)


class ActionRegistry(QObject):
    """Own one `QAction` per spec.

    An action without a handler is off, with that as its reason. Keys of a panel's context act only while the panel's
    list has focus: `attach` puts them there.
    """

    def __init__(self, icon: Callable[[str], QIcon], specs: Iterable[ActionSpec] = ACTIONS) -> None:
        super().__init__()
        self._icon = icon
        self._specs = {spec.id: spec for spec in specs}
        self._actions = {spec.id: self._make(spec) for spec in self._specs.values()}
        self._handlers: dict[str, Callable[[], object]] = {}
        self._told: dict[str, tuple[str, bool]] = {}

    @property
    def specs(self) -> tuple[ActionSpec, ...]:
        """Return every spec, in order."""
        return tuple(self._specs.values())

    def action(self, id_: str) -> QAction:
        """Return the action of an id. Raises `KeyError` for an unknown one."""
        return self._actions[id_]

    def bind(self, id_: str, handler: Callable[[], object]) -> None:
        """Say what an action does; it is on from now."""
        self._handlers[id_] = handler
        self.allow(id_)

    def trigger(self, id_: str) -> bool:
        """Do an action if it is on; tell whether it was."""
        action = self._actions[id_]
        if not action.isEnabled():
            return False
        action.trigger()
        return True

    def allow(self, id_: str, refusal: str = "") -> None:
        """Turn an action on, or off with the reason a person reads."""
        action, spec = self._actions[id_], self._specs[id_]
        told = (refusal, id_ in self._handlers)
        if self._told.get(id_) == told:  # a run asks of two dozen actions several times a second
            return
        self._told[id_] = told
        action.setEnabled(not refusal and id_ in self._handlers)
        tip = f"{spec.tip or spec.title} — not now: {refusal}" if refusal else spec.tip or spec.title
        keys = ", ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys_of(id_))
        action.setToolTip(f"{tip} ({keys})" if keys else tip)
        action.setStatusTip(tip)

    def attach(self, widget: QWidget, context: Context) -> None:
        """Give a widget the actions of its context, with their keys."""
        for spec in self._specs.values():
            if spec.context == context:
                widget.addAction(self._actions[spec.id])

    def refresh_icons(self) -> None:
        """Draw icons again after the scheme changed."""
        for spec in self._specs.values():
            if spec.icon:
                self._actions[spec.id].setIcon(self._icon(spec.icon))

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.title, self)
        action.setObjectName(spec.id)
        action.setIconText(spec.title)  # Qt would drop the ellipsis that says "this asks first"
        action.setMenuRole(QAction.MenuRole.NoRole)
        if spec.icon:
            action.setIcon(self._icon(spec.icon))
        action.setShortcuts([QKeySequence(key) for key in keys_of(spec.id)])
        local = spec.context != "everywhere"
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut if local else Qt.ShortcutContext.WindowShortcut)
        action.setEnabled(False)
        action.triggered.connect(lambda: self._handlers[spec.id]())
        return action
