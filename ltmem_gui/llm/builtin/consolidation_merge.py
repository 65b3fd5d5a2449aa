"""Merge what the outputs say now into the blocks that are there: minimal churn, and a person's own lines stay.

A bullet of ours carries `[cK]`, and the note of entry cK begins with its first words. So, without any other record:

- a bullet whose words are those of its note is ours: it follows its evidence and goes when the evidence goes;
- a bullet whose words differ was edited by a person: it stays as edited while its evidence lives;
- an entry without a bullet was struck by a person: that place is not quoted again;
- a line without a citation was written by a person, or by a model: it stays, unless every task it names is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ltmem_gui.domain.citations import CitationEntry, ParsedCitations, unique_ids
from ltmem_gui.domain.memory_document import (
    KNOWLEDGE,
    SECTION_ORDER,
    Bullet,
    FileReference,
    Group,
    Loose,
    Section,
    Task,
    render_file,
)
from ltmem_gui.domain.memory_wording import has_relative_date
from ltmem_gui.llm.builtin.consolidation_claims import Claim, ClaimIndex, Statement, disagreements
from ltmem_gui.llm.builtin.consolidation_groups import MAX_KEYWORDS, SUMMARIES, DerivedGroup, DerivedTask, date_of

NOTE_LENGTH = 72
REUSE_RULE = "reuse_rule=this folder and its subfolders; elsewhere check first"
STRUCK_NOTE = "removed by hand"
EDITED_NOTE = "edited by hand"
_NEWEST, _OLDER = "newest of {} that disagree", "older"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_SUFFIX = re.compile(rf" \((?:said {_DAY}|(?:said {_DAY}; )?{_DAY}, (?:{_OLDER}|newest of [0-9]+ that disagree))\)\Z")


@dataclass(frozen=True, slots=True)
class Living:
    """What may be cited: living thread ids, path → number of lines, and texts a person refused."""

    threads: frozenset[str]
    lines: Mapping[str, int]
    paths: Mapping[str, str]
    refused: frozenset[str]

    def resolves(self, entry: CitationEntry) -> bool:
        """Tell whether the cited lines are there."""
        if entry.thread_id is not None:
            return entry.thread_id in self.threads and entry.status == "ok"
        return entry.status == "ok" and entry.end <= self.lines.get(entry.path, 0)


@dataclass(slots=True)
class _Row:
    """One bullet or loose lines of a section, while the block is put together."""

    item: Bullet | Loose
    claim: int | None = None
    old_number: int | None = None
    kept_entries: tuple[CitationEntry, ...] = ()
    by_hand: bool = False
    remark: str = ""


@dataclass(slots=True)
class _Draft:
    tasks: list[Task] = field(default_factory=list[Task])
    number_of: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    renumbered: dict[int, int] = field(default_factory=dict[int, int])
    sections: dict[str, list[_Row]] = field(default_factory=dict[str, list[_Row]])
    placed: set[int] = field(default_factory=set[int])
    struck: list[CitationEntry] = field(default_factory=list[CitationEntry])


def refused_lines(texts: Iterable[str]) -> frozenset[str]:
    """Return the comparable form of every line of the refused texts."""
    lines = (line for text in texts for line in text.split("\n"))
    return frozenset(filter(None, (_plain(line) for line in lines)))


def merge_group(old: Group | None, derived: DerivedGroup | None, title: str, living: Living) -> Group | None:
    """Return the block as it should be, None when nothing is left of it."""
    draft = _Draft()
    source = derived or DerivedGroup("", "")
    _place_tasks(draft, old, source, living)
    _leave_out_refused(draft, source.claims)
    if old is not None:
        _place_old(draft, old, source.claims, living)
    _place_new(draft, source.claims, living)
    _mark_disagreements(draft, source.claims)
    kept = [rows for rows in draft.sections.values() if rows]
    if not draft.tasks and not kept and not _is_by_hand(old):
        return None
    sections, cited = _number(draft, source.claims, living)
    threads = [thread for thread, _ in draft.number_of]
    threads += [entry.thread_id or living.paths.get(entry.path, "") for entry in cited.entries]
    if old is not None and not old.entries_by_claim:
        threads += [item for item in old.citations.rollout_ids if item in living.threads]
    ids = unique_ids(sorted(threads))
    cited = ParsedCitations(cited.entries, ids if cited.entries else ())
    header = old.header if old is not None else _header(source, title)
    return Group(title, header, tuple(draft.tasks), sections, cited)


def _is_by_hand(old: Group | None) -> bool:
    """Tell whether a block holds lines of a person and nothing that was learnt from a session."""
    return old is not None and any(
        not line.startswith(("scope:", "applies_to:")) for line in old.header if line.strip()
    )


def _header(group: DerivedGroup, title: str) -> tuple[str, ...]:
    return (
        f"scope: work in {title}: how this person wants it done, what is known to hold there, what went wrong before",
        f"applies_to: cwd={group.cwd}; {REUSE_RULE}",
    )


# --- tasks ---


def _place_tasks(draft: _Draft, old: Group | None, derived: DerivedGroup, living: Living) -> None:
    """Keep the tasks that are there in their order, then add the new ones; tasks of one title are one task."""
    there = {_plain(render_file(reference)) for task in (old.tasks if old else ()) for reference in task.files}
    refused = living.refused - there
    waiting = [task for task in derived.tasks if _plain(render_file(task.reference)) not in refused]
    ours = old is not None and REUSE_RULE in old.value_of("applies_to")
    for task in old.tasks if old else ():
        kept = _own_task(draft, task, waiting) if ours else _foreign_task(draft, task, waiting, living)
        if kept is not None:
            draft.tasks.append(kept)
            draft.renumbered[task.number] = len(draft.tasks)
        elif ours and (left := _by_hand(task)):
            draft.sections.setdefault(KNOWLEDGE, []).append(_Row(Loose(left)))
    while waiting:
        draft.tasks.append(_take_all(draft, waiting[0].title, waiting))


def _leave_out_refused(draft: _Draft, claims: ClaimIndex) -> None:
    """Take the support of refused tasks from the statements; those without any other are not placed."""
    for position, claim in enumerate(claims.claims):
        kept = tuple(s for s in claim.supports if (s.thread_id, s.task) in draft.number_of)
        claims.claims[position] = replace(claim, supports=kept)
        if not kept:
            draft.placed.add(position)


def _own_task(draft: _Draft, task: Task, waiting: list[DerivedTask]) -> Task | None:
    """Lay a task of ours out anew from what the sessions it names say now; lines put into it by hand stay."""
    threads = {reference.thread_id for reference in task.files}
    candidates = [fresh for fresh in waiting if fresh.thread_id in threads]
    candidates.sort(key=lambda fresh: not task.title.startswith(fresh.title))
    if not candidates:
        return None
    made = _take_all(draft, candidates[0].title, waiting)
    files, keywords = (*made.files, *_own_files(task)), (*made.keywords, *_own_keywords(task))
    return replace(made, files=files, keywords=keywords, extra=task.extra)


def _own_files(task: Task) -> tuple[FileReference, ...]:
    return tuple(ref for ref in task.files if not ref.thread_id and not ref.path.startswith(SUMMARIES))


def _own_keywords(task: Task) -> tuple[str, ...]:
    ours = max(task.keywords, key=lambda line: line.count(","), default="")
    return tuple(line for line in task.keywords if line != ours)


def _by_hand(task: Task) -> tuple[str, ...]:
    return (*map(render_file, _own_files(task)), *_own_keywords(task), *task.extra)


def _take_all(draft: _Draft, title: str, waiting: list[DerivedTask]) -> Task:
    """Make one task of all waiting ones with this title; the newest names outcome and keywords."""
    number = len(draft.tasks) + 1
    wanted = title.casefold()
    members = [task for task in waiting if task.title.casefold() == wanted]
    waiting[:] = [task for task in waiting if task.title.casefold() != wanted]
    for task in members:
        draft.number_of[task.thread_id, task.ordinal] = number
    words = {word.casefold(): word for task in reversed(members) for word in task.keywords}
    keywords = ", ".join(list(words.values())[:MAX_KEYWORDS])
    files = tuple(dict.fromkeys(task.reference for task in members))
    return Task(number, members[-1].heading, files, (f"- {keywords}",))


def _foreign_task(draft: _Draft, task: Task, waiting: list[DerivedTask], living: Living) -> Task | None:
    """Keep a task of another writer, with its living files; None when all its files are gone."""
    number = len(draft.tasks) + 1
    files: list[FileReference] = []
    for reference in task.files:
        thread = reference.thread_id or living.paths.get(reference.path, "")
        fresh = next((item for item in waiting if item.thread_id == thread), None)
        if fresh is not None:
            waiting.remove(fresh)
            draft.number_of[thread, fresh.ordinal] = number
            files.append(fresh.reference)
        elif reference.path in living.lines or not (thread or reference.path.startswith(SUMMARIES)):
            files.append(reference)
    return None if task.files and not files else replace(task, number=number, files=tuple(files))


# --- bullets that are there ---


def _place_old(draft: _Draft, old: Group, claims: ClaimIndex, living: Living) -> None:
    entries = old.entries_by_claim
    named = {number for s in old.sections for item in s.items if isinstance(item, Bullet) for number in item.claims}
    unnamed = [e for e in old.citations.entries if e.claim is not None and e.claim not in named]
    plain = [e for e in old.citations.entries if e.claim is None]
    draft.struck = [replace(e, note=STRUCK_NOTE) for e in unnamed if living.resolves(e)]
    draft.struck += [e for e in plain if living.resolves(e)]
    struck = {e.location for e in draft.struck if e.note == STRUCK_NOTE}
    places = _by_location(claims)
    gone = {place for place, position in places.items() if place in struck and _all_struck(claims, position, struck)}
    draft.placed |= {places[place] for place in gone}
    for section in old.sections:
        rows = draft.sections.setdefault(section.title, [])
        for item in section.items:
            row = _keep_item(draft, item, entries, claims, places, living)
            if row is not None and row.claim is not None and not row.by_hand:
                claim = claims.claims[row.claim]
                if claim.section != section.title:
                    draft.placed.discard(row.claim)
                    continue
            if row is not None:
                rows.append(row)
    if old.citations.rejected:
        # What is no citation was put there by hand; in the text it is seen.
        lines = tuple(item.text for item in old.citations.rejected)
        draft.sections.setdefault(KNOWLEDGE, []).append(_Row(Loose(lines)))


def _keep_item(
    draft: _Draft,
    item: Bullet | Loose,
    entries: Mapping[int, tuple[CitationEntry, ...]],
    claims: ClaimIndex,
    places: Mapping[str, int],
    living: Living,
) -> _Row | None:
    if isinstance(item, Loose):
        return _Row(item)
    cited = [entry for number in item.claims for entry in entries.get(number, ())]
    number = min(item.claims, default=None)
    text = without_suffix(item.text)
    found = claims.find(text)
    if found in draft.placed:
        found = None
    if not cited:
        gone = bool(item.tasks) and not any(task in draft.renumbered for task in item.tasks)
        if gone and not (found is not None):
            return None
        if found is not None:
            draft.placed.add(found)
        return _Row(item, found, number, by_hand=True)
    if any(_is_note_of(entry, text) for entry in cited):
        if found is None:
            return None
        draft.placed.add(found)
        return _Row(item, found, number)
    same_place = (places[e.location] for e in cited if e.location in places)
    position = next((p for p in same_place if p not in draft.placed), None)
    if position is not None:
        draft.placed.add(position)
        return _Row(item, position, number, by_hand=True)
    alive = tuple(replace(entry, note="") for entry in cited if living.resolves(entry))
    return _Row(item, None, number, alive, by_hand=True) if alive else None


def _by_location(claims: ClaimIndex) -> dict[str, int]:
    return {entry.location: i for i, claim in enumerate(claims.claims) for entry in claim.entries}


def _all_struck(claims: ClaimIndex, position: int, struck: set[str]) -> bool:
    return all(entry.location in struck for entry in claims.claims[position].entries)


def _is_note_of(entry: CitationEntry, text: str) -> bool:
    """Tell whether the note holds the first words of the text: the bullet is as it was written."""
    original = entry.note.partition(" ")[2]
    return original == note_text(text)


# --- new bullets, disagreements, numbers ---


def _place_new(draft: _Draft, claims: ClaimIndex, living: Living) -> None:
    new: dict[str, list[_Row]] = {}
    for position, claim in enumerate(claims.claims):
        if position in draft.placed or _plain(claim.text) in living.refused:
            continue
        draft.placed.add(position)
        new.setdefault(claim.section, []).append(_Row(Bullet(claim.text), position))
    for section, rows in new.items():
        draft.sections[section] = [*reversed(rows), *draft.sections.get(section, [])]


def _mark_disagreements(draft: _Draft, claims: ClaimIndex) -> None:
    rows = {row.claim: row for rows in draft.sections.values() for row in rows if row.claim is not None}
    order = sorted(rows)
    for cluster in disagreements([claims.claims[position] for position in order]):
        members = [rows[order[index]] for index in cluster if not rows[order[index]].by_hand]
        if len(members) < 2:
            continue
        section = next(s for s in draft.sections.values() if members[0] in s)
        first = min(section.index(row) for row in members if row in section)
        for rank, row in enumerate(members):
            claim = claims.claims[row.claim or 0]
            word = _OLDER if rank else _NEWEST.format(len(members))
            row.remark = f"{date_of(claim.newest)}, {word}"
        rest = [row for row in section if row not in members]
        at = sum(1 for row in section[:first] if row not in members)
        section[:] = [*rest[:at], *members, *rest[at:]]


def without_suffix(text: str) -> str:
    """Return a bullet's text without the remarks on when it was said and that it disagrees with another."""
    return _SUFFIX.sub("", text)


