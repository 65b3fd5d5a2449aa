"""A review as something to keep or hand on: a patch that git applies, Markdown, JSON (D13, D25)."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ltmem_gui.domain.applying import apply_selection
from ltmem_gui.domain.consent import Decision, Selection
from ltmem_gui.domain.diffing.files import decode_text
from ltmem_gui.domain.diffing.hunks import make_hunks
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.patch_names import quote_name
from ltmem_gui.domain.diffing.sections import Headings
from ltmem_gui.domain.diffing.unified import PatchFile, PatchHunk, PatchLine, write_patch
from ltmem_gui.domain.plan import FileChange, Hunk, Plan
from ltmem_gui.domain.review import Review

_CONTEXT = 3
_REGULAR = 0o100000
_DEFAULT_MODE = 0o644


def patch_of(
    path: str, old: bytes | None, new: bytes | None, *, old_mode: int | None = None, new_mode: int | None = None
) -> bytes:
    """Return the patch from `old` to `new` of one file, empty when there is no difference.

    Modes are permission bits; only the executable bit of the owner reaches the patch, as in git.
    """
    before, after = _git_mode(old_mode), _git_mode(new_mode)
    if old == new and (old is None or before == after):
        return b""
    header = [f"diff --git {_prefixed('a', path)} {_prefixed('b', path)}\n"]
    if old is None:
        header.append(f"new file mode {after:06o}\n")
    elif new is None:
        header.append(f"deleted file mode {before:06o}\n")
    elif before != after:
        header += [f"old mode {before:06o}\n", f"new mode {after:06o}\n"]
    if old == new:
        return "".join(header).encode("utf-8", "surrogateescape")
    old_text, new_text = decode_text(old or b""), decode_text(new or b"")
    if old_text is None or new_text is None:
        return "".join([*header, *_binary(old or b"", new or b"", old is None, new is None)]).encode("utf-8")
    hunks = _with_context(split_lines(old_text), make_hunks(path, old_text, new_text))
    if not hunks:
        header.append(f"index {_blob(old)[:7]}..{_blob(new)[:7]}\n")
    else:
        header.append(f"--- {'/dev/null' if old is None else _named('a', path)}\n")
        header.append(f"+++ {'/dev/null' if new is None else _named('b', path)}\n")
    return write_patch([PatchFile(path, path, "modified", tuple(hunks), header=tuple(header))])


def patch_of_selection(plan: Plan, base: Mapping[str, bytes], selection: Selection) -> bytes:
    """Return the patch from the folder as it is to the folder as the selection would leave it."""
    after = apply_selection(base, plan, selection)
    return b"".join(
        patch_of(
            change.path,
            base.get(change.path),
            after.get(change.path),
            old_mode=change.old_mode,
            new_mode=change.new_mode if selection.accepted.get(change.path) else change.old_mode,
        )
        for change in plan.changes
    )


def patch_of_decision(review: Review, base: Mapping[str, bytes], decision: Decision) -> bytes:
    """Return what was accepted (edits included) or what was rejected, as a patch against the folder as it is."""
    selection = review.unguarded_selection()
    if decision is Decision.REJECT:
        selection = Selection(plan_digest=selection.plan_digest, accepted=selection.rejected)
    return patch_of_selection(review.plan, base, selection)


def patch_of_hunks(change: FileChange, base: Sequence[str] | None, hunks: Sequence[Hunk]) -> str:
    """Return hunks of one file, in order, as patch text, with context where the file's lines are known."""
    made = _with_context(base, hunks) if base is not None else [_bare(hunk) for hunk in hunks]
    old = "/dev/null" if change.change == "added" else _named("a", change.path)
    new = "/dev/null" if change.change == "deleted" else _named("b", change.path)
    header = (f"--- {old}\n", f"+++ {new}\n")
    file = PatchFile(change.path, change.path, "modified", tuple(made), header=header)
    return write_patch([file]).decode("utf-8", "surrogateescape")


def review_as_json(review: Review) -> dict[str, Any]:
    """Return a review as JSON data: decisions, notes and findings by change, with the lines they are about."""
    return {
        "plan_digest": review.plan.digest,
        "operation": review.plan.operation,
        "undecided": len(review.undecided),
        "blocking": [finding.id for finding in review.blocking],
        "overrides": dict(review.overrides),
        "changes": [_unit_as_json(review, key) for key in review.by_key],
        "findings": [finding.model_dump(mode="json") for finding in review.plan.findings],
    }


