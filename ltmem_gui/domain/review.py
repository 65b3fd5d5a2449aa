"""A person's decisions about one plan: immutable, undoable, and the only way to a Selection (design §2, D1–D3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, Self

from ltmem_gui.domain.consent import Decision, Selection
from ltmem_gui.domain.diffing.units import WHOLE, Cut, Member, Unit, units_of
from ltmem_gui.domain.errors import BlockedByFindings, RefusedError, Undecided, UsageError
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import FileChange, Hunk, Plan


@dataclass(frozen=True, slots=True)
class Mark:
    """What was said of one unit; `edited` holds the new lines of an edited hunk."""

    decision: Decision = Decision.UNDECIDED
    edited: tuple[str, ...] | None = None


UNDECIDED = Mark()


@dataclass(frozen=True)
class Review:
    """The decisions so far. Every change returns a new review that remembers the one before it.

    `texts` are the proposed texts by path, where known (they tell which thread a change belongs to). `overrides` maps
    finding ids to written reasons, `notes` unit keys to review notes. `checked` are the findings of the last dry
    application of the selection; any new decision makes them void.
    """

    plan: Plan
    texts: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    marks: Mapping[str, Mark] = field(default_factory=dict[str, Mark])
    splits: Mapping[tuple[str, str], tuple[Cut, ...]] = field(default_factory=dict[tuple[str, str], tuple[Cut, ...]])
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    checked: tuple[Finding, ...] = ()
    previous: Review | None = field(default=None, repr=False, compare=False)

    # --- what there is ---

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Return what is decided, in the order of the plan."""
        before = self.previous
        if before is not None and before.plan is self.plan and before.splits == self.splits:
            return before.units
        return units_of(self.plan, self.texts, self.splits)

    @cached_property
    def by_key(self) -> Mapping[str, Unit]:
        """Return the units by key."""
        before = self.previous
        if before is not None and before.units is self.units:
            return before.by_key
        return {unit.key: unit for unit in self.units}

    @cached_property
    def by_member(self) -> Mapping[tuple[str, str], tuple[Unit, ...]]:
        """Return the units of each (path, hunk id), in order; whole files under `*`."""
        before = self.previous
        if before is not None and before.units is self.units:
            return before.by_member
        found: dict[tuple[str, str], tuple[Unit, ...]] = {}
        for unit in self.units:
            for member in unit.members:
                place = (member.path, member.hunk)
                found[place] = (*found.get(place, ()), unit)
        return found

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Unit, ...]]:
        """Return the units that touch each file."""
        before = self.previous
        if before is not None and before.units is self.units:
            return before.by_path
        found: dict[str, dict[str, Unit]] = {change.path: {} for change in self.plan.changes}
        for unit in self.units:
            for member in unit.members:
                found[member.path][unit.key] = unit
        return {path: tuple(units.values()) for path, units in found.items()}

    def mark(self, key: str) -> Mark:
        """Return what was said of a unit. A header of the rendered inputs follows the threads below it."""
        header = self._following.get(key)
        return self.marks.get(key, UNDECIDED) if header is None else self._followed(header)

    @cached_property
    def _following(self) -> Mapping[str, Unit]:
        """Return the headers that follow the threads of their file, by key."""
        before = self.previous
        if before is not None and before.units is self.units:
            return before._following
        return {u.key: u for u in self.units if u.kind == "header" and self._has_threads(u.path)}

    def _has_threads(self, path: str) -> bool:
        return any(unit.kind == "thread" for unit in self.by_path[path])

    def _followed(self, header: Unit) -> Mark:
        decisions = {self.mark(unit.key).decision for unit in self.by_path[header.path] if unit.kind == "thread"}
        if Decision.ACCEPT in decisions:
            return Mark(Decision.ACCEPT)
        return Mark(Decision.UNDECIDED if Decision.UNDECIDED in decisions else Decision.REJECT)

    # --- counts ---

    @cached_property
    def deciding(self) -> tuple[Unit, ...]:
        """Return the units a person has to say something about."""
        following = self._following
        return tuple([unit for unit in self.units if unit.key not in following]) if following else self.units

    @cached_property
    def undecided(self) -> tuple[Unit, ...]:
        """Return the units without a decision."""
        marks, undecided = self.marks, Decision.UNDECIDED
        return tuple([u for u in self.deciding if marks.get(u.key, UNDECIDED).decision is undecided])

    def undecided_in(self, path: str) -> tuple[int, int]:
        """Return how many units of a file have no decision, and how many it has."""
        return self._open_by_path.get(path, (0, 0))

    @cached_property
    def _open_by_path(self) -> Mapping[str, tuple[int, int]]:
        open_keys, following = {unit.key for unit in self.undecided}, self._following
        counts: dict[str, tuple[int, int]] = {}
        for path, units in self.by_path.items():
            mine = [unit.key for unit in units if unit.key not in following]
            counts[path] = (len(open_keys.intersection(mine)), len(mine))
        return counts

    @cached_property
    def taken_paths(self) -> frozenset[str]:
        """Return the files of which something is accepted or edited."""
        taken = (Decision.ACCEPT, Decision.EDITED)
        return frozenset(m.path for u in self.units if self.mark(u.key).decision in taken for m in u.members)

    def unit_of_finding(self, finding: Finding) -> Unit | None:
        """Return the unit a finding lies in, None where it lies in text that does not change."""
        whole = self.by_member.get((finding.path, WHOLE))
        if whole:
            return whole[0]
        if finding.line is None:
            return None
        at = finding.line - 1
        hunks = self._with_new_lines.get(finding.path, ())
        nearest = bisect_right(hunks, at, key=lambda hunk: hunk.new_start) - 1
        if nearest < 0 or at >= hunks[nearest].new_start + len(hunks[nearest].new):
            return None
        hunk, inside = hunks[nearest], at - hunks[nearest].new_start
        return next((u for u in self.by_member[finding.path, hunk.id] if _covers(u, hunk.id, inside)), None)

    @cached_property
    def _with_new_lines(self) -> Mapping[str, tuple[Hunk, ...]]:
        before = self.previous
        if before is not None and before.plan is self.plan:
            return before._with_new_lines
        return {change.path: tuple(h for h in change.hunks if h.new) for change in self.plan.changes}

    @cached_property
    def blocking(self) -> tuple[Finding, ...]:
        """Return the open blocking findings: neither rejected, nor edited, nor overridden with a reason."""
        found = {f.id: f for f in self.plan.findings if f.severity is Severity.BLOCKING and not self._settled(f)}
        found |= {f.id: f for f in self.checked if f.severity is Severity.BLOCKING and f.id not in self.overrides}
        return tuple(found.values())

    def _settled(self, finding: Finding) -> bool:
        if self.overrides.get(finding.id):
            return True
        unit = self.unit_of_finding(finding)
        if unit is not None:
            return self.mark(unit.key).decision in (Decision.REJECT, Decision.EDITED)
        units = self.by_path.get(finding.path, ())
        return bool(units) and all(self.mark(u.key).decision is Decision.REJECT for u in units)

    @property
    def left_out(self) -> frozenset[str]:
        """Return the threads whose rendered inputs are rejected."""
        rejected = (u for u in self.units if u.kind == "thread" and self.mark(u.key).decision is Decision.REJECT)
        return frozenset(unit.key.removeprefix("thread:") for unit in rejected)

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Say in words what keeps the review from being applied."""
        parts: list[str] = []
        if self.undecided:
            parts.append(_counted(len(self.undecided), "change", "undecided"))
        if self.blocking:
            parts.append(_counted(len(self.blocking), "blocking finding", "open"))
        return tuple(parts)

    # --- decisions ---

    def decide(self, keys: Iterable[str] | str, decision: Decision) -> Self:
        """Accept, reject, or set back to undecided. Raises `UsageError` for an unknown key or for `EDITED`."""
        if decision is Decision.EDITED:
            raise UsageError("an edited hunk needs its new lines")
        return self._marked({key: Mark(decision) for key in self._known(keys)})

    def decide_file(self, path: str, decision: Decision) -> Self:
        """Decide everything of one file."""
        return self.decide([unit.key for unit in self.by_path.get(path, ())], decision)

    def decide_rest(self, decision: Decision) -> Self:
        """Decide everything that has no decision yet."""
        return self.decide([unit.key for unit in self.undecided], decision)

    def edit(self, key: str, lines: tuple[str, ...]) -> Self:
        """Take other lines for one hunk or part.

        Raises `RefusedError` for units that are decided whole. Lines equal to the proposed or old ones are an accept
        or a reject.
        """
        self._known(key)
        unit = self.by_key[key]
        if unit.kind not in ("hunk", "part"):
            raise RefusedError("this change is decided as a whole and cannot be edited", "accept or reject it")
        old, new = self.lines_of(unit.members[0])
        if lines in (old, new):
            return self.decide(key, Decision.ACCEPT if lines == new else Decision.REJECT)
        return self._marked({key: Mark(Decision.EDITED, lines)})

    def note(self, key: str, text: str) -> Self:
        """Keep a review note on a unit; an empty text removes it."""
        self._known(key)
        return self._next(notes=_with(self.notes, key, text.strip()))

    def override(self, finding_id: str, reason: str) -> Self:
        """Pass a blocking finding with a written reason; an empty reason takes it back."""
        known = {f.id for f in (*self.plan.findings, *self.checked)}
        if finding_id not in known:
            raise UsageError(f"no finding {finding_id!r}", "the review lists the findings with their ids")
        return self._next(overrides=_with(self.overrides, finding_id, reason.strip()), checked=self.checked)

    def split(self, path: str, hunk: str, old: Cut, new: Cut) -> Self:
        """Cut the lines `old[a:b]` and `new[c:d]` of a hunk out as a part that is decided alone.

        Parts keep the decision of what they were cut from, unless that was edited. Raises `UsageError` for ranges
        that the hunk does not have, `RefusedError` for a unit that cannot be split.
        """
        units = self.by_member.get((path, hunk), ())
        if not units or units[0].kind not in ("hunk", "part"):
            raise RefusedError("this change is decided as a whole and cannot be split", "accept or reject it", path)
        whole = self._hunk(path, hunk)
        (a, b), (c, d) = old, new
        if not (0 <= a <= b <= len(whole.old) and 0 <= c <= d <= len(whole.new)) or (a == b and c == d):
            raise UsageError(f"hunk {hunk} has no such lines", "choose lines of the hunk", path)
        ends = {(0, 0), (len(whole.old), len(whole.new))}
        cuts = sorted({*self.splits.get((path, hunk), ()), (a, c), (b, d)} - ends)
        if any(first[1] > second[1] for first, second in pairwise(cuts)):
            raise RefusedError("the lines cross an earlier split", "undo that split first", path)
        splits = dict(self.splits) | {(path, hunk): tuple(cuts)}
        after = self._next(splits=splits)
        marks = {k: v for k, v in self.marks.items() if k in after.by_key}
        for unit in after.by_member[path, hunk]:
            origin = next((u for u in units if _inside(unit.members[0], u.members[0])), None)
            if origin is not None and self.mark(origin.key).edited is None:
                marks[unit.key] = self.mark(origin.key)
        return replace(after, marks=marks)

    def with_checked(self, findings: tuple[Finding, ...]) -> Self:
        """Keep the findings of a dry application; not a step of the undo history."""
        return replace(self, checked=findings)

    def undo(self) -> Review:
        """Return the review as it was before the last step; itself when there is none."""
        return self if self.previous is None else self.previous

    def rebase(self, plan: Plan, texts: Mapping[str, str] | None = None) -> Review:
        """Carry decisions, notes and overrides over to another plan wherever the change is the same by content."""
        fresh = Review(plan, texts or {}, splits=self._surviving_splits(plan))
        mine = {(unit.key, unit.content): unit for unit in self.units}
        same = [unit.key for unit in fresh.units if (unit.key, unit.content) in mine]
        findings = {f.id for f in plan.findings}
        return replace(
            fresh,
            marks={key: self.marks[key] for key in same if key in self.marks},
            notes={key: self.notes[key] for key in same if key in self.notes},
            overrides={key: reason for key, reason in self.overrides.items() if key in findings},
        )

    # --- the way out ---

    def selection(self) -> Selection:
        """Return the accepted part. Raises `Undecided` or `BlockedByFindings`, naming what is missing."""
        if self.undecided:
            first = self.undecided[0]
            raise Undecided(f"{_counted(len(self.undecided), 'change', 'undecided')}; the first: {first.key}", "decide")
        if self.blocking:
            first = self.blocking[0]
            raise BlockedByFindings(
                f"{_counted(len(self.blocking), 'blocking finding', 'open')}; the first: {first.text} [{first.id}]",
                "reject or edit the hunk, or override the finding with a written reason",
                first.path,
                first.line,
            )
        return self.unguarded_selection()

    def unguarded_selection(self) -> Selection:
        """Return the accepted part without asking whether the review is finished; undecided counts as rejected."""
        accepted: dict[str, tuple[str, ...]] = {}
        rejected: dict[str, tuple[str, ...]] = {}
        edited: dict[str, dict[str, tuple[str, ...]]] = {}
        for change in self.plan.changes:
            taken, refused, changed = self._of_change(change)
            for target, ids in ((accepted, taken), (rejected, refused)):
                if ids:
                    target[change.path] = ids
            if changed:
                edited[change.path] = changed
        return Selection(
            plan_digest=self.plan.digest,
            accepted=accepted,
            edited=edited,
            rejected=rejected,
            overrides=dict(self.overrides),
            notes=self._notes_by_hunk(),
        )

    def _notes_by_hunk(self) -> dict[str, str]:
        """Return the notes by hunk id, as they are kept; those on whole files by `path:*`."""
        notes: dict[str, str] = {}
        for key, text in self.notes.items():
            for member in self.by_key[key].members:
                name = f"{member.path}:{WHOLE}" if member.hunk == WHOLE else member.hunk
                notes[name] = f"{notes[name]}; {text}" if name in notes else text
        return notes

    def _of_change(self, change: FileChange) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]:
        """Return accepted ids, rejected ids and edited lines of one change."""
        taken: list[str] = []
        refused: list[str] = []
        changed: dict[str, tuple[str, ...]] = {}
        ids = [h.id for h in change.hunks if (change.path, h.id) in self.by_member]
        for name in ids or ([WHOLE] if (change.path, WHOLE) in self.by_member else []):
            result = self._result(change.path, name)
            if result is True:
                taken.append(name)
            elif result is False:
                refused.append(name)
            else:
                changed[name] = result
        if change.unit != "hunk" and ids:
            taken, refused = ([WHOLE] if not refused else taken), ([WHOLE] if not taken else refused)
        return tuple(taken), tuple(refused), changed

    def _result(self, path: str, hunk: str) -> bool | tuple[str, ...]:
        """Return True for accepted, False for rejected, or the lines that take the place of the hunk."""
        units = self.by_member[path, hunk]
        decisions = {self.mark(unit.key).decision for unit in units}
        if decisions <= {Decision.ACCEPT}:
            return True
        if decisions <= {Decision.REJECT, Decision.UNDECIDED}:
            return False
        whole = self._hunk(path, hunk)
        lines = tuple(line for unit in units for line in self.result_of(unit))
        return True if lines == whole.new else False if lines == whole.old else lines

    # --- lines ---

    def lines_of(self, member: Member) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the old and the proposed lines of one piece of a hunk."""
        hunk = self._hunk(member.path, member.hunk)
        return hunk.old[slice(*member.old)], hunk.new[slice(*member.new)]

    def result_of(self, unit: Unit) -> tuple[str, ...]:
        """Return the lines a hunk or part would leave behind as decided; undecided counts as rejected."""
        mark = self.mark(unit.key)
        if mark.edited is not None:
            return mark.edited
        old, new = self.lines_of(unit.members[0])
        return new if mark.decision is Decision.ACCEPT else old

    @cached_property
    def _hunks(self) -> Mapping[tuple[str, str], Hunk]:
        before = self.previous
        if before is not None and before.plan is self.plan:
            return before._hunks
        return {(change.path, hunk.id): hunk for change in self.plan.changes for hunk in change.hunks}

    def _hunk(self, path: str, hunk: str) -> Hunk:
        return self._hunks[path, hunk]

    def _known(self, keys: Iterable[str] | str) -> tuple[str, ...]:
        names = (keys,) if isinstance(keys, str) else tuple(keys)
        for name in names:
            if name not in self.by_key:
                raise UsageError(f"no change {name!r} in this plan", "the review lists the changes with their names")
        return names

    def _marked(self, marks: Mapping[str, Mark]) -> Self:
        if all(self.marks.get(key, UNDECIDED) == mark for key, mark in marks.items()):
            return self
        return self._next(marks={**self.marks, **marks})

    def _next(self, **changes: object) -> Self:
        return replace(self, **{"checked": (), **changes, "previous": self})  # pyright: ignore[reportArgumentType]

    def _surviving_splits(self, plan: Plan) -> dict[tuple[str, str], tuple[Cut, ...]]:
        there = {(change.path, hunk.id) for change in plan.changes for hunk in change.hunks}
        return {place: cuts for place, cuts in self.splits.items() if place in there}


