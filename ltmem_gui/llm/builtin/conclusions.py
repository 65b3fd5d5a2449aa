"""Find what the agent found out and the work or the person then confirmed.

An agent's proposals are no memory unless adopted (reference §8.3): a statement of need, place or requirement counts
when the person's next message agrees, or when a failed run works right before or after it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.chinese import is_chinese
from ltmem_gui.llm.builtin.outcome import Feedback, feedback
from ltmem_gui.llm.builtin.sentences import sentences
from ltmem_gui.llm.builtin.statements import place
from ltmem_gui.llm.builtin.toolruns import ToolRun

_NEED = re.compile(
    r"\b(?:needs?|requires?|must be|has to be|have to be|only works?|runs? (?:with|under|on|in)|won't work without|"
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
MAX_ANSWER = 4_000
CONFIRMED = 58
LIKELY = 34
SHORTEST = 24  # characters; what is shorter says that something was done, not what is so


def conclusions(items: Sequence[RolloutItem], runs: Sequence[ToolRun]) -> list[Candidate]:
    """Return the agent's confirmed findings in source order; sessions without any tool run have none."""
    if not runs:
        return []
    found: list[Candidate] = []
    verdicts = _verdicts(items)
    first_failure = min((run.index for run in runs if not run.ok), default=len(items))
    places = [run.index for run in runs]
    for index, item in enumerate(items):
        line = place(item)
        if item.role != "assistant" or item.kind != "message" or line is None or len(item.text) > MAX_ANSWER:
            continue
        at = bisect_left(places, index)
        around = runs[max(0, at - 1) : at + 1]
        worked = first_failure < index and any(run.ok for run in around)
        agreed = verdicts[index] is Feedback.FOR
        if verdicts[index] is Feedback.AGAINST or not (worked or agreed):
            continue
        for sentence in sentences(item.text):
            candidate = _candidate(sentence.text, sentence.plain, line, worked=worked, agreed=agreed)
            if candidate is not None:
                found.append(candidate)
    return found


def _candidate(text: str, plain: str, line: int, *, worked: bool, agreed: bool) -> Candidate | None:
    if len(plain) < SHORTEST and not is_chinese(plain):
        return None
    if text.rstrip().endswith(("?", "？")) or _OWN_WORK.search(plain) or not _ANCHOR.search(plain):
        return None
    if _NEED.search(plain):
        repaired = worked and bool(_FIXED.search(plain))
        return Candidate(text, line, "finding", CONFIRMED if repaired or agreed else LIKELY)
    if agreed and _ROOT_CAUSE.search(plain):
        return Candidate(text, line, "finding", LIKELY - 10)
    return None


def _verdicts(items: Sequence[RolloutItem]) -> list[Feedback]:
    """Return for each item what the person's next message says about it."""
    verdict = Feedback.NONE
    found: list[Feedback] = []
    for item in reversed(items):
        found.append(verdict)
        if item.role == "user" and item.kind == "message" and not item.injected:
            verdict = feedback(item.text[:MAX_ANSWER])
    return found[::-1]
