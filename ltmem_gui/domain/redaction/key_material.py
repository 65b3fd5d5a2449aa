"""Private keys in every wrapping: PEM (escaped, commented, cut), PuTTY, SSH2, JWK, WireGuard, base64 of PEM."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document, occurrences
from ltmem_gui.domain.redaction.values import is_dummy
from ltmem_gui.domain.secrets import SecretFinding

_LONGEST: Final = 65_536
_BEGIN: Final = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: [A-Z]+)? ?-{4,5}")
_END: Final = re.compile(r"[^A-Za-z0-9+/=]{0,24}-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY")
_GAP: Final = r"(?:\\{1,8}[nrt]|[\s>#*|;\"',+/.:-]|//|\\\r?\n|<br ?/?>|&#10;|\\{1,8}u000[aAdD])"
_HEADERS: Final = re.compile(
    rf"(?:{_GAP}{{0,24}}(?:Proc-Type|DEK-Info|Comment|Version|Subject|X-[\w-]+|Charset|Hash)\s?:[^\n\\]{{0,120}}(?:\\+n|\\+r|\r?\n))+"
)
_BODY_LINE: Final = re.compile(rf"(?:{_GAP}){{0,24}}([A-Za-z0-9+/=]{{1,16384}}|(?:\\/|[A-Za-z0-9+/=])+)")
_PUTTY: Final = re.compile(r"Private-Lines: (\d{1,4})(?:\r?\n|\\r\\n|\\n)")
_JWK: Final = re.compile(r"(\\*\")(?:d|p|q|dp|dq|qi|k)\1\s{0,4}:\s{0,4}\1([A-Za-z0-9_-]{16,2048})\1")
_WIREGUARD: Final = re.compile(
    r"(?i)(?:private|preshared)_?key\\*[\"']?\s{0,4}[=:]\s{0,4}\\*[\"']?([A-Za-z0-9+/]{42,43}={1,2})"
)
_INSIDE: Final = re.compile(r"[A-Za-z0-9+/]\Z")
_BASE64_PEM: Final = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/_-]{30,}={0,2}")


def key_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield the secret part of private keys; BEGIN and END lines stay."""
    text = document.text
    for at in occurrences(text, "BEGIN "):
        yield from _pem(text, at)
    for at in occurrences(text, "Private-Lines: "):
        yield from _putty(text, at)
    if '"kty' in text or '\\"kty' in text:
        yield from _jwk(text)
    for stem in ("privatekey", "presharedkey", "private_key", "preshared_key"):
        for at in document.places(stem):
            match = _WIREGUARD.match(text, at)
            if match is not None and not is_dummy(match.group(1)):
                yield SecretFinding(match.start(1), match.end(1), kinds.PRIVATE_KEY, kinds.LAYER)
    for at in occurrences(text, "LS0tLS1CRUdJTi"):
        match = _BASE64_PEM.match(text, at) if not _INSIDE.search(text, max(0, at - 1), at) else None
        if match is not None and _decodes_to_key(match.group()):
            yield SecretFinding(match.start(), match.end(), kinds.PRIVATE_KEY, kinds.LAYER)


def _pem(text: str, at: int) -> Iterator[SecretFinding]:
    begin = (
        _BEGIN.match(text, max(0, at - 5)) or _BEGIN.match(text, max(0, at - 6)) or _BEGIN.match(text, max(0, at - 4))
    )
    if begin is None:
        return
    position = begin.end()
    headers = _HEADERS.match(text, position)
    position = headers.end() if headers is not None else position
    start = end = -1
    while position - begin.end() < _LONGEST:
        if _END.match(text, position):
            break
        line = _BODY_LINE.match(text, position)
        if line is None or not _is_body(line.group(1), start):
            break
        start = line.start(1) if start < 0 else start
        end = position = line.end(1)
    if start >= 0 and end - start >= 16 and not is_dummy(text[start:end][:64]):
        yield SecretFinding(start, end, kinds.PRIVATE_KEY, kinds.LAYER)


def _is_body(line: str, start: int) -> bool:
    """Tell a line of base64 from the words after a key that was cut off."""
    if len(line) >= 40 or line.endswith("="):
        return True
    if start < 0:
        return len(line) >= 12
    return len(line) >= 4 and any(c.isupper() or c.isdigit() or c in "+/" for c in line[1:])


def _putty(text: str, at: int) -> Iterator[SecretFinding]:
    head = _PUTTY.match(text, at)
    if head is None:
        return
    position, start = head.end(), head.end()
    for _ in range(min(int(head.group(1)), 500)):
        line = re.compile(r"([A-Za-z0-9+/=]+)(?:\r?\n|\\r\\n|\\n|$)").match(text, position)
        if line is None:
            break
        position = line.end()
    end = start + len(text[start:position].rstrip("\r\n"))
    if end > start:
        yield SecretFinding(start, end, kinds.PRIVATE_KEY, kinds.LAYER)


def _jwk(text: str) -> Iterator[SecretFinding]:
    reached = 0
    for at in occurrences(text, '"kty'):
        left, right = max(reached, at - 3000), at + 3000
        reached = right
        for match in _JWK.finditer(text, left, right):
            yield SecretFinding(match.start(2), match.end(2), kinds.PRIVATE_KEY, kinds.LAYER)


def _decodes_to_key(value: str) -> bool:
    head = value[:80][: len(value[:80]) // 4 * 4]
    return b"PRIVATE KEY" in base64.b64decode(head, altchars=b"-_" if "-" in value else None)
