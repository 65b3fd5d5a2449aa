"""The transcript of an agent's run as it is kept beside its receipt: what each call asked for, and why it was not done.

These are texts of a model, and may quote a memory, so they are not in the operation log, which is never changed: the
receipt binds them by their digest, and they go when a session that the run could know is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ltmem_gui.domain.agent import AgentAction, AgentStep, AgentTranscript, ToolOutcome
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import KeptTranscript, Receipt
from ltmem_gui.domain.hazards import one_line

KEPT_BYTES: Final = 512 * 1024
"""What the transcript of one run may take; calls that have no room left are counted, and stay in the receipt."""
BINDS: Final = "transcript_sha256"
"""The field of a receipt that binds its transcript."""


class KeptState(StrEnum):
    """What became of the texts of a receipt's calls."""

    NONE = "not kept"
    WHOLE = "whole"
    REMOVED = "removed"
    ALTERED = "altered"

    @property
    def words(self) -> str:
        """Return what a person is told of it, nothing where all is there."""
        return _WORDS[self]


_WORDS = {
    KeptState.NONE: "An earlier version kept no arguments of these calls.",
    KeptState.WHOLE: "",
    KeptState.REMOVED: "What these calls asked for went when a session was forgotten or all was cleared.",
    KeptState.ALTERED: "What was kept of these calls is not what the receipt binds: another program changed it.",
}


@dataclass(frozen=True, slots=True)
class KeptSteps:
    """The steps of a receipt with what their calls asked for; `left_out` calls had no room. Empty unless `WHOLE`."""

    state: KeptState
    steps: tuple[AgentStep, ...] = ()
    left_out: int = 0


class _Body(BaseModel):
    """The form in which steps are kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[AgentStep, ...] = ()
    left_out: int = 0


_ACTION = TypeAdapter(AgentAction)
_STEPS = TypeAdapter(tuple[AgentStep, ...])


def kept(transcript: AgentTranscript, thread_ids: Iterable[str], room: int = KEPT_BYTES) -> KeptTranscript:
    """Return a transcript as it is kept, its texts checked and cut before; calls go where `room` bytes are full."""
    bare = [replace(step, actions=(), seconds=round(step.seconds, 3)) for step in transcript.steps]
    left = room - len(_Body(steps=tuple(bare)).model_dump_json().encode())
    steps: list[AgentStep] = []
    for step, told in zip(transcript.steps, bare, strict=True):
        actions: list[AgentAction] = []
        for action in step.actions:
            left -= len(_ACTION.dump_json(action)) + 1
            if left < 0:
                break
            actions.append(action)
        steps.append(replace(told, actions=tuple(actions)))
    left_out = sum(map(_calls, transcript.steps)) - sum(map(_calls, steps))
    body = _Body(steps=tuple(steps), left_out=left_out).model_dump_json()
    return KeptTranscript(body=body, thread_ids=tuple(sorted(set(thread_ids))))


def bound(transcript: KeptTranscript) -> str:
    """Return the digest by which a receipt binds a transcript."""
    return content_hash(transcript.body.encode("utf-8", "surrogatepass"))


def kept_steps(receipt: Receipt) -> KeptSteps:
    """Return the steps that were kept with a receipt, or why there are none."""
    return steps_of(receipt.transcript_sha256, receipt.transcript)


def steps_of(sha256: object, transcript: KeptTranscript | None) -> KeptSteps:
    """Return the steps of a transcript that a digest binds, or why there are none; both may come from a damaged log."""
    if not sha256:
        return KeptSteps(KeptState.NONE)
    if transcript is None:
        return KeptSteps(KeptState.REMOVED)
    if bound(transcript) != sha256:
        return KeptSteps(KeptState.ALTERED)
    try:
        body = _Body.model_validate_json(transcript.body)
    except ValidationError:
        return KeptSteps(KeptState.ALTERED)
    return KeptSteps(KeptState.WHOLE, body.steps, body.left_out)


def as_json(steps: tuple[AgentStep, ...]) -> list[dict[str, object]]:
    """Return steps as other programs read them."""
    return _STEPS.dump_python(steps, mode="json")


def in_lines(steps: Iterable[AgentStep], *, results: bool = False) -> Iterator[str]:
    """Yield each call on one line, with what it asked for and why it was not done; `results` tells what came of it."""
    for step in steps:
        if not step.actions:
            yield f"{step.number}: {one_line(step.said, 120) or 'done'}"
        for action in step.actions:
            asked = f" [{action.asked}]" if action.arguments else ""
            more = f": {one_line(action.detail, 200)}" if results and action.detail and not _failed(action) else ""
            yield f"{step.number}: {one_line(f'{action.tool} {action.path}', 240)}{asked} ({outcome(action)}){more}"


def outcome(action: AgentAction) -> str:
    """Return how a call ended, and in words why it was not done."""
    if not _failed(action):
        return action.outcome.value
    return ", ".join(filter(None, (action.outcome.value, ": ".join(filter(None, (action.reason, action.detail))))))


def _failed(action: AgentAction) -> bool:
    return action.outcome is not ToolOutcome.DONE


def _calls(step: AgentStep) -> int:
    return len(step.actions)
