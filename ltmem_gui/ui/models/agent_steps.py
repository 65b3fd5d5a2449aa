"""The steps of a consolidation agent as rows: live from events, afterwards from a receipt. All of it is plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor

from ltmem_gui.domain.agent import CHANGING, AgentAction, AgentStep, CallArgument, ToolOutcome, asked_in_words
from ltmem_gui.domain.agent_kept import KeptState, kept_steps
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.ui.models.formats import DASH, count, plural, tokens

COLUMNS = ("Step", "Tool", "File", "Asked for", "Result", "Tokens", "Time")
STEP, TOOL, FILE, ASKED, RESULT, TOKENS, TIME = range(len(COLUMNS))

_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_TOOLTIP = int(Qt.ItemDataRole.ToolTipRole)
_ALIGN = int(Qt.ItemDataRole.TextAlignmentRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_FOREGROUND = int(Qt.ItemDataRole.ForegroundRole)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

_RIGHTMOST = (STEP, TOKENS, TIME)
_WORDS = {ToolOutcome.DONE: "done", ToolOutcome.ERROR: "▲ error", ToolOutcome.REFUSED: "✕ refused"}
_COLORS = {None: "muted", ToolOutcome.ERROR: "state.needs", ToolOutcome.REFUSED: "state.bad"}
_KEPT = re.compile(r"(\d+): (.*); (\d+) tokens sent, (\d+) received(?:, (\d+) s)?", re.DOTALL)
_NEXT_CALL = re.compile(r", (?=(?:list|read|search|write|edit|delete|unknown tool)\b)")
_NOT_DONE = re.compile(r"(.*) \((error|refused)(?:: ([a-z -]+))?\)")
_MORE = re.compile(r"(.*), and (\d+) more calls", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StepRow:
    """One tool call, or a step without one. `first`: the row that tells tokens and time of its step.

    `outcome` is None for a step that only says something; `seconds` is None where no time was kept. `tokens_cached` is
    a part of `tokens_in`; both are estimates unless the server `counted` them.
    """

    step: int
    first: bool
    tool: str = ""
    path: str = ""
    outcome: ToolOutcome | None = None
    detail: str = ""
    reason: str = ""
    arguments: tuple[CallArgument, ...] = ()
    said: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float | None = None
    tokens_cached: int = 0
    counted: bool = True

    @property
    def result(self) -> str:
        """Return what became of it, with a sign where it was not done."""
        if self.outcome is None:
            return self.said or "no tool was called"
        if self.outcome is ToolOutcome.DONE:
            return self.detail or _WORDS[self.outcome]
        word = f"{_WORDS[self.outcome]}{f', {self.reason}' if self.reason else ''}"
        # The file stands beside it.
        why = self.detail.removeprefix(f"{self.path}: ") if self.path else self.detail
        return f"{word}: {why}" if why else word

    @property
    def refused(self) -> bool:
        """Tell whether the call left the fence."""
        return self.outcome is ToolOutcome.REFUSED


@dataclass(frozen=True, slots=True)
class StepTotals:
    """The figures of a run so far."""

    steps: int = 0
    calls: int = 0
    refused: int = 0
    files: frozenset[str] = frozenset()
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    tokens_cached: int = 0
    counted: bool = True

    @property
    def usage(self) -> TokenUsage:
        """Return what the server counted, unknown where it did not count every step."""
        if not self.counted:
            return TokenUsage()
        return TokenUsage(self.tokens_in, self.tokens_out, self.tokens_cached)

    def in_words(self) -> str:
        """Return them on one line."""
        parts = [
            plural(self.steps, "step"),
            plural(self.calls, "call"),
            f"{plural(len(self.files), 'file')} changed",
            f"{_about(self.counted)}{tokens(self.tokens_in)} tokens sent, {tokens(self.tokens_out)} received",
        ]
        parts += [f"{self.refused} refused"] if self.refused else []
        parts += [f"{self.seconds:.0f} s"] if self.seconds >= 1 else []
        return " · ".join(parts)


def rows_of(step: AgentStep) -> list[StepRow]:
    """Return a step as rows: one per call, or one that tells what the model said."""
    if not step.actions:
        return [_row(step, None, first=True)]
    return [_row(step, action, first=at == 0) for at, action in enumerate(step.actions)]


def step_in_words(step: AgentStep) -> str:
    """Return a step on one line: what the agent did, by its first call."""
    if not step.actions:
        return f"step {step.number}: the agent says it is done"
    first = step.actions[0]
    more = f" and {len(step.actions) - 1} more" if len(step.actions) > 1 else ""
    why = f": {first.reason}" if first.reason else ""
    failed = "" if first.outcome is ToolOutcome.DONE else f" ({first.outcome.value}{why})"
    return f"step {step.number}: {one_line(f'{first.tool} {first.path}', 120)}{failed}{more}"


def rows_of_receipt(lines: Iterable[str]) -> list[StepRow]:
    """Return the transcript that a receipt kept as rows; a line of another form is shown as it is."""
    rows: list[StepRow] = []
    for number, line in enumerate(lines, 1):
        told = _KEPT.fullmatch(line)
        if told is None:
            rows.append(StepRow(number, True, said=one_line(line, 300)))
            continue
        flood = _MORE.fullmatch(told[2])
        called = told[2] if flood is None else flood[1]
        calls = [] if called == "no call" else _NEXT_CALL.split(called)
        actions = tuple(map(_kept_action, calls))
        step = AgentStep(int(told[1]), actions, "", int(told[3]), int(told[4]), float(told[5] or 0))
        rows += rows_of(step)
        if flood is not None:
            rows.append(StepRow(step.number, False, said=f"and {flood[2]} more calls"))
    return rows


def rows_of_kept(receipt: Receipt) -> tuple[list[StepRow], str]:
    """Return the steps of a receipt as rows, with what their calls asked for where it is there; and what is not."""
    if not receipt.steps:
        return [], ""
    kept = kept_steps(receipt)
    if kept.state is not KeptState.WHOLE:
        return rows_of_receipt(receipt.steps), kept.state.words
    rows = [row for step in kept.steps for row in rows_of(step)]
    return rows, f"{plural(kept.left_out, 'call')} more are not kept." if kept.left_out else ""


def totals_of(rows: Sequence[StepRow]) -> StepTotals:
    """Count rows; a receipt's kept time is in whole seconds."""
    firsts = [row for row in rows if row.first]
    done = [row for row in rows if row.outcome is ToolOutcome.DONE and row.tool in CHANGING]
    return StepTotals(
        steps=len({row.step for row in rows}),
        calls=sum(row.outcome is not None for row in rows),
        refused=sum(row.refused for row in rows),
        files=frozenset(row.path for row in done),
        tokens_in=sum(row.tokens_in for row in firsts),
        tokens_out=sum(row.tokens_out for row in firsts),
        seconds=sum(row.seconds or 0.0 for row in firsts),
        tokens_cached=sum(row.tokens_cached for row in firsts),
        counted=all(row.counted for row in firsts),
    )


