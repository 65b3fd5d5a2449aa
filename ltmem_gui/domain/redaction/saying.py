"""What a sentence gives as a password: read the value, judge it, and see whether the sentence ends or goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.redaction.states import GERMAN, is_function_word, tells_state
from ltmem_gui.domain.redaction.typed import is_word_of_settings, word_password
from ltmem_gui.domain.redaction.values import describes, is_dummy, is_reference, passphrase_like, password_like
from ltmem_gui.domain.redaction.words import word_set

_OPENING: Final = re.compile(r"(\*\*|__|\*|_)?(\\*[\"'`]|[“”„‘’«»「『])?")
_CLOSING: Final = {
    "“": "”",
    "”": "”",
    "„": "“”",
    "‘": "’",
    "’": "’",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
}
_BARE: Final = re.compile(r"[^\s\"'`<>\\\u2018-\u201f«»\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef\x00\x1b()\[\]{},;]+")
_SEVERAL: Final = re.compile(r"[a-z]{2,}(?:[ ][a-z]{2,}){2,25}(?![\w-])")
_ENDS: Final = ".,;:!?*_"
_LONGEST: Final = 160
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:[-_.][^\W\d_]+){0,6}")
_SHORTEST: Final = 6
_PHRASE: Final = range(3, 13)
_QUOTED_PHRASE: Final = range(2, 13)
_BOUND_PHRASE: Final = 5
_BINDING: Final = word_set("over under of in on and with the a my")
"""A bare phrase of five words or more may hold one of these inside, as "silver moon over quiet water" does."""

_STOPS: Final = r"[.!?,;:)\]}]|[ ]*(?:\n|\r|\Z|\\n|\\r|[—–(…]|-{1,2}[ ])"
_GOES_ON: Final = re.compile(
    rf"(?i)[\"'`*_”»]*(?:{_STOPS}|[ ]+(?:and|but|so|on|for|until|yesterday|today|now|btw|please|ok|okay"
    r"|thanks|if|in case|starting|since|as of|unless|except|once|because|while|when"
    r"|everywhere|too|right|i|we|you|it|they|which|that works|then|though|again|und|aber|bitte|für|auf|y|pero|en|para"
    r"|et|mais|pour|e|mas|с|и|на)\b)"
)
_GIVEN_GOES_ON: Final = re.compile(
    rf"(?i)[\"'`*_”»]*(?:{_STOPS}|[ ]+(?:and|but|so|on|for|to|in|at|it|when|if|while|then|now|as|from|user|host|port|an"
    r"|ein|und|zu|im|am|auf|y|en|para|a|et|pour|dans|e|em|works?|worked|funciona|funktioniert|geht|marche)\b)"
)
_LINE_ENDS: Final = re.compile(r"[\"'`*_”»]*(?:[.!]?[ ]*(?:\n|\r|\Z|\\n|\\r)|[.!;][ ]|,[ ](?=[a-z]+[ ])|[ ]\()")
_NOT_COMPOUND: Final = re.compile(
    rf"(?i)[\"'`*_”»]*(?:{_STOPS}|[ ]+(?:and|but|so|on|for|in|at|to|of|when|if|until|from|now|again|please|then|there"
    r"|here|everywhere|while|für|auf|im|am|bei|und|an|y|de|del|en|para|por|et|pour|sur|dans|e|do|da|per|it)\b)"
)
_CJK_ENDS: Final = re.compile(r"[ ]*(?:\Z|[\s\\.,;!?()，。；！？、（）]|です|でした|だ|입니다|哦|啊|呀|了|，)|[ ]+\S")


@dataclass(frozen=True, slots=True)
class Said:
    """A value's span, where its quotes end, and its text."""

    start: int
    end: int
    close: int
    quoted: bool
    value: str


