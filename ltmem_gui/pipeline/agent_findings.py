"""What a reviewer must look at in an agent's proposal: lost citations, bullets that cite nothing, refused lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ltmem_gui.domain import citations
from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.memory_document import Bullet, Group, Loose, read_document, split_reference
from ltmem_gui.domain.naming import utc
from ltmem_gui.domain.refusals import RefusedHunk

MEMORY_FILE = "MEMORY.md"


def review_findings(
    after: Mapping[str, bytes], before: Mapping[str, bytes], refused: Sequence[RefusedHunk] = ()
) -> tuple[Finding, ...]:
    """Compare two states of a memory folder; lines count in the proposed file.

    A citation of `MEMORY.md` is dropped when its bullet stays without it; one that goes with its bullet is none, nor is
    one into a file that is gone. `refused` are changes the person turned down: their lines are told when they return.
    """
    old, new = _text(before, MEMORY_FILE), _text(after, MEMORY_FILE)
    return (*_dropped(old, new, after), *_uncited(old, new), *_returned(after, before, refused))


def _text(files: Mapping[str, bytes], path: str) -> str:
    return files.get(path, b"").decode("utf-8", "replace")


def _returned(
    after: Mapping[str, bytes], before: Mapping[str, bytes], refused: Sequence[RefusedHunk]
) -> Iterator[Finding]:
    for hunk in {hunk.key: hunk for hunk in refused}.values():
        lines = "".join(hunk.new)
        text = _text(after, hunk.path)
        at = 0 if text.startswith(lines) else text.find(f"\n{lines}") + 1
        if not lines.strip() or (at == 0 and not text.startswith(lines)) or lines in _text(before, hunk.path):
            continue
        line = text.count("\n", 0, at) + 1
        why = f": {one_line(hunk.note, 120)}" if hunk.note else ""
        day = utc(hunk.refused_at).date().isoformat()
        yield _finding("refused-before", line, f"you turned these lines down on {day}{why}", hunk.path)


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


def _finding(rule: str, line: int, text: str, path: str = MEMORY_FILE) -> Finding:
    key = digest([rule, path, line, text])[:12]
    return Finding(id=f"{rule}-{key}", rule=rule, severity=Severity.WARNING, path=path, line=line, text=text)