class AgentStepsModel(QAbstractTableModel):
    """Show steps as a table, all of them or only what was refused. Threads: UI.

    Signals: `counted` (`StepTotals`) when rows came or went.
    """

    counted = Signal(object)

    def __init__(self, color: Callable[[str], QColor], parent: QObject | None = None) -> None:
        """Take what names a colour; rows that were not done stand out by word, sign and colour."""
        super().__init__(parent)
        self._color = color
        self._all: list[StepRow] = []
        self._shown: list[StepRow] = []
        self._refused_only = False
        self.totals = StepTotals()

    @property
    def rows(self) -> Sequence[StepRow]:
        """Return every row, shown or not."""
        return self._all

    def row_at(self, position: int) -> StepRow | None:
        """Return a shown row."""
        return self._shown[position] if 0 <= position < len(self._shown) else None

    def take_steps(self, steps: Sequence[AgentStep]) -> None:
        """Add steps at the end; selection and scroll position stay."""
        fresh = [row for step in steps for row in rows_of(step)]
        if not fresh:
            return
        self._all += fresh
        shown = [row for row in fresh if row.refused or not self._refused_only]
        if shown:
            self.beginInsertRows(QModelIndex(), len(self._shown), len(self._shown) + len(shown) - 1)
            self._shown += shown
            self.endInsertRows()
        self._count()

    def set_rows(self, rows: Sequence[StepRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._all = list(rows)
        self._shown = self._filtered()
        self.endResetModel()
        self._count()

    def set_refused_only(self, on: bool) -> None:
        """Show only what was refused, or all."""
        if on == self._refused_only:
            return
        self.beginResetModel()
        self._refused_only = on
        self._shown = self._filtered()
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == _DISPLAY:
            return COLUMNS[section]
        if orientation is Qt.Orientation.Horizontal and role == _ALIGN and section in _RIGHTMOST:
            return _RIGHT
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = _DISPLAY) -> Any:
        if not index.isValid():
            return None
        row, column = self._shown[index.row()], index.column()
        if role == _DISPLAY:
            return cell(row, column)
        if role == _SPOKEN:
            return spoken(row) if column == STEP else cell(row, column)
        if role == _TOOLTIP and column in (FILE, ASKED, RESULT):
            return cell(row, column).replace("<", "‹")
        if role == _FOREGROUND and column == RESULT and row.outcome in _COLORS:
            return self._color(_COLORS[row.outcome])
        if role == _ALIGN and column in _RIGHTMOST:
            return _RIGHT
        return None

    def _filtered(self) -> list[StepRow]:
        return [row for row in self._all if row.refused] if self._refused_only else list(self._all)

    def _count(self) -> None:
        self.totals = totals_of(self._all)
        self.counted.emit(self.totals)


def cell(row: StepRow, column: int) -> str:
    """Return the text of a cell; tokens and time stand once per step."""
    match column:
        case 0:
            return str(row.step)
        case 1:
            return one_line(row.tool, 40) or DASH
        case 2:
            return one_line(row.path, 200)
        case 3:
            return one_line(asked_in_words(row.arguments), 600)
        case 4:
            return one_line(row.result, 300)
        case 5:
            return f"{_about(row.counted)}{tokens(row.tokens_in)} → {tokens(row.tokens_out)}" if row.first else ""
        case _:
            return f"{row.seconds:.1f} s" if row.first and row.seconds is not None else ""


def spoken(row: StepRow) -> str:
    """Return a row as a screen reader says it."""
    parts = [f"Step {row.step}", cell(row, TOOL) if row.tool else "", *(cell(row, at) for at in (FILE, ASKED, RESULT))]
    if row.first:
        about = "" if row.counted else "about "
        parts.append(f"{about}{count(row.tokens_in)} tokens sent, {count(row.tokens_out)} received")
    return ", ".join(part for part in parts if part)


def detail_lines(row: StepRow) -> list[tuple[str, str]]:
    """Return (name, text) of everything known of a row."""
    lines = [("step", str(row.step))]
    if row.outcome is not None:
        lines += [("tool", row.tool), ("file", row.path or DASH)]
        lines += _asked_lines(row.arguments)
        lines.append(("result", _WORDS[row.outcome]))
        lines += [("reason", row.reason)] if row.reason else []
        lines += [("", row.detail)] if row.detail else []
    lines += [("said", row.said)] if row.said else []
    cached = f" ({count(row.tokens_cached)} of them from the server's cache)" if row.tokens_cached else ""
    words = f"{count(row.tokens_in)} sent{cached}, {count(row.tokens_out)} received in this step"
    lines.append(("tokens", words if row.counted else f"about {words}; the server counted none"))
    if row.seconds is not None:
        lines.append(("time", f"{row.seconds:.1f} s"))
    return lines


def _asked_lines(arguments: Sequence[CallArgument]) -> list[tuple[str, str]]:
    """Return (name, text) of what was asked for: an argument a line, its size and what is not shown of it below."""
    lines: list[tuple[str, str]] = []
    for argument in arguments:
        lines.append(("" if lines else "asked for", f"{argument.name}: {argument.text}"))
        about = [f"{count(argument.size)} bytes"] if argument.size is not None else []
        about += [f"{count(argument.left_out)} more characters are not shown"] if argument.left_out else []
        lines += [("", f"  {', '.join(about)}")] if about else []
    return lines


def summary_lines(totals: StepTotals) -> list[tuple[str, str]]:
    """Return (name, text) of a whole run: what it touched first."""
    if not totals.steps:
        return [("", "No step yet.")]
    files = sorted(totals.files) or ["none"]
    lines = [("changed" if at == 0 else "", one_line(path, 200)) for at, path in enumerate(files)]
    lines += [("steps", count(totals.steps)), ("calls", count(totals.calls)), ("refused", count(totals.refused))]
    about = "about " if not totals.counted else ""
    lines.append(("tokens", f"{about}{count(totals.tokens_in)} sent, {count(totals.tokens_out)} received"))
    lines.append(("", "Choose a step to see all of it."))
    return lines


def _row(step: AgentStep, action: AgentAction | None, *, first: bool) -> StepRow:
    return StepRow(
        step=step.number,
        first=first,
        tool=action.tool if action else "",
        path=action.path if action else "",
        outcome=action.outcome if action else None,
        detail=action.detail if action else "",
        reason=action.reason if action else "",
        arguments=action.arguments if action else (),
        said=step.said,
        tokens_in=step.tokens_in,
        tokens_out=step.tokens_out,
        seconds=step.seconds,
        tokens_cached=step.tokens_cached,
        counted=step.counted,
    )


def _about(counted: bool) -> str:
    return "" if counted else "~"


def _kept_action(text: str) -> AgentAction:
    failed = _NOT_DONE.fullmatch(text)
    if failed is not None:
        return AgentAction(failed[1], "", ToolOutcome(failed[2]), reason=failed[3] or "")
    tool, _, path = text.partition(" ")
    return AgentAction(tool, path, ToolOutcome.DONE)
