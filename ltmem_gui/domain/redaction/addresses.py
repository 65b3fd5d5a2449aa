"""Secrets in addresses and headers: `user:pass@`, query parameters, Authorization, Cookie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document, occurrences
from ltmem_gui.domain.redaction.names import LOOSE, code_of, name_kind
from ltmem_gui.domain.redaction.typed import short_code, word_password
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random, password_like
from ltmem_gui.domain.redaction.words import word_set
from ltmem_gui.domain.secrets import SecretFinding

_STOP: Final = r"\s\"'`<>\\\x00\x1b\u2e80-\u9fff\uff00-\uffef"
_AUTHORITY: Final = re.compile(rf"([^{_STOP}/@:?#,]{{0,128}})(?::([^{_STOP}]{{1,512}}?))?@(?=[\w\[{{$(%*.-])")
_GREEDY: Final = re.compile(rf"([^{_STOP}/:?#]{{0,128}}):([^{_STOP}/]{{1,512}})@(?=[\w\[{{$(%*.-])")
_DEFAULT_LOGINS: Final = frozenset(
    ("password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "x-oauth-basic")
)
_TEMPLATE: Final = re.compile(r"[\[{<(]|\$[{(A-Z]|%[({]|\*+$")
_PARAMETER: Final = re.compile(rf"[?&;#]([A-Za-z][\w.\-\[\]]{{0,48}})=([^&#;?{_STOP}]{{4,2048}})")
_SIGNATURES: Final = word_set(
    """
    sig signature x-amz-signature x-goog-signature x-amz-security-token x-oss-signature googleaccessid hmac
    x-ms-signature policy_signature ossaccesskeyid_signature
    """
)
_CODES: Final = word_set(
    """
    code state_token ticket samlresponse assertion id_token_hint device_code otp k
    """
)
_ONE_TIME: Final = re.compile(
    r"(?:reset|invit(?:e|ation)|confirm(?:ation)?|verif(?:y|ication)|magic|activation|unsubscribe|one_?time)"
    r"[_-]?(?:token|code|key|link)"
)
_AUTH: Final = re.compile(
    r"(?i)authorization(?P<quote>\\*[\"'])?\]?\s{0,4}(?:=>|:=|[:=,(])\s{0,4}(?:\\*[\"'`]|&quot;)?"
    r"(?P<scheme>[A-Za-z][A-Za-z0-9_-]{2,24}[ ]+)?(?P<value>[^\s\"'`<>\\,;\x1b\u2e80-\u9fff\uff00-\uffef]+)"
)
_BEARER: Final = re.compile(r"(?:[Bb]earer|BEARER)[ :=]+\\*[\"'`]?([A-Za-z0-9._~+/=:|-]{12,})")
_COOKIE: Final = re.compile(r"(?i)(?<![\w])(?:set-)?cookies?\\*[\"']?\s{0,4}[:=]\s{0,4}(?:\\*[\"'])?")
_CRUMB: Final = re.compile(r"\s*([\w.!#$%&*+^|~-]{1,64})=([^;,\s\"'\\<>]{1,4096})(?:;|(?=[\s\"'\\<>,]|$))")
_COOKIE_ATTRIBUTES: Final = word_set(
    """
    path domain expires max-age samesite httponly secure priority version comment
    """
)
_SESSION: Final = re.compile(
    r"(?i)sess|sid$|_id$|auth|token|jwt|csrf|xsrf|remember|login|ident|secret|key|ticket|credential|sso"
)
_CREDENTIAL_FIELDS: Final = re.compile(
    r"(?i)(?:signature|response|nonce|cnonce|oauth_\w*(?:token|signature|key))=\\*\"?([A-Za-z0-9+/=%_-]{16,})"
)


def address_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield passwords and tokens in addresses and in HTTP headers."""
    text = document.text
    for at in occurrences(text, "://"):
        yield from _userinfo(text, at + 3)
    if "=" in text and ("?" in text or "&" in text or ";" in text or "#" in text):
        yield from _parameters(text)
    for at in document.places("authorization"):
        yield from _authorization(text, at)
    for at in document.places("bearer"):
        match = _BEARER.match(text, at)
        if match is not None and _opaque(match.group(1)):
            start, end = match.span(1)
            yield SecretFinding(start, start + len(text[start:end].rstrip(".:|")), kinds.AUTH_HEADER, kinds.LAYER)
    for at in document.places("cookie"):
        yield from _cookies(text, at)


