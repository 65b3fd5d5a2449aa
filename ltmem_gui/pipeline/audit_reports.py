"""Reports of an audit: drawn, counted, passed through the one choke point, and put into the form asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ltmem_gui.domain.audit_frames import Method, Stratum, draw
from ltmem_gui.domain.audit_pages import to_html, to_markdown
from ltmem_gui.domain.audit_report import AuditReport, build_report, to_csv, to_json_lines
from ltmem_gui.domain.audit_sarif import to_sarif
from ltmem_gui.domain.audit_statistics import coverage
from ltmem_gui.pipeline.audit import Audit
from ltmem_gui.pipeline.ports import Adapters, Redactor

ReportFormat = Literal["html", "md", "csv", "jsonl", "sarif"]
FORMATS: dict[ReportFormat, Callable[[AuditReport], str]] = {
    "html": to_html,
    "md": to_markdown,
    "csv": to_csv,
    "jsonl": to_json_lines,
    "sarif": to_sarif,
}


@dataclass(frozen=True, slots=True)
class ReportWish:
    """What a report is to hold: how its items are drawn, and whose verdicts its figures count (None: all)."""

    method: Method = "all"
    size: int = 0
    seed: int = 0
    by: Stratum | None = None
    rater: str | None = None


async def make_report(adapters: Adapters, audit: Audit, wish: ReportWish, *, program: str) -> AuditReport:
    """Build the report of an audit; what it quotes is redacted.

    Raises `UsageError` for a sample that cannot be drawn, `RedactionFailed` rather than quote unchecked text.
    """
    return (await make_counted_report(adapters, audit, wish, program=program))[0]


async def make_counted_report(
    adapters: Adapters, audit: Audit, wish: ReportWish, *, program: str
) -> tuple[AuditReport, int]:
    """Do what `make_report` does, and return how many secrets were replaced in it."""
    now = adapters.clock()
    frame, drawn = draw(audit.found.items, wish.method, size=wish.size, seed=wish.seed, by=wish.by, now=now)
    verdicts = audit.verdicts
    summary = coverage(
        audit.found.claims,
        drawn,
        verdicts,
        rater=wish.rater,
        sessions=audit.sessions,
        cited_sessions=audit.found.cited_sessions,
    )
    report = build_report(
        drawn,
        frame,
        audit.found.claims,
        verdicts,
        summary,
        program=program,
        created_at=now,
        baseline=audit.snapshot.baseline,
        notes=(*_sessions_words(summary.sessions_never_cited), *audit.notes),
    )
    return await adapters.offload.cpu(partial(redacted, adapters.redactor), report)


def redacted(redactor: Redactor, report: AuditReport) -> tuple[AuditReport, int]:
    """Return the report with the texts it quotes redacted, and how many secrets that took. Raises `RedactionFailed`."""
    texts = [[item.claim, item.note, item.evidence] for item in report.items]
    claims = [claim.text for claim in report.claims]
    clean: Any
    clean, found = redactor.redact_json([texts, claims, list(report.head.notes)])
    items = tuple(
        item.model_copy(update={"claim": claim, "note": note, "evidence": evidence})
        for item, (claim, note, evidence) in zip(report.items, clean[0], strict=True)
    )
    said = tuple(c.model_copy(update={"text": text}) for c, text in zip(report.claims, clean[1], strict=True))
    head = report.head.model_copy(update={"notes": tuple(clean[2])})
    return report.model_copy(update={"head": head, "items": items, "claims": said}), len(found)


def _sessions_words(threads: tuple[str, ...]) -> tuple[str, ...]:
    if not threads:
        return ()
    more = f" and {len(threads) - 5} more" if len(threads) > 5 else ""
    return (f"{len(threads)} sessions are never cited: {', '.join(threads[:5])}{more}",)
