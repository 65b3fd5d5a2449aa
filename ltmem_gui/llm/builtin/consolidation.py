"""Phase 2 without an AI model: a deterministic merge of raw memories into the artifacts.

One block per working directory, each statement with its evidence; what is unchanged keeps its bytes, what lost its
evidence goes, what a person wrote stays (`consolidation_merge`). Texts keep the language they were said in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ltmem_gui.domain.citations import CitationEntry, ParsedCitations
from ltmem_gui.domain.memory_document import (
    KNOWLEDGE,
    Bullet,
    Document,
    FileReference,
    Group,
    Loose,
    Section,
    Task,
    read_document,
    render_document,
)
from ltmem_gui.domain.memory_wording import has_relative_date
from ltmem_gui.llm.builtin.consolidation_groups import (
    DerivedGroup,
    derive_groups,
    group_titles,
    normal_cwd,
    summary_files,
)
from ltmem_gui.llm.builtin.consolidation_merge import Living, merge_group, note_text, refused_lines
from ltmem_gui.llm.builtin.consolidation_raw import clean_line
from ltmem_gui.llm.builtin.consolidation_summary import NOTE_TAG, render_summary
from ltmem_gui.pipeline.ports import ConsolidationRequest, Proposal

MEMORY_FILE = "MEMORY.md"
SUMMARY_FILE = "memory_summary.md"
NOTES_TITLE = "Ad-hoc notes"
_NOTE_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2})-([0-9]{2})-([0-9]{2})")


def consolidate_builtin(request: ConsolidationRequest) -> Proposal:
    """Merge the outputs into `MEMORY.md` and `memory_summary.md`; the same request gives the same bytes."""
    old_text = _text(request.existing.get(MEMORY_FILE, b""))
    old_summary = _text(request.existing.get(SUMMARY_FILE, b""))
    if not (request.outputs or request.notes or old_text.strip() or old_summary.strip()):
        return Proposal({})
    before = read_document(old_text)
    parts = _merge(before, request)
    unchanged = parts == list(before.parts)
    text = old_text if unchanged else render_document(parts)
    after = read_document(text)
    summary = render_summary(after, existing=old_summary, before=before)
    files: dict[str, bytes | None] = {MEMORY_FILE: _bytes(text), SUMMARY_FILE: _bytes(summary)}
    return Proposal(files, _remarks(request))


def _merge(before: Document, request: ConsolidationRequest) -> list[Group | Loose]:
    derived = derive_groups(request.outputs, request.inputs)
    living = _living(request)
    owners = _owners(before, derived)
    titles = group_titles(
        sorted(derived.values(), key=lambda group: group.tasks[0].thread_id if group.tasks else ""),
        {key: group.title for key, group in owners.items() if key in derived},
    )
    merged: list[Group | Loose] = []
    for part in before.parts:
        if isinstance(part, Loose):
            merged.append(part)
        elif part.title != NOTES_TITLE:
            key = next((k for k, group in owners.items() if group is part), None)
            group = merge_group(part, derived.get(key) if key is not None else None, part.title, living)
            if group is not None:
                merged.append(part if group == part else group)
    fresh = [group for key, group in derived.items() if key not in owners]
    fresh.sort(key=lambda group: (-group.newest, group.key))
    new = [merge_group(None, group, titles[group.key], living) for group in fresh]
    at = next((i for i, part in enumerate(merged) if isinstance(part, Group)), len(merged))
    merged[at:at] = [group for group in new if group is not None]
    return _with_notes(merged, before, request, at)


def _owners(before: Document, derived: Mapping[str, DerivedGroup]) -> dict[str, Group]:
    """Return key → the block of that working directory: the first that names it."""
    owners: dict[str, Group] = {}
    for group in before.groups:
        key = normal_cwd(group.cwd)
        if group.title != NOTES_TITLE and (group.cwd or key in derived):
            owners.setdefault(key, group)
    return owners


def _living(request: ConsolidationRequest) -> Living:
    files = summary_files(request.inputs)
    lines = {path: _line_count(data) for path, data in request.inputs.items()}
    lines |= {path: _line_count(data) for path, data in request.notes.items()}
    return Living(
        threads=frozenset(files),
        lines=lines,
        paths={file.path: thread for thread, file in files.items()},
        refused=refused_lines(request.refused),
    )


def _with_notes(
    merged: list[Group | Loose], before: Document, request: ConsolidationRequest, at: int
) -> list[Group | Loose]:
    """Put the block of the ad-hoc notes where it was, or first."""
    old = next((group for group in before.groups if group.title == NOTES_TITLE), None)
    group = _notes_group(old, request)
    if group is None:
        return merged
    if old is None:
        return [*merged[:at], group, *merged[at:]]
    follower = next((part for part in before.parts[before.parts.index(old) + 1 :] if part in merged), None)
    place = merged.index(follower) if follower is not None else len(merged)
    return [*merged[:place], old if group == old else group, *merged[place:]]


def _notes_group(old: Group | None, request: ConsolidationRequest) -> Group | None:
    bullets: list[Bullet | Loose] = []
    entries: list[CitationEntry] = []
    files: list[FileReference] = []
    for path in sorted(request.notes):
        statements = _note_statements(_text(request.notes[path]))
        for line, text in statements:
            number = len(bullets) + 1
            said = f" (said {_note_time(path)[:10]})" if has_relative_date(text) else ""
            bullets.append(Bullet(f"{NOTE_TAG} {text}{said}", (1,), (number,)))
            entries.append(CitationEntry(path, line, line, f"c{number} {note_text(text)}"))
        if statements:
            files.append(FileReference(path, f"cwd=any, rollout_path=none, updated_at={_note_time(path)}"))
    if not bullets:
        return None
    header = (
        old.header
        if old
        else (
            "scope: what the person wrote down directly; it outranks what was learnt from sessions",
            "applies_to: cwd=any; reuse_rule=everywhere, unless the note names a place",
        )
    )
    task = Task(1, "notes written by the person", tuple(files), ("- ad-hoc note",))
    return Group(NOTES_TITLE, header, (task,), (Section(KNOWLEDGE, tuple(bullets)),), ParsedCitations(tuple(entries)))


def _note_statements(text: str) -> list[tuple[int, str]]:
    """Return (line, text) of each statement of a note: its bullets and paragraphs, headings left out."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip().lstrip("-*+ ").strip()
        if stripped and not line.lstrip().startswith(("#", "---", "```")):
            cleaned = clean_line(stripped)
            if cleaned:
                found.append((number, cleaned))
    return found


def _note_time(path: str) -> str:
    match = _NOTE_TIME.match(path.rpartition("/")[2])
    return f"{match[1]}T{match[2]}:{match[3]}:{match[4]}+00:00" if match else "unknown"


def _remarks(request: ConsolidationRequest) -> tuple[str, ...]:
    rendered = summary_files(request.inputs)
    missing = [o.thread_id for o in request.outputs if o.thread_id not in rendered]
    return tuple(f"session {thread} has no rendered summary and is left out" for thread in missing)


def _line_count(data: bytes) -> int:
    return data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
