"""Where a bare value stands: on a line of its own as settings files have it, or right after the login it belongs to."""

from __future__ import annotations

import re
from typing import Final

from ltmem_gui.domain.redaction.typed import word_password

_LEAD: Final = re.compile(r"[ \t>|#*+-]*\Z")
_SECTION: Final = re.compile(r"^[ \t]*\[[^\]\n]{1,80}\][ \t]*$", re.MULTILINE)
_NEARBY: Final = 1_500
_LINE: Final = 400
_OPENS: Final = (",", "(", "{", "[", ";", "=>", "\\", "=", ":=")
_CLOSES: Final = (")", "}", "]")
_CODE: Final = re.compile(
    r"\b(?:def|class|function|return|import|interface|struct|public|private|const|let|var|fn|if|else|for|while)\b|[;{}()]"
)
_LOGIN: Final = re.compile(
    r"(?i)(?:\b|_)(?:user(?:[ _-]?(?:name|id))?|login|log-in|account|uid|usr|email|e-mail|benutzer(?:name)?|usuario"
    r"|utilisateur|identifiant|konto)\\*[\"'`*]{0,3}\s{0,3}[:=]?\s{0,3}\\*[\"'`*]{0,3}(?P<who>[^\s\"'`,;:=]{2,64})"
    r"\\*[\"'`*]{0,3}\s{0,3}[,;]?(?:\s|\\n){0,12}(?:[-*+>|]\s)?"
    r"(?:and|with|with the|using|using the|und|mit|y|et)?\s?\\*[\"'`*]{0,3}\Z"
)


def setting_line(text: str, start: int, end: int, separator: str, *, spaced: bool) -> bool:
    """Tell whether `name = value`, from `start` to `end`, is one setting on a line of its own, and not code."""
    head = text.rfind("\n", max(0, start - _LINE), start) + 1
    stop = text.find("\n", end, end + _LINE)
    tail = text[end : len(text) if stop < 0 else stop].strip()
    if _LEAD.search(text, head, start) is None or text[head:start].strip(" \t>|#*+-") or (tail and tail[0] != "#"):
        return False
    before = _line_before(text, head)
    after = text[stop + 1 : stop + _LINE].lstrip().partition("\n")[0] if stop >= 0 else ""
    if before.endswith(_OPENS) or after.startswith(_CLOSES) or _CODE.search(before) or _CODE.search(after):
        return False
    if separator == ":":
        return spaced and (text[start : start + 1].islower() or "_" in text[start:end].partition(":")[0])
    return not spaced or "." in text[start:end].partition("=")[0] or _in_section(text, head)


def after_login(text: str, start: int) -> bool:
    """Tell whether a login and its value stand right before `start`: what follows is its password."""
    match = _LOGIN.search(text, max(0, start - 140), start)
    return match is not None and not _is_type(match.group("who"))


def _is_type(word: str) -> bool:
    """Tell `username: string`, `user: required` from somebody's name: no word of a schema is one."""
    return len(word) >= 6 and word.isalpha() and not word_password(word.lower())


def _line_before(text: str, head: int) -> str:
    return text[max(0, head - _LINE) : max(0, head - 1)].rstrip().rpartition("\n")[2].rstrip()


def _in_section(text: str, head: int) -> bool:
    return _SECTION.search(text, max(0, head - _NEARBY), head) is not None
