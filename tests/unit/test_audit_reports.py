"""Reports: JSON lines come back equal, pages hold text as text, CSV holds no formula, SARIF has its form."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.anchors import Location, LocationStatus
from ltmem_gui.domain.audit import AuditItem, Claim, Support, Verdicts, undo_record
from ltmem_gui.domain.audit_frames import draw
from ltmem_gui.domain.audit_pages import facts, to_html, to_markdown
from ltmem_gui.domain.audit_report import (
    COLUMNS,
    MAX_EVIDENCE,
    AuditReport,
    build_report,
    read_json_lines,
    stamp,
    to_csv,
    to_json_lines,
)
from ltmem_gui.domain.audit_sarif import to_sarif
from ltmem_gui.domain.audit_statistics import coverage
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.verdicts import VerdictRecord
from tests.helpers.audits import item, items, said

HOSTILE = '<script>alert("x")</script> & `code` [link](http://evil) \u202e ![i](x) \ud800'
BROKEN = Location(LocationStatus.MISSING_FILE, 4, 4)


def report(
    made: list[AuditItem], records: list[VerdictRecord], claims: tuple[Claim, ...] = (), **more: Any
) -> AuditReport:
    frame, drawn = draw(made, "all", seed=3)
    verdicts = Verdicts(records, [one.key for one in made])
    summary = coverage(claims, drawn, verdicts)
    return build_report(drawn, frame, claims, verdicts, summary, program="LTMem 1.2.3", created_at=1_000, **more)


def full() -> AuditReport:
    one, two, three, four, five = items(5)
    three = replace(three, location=BROKEN, evidence="", smells=("empty note", "of another version"), score=0.25)
    four = replace(four, claim="=1+1", entry=CitationEntry("a b/ü.md", 1, 2, "-x"), evidence="```\nfence\n````")
    records = [
        said(one, Support.DOES_NOT_SUPPORT, at=20, note="it says otherwise"),
        said(one, Support.SUPPORTS, "bob", at=30),
        said(one, Support.PARTLY, "judge", at=40, final=True),
        said(two, Support.SUPPORTS, at=50),
        undo_record(said(two, Support.SUPPORTS, at=50), frame="f", at=55),
        said(replace(four, claim="before"), Support.WRONG_PLACE, at=60),
        said(item(77), Support.PARTLY, at=90),
    ]
    claims = (
        Claim("MEMORY.md", 7, "nobody said this"),
        Claim("MEMORY.md", 8, "gone", statuses=(LocationStatus.MISSING_FILE,)),
        Claim("MEMORY.md", 9, "fine", statuses=(LocationStatus.EXACT,)),
    )
    five = replace(five, claim="", entry=CitationEntry("a.md", 1, 1), evidence="")
    return report([one, two, three, four, five], records, claims, baseline="abc", notes=("a note",))


def test_the_head_says_frame_seed_versions_raters_and_times() -> None:
    head = full().head
    assert head.frame.startswith("all 5 of 5, seed 3")
    assert (head.method, head.seed, head.drawn, head.population) == ("all", 3, 5, 5)
    assert (head.program, head.baseline, head.raters) == ("LTMem 1.2.3", "abc", ("ann", "bob"))
    assert (head.first_at, head.last_at, head.created_at, head.frames) == (20, 60, 1_000, ("f",))
    assert head.agreement == (
        "ann and bob: same verdict in 0 of 1 (0 %; 95 % interval 0.0 to 79.3 %); κ = 0.00 (slight)",
    )
    assert dict(facts(full()))["Judged"] == "1970-01-01 00:00:20 UTC to 1970-01-01 00:01:00 UTC"
    assert dict(facts(report([], [])))["Judged"] == "no verdicts yet"


def test_the_history_is_that_of_the_drawn_items() -> None:
    made = full()
    assert [record.verdict for record in made.records] == [
        "does not support", "supports", "final: partly", "supports", "undo", "wrong place",
    ]  # fmt: skip
    assert made.verdict_records[0].note == "it says otherwise"
    assert made.verdict_records[0].thread_ids == ("t-1",)
    moved = replace(item(1), key="new")
    followed = report([moved], [said(item(1), Support.SUPPORTS)])
    assert [record.item for record in followed.records] == ["k0001"]


def test_json_lines_come_back_equal() -> None:
    made = full()
    text = to_json_lines(made)
    assert text.isascii()
    assert read_json_lines(text, where="x") == made
    assert read_json_lines(text.replace("\n", "\n\n"), where="x") == made
    assert {json.loads(line)["kind"] for line in text.split("\n")[:-1]} == {"head", "item", "claim", "record"}


@given(st.text(alphabet=st.characters(), max_size=40), st.text(max_size=20))
@settings(max_examples=50)
def test_any_text_survives_every_form(text: str, note: str) -> None:
    one = item(claim=text, evidence=note, entry=CitationEntry("a.md", 1, 1, note))
    made = report([one], [said(one, Support.PARTLY, note=note)], (Claim("MEMORY.md", 1, text),))
    assert read_json_lines(to_json_lines(made), where="x") == made
    rows = list(csv.DictReader(io.StringIO(to_csv(made), newline="")))
    assert len(rows) == 1
    json.loads(to_sarif(made))
    to_markdown(made).encode()
    to_html(made).encode()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: "{}\n" + text, 1),
        (lambda text: "not json\n" + text, 1),
        (lambda text: "[1]\n" + text, 1),
        (lambda text: text.replace('"kind": "item"', '"kind": "item", "more": 1', 1), 2),
        (lambda text: text.replace('"kind": "item"', '"kind": "items"', 1), 2),
        (lambda text: text.replace('"format_version": 1', '"format_version": 2', 1), 1),
        (lambda text: text + text, None),
        (lambda text: "", None),
    ],
)
def test_anything_else_is_refused_with_its_line(change: Any, line: int | None) -> None:
    with pytest.raises(InputError, match="not a report") as caught:
        read_json_lines(change(to_json_lines(full())), where="r.jsonl")
    assert (caught.value.where, caught.value.line) == ("r.jsonl", line)


def test_csv_has_a_row_for_each_verdict_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(full()), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["rater"], row["verdict"], row["adjudicated"]) for row in rows[:3]] == [
        ("ann", "does not support", "no"), ("bob", "supports", "no"), ("judge", "partly", "yes"),
    ]  # fmt: skip
    assert (rows[3]["verdict"], rows[3]["judged at"]) == ("", "")
    assert rows[4]["support score"] == "0.25"
    assert (rows[5]["claim"], rows[5]["note"], rows[5]["stale"]) == ("'=1+1", "'-x", "yes")
    assert to_csv(full()).split("\r\n")[0] == ",".join(COLUMNS)


class Reader(HTMLParser):
    """Collect tags and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_page_in_which_every_text_is_text() -> None:
    one = item(claim=HOSTILE, evidence=HOSTILE, entry=CitationEntry("a.md", 1, 1, HOSTILE))
    made = report([one], [said(one, Support.PARTLY, HOSTILE, note=HOSTILE)], (Claim(HOSTILE, 1, HOSTILE),))
    page = to_html(made)
    read = Reader()
    read.feed(page)
    allowed = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "dl", "dt", "dd", "ul", "li"}
    assert read.tags <= allowed | {"article", "div", "pre", "span", "p"}
    assert not {name for name in read.attributes if name.startswith("on")} | (read.attributes & {"src", "href"})
    assert "default-src 'none'" in page
    assert read.text.count('<script>alert("x")</script>') >= 6
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page
    assert "holds no citation" in to_html(report([], []))
    shown = Reader()
    shown.feed(to_html(full()))
    for words in (
        "not judged",
        "(adjudication)",
        "stale: the texts changed",
        "hints, not verdicts: empty note",
        "25 %",
    ):
        assert words in shown.text
    assert "(no claim)" in shown.text


