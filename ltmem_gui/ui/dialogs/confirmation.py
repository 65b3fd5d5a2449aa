"""The confirmation: a sheet of effects. Only its button, on an active window, after half a second, is a yes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.effects_words import EffectWords
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.taking_over import TAKE_OVER
from ltmem_gui.ui.bridge.awaiting import next_turn, opened
from ltmem_gui.ui.dialogs.armed import ArmedSheet
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.effects_text import EffectGroupText, describe, loss_to_type, provider_text
from ltmem_gui.ui.models.folder_watch import FolderWatch
from ltmem_gui.ui.theme import bold_font, monospace, title_font
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label, rule

ARM_MS = 500
DETAIL_LIMIT = 200

# The undo image of these is not kept: their old text must be gone.
_WAY_BACK = "Can be undone from the history for 24 hours, until the next apply or until a file is changed."
_NO_WAY_BACK = "Cannot be undone: no image of the old text is kept."

_VERBS = {"extract": "Extract", "consolidate": "Consolidate", "apply": "Apply"}


class ConfirmationSheet(ArmedSheet):
    """Show a plan's effects and ask; yes is also off until a loss above the limit was typed."""

    def __init__(
        self, plan: Plan, selection: Selection, *, last_receipt: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__("confirmation", parent, arm_ms=ARM_MS)
        self.setWindowTitle(f"{_VERBS[plan.kind]}: what will happen")
        self.setMinimumSize(560, 420)
        self.resize(680, 560)
        self._loss = loss_to_type(plan, selection)
        self._typed: QLineEdit | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._head(plan, last_receipt))
        layout.addWidget(rule())
        layout.addWidget(self._effects(plan, selection), 1)
        layout.addWidget(self._foot(plan, selection))

    # parts

    def _head(self, plan: Plan, last_receipt: str) -> QWidget:
        head = QWidget()
        layout = QVBoxLayout(head)
        layout.setContentsMargins(20, 16, 20, 12)
        layout.setSpacing(4)
        layout.addWidget(plain_label(_title(plan), font=title_font()))
        where = plan.memory_root if plan.changes or plan.kind == "consolidate" else plan.home
        line = ElidedLabel(one_line(where, 400), Qt.TextElideMode.ElideMiddle, role="muted")
        line.setObjectName("confirmation.where")
        layout.addWidget(line)
        layout.addWidget(plain_label(provider_text(plan), role="muted"))
        if last_receipt:
            layout.addWidget(plain_label(last_receipt, role="muted"))
        return head

    def _effects(self, plan: Plan, selection: Selection) -> QScrollArea:
        area = QScrollArea()
        area.setObjectName("confirmation.effects")
        area.setAccessibleName("What will happen")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        page.setProperty("role", "page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(20, 12, 20, 16)
        layout.setSpacing(12)
        for group in describe(plan, selection):
            layout.addLayout(effect_group(group))
        for line in _reviewed(plan, selection):
            layout.addWidget(plain_label(line, wrap=True, role="needs" if line.startswith("Overridden") else "muted"))
        layout.addStretch(1)
        area.setWidget(page)
        return area

    def _foot(self, plan: Plan, selection: Selection) -> QFrame:
        foot = QFrame()
        foot.setProperty("role", "foot")
        layout = QVBoxLayout(foot)
        layout.setContentsMargins(20, 12, 20, 16)
        layout.setSpacing(8)
        if self._loss:
            layout.addLayout(self._loss_row())
        row = QHBoxLayout()
        row.setSpacing(8)
        digest = plain_label(f"plan {plan.digest[:8]}", font=monospace(), role="muted", selectable=True)
        digest.setObjectName("confirmation.digest")
        digest.setToolTip(f"The plan's digest: {plan.digest}\nOf the selection: {selection.digest}")
        cancel = QPushButton("Not now" if plan.kind == "extract" else "Cancel")
        cancel.setObjectName("confirmation.cancel")
        yes = QPushButton(_yes_text(plan))
        yes.setObjectName("confirmation.yes")
        row.addWidget(digest)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(yes)
        layout.addLayout(row)
        self._arm(cancel, yes)
        return foot

    def _loss_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        text = f"This removes {formats.plural(self._loss, 'line')} of memory. Type {self._loss} to go on:"
        row.addWidget(plain_label(text, role="bad"))
        self._typed = QLineEdit()
        self._typed.setObjectName("confirmation.loss")
        self._typed.setAccessibleName(f"Number of removed lines, {self._loss}")
        self._typed.setMaximumWidth(96)
        self._typed.textChanged.connect(self._on_loss_typed)
        row.addWidget(self._typed)
        row.addStretch(1)
        return row

    def _refusal(self) -> str:
        typed = self._typed is None or self._typed.text().strip() == str(self._loss)
        return "" if typed else f"Type {self._loss} first: the number of lines that go"

    def _on_loss_typed(self) -> None:
        self._update_yes()


async def ask(
    plan: Plan,
    selection: Selection,
    *,
    last_receipt: str = "",
    watch: FolderWatch | None = None,
    parent: QWidget | None = None,
) -> bool:
    """Open the sheet and wait; True only for a pressed yes.

    The sheet closes itself when `watch` sees the folder move, and raises what it saw.
    """
    sheet = ConfirmationSheet(plan, selection, last_receipt=last_receipt, parent=parent)
    if watch is not None:
        watch.moved.connect(sheet.reject)
        watch.start(plan)
    try:
        await opened(sheet)
    finally:
        sheet.deleteLater()
        if watch is not None:
            watch.moved.disconnect(sheet.reject)
            watch.stop()
    confirmed = sheet.confirmed
    if watch is not None and watch.error is not None and not confirmed:
        raise watch.error
    await next_turn()  # the sheet is gone before that begins which it allowed
    return confirmed


def _title(plan: Plan) -> str:
    match plan.kind:
        case "extract":
            return "Extract memories from these rollouts?"
        case "consolidate":
            return "Start the consolidation agent?"
        case _ if plan.operation == TAKE_OVER:
            return "Take these memories over from Codex?"
        case _ if plan.operation == "redact":
            return "Take the secrets out of the folder?"
        case _ if not plan.changes:
            return "Change these rows?"
        case _ if plan.operation == "forget":
            return "Forget this session?"
        case _:
            return "Write the reviewed changes?"


def _yes_text(plan: Plan) -> str:
    if plan.operation == TAKE_OVER:
        return "Take over"
    return {"extract": "Extract", "consolidate": "Start the agent", "apply": "Apply"}[plan.kind]


def _reviewed(plan: Plan, selection: Selection) -> list[str]:
    lines = [one_line(note, 400) for note in plan.notes]
    if plan.kind == "consolidate":
        names = ", ".join(one_line(change.path, 120) for change in plan.changes[:8])
        more = f" and {len(plan.changes) - 8} more" if len(plan.changes) > 8 else ""
        lines.append(f"New for the agent to read: {formats.plural(len(plan.changes), 'file')} — {names}{more}")
        lines.extend(f"{one_line(f.path, 200)}: {one_line(f.text, 300)}" for f in plan.findings[:20])
    if plan.skipped:
        reasons = "; ".join(dict.fromkeys(reason for skip in plan.skipped for reason in skip.reasons))
        lines.append(f"Not in this plan: {formats.plural(len(plan.skipped), 'row')} — {one_line(reasons, 400)}")
    if plan.operation == "redact" and not plan.changes:
        lines.append(_NO_WAY_BACK)
    if plan.kind == "apply" and plan.changes:
        accepted = sum(len(ids) for ids in selection.accepted.values())
        edited = sum(len(hunks) for hunks in selection.edited.values())
        rejected = sum(len(ids) for ids in selection.rejected.values())
        lines.append(f"Your decisions: {accepted} accepted, {edited} edited, {rejected} rejected.")
        lines.append(_NO_WAY_BACK if plan.forgets else _WAY_BACK)
    findings = {finding.id: finding for finding in plan.findings}
    for id_, reason in selection.overrides.items():
        text = findings[id_].text if id_ in findings else id_
        lines.append(f"Overridden: {one_line(text)} — your reason: {one_line(reason)}")
    return lines


def effect_group(group: EffectGroupText) -> QGridLayout:
    """Lay out one group of effects."""
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(4)
    grid.setColumnMinimumWidth(0, 56)
    grid.setColumnStretch(1, 1)
    title = plain_label(group.title, font=bold_font(), role="muted" if group.quiet else "")
    title.setAccessibleName(f"{group.title}: {len(group.lines)} effects")
    grid.addWidget(title, 0, 0, 1, 2)
    for line in group.lines:
        _add_line(grid, line, group.quiet)
    return grid


def _add_line(grid: QGridLayout, line: EffectWords, quiet: bool) -> None:
    row = grid.rowCount()
    number = plain_label(line.number, font=None if quiet else bold_font(), role="muted" if quiet else "")
    number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    text = plain_label(line.text, wrap=True, role="muted" if quiet else "", selectable=True)
    grid.addWidget(number, row, 0)
    if not line.details:
        grid.addWidget(text, row, 1)
        return
    toggle = QToolButton()
    toggle.setObjectName("confirmation.details")
    toggle.setProperty("role", "link")
    toggle.setText("Details ▸")
    toggle.setCheckable(True)
    toggle.setAccessibleName(f"Details of: {line.number} {line.text}")
    shown = line.details[:DETAIL_LIMIT]
    more = len(line.details) - len(shown)
    body = "\n".join(one_line(detail, 300) for detail in shown) + (f"\n… and {more} more" if more else "")
    details = plain_label(body, wrap=True, role="muted", selectable=True)
    details.setVisible(False)

    def on_details_toggled(open_: bool) -> None:
        details.setVisible(open_)
        toggle.setText("Details ▾" if open_ else "Details ▸")

    toggle.toggled.connect(on_details_toggled)
    toggle.setChecked(line.unfolded)
    beside = QHBoxLayout()
    beside.setSpacing(8)
    beside.addWidget(text, 1)
    beside.addWidget(toggle)
    grid.addLayout(beside, row, 1)
    grid.addWidget(details, row + 1, 1)
