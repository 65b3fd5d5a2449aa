"""A report of an audit as data, and its two machine forms: JSON lines (read back equal) and CSV (ui-features C15).

Frame, seed, versions, raters and times travel with it. It holds no path of this computer. Times are Unix seconds.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ltmem_gui.domain.audit import GUIDELINE_VERSION, AuditItem, Claim, Standing, Verdicts
from ltmem_gui.domain.audit_frames import Frame
from ltmem_gui.domain.audit_statistics import Agreement, Coverage, agreement
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.verdicts import VerdictRecord

FORMAT_VERSION = 1
MAX_EVIDENCE = 4_000
"""Characters of evidence in a report; the rest is left out with a mark."""

CUT = "…"
COLUMNS = (
    "item", "file", "line", "claim", "path", "start", "end", "note", "location", "smells", "support score", "rater",
    "verdict", "verdict note", "judged at", "stale", "adjudicated", "evidence",
)  # fmt: skip


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReportHead(_Value):
    """What a reader needs to weigh the rest. `frame` is how the items were drawn, `frames` those of the verdicts."""

    kind: Literal["head"] = "head"
    format_version: Literal[1] = FORMAT_VERSION
    program: str
    guideline: str = GUIDELINE_VERSION
    created_at: int
    baseline: str | None = None
    frame: str
    method: str
    seed: int
    drawn: int
    population: int
    frames: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    first_at: int | None = None
    last_at: int | None = None
    coverage: tuple[str, ...] = ()
    agreement: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ReportVerdict(_Value):
    """One verdict that counts."""

    rater: str
    verdict: str
    note: str = ""
    at: int
    stale: bool = False
    final: bool = False


class ReportItem(_Value):
    """One claim with one citation, the machine's answer, the hints, and what was said of it."""

    kind: Literal["item"] = "item"
    item: str
    file: str
    line: int
    claim: str
    claim_lines: tuple[int, ...] = ()
    path: str
    start: int
    end: int
    note: str = ""
    location: str
    resolves: bool
    now: tuple[int, int] | None = None
    smells: tuple[str, ...] = ()
    score_percent: int | None = None
    evidence: str = ""
    binding: str
    verdicts: tuple[ReportVerdict, ...] = ()


class ReportClaim(_Value):
    """A claim without citation, or with broken ones only."""

    kind: Literal["claim"] = "claim"
    file: str
    line: int
    text: str
    state: str


class ReportRecord(_Value):
    """One line of the append-only history."""

    kind: Literal["record"] = "record"
    at: int
    rater: str
    frame: str
    item: str
    verdict: str
    note: str = ""
    binding: str = ""
    thread_ids: tuple[str, ...] = ()


class AuditReport(_Value):
    """The whole report."""

    head: ReportHead
    items: tuple[ReportItem, ...] = ()
    claims: tuple[ReportClaim, ...] = ()
    records: tuple[ReportRecord, ...] = ()

    @property
    def verdict_records(self) -> tuple[VerdictRecord, ...]:
        """Return the history as the store keeps it."""
        return tuple(VerdictRecord(**record.model_dump(exclude={"kind"})) for record in self.records)


def build_report(
    drawn: Sequence[AuditItem],
    frame: Frame,
    claims: Iterable[Claim],
    verdicts: Verdicts,
    summary: Coverage,
    *,
    program: str,
    created_at: int,
    baseline: str | None = None,
    notes: Sequence[str] = (),
) -> AuditReport:
    """Put a report together; the history holds what was said of the items that were drawn."""
    items = tuple(_item(item, verdicts) for item in drawn)
    named = {standing.record.item for item in drawn for standing in _standings(item, verdicts)}
    named |= {item.key for item in drawn}
    records = [record for record in verdicts.records if record.item in named]
    head = ReportHead(
        program=program,
        created_at=created_at,
        baseline=baseline,
        frame=frame.name,
        method=frame.method,
        seed=frame.seed,
        drawn=frame.drawn,
        population=frame.population,
        frames=tuple(dict.fromkeys(_clean(record.frame) for record in records)),
        raters=tuple(_clean(rater) for rater in verdicts.raters),
        first_at=min((record.at for record in records), default=None),
        last_at=max((record.at for record in records), default=None),
        coverage=summary.words,
        agreement=tuple(_clean(agreement_words(found)) for found in agreements(drawn, verdicts)),
        notes=tuple(_clean(note) for note in notes),
    )
    return AuditReport(
        head=head,
        items=items,
        claims=tuple(_claim(claim) for claim in claims if claim.state in ("uncited", "broken")),
        records=tuple(_record(record) for record in records),
    )


def agreements(items: Sequence[AuditItem], verdicts: Verdicts) -> tuple[Agreement, ...]:
    """Return the agreement of every two raters."""
    raters = verdicts.raters
    return tuple(
        agreement(items, verdicts, first, second)
        for place, first in enumerate(raters)
        for second in raters[place + 1 :]
    )


