"""Judge how a task went (reference §8.3): explicit feedback first, then what the last runs say, else stay careful."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.toolruns import ToolRun

_FOR = re.compile(
    r"^\W*(?:yes|yep|yeah|right|exactly|correct|good|great|perfect|lovely|nice|thanks|thank you|thx|ty|"
    r"looks (?:good|right)|lgtm|got it|cool|awesome|excellent|works|ship it|that's (?:right|it|the|"
    r"correct|fine)|that is (?:right|fine)|well done|super|ok(?:ay)?,? (?:good|great|thanks)"
    r"|ja|genau|richtig|stimmt|prima|passt|danke|perfekt|klasse|läuft|toll|sehr gut|sí|exacto|correcto|"
    r"perfecto|gracias|genial|muy bien|bien|estupendo)(?!\w)"
    r"|^\W*(?:对|是的|好的?|没错|谢谢|完美|很好|不错|太好了|可以)|👍|🎉|✅",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"^\W*(?:no[,.! ]|nope|wrong|that's (?:wrong|not)|not (?:quite|right|what)|stop|wait|undo|revert|nein|"
    r"falsch|halt|stopp|das stimmt nicht|incorrecto|eso no|mal[,.! ]|espera|不对|不是|错了|不行)"
    r"|\b(?:still (?:broken|failing|fails|wrong|not|doesn't)|doesn't work|does not work|didn't work|"
    r"not fixed|makes it worse|geht immer noch nicht|funktioniert (?:immer noch )?nicht|sigue fallando|"
    r"no funciona)\b|还是(?:不行|报错|不对)|没用",
    re.IGNORECASE,
)
_NEW_TASK = re.compile(
    r"^\W*(?:next (?:task|thing|topic)|new (?:task|topic)|different (?:task|topic|question)|unrelated|"
    r"something else|another (?:task|thing|topic)|on another note|now for something"
    r"|nächste aufgabe|neue aufgabe|anderes thema|neues thema|was anderes|etwas anderes|otra tarea|"
    r"otro tema|nueva tarea|cambiando de tema|siguiente tarea)(?!\w)|^\W*(?:另一个任务|下一个任务|换个话题|新任务)",
    re.IGNORECASE,
)


class Feedback(StrEnum):
    """What a message says about the work before it."""

    FOR = "for"
    AGAINST = "against"
    NONE = "none"


class TaskOutcome(StrEnum):
    """The labels of the memory schema."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAIL = "fail"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Task:
    """One task: the request, and the span of items that belong to it (`end` excluded)."""

    request: RolloutItem
    start: int
    end: int


def feedback(text: str) -> Feedback:
    """Read the verdict in a message of the person."""
    if _AGAINST.search(text):
        return Feedback.AGAINST
    return Feedback.FOR if _FOR.search(text) else Feedback.NONE


def split_tasks(items: Sequence[RolloutItem], messages: Sequence[tuple[int, RolloutItem]]) -> list[Task]:
    """Cut a session where the person names a new task."""
    starts = [pair for position, pair in enumerate(messages) if position == 0 or _NEW_TASK.search(pair[1].text)]
    ends = [index for index, _ in starts[1:]] + [len(items)]
    return [Task(item, index, end) for (index, item), end in zip(starts, ends, strict=True)]


def outcome_of(
    task: Task, messages: Sequence[tuple[int, RolloutItem]], runs: Sequence[ToolRun], *, last: bool
) -> TaskOutcome:
    """Label a task: the person's last verdict, else the last run; the last task is judged with care."""
    later = [item.text for index, item in messages if task.start < index < task.end]
    own = [run for run in runs if task.start <= run.index < task.end]
    verdict = feedback(later[-1]) if later else Feedback.NONE
    if verdict is Feedback.FOR:
        return TaskOutcome.SUCCESS
    if verdict is Feedback.AGAINST:
        return TaskOutcome.PARTIAL if own and own[-1].ok else TaskOutcome.FAIL
    if own and not own[-1].ok:
        return TaskOutcome.FAIL if not any(run.ok for run in own) else TaskOutcome.PARTIAL
    if not last:
        return TaskOutcome.SUCCESS
    return TaskOutcome.PARTIAL if len(later) > 2 else TaskOutcome.UNCERTAIN
