"""Logins in sentences: "log in with admin / …", "user alice with password …"; and short codes.

Here a plain word may be the password; what stands before it has to leave no other reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.literals import Literal, read_literal
from ltmem_gui.domain.redaction.saying import goes_on, is_secret, read_said
from ltmem_gui.domain.redaction.states import GERMAN, is_chat, tells_state
from ltmem_gui.domain.redaction.typed import is_word_of_settings, short_code, word_password
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random, password_like
from ltmem_gui.domain.secrets import SecretFinding

_USUAL: Final = (
    r"admin(?:istrator)?|root|sa|postgres|mysql|oracle|ubuntu|debian|centos|vagrant|pi|deploy(?:er)?|ops|operator"
    r"|test(?:er)?|demo|guest|dev(?:eloper)?|system|superuser|support|svc\w*|service|app|backup|monitor|jenkins|tomcat"
    r"|elastic|kibana|grafana|rabbitmq|minio|user\d*|[\w.+-]+@[\w.-]+|\w+_\w+|\w*[a-z]\d+"
)
_PAIR: Final = re.compile(
    r"(?i)(?:log(?:ged)?[ -]?(?:in|on)(?: to \S+)?|sign(?:ed)?[ -]?in|logins?|credentials?|creds?|account"
    r"|zugang(?:sdaten)?|anmeldedaten|entra|accede|credenciales|identifiants|credenziali|登录|账号|帐号)\b"
    rf"[^\n]{{0,24}}?[ :=(`\"'](?:{_USUAL}) ?[/:] ?(?=[^\s/])"
)
_MAIL_WITH: Final = re.compile(
    r"(?i)(?:log(?:ged)?|sign(?:ed)?)[ -]?(?:in|on)(?: to \S+)? (?:as|with|using) [\w.+-]{1,64}@[\w.-]{3,64}"
    r" (?:with|using|and|mit|und) (?=\S)"
)
_ANY_PAIR: Final = re.compile(
    r"(?i)(?:log(?:ged)?[ -]?(?:in|on)|sign(?:ed)?[ -]?in|logins?|credentials?|creds?|zugang(?:sdaten)?|anmeldedaten"
    r"|entra|accede|credenciales|identifiants|credenziali)"
    r"(?P<link>(?: (?:(?:is|are|was|were)|(?:as|with|using)(?: user)?|mit|als|con|como|avec|sind|son|sono))?:? \(?|: ?)"
    r"[\"'`]?(?P<who>[A-Za-z][\w.-]{1,30})[\"'`]?(?: ?/ | ?: ?|/)(?=\S)"
)
"""A login whose name is nobody's usual one: both halves have to be words that no page, provider or field is called."""
_WITH: Final = re.compile(
    r"(?i)(?:users?(?:name)?|account|log(?:ged)?[ -]?(?:in|on)|sign(?:ed)?[ -]?in|login|connect(?:ed)?|benutzer|konto"
    r"|ssh(?: in)?)\b(?:[^\n.;]|\.(?=\w)){0,60}?"
    r"(?:(?:,| with| using| mit) (?:the |a |my |das |dem )?(?:password|passwort|passphrase|pass|pw)"
    r"(?: is | was |[ :=]{1,3})"
    r"|(?:,| and| und) (?:the |das )?(?:password|passwort|passphrase|pass|pw)(?: is | was | ist | ?[:=] ?))(?=\S)"
)
_AS: Final = re.compile(
    rf"(?i)(?:log(?:ged)?|sign(?:ed)?)[ -]?(?:in|on)(?: to \S+)? as (?:{_USUAL}) (?:with|using) (?=\S)"
)
_CODE: Final = re.compile(
    r"(?i)(?<![\w-])(?:pin(?:[ -]?code)?|t?otp(?:[ -]code)?|passcode|one[- ]time (?:password|code|passcode)"
    r"|(?:2fa|mfa|verification|security|unlock) code)"
    r"(?: (?:for|of|on|to) [\w' .-]{1,32}?)?(?: ?[:=]| is| was| ist) {1,3}(?:now |still )?"
    r"(?=[\"'`]?\d)"
)
_LOGINS: Final = (
    "log",
    "sign",
    "cred",
    "account",
    "user",
    "connect",
    "ssh",
    "benutzer",
    "konto",
    "zugang",
    "anmelde",
    "entra",
    "accede",
    "identif",
    "登录",
    "账号",
)
_LIST_GOES_ON: Final = re.compile(r"[\"'`]? ?/")


def login_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield passwords that follow their login, and short codes that a sentence names."""
    text = document.text
    for stem in _LOGINS:
        for at in document.places(stem):
            yield from _any_pair(text, at)
            yield from _after_mail(text, at)
            for pattern, words, states in ((_PAIR, True, False), (_WITH, True, True), (_AS, False, True)):
                match = pattern.match(text, at, at + 160)
                if match is not None:
                    yield from _password(text, match.end(), words=words, states=states)
    for stem in (
        "pin",
        "totp",
        "otp",
        "passcode",
        "one-time",
        "one time",
        "2fa",
        "mfa",
        "verification",
        "security",
        "unlock",
    ):
        for at in document.places(stem):
            match = _CODE.match(text, at, at + 80)
            if match is not None:
                yield from _code(text, match.end())


def _password(text: str, position: int, *, words: bool, states: bool) -> Iterator[SecretFinding]:
    literal = read_literal(text, position)
    value = _value(text, literal)
    if literal is None or not value or _LIST_GOES_ON.match(text, literal.end):
        return
    strong = password_like(value, quoted=literal.quoted) and (
        any(char.isdigit() or not char.isalnum() for char in value) or looks_random(value, 10)
    )
    several = word_password(value) and value.lower() != value and not value.istitle()
    typed = words and word_password(value) and not (states and tells_state(value))
    if strong or several or typed:
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _after_mail(text: str, at: int) -> Iterator[SecretFinding]:
    """Judge "sign in as bob@… with VALUE": nothing but a word that says how is no password there."""
    match = _MAIL_WITH.match(text, at, at + 200)
    said = read_said(text, match.end(), words=False) if match is not None else None
    if said is not None and is_secret(said) and not is_chat(said.value) and goes_on(text, said.close):
        yield SecretFinding(said.start, said.end, kinds.PASSWORD, kinds.LAYER)


def _any_pair(text: str, at: int) -> Iterator[SecretFinding]:
    match = _ANY_PAIR.match(text, at, at + 120)
    if match is None or (at and (text[at - 1].isalnum() or text[at - 1] in "_./-")):
        return
    who, said = match.group("who"), read_said(text, match.end(), words=False)
    if said is None or said.quoted or not said.value.isalpha() or not is_secret(said, language=GERMAN):
        return
    setting = is_word_of_settings(who) and who.lower() != "max"
    names_a_thing = is_chat(said.value) or is_chat(who) or setting or tells_state(who)
    if not names_a_thing and goes_on(text, said.close) and _LIST_GOES_ON.match(text, said.close) is None:
        yield SecretFinding(said.start, said.end, kinds.PASSWORD, kinds.LAYER)


def _code(text: str, position: int) -> Iterator[SecretFinding]:
    literal = read_literal(text, position)
    if literal is not None and short_code(text[literal.start : literal.end], sure=literal.quoted):
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _value(text: str, literal: Literal | None) -> str:
    value = text[literal.start : literal.end] if literal is not None else ""
    return "" if len(value) < 6 or len(value) > 64 or is_dummy(value) or is_reference(value) or " " in value else value
