"""Logins in sentences: "log in with admin / …", "user alice with password …", "our wifi password is …".

Here a plain word may be the password; what stands before it has to leave no other reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.literals import Literal, read_literal
from ltmem_gui.domain.redaction.typed import short_code, word_password
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random, password_like
from ltmem_gui.domain.redaction.words import word_set
from ltmem_gui.domain.secrets import SecretFinding

_USUAL: Final = (
    r"admin(?:istrator)?|root|sa|postgres|mysql|oracle|ubuntu|debian|centos|vagrant|pi|deploy(?:er)?|ops|operator"
    r"|test(?:er)?|demo|guest|dev(?:eloper)?|system|superuser|support|svc\w*|service|app|backup|monitor|jenkins|tomcat"
    r"|elastic|kibana|grafana|rabbitmq|minio|user\d*|[\w.+-]+@[\w.-]+|\w+_\w+|\w*[a-z]\d+"
)
_PAIR: Final = re.compile(
    r"(?i)(?:log(?:ged)?[ -]?(?:in|on)(?: to \S+)?|sign(?:ed)?[ -]?in|logins?|credentials?|creds?|account)\b"
    rf"[^\n]{{0,24}}?[ :=(`\"'](?:{_USUAL}) ?[/:] ?(?=[^\s/])"
)
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
_IS: Final = re.compile(
    r"(?i)(?:\b(?:my|our|his|her|their|your|admin|root|db|database|wi-?fi|wlan|router|vpn|login|sudo|staging"
    r"|prod(?:uction)?|master|account|server|mail|e-?mail) (?:password|passphrase|passwort|pw)"
    r"(?:(?: (?:for|of|on|to) [\w .-]{1,24}?)? (?:is|was|ist|to)|['’]s| ?:) "
    r"|\b(?:password|passwort|pw) (?:for|of|on|to|für) [\w .-]{1,24}? ?[-–—] )(?=\S)"
)
_CODE: Final = re.compile(
    r"(?i)(?<![\w-])(?:pin(?:[ -]?code)?|t?otp(?:[ -]code)?|passcode|one[- ]time (?:password|code|passcode)"
    r"|(?:2fa|mfa|verification|security|unlock) code)"
    r"(?: (?:for|of|on|to) [\w' .-]{1,32}?)?(?: ?[:=]| is| was| ist) {1,3}(?:now |still )?"
    r"(?=[\"'`]?\d)"
)
_STATES: Final = word_set(
    """
    wrong weak strong safe here there mine yours known unknown gone lost sent kept shown held same longer shorter
    short good fine still also only just blank whatever nowhere everywhere something nothing anything somewhere
    necessary mandatory incorrect correct case-sensitive sensitive secret public private simple complex ready
    missing different identical identically passkey sso mfa biometrics fingerprint caution care them another
    github google gitlab facebook apple okta kerberos ldap because when where while until unless after before
    """
)
_STATE_ENDS: Final = (
    "ed",
    "ing",
    "ly",
    "able",
    "ible",
    "ful",
    "less",
    "ive",
    "ent",
    "ect",
    "ous",
    "ic",
    "al",
    "ten",
    "wn",
    "ry",
    "ete",
)
_SENTENCE_GOES_ON: Final = re.compile(
    r"[\"'`]?(?:[.,;!)]|\s*(?:\n|$|\\n)|\s(?:and|on|for|until|yesterday|today|now)\b)"
)
_LIST_GOES_ON: Final = re.compile(r"[\"'`]? ?/")


def login_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield passwords that follow their login, and short codes that a sentence names."""
    text = document.text
    for stem in ("log", "sign", "cred", "account", "user", "connect", "ssh", "benutzer", "konto"):
        for at in document.places(stem):
            for pattern, words, states in ((_PAIR, True, False), (_WITH, True, True), (_AS, False, True)):
                match = pattern.match(text, at, at + 160)
                if match is not None:
                    yield from _password(text, match.end(), words=words, states=states)
    for stem in ("password", "passphrase", "passwort", " pw"):
        for at in document.places(stem):
            match = _IS.search(text, max(0, at - 14), at + 60)
            if match is not None and match.end() > at:
                yield from _stated(text, match.end())
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
    typed = words and word_password(value) and not (states and _tells_a_state(value))
    if strong or several or typed:
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _stated(text: str, position: int) -> Iterator[SecretFinding]:
    """Judge "my password is …": a word that tells a state of the password is none."""
    literal = read_literal(text, position)
    value = _value(text, literal)
    if literal is None or not value:
        return
    if not word_password(value):
        found = password_like(value, quoted=False) and any(char.isdigit() or not char.isalnum() for char in value)
    else:
        several = (value.lower() != value and not value.istitle()) or value.count("-") >= 2
        state = _tells_a_state(value) or "-" in value or value[0].isupper()
        ends = _SENTENCE_GOES_ON.match(text, literal.end) is not None
        found = several or literal.quoted or (ends and not state)
    if found:
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _tells_a_state(value: str) -> bool:
    low = value.lower()
    return low in _STATES or low.endswith(_STATE_ENDS)


def _code(text: str, position: int) -> Iterator[SecretFinding]:
    literal = read_literal(text, position)
    if literal is not None and short_code(text[literal.start : literal.end], sure=literal.quoted):
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _value(text: str, literal: Literal | None) -> str:
    value = text[literal.start : literal.end] if literal is not None else ""
    return "" if len(value) < 6 or len(value) > 64 or is_dummy(value) or is_reference(value) or " " in value else value
