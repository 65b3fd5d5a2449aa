"""The two strips on top: where we work and how it stands; the Run button, Cancel, and what a run would do."""

from __future__ import annotations

import time

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QProgressBar, QToolButton, QVBoxLayout, QWidget

from ltmem_gui.domain.effects import ClaimJobs
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.effects_text import provider_text
from ltmem_gui.ui.models.phase_two import pieces
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench import Folders, Seen
from ltmem_gui.ui.theme import Theme, bold_font
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label, set_role

MENU = (
    "run.start",
    "run.scan",
    "run.estimate",
    "run.dry",
    "run.consolidate",
    "run.inputs",
    "run.undo",
    "memory.redact",
    "provider.open",
    "agent.steps",
    "queue.figures",
    "recovery.open",
    "why.open",
)

NONE_WAITS = "No rollout waits: each is extracted or left out, and its row says why"
PIECES = ("Lock", "Rest", "Watermark", "Baseline", "Receipt")


class StatusStrip(QFrame):
    """Show the named folders and how the second phase stands: lock, rest, watermark, baseline, last receipt."""

    def __init__(self, theme: Theme, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self.setProperty("role", "bar")
        name = plain_label("LTMem", font=bold_font())
        self._sessions = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="muted")
        self._sessions.setObjectName("status.sessions")
        self._memory = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="muted")
        self._memory.setObjectName("status.memory")
        self._demo = plain_label("demo", role="needs")
        folders = _flat(actions, "folders.open")
        self._theme = theme
        self._lock_icon = QLabel()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._pieces = {name: plain_label(role="muted") for name in PIECES}
        for piece, label in self._pieces.items():
            label.setObjectName(f"status.{piece.lower()}")
        self._seen = Seen()
        self._plan: Plan | None = None
        self._waiting = False
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 12, 4)
        row.setSpacing(12)
        row.addWidget(name)
        row.addWidget(self._demo)
        row.addWidget(self._sessions)
        row.addWidget(self._memory)
        row.addWidget(folders)
        row.addStretch(1)
        row.addWidget(self._lock_icon)
        for label in self._pieces.values():
            row.addWidget(label)
        self.show_folders(Folders())
        self.show_seen(Seen())

    def show_folders(self, folders: Folders) -> None:
        """Show what was named."""
        sessions = ", ".join(one_line(source.path, 200) for source in folders.sources)
        self._demo.setVisible(folders.demo)
        self._sessions.set_text(f"sessions {sessions}" if sessions else "no sessions folder named")
        memory = one_line(str(folders.memory_root), 200) if folders.memory_root else ""
        self._memory.set_text(f"memory {memory}" if memory else "no memory folder named")

    def show_seen(self, seen: Seen) -> None:
        """Show what was read; what was not read is a dash."""
        self._seen = seen
        self._show_pieces()

    def show_run(self, state: RunState, plan: Plan | None) -> None:
        """Show whether a run waits for the lock, and what a plan would do to the watermark."""
        waiting = state.phase is RunPhase.WAITING_FOR_LOCK
        if (waiting, plan) != (self._waiting, self._plan):
            self._waiting, self._plan = waiting, plan
            self._show_pieces()

    def _show_pieces(self) -> None:
        shown = {p.name: p for p in pieces(self._seen, self._plan, int(time.time()), waiting=self._waiting)}
        for name, label in self._pieces.items():
            piece = shown.get(name)
            label.setVisible(piece is not None)
            if piece is not None:
                label.setText(piece.short)
                label.setToolTip(piece.whole.replace("<", "‹"))
                label.setAccessibleName(f"{piece.name}: {piece.whole}")
                set_role(label, "role", "needs" if piece.needs else "muted")

    def _on_theme_changed(self) -> None:
        self._lock_icon.setPixmap(self._theme.icon("lock", "muted").pixmap(QSize(16, 16)))


