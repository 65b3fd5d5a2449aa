"""Put a plan's effects into the words of the confirmation: numbers first, details to unfold (ui-features §6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.effects import (
    GROUPS,
    ClaimJobs,
    CreateDataFolder,
    CreditUsage,
    DeleteFile,
    EffectGroup,
    EnsureLayout,
    InboxDecision,
    KeepEvidence,
    PruneOutputs,
    ResetBaseline,
    SendToModel,
    StartAgent,
    StoreInboxDecisions,
    StoreOutputs,
    StoreVerdicts,
    TakeOverJobs,
    TakeOverRow,
    UpdateJobs,
    WriteFile,
)
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.prices import Estimate, in_words
from ltmem_gui.domain.taking_over import headline
from ltmem_gui.ui.models.formats import absolute, count, plural, size, span, tokens

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
class EffectLine:
    """One effect: `number` large, `text` beside it, `details` folded unless they are what is asked about."""

    number: str
    text: str
    details: tuple[str, ...] = ()
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class EffectGroupText:
    """One group of the sheet; `quiet` when it only says that nothing happens."""

    group: EffectGroup
    title: str
    lines: tuple[EffectLine, ...]
    quiet: bool = False


def describe(plan: Plan, selection: Selection | None = None) -> tuple[EffectGroupText, ...]:
    """Describe what a yes would do, group by group; file effects the selection leaves out are not listed."""
    by_group: dict[str, list[EffectLine]] = {}
    written: list[_Written] = []
    taken = plan.effects_of(TakeOverRow)
    if taken:
        by_group["database"] = [_taken_over(taken)]
    for effect in plan.effects:
        if isinstance(effect, WriteFile):
            if _is_selected(effect.path, plan, selection):
                written.append(_of_selection(effect, plan, selection))
        elif isinstance(effect, TakeOverRow):
            continue
        elif not isinstance(effect, DeleteFile) or _is_selected(effect.path, plan, selection):
            by_group.setdefault(GROUPS[effect.type], []).append(_DESCRIBE[type(effect)](effect))
    if written:
        by_group.setdefault("writes", []).append(_written(written))
    groups: list[EffectGroupText] = []
    for group in GROUP_ORDER:
        lines = tuple(by_group.get(group, ()))
        if lines:
            groups.append(EffectGroupText(group, GROUP_TITLES[group], lines))
        elif group in NOTHING:
            groups.append(EffectGroupText(group, GROUP_TITLES[group], (EffectLine("0", NOTHING[group]),), quiet=True))
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


@dataclass(frozen=True, slots=True)
class _Written:
    """One file as it will be written: line and byte numbers of the selection, not of the proposal."""

    path: str
    change: str
    added: int
    removed: int
    before: int
    after: int
    partly: bool


def _of_selection(effect: WriteFile, plan: Plan, selection: Selection | None) -> _Written:
    change = next((known for known in plan.changes if known.path == effect.path), None)
    accepted = _accepted(effect.path, selection)
    edited = selection.edited.get(effect.path, {}) if selection is not None else {}
    left_out = selection.rejected.get(effect.path, ()) if selection is not None else ()
    if change is None or "*" in accepted or not change.hunks or not (edited or left_out):
        lines = (effect.lines_added, effect.lines_removed)
        return _Written(effect.path, effect.change, *lines, effect.size_before, effect.size_after, False)
    added = removed = 0
    after = effect.size_before
    for hunk in change.hunks:
        if hunk.id not in accepted and hunk.id not in edited:
            continue
        new = edited.get(hunk.id, hunk.new)
        added, removed = added + len(new), removed + len(hunk.old)
        after += _bytes(new) - _bytes(hunk.old)
    return _Written(effect.path, effect.change, added, removed, effect.size_before, after, True)


def _bytes(lines: tuple[str, ...]) -> int:
    return sum(len(line.encode("utf-8", "surrogateescape")) for line in lines)


def _written(files: list[_Written]) -> EffectLine:
    added = sum(file.added for file in files)
    removed = sum(file.removed for file in files)
    details = tuple(
        f"{one_line(file.path, 400)}   {file.change}   +{count(file.added)} −{count(file.removed)}   "
        f"{size(file.before)} → {size(file.after)}{'   as decided' if file.partly else ''}"
        for file in files
    )
    noun = "file" if len(files) == 1 else "files"
    text = f"{noun} in the memory folder (+{count(added)} −{count(removed)} lines)"
    return EffectLine(count(len(files)), text, details)


def _send(effect: SendToModel) -> EffectLine:
    where = f"{effect.host} (this computer)" if effect.loopback else effect.host
    redacted = sum(effect.redactions.values())
    details = (
        f"model {effect.model}, {plural(effect.requests, 'request')}",
        f"cost: {effect.price}",
        f"{plural(redacted, 'secret')} redacted before sending"
        + (": " + ", ".join(f"{name} × {n}" for name, n in sorted(effect.redactions.items())) if redacted else ""),
    )
    return EffectLine(tokens(effect.tokens), f"tokens of redacted text to {one_line(where)}; {_cost(effect)}", details)


def _cost(effect: SendToModel) -> str:
    """Say the cost in short: a range, and where it stops."""
    if not effect.currency:
        return effect.price
    cost = str(Estimate(Decimal(effect.cost_low), Decimal(effect.cost_high), effect.currency))
    return f"{cost}, stops at {in_words(Decimal(effect.cost_limit), effect.currency)}" if effect.cost_limit else cost


_MODES = {"INIT": "it writes the first memory", "INCREMENTAL": "it updates the memory that is there"}


def _agent(effect: StartAgent) -> EffectLine:
    fence = effect.constraints
    details = (
        f"works in a private copy of {fence.cwd}, which is removed afterwards (ephemeral)",
        f"model {effect.model}, reasoning effort {fence.reasoning_effort}; {_MODES[effect.mode]}",
        f"network: {fence.network}; no shell, no other program",
        "may only: " + ", ".join(fence.tools) + " files in that copy",
        f"approvals: {fence.approval_policy} — what it may not do is refused and counted",
        "off: " + ", ".join(fence.disabled_features) + "; it neither makes nor uses memories of its own",
        f"at most {count(fence.max_steps)} steps, {count(fence.max_tokens)} tokens, {span(fence.max_seconds)}, "
        f"{size(fence.max_bytes)} and {count(fence.max_files)} files",
        *((f"is told: {one_line(effect.note, 400)}",) if effect.note else ()),
        *((f"is told of {plural(len(effect.refused), 'change')} you turned down",) if effect.refused else ()),
    )
    return EffectLine("1", f"consolidation agent ({one_line(effect.model)}) in a staged copy", details, unfolded=True)


def _data_folder(effect: CreateDataFolder) -> EffectLine:
    details = (
        effect.path,
        "kept there unasked from then on: " + ", ".join(effect.housekeeping),
    )
    return EffectLine("1", "new data folder (queue, extracted memories, receipts)", details)


def _layout(effect: EnsureLayout) -> EffectLine:
    noun = "new folder" if len(effect.creates) == 1 else "new folders"
    details = effect.creates or (effect.path,)
    return EffectLine(str(len(details)), f"{noun} for the memory", details)


def _delete(effect: DeleteFile) -> EffectLine:
    return EffectLine("1", f"{one_line(effect.path)} ({size(effect.size_before)})", (effect.reason,))


def _claim(effect: ClaimJobs) -> EffectLine:
    sent = sum(job.tokens_sent or job.tokens for job in effect.jobs)
    redacted = sum(sum(job.redactions.values()) for job in effect.jobs)
    details = tuple(
        f"{job.agent}   {one_line(job.title or job.thread_id, 72)}   {tokens(job.tokens_sent or job.tokens)} tokens"
        + (f"   {sum(job.redactions.values())} redacted" if job.redactions else "")
        for job in effect.jobs
    )
    text = f"extractions, {effect.concurrency} at a time, ~{tokens(sent)} tokens"
    if redacted:
        text += f", {plural(redacted, 'secret')} redacted"
    return EffectLine(count(len(effect.jobs)), text, details)


def _update(effect: UpdateJobs) -> EffectLine:
    if effect.scope == "global":
        mark = "" if effect.watermark is None else f", watermark {absolute(effect.watermark)}"
        return EffectLine("1", f"record of this consolidation{mark}", (effect.action,))
    marks = tuple(f"{mark.thread_id} ({mark.status.value})" for mark in effect.jobs)
    return EffectLine(
        count(effect.count),
        ("job record" if effect.count == 1 else "job records") + (f": {effect.action}" if marks else ""),
        marks or (effect.action,),
    )


def _store(effect: StoreOutputs) -> EffectLine:
    if effect.lifted:
        return EffectLine(count(len(effect.lifted)), "rejected hunks that may be proposed again", effect.lifted)
    if not effect.edited:
        return EffectLine(count(effect.count), "extracted memories at most", ("with hashes of the lines they cite",))
    by_wish: dict[str, list[str]] = {}
    for change in effect.edited:
        wish = "left out of the memory" if change.get("excluded") else "taken into the memory again"
        wish = "with an edited memory" if "raw_memory" in change else wish
        by_wish.setdefault(wish, []).append(one_line(change["thread_id"]))
    noun = "session" if len(effect.edited) == 1 else "sessions"
    parts = [f"{count(len(threads))} {wish}" for wish, threads in by_wish.items()]
    text = f"{noun}: {', '.join(parts)}" if len(by_wish) > 1 else f"{noun} {next(iter(by_wish))}"
    details = tuple(f"{thread}   {wish}" for wish, threads in by_wish.items() for thread in threads)
    return EffectLine(count(len(effect.edited)), text, details)


def _prune(effect: PruneOutputs) -> EffectLine:
    return EffectLine(count(len(effect.thread_ids)), f"extracted memories removed: {effect.reason}", effect.thread_ids)


def _credit(effect: CreditUsage) -> EffectLine:
    return EffectLine(count(len(effect.credits)), "uses of memories credited")


def _taken_over(rows: tuple[TakeOverRow, ...]) -> EffectLine:
    words = {"added": "new here", "replaced": "replaces an older one", "usage": "only its usage is raised"}
    details = tuple(
        f"{one_line(headline(row.rollout_summary) or row.thread_id, 72)}   {absolute(row.source_updated_at)}   "
        f"{words[row.change]}   "
        f"used {plural(row.usage_count or 0, 'time')}"
        + (f"   {plural(sum(row.redactions.values()), 'secret')} redacted" if row.redactions else "")
        for row in rows
    )
    noun = "memory" if len(rows) == 1 else "memories"
    return EffectLine(count(len(rows)), f"{noun} taken over from Codex", details)


def _codex_jobs(effect: TakeOverJobs) -> EffectLine:
    mark = () if effect.watermark is None else (f"watermark {absolute(effect.watermark)}",)
    if not effect.done:
        return EffectLine("1", "watermark of Codex's last consolidation", mark)
    noun = "session counts" if len(effect.done) == 1 else "sessions count"
    return EffectLine(count(len(effect.done)), f"{noun} as extracted, as Codex did", (*mark, *sorted(effect.done)))


def _verdicts(effect: StoreVerdicts) -> EffectLine:
    number = count(len(effect.records)) if effect.records else ""
    return EffectLine(number, f"verdicts of {one_line(effect.rater)} are appended", (effect.frame,))


def _evidence(effect: KeepEvidence) -> EffectLine:
    number = count(effect.count) if effect.records else f"≤ {count(effect.count)}"
    what = "cited places: what they say now is kept, to tell later changes"
    return EffectLine(number, what, ("hash, text and surroundings; the hash alone where a secret may be",))


def _inbox(effect: StoreInboxDecisions) -> EffectLine:
    details = tuple(_decision(decision) for decision in effect.decisions)
    return EffectLine(count(effect.count), "inbox decisions" if effect.count != 1 else "inbox decision", details)


def _decision(decision: InboxDecision) -> str:
    words = f" as “{one_line(decision.text, 300)}”" if decision.decision == "reword" else ""
    return f"{decision.decision} “{one_line(decision.quote, 300)}”{words}"


def _baseline(effect: ResetBaseline) -> EffectLine:
    before = f"replaces {effect.previous[:8]}" if effect.previous else "the first one"
    details = (effect.path, *((effect.repairs,) if effect.repairs else ()))
    return EffectLine("1", f"new baseline commit without history ({before})", details)


_DESCRIBE: dict[type, Callable[[Any], EffectLine]] = {
    SendToModel: _send,
    StartAgent: _agent,
    CreateDataFolder: _data_folder,
    EnsureLayout: _layout,
    DeleteFile: _delete,
    ClaimJobs: _claim,
    UpdateJobs: _update,
    StoreOutputs: _store,
    PruneOutputs: _prune,
    CreditUsage: _credit,
    StoreVerdicts: _verdicts,
    KeepEvidence: _evidence,
    StoreInboxDecisions: _inbox,
    TakeOverJobs: _codex_jobs,
    ResetBaseline: _baseline,
}
