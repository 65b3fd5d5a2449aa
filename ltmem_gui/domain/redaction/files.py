"""Secrets of known file forms, where the name stands apart from the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.commands import weak
from ltmem_gui.domain.redaction.context import acceptable
from ltmem_gui.domain.redaction.document import Document, occurrences
from ltmem_gui.domain.redaction.literals import read_literal
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.values import is_dummy, is_reference, looks_random
from ltmem_gui.domain.redaction.vendors import windows
from ltmem_gui.domain.secrets import SecretFinding

_NETRC: Final = re.compile(
    r"(?:machine\s+\S+|\bdefault|\blogin\s+\S+)(?:\s+(?:login|account|user)\s+\S+)*\s+(?:password|passwd)\s+"
)
_PORT: Final = re.compile(r":(?:\d{4,5}|\*):")
_AFTER_PORT: Final = re.compile(r":[\d*]+:(?:[\w.*@-]|\\:)+:(?:[\w.*@-]|\\:)+:[^\s:]")
_PGPASS: Final = re.compile(
    r"[\w.*/\[\]-]+:(?:\d{4,5}|\*):(?:[\w.*-]|\\:)+:(?:[\w.*@-]|\\:)+:((?:[^\s\"'`\\:]|\\[:\\])+)(?=[\s\"'`\\|]|$)"
)
_PAIR: Final = re.compile(
    r"(?i)(?P<q>\\*[\"']?)(?:name|key|id|field|header|env|variable|type)(?P=q)(?:\s{0,4}[:=]\s{0,4}|\s(?=\"))(?P<q2>\\*[\"']?)(?P<name>[\w.-]{2,64})(?P=q2)"
    r"(?:[,;][^{}\[\]<>]{0,60}?|\s{0,4}\{[^{}\[\]<>]{0,120}?)?(?:\s|\\n|,){0,40}(?:\\*[\"'])?(?:value|val|data|content|default)(?:\\*[\"'])?\s{0,4}[:=]\s{0,4}"
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
    """Yield secrets of `.netrc`, `.pgpass`, Kubernetes, Docker and name/value pairs."""
    text = document.text
    for anchor in ("machine ", "default ", "login "):
        for at in document.places(anchor):
            match = _NETRC.match(text, at, at + 400)
            if match is not None:
                yield from weak(text, match.end(), sure=anchor == "machine ")
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
            reached = data.end()
            while (line := _K8S_LINE.match(text, reached)) is not None:
                if not is_dummy(line.group(2)) and len(line.group(2)) % 4 == 0:
                    yield SecretFinding(line.start(2), line.end(2), kinds.SECRET, kinds.LAYER)
                reached = line.end()
