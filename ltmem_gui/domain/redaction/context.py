"""Assignments in any syntax: a name that announces a secret, a separator, and a value that can be one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.literals import Literal, read_literal
from ltmem_gui.domain.redaction.names import LOOSE, STEMS, code_of, name_kind
from ltmem_gui.domain.redaction.places import after_login, setting_line
from ltmem_gui.domain.redaction.states import tells_state
from ltmem_gui.domain.redaction.typed import short_code, word_password
from ltmem_gui.domain.redaction.values import (
    is_dummy,
    is_reference,
    looks_random,
    passphrase_like,
    password_like,
    random_share,
)
from ltmem_gui.domain.redaction.words import word_set
from ltmem_gui.domain.secrets import SecretFinding

_NAME: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LONGEST_NAME: Final = 64
_GAP: Final = r"(?:[ \t]|\\t|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[\d;]*[A-Za-z])"
_AFTER: Final = re.compile(
    rf"""
    (?P<quote>\\*["'`]|&quot;|&\#39;|\*\*|__|\\u0022)?
    (?P<bracket>\s?[\])])?
    (?:\s?[\[(（][\w\ ,.'/-]{{1,32}}[\])）](?=\s?[:=：]))?
    (?P<type>\s{{0,4}}:\s{{0,4}}(?:&(?:'\w+\s)?)?[A-Za-z_][\w.\[\],\ |<>?]{{0,48}}?(?=\s{{0,4}}=\s{{0,4}}[^\s=])
     |\s{{1,4}}[*\[\]]{{0,3}}[a-z][\w.]{{1,20}}(?=\s{{0,4}}=\s{{0,4}}["`]))?
    (?:(?:{_GAP}|[\n\r\f\v]){{0,24}}(?P<sep>=>|:=|\?=|\|\|=|===?|!==?|=|::?|[：＝]|->|→|<-|\||,|>|\()|(?P<blank>\s{{1,4}}))
    (?:\*\*|__)?(?P<space>{_GAP}{{0,24}})
    """,
    re.VERBOSE,
)
_IN_TAG: Final = re.compile(r"<(?:[A-Za-z][\w.-]{0,10}:)?\Z")
_TAG: Final = re.compile(r"(?:\s[^<>\n]{0,160})?>")
_SCHEME: Final = re.compile(
    r"(?i)(?:bearer|basic|token|apikey|api-key|bot|digest|negotiate|ssws|key|oauth)[ ]+(?=[^\s=:])"
)
_NEXT_LINE: Final = re.compile(r"(?:\\?\r?\n|\\r\\n|\\n)[ \t]{0,40}(?=\\*[\"'])|(?:[>|][+-]?)\r?\n[ \t]{1,40}(?=\S)")
_ENV_LINE: Final = re.compile(r"(?:^|[\n\r\"'`]|\\n|-e |--env |--set |ENV |export |setx? |\bARG |[+\-] ?|\$ )\s*\Z")
_DIRECTIVE: Final = re.compile(
    r"(?:(?<![\w-])--?|(?:^|\s)(?:ENV|ARG|setx|set(?: -\w+)?|export|config set)\s+)(?:[\w.-]{0,8})\Z"
)
_APART: Final = re.compile(r"(?i)(?<![\w-])(api|access|secret|auth|private|client|bot|signing|license|encryption)[ ]\Z")
_AUTH_PAIR: Final = re.compile(r"\s?=?\s?\(\s*[\"'][^\"'\n]{0,64}[\"']\s*,\s*[\"']([^\"'\n]{4,128})[\"']")
_ARGUMENT: Final = re.compile(
    r"(?:(?:^|\s)-{1,2}[A-Za-z][\w-]*[ =]?|(?:^|\s)-o \S{0,60},|\becho\s+(?:-\w+\s+)?)[\"']?\Z"
)
_CELLS: Final = word_set("sometimes depends planned partial supported")
_NEXT_FLAG: Final = re.compile(r"-{1,2}[A-Za-z]")
_SHELL_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")


def assignment_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield values assigned to names that announce a secret."""
    text = document.text
    done: set[int] = set()
    for stem in STEMS:
        for at in document.places(stem):
            end = _name_end(text, at + len(stem))
            if end in done:
                continue
            if stem == "auth" and (pair := _pair_of_auth(text, end)) is not None:
                done.add(end)
                yield pair
                continue
            after = _AFTER.match(text, end)
            if after is None:
                continue
            done.add(end)
            start = _name_start(text, at)
            name = text[start:end].strip(".-")
            apart = _APART.search(text, max(0, start - 12), start) if len(name) <= 6 else None
            if apart is not None:
                start, name = apart.start(), f"{apart.group(1)}_{name}"
            kind = name_kind(name) if len(name) <= _LONGEST_NAME else None
            if kind is not None:
                found = _judge(text, (start, end), name, after, kind)
                if found is not None:
                    yield found


def _name_start(text: str, at: int) -> int:
    left = max(0, at - _LONGEST_NAME)
    start = at - (at - left - len(text[left:at].rstrip(_NAME)))
    return start + 1 if start < at and text[start] in "ntr" and text[max(0, start - 1)] == "\\" else start


def _name_end(text: str, at: int) -> int:
    piece = text[at : at + _LONGEST_NAME]
    return at + len(piece) - len(piece.lstrip(_NAME))


def _judge(text: str, span: tuple[int, int], name: str, after: re.Match[str], kind: str) -> SecretFinding | None:
    separator = after.group("sep")
    position = after.end()
    before = text[max(0, span[0] - 40) : span[0]]
    if _IN_TAG.search(before) is not None and (tag := _TAG.match(text, span[1])) is not None:
        return _element(text, tag.end(), kind, name, before)
    if separator is None:
        return _directive(text, position, kind, name, before, flag=text.startswith("-", span[0]))
    if kind == kinds.PASSWORD and code_of(name) == "code" and separator not in (":", "=", "=>", ":="):
        return None
    if separator == ":" and (before.endswith(":") or before.rstrip(_NAME).endswith("//")):
        return None
    if separator == ">":
        return _element(text, position, kind, name, before)
    if separator == "|":
        literal = read_literal(text, position) if after.group("space") else None
        value = text[literal.start : literal.end] if literal is not None else ""
        if literal is not None and kind == kinds.PASSWORD and word_password(value, capitals=False):
            row = text[literal.end : literal.end + 3].lstrip(" `").startswith("|")
            return _finding(text, literal, kind, name, sure=row and value not in _CELLS)
        return _finding(text, literal, kind, name) if literal is not None else None
    if separator in (",", "(", "==", "===", "!=", "!=="):
        literal = read_literal(text, position)
        bare_key = after.group("quote") is None and not before.endswith(":")
        if literal is None or not literal.quoted or (separator == "," and bare_key):
            return None
        words = _SHELL_NAME.match(name) is not None and not bare_key
        return _finding(text, literal, kind, name, strict=kind != kinds.PASSWORD, words=words)
    return _assigned(text, after, kind, name, before, span)


def _directive(text: str, position: int, kind: str, name: str, before: str, *, flag: bool) -> SecretFinding | None:
    """Judge `--token v`, `ENV TOKEN v`, `setx TOKEN v`: only a blank between name and value."""
    literal = read_literal(text, position, line=True) if kind != LOOSE else None
    if literal is None:
        return None
    if flag or _DIRECTIVE.search(before):
        if not literal.quoted and _NEXT_FLAG.match(text, literal.start) is not None:
            return None
        # Two blanks or a line break: what follows is a column of help, and a plain word there is no value.
        words = not text[literal.start - 2 : literal.start].isspace() and "\n" not in text[position - 4 : position]
        return _finding(text, literal, kind, name, shell=True, words=words)
    value = text[literal.start : literal.end]
    made = "_" in name and looks_random(value, 20) and sum(char.isdigit() for char in value) >= 2
    return _finding(text, literal, kind, name, strict=True) if made else None


def _assigned(
    text: str, after: re.Match[str], kind: str, name: str, before: str, span: tuple[int, int]
) -> SecretFinding | None:
    separator = after.group("sep")
    position = after.end()
    moved = _NEXT_LINE.match(text, position)
    position = moved.end() if moved is not None else position
    if text[position : position + 1] == "(" and text[position + 1 : position + 2] in "\"'\n ":
        inside = re.compile(r"\(\s{0,20}").match(text, position)
        position = inside.end() if inside is not None else position
    scheme = _SCHEME.match(text, position)
    line = separator == "=" and not after.group("space") and _ENV_LINE.search(before) is not None
    quote = read_literal(text, position, line=line)
    if quote is not None and quote.quoted and (inner := _SCHEME.match(text, quote.start)) is not None:
        quote = Literal(min(inner.end(), quote.end), quote.end, quote.quote)
    elif scheme is not None:
        quote = read_literal(text, scheme.end(), line=line)
    if quote is None:
        return None
    if before.endswith(("?", "&", "#")) and not quote.quoted:
        cut = re.search(r"[&#]", text[quote.start : quote.end])
        quote = Literal(quote.start, quote.start + cut.start(), "") if cut is not None else quote
    shell = line and _SHELL_NAME.match(name.rpartition(".")[2]) is not None
    sure = kind == kinds.PASSWORD and not quote.quoted and _is_sure(text, after, quote, before, span)
    return _finding(text, quote, kind, name, shell=shell, sure=sure)


def _is_sure(text: str, after: re.Match[str], literal: Literal, before: str, span: tuple[int, int]) -> bool:
    """Tell whether nothing but a password can stand here, so that a plain word is one."""
    separator, spaced = after.group("sep"), bool(after.group("space"))
    if separator not in ("=", ":"):
        return False
    if separator == "=" and not spaced and (text.startswith("-", span[0]) or _ARGUMENT.search(before) is not None):
        return True
    if after_login(text, span[0]):
        return True
    value = text[literal.start : literal.end]
    return word_password(value, capitals=False) and setting_line(text, span[0], literal.end, separator, spaced=spaced)


def _pair_of_auth(text: str, end: int) -> SecretFinding | None:
    """Judge `auth=("user", "password")` and `HTTPBasicAuth("user", "password")`."""
    match = _AUTH_PAIR.match(text, end)
    if match is None or not acceptable(match.group(1), kinds.PASSWORD, "password", quoted=True):
        return None
    return SecretFinding(*match.span(1), kinds.PASSWORD, kinds.LAYER)


def _element(text: str, position: int, kind: str, name: str, before: str) -> SecretFinding | None:
    """Judge `<password>value</password>`."""
    if not before.rstrip(_NAME).endswith(("<", ":", '="', "='")):
        return None
    close = text.find("<", position, position + 4096)
    if close < 0 or not text.startswith("</", close):
        return None
    body = text[position:close]
    left = position + len(body) - len(body.lstrip())
    literal = Literal(left, left + len(body.strip()), ">")
    return _finding(text, literal, kind, name)


def _finding(
    text: str,
    literal: Literal,
    kind: str,
    name: str,
    *,
    strict: bool = False,
    shell: bool = False,
    sure: bool = False,
    words: bool = True,
) -> SecretFinding | None:
    value = text[literal.start : literal.end]
    if not acceptable(value, kind, name, quoted=literal.quoted, strict=strict, shell=shell, sure=sure, words=words):
        return None
    return SecretFinding(literal.start, literal.end, kinds.API_KEY if kind == LOOSE else kind, kinds.LAYER)


def acceptable(
    value: str,
    kind: str,
    name: str,
    *,
    quoted: bool,
    strict: bool = False,
    shell: bool = False,
    sure: bool = False,
    words: bool = True,
) -> bool:
    """Tell whether a value can be the secret that its name announces.

    `shell` marks `NAME=value` of env files and shells, where nothing but a value can stand; `sure` marks other such
    places; `strict` asks for a random look whatever the name, and without `words` no plain word is a password.
    """
    code = code_of(name)
    if code and short_code(value, sure=quoted or shell):
        return not strict
    if code in ("pin", "code") or len(value) < 4 or len(value) > 8192 or is_dummy(value) or "[REDACTED" in value:
        return False
    number = kind == kinds.PASSWORD and value.isdigit()
    if not number and is_reference(value) and not (quoted and looks_random(value, 12)):
        return False
    if kind == LOOSE:
        return _loose(value, name, shell=shell)
    if kind == kinds.PASSWORD and not strict:
        typed = words and (quoted or shell or sure)
        if typed and word_password(value, capitals=shell or sure):
            return True
        return _password(value, quoted=quoted, shell=shell or sure)
    if kind == kinds.SECRET and (passphrase_like(value) or (shell and password_like(value, quoted=False))):
        return True
    if " " in value and quoted:
        return False
    least = 8 if quoted or shell else 10
    return looks_random(value, least)


def _loose(value: str, name: str, *, shell: bool) -> bool:
    if not looks_random(value, 16 if shell else 20) or " " in value:
        return False
    if re.search(r"(?:^|[-_:.])[0-9a-f]{32,64}$", value):
        return shell and name.isupper() and re.fullmatch(r"[0-9a-f]+", value) is not None
    return random_share(value) >= 0.8 and sum(c.isdigit() for c in value) >= 2


def _password(value: str, *, quoted: bool, shell: bool) -> bool:
    if passphrase_like(value) and quoted:
        return True
    if value.isalpha() and not shell and tells_state(value):
        return False
    if value.isdigit() and (quoted or shell):
        return 6 <= len(value) <= 16
    if value.lower().startswith(("pass", "pwd", "self", "secret")) and not re.search(r"[^\w.]", value) and not quoted:
        return sum(c.isdigit() for c in value) >= 3
    if password_like(value, quoted=quoted or shell):
        return True
    return shell and len(value) >= 8 and looks_random(value, 8)