def is_superseded(text: str) -> bool:
    """Tell whether a bullet is marked as older than one that disagrees with it."""
    return text.endswith(f", {_OLDER})")


def said_on(text: str, at: int) -> str:
    """Return the remark on when something was said, where its words need it."""
    return f"said {date_of(at)}" if has_relative_date(text) else ""


def _number(draft: _Draft, claims: ClaimIndex, living: Living) -> tuple[tuple[Section, ...], ParsedCitations]:
    rows = [row for section in draft.sections.values() for row in section if isinstance(row.item, Bullet)]
    cited = [row for row in rows if row.claim is not None or row.kept_entries]
    cited.sort(key=lambda row: (row.old_number is None, row.old_number or 0, -1 if row.claim is None else row.claim))
    numbers = {id(row): number for number, row in enumerate(cited, 1)}
    entries: list[CitationEntry] = []
    for row in cited:
        claim = claims.claims[row.claim] if row.claim is not None else None
        text = claim.text if claim else EDITED_NOTE
        entries += _noted(f"c{numbers[id(row)]}", text, claim, row.kept_entries, living)
    entries += draft.struck
    sections: list[Section] = []
    titles = [*SECTION_ORDER, *(title for title in draft.sections if title not in SECTION_ORDER)]
    for title in titles:
        items = tuple(_finish(row, draft, claims, numbers) for row in draft.sections.get(title, ()))
        if items:
            sections.append(Section(title, items))
    return tuple(sections), ParsedCitations(tuple(entries))


