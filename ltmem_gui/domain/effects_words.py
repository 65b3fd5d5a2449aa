"""The effects of a plan in words: numbers first, one sentence, details to unfold; window and command line lay them out.

Times are said by the surface: `when` puts Unix seconds into words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import singledispatch

from ltmem_gui.domain.effects import (
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
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.measures import count, plural, size, span, tokens
from ltmem_gui.domain.naming import utc
from ltmem_gui.domain.prices import Estimate, in_words
from ltmem_gui.domain.taking_over import headline

When = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class EffectWords:
    """One effect: `number` large, `text` beside it, `details` folded unless they are what is asked about."""

    number: str
    text: str
    details: tuple[str, ...] = ()
    unfolded: bool = False

    @property
    def sentence(self) -> str:
        """Return number and text in one."""
        return f"{self.number} {self.text}".lstrip()


@dataclass(frozen=True, slots=True)
class FileWords:
    """One file as it will be written: lines and bytes of what is decided, `partly` where that is not the proposal."""

    path: str
    change: str
    added: int
    removed: int
    before: int
    after: int
    partly: bool = False

    @property
    def line(self) -> str:
        """Return it in one line."""
        return (
            f"{one_line(self.path, 400)}   {self.change}   +{count(self.added)} −{count(self.removed)}   "
            f"{size(self.before)} → {size(self.after)}{'   as decided' if self.partly else ''}"
        )


def in_utc(seconds: int) -> str:
    """Return Unix seconds as a minute that means the same everywhere."""
    return f"{utc(seconds):%Y-%m-%d %H:%M} UTC"


def words_of(effect: Effect, when: When = in_utc) -> EffectWords:
    """Put one effect into words."""
    match effect:
        case TakeOverRow():
            return taken_over((effect,), when)
        case TakeOverJobs():
            return _codex_jobs(effect, when)
        case UpdateJobs():
            return _job_records(effect, when)
        case _:
            return _words(effect)


@singledispatch
def _words(effect: Effect) -> EffectWords:
    raise TypeError(f"no words for {effect.type}")


def written(files: tuple[FileWords, ...]) -> EffectWords:
    """Put the files that will be written into words."""
    added = sum(file.added for file in files)
    removed = sum(file.removed for file in files)
    noun = "file" if len(files) == 1 else "files"
    text = f"{noun} in the memory folder (+{count(added)} −{count(removed)} lines)"
    return EffectWords(count(len(files)), text, tuple(file.line for file in files))


def taken_over(rows: tuple[TakeOverRow, ...], when: When = in_utc) -> EffectWords:
    """Put the memories that are taken over from Codex into words."""
    noun = "memory" if len(rows) == 1 else "memories"
    details = tuple(_row(row, when) for row in rows)
    return EffectWords(count(len(rows)), f"{noun} taken over from Codex", details)


def _row(row: TakeOverRow, when: When) -> str:
    thread, said = one_line(row.thread_id), one_line(headline(row.rollout_summary), 72)
    older = f"replaces the one of {when(row.replaces)}" if row.replaces is not None else "replaces an older one"
    change = {"added": "new here", "replaced": older, "usage": "only its usage is raised"}[row.change]
    parts = [said, thread] if said else [thread]
    parts += [when(row.source_updated_at), change, f"used {plural(row.usage_count or 0, 'time')}"]
    parts += ["in Codex's last selection"] if row.selected_at is not None else []
    parts += [one_line(row.memory_mode)] if row.memory_mode != "enabled" else []
    parts += [f"{plural(sum(row.redactions.values()), 'secret')} redacted"] if row.redactions else []
    return "   ".join(parts)


@_words.register
def _(effect: WriteFile) -> EffectWords:
    lines = (effect.lines_added, effect.lines_removed)
    return written((FileWords(effect.path, effect.change, *lines, effect.size_before, effect.size_after),))


@_words.register
def _(effect: SendToModel) -> EffectWords:
    where = f"{effect.host} (this computer)" if effect.loopback else effect.host
    redacted = sum(effect.redactions.values())
    kinds = ", ".join(f"{name} × {n}" for name, n in sorted(effect.redactions.items()))
    details = (
        f"model {effect.model or 'default'}, {plural(effect.requests, 'request')}",
        f"cost: {effect.price}",
        f"{plural(redacted, 'secret')} redacted before sending" + (f": {kinds}" if redacted else ""),
    )
    return EffectWords(tokens(effect.tokens), f"tokens of redacted text to {one_line(where)}; {_cost(effect)}", details)


def _cost(effect: SendToModel) -> str:
    """Say the cost in short: a range, and where it stops."""
    if not effect.currency:
        return effect.price
    cost = str(Estimate(Decimal(effect.cost_low), Decimal(effect.cost_high), effect.currency))
    return f"{cost}, stops at {in_words(Decimal(effect.cost_limit), effect.currency)}" if effect.cost_limit else cost


_MODES = {"INIT": "it writes the first memory", "INCREMENTAL": "it updates the memory that is there"}


@_words.register
def _(effect: StartAgent) -> EffectWords:
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
    return EffectWords("1", f"consolidation agent ({one_line(effect.model)}) in a staged copy", details, unfolded=True)


@_words.register
def _(effect: CreateDataFolder) -> EffectWords:
    details = (effect.path, "kept there unasked from then on: " + ", ".join(effect.housekeeping))
    return EffectWords("1", "new data folder (queue, extracted memories, receipts)", details)


@_words.register
def _(effect: EnsureLayout) -> EffectWords:
    noun = "new folder" if len(effect.creates) == 1 else "new folders"
    details = effect.creates or (effect.path,)
    return EffectWords(str(len(details)), f"{noun} for the memory", details)


@_words.register
def _(effect: DeleteFile) -> EffectWords:
    return EffectWords("1", f"{one_line(effect.path)} ({size(effect.size_before)})", (effect.reason,))


@_words.register
def _(effect: ClaimJobs) -> EffectWords:
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
    return EffectWords(count(len(effect.jobs)), text, details)


def _job_records(effect: UpdateJobs, when: When) -> EffectWords:
    if effect.scope == "global":
        mark = "" if effect.watermark is None else f", watermark {when(effect.watermark)}"
        return EffectWords("1", f"record of this consolidation{mark}", (effect.action,))
    marks = tuple(f"{one_line(mark.thread_id)} ({mark.status.value})" for mark in effect.jobs)
    noun = "job record" if effect.count == 1 else "job records"
    text = f"{noun}: {effect.action}" if marks else noun
    return EffectWords(count(effect.count), text, marks or (effect.action,))


@_words.register
def _(effect: StoreOutputs) -> EffectWords:
    if effect.lifted:
        return EffectWords(count(len(effect.lifted)), "rejected hunks that may be proposed again", effect.lifted)
    if not effect.edited:
        return EffectWords(count(effect.count), "extracted memories at most", ("with hashes of the lines they cite",))
    by_wish: dict[str, list[str]] = {}
    for change in effect.edited:
        wish = "left out of the memory" if change.get("excluded") else "taken into the memory again"
        wish = "with an edited memory" if "raw_memory" in change else wish
        by_wish.setdefault(wish, []).append(one_line(change["thread_id"]))
    noun = "session" if len(effect.edited) == 1 else "sessions"
    parts = [f"{count(len(threads))} {wish}" for wish, threads in by_wish.items()]
    text = f"{noun}: {', '.join(parts)}" if len(by_wish) > 1 else f"{noun} {next(iter(by_wish))}"
    details = tuple(f"{thread}   {wish}" for wish, threads in by_wish.items() for thread in threads)
    return EffectWords(count(len(effect.edited)), text, details)


@_words.register
def _(effect: PruneOutputs) -> EffectWords:
    return EffectWords(count(len(effect.thread_ids)), f"extracted memories removed: {effect.reason}", effect.thread_ids)


@_words.register
def _(effect: CreditUsage) -> EffectWords:
    cited = len({credit["cited_id"] for credit in effect.credits})
    text = f"uses of {plural(cited, 'memory', 'memories')} credited, as agents cited them"
    return EffectWords(count(len(effect.credits)), text)


def _codex_jobs(effect: TakeOverJobs, when: When) -> EffectWords:
    mark = () if effect.watermark is None else (f"watermark {when(effect.watermark)}",)
    if not effect.done:
        return EffectWords("1", "watermark of Codex's last consolidation", mark)
    noun = "session counts" if len(effect.done) == 1 else "sessions count"
    return EffectWords(count(len(effect.done)), f"{noun} as extracted, as Codex did", (*mark, *sorted(effect.done)))


@_words.register
def _(effect: StoreVerdicts) -> EffectWords:
    number = count(len(effect.records)) if effect.records else ""
    frame = f"frame: {one_line(effect.frame, 200)}"
    return EffectWords(number, f"verdicts of {one_line(effect.rater)} are appended", (frame,))


@_words.register
def _(effect: KeepEvidence) -> EffectWords:
    number = count(effect.count) if effect.records else f"≤ {count(effect.count)}"
    what = "cited places: what they say now is kept, to tell later changes"
    return EffectWords(number, what, ("hash, text and surroundings; the hash alone where a secret may be",))


@_words.register
def _(effect: StoreInboxDecisions) -> EffectWords:
    details = tuple(map(_decision, effect.decisions))
    return EffectWords(count(effect.count), "inbox decisions" if effect.count != 1 else "inbox decision", details)


def _decision(decision: InboxDecision) -> str:
    words = f" as “{one_line(decision.text, 300)}”" if decision.decision == "reword" else ""
    return f"{decision.decision} line {decision.line_id}: “{one_line(decision.quote, 300)}”{words}"


@_words.register
def _(effect: ResetBaseline) -> EffectWords:
    before = f"replaces {effect.previous[:8]}" if effect.previous else "the first one"
    details = (effect.path, *((effect.repairs,) if effect.repairs else ()))
    return EffectWords("1", f"new baseline commit without history ({before})", details)
