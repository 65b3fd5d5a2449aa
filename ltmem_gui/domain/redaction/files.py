"""Secrets of known file forms and command lines, where the name stands apart from the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.context import acceptable
from ltmem_gui.domain.redaction.document import Document, occurrences
from ltmem_gui.domain.redaction.literals import read_literal
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random, password_like
from ltmem_gui.domain.redaction.vendors import windows
from ltmem_gui.domain.secrets import SecretFinding

_USER: Final = re.compile(
    r"(?:(?<![\w-])-u|(?<!-)--user|(?<!-)--proxy-user|(?<![\w-])-U)[ =]?"
    r"(\\*[\"']?)([^\s:\"'\\%]{1,64})[:%]([^\s\"'\\]{3,256})"
)
_CURL: Final = re.compile(r"(?:curl|wget|http|https|xh|smbclient|rpcclient|httpie)\b")
_SHORT_FLAGS: Final = (
    ("sshpass", re.compile(r"sshpass\s+-p\s*")),
    ("mysql", re.compile(r"mysql(?:dump|admin|import|show|check)?\b[^\n|;]{0,120}?\s-p(?=[^\s-])")),
    ("mariadb", re.compile(r"mariadb(?:-\w+)?\b[^\n|;]{0,120}?\s-p(?=[^\s-])")),
    ("redis-cli", re.compile(r"redis-cli\b[^\n|;]{0,120}?\s-a\s+")),
    ("ldap", re.compile(r"ldap(?:search|modify|add|delete|whoami|passwd)\b[^\n|;]{0,200}?\s-w\s*")),
    ("docker", re.compile(r"docker login\b[^\n|;]{0,120}?\s(?:-p|--password)[ =]")),
    ("podman", re.compile(r"podman login\b[^\n|;]{0,120}?\s-p[ =]")),
    ("az login", re.compile(r"az login\b[^\n|;]{0,160}?\s-p[ =]")),
    ("sqlcmd", re.compile(r"sqlcmd\b[^\n|;]{0,160}?\s-P\s*")),
    ("bcp ", re.compile(r"bcp\b[^\n|;]{0,160}?\s-P\s*")),
    ("mongo", re.compile(r"mongo(?:sh|dump|restore|import|export)?\b[^\n|;]{0,160}?\s-p[ =]")),
    ("htpasswd", re.compile(r"htpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+")),
    ("unzip", re.compile(r"unzip\s+-P\s*")),
    ("zip", re.compile(r"zip\s+(?:-\w+\s+)*-P\s*")),
    ("7z", re.compile(r"7z\w*\s[^\n|;]{0,120}?-p(?=[^\s-])")),
    ("-pass", re.compile(r"-pass(?:in|out)?\s+pass:")),
    ("-storepass", re.compile(r"-storepass\s+(?:pass:)?")),
    ("-keypass", re.compile(r"-keypass\s+(?:pass:)?")),
    ("net use", re.compile(r"net use\s+\S+(?:\s+\\\\\S+)?\s+(?=\S+\s+/user)")),
    ("/p:", re.compile(r"/p:(?=\S)")),
    ("identified", re.compile(r"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?(?=['\"])")),
    ("password", re.compile(r"(?i)password\s+(?=\\*['\"])")),
    ("aws configure set", re.compile(r"aws configure set\s+aws_(?:secret_access_key|session_token)\s+")),
    ("secret set", re.compile(r"secret set\s+\w+[^\n|;]{0,60}?(?:-b|--body)[ =]")),
    ("git config", re.compile(r"git config[^\n|;]{0,60}(?:token|password|secret|extraheader)\s+")),
    ("requirepass", re.compile(r"requirepass\s+")),
    ("masterauth", re.compile(r"masterauth\s+")),
    ("rabbitmqctl", re.compile(r"rabbitmqctl\s+(?:add_user|change_password)\s+\S+\s+")),
    ("set-password", re.compile(r"set-password[^\n|;]{0,40}\s")),
    ("convertto-securestring", re.compile(r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?(?=['\"])")),
)
_LOOKING_BACK: Final = (
    ("| chpasswd", re.compile(r"(?:\s|['\"])\w+:(?=\S+['\"]?\s*\Z)")),
    ("| sudo chpasswd", re.compile(r"(?:\s|['\"])\w+:(?=\S+['\"]?\s*\Z)")),
    ("| sudo -s", re.compile(r"echo\s+(?:-n\s+)?(?=\S+\s*\Z)")),
    ("password-stdin", re.compile(r"(?:echo|printf)\s+(?:-n\s+)?(?:'%s'\s+)?(?=\S+\s*\|[^\n|]*\Z)")),
)
_NETRC: Final = re.compile(
    r"(?:machine\s+\S+|\bdefault|\blogin\s+\S+)(?:\s+(?:login|account|user)\s+\S+)*\s+(?:password|passwd)\s+"
)
_PORT: Final = re.compile(r":(?:\d{4,5}|\*):")
_AFTER_PORT: Final = re.compile(r":[\d*]+:(?:[\w.*@-]|\\:)+:(?:[\w.*@-]|\\:)+:[^\s:]")
_PGPASS: Final = re.compile(
    r"[\w.*/\[\]-]+:(?:\d{4,5}|\*):(?:[\w.*-]|\\:)+:(?:[\w.*@-]|\\:)+:((?:[^\s\"'`\\:]|\\[:\\])+)(?=[\s\"'`\\|]|$)"
)
_PAIR: Final = re.compile(
    r"(?i)(?P<q>\\*[\"']?)(?:name|key|id|field|header|env|variable|type)(?P=q)\s{0,4}[:=]\s{0,4}(?P<q2>\\*[\"']?)(?P<name>[\w.-]{2,64})(?P=q2)"
    r"(?:[,;][^{}\[\]<>]{0,60}?)?(?:\s|\\n|,){0,40}(?:\\*[\"'])?(?:value|val|data|content|default)(?:\\*[\"'])?\s{0,4}[:=]\s{0,4}"
)
_ASSIGNS: Final = re.compile(r"(?:\\*[\"'])?\s{0,4}[:=]")
_K8S: Final = re.compile(r"kind:\s*[\"']?Secret\b|\"kind\":\s*\"Secret\"|kind:\s*SealedSecret")
_K8S_LINE: Final = re.compile(r"(?:^|\n|\\n)(?:[ \t]{1,12})([\w.-]{1,80}):[ \t]*([A-Za-z0-9+/]{6,}={0,2})(?=\s|\\n|$)")
_DATA: Final = re.compile(r"(?:^|\n|\\n)(?:stringData|data):")
_DOCKER_AUTH: Final = re.compile(
    r"(?:auth|identitytoken|registrytoken)(\\*\")\s{0,4}:\s{0,4}\1([A-Za-z0-9+/=_.-]{8,})(?=\1)"
)
_NPM_AUTH: Final = re.compile(r"_auth\s{0,2}=\s{0,2}\"?([A-Za-z0-9+/]{8,}={0,2})(?![\w.(\[=-])")
_KEY_DATA: Final = re.compile(r"[\w.-]+\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?([A-Za-z0-9+/]{40,}={0,2})")
_ENCODED: Final = (
    ('auth"', _DOCKER_AUTH, kinds.SECRET),
    ('auth\\"', _DOCKER_AUTH, kinds.SECRET),
    ("identitytoken", _DOCKER_AUTH, kinds.TOKEN),
    ("registrytoken", _DOCKER_AUTH, kinds.TOKEN),
    ("_auth", _NPM_AUTH, kinds.SECRET),
    ("client-key-data", _KEY_DATA, kinds.PRIVATE_KEY),
    ("tls.key", _KEY_DATA, kinds.PRIVATE_KEY),
    ("private_key", _KEY_DATA, kinds.PRIVATE_KEY),
    ("ssh-privatekey", _KEY_DATA, kinds.PRIVATE_KEY),
    ("id_rsa", _KEY_DATA, kinds.PRIVATE_KEY),
)


def file_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield secrets of command lines, `.netrc`, `.pgpass`, Kubernetes, Docker and name/value pairs."""
    text = document.text
    yield from _users(document)
    yield from _commands(document)
    for anchor in ("machine ", "default ", "login "):
        for at in document.places(anchor):
            match = _NETRC.match(text, at, at + 400)
            if match is not None:
                yield from _weak(text, match.end(), sure=anchor == "machine ")
    yield from _pgpass(text)
    yield from _pairs(document)
    yield from _kubernetes(text)
    for anchor, pattern, kind in _ENCODED:
        for at in occurrences(text, anchor):
            match = pattern.match(text, at)
            if match is None:
                continue
            group = match.lastindex or 0
            if not is_dummy(match.group(group)) and looks_random(match.group(group), 8):
                yield SecretFinding(*match.span(group), kind, kinds.LAYER)


