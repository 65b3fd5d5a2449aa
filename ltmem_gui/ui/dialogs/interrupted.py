"""The page of what was interrupted: what was done, what was not, and how to end it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import GLOBAL_KIND, JobRecord
from ltmem_gui.pipeline.ports import InterruptedOperation
from ltmem_gui.pipeline.standing import Standing
from ltmem_gui.ui.dialogs.page import ReadingPage
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_facts import owner_in_words
from ltmem_gui.ui.theme import bold_font, title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule

MAX_LISTED = 100


class InterruptedPage(ReadingPage):
    """List what a run that was cut off left behind.

    Signals: `end_asked` (digest of an apply, True to finish it and False to roll it back).
    """

    end_asked = Signal(str, bool)

    def __init__(self, standing: Standing, parent: QWidget | None = None) -> None:
        super().__init__("interrupted", "list", "What was interrupted", QSize(680, 460), parent=parent)
        self.setWindowTitle("What was interrupted")
        self.column.addWidget(plain_label(_head(standing), font=title_font(), wrap=True))
        for operation in standing.applies:
            self._add_apply(operation)
        self._add_jobs([job for job in standing.jobs if job.kind != GLOBAL_KIND])
        if any(job.kind == GLOBAL_KIND for job in standing.jobs):
            text = "The lock of the consolidation was held by it; the next run takes the lock over."
            self.column.addWidget(plain_label(text, wrap=True))
        self.column.addStretch(1)

    def _add_apply(self, operation: InterruptedOperation) -> None:
        add = self.column.addWidget
        self.column.addSpacing(8)
        add(plain_label(f"An apply ({operation.operation}, plan {operation.digest[:8]})", font=bold_font()))
        add(plain_label(one_line(operation.root, 400), role="muted", wrap=True, selectable=True))
        if operation.recorded:
            add(plain_label("Everything was written and its receipt exists; only the clean-up is left.", wrap=True))
        else:
            text = f"It was cut off at the step “{operation.step}”. Until it is ended, nothing else can be applied."
            add(plain_label(text, wrap=True))
        names = [one_line(path, 200) for path in operation.files[:MAX_LISTED]]
        more = len(operation.files) - len(names)
        files = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        add(plain_label(f"{formats.plural(len(operation.files), 'file')}: {files}", role="muted", wrap=True))
        row = QHBoxLayout()
        row.setSpacing(8)
        for text, finish in (("Finish…", True), ("Roll back…", False)):
            if not finish and operation.recorded:
                continue
            button = QPushButton(text)
            button.setObjectName(f"interrupted.{'finish' if finish else 'roll_back'}")
            button.setAutoDefault(False)
            button.setAccessibleName(f"{text.rstrip('…')} the apply {operation.digest[:8]}")
            button.clicked.connect(
                lambda _=False, digest=operation.digest, finish=finish: self.end_asked.emit(digest, finish)
            )
            row.addWidget(button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addSpacing(8)
        add(rule())

    def _add_jobs(self, jobs: list[JobRecord]) -> None:
        if not jobs:
            return
        add = self.column.addWidget
        self.column.addSpacing(8)
        add(plain_label(formats.plural(len(jobs), "extraction"), font=bold_font()))
        text = "Nothing of them was stored; the next run takes them over. After three such ends a rollout is held."
        add(plain_label(text, wrap=True, role="muted"))
        for job in jobs[:MAX_LISTED]:
            title = one_line(job.title, 120) or job.job_key
            began = f"attempt {len(job.attempts)}, began {formats.absolute(job.started_at)}"
            add(plain_label(f"✕ {title}", wrap=True))
            add(plain_label(f"    {began}, {owner_in_words(job.owner)}", role="muted", wrap=True))


def _head(standing: Standing) -> str:
    if not standing.interrupted:
        return "Nothing was interrupted"
    return f"The last run was cut off: {interrupted_in_words(standing)}"


def interrupted_in_words(standing: Standing) -> str:
    """Count what was interrupted, in words."""
    jobs = sum(job.kind != GLOBAL_KIND for job in standing.jobs)
    parts: list[str] = []
    if standing.applies:
        count = len(standing.applies)
        parts.append(formats.plural(count, "apply", "applies"))
    if jobs:
        parts.append(formats.plural(jobs, "extraction"))
    if len(standing.jobs) > jobs:
        parts.append("the consolidation")
    return ", ".join(parts)
