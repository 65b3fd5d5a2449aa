"""Put a plan's effects into the words of the confirmation: numbers first, details to unfold (ui-features §6)."""

from __future__ import annotations

from dataclasses import dataclass

from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.effects import GROUPS, DeleteFile, EffectGroup, SendToModel, TakeOverRow, WriteFile
from ltmem_gui.domain.effects_words import EffectWords, FileWords, taken_over, words_of, written
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan
from ltmem_gui.ui.models.formats import absolute

GROUP_ORDER: tuple[EffectGroup, ...] = (
    "leaves this computer",
    "starts",
    "writes",
    "deletes",
    "database",
    "git",
)
GROUP_TITLES: dict[EffectGroup, str] = {
    "leaves this computer": "Leaves this computer",
    "starts": "Starts",
    "writes": "Writes",
    "deletes": "Deletes",
    "database": "Database",
    "git": "Git",
}
NOTHING: dict[EffectGroup, str] = {
    "leaves this computer": "nothing",
    "deletes": "nothing",
}


@dataclass(frozen=True, slots=True)
class EffectGroupText:
    """One group of the sheet; `quiet` when it only says that nothing happens."""

    group: EffectGroup
    title: str
    lines: tuple[EffectWords, ...]
    quiet: bool = False


def describe(plan: Plan, selection: Selection | None = None) -> tuple[EffectGroupText, ...]:
    """Describe what a yes would do, group by group; file effects the selection leaves out are not listed."""
    by_group: dict[str, list[EffectWords]] = {}
    files: list[FileWords] = []
    taken = plan.effects_of(TakeOverRow)
    if taken:
        by_group["database"] = [taken_over(taken, absolute)]
    for effect in plan.effects:
        if isinstance(effect, WriteFile):
            if _is_selected(effect.path, plan, selection):
                files.append(_of_selection(effect, plan, selection))
        elif isinstance(effect, TakeOverRow):
            continue
        elif not isinstance(effect, DeleteFile) or _is_selected(effect.path, plan, selection):
            by_group.setdefault(GROUPS[effect.type], []).append(words_of(effect, absolute))
    if files:
        by_group.setdefault("writes", []).append(written(tuple(files)))
    groups: list[EffectGroupText] = []
    for group in GROUP_ORDER:
        lines = tuple(by_group.get(group, ()))
        if lines:
            groups.append(EffectGroupText(group, GROUP_TITLES[group], lines))
        elif group in NOTHING:
            groups.append(EffectGroupText(group, GROUP_TITLES[group], (EffectWords("0", NOTHING[group]),), quiet=True))
    return tuple(groups)


def sends_text(plan: Plan) -> bool:
    """Tell whether something leaves this computer."""
    return any(not effect.loopback for effect in plan.effects_of(SendToModel))


def provider_text(plan: Plan) -> str:
    """Name the provider and what leaves this computer, once."""
    label = one_line(plan.provider.label)
    if sends_text(plan):
        return f"{label}, sends to {one_line(plan.provider.host)}"
    quiet = "nothing leaves this computer"
    return label if quiet in label else f"{label}, {quiet}"


def removed_lines(plan: Plan, selection: Selection) -> int:
    """Count the lines of `MEMORY.md` and of summary files that a yes would remove."""
    total = 0
    for change in plan.changes:
        accepted = _accepted(change.path, selection)
        if change.path != "MEMORY.md" and not change.path.startswith("rollout_summaries/"):
            continue
        edited = selection.edited.get(change.path, {})
        for hunk in change.hunks:
            if hunk.id in accepted or "*" in accepted:
                total += max(0, len(hunk.old) - len(hunk.new))
            elif hunk.id in edited:
                total += max(0, len(hunk.old) - len(edited[hunk.id]))
    return total


def loss_to_type(plan: Plan, selection: Selection) -> int:
    """Return the number of removed lines a person must type, 0 while the loss limit is kept.

    The planner decides: it puts a finding of the rule `loss` into the plan.
    """
    if not any(finding.rule == "loss" for finding in plan.findings):
        return 0
    return max(1, removed_lines(plan, selection))


def _accepted(path: str, selection: Selection | None) -> tuple[str, ...]:
    return selection.accepted.get(path, ()) if selection is not None else ()


def _is_selected(path: str, plan: Plan, selection: Selection | None) -> bool:
    if selection is None or not any(change.path == path for change in plan.changes):
        return True
    return bool(_accepted(path, selection) or selection.edited.get(path))


def _of_selection(effect: WriteFile, plan: Plan, selection: Selection | None) -> FileWords:
    change = next((known for known in plan.changes if known.path == effect.path), None)
    accepted = _accepted(effect.path, selection)
    edited = selection.edited.get(effect.path, {}) if selection is not None else {}
    left_out = selection.rejected.get(effect.path, ()) if selection is not None else ()
    if change is None or "*" in accepted or not change.hunks or not (edited or left_out):
        lines = (effect.lines_added, effect.lines_removed)
        return FileWords(effect.path, effect.change, *lines, effect.size_before, effect.size_after)
    added = removed = 0
    after = effect.size_before
    for hunk in change.hunks:
        if hunk.id not in accepted and hunk.id not in edited:
            continue
        new = edited.get(hunk.id, hunk.new)
        added, removed = added + len(new), removed + len(hunk.old)
        after += _bytes(new) - _bytes(hunk.old)
    return FileWords(effect.path, effect.change, added, removed, effect.size_before, after, True)


def _bytes(lines: tuple[str, ...]) -> int:
    return sum(len(line.encode("utf-8", "surrogateescape")) for line in lines)