def review_as_markdown(review: Review) -> str:
    """Return a review to read: one section per file, one list item per change, lines fenced."""
    plan = review.plan
    out = [f"# Review of plan {plan.digest[:8]}\n", f"\n{len(review.undecided)} of {len(review.deciding)} undecided.\n"]
    for change in plan.changes:
        out.append(f"\n## {change.path} ({change.change})\n")
        for unit in review.by_path.get(change.path, ()):
            mark = review.mark(unit.key)
            out.append(f"\n- **{mark.decision.value}** `{unit.key}`")
            out.append(f": {review.notes[unit.key]}\n" if unit.key in review.notes else "\n")
            body = [line for member in unit.members if member.path == change.path for line in _body(review, member)]
            if body:
                fence = _fence(body)
                out.append(f"\n{fence}diff\n{''.join(body)}{fence}\n")
    return "".join(out)


def _body(review: Review, member: Any) -> Iterator[str]:
    if member.hunk == "*":
        return
    old, new = review.lines_of(member)
    for sign, lines in (("-", old), ("+", new)):
        for line in lines:
            yield sign + (line if line.endswith("\n") else f"{line}\n")


def _fence(lines: Sequence[str]) -> str:
    """Return a code fence longer than any in the lines."""
    longest = 2
    for line in lines:
        run = 0
        for char in line:
            run = run + 1 if char == "`" else 0
            longest = max(longest, run)
    return "`" * (longest + 1)


def _unit_as_json(review: Review, key: str) -> dict[str, Any]:
    unit, mark = review.by_key[key], review.mark(key)
    pieces = [
        {"path": m.path, "hunk": m.hunk}
        | ({} if m.hunk == "*" else dict(zip(("old", "new"), map(list, review.lines_of(m)), strict=True)))
        for m in unit.members
    ]
    edited = None if mark.edited is None else list(mark.edited)
    note = review.notes.get(key, "")
    return {"key": key, "decision": mark.decision.value, "edited": edited, "note": note, "pieces": pieces}


def _with_context(base: Sequence[str], hunks: Sequence[Hunk]) -> list[PatchHunk]:
    """Join hunks that stand close to each other and give them their context."""
    made: list[PatchHunk] = []
    group: list[Hunk] = []
    marks = Headings(base)
    for hunk in hunks:
        if group and hunk.old_start - (group[-1].old_start + len(group[-1].old)) > 2 * _CONTEXT:
            made.append(_grouped(base, group, marks))
            group = []
        group.append(hunk)
    return [*made, _grouped(base, group, marks)] if group else made


def _grouped(base: Sequence[str], group: Sequence[Hunk], marks: Headings) -> PatchHunk:
    start = max(0, group[0].old_start - _CONTEXT)
    lines: list[PatchLine] = []
    at = start
    for hunk in group:
        lines += [PatchLine(" ", line) for line in base[at : hunk.old_start]]
        lines += [PatchLine("-", line) for line in hunk.old] + [PatchLine("+", line) for line in hunk.new]
        at = hunk.old_start + len(hunk.old)
    lines += [PatchLine(" ", line) for line in base[at : at + _CONTEXT]]
    heading = marks.at(start - 1) if start else None
    new_start = group[0].new_start - (group[0].old_start - start)
    return _counted(start, new_start, lines, f" {heading.title}" if heading else "")


def _bare(hunk: Hunk) -> PatchHunk:
    lines = [PatchLine("-", line) for line in hunk.old] + [PatchLine("+", line) for line in hunk.new]
    return _counted(hunk.old_start, hunk.new_start, lines, "")


def _counted(old_start: int, new_start: int, lines: list[PatchLine], section: str) -> PatchHunk:
    old = sum(1 for line in lines if line.sign != "+")
    new = sum(1 for line in lines if line.sign != "-")
    return PatchHunk(old_start + (old > 0), old, new_start + (new > 0), new, section, tuple(lines))


def _git_mode(mode: int | None) -> int:
    bits = _DEFAULT_MODE if mode is None else mode
    return _REGULAR | (0o755 if bits & 0o100 else 0o644)


def _prefixed(prefix: str, path: str) -> str:
    return quote_name(f"{prefix}/{path}")


def _named(prefix: str, path: str) -> str:
    """Return a name for a `---` or `+++` line; one with a blank is ended by a tab, as git does."""
    name = _prefixed(prefix, path)
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _blob(data: bytes | None) -> str:
    """Return git's name of a blob, zeros where there is none."""
    if data is None:
        return "0" * 40
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _binary(old: bytes, new: bytes, added: bool, deleted: bool) -> Iterator[str]:
    yield f"index {_blob(None if added else old)}..{_blob(None if deleted else new)}\n"
    yield "GIT binary patch\n"
    for data in (new, old):
        yield f"literal {len(data)}\n"
        packed = zlib.compress(data, 9)
        for at in range(0, len(packed), 52):
            part = packed[at : at + 52]
            length = chr(ord("A") + len(part) - 1) if len(part) <= 26 else chr(ord("a") + len(part) - 27)
            yield f"{length}{base64.b85encode(part, pad=True).decode('ascii')}\n"
        yield "\n"
