"""Score how likely one sentence of a person is to matter after the session: durable rule, preference or fact.

The score is a sum over kinds of cue (lexicon.py, chinese.py) plus what stands around the sentence. Points were set on
the rollouts in `tests/fixtures/extraction` and checked on others; 0–100, `PROPOSE_AT` proposes, `INBOX_AT` asks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ltmem_gui.llm.builtin.chinese import chinese_features, is_chinese, is_japanese
from ltmem_gui.llm.builtin.lexicon import (
    CHANGE_VERBS,
    CORRECTION_START,
    CUES,
    DETERMINERS,
    HABIT_VERBS,
    MAX_WORDS,
    NEGATION_START,
    OPENERS,
    phrases,
)

PROPOSE_AT = 50
INBOX_AT = 14

_WORD = re.compile(r"[\w@][\w'’.\-/]*[\w']|\w")
_ANCHOR = re.compile(
    r"`[^`\n]+`|(?<![\w])(?:[\w.@-]+/)+[\w.@*-]*|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|--?[a-z][\w-]+(?==|\b)|"
    r"\b[\w-]+\.(?:py|toml|ya?ml|json|md|ts|tsx|js|rs|go|sh|cfg|ini|env|sql|csv|lock|txt|conf|test|"
    r"internal|local|dev|corp)\b"
    r"|\b\w+_\w+\b|\bv?\d+\.\d+(?:\.\d+)?\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}[a-z]?\b|"
    r"(?<=\s)[A-ZÄÖÜ][\w-]{2,}|\b\d+\s?(?:[a-zA-Z%€$£]\w*)?|@\w+|#\w+|[€$£]\d"
)
_QUESTION_START = re.compile(
    r"^(?:what|why|how|where|who|when|which|is|are|do|does|did|can|could|would|will|shall|should|has|have|"
    r"was|were|any|anything|anyone"
    r"|was|warum|wie|wo|wer|wann|welche[rsn]?|ist|sind|hast|hat|kann|kannst|könntest|gibt|soll|woher|"
    r"wieso|qué|por qué|cómo|dónde|quién|cuándo|cuál|puedes|hay|es)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(r"\b(?:that|which|who|so it|so that|dass|das|der|die|que)\b")
_LIMIT = re.compile(
    r"\b(?:at most|at least|no more than|up to|max(?:imum)?|min(?:imum)?|limit\w*|cap(?:ped)?|höchstens|"
    r"mindestens|maximal|como máximo|máximo)\b.{0,30}\d|\d.{0,12}\b(?:max|tops|höchstens)\b"
)
_ARROW = re.compile(r"\s(?:->|=>|→|==|=)\s|^[^.!?]{2,40}: \S")
_DEICTIC = phrases("it|this|that|these|those|them|there|es|das|dies|diese|dieses|ihn|sie|dort|eso|esto|lo|la|aquello")
_WE = phrases("we|our|wir|unsere|unser|nosotros")
_PAST = re.compile(
    r"^(?:i|we|he|she|they|you|ich|wir|du)\s+(?:just\s+)?(?:was|were|did|had|went|tried|ran|saw|got|made|"
    r"changed|fixed|added|looked|asked|\w+ed|habe|hatte|war)\b"
)
_PLURAL = re.compile(r"^[a-zäöüß][\w-]{2,}(?:s|en|er)$")
_FOREIGN_STATE = re.compile(
    r"\b(?:the|a|an|this|that|das|der|die|el|la)\s+(?:button|title|header|chart|plot|legend|colou?r|text|"
    r"image|picture|page|table|column|row|label|font|background|image|diagram|slide|bar|line|sentence|"
    r"paragraph|word|poem|story|joke|titel|überschrift|diagramm|farbe|tabelle|spalte|título|gráfico|botón|"
    r"tabla|columna|color)\b"
)

WEIGHTS = {
    "general": 48,
    "weak_general": 28,
    "deontic": 26,
    "preference": 40,
    "we": 18,
    "we_habit": 20,
    "here": 16,
    "stative": 30,
    "copula": 20,
    "generic": 14,
    "cause": 12,
    "instead": 16,
    "correction": 18,
    "negation": 30,
    "habit": 22,
    "anchor": 8,
    "limit": 12,
    "decision": 44,
    "authority": 16,
    "my_world": 20,
    "after_failure": 12,
    "arrow": 6,
    "change": -30,
    "task_imperative": -14,
    "self_task": -30,
    "complaint": -40,
    "comparative": -26,
    "hedge": -22,
    "past": -22,
    "deictic": -14,
    "first_message": -12,
    "artefact": -18,
    "short": -30,
    "long": -16,
}
BLOCKING = frozenset({"transient", "question", "empty_talk", "acknowledge"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stood before the sentence: the session's first request, a failed run, a correcting word just before."""

    first_message: bool = False
    after_failure: bool = False
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """A score (0–100), the kind of statement, and the kinds of cue it rests on."""

    score: int
    kind: str
    features: frozenset[str]