def test_markdown_holds_no_markup_of_the_memory() -> None:
    one = item(claim=HOSTILE, evidence="```\nx\n`````", entry=CitationEntry("a.md", 1, 1, ""))
    page = to_markdown(report([one], [said(one, Support.PARTLY)], (Claim("MEMORY.md", 1, HOSTILE),)))
    assert "\n``````text\n```\nx\n`````\n``````\n" in page
    for line in page.split("\n"):
        assert not line.startswith("### <")
    assert "](http:" not in page.replace("\\]", "")
    assert "\\<script\\>" in page
    assert "holds no citation" in to_markdown(report([], []))
    whole = to_markdown(full())
    for words in ("**does not support**", "not judged", "## Result", "nobody said this", "\\=1+1", "- a note"):
        assert words in whole


def test_evidence_is_cut_with_a_mark() -> None:
    (row,) = report([item(evidence="x" * (MAX_EVIDENCE + 1))], []).items
    assert row.evidence == "x" * MAX_EVIDENCE + "…"


def test_sarif_names_what_is_wrong_by_place() -> None:
    made = json.loads(to_sarif(full()))
    (run,) = made["runs"]
    assert made["version"] == "2.1.0"
    assert (run["tool"]["driver"]["name"], run["tool"]["driver"]["version"]) == ("LTMem", "1.2.3")
    assert run["properties"]["seed"] == 3
    found = [(result["ruleId"], result["level"]) for result in run["results"]]
    assert found == [
        ("does-not-support", "error"), ("partly", "note"), ("location", "error"), ("smell", "note"),
        ("uncited", "warning"), ("uncited", "warning"),
    ]  # fmt: skip
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "MEMORY.md", "uriBaseId": "MEMORYROOT"}
        assert place["region"]["startLine"] >= 1
    assert run["results"][4]["message"]["text"] == "No citation: nobody said this"
    odd = report([], [], (Claim("a b/ü?.md", 0, "x"),)).model_copy()
    (place,) = (result["locations"][0] for result in json.loads(to_sarif(odd))["runs"][0]["results"])
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%C3%BC%3F.md"
    assert place["physicalLocation"]["region"]["startLine"] == 1


def test_times_are_utc() -> None:
    assert stamp(0) == "1970-01-01 00:00:00 UTC"
    assert stamp(None) == ""
