"""Secrets of known file forms and command lines, where the name stands apart from the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.context import acceptable
from ltmem_gui.domain.redaction.literals import Literal, read_literal
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random
from ltmem_gui.domain.redaction.vendors import occurrences, windows
from ltmem_gui.domain.secrets import SecretFinding

_FLAG: Final = re.compile(r"(?<![\w-])--?([A-Za-z][\w-]{1,40})[ \t]+(?=[^\s-])")
_USER: Final = re.compile(
    r"(?:(?<![\w-])-u|--user|--proxy-user|-U)[ =]?(\\*[\"']?)([^\s:\"'\\%]{1,64})[:%]([^\s\"'\\]{3,256})"
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
    ("openssl", re.compile(r"-pass(?:in|out)?\s+pass:")),
    ("keytool", re.compile(r"-(?:store|key)pass\s+(?:pass:)?")),
    ("net use", re.compile(r"net use\s+\S+(?:\s+\\\\\S+)?\s+(?=\S+\s+/user)")),
    ("xfreerdp", re.compile(r"/p:")),
    ("identified", re.compile(r"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?(?=['\"])")),
    ("password", re.compile(r"(?i)password\s+(?=\\*['\"])")),
    ("chpasswd", re.compile(r"(?:\s|['\"])\w+:(?=\S+['\"]?\s*\|\s*(?:sudo )?chpasswd)")),
    ("aws configure set", re.compile(r"aws configure set\s+aws_(?:secret_access_key|session_token)\s+")),
    ("secret set", re.compile(r"secret set\s+\w+[^\n|;]{0,60}?(?:-b|--body)[ =]")),
    ("git config", re.compile(r"git config[^\n|;]{0,60}(?:token|password|secret|extraheader)\s+")),
    ("set-password", re.compile(r"set-password[^\n|;]{0,40}\s")),
    ("asplaintext", re.compile(r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?(?=['\"])")),
    ("password-stdin", re.compile(r"(?:echo|printf)\s+(?:-n\s+)?(?:'%s'\s+)?(?=\S+\s*\|[^\n]*password-stdin)")),
    ("sudo -s", re.compile(r"echo\s+(?:-n\s+)?(?=\S+\s*\|\s*sudo -S)")),
)
_NETRC: Final = re.compile(
    r"(?:machine\s+\S+|\bdefault|\blogin\s+\S+)(?:\s+(?:login|account|user)\s+\S+)*\s+(?:password|passwd)\s+"
)
_PGPASS: Final = re.compile(
    r"(?:^|(?<=[\n\r\"'`|])|(?<=\\n))[\w.*/\[\]-]+:(?:\d{2,5}|\*):(?:[\w.*-]|\\:)+:(?:[\w.*@-]|\\:)+:((?:[^\s\"'`\\:]|\\[:\\])+)"
    r"(?=[\s\"'`\\|]|$)"
)
_PAIR: Final = re.compile(
    r"(?i)(?P<q>\\*[\"']?)(?:name|key|id|field|header|env|variable)(?P=q)\s{0,4}[:=]\s{0,4}(?P<q2>\\*[\"']?)(?P<name>[\w.-]{2,64})(?P=q2)"
    r"(?:,|;)?(?:\s|\\n){0,40}(?:\\*[\"'])?(?:value|val|data|content|secret|default)(?:\\*[\"'])?\s{0,4}[:=]\s{0,4}"
)
_K8S: Final = re.compile(r"kind:\s*[\"']?Secret\b|\"kind\":\s*\"Secret\"|kind:\s*SealedSecret")
_K8S_LINE: Final = re.compile(r"(?:^|\n|\\n)(?:[ \t]{1,12})([\w.-]{1,80}):[ \t]*([A-Za-z0-9+/]{6,}={0,2})(?=\s|\\n|$)")
_DATA: Final = re.compile(r"(?:^|\n|\\n)(?:stringData|data):")
_DOCKER_AUTH: Final = re.compile(
    r"(\\*\")_?(?:auth|identitytoken|registrytoken)\1\s{0,4}:\s{0,4}\1([A-Za-z0-9+/=_.-]{8,})\1"
)
_NPM_AUTH: Final = re.compile(r"(?m)_auth\s{0,2}=\s{0,2}\"?([A-Za-z0-9+/]{8,}={0,2})")
_CLIENT_KEY: Final = re.compile(
    r"(?:client-key-data|tls\.key|private_key|ssh-privatekey|id_rsa)\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?([A-Za-z0-9+/]{40,}={0,2})"
)


def file_findings(text: str, low: str) -> Iterator[SecretFinding]:
    """Yield secrets of command lines, `.netrc`, `.pgpass`, Kubernetes, Docker and name/value pairs."""
    yield from _flags(text, low)
    yield from _commands(text, low)
    if "login" in low or "machine" in low:
        for start, end in windows(text, _NETRC):
            del start
            yield from _weak(text, end)
    if ":*:" in text or ":5432:" in text or "pgpass" in low or ":543" in text:
        for match in _all(text, _PGPASS):
            if not is_dummy(match.group(1)) and not match.group(1).isdigit() and len(match.group(1)) >= 4:
                yield SecretFinding(match.start(1), match.end(1), kinds.PASSWORD, kinds.LAYER)
    yield from _pairs(text, low)
    yield from _kubernetes(text)
    for marker, pattern in (
        ('auth"', _DOCKER_AUTH),
        ('auth\\"', _DOCKER_AUTH),
        ("_auth", _NPM_AUTH),
        ("key", _CLIENT_KEY),
        ("id_rsa", _CLIENT_KEY),
    ):
        if marker in text:
            for match in _all(text, pattern):
                group = match.lastindex or 0
                if not is_dummy(match.group(group)):
                    kind = kinds.PRIVATE_KEY if pattern is _CLIENT_KEY else kinds.SECRET
                    yield SecretFinding(match.start(group), match.end(group), kind, kinds.LAYER)


def _all(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    for start, end in windows(text, pattern):
        match = pattern.match(text, start, end) or pattern.match(text, start)
        if match is not None:
            yield match


def _weak(text: str, position: int, kind: str = kinds.PASSWORD) -> Iterator[SecretFinding]:
    """Yield the value at a place where nothing but a password can stand."""
    literal = read_literal(text, position, line=True)
    if literal is None:
        return
    value = text[literal.start : literal.end]
    if len(value) >= 4 and not is_dummy(value) and not (is_reference(value) and not looks_random(value, 10)):
        yield SecretFinding(literal.start, literal.end, kind, kinds.LAYER)


def _flags(text: str, low: str) -> Iterator[SecretFinding]:
    for at in occurrences(text, " -"):
        match = _FLAG.match(text, at + 1)
        if match is None:
            continue
        kind = name_kind(match.group(1))
        if kind is None or kind == LOOSE or (len(match.group(1)) < 4):
            continue
        literal = read_literal(text, match.end(), line=True)
        if literal is not None and _flag_value(text, literal, kind, match.group(1)):
            yield SecretFinding(literal.start, literal.end, kind, kinds.LAYER)
    if "curl" in low or "user" in low or "smbclient" in low or "http" in low:
        for at in occurrences(text, "-"):
            match = _USER.match(text, at)
            if match is not None and _CURL.search(low, max(0, low.rfind("\n", 0, at)), at):
                start, end = match.span(3)
                if not is_dummy(text[start:end]) and not is_reference(text[start:end]):
                    yield SecretFinding(start, end, kinds.PASSWORD, kinds.LAYER)


def _flag_value(text: str, literal: Literal, kind: str, name: str) -> bool:
    value = text[literal.start : literal.end]
    return acceptable(value, kind, name, quoted=literal.quoted, shell=True)


def _commands(text: str, low: str) -> Iterator[SecretFinding]:
    for marker, pattern in _SHORT_FLAGS:
        if marker in low:
            for _, end in windows(text, pattern):
                yield from _weak(text, end)


def _pairs(text: str, low: str) -> Iterator[SecretFinding]:
    for stem in ("value", 'val"', 'content"', "default"):
        for at in occurrences(low, stem):
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
    for match in _K8S.finditer(text):
        for data in _DATA.finditer(text, max(0, match.start() - 4000), match.start() + 4000):
            position = data.end()
            while (line := _K8S_LINE.match(text, position)) is not None:
                if not is_dummy(line.group(2)) and len(line.group(2)) % 4 == 0:
                    yield SecretFinding(line.start(2), line.end(2), kinds.SECRET, kinds.LAYER)
                position = line.end()
