"""A report for code hosts and editors: SARIF 2.1.0, one result for each thing that is wrong or worth a look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ltmem_gui.domain.audit import Support
from ltmem_gui.domain.audit_report import AuditReport, ReportItem
from ltmem_gui.domain.audit_smells import Smell
from ltmem_gui.domain.hazards import one_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "MEMORYROOT"
RULES: dict[str, tuple[str, str]] = {
    "location": ("error", "The cited lines are not where the citation says."),
    "does-not-support": ("error", "A rater found that the cited lines do not support the claim."),
    "wrong-place": ("warning", "A rater found that the citation points at the wrong place."),
    "partly": ("note", "A rater found that the cited lines support the claim only in part."),
    "uncited": ("warning", "A claim of the memory has no citation that resolves."),
    "smell": ("note", "A sign that the citation deserves a look; not a verdict."),
}
_OF_SUPPORT = {
    Support.DOES_NOT_SUPPORT: "does-not-support",
    Support.WRONG_PLACE: "wrong-place",
    Support.PARTLY: "partly",
}


def to_sarif(report: AuditReport) -> str:
    """Write the report as SARIF; verdicts that went stale are left out, places are below the memory folder."""
    head = report.head
    name, _, version = head.program.rpartition(" ")
    rules = [
        {"id": rule, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for rule, (level, text) in RULES.items()
    ]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": name or head.program, "version": version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "the memory folder"}}},
        "results": list(_results(report)),
        "properties": head.model_dump(mode="json", exclude={"kind"}),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True) + "\n"


def _results(report: AuditReport) -> Iterator[dict[str, Any]]:
    for item in report.items:
        yield from _of_item(item)
    for claim in report.claims:
        words = f"{'No citation' if claim.state == 'uncited' else 'No citation that resolves'}: {claim.text}"
        yield _result("uncited", words, claim.file, claim.line)


def _of_item(item: ReportItem) -> Iterator[dict[str, Any]]:
    place = f"{item.path}:{item.start}-{item.end}"
    identity = {"ltmemItem/v1": item.item}
    if not item.resolves:
        yield _result("location", f"{place}: {item.location}", item.file, item.line) | {"partialFingerprints": identity}
    for verdict in item.verdicts:
        rule = _OF_SUPPORT.get(Support(verdict.verdict))
        if rule is not None and not verdict.stale:
            note = f" ({verdict.note})" if verdict.note else ""
            words = f"{place} — {verdict.verdict}, says {verdict.rater}{note}: {item.claim}"
            yield _result(rule, words, item.file, item.line) | {"partialFingerprints": identity}
    for smell in item.smells:
        if smell in set(Smell):
            found = _result("smell", f"{place}: {smell}", item.file, item.line)
            yield found | {"partialFingerprints": identity}


def _result(rule: str, words: str, file: str, line: int) -> dict[str, Any]:
    uri = quote(file.encode("utf-8", "replace"))
    physical = {
        "artifactLocation": {"uri": uri, "uriBaseId": ROOT},
        "region": {"startLine": max(1, line)},
    }
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": RULES[rule][0],
        "message": {"text": one_line(words, 1_000)},
        "locations": [{"physicalLocation": physical}],
    }
