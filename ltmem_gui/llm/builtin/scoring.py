"""Score how likely one sentence of a person is to matter after the session: durable rule, preference or fact.

The score is a sum over kinds of cue (lexicon.py, chinese.py) plus what stands around the sentence. Points were set on
the rollouts in `tests/fixtures/extraction` and checked on others; 0–100, `PROPOSE_AT` proposes, `INBOX_AT` asks.
"""

from __future__ import annotations

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
from ltmem_gui.llm.builtin.speech import (
    ACTIVE,
    ANCHOR,
    ARROW,
    ASIDE,
    AUXILIARY,
    CONDITIONAL,
    CONDUCT,
    CONSEQUENCE,
    CONTRAST,
    DEGREE,
    DEICTIC,
    DIRECTIVE,
    FOREIGN_STATE,
    LIMIT,
    NARRATIVE,
    OPINION,
    ORDINAL,
    OWN_CONTENT,
    PASSIVE,
    PAST,
    PLURAL,
    POLITE,
    PRESENT,
    QUESTION_START,
    QUOTED_NAME,
    REFLEXIVE,
    RELATIVE_QUANTIFIER,
    SEEMS,
    SHOULD,
    SHOULD_BE,
    SOON,
    SPOKEN_NO,
    STRONG,
    SUBORDINATE,
    TEMPORAL,
    THANKS,
    THE,
    THE_ES,
    THESE,
    VERDICT,
    WE,
    WE_NOW,
    WORD,
)
from ltmem_gui.llm.builtin.voices import hearsay, supposed
from ltmem_gui.llm.builtin.weighing import fitted, logit, read

PROPOSE_AT = 58
INBOX_AT = 14
PROPOSE_LOGIT = 0.5
POINTS_PER_LOGIT = 16
SURENESS = 2.0  # log-odds above the line that are worth half of what is left to 100
PLACES = ("after_failure", "corrected", "listed", "spec", "making", "promised")

