"""Find what the agent found out and the work or the person then confirmed.

An agent's proposals are no memory unless adopted (reference §8.3): a statement of need, place or requirement counts
when the person's next message agrees, or when a failed run works right before or after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.outcome import Feedback, feedback
from ltmem_gui.llm.builtin.sentences import sentences
from ltmem_gui.llm.builtin.statements import place
from ltmem_gui.llm.builtin.toolruns import ToolRun

_NEED = re.compile(
    r"\b(?:needs?|requires?|must be|has to be|have to be|only works?|won't work without|"
    r"does not work without|depends on|lives? in|live under|is stored in|(?:is|are) (?:declared|defined|"
    r"configured|kept|generated|read|set|managed|documented) (?:in|from|by|through|via|at|under)"
    r"|(?:does not|doesn't) exist|is not (?:supported|available)|(?:fixed|resolved|solved) (?:it|this|"
    r"that|the)|turned out|listens? on|points? (?:at|to)|expects?|benötigt|braucht|muss|liegt in|"
    r"liegen in|wird in|behoben|gelöst|necesita|requiere|hay que|debe|está en|están en|se arregló|"
    r"resuelto|solucionado)\b"
    r"|需要|必须|位于|依赖|才能|解决了|在[^，。]{1,30}(?:里|中|下)",
    re.IGNORECASE,
)
_FIXED = re.compile(
    r"\b(?:fixed|resolved|solved|behoben|gelöst|arregló|resuelto|solucionado|needs?|requires?|installing|"
    r"setting)\b|解决了|需要",
    re.IGNORECASE,
)
_ROOT_CAUSE = re.compile(r"\b(?:root cause|the cause|because|ursache|weil|causa|porque)\b|原因|因为", re.IGNORECASE)
_OWN_WORK = re.compile(
    r"^\W*(?:i|i'll|fixed (?:the|it|a|an|in)|i've|i'd|let me|ok|ich|voy|he|trying|running|looking|added|"
    r"changed|updated|opened|"
    r"rewrote|renamed|moved|committed|done|there are|there is|passes|我)\b|^我",
    re.IGNORECASE,
)
_ANCHOR = re.compile(r"`[^`]+`|[\w.-]+/[\w./-]+|\b[A-Z][A-Z0-9_]{2,}\b|\b\w+[._-]\w+\b|\b\d{2,}\b|=")
CONFIRMED = 58
LIKELY = 34


def conclusions(items: Sequence[RolloutItem], runs: Sequence[ToolRun]) -> list[Candidate]:
    """Return the agent's confirmed findings in source order; sessions without any tool run have none."""
    if not runs:
        return []
    found: list[Candidate] = []
    for index, item in enumerate(items):
        line = place(item)
        if (
            item.role != "assistant"
            or item.kind != "message"
            or item.inherited
            or line is None
            or len(item.text) > 4000
        ):
            continue
        agreed = _agreed(items, index)
        worked = _worked(runs, index)
        if agreed is Feedback.AGAINST or not (worked or agreed is Feedback.FOR):
            continue
        for sentence in sentences(item.text):
            candidate = _candidate(sentence.text, sentence.plain, line, worked=worked, agreed=agreed is Feedback.FOR)
            if candidate is not None:
                found.append(candidate)
    return found


def _candidate(text: str, plain: str, line: int, *, worked: bool, agreed: bool) -> Candidate | None:
    if text.rstrip().endswith(("?", "？")) or not _ANCHOR.search(plain):
        return None
    own_work = bool(_OWN_WORK.search(plain))
    if _NEED.search(plain) and not own_work:
        repaired = worked and bool(_FIXED.search(plain))
        return Candidate(text, line, "finding", CONFIRMED if repaired or agreed else LIKELY)
    if _ROOT_CAUSE.search(plain) and agreed and not own_work:
        return Candidate(text, line, "finding", LIKELY - 10)
    return None


def _agreed(items: Sequence[RolloutItem], index: int) -> Feedback:
    for item in items[index + 1 :]:
        if item.role == "user" and item.kind == "message" and not item.injected:
            return feedback(item.text)
    return Feedback.NONE


def _worked(runs: Sequence[ToolRun], index: int) -> bool:
    """Tell whether a failure lies before the statement and a success right around it."""
    before = [run for run in runs if run.index < index]
    after = [run for run in runs if run.index > index]
    if not any(not run.ok for run in before):
        return False
    return bool((before and before[-1].ok) or (after and after[0].ok))
