"""The built-in extractor on our corpora and the shared one: floors for recall, precision and silence.

Every corpus was written before any rule or weight was changed for it, and joined what the weights are fitted on only
after it was measured. Those first figures (recall, proposed, precision, no-op) are what one may expect elsewhere. With
points set by hand: `other_phrasing` 0.93, 0.56, 0.92, 7/9; `hard` 0.91, 0.80, 0.74, 4/11; `unseen` 1.00, 0.84, 0.86,
10/12; `unseen_two` 0.95, 0.80, 0.80, 5/7; `everyday` 0.95, 0.75, 0.83, 28/35. With fitted weights:
`everyday_two` 0.97, 0.88, 0.87, 13/16; `_three` 0.88, 0.84, 0.88, 14/16; `_four` 0.91, 0.78, 0.87, 13/16; with the bar
for clear statements besides: `_five` 0.94, 0.78, 0.93, 15/16; `_six` 0.91, 0.69, 0.96, 16/16; `_seven` 0.88, 0.78,
0.83, 16/16; `_eight` 0.94, 0.72, 0.92, 15/16; `_nine` 0.94, 0.67, 0.73, 13/16. (Twelve facts among them had patterns
that missed their own sentence; they were put right after that.) No weight was
ever fitted on what is in `held_out`: `first` 0.88, 0.83, 0.88, 16/17; `second` 1.00, 0.75, 1.00, 16/16; `third` 1.00,
0.78, 0.96, 15/16; `fourth` 1.00, 0.88, 0.92, 11/12. The forms of hearsay, the level of Chinese and the bar for two
statements together were settled after these figures.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ltmem_gui.llm.builtin.extraction import extract_builtin
from tests.helpers.extraction_cases import Score, add_case, items_of_turns, load_cases, request_of

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "extraction"


HELD_OUT = sorted((FIXTURES / "held_out").glob("*.jsonl"))
LANGUAGES = ("en", "de", "es", "zh")


def measure(*paths: Path, language: str | None = None) -> Score:
    score = Score()
    for case in (case for path in paths for case in load_cases(path)):
        if language is not None and not case.id.startswith(f"{language}-"):
            continue
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


@pytest.mark.parametrize("path", HELD_OUT, ids=lambda path: path.stem)
def test_quality_holds_on_phrasing_nothing_was_fitted_on(path: Path) -> None:
    score = measure(path)
    report = f"{score}\n" + "\n".join(score.misses)
    assert score.recall >= 0.85, report
    assert score.recall_proposed >= 0.70, report
    assert score.precision >= 0.85, report
    assert score.no_op_right >= 0.90, report


@pytest.mark.parametrize("language", LANGUAGES)
def test_quality_holds_in_each_language_on_phrasing_nothing_was_fitted_on(language: str) -> None:
    score = measure(*HELD_OUT, language=language)
    report = f"{score}\n" + "\n".join(score.misses)
    assert score.facts >= 12, report
    assert score.recall >= 0.85, report
    assert score.recall_proposed >= 0.65, report
    assert score.precision >= 0.85, report
    assert score.no_op_right >= 0.90, report


def test_quality_holds_on_the_shared_corpus(shared: Path) -> None:
    score = measure(shared / "data" / "extraction_cases.jsonl")
    report = f"{score}\n" + "\n".join(score.misses)
    assert score.recall >= 0.85, report
    assert score.recall_proposed >= 0.75, report
    assert score.precision >= 0.90, report
    assert score.no_op_right == 1.0, report


def test_single_sentences_are_told_apart() -> None:
    sentences = json.loads((FIXTURES / "sentences.json").read_text("utf-8"))
    missed = [text for text in sentences["durable"] if not _proposed(text)]
    wrong = [text for text in sentences["passing"] if _proposed(text)]
    assert len(missed) <= len(sentences["durable"]) * 0.1, missed
    assert len(wrong) <= len(sentences["passing"]) * 0.05, wrong


def _proposed(text: str) -> bool:
    said = [["user", "Look at the report module, please."], ["assistant", "I changed two files."], ["user", text]]
    return bool(extract_builtin(request_of(items_of_turns(said))).proposed)
