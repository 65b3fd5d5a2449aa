"""Phase 1 without an AI model: deterministic, offline, quoting.

`extract_builtin` proposes only high-scoring statements; the rest (at most `INBOX_PER_ROLLOUT`) waits for a person to
keep or drop. Nothing proposed is the no-op: three empty strings, the inbox kept. The form of the text is described in
`rendering.py`. Instructions inside tool output are never read as the person's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence

from ltmem_gui.domain.extraction import Candidate, ExtractionInput, ExtractionReply
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.conclusions import conclusions
from ltmem_gui.llm.builtin.outcome import outcome_of, split_tasks
from ltmem_gui.llm.builtin.rendering import Noted, TaskNotes, raw_memory, rollout_summary, slug_of
from ltmem_gui.llm.builtin.scoring import INBOX_AT, PROPOSE_AT
from ltmem_gui.llm.builtin.statements import own_messages, statements
from ltmem_gui.llm.builtin.toolruns import Repair, ToolRun, failed_before, repairs, tool_runs

INBOX_PER_ROLLOUT = 6
PROPOSED_PER_ROLLOUT = 16
BUILTIN_LABEL = "Built-in rules, no AI model, nothing leaves this computer"
CLEAR_AT = 79  # one statement as clear as this, or one the tools prove, makes a rollout worth remembering
BOTH_AT = 66  # two statements as good as this do so together
PROVEN = frozenset({"failure-fix", "finding"})
SURE_REPAIR = 62
LIKELY_REPAIR = 54

OffloadCpu = Callable[..., Awaitable[ExtractionReply]]


def extract_builtin(request: ExtractionInput) -> ExtractionReply:
    """Return the reply of the built-in rules for one redacted rollout."""
    items = [item for item in request.items if not (item.inherited or item.undone)]
    messages = own_messages(items)
    runs = tool_runs(items)
    noted = _noted(items, runs)
    proposed = sorted((n for n in noted if n.candidate.score >= PROPOSE_AT), key=lambda n: -n.candidate.score)
    if not _is_clear(proposed):
        proposed = []
    chosen = sorted(proposed[:PROPOSED_PER_ROLLOUT], key=lambda n: (n.start, n.end))
    asked = [n for n in noted if n.candidate.score >= INBOX_AT and n not in proposed[:PROPOSED_PER_ROLLOUT]]
    asked.sort(key=lambda n: -n.candidate.score)
    inbox = tuple(n.candidate for n in sorted(asked[:INBOX_PER_ROLLOUT], key=lambda n: (n.start, n.end)))
    if not chosen or not messages:
        return ExtractionReply(text=_reply("", "", ""), inbox=inbox)
    tasks = _by_task(items, messages, runs, chosen)
    text = _reply(raw_memory(request, tasks), rollout_summary(request, tasks), slug_of(request, tasks))
    return ExtractionReply(text=text, proposed=tuple(n.candidate for n in chosen), inbox=inbox)


def _is_clear(proposed: Sequence[Noted]) -> bool:
    """Tell whether a rollout holds something to remember; `proposed` is sorted, the highest score first."""
    if any(note.candidate.score >= CLEAR_AT or note.candidate.kind in PROVEN for note in proposed):
        return True
    return len(proposed) > 1 and proposed[1].candidate.score >= BOTH_AT


class BuiltinExtractor:
    """The default provider: nothing leaves this computer."""

    def __init__(self, offload: OffloadCpu | None = None) -> None:
        """Take what runs a picklable function off the loop; without it the work is done in place."""
        self._offload = offload

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it."""
        return ProviderMark(name="builtin", label=BUILTIN_LABEL)

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        """Answer for one rollout; never raises for the content of a rollout."""
        if self._offload is None:
            return extract_builtin(request)
        return await self._offload(extract_builtin, request)

    async def close(self) -> None:
        """Do nothing: nothing was opened."""


def _noted(items: Sequence[RolloutItem], runs: Sequence[ToolRun]) -> list[Noted]:
    found = [Noted(c, c.line or 0) for c in statements(items, failed_before(items, runs))]
    found += [_repair_note(repair, found) for repair in repairs(runs)]
    found += [Noted(c, c.line or 0) for c in conclusions(items, runs)]
    return found


def _repair_note(repair: Repair, said: Sequence[Noted]) -> Noted:
    """Note what put a failure right; where the person had told what to do, only if it is what they told."""
    failed, worked = repair.failed, repair.worked
    text = f"`{failed.command}` failed: `{failed.error}`; `{worked.command}` worked"
    told = [n.candidate.text for n in said if failed.line < n.start < worked.line and n.candidate.score >= PROPOSE_AT]
    other = bool(told) and not _words(worked.command) & _words(" ".join(told))
    score = INBOX_AT if other else SURE_REPAIR if repair.sure else LIKELY_REPAIR
    return Noted(Candidate(text, failed.line, "failure-fix", score), worked.output_line)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"[^\W_]{4,}", text.lower()))


def _by_task(
    items: Sequence[RolloutItem],
    messages: Sequence[tuple[int, RolloutItem]],
    runs: Sequence[ToolRun],
    chosen: Sequence[Noted],
) -> list[TaskNotes]:
    """Give each note to the task whose span its line lies in, and number the notes over the rollout."""
    tasks = split_tasks(items, messages)
    found: list[TaskNotes] = []
    number = 1
    for position, task in enumerate(tasks):
        last = position == len(tasks) - 1
        low = 0 if position == 0 else _place(task.request)
        high = None if last else _place(tasks[position + 1].request)
        notes = tuple(n for n in chosen if n.start >= low and (high is None or n.start < high))
        found.append(TaskNotes(task, outcome_of(task, messages, runs, last=last), notes, number))
        number += len(notes)
    return [task for task in found if task.notes] or found[:1]


def _place(item: RolloutItem) -> int:
    return item.line or item.row or 0


def _reply(memory: str, summary: str, slug: str) -> str:
    return json.dumps({"raw_memory": memory, "rollout_summary": summary, "rollout_slug": slug}, ensure_ascii=False)
