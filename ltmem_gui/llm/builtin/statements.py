"""Find what a person said that may outlive the session, and quote it with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.lexicon import CORRECTION_START
from ltmem_gui.llm.builtin.scoring import INBOX_AT, Scored, Surroundings, score_sentence, stems
from ltmem_gui.llm.builtin.sentences import Sentence, sentences
from ltmem_gui.llm.builtin.toolruns import said_with_refusal
from ltmem_gui.llm.builtin.voices import promised, retracted

MAX_QUOTE = 420
SAME_STATEMENT = 88.0
GIVEN_MESSAGES = 3
GIVEN_CHARS = 1_500
REPLY_CHARS = 80
MAX_MESSAGE = 16_000
EDGE_CHARS = 4_000
RETRACTION = 200  # characters in which a message takes back the one before

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
ORDERS_A_PIECE = re.compile(
    r"^\W*(?:(?:please\s+|can you\s+|could you\s+|let's\s+|i (?:need|want) you to\s+|bitte\s+|"
    r"kannst du\s+|por favor\s+)?"
    r"(?:build|write|create|make|implement|generate|design|draw|draft|compose|develop|code|prototype|give|schreib\w*"
    r"|erstell\w*|bau\w*|mach\w*|entwirf|entwickle|escribe|crea|haz|genera|construye|diseña|dibuja|programa)"
    r"|i (?:need|want|am looking for)|we need|ich (?:brauche|will|möchte)|necesito|quiero)\s+"
    r"(?:me\s+|us\s+|mir\s+|uns\s+)?(?:a|an|some|ein|eine|einen|un|una)\s",
    re.IGNORECASE,
)
FICTION = re.compile(
    r"\b(?:story|tale|poem|limerick|haiku|song|lyrics|joke|novel|fairy ?tale|screenplay|gedicht|"
    r"geschichte|märchen|witz|lied"
    r"|cuento|poema|chiste|canción|novela)\b|诗|故事|笑话|小说|歌词",
    re.IGNORECASE,
)
_TAGS = re.compile(r"</?(?:citation_entries|rollout_ids|oai-mem-citation|thread_ids)", re.IGNORECASE)


_TAKEN_BACK = Scored(0, "fact", frozenset())
_NEW_RULE = frozenset({"general", "here", "we_habit", "instead", "decision"})


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    scored: Scored


@dataclass(frozen=True, slots=True)
class _Session:
    """Where in the session a message stands: see `Surroundings`."""

    first: bool = True
    after_failure: bool = False
    making: bool = False
    promised: bool = False
    fiction: bool = False
    given: frozenset[str] = frozenset()


def own_messages(items: Sequence[RolloutItem]) -> list[tuple[int, RolloutItem]]:
    """Return the index and item of every message the person typed in this session."""
    return [(index, item) for index, item in enumerate(items) if is_own(item)]


def statements(items: Sequence[RolloutItem], failed_before: frozenset[int]) -> list[Candidate]:
    """Return scored quotations of the person in source order, best wording of each kept.

    `failed_before` holds the indexes of messages that answer a failed tool run.
    """
    found: list[Candidate] = []
    said: list[frozenset[str]] = []
    session = _Session()
    replies = _replies(items)
    before: int | None = None
    for index, item in enumerate(items):
        if item.kind == "message" and item.role == "assistant":
            said.append(stems(item.text[:GIVEN_CHARS]))
        elif is_own(item):
            session = replace(
                session,
                after_failure=index in failed_before,
                promised=promised(replies.get(index, "")),
                given=_given(said),
            )
            if session.first:
                session = replace(
                    session,
                    making=bool(ORDERS_A_PIECE.search(item.text[:500])),
                    fiction=bool(FICTION.search(item.text[:500])),
                )
            if retracted(item.text[:RETRACTION]):
                found = [candidate for candidate in found if candidate.line != before]
            before = place(item)
            for unit in _units(item.text, session):
                _keep(found, Candidate(unit.text, place(item), unit.scored.kind, unit.scored.score))
            said.append(stems(item.text[:GIVEN_CHARS]))
            session = replace(session, first=False)
        elif item.kind == "tool_output":
            for unit in _units(said_with_refusal(item), _Session(first=False, after_failure=True)):
                _keep(found, Candidate(unit.text, place(item), "correction", min(100, unit.scored.score + 15)))
    return found


def _replies(items: Sequence[RolloutItem]) -> dict[int, str]:
    """Return the beginning of the agent's next message for the index of each message before it."""
    found: dict[int, str] = {}
    reply = ""
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if item.kind == "message" and item.role == "assistant":
            reply = item.text[:REPLY_CHARS]
        elif is_own(item):
            found[index] = reply
            reply = ""
    return found


def is_own(item: RolloutItem) -> bool:
    """Tell whether the person typed this in this session."""
    return item.role == "user" and item.kind == "message" and not (item.injected or item.inherited or item.undone)


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


def _given(said: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the words of the first and the last messages: what the session is about just then."""
    return frozenset().union(*said[:1], *said[1:][-GIVEN_MESSAGES:])


def _units(message: str, session: _Session) -> list[_Unit]:
    if len(message) > MAX_MESSAGE:  # a paste with some words before or after it
        return [*_units(message[:EDGE_CHARS], session), *_units(message[-EDGE_CHARS:], session)]
    parts = sentences(message)
    scored: list[Scored] = []
    corrected = False
    ordered_in: int | None = None
    for part in parts:
        around = Surroundings(
            first_message=session.first and part.paragraph == 0,
            after_failure=session.after_failure,
            corrected=corrected,
            listed=part.listed,
            spec=ordered_in == part.paragraph or session.fiction,
            making=session.making,
            promised=session.promised,
            given=session.given,
        )
        result = score_sentence(part.plain, around)
        if retracted(part.plain):
            scored = [_TAKEN_BACK] * len(scored)
            if not result.features & _NEW_RULE:
                result = _TAKEN_BACK
        scored.append(result)
        if ORDERS_A_PIECE.search(part.plain):
            ordered_in = part.paragraph
        alone = part.plain.strip(" .!,–—-").lower()
        corrected = not session.first and (
            alone in CORRECTION_START or ("correction" in result.features and len(alone) < 40)
        )
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
