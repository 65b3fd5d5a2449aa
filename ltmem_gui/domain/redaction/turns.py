"""A password as the answer to a question: one turn of a chat asks for it, the next one is nothing but the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.saying import Said, goes_on, is_secret, read_said
from ltmem_gui.domain.redaction.states import is_chat
from ltmem_gui.domain.secrets import SecretFinding

_LINE: Final = 240
_ASKED: Final = re.compile(
    r"(?i)(?:\b(?:what(?:['’]?s)?|which|could you|can you|can i|may i|please|tell|give|send|share|need|provide|type"
    r"|enter|here(?:['’]?s| is)?|was|welches|wie|brauche|cuál|cual|necesito|dime|quel|donne|qual|preciso)\b"
    r"|是什么|是多少|告诉|需要|给我|何です|教えて)"
)
_NOUN_ENDS: Final = re.compile(
    r"(?i)[\"'`*]*(?:[ ]+(?:is|for|of|on|to|in|at|from|should|do|does|did|can|will|must|für|de|del|para|pour|do|da)\b"
    r"[^\n?]{0,80})?(?:[ ]+(?:again|please|now|there|here|then|bitte|por favor|s['’]il (?:te|vous) pla[iî]t))?"
    r"[ ]?(?:是什么|是多少|は何ですか|を教えて)?[?？.:：!。]?[ ]*(?:\n|\\n)"
)
_SPEAKER: Final = re.compile(
    r"(?i)[ \t\n]{0,4}(?:[>#*_-]{1,3}[ ]?)?(?:[\[(<*_]{0,2}(?:user|human|me|you|a|antwort|answer|assistant|bob|alice"
    r"|[a-z]{2,12})[\])>*_]{0,2}:[*_]{0,2}[ ]*)?"
)
_LEAD: Final = re.compile(
    r"(?i)(?:(?:sure|ok(?:ay)?|yes|yeah|yep|oh|ah|hm+|well|sorry|here(?: you go| it is)?|klar|ja|claro|sí|si|oui|sim)"
    r"[,.:!]?[ ]+)?(?P<told>(?:it['’]?s|it is|its|that['’]?s|this is|use|just use|try|take|go with|i use"
    r"|we use|the password is|es ist|nimm|es|usa|c['’]est|é|是|用)[ ]*:?[ ]+)?"
)
_PASSWORD: Final = re.compile(
    r"(?i)(?<![\w.$/-])(?:pass(?:word|phrase|code|wd|wort)|pw|kennwort|contraseña|senha|mot de passe)(?!\w)"
    r"|密码|口令|パスワード"
)
_TURN_ENDS: Final = re.compile(r"[\"'`*_”»]*[.!]?[ ]*(?:\n|\r|\Z|\\n|\\r)")


def answers(text: str, start: int, end: int) -> Iterator[Said]:
    """Yield the value of the line that answers the question around the noun from `start` to `end`."""
    behind = _NOUN_ENDS.match(text, end, end + _LINE)
    if behind is None:
        return
    head = text.rfind("\n", max(0, start - _LINE), start) + 1
    if _ASKED.search(text, max(head, start - _LINE), behind.end()) is None:
        return
    said = answer(text, behind.end())
    if said is not None:
        yield said


def answer(text: str, position: int) -> Said | None:
    """Return the value that a turn beginning at `position` consists of, None when it says anything else."""
    speaker = _SPEAKER.match(text, position)
    begin = speaker.end() if speaker is not None else position
    lead = _LEAD.match(text, begin)
    said = read_said(text, lead.end() if lead is not None else begin, words=False)
    if said is None:
        return None
    told = lead is not None and lead.group("told") is not None
    if not (_TURN_ENDS.match(text, said.close) or (told and goes_on(text, said.close))):
        return None
    if any(is_chat(part) for part in said.value.split("-")):
        return None
    return said if is_secret(said) else None


def turn_findings(text: str, before: str) -> Iterator[SecretFinding]:
    """Yield the password that a turn consists of when the turn `before` it ends by asking for one."""
    if before and _asks(before):
        said = answer(text, 0)
        if said is not None:
            yield SecretFinding(said.start, said.end, kinds.PASSWORD, kinds.LAYER)


def _asks(text: str) -> bool:
    tail = text[-2 * _LINE :].rstrip()[-_LINE:] + "\n"
    return any(
        _NOUN_ENDS.fullmatch(tail, noun.end()) is not None and _ASKED.search(tail) is not None
        for noun in _PASSWORD.finditer(tail)
    )