def _pgpass(text: str) -> Iterator[SecretFinding]:
    tried = -1
    for at, _ in windows(text, _PORT):
        if _AFTER_PORT.match(text, at) is None:
            continue
        line = max(text.rfind(mark, max(0, at - 256), at) for mark in "\n\r\"'`| ") + 1
        escaped = text.rfind("\\n", line, at)
        start = line if escaped < 0 else escaped + 2
        match = _PGPASS.match(text, start, at + 600) if start != tried else None
        tried = start
        if match is not None and _pgpass_value(match.group(1)):
            yield SecretFinding(match.start(1), match.end(1), kinds.PASSWORD, kinds.LAYER)


def _pgpass_value(value: str) -> bool:
    return len(value) >= 4 and not is_dummy(value) and not value.isdigit() and not is_reference(value)


def _weak(text: str, position: int, *, sure: bool = True) -> Iterator[SecretFinding]:
    """Yield the value at a place where nothing but a password can stand; less than `sure`, it has to look like one."""
    literal = read_literal(text, position, line=True)
    if literal is None:
        return
    value = text[literal.start : literal.end]
    if len(value) < 4 or is_dummy(value) or (is_reference(value) and not looks_random(value, 10)):
        return
    if sure or password_like(value, quoted=True):
        yield SecretFinding(literal.start, literal.end, kinds.PASSWORD, kinds.LAYER)