def _noted(
    mark: str, text: str, claim: Claim | None, kept: tuple[CitationEntry, ...], living: Living
) -> Iterator[CitationEntry]:
    """Give the first citation the words, each further one the day on which it was said again."""
    days = {entry: date_of(s.at) for s in reversed(claim.supports) for entry in s.entries} if claim else {}
    places = [entry for entry in (claim.entries if claim else kept) if living.resolves(entry)]
    for index, entry in enumerate(places):
        words = f"again {days.get(entry, '')}".strip() if index else note_text(text)
        yield replace(entry, note=f"{mark} {words}")


def _finish(row: _Row, draft: _Draft, claims: ClaimIndex, numbers: Mapping[int, int]) -> Bullet | Loose:
    if isinstance(row.item, Loose):
        return row.item
    claim = claims.claims[row.claim] if row.claim is not None else None
    own = {draft.renumbered[number] for number in row.item.tasks if number in draft.renumbered}
    if claim is not None:
        own = {draft.number_of[s.thread_id, s.task] for s in claim.supports} | (own if row.by_hand else set())
    marks = (numbers[id(row)],) if id(row) in numbers else ()
    text = row.item.text if row.by_hand or claim is None else _with_remarks(claim, row.remark)
    return Bullet(text, tuple(sorted(own)), marks, row.item.more)


def _with_remarks(claim: Claim, remark: str) -> str:
    first = min((support.at for support in claim.supports), default=0)
    remarks = [part for part in (said_on(claim.text, first), remark) if part]
    return f"{claim.text} ({'; '.join(remarks)})" if remarks else claim.text


def note_text(text: str) -> str:
    """Return the first words of a statement, as the notes of its citations hold them."""
    return text if len(text) <= NOTE_LENGTH else text[: NOTE_LENGTH - 1].rstrip() + "…"


def _plain(line: str) -> str:
    text = line.strip().removeprefix("- ")
    head, _, _ = text.partition(" [Task ")
    return Statement(without_suffix(head.strip())).joined
