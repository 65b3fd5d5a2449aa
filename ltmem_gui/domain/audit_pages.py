"""A report for people: one printable HTML file, and Markdown. Every text of the memory is data, never markup.

The HTML has no script, loads nothing, and says so in its policy; hidden characters are shown as tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from ltmem_gui.domain.audit import GUIDELINE
from ltmem_gui.domain.audit_report import AuditReport, ReportItem, ReportVerdict, stamp
from ltmem_gui.domain.hazards import one_line, visible

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #d0d7de; padding-bottom: .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: #57606a; } dd { margin: 0; overflow-wrap: anywhere; }
article { border: 1px solid #d0d7de; border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0; break-inside: avoid; }
article h3 { font-size: 1rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
.place { color: #57606a; font-size: .85rem; overflow-wrap: anywhere; }
pre { font: 13px/1.45 ui-monospace, monospace; background: #f6f8fa; border-left: 3px solid #8c959f;
      padding: .5rem .75rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
ul { padding-left: 1.25rem; margin: .25rem 0; }
.verdict { font-weight: 600; }
.none { color: #57606a; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# Markup inside a line, what would become a link by itself, and what would begin a list, a rule or a heading.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!&~@]|:(?=//)|(?<=www)\.|\A[-+=]|(?<=\A[0-9])[.)])")
_TICKS = re.compile(r"`+")


def to_html(report: AuditReport) -> str:
    """Write the report as one HTML page."""
    return "\n".join(_html(report)) + "\n"


def to_markdown(report: AuditReport) -> str:
    """Write the report as Markdown (CommonMark); memory text is escaped or fenced."""
    return "\n".join(_markdown(report)) + "\n"


def facts(report: AuditReport) -> tuple[tuple[str, str], ...]:
    """Return what the head says, as pairs of name and words."""
    head = report.head
    times = f"{stamp(head.first_at)} to {stamp(head.last_at)}" if head.first_at is not None else "no verdicts yet"
    return (
        ("Frame", head.frame),
        ("Items", f"{head.drawn} of {head.population}, method {head.method}, seed {head.seed}"),
        ("Frames of the verdicts", "; ".join(head.frames) or "none"),
        ("Raters", ", ".join(head.raters) or "none"),
        ("Judged", times),
        ("Written", stamp(head.created_at)),
        ("Baseline", head.baseline or "none"),
        ("Program", f"{head.program}, guideline {head.guideline}, report format {head.format_version}"),
    )


def _html(report: AuditReport) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Citation audit</title><style>{_STYLE}</style></head><body>"
    yield "<h1>Citation audit</h1><dl>"
    for name, words in facts(report):
        yield f"<dt>{_text(name)}</dt><dd>{_text(words)}</dd>"
    yield "</dl>"
    yield from _html_list("Result", (*report.head.coverage, *report.head.agreement, *report.head.notes))
    yield "<h2>Citations</h2>"
    for item in report.items:
        yield from _html_item(item)
    if not report.items:
        yield '<p class="none">The frame holds no citation.</p>'
    yield from _html_list(
        "Claims without a citation that resolves",
        tuple(f"{claim.file}:{claim.line} ({claim.state}): {claim.text}" for claim in report.claims),
    )
    yield from _html_list("How verdicts are given", tuple(f"{name}: {rule}" for name, rule in GUIDELINE.items()))
    yield "</body></html>"


def _html_item(item: ReportItem) -> Iterator[str]:
    yield f"<article><h3>{_text(item.claim or '(no claim)')}</h3>"
    place = f"{item.file}:{item.line} cites {item.path}:{item.start}-{item.end}"
    yield f'<div class="place">{_text(place)} · location: {_text(item.location)}</div>'
    if item.note:
        yield f'<div class="place">note: {_text(item.note)}</div>'
    hints = _hints(item)
    if hints:
        yield f'<div class="place">hints, not verdicts: {_text(hints)}</div>'
    if item.evidence:
        yield f"<pre>{_text(item.evidence)}</pre>"
    if not item.verdicts:
        yield '<div class="none">not judged</div>'
    for verdict in item.verdicts:
        yield f'<div><span class="verdict">{_text(verdict.verdict)}</span> — {_text(_said(verdict))}</div>'
    yield "</article>"


def _html_list(title: str, lines: tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield f"<h2>{_text(title)}</h2><ul>"
        yield from (f"<li>{_text(line)}</li>" for line in lines)
        yield "</ul>"


def _markdown(report: AuditReport) -> Iterator[str]:
    yield "# Citation audit"
    yield ""
    for name, words in facts(report):
        yield f"- **{name}**: {_plain(words)}"
    yield from _markdown_list("Result", (*report.head.coverage, *report.head.agreement, *report.head.notes))
    yield from ("", "## Citations")
    for item in report.items:
        yield from _markdown_item(item)
    if not report.items:
        yield from ("", "The frame holds no citation.")
    yield from _markdown_list(
        "Claims without a citation that resolves",
        tuple(f"{claim.file}:{claim.line} ({claim.state}): {claim.text}" for claim in report.claims),
    )
    yield from _markdown_list("How verdicts are given", tuple(f"{name}: {rule}" for name, rule in GUIDELINE.items()))


def _markdown_item(item: ReportItem) -> Iterator[str]:
    yield from ("", f"### {_plain(item.claim or '(no claim)')}", "")
    yield f"- {_plain(f'{item.file}:{item.line} cites {item.path}:{item.start}-{item.end}')}"
    yield f"- location: {_plain(item.location)}"
    if item.note:
        yield f"- note: {_plain(item.note)}"
    hints = _hints(item)
    if hints:
        yield f"- hints, not verdicts: {_plain(hints)}"
    for verdict in item.verdicts:
        yield f"- **{_plain(verdict.verdict)}** — {_plain(_said(verdict))}"
    if not item.verdicts:
        yield "- not judged"
    if item.evidence:
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(item.evidence)), default=0))
        yield from ("", f"{fence}text", visible(item.evidence), fence)


def _markdown_list(title: str, lines: tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {title}", "")
        yield from (f"- {_plain(line)}" for line in lines)


def _hints(item: ReportItem) -> str:
    score = () if item.score_percent is None else (f"{item.score_percent} % of the claim's rare words are there",)
    return "; ".join((*item.smells, *score))


def _said(verdict: ReportVerdict) -> str:
    flags = (" (adjudication)" if verdict.final else "") + (
        " (stale: the texts changed since)" if verdict.stale else ""
    )
    note = f": {verdict.note}" if verdict.note else ""
    return f"{verdict.rater}, {stamp(verdict.at)}{flags}{note}"


def _text(text: str) -> str:
    return escape(visible(text), quote=True)


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", one_line(text, 2_000))