def _userinfo(text: str, at: int) -> Iterator[SecretFinding]:
    match = _GREEDY.match(text, at, at + 700) or _AUTHORITY.match(text, at, at + 700)
    if match is None:
        return
    user, password = match.group(1), match.group(2)
    if password is None:
        if looks_random(user, 16) and not is_dummy(user):
            yield SecretFinding(match.start(1), match.end(1), kinds.URL_PASSWORD, kinds.LAYER)
        return
    if "/" in password and ("@" not in text[at : match.end() + 1] or re.search(r"[/?#].*[/?=]", password)):
        return
    if looks_random(user, 20) and not is_dummy(user):
        yield SecretFinding(match.start(1), match.end(1), kinds.URL_PASSWORD, kinds.LAYER)
    if (
        is_dummy(password)
        or (password == user and not looks_random(user, 12))
        or password.lower() in _DEFAULT_LOGINS
        or _TEMPLATE.match(password)
    ):
        return
    if password.isdigit() and len(password) <= 5 and not user:
        return
    yield SecretFinding(match.start(2), match.end(2), kinds.URL_PASSWORD, kinds.LAYER)


def _parameters(text: str) -> Iterator[SecretFinding]:
    for at in occurrences(text, "="):
        left = max(
            text.rfind("?", max(0, at - 50), at),
            text.rfind("&", max(0, at - 50), at),
            text.rfind(";", max(0, at - 50), at),
        )
        if left < 0:
            continue
        match = _PARAMETER.match(text, left)
        if match is not None and match.end(1) == at and _parameter_secret(match.group(1), match.group(2)):
            yield SecretFinding(
                match.start(2), match.end(2) - _loose_end(match.group(2)), kinds.URL_SECRET, kinds.LAYER
            )


def _loose_end(value: str) -> int:
    return len(value) - len(value.rstrip(".,;:!?)]}*_|"))


def _parameter_secret(name: str, value: str) -> bool:
    low = name.lower().removeprefix("amp;")
    if code_of(name):
        return short_code(value, sure=True) or looks_random(value, 16)
    if len(value) < 6 or is_dummy(value) or is_reference(value):
        return False
    if low in _SIGNATURES:
        return len(value) >= 16
    if low in _CODES:
        return looks_random(value, 16)
    if low == "key":
        return looks_random(value, 20)
    kind = name_kind(name)
    if kind is None:
        return _ONE_TIME.fullmatch(low) is not None and looks_random(value, 16)
    if kind == LOOSE:
        return looks_random(value, 24)
    if kind == kinds.PASSWORD:
        return password_like(value, quoted=True) or word_password(value)
    return looks_random(value, 8)


def _authorization(text: str, at: int) -> Iterator[SecretFinding]:
    match = _AUTH.match(text, at, at + 9000)
    if match is None:
        return
    scheme = (match.group("scheme") or "").strip().lower()
    start = match.start("value")
    value = match.group("value").rstrip(".:)]}")
    if scheme in ("digest", "oauth") or scheme.startswith(("aws4", "goog4", "hmac", "sharedkey")):
        for field in _CREDENTIAL_FIELDS.finditer(text, start, min(len(text), start + 1500, _line_end(text, start))):
            yield SecretFinding(field.start(1), field.end(1), kinds.AUTH_HEADER, kinds.LAYER)
    if is_dummy(value) or is_reference(value) or "=" in value.rstrip("=")[:24]:
        return
    if (scheme and _opaque(value, 8)) or _opaque(value, 16) or (scheme == "basic" and _basic(value)):
        yield SecretFinding(start, start + len(value), kinds.AUTH_HEADER, kinds.LAYER)


def _basic(value: str) -> bool:
    return (
        len(value) >= 8
        and re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", value) is not None
        and (value.endswith("=") or any(c.isdigit() for c in value) or looks_random(value, 8))
    )


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _opaque(value: str, least: int = 12) -> bool:
    value = value.rstrip(".:|")
    return not is_dummy(value) and not is_reference(value) and looks_random(value, least)


def _cookies(text: str, at: int) -> Iterator[SecretFinding]:
    begin = at - 4 if text[max(0, at - 4) : at].lower() == "set-" else at
    head = _COOKIE.match(text, begin)
    if head is None:
        return
    position = head.end()
    for _ in range(40):
        crumb = _CRUMB.match(text, position, position + 4200)
        if crumb is None:
            return
        name, value = crumb.groups()
        if name.lower() not in _COOKIE_ATTRIBUTES and _cookie_secret(name, value):
            yield SecretFinding(crumb.start(2), crumb.end(2), kinds.COOKIE, kinds.LAYER)
        position = crumb.end()


def _cookie_secret(name: str, value: str) -> bool:
    if is_dummy(value) or is_reference(value):
        return False
    return looks_random(value, 8 if _SESSION.search(name) else 20)