PASSING = phrases(
    "change|task_imperative|habit|negation|self_task|complaint|past|deictic|hedge|given|short|comparative|artefact"
    "|empty_talk|ordinal"
)
PASSING_TIME = frozenset({"transient", "moment"})
OWN_WORLD = frozenset({"here", "authority", "listed"})
BLOCKING = frozenset({"transient", "question", "acknowledge", "narrative"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stood before the sentence.

    `first_message`: it is the session's first request; `after_failure`: a run failed just before; `corrected`: the
    sentence before was "no" or "careful"; `listed`: it is a point under "our rules:"; `spec`: it describes what
    the same message orders to be made, or the session is fiction; `making`: the session began with an order to
    make a piece; `promised`: the agent's answer takes the message as a rule; `given`: words that
    were said in the session before.
    """

    first_message: bool = False
    after_failure: bool = False
    corrected: bool = False
    listed: bool = False
    spec: bool = False
    making: bool = False
    promised: bool = False
    given: frozenset[str] = frozenset()


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
    features = features_of(plain, around)
    if features & BLOCKING:
        return Scored(0, kind_of(features), features)
    reading = read(plain)
    odds = logit([*features, *_form(plain, around)], reading, fitted())
    points = points_of(odds)
    if "hearsay" in features and not features & OWN_WORLD:
        points = min(points, PROPOSE_AT - 1)  # an article's rule becomes the person's only when they say so
    return Scored(points, kind_of(features), features)


def points_of(odds: float) -> int:
    """Return log-odds as points: a line up to `PROPOSE_AT`, above it a curve that nears 100 and keeps the order."""
    above = odds - PROPOSE_LOGIT
    if above <= 0:
        return max(0, round(PROPOSE_AT + POINTS_PER_LOGIT * above))
    return round(PROPOSE_AT + (100 - PROPOSE_AT) * above / (above + SURENESS))


def cues_of(plain: str, around: Surroundings) -> frozenset[str]:
    """Return all cues the weights know: the features, the form of the sentence, and where it stands."""
    return frozenset([*features_of(plain, around), *_form(plain, around)])


def features_of(plain: str, around: Surroundings) -> frozenset[str]:
    """Return the kinds of cue in a sentence and around it."""
    found = _chinese(plain) if is_chinese(plain) else _spaced(plain)
    if around.after_failure and found & {"stative", "deontic", "general", "instead", "negation"}:
        found.add("after_failure")
    if around.corrected:
        found.add("correction")
    if hearsay(plain):
        found.add("hearsay")
    if supposed(plain):
        found.add("supposed")
    if around.listed:
        found.add("listed")
    if around.spec and not found & {"here", "we_habit", "preference", "listed"}:
        found.add("spec")
    if around.making and SHOULD.search(plain.lower()) and not found & {"here", "we_habit", "cause", "general"}:
        found.add("should_be")
    if around.given and _is_given(plain, around.given) and not found & {"here", "cause"}:
        found.add("given")
        if "general" in found:
            found -= {"general"}
            found.add("weak_general")
    if is_statement(found, plain):
        found.add("declarative" if found & {"stative", "copula", "deontic"} else "other")
    if around.first_message and not _states_a_rule(found):
        found.add("first_message")
    return frozenset(found)


def _states_a_rule(found: set[str]) -> bool:
    """Tell whether a session's first request holds a rule of its own beside the work it asks for."""
    if found & {"decision", "preference", "here", "we_habit", "listed", "correction"}:
        return True
    return "general" in found and not found & {"change", "self_task", "task_imperative", "spec", "should_be"}


def _form(plain: str, around: Surroundings) -> list[str]:
    script = ["chinese"] if is_chinese(plain) else []
    return [f"names{_anchors(plain)}", *script, *(f"in_{place}" for place in PLACES if getattr(around, place))]


def is_statement(found: set[str], plain: str) -> bool:
    """Tell whether a sentence states something of the world, as against asking for work or judging its result."""
    long_enough = len(plain) >= (5 if is_chinese(plain) else 12)
    return long_enough and not found & PASSING


def kind_of(features: frozenset[str]) -> str:
    """Name the kind of statement."""
    if "preference" in features:
        return "preference"
    if "correction" in features and features & {"negation", "instead", "general", "deontic", "stative", "copula"}:
        return "correction"
    if features & {"negation", "habit", "directive", "conduct"}:
        return "preference"
    if features & {"deontic", "limit", "conditional"}:
        return "constraint"
    if "general" in features:
        return "preference"
    if features & {"decision"}:
        return "decision"
    return "fact"


def _anchors(plain: str) -> int:
    return sum(1 for _ in zip(ANCHOR.finditer(plain), range(3), strict=False))


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
    if {"deontic", "habit"} <= found:
        found.add("conduct")
    if len(plain) < 4:
        found.add("short")
    return found


def _spaced(plain: str) -> set[str]:
    lower = plain.lower().replace("’", "'")
    words = WORD.findall(lower)
    found = _cues(words)
    _opening(words, lower, found)
    _weigh_quantifiers(words, lower, found)
    _question(plain, lower, found)
    if len(words) < 3:
        found.add("short")
    elif len(words) > 45:
        found.add("long")
    if PASSIVE.search(lower) or (ACTIVE.match(lower) and not found & {"complaint", "comparative"}):
        found.add("stative")
        found.discard("copula")
    _manner(lower, found)
    if NARRATIVE.search(lower) or OPINION.search(lower):
        found.add("narrative")
    thanked = not THANKS.isdisjoint(words) and len(words) <= 7
    if (thanked or (len(words) <= 6 and VERDICT.match(lower))) and not found & {
        "general",
        "deontic",
        "stative",
        "here",
    }:
        found.add("acknowledge")
    if DIRECTIVE.search(lower) and "change" not in found:
        found.add("directive")
    if LIMIT.search(lower):
        found.add("limit")
    if ARROW.search(plain):
        found.add("arrow")
    if FOREIGN_STATE.search(lower) and not QUOTED_NAME.search(plain) and not found & {"general", "here", "we_habit"}:
        found.add("artefact")
    return found


def _manner(lower: str, found: set[str]) -> None:
    """Read how a thing is said: as a rule with its case, as an aside, or as a wish about the piece at hand."""
    if SEEMS.search(lower):
        found.add("complaint")
    if CONDITIONAL.match(lower):
        found.add("conditional")
        found.discard("complaint")
    if ASIDE.search(lower):
        found.add("aside")
    if CONSEQUENCE.search(lower):
        found.add("consequence")
    if SHOULD_BE.match(lower) and not found & {"general", "here"}:
        found.add("should_be")
    if ORDINAL.search(lower):
        found.add("ordinal")
        found.discard("preference")
    _shape(lower, found)


def _shape(lower: str, found: set[str]) -> None:
    """Read the shape of the clause: a contrast, a present tense, a passing time, a degree."""
    if CONTRAST.search(lower):
        found.add("instead")
    if PRESENT.match(lower) and "stative" not in found:
        found.add("copula")
    if OWN_CONTENT.match(lower) and not found & {"general", "here"}:
        found.add("artefact")
    if SOON.search(lower):
        found.add("transient")
    if DEGREE.search(lower) and "general" not in found:
        found.add("comparative")
    if REFLEXIVE.match(lower):
        found.add("stative")
    if lower.startswith("not "):
        found.add("correction")


def _is_given(plain: str, given: frozenset[str]) -> bool:
    """Tell whether the sentence is about a thing the session is already about ("the dragon should …")."""
    words = WORD.findall(plain.lower())[:7]
    for at, word in enumerate(words[:3]):
        if word in THE:
            return any(noun.isalpha() and len(noun) > 2 and _stem(noun) in given for noun in words[at + 1 : at + 3])
    return False


def stems(text: str) -> frozenset[str]:
    """Return the word stems of a text, as `Surroundings.given` wants them."""
    return frozenset(_stem(word) for word in WORD.findall(text.lower()))


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _cues(words: list[str]) -> set[str]:
    found: set[str] = set()
    covered = 0  # words before this index belong to a lasting phrase: the "today" of "from today" is not passing
    for start in range(len(words)):
        phrase = ""
        for length, word in enumerate(words[start : start + MAX_WORDS], 1):
            phrase = f"{phrase} {word}" if phrase else word
            features = CUES.get(phrase)
            if not features:
                continue
            if "general" in features and length > 1:
                covered = max(covered, start + length)
            if "weak_general" in features or "copula" in features:
                found |= {f"~{f}" for f in features}
            elif not (features & PASSING_TIME and start < covered):
                found |= features
    for strong, weak in (("general", "weak_general"), ("stative", "copula")):
        if strong not in found and f"~{weak}" in found:
            found.add(weak)
    if "deontic" in found:
        found.discard("only")
    return {f for f in found if not f.startswith("~")}


def _opening(words: list[str], lower: str, found: set[str]) -> None:
    """Read the first words: a correction, a ban, an order, and what it is about."""
    rest = _without_openers(words, lower, found)
    if not rest:
        return
    if any(" ".join(rest[:n]) in NEGATION_START for n in (1, 2, 3)):
        found.add("negation")
        found.discard("copula")
        if len(rest) > 2 and rest[2] in DEICTIC and not found & {"general", "cause", "instead"}:
            found.add("deictic")
        return
    if PAST.match(" ".join(rest[:4])) and "decision" not in found:
        found.add("past")
    _subject(rest, found)


def _without_openers(words: list[str], lower: str, found: set[str]) -> list[str]:
    """Return the words after "no, …", "ok, and …"; a correcting opener is noted."""
    rest = list(words)
    if any(" ".join(rest[:n]) in CORRECTION_START for n in (1, 2, 3, 4)):
        found.add("correction")
    spoken_no = SPOKEN_NO.match(lower)
    if spoken_no and len(rest) > 1:
        rest.pop(0)
    while rest and (rest[0] in OPENERS or (rest[0] in CORRECTION_START and rest[0] not in NEGATION_START)):
        rest.pop(0)
    return rest


def _subject(rest: list[str], found: set[str]) -> None:
    first, second = rest[0], rest[1] if len(rest) > 1 else ""
    is_verb = first in HABIT_VERBS or first in CHANGE_VERBS
    noun_use = second not in DETERMINERS and any(
        "stative" in CUES.get(" ".join(rest[at : at + length]), ()) for at in (1, 2, 3) for length in (1, 2, 3)
    )
    if is_verb and not noun_use:
        _order(first, second, found)
        if found & {"habit"}:
            found |= {"conduct"} if first in CONDUCT else set()
            found |= {"plural_object"} if any(PLURAL.match(word) for word in rest[1:3]) else set()
    elif ("we" in found and first in WE) or first.endswith("amos"):
        if not WE_NOW.match(" ".join(rest[:2])):
            found.add("we_habit")
    elif (
        PLURAL.match(first)
        or (first not in DETERMINERS and PLURAL.match(second) and "stative" not in CUES.get(second, ()))
    ) and found & {"stative", "copula", "deontic"}:
        found.add("generic")
    names_a_thing = first in THESE and second not in AUXILIARY
    if first in DEICTIC and first not in THE_ES and not names_a_thing and not found & {"general", "here"}:
        found.add("deictic")


def _order(first: str, second: str, found: set[str]) -> None:
    bare = bool(second) and second not in DETERMINERS
    found.discard("copula")
    if first in HABIT_VERBS and bare:
        found.add("habit")
    elif first in CHANGE_VERBS:
        found.add("change")
    elif not found & {"general", "instead"}:
        found.add("task_imperative")
    if second in DEICTIC and "general" not in found:
        found.add("deictic")


def _weigh_quantifiers(words: list[str], lower: str, found: set[str]) -> None:
    """Take weight from a quantifier that only describes the thing asked for ("a function that always …")."""
    if lower.rstrip().endswith("?") and POLITE.match(lower) and "general" in found:
        found -= {"self_task", "change"}
    if "comparative" in found and RELATIVE_QUANTIFIER.search(lower):
        found -= {"general", "preference"}
    asked = found & {"change", "self_task", "task_imperative"}
    if asked and found & {"general", "weak_general"}:
        leading = any(word in STRONG for word in words[:4]) or TEMPORAL.search(lower) is not None
        if SUBORDINATE.search(lower) or "self_task" in found or not leading:
            found -= {"general", "weak_general", "preference"}
        else:
            found -= {"change", "task_imperative"}
    if "self_task" in found:
        found -= {"deontic", "strict"}
        if found & {"decision", "my_world"} or (found & {"general", "preference"} and "change" not in found):
            found.discard("self_task")
    if found & {"my_world", "general", "deontic"}:
        found.discard("complaint" if "my_world" in found else "")


def _question(plain: str, lower: str, found: set[str]) -> None:
    if not plain.rstrip(" \"')").endswith("?"):
        if QUESTION_START.match(lower) and len(lower) < 40 and not found & {"general", "stative", "deontic"}:
            found.add("question")
        return
    if POLITE.match(lower) and found & {"general", "negation"} and "weak_general" not in found:
        return
    found.add("question")