def score_sentence(plain: str, around: Surroundings) -> Scored:
    """Score one sentence."""
    if is_japanese(plain):
        return Scored(0, "fact", frozenset())
    found = _chinese(plain) if is_chinese(plain) else _spaced(plain)
    if around.after_failure and found & {"stative", "deontic", "general", "instead", "negation"}:
        found.add("after_failure")
    if around.corrected:
        found.add("correction")
    if around.first_message and not found & {"general", "decision", "preference"}:
        found.add("first_message")
    features = frozenset(found)
    if features & BLOCKING:
        return Scored(0, kind_of(features), features)
    total = sum(WEIGHTS.get(feature, 0) for feature in features) + _anchors(plain)
    return Scored(max(0, min(100, total)), kind_of(features), features)


def kind_of(features: frozenset[str]) -> str:
    """Name the kind of statement."""
    if "preference" in features:
        return "preference"
    if "correction" in features and features & {"negation", "instead", "general", "deontic", "stative", "copula"}:
        return "correction"
    if features & {"general", "negation", "habit", "deontic", "limit"}:
        return "constraint" if features & {"deontic", "limit", "negation"} else "preference"
    if features & {"decision"}:
        return "decision"
    return "fact"


def _anchors(plain: str) -> int:
    count = sum(1 for _, _ in zip(_ANCHOR.finditer(plain), range(3), strict=False))
    return (0, 8, 14, 18)[count]


def _chinese(plain: str) -> set[str]:
    found = set(chinese_features(plain))
    if found & {"general", "deontic"} and "question" in found and not plain.rstrip().endswith(("?", "？", "吗", "呢")):
        found.discard("question")
    if "weak_general" in found and "deontic" not in found and "habit" not in found:
        found.discard("general")
    if "copula" in found:
        found.discard("stative")
    if "we" in found and found & {"stative", "deontic", "general", "habit"}:
        found.add("we_habit")
    if "change" in found and found & {"general", "deontic", "negation"}:
        found.discard("change")
    if len(plain) < 4:
        found.add("short")
    return found


def _spaced(plain: str) -> set[str]:
    lower = plain.lower().replace("’", "'")
    words = _WORD.findall(lower)
    found = _cues(words)
    _opening(words, lower, found)
    _weigh_quantifiers(words, lower, found)
    _question(plain, lower, found)
    if len(words) < 3:
        found.add("short")
    elif len(words) > 45:
        found.add("long")
    if _LIMIT.search(lower):
        found.add("limit")
    if _ARROW.search(plain):
        found.add("arrow")
    if _FOREIGN_STATE.search(lower) and not found & {"general", "here", "we_habit"}:
        found.add("artefact")
    return found