class RunBar(QFrame):
    """The Run button with its states, Cancel, the estimate and the progress."""

    def __init__(self, theme: Theme, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_bar")
        self.setProperty("role", "bar")
        self._theme = theme
        self._actions = actions
        self._estimate = ""
        self._state = RunState()
        self._look: tuple[object, ...] = ()
        self.run = QToolButton()
        self.run.setObjectName("run.button")
        self.run.setProperty("role", "button")
        self.run.setProperty("primary", "true")
        # Not its default action: the button has its own colour, and the menu lists the action with the usual icon.
        self.run.clicked.connect(actions.action("run.start").trigger)
        actions.action("run.start").changed.connect(self._on_action_changed)
        self.run.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.run.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        menu = QMenu(self.run)
        menu.setObjectName("run.menu")
        menu.setToolTipsVisible(True)
        for id_ in MENU:
            menu.addAction(actions.action(id_))
        self.run.setMenu(menu)
        self.scan = _flat(actions, "run.scan")
        self.cancel = _flat(actions, "run.cancel")
        self._text = ElidedLabel(role="muted", fills=True)
        self._text.setObjectName("run.text")
        self._progress = QProgressBar()
        self._progress.setObjectName("run.progress")
        self._progress.setAccessibleName("Progress of the run")
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(200)
        self.model = _model_button(actions)
        row = QHBoxLayout()
        row.setSpacing(8)
        for widget in (self.run, self.scan, self.cancel):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self._progress)
        row.addWidget(self._text, 1)
        for widget in (self.model, *(_flat(actions, id_, text=False) for id_ in ("palette.open", "keys.open"))):
            row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 12, 8)
        column.addLayout(row)
        theme.changed.connect(self._on_theme_changed)
        self.show_run(self._state)

    def show_run(self, state: RunState) -> None:
        """Change text, icon and accessible name together."""
        self._state = state
        action = self._actions.action("run.start")
        look = (state.button, state.icon, action.isEnabled(), action.toolTip(), self._theme.scheme)
        if look != self._look:  # a changed button lays the whole bar out anew
            self._look = look
            self.run.setText(state.button)
            self.run.setEnabled(action.isEnabled())
            self.run.setToolTip(action.toolTip())
            self.run.setIcon(self._theme.icon(state.icon, "accent_text" if action.isEnabled() else "disabled"))
            self.run.setAccessibleName(state.button)
        self.cancel.setVisible(state.busy)
        self.scan.setVisible(not state.busy)
        self._progress.setVisible(state.busy and state.phase is not RunPhase.CONFIRMING)
        if self._progress.maximum() != state.total:
            self._progress.setRange(0, state.total)
        self._progress.setValue(state.done)
        self._text.set_text(self._words(state))

    def show_plan(self, plan: Plan) -> None:
        """Show what a run would do."""
        self._estimate = estimate(plan)
        self.show_run(self._state)

    def show_model(self, text: str) -> None:
        """Show who works on its button; the action keeps its own words in the menu."""
        self.model.setText(f"Model: {text}")
        self.model.setAccessibleName(f"Model: {text}. Choose another")

    def show_waiting(self, number: int, scanned: bool) -> None:
        """Show how many rollouts wait, until there is an estimate."""
        waiting = f"{formats.plural(number, 'rollout')} waiting" if number else NONE_WAITS
        self._estimate = waiting if scanned else ""
        self.show_run(self._state)

    def _on_theme_changed(self) -> None:
        self.show_run(self._state)

    def _on_action_changed(self) -> None:
        self.show_run(self._state)

    def _words(self, state: RunState) -> str:
        if not state.busy:
            if state.phase in (RunPhase.FAILED, RunPhase.NOTHING_TO_DO) and state.detail:
                return f"{state.phase.value}: {state.detail}"
            return self._estimate
        parts = [state.detail or state.phase.value, state.eta(time.monotonic())]
        return " · ".join(part for part in parts if part)


def estimate(plan: Plan) -> str:
    """Return a plan's size, provider and what leaves this computer, on one line."""
    if plan.state is PlanState.EMPTY:
        return "no rollout to extract"
    jobs = [job for effect in plan.effects_of(ClaimJobs) for job in effect.jobs]
    tokens = sum(job.tokens_sent or job.tokens for job in jobs)
    at_once = min(len(jobs), max((effect.concurrency for effect in plan.effects_of(ClaimJobs)), default=0))
    size = f"{formats.plural(len(jobs), 'rollout')}, {at_once} at once · ~{formats.tokens(tokens)} tokens"
    return f"{size} · {provider_text(plan)}"


def _model_button(actions: ActionRegistry) -> QToolButton:
    """Make the button that shows who works; without a default action, which would take its words back."""
    button = QToolButton()
    button.setObjectName("provider.button")
    button.setProperty("role", "flat")
    button.setToolTip(actions.action("provider.open").toolTip())
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.clicked.connect(actions.action("provider.open").trigger)
    return button


def _flat(actions: ActionRegistry, id_: str, *, text: bool = True) -> QToolButton:
    button = QToolButton()
    button.setObjectName(f"{id_}.button")
    button.setDefaultAction(actions.action(id_))
    button.setAccessibleName(actions.action(id_).text())
    button.setProperty("role", "flat")
    style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if text else Qt.ToolButtonStyle.ToolButtonIconOnly
    button.setToolButtonStyle(style)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
