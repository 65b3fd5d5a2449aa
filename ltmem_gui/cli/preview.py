"""`preview extract`: what a provider would remember of a session. Nothing is stored; age and idle time do not matter.

A provider on another host receives the redacted text of the named sessions: naming the provider on the command line
is the consent for exactly these files, and the host is named on the error stream first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.eligibility import assess
from ltmem_gui.domain.errors import ExitCode, InputError, KnownError, ProviderError, RedactionFailed
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.evidence import lines_of, references_supported
from ltmem_gui.domain.extraction import (
    BadReply,
    Candidate,
    ExtractionInput,
    ExtractionReply,
    StageOneReply,
    decode_reply,
)
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.memory_items import token_limit
from ltmem_gui.domain.prices import PRICE_UNKNOWN, cost, in_words, price_of
from ltmem_gui.domain.rollouts import Rollout, RolloutRef, SourceSpec
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.pipeline.failure_words import checked
from ltmem_gui.pipeline.ports import Extractor

_MANY = 1_000_000
_IGNORED_RULES = frozenset({"age", "idle", "up_to_date", "archived", "interactive"})
_NOTHING = StageOneReply(raw_memory="", rollout_summary="", rollout_slug="")


def register(commands: Subparsers) -> None:
    """Add the commands that show a result without keeping it."""
    preview = commands.add_parser("preview", help="show what a run would produce; nothing is written")
    kinds = preview.add_subparsers(dest="preview", required=True, metavar="WHAT")
    extract = kinds.add_parser("extract", help="show what would be remembered of the named sessions")
    extract.add_argument("paths", nargs="+", metavar="PATH", help="a session file, or a folder of sessions")
    extract.add_argument("--provider", default="builtin", metavar="NAME", help="builtin (default) or a configured one")
    extract.add_argument("--json", action="store_true", help="one JSON object per line")
    extract.set_defaults(run=_run_extract)


def _run_extract(args: argparse.Namespace, context: Context) -> int:
    refs: list[RolloutRef] = []
    for path in args.paths:
        spec = SourceSpec("codex", str(Path(path).expanduser()))
        found = context.adapters.rollouts.discover([spec], limit=_MANY, cancel=CancelToken(), listen=ignore)
        if not found.refs:
            raise InputError("no session is here", "name a session file or a folder of them", spec.path)
        refs += found.refs
    extractor = context.adapters.extractor(args.provider, context.settings)
    if extractor.mark.host:
        mark = extractor.mark
        price = price_of(context.settings.prices, mark.name, mark.model)
        said = PRICE_UNKNOWN if price is None else price.in_words()
        context.warn(f"sending the redacted text of {len(refs)} session(s) to {mark.host}; {said}")
    failed = asyncio.run(_show_all(context, extractor, refs, as_json=args.json))
    return ExitCode.ERROR if failed else ExitCode.DONE


async def _show_all(context: Context, extractor: Extractor, refs: Sequence[RolloutRef], *, as_json: bool) -> int:
    failed = 0
    used: list[TokenUsage] = []
    try:
        for ref in refs:
            shown = await _one(context, extractor, ref, used)
            failed += shown["outcome"] == "failed"
            if as_json:
                context.out.write(json.dumps(shown, ensure_ascii=True) + "\n")
            else:
                _say(context, shown)
    finally:
        await extractor.close()
        _say_cost(context, extractor, used)
    return failed


def _say_cost(context: Context, extractor: Extractor, used: Sequence[TokenUsage]) -> None:
    """Say what the answers cost, where a price is entered."""
    mark = extractor.mark
    price = price_of(context.settings.prices, mark.name, mark.model)
    if price is None or not mark.host:
        return
    paid = [found for found in (cost(price, usage) for usage in used) if found is not None]
    unknown = f"; of {len(used) - len(paid)} more it is not known" if len(paid) < len(used) else ""
    context.warn(f"cost {in_words(sum(paid, Decimal(0)), price.currency)}{unknown}")


async def _one(context: Context, extractor: Extractor, ref: RolloutRef, used: list[TokenUsage]) -> dict[str, Any]:
    thread = ref.thread_id or ""
    prepared: ExtractionInput | None = None
    try:
        rollout = await context.adapters.offload.thread(context.adapters.rollouts.load, ref)
        thread = rollout.id
        refused, remarks = _judged(context, rollout)
        if refused:
            return _result(thread, "no-op", findings=refused)
        limit = token_limit(context.settings.context_window or None)
        prepared = await context.adapters.preparer.prepare(ref, token_limit=limit)
        reply = await extractor.extract(prepared)
        used.append(reply.usage)
        decoded = await _clean(context, decode_reply(reply.text), prepared.known_values)
    except KnownError as error:
        if isinstance(error, ProviderError) and error.usage is not None:
            used.append(error.usage)
        said = await checked(context.adapters, error, prepared.known_values if prepared else ())
        return _result(thread, "failed", prepared=prepared, findings=(_failure(said),))
    outcome = "no-op" if decoded.is_no_op else "proposed"
    findings = (*remarks, *references_supported(decoded, prepared.thread_id, lines_of(prepared.items)))
    return _result(
        thread,
        outcome,
        prepared=prepared,
        decoded=_NOTHING if decoded.is_no_op else decoded,
        reply=reply,
        findings=findings,
    )


def _judged(context: Context, rollout: Rollout) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return why the session may not be read at all, and what a run would hold against it."""
    eligibility = assess(
        rollout,
        context.settings,
        context.adapters.clock(),
        memory_root=str(context.memory_root) if context.memory_root else None,
        home=str(context.home) if context.home else None,
    )
    hard = [reason for reason in eligibility.failed if reason.rule not in _IGNORED_RULES]
    soft = [reason for reason in eligibility.failed if reason.rule in ("interactive", "archived")]
    refused = tuple(_finding("eligibility", Severity.BLOCKING, reason.text) for reason in hard)
    return refused, tuple(_finding("eligibility", Severity.INFO, f"a run skips it: {reason.text}") for reason in soft)


