"""Plans and receipts in words, as the confirmation sheet of the window says them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import singledispatch

from ltmem_gui.cli.context import Context
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import (
    GROUPS,
    ClaimJobs,
    CreateDataFolder,
    CreditUsage,
    DeleteFile,
    Effect,
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
from ltmem_gui.domain.hazards import one_line, visible
from ltmem_gui.domain.naming import utc
from ltmem_gui.domain.plan import FileChange, Plan
from ltmem_gui.domain.prices import in_words
from ltmem_gui.domain.taking_over import headline

ORDER = ("leaves this computer", "starts", "writes", "deletes", "database", "git")
MAX_NAMED = 12


@singledispatch
def describe_effect(effect: Effect) -> str:
    """Say one effect in a line, numbers first."""
    return effect.type


@describe_effect.register
def _(effect: SendToModel) -> str:
    where = f"{effect.host} (this computer)" if effect.loopback else effect.host
    asked = f"{effect.requests} requests, about {effect.tokens} tokens, to {where}, model {effect.model or 'default'}"
    return f"{asked}; {sum(effect.redactions.values())} secrets redacted first; {effect.price}"


@describe_effect.register
def _(effect: StartAgent) -> str:
    fence = effect.constraints
    limits = f"at most {fence.max_steps} steps, {fence.max_tokens} tokens, {fence.max_seconds} s"
    told = f"; told: {one_line(effect.note, 200)}" if effect.note else ""
    return (
        f"a consolidation agent ({effect.mode}) on {effect.provider} {effect.model}, fenced into a staged copy of "
        f"{fence.cwd}: no shell, network {fence.network}, approvals {fence.approval_policy}, {limits}{told}"
    )


@describe_effect.register
def _(effect: CreateDataFolder) -> str:
    kept = ", ".join(effect.housekeeping)
    return f"create the data folder {effect.path} (may then keep there unasked: {kept})"


@describe_effect.register
def _(effect: EnsureLayout) -> str:
    return f"create {', '.join(effect.creates) or 'the layout'} in {effect.path}"


@describe_effect.register
def _(effect: WriteFile) -> str:
    lines = f"+{effect.lines_added} −{effect.lines_removed} lines"
    return f"{effect.path} ({effect.change}, {lines}, {effect.size_before} → {effect.size_after} bytes)"


@describe_effect.register
def _(effect: DeleteFile) -> str:
    return f"{effect.path} ({effect.size_before} bytes): {effect.reason}"


@describe_effect.register
def _(effect: ClaimJobs) -> str:
    return f"claim {len(effect.jobs)} jobs, {effect.concurrency} at once at most, leases of {effect.lease_seconds} s"


@describe_effect.register
def _(effect: StoreOutputs) -> str:
    if effect.lifted:
        return f"{len(effect.lifted)} rejected hunks may be proposed again"
    if effect.edited and not effect.count:
        return "; ".join(_row_changes(effect.edited))
    return f"store at most {effect.count} extracted memories, redacted, with hashes of the lines they cite"


@describe_effect.register
def _(effect: TakeOverRow) -> str:
    thread = one_line(effect.thread_id)
    used = f"used {effect.usage_count or 0} times"
    if effect.change == "usage":
        return f"raise the usage of {thread}: {used}"
    there = "" if effect.replaces is None else f", replaces the one of {_day(effect.replaces)}"
    redacted = f", {sum(effect.redactions.values())} secrets redacted" if effect.redactions else ""
    selected = ", in Codex's last selection" if effect.selected_at is not None else ""
    mode = "" if effect.memory_mode == "enabled" else f", {one_line(effect.memory_mode)}"
    said = one_line(headline(effect.rollout_summary), 72)
    return f"take over {thread} of {_day(effect.source_updated_at)}, {used}{selected}{mode}{there}{redacted}: “{said}”"


@describe_effect.register
def _(effect: TakeOverJobs) -> str:
    mark = "" if effect.watermark is None else f"the watermark {effect.watermark}"
    done = f"{len(effect.done)} sessions count as extracted, as Codex did" if effect.done else ""
    return "; ".join(part for part in (done, mark) if part)


def _day(seconds: int) -> str:
    return f"{utc(seconds):%Y-%m-%d %H:%M} UTC"


@describe_effect.register
def _(effect: UpdateJobs) -> str:
    if effect.scope == "global" and effect.watermark is None:
        return effect.action
    if effect.scope == "global":
        return f"record {effect.count} selected memories and the watermark {effect.watermark}"
    if effect.jobs:
        return f"{effect.action}: {_names([mark.thread_id for mark in effect.jobs])}"
    return f"{effect.action} of {effect.count} jobs"


@describe_effect.register
def _(effect: StoreVerdicts) -> str:
    what = f"{len(effect.records)} verdicts" if effect.records else "the verdicts of one sitting, as they are given,"
    return f"append {what} of {one_line(effect.rater)} (frame: {one_line(effect.frame, 200)})"


@describe_effect.register
def _(effect: KeepEvidence) -> str:
    most = "" if effect.records else "at most "
    return f"keep what {most}{effect.count} cited places say now (hash, text, surroundings), to tell later changes"


@describe_effect.register
def _(effect: StoreInboxDecisions) -> str:
    return "\n      ".join(_decision(decision) for decision in effect.decisions) or f"{effect.count} inbox decisions"


def _decision(decision: InboxDecision) -> str:
    words = f" as “{one_line(decision.text, 200)}”" if decision.decision == "reword" else ""
    return f"{decision.decision} inbox line {decision.line_id}: “{one_line(decision.quote, 200)}”{words}"


def _row_changes(changes: Iterable[Mapping[str, str]]) -> list[str]:
    by_wish: dict[str, list[str]] = {}
    for change in changes:
        wish = "take in again" if not change.get("excluded") else "leave out of the memory"
        by_wish.setdefault("replace the memory of" if "raw_memory" in change else wish, []).append(change["thread_id"])
    return [f"{wish} {_names(threads)}" for wish, threads in by_wish.items()]


def _names(threads: list[str]) -> str:
    shown = ", ".join(one_line(thread) for thread in threads[:MAX_NAMED])
    return shown if len(threads) <= MAX_NAMED else f"{shown} and {len(threads) - MAX_NAMED} more"


@describe_effect.register
def _(effect: PruneOutputs) -> str:
    return f"delete {len(effect.thread_ids)} stored memories: {effect.reason}"


@describe_effect.register
def _(effect: CreditUsage) -> str:
    threads = len({credit["cited_id"] for credit in effect.credits})
    return f"credit {len(effect.credits)} uses of {threads} memories that agents cited"


@describe_effect.register
def _(effect: ResetBaseline) -> str:
    replaced = (effect.previous or "none")[:12]
    return f"replace the git baseline {replaced} by one new commit {effect.repairs}".rstrip()


def grouped(effects: Iterable[Effect]) -> list[tuple[str, list[Effect]]]:
    """Return the effects by group, in the order of the confirmation sheet; empty groups left out."""
    by_group: dict[str, list[Effect]] = {group: [] for group in ORDER}
    for effect in effects:
        by_group[GROUPS[effect.type]].append(effect)
    return [(group, found) for group, found in by_group.items() if found]


def describe_plan(context: Context, plan: Plan, *, details: bool = False) -> None:
    """Print what a plan would do; `details` adds every hunk."""
    context.say(f"Plan: {plan.operation} ({plan.kind}), {plan.state.value}")
    context.say(f"  provider   {plan.provider.label or plan.provider.name}")
    if plan.memory_root:
        context.say(f"  memory     {plan.memory_root}")
    context.say(f"  data       {plan.home}")
    for note in plan.notes:
        context.say(f"  note       {note}")
    for line in plan.drift:
        context.say(f"  on disk, not in the baseline: {line}")
    groups = grouped(plan.effects)
    if not any(group == "leaves this computer" for group, _ in groups):
        context.say("  Nothing leaves this computer.")
    for group, effects in groups:
        context.say(f"  {group.capitalize()}:")
        limit = len(effects) if details else MAX_NAMED
        for effect in effects[:limit]:
            context.say(f"    - {describe_effect(effect)}")
        if len(effects) > limit:
            context.say(f"    - … and {len(effects) - limit} more (ltmem-gui show lists all)")
    _describe_skips(context, plan, details)
    for finding in plan.findings:
        place = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
        context.say(f"  {finding.severity.value}: {place}: {finding.text} [{finding.id}]")
    if details:
        for row in plan.effects_of(TakeOverRow):
            _describe_row(context, row)
        for change in plan.changes:
            describe_change(context, change)
    context.say(f"  digest {plan.digest}")


def _describe_row(context: Context, row: TakeOverRow) -> None:
    """Print the text of a memory that is taken over, as it would be stored."""
    for name, text in (("raw memory", row.raw_memory), ("summary", row.rollout_summary)):
        if text:
            context.say(f"--- {one_line(row.thread_id)} ({name})")
            for line in text.split("\n"):
                context.say(f"+{visible(line, keep=chr(9))}")


def _describe_skips(context: Context, plan: Plan, details: bool) -> None:
    if not plan.skipped:
        return
    context.say(f"  Left out: {len(plan.skipped)}")
    for skip in plan.skipped if details else plan.skipped[:MAX_NAMED]:
        context.say(f"    - {skip.id or skip.path}: {'; '.join(skip.reasons)}")


def describe_change(context: Context, change: FileChange) -> None:
    """Print the hunks of one file, each with its id."""
    context.say(f"--- {change.path} ({change.change})")
    for hunk in change.hunks:
        context.say(f"@@ {change.path}:{hunk.id} from line {hunk.old_start + 1} to line {hunk.new_start + 1} @@")
        for sign, lines in (("-", hunk.old), ("+", hunk.new)):
            for line in lines:
                context.say(f"{sign}{visible(line.removesuffix(chr(10)), keep=chr(9))}")


def describe_receipt(context: Context, receipt: Receipt) -> None:
    """Print what was done."""
    context.say(f"Done: operation {receipt.operation_number}, {receipt.operation}, confirmed on the {receipt.surface}")
    for name, count in receipt.counts.items():
        context.say(f"  {count:>6}  {name}")
    for currency, amount in receipt.costs.items():
        context.say(f"  cost {in_words(Decimal(amount), currency)}")
    if receipt.cost_unknown:
        context.say(f"  the cost of {receipt.cost_unknown} is not known: no price, or tokens that were not reported")
    for place, kinds in receipt.redactions.items():
        context.say(f"  redacted in the {place}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
    for file in receipt.files:
        verb = "deleted" if file.new_sha256 is None else "added" if file.old_sha256 is None else "changed"
        context.say(f"  {verb:<8} {one_line(file.path)}")
    for step in receipt.steps:
        context.say(f"  step {step}")
    if receipt.baseline_commit:
        context.say(f"  baseline {receipt.baseline_commit}")
    if receipt.watermark_after is not None:
        context.say(f"  watermark {receipt.watermark_before} → {receipt.watermark_after}")