def read_said(text: str, position: int, *, words: bool) -> Said | None:
    """Return what stands at `position`: quoted, one bare run, or with `words` a list of bare words."""
    opening = _OPENING.match(text, position)
    marks, quote = opening.groups() if opening is not None else (None, None)
    start = opening.end() if opening is not None else position
    if quote is not None or marks is not None:
        return _quoted(text, start, quote or marks or "", marks if quote is not None else None)
    several = _SEVERAL.match(text, position, position + _LONGEST) if words else None
    if several is not None:
        return Said(position, several.end(), several.end(), quoted=False, value=several.group())
    bare = _BARE.match(text, position, position + _LONGEST)
    value = bare.group().rstrip(_ENDS) if bare is not None else ""
    end = position + len(value)
    return Said(position, end, end, quoted=False, value=value) if value else None


def _quoted(text: str, start: int, quote: str, marks: str | None) -> Said | None:
    closers = _CLOSING.get(quote, quote)
    ends = [text.find(closer, start, start + _LONGEST) for closer in ([closers] if quote[-1:] in "\"'`*_" else closers)]
    end = min((at for at in ends if at > start), default=-1)
    value = text[start:end] if end > start else ""
    if not value or "\n" in value or value[0] == " " or value[-1] == " ":
        return None
    close = end + (len(quote) if quote[-1:] in "\"'`*_" else 1)
    if marks is not None and text.startswith(marks, close):
        close += len(marks)
    return Said(start, end, close, quoted=True, value=value)


def is_secret(said: Said, *, language: str = "", phrase: bool = False, typed: bool = True) -> bool:
    """Tell whether a value that a sentence gives can be a password: a word that says nothing else, or a typed one.

    `phrase` allows several bare words; without `typed` only letters are judged.
    """
    value = said.value
    if " " in value:
        return is_phrase(value, quoted=said.quoted) and (said.quoted or phrase)
    if len(value) < _SHORTEST or is_dummy(value) or "[REDACTED" in value:
        return False
    if _LETTERS.fullmatch(value) is None:
        if not (typed or said.quoted) or is_reference(value) or describes(value):
            return False
        return password_like(value, quoted=said.quoted and value.count("-") >= 2)
    if value.isupper() or (value.isascii() and not word_password(value)):
        return False
    parts = value.lower().replace("_", "-").replace(".", "-").split("-")
    if len(parts) > 1 and any(is_function_word(part) for part in parts):
        return False
    if len(parts) > 2:
        return True
    if any(tells_state(part) for part in parts[:-1]):
        return False
    german_noun = language == GERMAN and value.istitle()
    return not tells_state(value, language, quoted=said.quoted or german_noun)


def is_phrase(value: str, *, quoted: bool) -> bool:
    """Tell whether several words are a passphrase and no part of a sentence or a label."""
    words = value.split(" ")
    if not all(word.isalpha() and word.islower() for word in words):
        return False
    if passphrase_like(value):
        return True
    if len(words) not in (_QUOTED_PHRASE if quoted else _PHRASE) or len(value) < 12:
        return False
    if any(is_word_of_settings(word) and not is_function_word(word) for word in words):
        return False
    if quoted:
        return True
    bound = [word for word in words if is_function_word(word)]
    if bound and (len(words) < _BOUND_PHRASE or len(bound) > 1 or bound[0] not in _BINDING or words[0] == bound[0]):
        return False
    return words[0] == "correct" or not tells_state(words[0])


def goes_on(text: str, end: int, *, given: bool = False) -> bool:
    """Tell whether a sentence can end at `end`, or go on as it does behind a value; `given`: "with the password …"."""
    return (_GIVEN_GOES_ON if given else _GOES_ON).match(text, end) is not None


def ends_line(text: str, end: int) -> bool:
    """Tell whether a line or its sentence ends at `end`."""
    return _LINE_ENDS.match(text, end) is not None


def not_compound(text: str, end: int) -> bool:
    """Tell whether no other noun follows: "as the password hash" gives no password."""
    return _NOT_COMPOUND.match(text, end) is not None


def ends_in_cjk(text: str, end: int) -> bool:
    """Tell whether a value ends at `end` in a script without blanks."""
    return _CJK_ENDS.match(text, end) is not None
