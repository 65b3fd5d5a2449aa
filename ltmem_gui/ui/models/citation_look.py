"""Look at the citations of the folder in the background: what is on the screen first. Holds no widget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import QObject, Signal
from rapidfuzz.distance import Indel

from ltmem_gui.domain.citation_look import ClaimPlaces, Position
from ltmem_gui.pipeline.citation_look import LookResult
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.ui.bridge.supervisor import Supervisor

TASK = "citations.look"


class CitationLooker(QObject):
    """Ask where the lines are now, each time a folder was read.

    Signals: `found` (`LookResult`, several times).
    """

    found = Signal(object)

    def __init__(self, operations: Operations, supervisor: Supervisor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._operations = operations
        self._supervisor = supervisor
        self._request: Callable[[], Request] | None = None
        self.claims = ClaimPlaces()
        self.standing: Mapping[str, str] = {}

    def lend(self, request: Callable[[], Request]) -> None:
        """Take what names the folders; before that nothing is looked at."""
        self._request = request

    def start(self, folder: WorkspaceSnapshot, report: ScanReport | None, first: Collection[Position]) -> None:
        """Look at a folder that was read; a look at another one ends."""
        self.claims, self.standing = ClaimPlaces(), {}
        if self._request is None:
            return
        uses = [use for rollout in report.rollouts for use in rollout.citations] if report is not None else []
        look = self._operations.audit.look(
            self._request(), folder, uses=uses, first=first, deliver=self._on_part_delivered
        )
        self._supervisor.spawn(TASK, look, policy="replace")

    def stop(self) -> None:
        """Forget what was found."""
        self.claims, self.standing = ClaimPlaces(), {}
        self._supervisor.cancel(TASK)

    def _on_part_delivered(self, part: LookResult) -> None:
        self.claims = part.claims or self.claims
        self.standing = part.standing or self.standing
        self.found.emit(part)


def changed_spans(text: str, other: str) -> list[tuple[int, int]]:
    """Return which words of a text are not in the other one, as places in code points."""
    words, others = _words(text), _words(other)
    spans: list[tuple[int, int]] = []
    for step in Indel.opcodes([word for _, word in words], [word for _, word in others]):
        if step.tag == "delete":
            last_at, last = words[step.src_end - 1]
            spans.append((words[step.src_start][0], last_at + len(last)))
    return spans


def _words(text: str) -> list[tuple[int, str]]:
    """Return place and text of each word; what stands between words belongs to none."""
    found: list[tuple[int, str]] = []
    at = 0
    for part in text.replace("\n", " ").split(" "):
        if part:
            found.append((at, part))
        at += len(part) + 1
    return found
