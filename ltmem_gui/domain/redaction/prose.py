"""Secrets in sentences: "the password for staging is …", "使用密码：…", "log in with admin / …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.literals import read_literal
from ltmem_gui.domain.redaction.values import describes, is_dummy, is_reference, looks_random, password_like
from ltmem_gui.domain.redaction.words import word_set
from ltmem_gui.domain.secrets import SecretFinding

_LINK: Final = (
    r"(?:\s*(?:=|:|：|->|→|—|–)\s*"
    r"|\s+(?:has been (?:changed|set|reset) to|(?:was |is )?(?:changed|set|reset|rotated|updated) to"
    r"|is now|still is|should be|will be|is|was|are|equals|to|be|remains|called|reads)[: ]\s*)"
)
_WORD: Final = re.compile(
    r"(?i)(?P<name>pass(?:word|[ -]?phrase|code|wd)?|pwd|pw|secret(?: key)?|token"
    r"|(?:api|access|auth|private|secret|signing|encryption|license)[ -]key|credentials?|login|pin(?: code)?|key)s?"
    r"(?:\s+(?:for|of|to|on|in|at|from|we use|i use|there|used|here|we used|in use|i used|that works|i set|they use"
    r"|which works)(?:\s+[\w.@/`'-]{1,32}){0,5}?)?"
    r"(?:\s?[(（][^()（）\n]{1,32}[)）])?"
    rf"{_LINK}"
)
_DIRECT: Final = re.compile(
    r"(?i)(?:pass(?:word|phrase|code|wd)|pwd|token|api[ -]key|secret)[ ]+(?=[\"'`]?[^\s\"'`]{6,})"
)
_REVERSE: Final = re.compile(
    r"(?i)([^\s\"'`,;()]{6,128})[\"'`]?\s+(?:is|was|as)\s+(?:the|our|my|their|its|his|her|a|an|your)?\s*(?:[\w-]+\s+){0,3}?"
    r"(?:password|passphrase|passcode|api key|api token|access token|secret|token|secret key|pwd)\b"
)
_FOREIGN: Final = re.compile(
    r"(?i)[^\n:：=]{0,12}?"
    r"(?:\s*(?:[是为は]?\s*[:：=]|[是为は]|->|→)\s*|\s+(?:ist|es|é|est|è|is|jest|är|er|on|lautet)\s+|\s+)"
)
_FOREIGN_STEMS: Final = (
    *word_set(
        """
        密码 口令 密钥 令牌 パスワード トークン 비밀번호 암호 пароль токен ключ passwort kennwort contraseña
        clave senha parola wachtwoord hasło şifre lösenord adgangskode salasana heslo jelszó รหัสผ่าน סיסמה κωδικός
        """
    ),
    "mot de passe",
    "mật khẩu",
    "كلمة المرور",
)
_QUALIFIED: Final = re.compile(r"(?i)(?:api|access|auth|private|secret|signing|license|encryption)[ -]\Z")
_WORD_AND_NUMBER: Final = re.compile(r"[A-Za-z]{4,}\d{3,}|[a-z0-9]{8,}")
_WITH_SYMBOL: Final = re.compile(r"(?=[^\d]*\d)[A-Za-z][A-Za-z0-9]*[!@#$%^&*][A-Za-z0-9!@#$%^&*]{2,}")
_COMMON_NUMBERED: Final = re.compile(r"(?i)(?:[a-z]+20\d\d|utf\d.*|[a-z]+|\d+|(?:sha|md|rfc|iso|cve|pr|issue)-?\d+)$")
_LOGIN: Final = re.compile(
    r"(?i)(?:log(?:ged)?[ -]?in|sign(?:ed)? in|credentials?|creds?|account|user(?:name)?)\b[^\n]{0,24}?[ :=(`\"']"
    r"([\w.@+-]{2,40}) ?[/:] ?([^\s\"'`,;)/?]{6,64})"
)
_STEMS: Final = (
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "login",
    "pw",
    " pin",
    "pass ",
)


def prose_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield secrets that a sentence names; the value must look like none of the words around."""
    text = document.text
    done: set[int] = set()
    for stem in _STEMS:
        for at in document.places(stem):
            yield from _after(text, at, done)
    for stem in ("password", "passphrase", "passcode", "api key", "token", "secret", "pwd"):
        for at in document.places(stem):
            yield from _before(text, document.low, at)
    for stem in _FOREIGN_STEMS:
        for at in document.places(stem):
            match = _FOREIGN.match(text, at + len(stem), at + len(stem) + 40)
            if match is not None:
                yield from _judge(text, match.end(), kinds.PASSWORD)
    for stem in ("log", "sign", "cred", "user", "account"):
        for at in document.places(stem):
            yield from _login(text, at)


