"""The built-in extractor on four corpora: floors for recall, precision and silence.

`tuned.jsonl` was used to set the points; `other_phrasing.jsonl` and `hard.jsonl` were written before any rule was
changed for them (first figures: 0.93/0.56/0.92 and 0.91/0.80/0.74 for recall, proposed, precision).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ltmem_gui.llm.builtin.extraction import extract_builtin
from tests.helpers.extraction_cases import Score, add_case, load_cases

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "extraction"


def measure(path: Path) -> Score:
    score = Score()
    for case in load_cases(path):
        reply = extract_builtin(case.request)
        assert len(reply.inbox) <= 6
        assert bool(json.loads(reply.text)["raw_memory"]) == bool(reply.proposed)
        add_case(score, case, reply)
    return score


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.jsonl")))
def test_quality_holds_on_our_corpora(name: str) -> None:
    score = measure(FIXTURES / f"{name}.jsonl")
    report = f"{score}\n" + "\n".join(score.misses)
    assert score.recall >= 0.80, report
    assert score.recall_proposed >= 0.60, report
    assert score.precision >= 0.85, report
    assert score.no_op_right >= 0.90, report


def test_quality_holds_on_the_shared_corpus(shared: Path) -> None:
    score = measure(shared / "data" / "extraction_cases.jsonl")
    report = f"{score}\n" + "\n".join(score.misses)
    assert score.recall >= 0.85, report
    assert score.recall_proposed >= 0.75, report
    assert score.precision >= 0.90, report
    assert score.no_op_right == 1.0, report
