"""What a reviewer must look at in an agent's proposal: citations that are gone, bullets that cite nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ltmem_gui.domain import citations
from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.memory_document import Bullet, Group, Loose, read_document, split_reference

MEMORY_FILE = "MEMORY.md"


def review_findings(after: Mapping[str, bytes], before: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """Compare two states of `MEMORY.md`; lines count in the proposed file.

    A citation is dropped when its bullet stays without it; one that goes with its bullet is none, nor is one into a
    file that is gone.
    """
    old, new = _text(before), _text(after)
    return (*_dropped(old, new, after), *_uncited(old, new))


def _text(files: Mapping[str, bytes]) -> str:
    return files.get(MEMORY_FILE, b"").decode("utf-8", "replace")


def _dropped(old: str, new: str, after: Mapping[str, bytes]) -> Iterator[Finding]:
    cited_now = {said: (line, places) for said, line, places in _claims(new)}
    for said, _, places in _claims(old):
        if said not in cited_now:
            continue
        line, now = cited_now[said]
        for place, path in sorted(places.items()):
            still_there = path.startswith(citations.ROLLOUT_PREFIX) or path in after
            if still_there and place not in now and path not in now.values():
                yield _finding("dropped-citation", line, f"this line no longer cites {place}")


def _uncited(old: str, new: str) -> Iterator[Finding]:
    known = {said for said, _, _ in _claims(old)}
    for said, line, places in _claims(new):
        if said not in known and not places:
            yield _finding("uncited", line, "a new statement without a citation")


def _claims(text: str) -> Iterator[tuple[tuple[str, str], int, dict[str, str]]]:
    """Yield (group and statement, line, location → path of its citations) of every bullet, outside of groups too."""
    document = read_document(text)
    for part in document.parts:
        if isinstance(part, Loose):
            for line, row in enumerate(part.lines, part.line):
                if row.startswith("- "):
                    yield ("", split_reference(row[2:])[0].casefold()), line, {}
    for group in document.groups:
        for bullet in _bullets(group):
            entries = group.entries_by_claim
            cited = [entry for number in bullet.claims for entry in entries.get(number, ())]
            said = split_reference(bullet.text)[0].casefold()
            yield (group.title, said), bullet.line, {entry.location: entry.path for entry in cited}


def _bullets(group: Group) -> Iterator[Bullet]:
    for section in group.sections:
        for item in section.items:
            if isinstance(item, Bullet):
                yield item


def _finding(rule: str, line: int, text: str) -> Finding:
    key = digest([rule, line, text])[:12]
    return Finding(id=f"{rule}-{key}", rule=rule, severity=Severity.WARNING, path=MEMORY_FILE, line=line, text=text)