def _cues(words: list[str]) -> set[str]:
    found: set[str] = set()
    for start in range(len(words)):
        phrase = ""
        for word in words[start : start + MAX_WORDS]:
            phrase = f"{phrase} {word}" if phrase else word
            features = CUES.get(phrase)
            if features:
                if "weak_general" in features or "copula" in features:
                    found |= {f"~{f}" for f in features}
                else:
                    found |= features
    for strong, weak in (("general", "weak_general"), ("stative", "copula")):
        if strong not in found and f"~{weak}" in found:
            found.add(weak)
    return {f for f in found if not f.startswith("~")}


def _opening(words: list[str], lower: str, found: set[str]) -> None:
    """Read the first words: a correction, a ban, an order, and what it is about."""
    rest = _without_openers(words, lower, found)
    if not rest:
        return
    if any(" ".join(rest[:n]) in NEGATION_START for n in (1, 2, 3)):
        found.add("negation")
        found.discard("copula")
        if len(rest) > 2 and rest[2] in _DEICTIC and not found & {"general", "cause", "instead"}:
            found.add("deictic")
        return
    if _PAST.match(" ".join(rest[:4])) and "decision" not in found:
        found.add("past")
    _subject(rest, found)


def _without_openers(words: list[str], lower: str, found: set[str]) -> list[str]:
    """Return the words after "no, …", "ok, and …"; a correcting opener is noted."""
    rest = list(words)
    if any(" ".join(rest[:n]) in CORRECTION_START for n in (1, 2, 3, 4)):
        found.add("correction")
    spoken_no = re.match(r"\W*(?:no|nein)\s*[,.!:–—-]", lower)
    if spoken_no and len(rest) > 1:
        rest.pop(0)
    while rest and (rest[0] in OPENERS or (rest[0] in CORRECTION_START and rest[0] not in NEGATION_START)):
        rest.pop(0)
    return rest


def _subject(rest: list[str], found: set[str]) -> None:
    first, second = rest[0], rest[1] if len(rest) > 1 else ""
    is_verb = first in HABIT_VERBS or first in CHANGE_VERBS
    noun_use = any("stative" in CUES.get(word, ()) for word in rest[1:4]) and second not in DETERMINERS
    if is_verb and not noun_use:
        _order(first, second, found)
    elif ("we" in found and first in _WE) or first.endswith("amos"):
        found.add("we_habit")
    elif _PLURAL.match(first) and found & {"stative", "copula", "deontic"}:
        found.add("generic")
    if first in _DEICTIC and "general" not in found:
        found.add("deictic")


def _order(first: str, second: str, found: set[str]) -> None:
    bare = bool(second) and second not in DETERMINERS
    found.discard("copula")
    if first in HABIT_VERBS and bare:
        found.add("habit")
    elif first in CHANGE_VERBS and not found & {"general", "preference"}:
        found.add("change")
    elif not found & {"general", "instead"}:
        found.add("task_imperative")
    if second in _DEICTIC and "general" not in found:
        found.add("deictic")


def _weigh_quantifiers(words: list[str], lower: str, found: set[str]) -> None:
    """Take weight from a quantifier that only describes the thing asked for ("a function that always …")."""
    if found & {"change", "self_task", "task_imperative"} and found & {"general", "weak_general"}:
        relative = _SUBORDINATE.search(lower)
        head = " ".join(words[:6])
        if (
            relative
            or "self_task" in found
            or not any(cue in head for cue in ("always", "never", "immer", "nie", "siempre", "nunca"))
        ):
            found.discard("general")
            found.discard("weak_general")
    if "self_task" in found:
        found.discard("deontic")
        if found & {"decision", "my_world"} or (found & {"general", "preference"} and "change" not in found):
            found.discard("self_task")


def _question(plain: str, lower: str, found: set[str]) -> None:
    if not plain.rstrip(" \"')").endswith("?"):
        if _QUESTION_START.match(lower) and len(lower) < 40 and not found & {"general", "stative", "deontic"}:
            found.add("question")
        return
    polite = re.match(r"(?:can|could|would|will|kannst|könntest|puedes|podrías)\b", lower)
    if polite and found & {"general", "negation"} and "weak_general" not in found:
        return
    found.add("question")
