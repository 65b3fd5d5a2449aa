"""Figures of the audit: ten thousand citations collected, drawn, judged and reported; and the support score."""

from __future__ import annotations

import random
import time
from statistics import fmean

import pytest

from ltmem_gui.domain.audit import Support, Verdicts
from ltmem_gui.domain.audit_frames import draw
from ltmem_gui.domain.audit_items import AuditSources, collect
from ltmem_gui.domain.audit_pages import to_html
from ltmem_gui.domain.audit_queue import AuditQueue
from ltmem_gui.domain.audit_report import build_report, read_json_lines, to_json_lines
from ltmem_gui.domain.audit_statistics import coverage
from ltmem_gui.domain.audit_support import RareWords

pytestmark = pytest.mark.bench
COUNT = 10_000
WORDS = [f"word{number}" for number in range(3_000)]


def folder(chance: random.Random) -> dict[str, bytes]:
    """Return 100 files of 200 lines and 10,000 claims in 100 task groups, each with one citation."""
    files: dict[str, bytes] = {}
    groups: list[str] = []
    for number in range(100):
        path = f"rollout_summaries/{number:03}.md"
        lines = [" ".join(chance.choices(WORDS, k=9)) for _ in range(200)]
        files[path] = ("\n".join(lines) + "\n").encode()
        bullets: list[str] = []
        cited: list[str] = []
        for claim in range(1, COUNT // 100 + 1):
            line = chance.randint(1, 200)
            words = lines[line - 1].split()
            bullets.append(f"- {' '.join(chance.sample(words, 6))} and more [c{claim}]")
            cited.append(f"{path}:{line}-{line} |note=[c{claim} why]")
        block = ["<citation_entries>", *cited, "</citation_entries>"]
        groups += [f"# Task Group: g{number}", "", "## User preferences", *bullets, "", *block, ""]
    files["MEMORY.md"] = "\n".join(groups).encode()
    return files


def test_ten_thousand_citations_are_collected_drawn_judged_and_reported() -> None:
    start = time.perf_counter()
    audit = collect(AuditSources(folder(random.Random(1))))
    collected = time.perf_counter() - start
    assert len(audit.items) == COUNT
    start = time.perf_counter()
    frame, drawn = draw(audit.items, "stratified", size=COUNT, seed=7, by="file")
    walk = AuditQueue(drawn, (), rater="ann", frame=frame.name)
    begun = time.perf_counter() - start
    start = time.perf_counter()
    records = [walk.judge(Support.SUPPORTS, at=at) for at in range(100)]
    judged = time.perf_counter() - start
    start = time.perf_counter()
    verdicts = Verdicts([record for record in records if record], [one.key for one in drawn])
    summary = coverage(audit.claims, drawn, verdicts)
    report = build_report(drawn, frame, audit.claims, verdicts, summary, program="LTMem 1", created_at=0)
    text = to_json_lines(report)
    reported = time.perf_counter() - start
    assert read_json_lines(text, where="x") == report
    page = to_html(report)
    print(
        f"\n{COUNT} citations: collected {collected:.2f} s, drawn {begun:.2f} s, 100 verdicts {judged:.2f} s, "
        f"report {reported:.2f} s, page {len(page) / 1e6:.1f} MB"
    )
    assert collected <= 3
    assert judged <= 5


def test_the_score_tells_right_lines_from_random_and_neighbouring_ones() -> None:
    chance = random.Random(2)
    audit = collect(AuditSources(folder(chance)))
    rare = RareWords([*(one.claim for one in audit.items), *(one.evidence for one in audit.items)])
    sample = chance.sample(audit.items, 1_000)
    right = [rare.score(one.claim, one.evidence) or 0 for one in sample]
    wrong = [rare.score(one.claim, chance.choice(sample).evidence) or 0 for one in sample]
    area = fmean(float(a > b) + 0.5 * (a == b) for a in right for b in chance.sample(wrong, 50))
    print(f"\nsupport score: right {fmean(right):.2f}, random {fmean(wrong):.2f}, AUC {area:.3f}")
    assert area >= 0.98
