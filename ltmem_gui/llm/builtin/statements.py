"""Find what a person said that may outlive the session, and quote it with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.lexicon import CORRECTION_START
from ltmem_gui.llm.builtin.scoring import INBOX_AT, Scored, Surroundings, score_sentence, stems
from ltmem_gui.llm.builtin.sentences import Sentence, sentences
from ltmem_gui.llm.builtin.toolruns import said_with_refusal

MAX_QUOTE = 420
SAME_STATEMENT = 88.0
GIVEN_MESSAGES = 3
GIVEN_CHARS = 1_500

_ADDS_NEW = re.compile(
    r"^\W*(?:and (?:please|also)|also|another|one more|plus|und (?:bitte|auch|antworte)|außerdem|"
    r"ausserdem|auch|ferner|noch was|también|además|y también|otra cosa|另外|还有|此外|同时)\b",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"^\W*(?:it|it's|its|that|that's|they|they're|this|those|these|otherwise|because|since|the reason|"
    r"else|so|or|only|not|instead|use|never|always|hence|for example|e\.g\."
    r"|das|die|es|sie|sonst|weil|denn|der grund|nur|stattdessen|also|damit|eso|esa|ese|porque|si no|así|"
    r"solo|sólo|la razón|el motivo|因为|否则|不然|原因|这样|它|只)(?![\w])",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|reason|decided|otherwise|since|weil|grund|sonst|entschieden|porque|motivo|razón|decidí|"
    r"decidimos)\b|因为|原因|否则|不然",
    re.IGNORECASE,
)
_ORDERS_A_PIECE = re.compile(
    r"^\W*(?:(?:please\s+|can you\s+|could you\s+|let's\s+|i (?:need|want) you to\s+|bitte\s+|"
    r"kannst du\s+|por favor\s+)?"
    r"(?:build|write|create|make|implement|generate|design|draw|draft|compose|develop|code|prototype|give|schreib\w*"
    r"|erstell\w*|bau\w*|mach\w*|entwirf|entwickle|escribe|crea|haz|genera|construye|diseña|dibuja|programa)"
    r"|i (?:need|want|am looking for)|we need|ich (?:brauche|will|möchte)|necesito|quiero)\s+"
    r"(?:me\s+|us\s+|mir\s+|uns\s+)?(?:a|an|some|ein|eine|einen|un|una)\s",
    re.IGNORECASE,
)
_TAGS = re.compile(r"</?(?:citation_entries|rollout_ids|oai-mem-citation|thread_ids)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    scored: Scored


def own_messages(items: Sequence[RolloutItem]) -> list[tuple[int, RolloutItem]]:
    """Return the index and item of every message the person typed in this session."""
    return [
        (index, item)
        for index, item in enumerate(items)
        if item.role == "user" and item.kind == "message" and not (item.injected or item.inherited or item.undone)
    ]


def statements(items: Sequence[RolloutItem], failed_before: frozenset[int]) -> list[Candidate]:
    """Return scored quotations of the person in source order, best wording of each kept.

    `failed_before` holds the indexes of messages that answer a failed tool run.
    """
    found: list[Candidate] = []
    messages = own_messages(items)
    for position, (index, item) in enumerate(messages):
        given = _given(items[:index])
        for unit in _units(item.text, first=position == 0, after_failure=index in failed_before, given=given):
            _keep(found, Candidate(unit.text, place(item), unit.scored.kind, unit.scored.score))
    for item in items:
        reason = said_with_refusal(item)
        if reason:
            for unit in _units(reason, first=False, after_failure=True, given=frozenset()):
                score = min(100, unit.scored.score + 15)
                _keep(found, Candidate(unit.text, place(item), "correction", score))
    return found


def place(item: RolloutItem) -> int | None:
    """Return what a citation counts by: the physical line, the row for a session in a database."""
    return item.line if item.line is not None else item.row


def _keep(found: list[Candidate], candidate: Candidate) -> None:
    """Add a candidate; of two wordings of one statement the higher score stays, then the later one."""
    if candidate.score < INBOX_AT or candidate.line is None or _TAGS.search(candidate.text):
        return
    for index, other in enumerate(found):
        if fuzz.token_set_ratio(other.text.lower(), candidate.text.lower()) >= SAME_STATEMENT:
            if candidate.score >= other.score:
                found[index] = candidate
            return
    found.append(candidate)


def _given(before: Sequence[RolloutItem]) -> frozenset[str]:
    """Return the words of the last messages on both sides: what the session is about just then."""
    said = [i.text for i in before if i.role in ("user", "assistant") and i.kind == "message" and not i.injected]
    recent = [text[:GIVEN_CHARS] for text in ([said[0], *said[-GIVEN_MESSAGES:]] if said else [])]
    return stems(" ".join(recent))


def _units(message: str, *, first: bool, after_failure: bool, given: frozenset[str]) -> list[_Unit]:
    parts = sentences(message)
    scored: list[Scored] = []
    corrected = False
    ordered_in: int | None = None
    for part in parts:
        around = Surroundings(
            first_message=first and part.paragraph == 0,
            after_failure=after_failure,
            corrected=corrected,
            listed=part.listed,
            spec=ordered_in == part.paragraph,
            given=given,
        )
        result = score_sentence(part.plain, around)
        scored.append(result)
        if _ORDERS_A_PIECE.search(part.plain):
            ordered_in = part.paragraph
        alone = part.plain.strip(" .!,–—-").lower()
        corrected = not first and (alone in CORRECTION_START or ("correction" in result.features and len(alone) < 40))
    return _joined(message, parts, scored)


def _joined(message: str, parts: Sequence[Sentence], scored: Sequence[Scored]) -> list[_Unit]:
    """Put a sentence and what explains it into one quotation; what adds a new point starts its own."""
    units: list[_Unit] = []
    at = 0
    while at < len(parts):
        head = scored[at]
        if head.score < INBOX_AT:
            at += 1
            continue
        end = at + 1
        best = head
        while end < len(parts) and end - at < 3 and _continues(parts, scored, at, end):
            best = _stronger(best, scored[end])
            end += 1
        text = _span(message, parts[at].text, parts[end - 1].text)
        units.append(_Unit(text if text is not None else parts[at].text, best))
        at = end
    return units


def _continues(parts: Sequence[Sentence], scored: Sequence[Scored], at: int, index: int) -> bool:
    text = parts[index].text
    features = scored[index].features
    if _ADDS_NEW.search(text) or features & {"question", "transient", "acknowledge", "empty_talk"}:
        return False
    if sum(len(part.text) for part in parts[at : index + 1]) > MAX_QUOTE:
        return False
    if _EXPLAINS.search(text) or _REASON.search(text):
        return True
    order = features & {"change", "task_imperative", "habit", "negation"}
    told = scored[at].features & {"correction", "after_failure"} and scored[at].features & {
        "stative",
        "deontic",
        "copula",
    }
    return bool(order and told)


def _stronger(one: Scored, two: Scored) -> Scored:
    high, low = (one, two) if one.score >= two.score else (two, one)
    return Scored(min(100, high.score + low.score // 4), high.kind, one.features | two.features)


def _span(message: str, first: str, last: str) -> str | None:
    start = message.find(first)
    end = message.find(last, start)
    if start < 0 or end < 0:
        return None
    return " ".join(message[start : end + len(last)].split())