def all_accepted(plan: Plan, *, overrides: Mapping[str, str] | None = None) -> Selection:
    """Return the selection that takes everything. Findings are not looked at: the approval does that."""
    review = Review(plan, overrides=overrides or {})
    return review.decide_rest(Decision.ACCEPT).unguarded_selection()


def from_flags(
    plan: Plan,
    *,
    accept: Sequence[str] = (),
    reject: Sequence[str] = (),
    rest: Literal["accept", "reject"] | None = None,
    overrides: Mapping[str, str] | None = None,
) -> Selection:
    """Return the selection that command-line flags ask for; see `review_from_flags`."""
    return review_from_flags(plan, accept=accept, reject=reject, rest=rest, overrides=overrides).unguarded_selection()


def review_from_flags(
    plan: Plan,
    *,
    accept: Sequence[str] = (),
    reject: Sequence[str] = (),
    rest: Literal["accept", "reject"] | None = None,
    overrides: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Review:
    """Return the review that command-line flags ask for; each of `accept` and `reject` is `FILE:HUNK`.

    HUNK `*` stands for the whole file. Without any flag everything is accepted; with one, `rest` says what becomes of
    the others. Raises `UsageError` for names the plan does not have, contradictions, and a missing `rest`.
    """
    review = Review(plan, texts or {}, overrides=overrides or {})
    if not accept and not reject and rest is None:
        return review.decide_rest(Decision.ACCEPT)
    if rest is None:
        raise UsageError("--accept and --reject say nothing of the other hunks", "add --rest accept or --rest reject")
    taken = {key for name in accept for key in _named(review, name)}
    refused = {key for name in reject for key in _named(review, name)}
    if taken & refused:
        raise UsageError(f"{sorted(taken & refused)[0]} is both accepted and rejected", "name it once")
    review = review.decide(sorted(taken), Decision.ACCEPT).decide(sorted(refused), Decision.REJECT)
    return review.decide_rest(Decision.ACCEPT if rest == "accept" else Decision.REJECT)


def _named(review: Review, name: str) -> list[str]:
    """Return the keys that FILE:HUNK stands for."""
    path, _, hunk = name.rpartition(":")
    if path not in review.by_path:
        raise UsageError(f"{name!r} names no changed file", "write FILE:HUNK as `ltmem-gui show` lists them")
    if hunk == WHOLE:
        return [unit.key for unit in review.by_path[path]]
    units = review.by_member.get((path, hunk), ())
    change = next(c for c in review.plan.changes if c.path == path)
    if not units and any(h.id == hunk for h in change.hunks):
        units = review.by_member.get((path, WHOLE), ())
    if not units:
        raise UsageError(f"{path} has no hunk {hunk!r}", "`ltmem-gui show` lists the hunks", path)
    return [unit.key for unit in units]


def _covers(unit: Unit, hunk: str, new_line: int) -> bool:
    return any(m.hunk == hunk and m.new[0] <= new_line < m.new[1] for m in unit.members)


def _inside(part: Member, whole: Member) -> bool:
    return (
        whole.old[0] <= part.old[0]
        and part.old[1] <= whole.old[1]
        and whole.new[0] <= part.new[0]
        and part.new[1] <= whole.new[1]
    )


def _with(mapping: Mapping[str, str], key: str, text: str) -> dict[str, str]:
    """Return the mapping with a text at `key`, or without the key for an empty text."""
    rest = {k: v for k, v in mapping.items() if k != key}
    return rest | {key: text} if text else rest


def _counted(count: int, noun: str, state: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'} {state}"