def _after(text: str, at: int, done: set[int]) -> Iterator[SecretFinding]:
    while at < len(text) and text[at] == " ":
        at += 1
    qualified = _QUALIFIED.search(text, max(0, at - 12), at) if text[at : at + 3].lower() == "key" else None
    start = qualified.start() if qualified is not None else at
    if start and (text[start - 1].isalnum() or text[start - 1] in "_-./$"):
        return
    match = _WORD.match(text, start, at + 260)
    if match is None:
        match = _DIRECT.match(text, start, at + 40)
        if match is None or match.end() in done:
            return
        done.add(match.end())
        yield from _judge(text, match.end(), _kind(match.group()), direct=True)
        return
    if match.end() in done:
        return
    done.add(match.end())
    bare_key = match.group("name").lower() == "key"
    yield from _judge(text, match.end(), kinds.API_KEY if bare_key else _kind(match.group("name")), direct=bare_key)


def _kind(name: str) -> str:
    low = name.lower()
    if "key" in low:
        return kinds.API_KEY
    if "token" in low:
        return kinds.TOKEN
    return kinds.SECRET if "secret" in low else kinds.PASSWORD


def _judge(text: str, position: int, kind: str, *, direct: bool = False) -> Iterator[SecretFinding]:
    literal = read_literal(text, position)
    if literal is None:
        return
    value = text[literal.start : literal.end]
    if prose_value(value, kind, direct=direct):
        yield SecretFinding(literal.start, literal.end, kind, kinds.LAYER)


def prose_value(value: str, kind: str, *, direct: bool) -> bool:
    """Tell whether the word after "is" is a secret; `direct` when no linking word stands before it."""
    if len(value) < 6 or len(value) > 512 or is_dummy(value) or is_reference(value) or " " in value:
        return False
    if describes(value):
        return False
    if kind == kinds.PASSWORD and direct and len(value) >= 7 and _WORD_AND_NUMBER.fullmatch(value):
        return not _COMMON_NUMBERED.match(value)
    if kind == kinds.PASSWORD and direct and len(value) >= 8 and _WITH_SYMBOL.fullmatch(value):
        return True
    if kind != kinds.PASSWORD or direct:
        return looks_random(value, 10 if kind == kinds.PASSWORD else 12) and (
            any(c.isdigit() for c in value) or looks_random(value, 20)
        )
    marked = any(c.isdigit() or c in "!@#$%^&*+?" for c in value)
    return password_like(value, quoted=False) and (marked or looks_random(value, 10))


def _before(text: str, low: str, at: int) -> Iterator[SecretFinding]:
    left = max(0, at - 120)
    for link in (" is ", " was ", " as "):
        position = low.rfind(link, left, at)
        if position < 0:
            continue
        begin = position
        while begin > left and text[begin - 1] not in " \n\t\r\"'`,;(){}<>\\":
            begin -= 1
        if begin == position and text[position - 1 : position] in "\"'`":
            close = position - 1
            begin = text.rfind(text[close], left, close) + 1
            position = close
        match = _REVERSE.match(text, begin, at + 24) if begin else _REVERSE.match(text, 0, at + 24)
        if match is None or match.end() < at:
            continue
        value = text[begin:position]
        if prose_value(value, kinds.PASSWORD if low.startswith("pass", at) else kinds.TOKEN, direct=False):
            yield SecretFinding(begin, position, kinds.PASSWORD, kinds.LAYER)


def _login(text: str, at: int) -> Iterator[SecretFinding]:
    match = _LOGIN.match(text, at, at + 180)
    if match is None:
        return
    value = match.group(2).rstrip(".,;:!?")
    strong = any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and not is_reference(value)
    if strong and not is_dummy(value) and (looks_random(value, 8) or re.search(r"[!@#$%^&*]|[a-z]{4}\d{2,}$", value)):
        yield SecretFinding(match.start(2), match.start(2) + len(value), kinds.PASSWORD, kinds.LAYER)