def _users(document: Document) -> Iterator[SecretFinding]:
    text, low = document.text, document.low
    for flag in ("-u", "--user", "--proxy-user", "-U"):
        for at in occurrences(text, flag):
            match = _USER.match(text, at, at + 400)
            if match is not None and _CURL.search(low, max(0, low.rfind("\n", 0, at)), at):
                start, end = match.span(3)
                if not is_dummy(text[start:end]) and not is_reference(text[start:end]):
                    yield SecretFinding(start, end, kinds.PASSWORD, kinds.LAYER)


def _commands(document: Document) -> Iterator[SecretFinding]:
    text = document.text
    for marker, pattern in _SHORT_FLAGS:
        for at in document.places(marker):
            match = pattern.match(text, at, at + 300)
            if match is not None:
                yield from _weak(text, match.end(), sure=marker not in ("identified", "password"))
    for marker, pattern in _LOOKING_BACK:
        for at in document.places(marker):
            match = pattern.search(text, max(0, at - 120), at)
            if match is not None:
                yield from _weak(text, match.end())


def _pairs(document: Document) -> Iterator[SecretFinding]:
    text = document.text
    for stem in ("value", 'val"', 'content"', "default"):
        for at in document.places(stem):
            if _ASSIGNS.match(text, at + len(stem)) is None:
                continue
            left = max(0, at - 140)
            for match in _PAIR.finditer(text, left, at + 24):
                if match.end() < at:
                    continue
                kind = name_kind(match.group("name"))
                literal = read_literal(text, match.end())
                if kind is None or literal is None:
                    break
                value = text[literal.start : literal.end]
                if acceptable(value, kind, match.group("name"), quoted=literal.quoted, shell=True):
                    out = kinds.API_KEY if kind == LOOSE else kind
                    yield SecretFinding(literal.start, literal.end, out, kinds.LAYER)
                break


def _kubernetes(text: str) -> Iterator[SecretFinding]:
    if "Secret" not in text or "data" not in text:
        return
    reached = 0
    for start, _ in windows(text, _K8S):
        for data in _DATA.finditer(text, max(reached, start - 4000), start + 4000):
            if data.start() < reached:
                continue
            reached = data.end()
            while (line := _K8S_LINE.match(text, reached)) is not None:
                if not is_dummy(line.group(2)) and len(line.group(2)) % 4 == 0:
                    yield SecretFinding(line.start(2), line.end(2), kinds.SECRET, kinds.LAYER)
                reached = line.end()
