"""Plans and receipts in words, as the confirmation sheet of the window says them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from ltmem_gui.cli.context import Context
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import GROUPS, Effect, TakeOverRow, WriteFile
from ltmem_gui.domain.effects_words import words_of
from ltmem_gui.domain.hazards import one_line, visible
from ltmem_gui.domain.plan import FileChange, Plan
from ltmem_gui.domain.prices import in_words

ORDER = ("leaves this computer", "starts", "writes", "deletes", "database", "git")
MAX_NAMED = 12


def describe_effect(effect: Effect, *, all_of_it: bool = False) -> str:
    """Say one effect: a line, numbers first, and its details below; many are cut unless `all_of_it`."""
    words = words_of(effect)
    details = words.details if all_of_it else words.details[:MAX_NAMED]
    # Files and rows come one by one: each is its own line.
    head = [] if isinstance(effect, WriteFile | TakeOverRow) else [words.sentence]
    lines = [visible(line, keep=chr(9)) for line in (*head, *details)]
    if len(words.details) > len(details):
        lines.append(f"… and {len(words.details) - len(details)} more")
    return "\n        ".join(lines)


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
            context.say(f"    - {describe_effect(effect, all_of_it=details)}")
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
