"""Secrets on command lines whose name stands apart from the value: short flags, logins, pipes, format strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.context import acceptable
from ltmem_gui.domain.redaction.document import Document, occurrences
from ltmem_gui.domain.redaction.literals import Literal, read_literal
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random, password_like
from ltmem_gui.domain.secrets import SecretFinding

_USER: Final = re.compile(
    r"(?:(?<![\w-])-[a-zA-Z]{0,6}u|(?<!-)--user|(?<!-)--proxy-user|(?<![\w-])-U|(?<![\w-])-a|(?<!-)--auth)[ =]?"
    r"(\\*[\"']?)([^\s:\"'\\%,]{1,64})[:%,]([^\s\"'\\]{3,256})"
)
_TAKES_USER: Final = re.compile(r"(?:curl|wget|https?|xhs?|smbclient|rpcclient|httpie|lftp|ncftp|aria2c)\b")
_SHORT_FLAGS: Final = (
    ("sshpass", re.compile(r"sshpass\s+-p\s*")),
    ("mysql", re.compile(r"mysql(?:dump|admin|import|show|check)?\b[^\n|;]{0,120}?\s-p(?=[^\s-])")),
    ("mariadb", re.compile(r"mariadb(?:-\w+)?\b[^\n|;]{0,120}?\s-p(?=[^\s-])")),
    ("redis-cli", re.compile(r"redis-cli\b[^\n|;]{0,120}?\s-a\s+")),
    ("ldap", re.compile(r"ldap(?:search|modify|add|delete|whoami|passwd)\b[^\n|;]{0,200}?\s-w\s*")),
    (" login ", re.compile(r" login\b[^\n|;]{0,160}?\s-p[ =]")),
    ("twine", re.compile(r"twine\s+upload\b[^\n|;]{0,160}?\s-p[ =]")),
    ("sqlcmd", re.compile(r"sqlcmd\b[^\n|;]{0,160}?\s-P\s*")),
    ("bcp ", re.compile(r"bcp\b[^\n|;]{0,160}?\s-P\s*")),
    ("mongo", re.compile(r"mongo(?:sh|dump|restore|import|export)?\b[^\n|;]{0,160}?\s-p[ =]")),
    ("htpasswd", re.compile(r"htpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+")),
    ("unzip", re.compile(r"unzip\s+-P\s*")),
    ("zip", re.compile(r"zip\s+(?:-\w+\s+)*-P\s*")),
    ("7z", re.compile(r"7z\w*\s[^\n|;]{0,120}?-p(?=[^\s-])")),
    ("openssl", re.compile(r"openssl\s+(?:enc|[a-z0-9-]*(?:cbc|ctr))\b[^\n|;]{0,160}?\s-k\s+")),
    ("ssh-keygen", re.compile(r"ssh-keygen\b[^\n|;]{0,160}?\s-[NP]\s+")),
    ("wpa_passphrase", re.compile(r"wpa_passphrase\s+(?:\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|\S+)\s+")),
    ("-pass", re.compile(r"-pass(?:in|out)?\s+pass:")),
    ("-storepass", re.compile(r"-storepass\s+(?:pass:)?")),
    ("-keypass", re.compile(r"-keypass\s+(?:pass:)?")),
    ("net use", re.compile(r"net use\s+\S+(?:\s+\\\\\S+)?\s+(?=\S+\s+/user)")),
    ("net user", re.compile(r"net user\s+\S+\s+(?=[^\s/]\S*\s+/add)")),
    ("/p:", re.compile(r"/p:(?=\S)")),
    ("/pass", re.compile(r"(?i)/pass(?:word|wd)?[:=](?=\S)")),
    ("sqlplus", re.compile(r"sqlplus\s+(?:-\w+\s+)*\w+/(?=\S)")),
    ("aws configure set", re.compile(r"aws configure set\s+aws_(?:secret_access_key|session_token)\s+")),
    ("secret set", re.compile(r"secret set\s+\w+[^\n|;]{0,60}?(?:-b|--body)[ =]")),
    ("git config", re.compile(r"git config[^\n|;]{0,60}(?:token|password|secret|extraheader)\s+")),
    ("poetry config", re.compile(r"poetry config\s+(?:pypi-token\.\S+|http-basic\.\S+\s+\S+)\s+")),
    ("vault ", re.compile(r"vault\s+(?:kv\s+(?:put|patch)|write)\s+\S+(?:\s+[\w-]+=\S+){0,4}?\s+pass(?:word|wd)?=")),
    ("requirepass", re.compile(r"requirepass\s+")),
    ("masterauth", re.compile(r"masterauth\s+")),
    ("rabbitmqctl", re.compile(r"rabbitmqctl\s+(?:add_user|change_password)\s+\S+\s+")),
    ("set-password", re.compile(r"set-password[^\n|;]{0,40}\s")),
    ("convertto-securestring", re.compile(r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?(?=['\"])")),
    ("-s ", re.compile(r"(?<=sudo )-S\b[^\n|;]{0,80}?<<<\s*")),
    ("chpasswd", re.compile(r"chpasswd\s*<<<\s*[\"']?\w+:")),
    ("<<<", re.compile(r"<<<\s*(?=\S+\s+(?:passwd|sudo|docker login))")),
    ("password-command", re.compile(r"password-command[ =][\"']?(?:echo|printf)\s+(?:-n\s+)?")),
)
_LESS_SURE: Final = (
    ("identified", re.compile(r"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?(?=['\"])")),
    ("password", re.compile(r"(?i)password\s+(?=\\*['\"])")),
    ("set password", re.compile(r"(?i)set\s+password\s+(?:for\s+\S{1,80}\s*)?=\s*(?:password\s*\(\s*)?(?=['\"])")),
)
_LOGINS: Final = (
    (" login ", re.compile(r"(?:^|[\s;&|`$(])[a-z][\w.-]{1,24} login (?=[^\s-])")),
    (" auth ", re.compile(r"(?:^|[\s;&|`$(])[a-z][\w.-]{1,24} auth (?=[^\s-])")),
    ("authtoken ", re.compile(r"authtoken (?=[^\s-])")),
    ("auth ", re.compile(r"(?<![\w-])AUTH (?:[\w.-]{1,32} )?(?=[^\s-])")),
    ("_authtoken ", re.compile(r"(?i)_authToken (?=[^\s-])")),
)
_LOOKING_BACK: Final = (
    ("| chpasswd", re.compile(r"(?:\s|['\"])\w+:(?=\S+['\"]?\s*\Z)")),
    ("| sudo chpasswd", re.compile(r"(?:\s|['\"])\w+:(?=\S+['\"]?\s*\Z)")),
    ("| sudo -s", re.compile(r"echo\s+(?:-n\s+)?(?=\S+\s*\Z)")),
    ("password-stdin", re.compile(r"(?:echo|printf)\s+(?:-n\s+)?(?:['\"]%s(?:\\n)?['\"]\s+)?(?=\S+\s*\|[^\n|]*\Z)")),
)
_PRINTF: Final = re.compile(r"printf\s+(?:--\s+)?(?P<quote>[\"'])(?P<form>[^\"']{0,400})(?P=quote)\s+")
_SLOT: Final = re.compile(r"%(?:-?\d*)[sbq]|%%|%[a-z]")
_NAMED: Final = re.compile(r"([A-Za-z_][\w.-]{1,63})\\?[\"']?\s{0,2}[=:]\s{0,2}\\?[\"']?\Z")
_CONNECT: Final = re.compile(
    r"(?:PDO|mysqli(?:_connect)?|getConnection)\s?\(\s{0,20}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[\w.$]{1,60})\s?,\s{0,20}"
    r"(?:\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|[\w.$]{1,60})\s?,\s{0,20}(?=[\"'])"
)
_LOG_IN: Final = re.compile(r"\.login\(\s{0,20}(?:\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s?,\s{0,20}(?=[\"'])")
_CALLS: Final = (("pdo(", _CONNECT), ("mysqli", _CONNECT), ("getconnection(", _CONNECT), (".login(", _LOG_IN))
_SEND: Final = re.compile(r"send(?:_user)?\s+(?:--\s+)?\\*\"(?P<said>[^\"\\\n]{4,128})(?=\\+r)")


def command_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield secrets that a command takes as an argument or from a pipe."""
    yield from _users(document)
    yield from _flags(document)
    yield from _around(document)
    yield from _printed(document)
    yield from _sent(document)