async def _clean(context: Context, reply: StageOneReply, known: tuple[str, ...]) -> StageOneReply:
    redact = context.adapters.redact_text
    return StageOneReply(
        raw_memory=(await redact(reply.raw_memory, known)).text,
        rollout_summary=(await redact(reply.rollout_summary, known)).text,
        rollout_slug=(await redact(reply.rollout_slug, known)).text,
    )


def _result(
    thread: str,
    outcome: str,
    *,
    prepared: ExtractionInput | None = None,
    decoded: StageOneReply = _NOTHING,
    reply: ExtractionReply | None = None,
    findings: Sequence[Finding] = (),
) -> dict[str, Any]:
    return {
        "id": thread,
        "outcome": outcome,
        "raw_memory": decoded.raw_memory,
        "rollout_summary": decoded.rollout_summary,
        "rollout_slug": decoded.rollout_slug,
        "proposed": [_candidate(c) for c in reply.proposed] if reply else [],
        "inbox": [_candidate(c) for c in reply.inbox] if reply else [],
        "findings": [finding.model_dump(mode="json") for finding in findings],
        "tokens_in": prepared.tokens_before if prepared else 0,
        "tokens_sent": prepared.tokens if prepared else 0,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {"text": candidate.text, "line": candidate.line, "kind": candidate.kind, "score": candidate.score}


def _failure(error: KnownError) -> Finding:
    if isinstance(error, ProviderError):
        rule = error.group
    elif isinstance(error, BadReply):
        rule = "schema"
    else:
        rule = "redaction" if isinstance(error, RedactionFailed) else "input"
    return _finding(rule, Severity.BLOCKING, str(error))


def _finding(rule: str, severity: Severity, text: str) -> Finding:
    return Finding(id=rule, rule=rule, severity=severity, path="", text=text)


def _say(context: Context, shown: dict[str, Any]) -> None:
    context.say(f"{shown['outcome']}  {shown['id']}  {shown['tokens_sent']} of {shown['tokens_in']} tokens")
    for name in ("proposed", "inbox"):
        for candidate in shown[name]:
            context.say(
                f"  {name} {candidate['score']:3} {candidate['kind']}, line {candidate['line']}: {candidate['text']}"
            )
    for finding in shown["findings"]:
        context.say(f"  {finding['severity']} {finding['rule']}: {finding['text']}")
    if shown["raw_memory"]:
        context.say(shown["raw_memory"])
