"""Receipts: what was done, when, by whom, file by file."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.consent import Receipt, ReceiptFile
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.pipeline.written import LastApply
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.agent_steps import rows_of_kept
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.panels.agent_transcript import TranscriptView
from ltmem_gui.ui.panels.history_diff import WrittenDiff
from ltmem_gui.ui.theme import Theme, monospace, title_font
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.facts import Fact, FactGrid
from ltmem_gui.ui.widgets.labels import plain_label

_OLDER = "Only the last apply keeps its text, for 24 hours; of this one the files and their hashes are kept."
_GONE = "Its text is gone: it is kept for 24 hours, until the next apply, and only while nobody changes the files."

_KINDS = {"extract": "Extraction", "apply": "Apply", "consolidate": "Consolidation"}


class HistoryPanel(QWidget):
    """List receipts and show one.

    Signals: `read_asked` (the receipts are to be read), `undo_asked` (a plan that takes the last apply back),
    `changes_asked` (what the last apply wrote is to be read).
    """

    read_asked = Signal()
    undo_asked = Signal()
    changes_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("history")
        self._theme = theme
        self._receipts: tuple[Receipt, ...] | None = None
        self._last: LastApply | None = None
        self.list = _tree("history.receipts", "Receipts", ("No.", "What", "When", "Effect", "Surface"))
        for index, width in enumerate((56, 180, 160, 280)):
            self.list.header().resizeSection(index, width)
        self.list.currentItemChanged.connect(self._on_current_item_changed)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.list)
        splitter.addWidget(self._build_page())
        splitter.setSizes([220, 400])
        splitter.setChildrenCollapsible(False)
        self._empty = EmptyPage("history.empty")
        self._empty.pressed.connect(self.read_asked)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(splitter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)

    def show_seen(self, seen: Seen) -> None:
        """Show the receipts that were read, newest first."""
        if seen.receipts == self._receipts:
            return
        self._receipts = seen.receipts
        self.show_changes(None, told=False)
        self.list.clear()
        for receipt in reversed(seen.receipts or ()):
            item = QTreeWidgetItem(_line(receipt))
            item.setData(0, Qt.ItemDataRole.UserRole, receipt.operation_number)
            self.list.addTopLevelItem(item)
        self._stack.setCurrentIndex(1 if seen.receipts else 0)
        first = self.list.topLevelItem(0)
        if first is not None:
            self.list.setCurrentItem(first)

    def teach(self, title: str, sentence: str, action: str = "") -> None:
        """Say what an empty panel means."""
        self._empty.teach(title, sentence, action)

    def show_changes(self, last: LastApply | None, *, told: bool = True) -> None:
        """Show what the last apply wrote beside its files; None says that its text is gone."""
        self._last = last
        self.written.show_last(last)
        self._show_written()
        if told and last is None:
            self.changes.setEnabled(False)
            self.changes.setToolTip(_GONE)
            self._note.setText(_GONE)
        elif last is not None and self.written.isVisible():
            self.written.view.setFocus()

    def select(self, number: int) -> None:
        """Show the receipt with a number."""
        for row in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(row)
            if item is not None and item.data(0, Qt.ItemDataRole.UserRole) == number:
                self.list.setCurrentItem(item)

    def shown(self) -> Receipt | None:
        """Return the receipt that is shown."""
        item = self.list.currentItem()
        number = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None
        return next((r for r in self._receipts or () if r.operation_number == number), None)

    def _build_page(self) -> QWidget:
        page = QFrame()
        page.setProperty("role", "page")
        self._title = plain_label(font=title_font())
        self._title.setObjectName("history.title")
        self._facts = FactGrid(horizontal=16, vertical=4)
        self.files = _tree("history.files", "Files of the receipt", ("File", "Change", "Before", "After"))
        for index, width in enumerate((420, 80, 100)):
            self.files.header().resizeSection(index, width)
        self.files.currentItemChanged.connect(self._show_written)
        self._note = plain_label(role="muted", wrap=True)
        self._note.setObjectName("history.note")
        self.written = WrittenDiff(self._theme)
        self.steps = TranscriptView("history.steps", self._theme)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        self.changes = QPushButton("Show what was written")
        self.changes.setObjectName("history.changes")
        self.changes.clicked.connect(self.changes_asked)
        head.addWidget(self.changes)
        self.undo = QPushButton("Undo the last apply…")
        self.undo.setObjectName("history.undo")
        self.undo.setToolTip("Makes a plan to review; nothing changes before you confirm it. Possible for 24 hours.")
        self.undo.clicked.connect(self.undo_asked)
        head.addWidget(self.undo)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(16, 12, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addLayout(self._facts)
        layout.addWidget(self._note)
        beside = self._beside = QSplitter(Qt.Orientation.Horizontal)
        beside.setChildrenCollapsible(False)
        beside.addWidget(self.files)
        beside.addWidget(self.written)
        beside.setStretchFactor(1, 1)
        layout.addWidget(beside, 1)
        layout.addWidget(self.steps, 1)
        return page

    def _on_current_item_changed(self) -> None:
        receipt = self.shown()
        self._facts.show_facts([Fact(*fact) for fact in _facts(receipt)] if receipt is not None else [])
        self.files.clear()
        if receipt is None:
            self._title.setText("")
            self.steps.hide()
            self.changes.setEnabled(False)
            self._show_written()
            return
        self._title.setText(f"{_KINDS.get(receipt.kind, receipt.kind)} no. {receipt.operation_number}")
        self.files.setVisible(bool(receipt.files))
        self._beside.setVisible(not receipt.steps)
        self.steps.setVisible(bool(receipt.steps))
        rows, missing = rows_of_kept(receipt)
        self.steps.show_rows(rows)
        for file in receipt.files:
            item = QTreeWidgetItem(_file(file))
            for column in (2, 3):
                item.setFont(column, monospace())
            item.setData(0, Qt.ItemDataRole.UserRole, file.path)
            self.files.addTopLevelItem(item)
        self._offer_changes(receipt)
        if missing:
            self._note.setText(missing)
        first = self.files.topLevelItem(0)
        if first is not None:
            self.files.setCurrentItem(first)
        self._show_written()

    def _offer_changes(self, receipt: Receipt) -> None:
        """Offer the text of the last apply; of older ones there are files and counts only."""
        written = [r.operation_number for r in self._receipts or () if r.files]
        newest = bool(written) and receipt.operation_number == max(written)
        self.changes.setVisible(bool(receipt.files))
        self.changes.setEnabled(newest)
        self.changes.setToolTip("Reads the undo image and the memory folder; changes nothing" if newest else _OLDER)
        self._note.setText("" if newest or not receipt.files else _OLDER)

    def _show_written(self) -> None:
        receipt, item = self.shown(), self.files.currentItem()
        fits = self._last is not None and receipt is not None and receipt.plan_digest == self._last.plan_digest
        path = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else ""
        self.written.setVisible(fits and self.written.show_file(path or ""))


def effect_text(receipt: Receipt) -> str:
    """Return what a receipt did, in a few words."""
    if receipt.files:
        deleted = sum(file.new_sha256 is None for file in receipt.files)
        text = f"{formats.plural(len(receipt.files) - deleted, 'file')} written"
        return f"{text}, {deleted} deleted" if deleted else text
    if receipt.kind == "consolidate":
        return _agent_text(receipt.counts)
    counts = (f"{formats.count(count)} {name.replace('_', ' ')}" for name, count in receipt.counts.items())
    return ", ".join(counts) or "no change"


def _agent_text(counts: Mapping[str, int]) -> str:
    parts = [
        formats.plural(counts.get("agent_steps", 0), "step"),
        formats.plural(counts.get("tool_calls", 0), "call"),
        f"{formats.plural(counts.get('files_touched', 0), 'file')} changed in its copy",
        f"{formats.count(counts.get('refused_calls', 0))} refused",
        f"{formats.tokens(counts.get('tokens_in', 0))} tokens sent, {formats.tokens(counts.get('tokens_out', 0))} back",
    ]
    return ", ".join(parts)


def _line(receipt: Receipt) -> list[str]:
    return [
        str(receipt.operation_number),
        f"{_KINDS.get(receipt.kind, receipt.kind)} · {receipt.operation}",
        formats.absolute(receipt.finished_at),
        effect_text(receipt),
        receipt.surface,
    ]


def _facts(receipt: Receipt) -> list[tuple[str, str]]:
    facts = [
        ("Effect", effect_text(receipt)),
        ("Confirmed by", f"{one_line(receipt.approver)} ({receipt.surface})"),
        ("Time", f"{formats.absolute(receipt.started_at)}, {formats.span(receipt.finished_at - receipt.started_at)}"),
        ("Plan", f"{receipt.plan_digest[:8]}, selection {receipt.selection_digest[:8]}"),
    ]
    if receipt.baseline_commit:
        facts.append(("Baseline", receipt.baseline_commit))
    if receipt.watermark_after is not None:
        before = formats.absolute(receipt.watermark_before) if receipt.watermark_before else "none"
        facts.append(("Watermark", f"{before} → {formats.absolute(receipt.watermark_after)}"))
    facts.extend(("Overridden", f"{name}: {one_line(reason)}") for name, reason in receipt.overrides.items())
    facts.extend(("Note", f"{one_line(hunk, 80)}: {one_line(note, 400)}") for hunk, note in receipt.notes.items())
    return facts


def _file(file: ReceiptFile) -> list[str]:
    change = "added" if file.old_sha256 is None else "deleted" if file.new_sha256 is None else "modified"
    return [one_line(file.path, 300), change, (file.old_sha256 or "–")[:8], (file.new_sha256 or "–")[:8]]


def _tree(name: str, title: str, columns: tuple[str, ...]) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setObjectName(name)
    tree.setAccessibleName(title)
    tree.setColumnCount(len(columns))
    tree.setHeaderLabels(list(columns))
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setAlternatingRowColors(True)
    tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    tree.header().setStretchLastSection(True)
    return tree