def weak(text: str, position: int, *, sure: bool = True) -> Iterator[SecretFinding]:
    """Yield the value at a place where nothing but a password can stand; less than `sure`, it has to look like one."""
    literal = read_literal(text, position, line=True)
    if literal is None or (not literal.quoted and text.startswith("-", literal.start)):
        return
    value = text[literal.start : literal.end]
    if len(value) < 4 or is_dummy(value) or (is_reference(value) and not looks_random(value, 10)):
        return
    if sure or password_like(value, quoted=True) or acceptable(value, kinds.PASSWORD, "password", quoted=True):
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _users(document: Document) -> Iterator[SecretFinding]:
    """Yield the second half of `-u user:password`, as curl and its kin take it."""
    text, low = document.text, document.low
    for flag in ("-u", "--user", "--proxy-user", "-U", "u ", "-a ", "--auth"):
        for at in occurrences(text, flag):
            start = at if flag != "u " else text.rfind("-", max(0, at - 7), at)
            match = _USER.match(text, start, at + 400) if start >= 0 else None
            if match is not None and _TAKES_USER.search(low, max(0, low.rfind("\n", 0, start)), start):
                first, after = match.span(3)
                if not is_dummy(text[first:after]) and not is_reference(text[first:after]):
                    yield SecretFinding(first, after, kinds.PASSWORD, kinds.LAYER)