def to_json_lines(report: AuditReport) -> str:
    """Write one JSON object a line, ASCII only: the head, then items, claims and history."""
    parts: tuple[BaseModel, ...] = (report.head, *report.items, *report.claims, *report.records)
    return "".join(json.dumps(part.model_dump(mode="json"), ensure_ascii=True) + "\n" for part in parts)


def read_json_lines(text: str, *, where: str) -> AuditReport:
    """Read a report back. Raises `InputError` naming `where` and the line for anything else."""
    kinds: dict[str, type[BaseModel]] = {
        "head": ReportHead,
        "item": ReportItem,
        "claim": ReportClaim,
        "record": ReportRecord,
    }
    found: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value: Any = json.loads(line)
            kind = value.get("kind") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            found[str(kind)].append(kinds[str(kind)].model_validate_json(line))  # pyright: ignore[reportUnknownArgumentType]
        except (ValueError, KeyError, ValidationError) as error:
            reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "not a line of a report"
            raise InputError(f"not a report of an audit: {reason}", _REMEDY, where, number) from error
    if len(found["head"]) != 1:
        raise InputError("not a report of an audit: it has no head or several", _REMEDY, where)
    return AuditReport(
        head=found["head"][0],
        items=tuple(found["item"]),
        claims=tuple(found["claim"]),
        records=tuple(found["record"]),
    )


def to_csv(report: AuditReport) -> str:
    """Write one row for each verdict that counts, and one for each item without; lines end with CR LF (RFC 4180).

    A cell that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for item in report.items:
        for verdict in item.verdicts or (None,):
            writer.writerow([_cell(value) for value in _row(item, verdict)])
    return out.getvalue()


def stamp(seconds: int | None) -> str:
    """Return a time in UTC, empty for none."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


_REMEDY = "make one with: ltmem-gui cite audit export --format jsonl"


def _row(item: ReportItem, verdict: ReportVerdict | None) -> tuple[object, ...]:
    score = "" if item.score_percent is None else f"{item.score_percent / 100:.2f}"
    own = (item.item, item.file, item.line, item.claim, item.path, item.start, item.end, item.note, item.location)
    said: tuple[object, ...] = ("", "", "", "", "", "")
    if verdict is not None:
        flags = ("yes" if verdict.stale else "no", "yes" if verdict.final else "no")
        said = (verdict.rater, verdict.verdict, verdict.note, stamp(verdict.at), *flags)
    return (*own, "; ".join(item.smells), score, *said, item.evidence)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _item(item: AuditItem, verdicts: Verdicts) -> ReportItem:
    location = item.location
    return ReportItem(
        item=item.key,
        file=_clean(item.file),
        line=item.line,
        claim=_clean(item.claim),
        claim_lines=item.claim_lines,
        path=_clean(item.entry.path),
        start=item.entry.start,
        end=item.entry.end,
        note=_clean(item.entry.note),
        location=_clean(location.label),
        resolves=location.status.resolves,
        now=(location.start, location.end) if location.status.resolves else None,
        smells=tuple(map(str, item.smells)),
        score_percent=None if item.score is None else round(100 * item.score),
        evidence=_cut(_clean(item.evidence)),
        binding=item.binding,
        verdicts=tuple(_verdict(standing) for standing in _standings(item, verdicts)),
    )


def _standings(item: AuditItem, verdicts: Verdicts) -> tuple[Standing, ...]:
    final = verdicts.final(item)
    return (*verdicts.all_of(item), *((final,) if final is not None else ()))


def _verdict(standing: Standing) -> ReportVerdict:
    record = standing.record
    return ReportVerdict(
        rater=_clean(record.rater),
        verdict=str(standing.support),
        note=_clean(record.note),
        at=record.at,
        stale=standing.is_stale,
        final=standing.is_final,
    )


def _claim(claim: Claim) -> ReportClaim:
    return ReportClaim(file=_clean(claim.file), line=claim.line, text=_clean(claim.text), state=claim.state)


def _record(record: VerdictRecord) -> ReportRecord:
    return ReportRecord(
        at=record.at,
        rater=_clean(record.rater),
        frame=_clean(record.frame),
        item=record.item,
        verdict=_clean(record.verdict),
        note=_clean(record.note),
        binding=record.binding,
        thread_ids=tuple(map(_clean, record.thread_ids)),
    )


def agreement_words(found: Agreement) -> str:
    """Return how far two raters agree, raw and as κ, in words."""
    first, second = found.raters
    return f"{first} and {second}: same verdict in {found.same.words}; {found.words}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_EVIDENCE else text[:MAX_EVIDENCE] + CUT


def _clean(text: str) -> str:
    """Replace halves of surrogate pairs, which no report format can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
