"""Check what a model cites against the rollout it read: place, thread, and whether the words are there.

A model may point anywhere. Each `rollout:<thread id>:<start>-<end>` in its reply is looked up in the items it was
given; what is not there, or does not say what the bullet says, is flagged for a person and never repaired.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.extraction import StageOneReply
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import RolloutItem

QUOTE_LIKENESS = 85.0
"""A quotation is there when its best stretch of the cited text is this alike (0–100)."""

WORDS_SHARED = 0.34
"""A bullet without quotation shares at least this part of its telling words with the cited text."""

MIN_QUOTE = 8

_REFERENCE = re.compile(r"rollout:([^\s:]+):(\d{1,10})-(\d{1,10})(?:\s*\|note=\[\s*(?:c(\d{1,6}))?)?")
_CLAIM = re.compile(r"\[c?(\d{1,6})\]\s*\Z")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」|`([^`\n]+)`")
_WORD = re.compile(r"[^\W_\u4e00-\u9fff]{4,}|[\u4e00-\u9fff]")


def lines_of(items: Sequence[RolloutItem]) -> dict[int, str]:
    """Return place → text of what a reply may cite; several items on one line are joined."""
    lines: dict[int, str] = {}
    for item in items:
        place = item.line if item.line is not None else item.row
        if place is not None:
            lines[place] = f"{lines[place]}\n{item.text}" if place in lines else item.text
    return lines


def references_supported(reply: StageOneReply, thread_id: str, lines: Mapping[int, str]) -> tuple[Finding, ...]:
    """Return a finding for every reference that does not hold, and one when a reply cites nothing at all.

    `lines` maps places (physical lines, rows for a database) to the text the model was given there. `Finding.line`
    counts 0x0A from 1 in the field named by `Finding.path`.
    """
    if reply.is_no_op:
        return ()
    found: list[Finding] = []
    cited = 0
    for field, text in (("raw_memory", reply.raw_memory), ("rollout_summary", reply.rollout_summary)):
        bullets = _bullets(text)
        for number, row in enumerate(text.split("\n"), 1):
            for match in _REFERENCE.finditer(row):
                cited += 1
                claim = match[4] or _listed(row)
                problem = _problem(match, bullets.get(claim or "", ""), thread_id, lines)
                if problem:
                    found.append(_finding(field, number, problem))
    if not cited:
        found.append(_finding("raw_memory", None, ("uncited", "the reply cites no line of the rollout")))
    return tuple(found)


def _problem(match: re.Match[str], bullet: str, thread_id: str, lines: Mapping[int, str]) -> tuple[str, str] | None:
    place = match[0].partition(" ")[0]
    start, end = int(match[2]), int(match[3])
    if match[1].lower() != thread_id.lower():
        return "unresolved-citation", f"{place} names another session than the one that was read"
    if start == 0 or start > end:
        return "unresolved-citation", f"{place} is no range of lines"
    cited = "\n".join(text for line, text in lines.items() if start <= line <= end)
    if not cited:
        return "unresolved-citation", f"{place} holds nothing the model was given"
    if bullet and not _says(cited, bullet):
        return "unsupported", f"{place} does not say: {one_line(bullet, 120)}"
    return None


def _says(cited: str, bullet: str) -> bool:
    quotes = [next(part for part in match.groups() if part) for match in _QUOTED.finditer(bullet)]
    quotes = [quote for quote in quotes if len(quote) >= MIN_QUOTE]
    text = " ".join(cited.split()).lower()
    if quotes:
        return all(fuzz.partial_ratio(" ".join(quote.split()).lower(), text) >= QUOTE_LIKENESS for quote in quotes)
    words = {word.lower() for word in _WORD.findall(bullet)}
    if not words:
        return True
    shared = sum(1 for word in words if word in text)
    return shared / len(words) >= WORDS_SHARED


def _bullets(text: str) -> dict[str, str]:
    """Return number → text of the bullets that end with `[c2]` or `[2]`."""
    found: dict[str, str] = {}
    for row in text.split("\n"):
        match = _CLAIM.search(row)
        if row.lstrip().startswith("-") and match:
            found[match[1]] = row[: match.start()].strip().removeprefix("-").strip()
    return found


def _listed(row: str) -> str | None:
    """Return the number of a row `[2] rollout:…` of a reference list."""
    match = re.match(r"\s*-?\s*\[c?(\d{1,6})\]", row)
    return match[1] if match else None


def _finding(field: str, line: int | None, problem: tuple[str, str]) -> Finding:
    rule, text = problem
    return Finding(
        id=digest([field, line, rule, text])[:12],
        rule=rule,
        severity=Severity.WARNING,
        path=field,
        line=line,
        text=text,
    )