def _flags(document: Document) -> Iterator[SecretFinding]:
    """Yield what stands after a flag, or after the arguments of a call, that takes nothing but a password."""
    text = document.text
    for sure, reach, rules in ((True, 300, _SHORT_FLAGS), (False, 300, _LESS_SURE), (False, 500, _CALLS)):
        for marker, pattern in rules:
            for at in document.places(marker):
                match = pattern.match(text, at, at + reach)
                if match is not None:
                    yield from weak(text, match.end(), sure=sure)


def _around(document: Document) -> Iterator[SecretFinding]:
    """Yield what a command gets that is named after the value, and what a login command takes without a flag."""
    text = document.text
    for marker, pattern in _LOGINS:
        for at in document.places(marker):
            match = pattern.search(text, max(0, at - 26), at + 48)
            if match is not None and match.end() > at:
                yield from _token(text, match.end())
    for marker, pattern in _LOOKING_BACK:
        for at in document.places(marker):
            match = pattern.search(text, max(0, at - 120), at)
            if match is not None:
                yield from weak(text, match.end())


def _token(text: str, position: int) -> Iterator[SecretFinding]:
    """Yield what `tool login …` takes: a host or a user may stand there too, so it has to look made or typed."""
    literal = read_literal(text, position, line=True)
    value = text[literal.start : literal.end] if literal is not None else ""
    if literal is None or is_dummy(value) or is_reference(value) or "." in value or "@" in value:
        return
    if looks_random(value, 12) or (len(value) >= 8 and password_like(value, quoted=False)):
        yield SecretFinding(literal.start, literal.end, kinds.TOKEN, kinds.LAYER)


def _printed(document: Document) -> Iterator[SecretFinding]:
    """Bind the arguments of `printf 'NAME=%s'` to the names in its form."""
    text = document.text
    for at in document.places("printf"):
        match = _PRINTF.match(text, at, at + 600)
        if match is None:
            continue
        position, form = match.end(), match.group("form")
        for slot in _SLOT.finditer(form):
            if slot.group() == "%%":
                continue
            literal = read_literal(text, position, line=True)
            if literal is None:
                break
            named = _NAMED.search(form, 0, slot.start())
            found = _bound(text, literal, named.group(1)) if named is not None else None
            if found is not None:
                yield found
            after = literal.end + (1 if literal.quoted else 0)
            position = after + len(text[after : after + 8]) - len(text[after : after + 8].lstrip(" "))
            if position == after:
                break


def _bound(text: str, literal: Literal, name: str) -> SecretFinding | None:
    kind = name_kind(name)
    value = text[literal.start : literal.end]
    if kind is None or not acceptable(value, kind, name, quoted=literal.quoted, shell=True):
        return None
    return SecretFinding(literal.start, literal.end, kinds.API_KEY if kind == LOOSE else kind, kinds.LAYER)


def _sent(document: Document) -> Iterator[SecretFinding]:
    """Yield what a script of expect answers a prompt for a password with."""
    text, low = document.text, document.low
    for at in document.places("send "):
        match = _SEND.match(text, at, at + 200)
        if match is None or "assword" not in low[max(0, at - 200) : match.end() + 80]:
            continue
        value = match.group("said")
        if not is_dummy(value) and not is_reference(value) and value not in ("yes", "exit"):
            yield SecretFinding(*match.span("said"), kinds.PASSWORD, kinds.LAYER)
