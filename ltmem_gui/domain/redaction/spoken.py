"""Passwords given in a sentence, in any of the languages people use: "the wifi password is …", "use … as the admin pw".

The value may be a plain word or a list of words, so that nothing in it tells a secret. What tells it is the frame of
the sentence, that the word says nothing about a password (`states.py`), and how the sentence goes on behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.saying import (
    Said,
    ends_in_cjk,
    ends_line,
    goes_on,
    is_secret,
    not_compound,
    read_said,
)
from ltmem_gui.domain.redaction.states import GERMAN, ROMANCE, SLAVIC, is_head, is_verb
from ltmem_gui.domain.redaction.turns import answers
from ltmem_gui.domain.secrets import SecretFinding

_NOUNS: Final = (
    "pass",
    "pwd",
    "pw",
    "seed phrase",
    "recovery phrase",
    "mnemonic",
    "secret word",
    "shared secret",
    "kennwort",
    "contrase",
    "clave",
    "senha",
    "mot de passe",
    "parola",
    "пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
)
_NOUN: Final = re.compile(
    r"(?i)(?P<cjk>密码|密碼|口令|パスワード|비밀번호)"
    r"|(?P<seed>(?:seed|recovery) phrase|mnemonic)"
    r"|(?P<phrase>pass[ -]?phrase)"
    r"|(?P<weak>clave|pass(?![\w-]))"
    r"|(?P<german>passwort|kennwort)"
    r"|(?P<romance>contraseña|senha|mot de passe|parola)|(?P<slavic>пароль)"
    r"|(?:pass(?:word|code|wd)|pwd?|secret word|shared secret)"
)
_ESCAPE: Final = re.compile(r"\\[nrt]\Z")
_IN_FRONT: Final = 90
_BEHIND: Final = 260
_SEED_FROM: Final = 10
_NEARBY: Final = 40

_DASHES: Final = ("-", "—", "–")
_LINKS: Final = tuple(" :：=(（'’-–—→➜⇒*_,;")
_AS_WORDS: Final = (" as ", " als ", " como ", " comme ", " come ", " som ", " for ", " für ")
_IS_WORDS: Final = (" is ", " was ", " ist ", " es ", " est ", " é ", " è ")

_TARGET: Final = (
    r"(?:[ ]?[(（][^()（）\n]{1,32}[)）])?"
    r"(?:[ ]+(?:that[ ]+)?(?:we|i|they|you)(?:['’]ll|[ ]will|[ ]can)?[ ]+(?:use|used|set|chose|picked|need|have)"
    r"(?:[ ]+[a-z]{2,12}){0,2}?)?"
    r"(?P<target>[ ]+(?:for|of|on|to|in|at|from|here|there|für|fürs|vom|von|am|im|zum|zur|del|de|para|do|da|du|per|pour"
    r"|sur|в|от|для)(?:[ ]+[\w.@/'’-]{1,32}){0,5}?)??"
)
_ADVERBS: Final = (
    r"(?:[ ]+(?:just|still|now|simply|currently|always|literally|only|actually|again|immer noch|noch|jetzt|einfach"
    r"|ahora|siempre|toujours|sempre|ainda))?"
)
_CHANGED: Final = r"(?:changed|set|reset|updated|rotated|switched)"
_STATED: Final = re.compile(
    rf"(?i){_TARGET}(?:[ ]+(?:(?:has been|had been|was|is|got|were)[ ]+{_CHANGED}[ ]+to"
    r"|is|was|will be|shall be|should be|remains|used to be|stays|(?P<german>ist|war|lautet|heißt|heisst|bleibt|är|er)"
    r"|(?P<romance>es|era|será|sigue siendo|é|è|est|sera|reste))"
    rf"{_ADVERBS}[ ]?:?|['’]s|[^\n.!?:=\"`]{{0,32}}[,;—–][ ]+(?:it['’]s|it is|which is|namely|es ist))[ ]+(?=\S)"
)
_SEPARATED: Final = re.compile(
    rf"(?i){_TARGET}(?:\*\*|__)?[ ]*(?P<sep>：|:(?!:)|=>|=(?!=)|->|→|➜|⇒|—|–|(?<=[ ])-(?=[ ]))(?:\*\*|__)?[ ]*"
    r"(?=\S)"
)
_SET_TO: Final = re.compile(rf"(?i){_TARGET}[ ]+(?:to|as|auf|als|a|como|en|à|para)[ ]+(?=\S)")
_CJK: Final = re.compile(
    r"[ ]*(?P<link>(?:已?[改换換設设][成为為置]?[成为為]?了?|就?是|为|為|は|는|은|[:：=]|→|->)?)[ ]*(?=[^\s])"
)
_SETTING: Final = re.compile(
    r"(?i)\b(?:set|sets|setting|chang(?:e|es|ed|ing)|reset|resetting|updat(?:e|es|ed|ing)|rotated?|made?|switch(?:ed)?"
    r"|setz\w*|änder\w*|stell\w*|cambi\w+|pon\w*|puse|mets|mis|mud\w+|alter\w+|choose|chose|pick(?:ed)?)\b[^\n.;:]{0,48}\Z"
)
_SET_BEHIND: Final = re.compile(r"[\"'`*“”„«»]*[ ]+(?:geändert|gesetzt|gestellt|umgestellt|zurückgesetzt|geaendert)\b")
_CONDITION: Final = re.compile(
    r"(?i)\b(?:if|when|whenever|whether|unless|until|once|while|ensure|verify|verifies|check|checks|assert|wenn|falls|ob"
    r"|si|cuando|se|quando|where)[ ]+(?:(?:the|your|a|an|this|that|new|user['’]s|das|dein|la|su|le|il|o)[ ]+){0,2}"
    r"(?:[\w-]+[ ]+)?\Z"
)
_MINE: Final = re.compile(r"(?i)\b(?:my|our|his|her|their|mi|nuestra|mein|meine|unser|minha|mon)[ ](?:[\w-]+[ ])?\Z")
_GIVING: Final = re.compile(
    r"(?i)\b(?:use|uses|using|used|with|try|tried|enter|entered|type|typed|give|mit|con|avec|com|usa|utilise|nimm"
    r"|here['’]s|here is|und(?= dem))[ ]+"
    r"(?:(?:the|this|that|my|our|dem|das|la|le|el|a|il|su|tu)[ ]+)?(?:[a-z][\w-]{1,15}[ ]+)?\Z"
)
_OF_USER: Final = re.compile(
    r"(?i)(?:\b(?:user(?:name)?|ssid|wi-?fi|wlan|network|netzwerk|red|usuario|usuária|usuário|benutzer(?:name)?"
    r"|utilisateur|utente|login|account|konto)\b"
    r"(?:[ :=]{1,2}|[ ](?:mit|with|as|als|con|is|connect)[ ])[^\s,;:]{2,40}[ ]?[,;/+&]?[ ]?"
    r"(?:and |und |y |e |et )?(?:the |das |la |le )?)\Z"
)
_LINE_BEGINS: Final = re.compile(r"(?:^|\n)[ \t>*-]*\Z")
_LOGIN_GOES_ON: Final = re.compile(r"(?i),?[ ](?:user(?:name)?|login|host|port|account)[ :=]")
_LABEL: Final = re.compile(r"[^\n{}<>=;\[\]|\\]{0,80}\Z")
_VERB_AS: Final = re.compile(
    r"(?i)\b(?:us(?:e|es|ing|ed)|enter(?:ed|ing)?|typ(?:e|ed|ing)|try|tried|take|put|give|gave|set|choose|chose|pick"
    r"|picked|accept(?:s|ed)?|go with|went with|have|has|had|with|nimm|nehmt?|verwend\w+|benutz\w+|nutz\w+|gib|mit"
    r"|and|und|us[aoe]|usar|utiliza|utilis\w+|pon|poner|con|mets|avec|metti|com)[ ]+"
    r"(?:(?:the (?:word|value|string)|please|bitte|just|now|einfach|doch)[ ]+)?(?=\S)"
)
_AS: Final = re.compile(
    r"(?i)[ ]+(?:in[ ]+)?(?P<as>as|als|como|comme|come|som|for|für)[ ]+"
    r"(?P<words>(?:(?:the|our|my|your|their|its|his|her|new|das|dein|mein|la|mi|le|mon|il|a|an|o|el|tu)[ ]+){0,2}"
    r"(?:[\w.-]{2,20}[ ]+){0,3})\Z"
)
_IS_THE: Final = re.compile(
    r"(?i)(?P<value>\*{0,2}\\*[\"'`“”„«»][^\s\"'`*“”„«»\\]{4,64}\\*[\"'`“”„«»]\*{0,2}|(?<![\w\"'`.-])[a-z]+(?:[-_][a-z]+)*)"
    r"[ ]+(?:is|was|ist|es|est|é|è)[ ]+"
    r"(?:the|my|our|his|her|their|das|mein|unser|la|mi|le|mon|il|a|minha)[ ]+(?:[\w-]+[ ]+){0,2}\Z"
)
_NEVER: Final = re.compile(r"(?i)(?:\b(?:never|not|avoid|nie|niemals|nicht|no|nunca|don't)|n['’]t)\b[^\n.;]{0,24}\Z")
_CJK_AS: Final = re.compile(r"[用拿以][ ]*(?=[^\s])")
_CJK_AS_END: Final = re.compile(r"[ ]*(?:作为|作爲|作為|当作|當作|当|做|作)[ ]*[\u4e00-\u9fff\w ]{0,8}\Z")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A noun in its text: `phrase` allows several bare words, `seed` asks for ten, a `weak` noun has other meanings."""

    text: str
    start: int
    end: int
    language: str
    phrase: bool
    seed: bool
    weak: bool

    def in_front(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what `pattern`, which ends in `\\Z`, finds right before the noun."""
        return pattern.search(self.text, max(0, self.start - _IN_FRONT), self.start)

    def behind(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what `pattern` finds right behind the noun."""
        return pattern.match(self.text, self.end, self.end + _BEHIND)


def spoken_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield passwords and passphrases that a sentence gives, on their own merits or as the answer to a question."""
    text = document.text
    for stem in _NOUNS:
        for at in document.places(stem):
            noun = _NOUN.match(text, at)
            if noun is None:
                continue
            kind = kinds.SECRET if noun.group("seed") else kinds.PASSWORD
            for said in _of_noun(text, noun):
                yield SecretFinding(said.start, said.end, kind, kinds.LAYER)


def _of_noun(text: str, noun: re.Match[str]) -> Iterator[Said]:
    start, end = noun.span()
    if noun.group("cjk"):
        yield from _in_cjk(text, start, end)
    elif _stands_free(text, start, end, glued=noun.group("german") is not None):
        seed = noun.group("seed") is not None
        frame = _Frame(
            text,
            start,
            end,
            _language(noun),
            phrase=noun.group("phrase") is not None or seed,
            seed=seed,
            weak=noun.group("weak") is not None,
        )
        for judge in _judges(frame):
            found = judge(frame)
            if found is not None:
                yield found
                return
    else:
        return
    yield from answers(text, start, end)


def _judges(frame: _Frame) -> Iterator[Callable[[_Frame], Said | None]]:
    """Yield what is worth a look: most nouns stand in code, where no sentence gives anything."""
    if frame.text[frame.end : frame.end + 1] in _LINKS:
        yield from (_stated, _separated) if frame.seed else (_stated, _set_to, _given, _separated)
    before = frame.text[max(0, frame.start - _NEARBY) : frame.start].lower()
    if any(word in before for word in _AS_WORDS):
        yield _used_as
    if any(word in before for word in _IS_WORDS):
        yield _is_the


def _language(noun: re.Match[str]) -> str:
    if noun.group("german"):
        return GERMAN
    if noun.group("slavic"):
        return SLAVIC
    return ROMANCE if noun.group("romance") or noun.group().lower() == "clave" else ""


def _stands_free(text: str, start: int, end: int, *, glued: bool) -> bool:
    """Tell whether a noun is a word of its own, the end of a German compound, or begins behind an escape."""
    if text[end : end + 1].isalnum() or text[end : end + 1] == "_":
        return False
    before = text[start - 1 : start]
    if before == "-":
        return text[start - 2 : start - 1].isalnum()
    if before.isalnum():
        return (glued and before.isalpha()) or _ESCAPE.search(text, max(0, start - 3), start) is not None
    return before not in ("_", ".", "$", "/", "\\", "@")


def _stated(frame: _Frame) -> Said | None:
    """Judge "the password for … is VALUE"."""
    link = frame.behind(_STATED)
    if link is None or (frame.weak and not link.group("target") and frame.in_front(_MINE) is None):
        return None
    said = read_said(frame.text, link.end(), words=frame.phrase)
    language = GERMAN if link.group("german") else ROMANCE if link.group("romance") else frame.language
    if said is None or not _is_secret(frame, said, language):
        return None
    if said.quoted:
        return said
    return said if goes_on(frame.text, said.end) and frame.in_front(_CONDITION) is None else None


def _is_secret(frame: _Frame, said: Said, language: str, *, typed: bool = True) -> bool:
    if frame.seed and len(said.value.split()) < _SEED_FROM:
        return False
    return is_secret(said, language=language, phrase=frame.phrase, typed=typed)


def _set_to(frame: _Frame) -> Said | None:
    """Judge "set the password to VALUE", "habe das Passwort auf VALUE geändert"."""
    link = frame.behind(_SET_TO)
    if link is None or frame.weak:
        return None
    said = read_said(frame.text, link.end(), words=False)
    if said is None or not (
        frame.in_front(_SETTING) is not None or _SET_BEHIND.match(frame.text, said.end) is not None
    ):
        return None
    if is_verb(said.value) or not _is_secret(frame, said, frame.language):
        return None
    ends = goes_on(frame.text, said.end) or goes_on(frame.text, said.end, given=True)
    return said if said.quoted or ends or _SET_BEHIND.match(frame.text, said.end) is not None else None


def _separated(frame: _Frame) -> Said | None:
    """Judge "Password for …: VALUE", "pw → VALUE" on a line that is a sentence or a label, not code."""
    link = frame.behind(_SEPARATED)
    if link is None or frame.in_front(_LABEL) is None:
        return None
    bare = not link.group("target")
    if bare and (
        link.group("sep") == "-" or frame.weak or (link.group("sep") == "=>" and frame.in_front(_LINE_BEGINS))
    ):
        return None
    said = read_said(frame.text, link.end(), words=frame.phrase)
    dashed = link.group("sep") in _DASHES
    if said is None or not _is_secret(frame, said, frame.language, typed=dashed):
        return None
    # A word with a capital behind a label's colon is a label too: "Password: Enter".
    labelled = said.value.isalpha() and said.value.istitle() if dashed else not said.value.islower()
    if labelled and not said.quoted and not frame.language:
        return None
    return said if ends_line(frame.text, said.end) else None


def _given(frame: _Frame) -> Said | None:
    """Judge "with the password VALUE" and "user bob, password VALUE"."""
    if frame.weak or frame.text[frame.end : frame.end + 1] != " ":
        return None
    said = read_said(frame.text, frame.end + 1, words=False)
    if said is None or is_head(said.value) or is_verb(said.value):
        return None
    begins = frame.in_front(_LINE_BEGINS) is not None and _LOGIN_GOES_ON.match(frame.text, said.close) is not None
    if not begins and frame.in_front(_GIVING) is None and frame.in_front(_OF_USER) is None:
        return None
    if not _is_secret(frame, said, frame.language):
        return None
    return said if goes_on(frame.text, said.end, given=True) else None


def _used_as(frame: _Frame) -> Said | None:
    """Judge "use VALUE as the admin password"."""
    text = frame.text
    link = frame.in_front(_AS)
    if link is None or not not_compound(text, frame.end):
        return None
    verb = None
    for verb in _VERB_AS.finditer(text, max(0, link.start() - _IN_FRONT), link.start()):
        said = read_said(text, verb.end(), words=False)
        if (
            said is None
            or said.close != link.start()
            or _NEVER.search(text, max(0, verb.start() - _NEARBY), verb.start())
        ):
            continue
        article = link.group("words").split()
        loose = link.group("as").lower() in ("for", "für") or (article and article[0].lower() in ("a", "an"))
        if loose and not said.quoted:
            return None
        if _is_secret(frame, said, frame.language):
            return said
    return None


def _is_the(frame: _Frame) -> Said | None:
    """Judge "`VALUE` is the admin password", and the same of a bare word that begins its line."""
    link = frame.in_front(_IS_THE)
    if link is None or not not_compound(frame.text, frame.end):
        return None
    begin = link.start("value")
    said = read_said(frame.text, begin, words=False)
    if said is None or said.close != link.end("value") or not _is_secret(frame, said, frame.language):
        return None
    begins = _LINE_BEGINS.search(frame.text, max(0, begin - 8), begin) is not None and said.value.islower()
    return said if said.quoted or begins else None


def _in_cjk(text: str, start: int, end: int) -> Iterator[Said]:
    link = _CJK.match(text, end, end + 24)
    if link is not None and (link.group("link") or text[end : end + 1] == " "):
        said = read_said(text, link.end(), words=False)
        if said is not None and is_secret(said) and ends_in_cjk(text, said.close):
            yield said
            return
    for verb in _CJK_AS.finditer(text, max(0, start - 60), start):
        said = read_said(text, verb.end(), words=False)
        if said is None or _CJK_AS_END.fullmatch(text, said.close, start) is None:
            continue
        if is_secret(said):
            yield said
            return
