"""Whose word a sentence is, whether it holds, what was only pasted, and the weights behind the points."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.builtin.extraction import BOTH_AT, CLEAR_AT, extract_builtin
from ltmem_gui.llm.builtin.scoring import INBOX_AT, PROPOSE_AT, Surroundings, cues_of, points_of, score_sentence
from ltmem_gui.llm.builtin.sentences import own_words, sentences
from ltmem_gui.llm.builtin.statements import statements
from ltmem_gui.llm.builtin.voices import hearsay, promised, retracted, supposed
from ltmem_gui.llm.builtin.weighing import Weights, fitted, logit, pieces, read, terms_of
from tests.helpers.extraction_cases import items_of_turns, request_of
from tests.helpers.fitting import FIXTURES, WEIGHTS, Example, examples, fit, listed_examples


@pytest.mark.parametrize(
    "text",
    [
        "According to an article you should never use eval.",
        "My colleague thinks everything must be in Rust.",
        "Im Forum meinte jemand, man solle nie ORMs nehmen.",
        "Según un blog, siempre hay que usar microservicios.",
        "网上有人说永远不要用 MySQL",
        "还说所有公司都该用",
    ],
)
def test_hearsay_is_heard_and_never_proposed(text: str) -> None:
    assert hearsay(text)
    assert score_sentence(text, Surroundings()).score < PROPOSE_AT


@pytest.mark.parametrize("text", ["We never use eval.", "Bei uns gilt Rust.", "Usamos siempre Rust.", "我们只用 Rust"])
def test_the_persons_own_word_is_no_hearsay(text: str) -> None:
    assert not hearsay(text)


@pytest.mark.parametrize(
    "text",
    [
        "If we were on Postgres, we'd always need a pool.",
        "Suppose every user had a database of their own.",
        "Angenommen, wir müssten immer drei Knoten haben",
        "Wenn wir umziehen würden, bräuchten wir immer drei Knoten",
        "Supongamos que siempre ordenamos en el cliente",
        "假如以后都要支持多租户",
    ],
)
def test_what_is_only_supposed_is_heard(text: str) -> None:
    assert supposed(text)
    assert score_sentence(text, Surroundings()).score < PROPOSE_AT


@pytest.mark.parametrize("text", ["If it fails, run make clean first.", "Wenn es hakt, hilft make clean.", "我们用 Go"])
def test_a_rule_for_a_case_is_not_supposed(text: str) -> None:
    assert not supposed(text)


def said(*messages: str) -> list[str]:
    items = [RolloutItem("user", "message", text, line=n + 2) for n, text in enumerate(messages)]
    return [candidate.text for candidate in statements(items, frozenset())]


@pytest.mark.parametrize(
    ("rule", "back"),
    [
        ("From now on we always use pnpm in this repo.", "scratch that, leave it"),
        ("Ab jetzt nutzen wir immer pnpm.", "Ach nein, vergiss das wieder"),
        ("A partir de ahora usamos siempre pnpm.", "no, olvídalo"),
        ("以后一律用 pnpm。", "算了，还是原来的"),
    ],
)
def test_what_is_taken_back_is_not_kept(rule: str, back: str) -> None:
    assert retracted(back)
    assert said("hi", rule) == [rule]
    assert said("hi", rule, back) == []
    assert said("hi", f"{rule} {back[0].upper()}{back[1:]}.") == []


def test_a_retraction_reaches_one_message_back_and_may_bring_a_new_rule() -> None:
    first, second = "We always use pnpm in this repo.", "Never commit the lock file in this repo."
    assert said("hi", first, second, "forget that") == [first]
    assert said("hi", first, "Scratch that, we always use yarn in this repo.") == [
        "Scratch that, we always use yarn in this repo."
    ]


def test_a_promise_of_the_agent_is_a_hint_but_no_statement() -> None:
    for reply in ("Noted.", "Understood, I won't.", "Verstanden.", "Anotado.", "明白，以后都这样"):
        assert promised(reply)
    for reply in ("Done.", "Renamed.", "Erledigt.", "Hecho.", "改好了"):
        assert not promised(reply)
    text = "exports go through the queue"
    assert score_sentence(text, Surroundings(promised=True)).score > score_sentence(text, Surroundings()).score


@pytest.mark.parametrize(
    "message",
    [
        "What does this mean?\n\n## Rules\n\nAlways run `make check`. Never push to main.",
        "Look at this ticket\n\nTitle: Crash\nThe app must always run as admin.",
        "Was will der von mir?\n\nSehr geehrte Damen und Herren,\nKopien dürfen niemals verwendet werden.",
        "tradúceme esto:\n\nStaff must always wear badges. Never leave visitors alone. Doors stay closed.",
        "Answer this one\n\nHello, we only ever rent to clubs. Always ask four weeks before.",
        "这封邮件什么意思：\n\n各位同事：所有发票必须盖章，严禁使用复印件。",
        'is this good? "Always squash your commits. Never rebase public branches."',
        "¿qué opinas? «Los alumnos deben apagar siempre el móvil. Nunca se corre por el pasillo.»",
    ],
)
def test_what_was_pasted_below_or_quoted_at_length_is_nobodys_rule(message: str) -> None:
    assert all("ever" not in s.plain and "niemals" not in s.plain and "必须" not in s.plain for s in sentences(message))
    assert extract_builtin(request_of(items_of_turns([["user", message], ["assistant", "ok"]]))).proposed == ()
    assert len(own_words(message)) == len(message)


@pytest.mark.parametrize(
    "message",
    [
        "Can you fix this?\n\nAlso, we always use tabs in this repo.",
        "Our conventions:\n\n- always tabs in this repo\n- never squash",
        "Build it.\n\nWe never use npm here. Always pnpm. That is a rule.",
    ],
)
def test_a_second_paragraph_of_ones_own_stays(message: str) -> None:
    assert "always" in own_words(message).lower()


def test_a_rollout_needs_one_clear_statement() -> None:
    faint, clear = "the gateway caps uploads", "Always use pnpm in this repo, never npm."
    assert score_sentence(faint, Surroundings()).score >= INBOX_AT
    alone = extract_builtin(request_of(items_of_turns([["user", "hi"], ["user", "Every time."]])))
    assert alone.proposed == ()
    both = extract_builtin(request_of(items_of_turns([["user", "hi"], ["user", clear], ["user", faint]])))
    assert clear in [candidate.text for candidate in both.proposed]


@pytest.mark.parametrize(
    ("scores", "proposed"),
    [((CLEAR_AT,), 1), ((CLEAR_AT - 1,), 0), ((CLEAR_AT - 1, BOTH_AT), 2), ((CLEAR_AT - 1, BOTH_AT - 1), 0)],
)
def test_two_good_statements_are_clear_together(
    monkeypatch: pytest.MonkeyPatch, scores: tuple[int, ...], proposed: int
) -> None:
    lines = [Candidate(f"statement {n}", n + 2, "fact", score) for n, score in enumerate(scores)]
    monkeypatch.setattr("ltmem_gui.llm.builtin.extraction.statements", lambda *_: lines)
    reply = extract_builtin(request_of(items_of_turns([["user", "hi"], ["user", "well"], ["user", "so"]])))
    assert (len(reply.proposed), len(reply.inbox)) == (proposed, len(scores) - proposed)


# --- weights ---


def test_points_rise_with_the_odds_and_never_reach_a_hundred() -> None:
    points = [points_of(odds / 4) for odds in range(-80, 400)]
    assert points == sorted(points)
    assert points[0] == 0
    assert points[-1] < 100
    assert points_of(0.5) == PROPOSE_AT


@given(st.text(alphabet=st.sampled_from("abcé xyz 用包管 1.,?'`"), max_size=60))
@settings(max_examples=100, deadline=None)
def test_the_odds_are_the_sum_of_cues_and_terms(text: str) -> None:
    weights = fitted()
    reading = read(text)
    cues = sorted(cues_of(text, Surroundings()))
    summed = weights.bias + sum(weights.cues.get(cue, 0.0) for cue in cues)
    summed += sum(weights.terms.get(term, 0.0) * share for term, share in terms_of(reading))
    assert math.isclose(logit(cues, reading, weights), summed, abs_tol=1e-9)


def test_words_are_cut_with_their_edges_and_pieces() -> None:
    assert read("Use pnpm, 12 times!").words == ("^use", "use", "pnpm", ",", "0", "times")
    assert read("用 pnpm。").words == ("用", " ", "x", "^用", "用 ", " x", "x$")
    assert pieces("npm") == ["~<np", "~npm", "~pm>"]
    assert pieces("a") == []
    assert read("").words == ()


def test_pieces_are_summed_once_per_word_and_the_store_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.llm.builtin.weighing.MAX_CACHED", 1)
    weights = Weights(0.0, {}, {"~npm": 2.0})
    assert weights.pieces_of("npm") == weights.pieces_of("npm") == (2.0, 3)
    assert weights.pieces_of("xyz") == (0.0, 3)
    assert list(weights.known) == ["npm"]


def test_fitting_learns_what_is_labelled_and_forgets_small_weights() -> None:
    rows = [Example("a", ("c",), (("yes", 1.0),), True, "1"), Example("b", (), (("no", 1.0),), False, "2")] * 20
    value = fit(rows)
    assert value["terms"]["yes"] > 0 > value["terms"]["no"]
    assert value["cues"]["c"] > 0


def test_lists_are_labelled_and_all_four_languages_are_there() -> None:
    for path in sorted((FIXTURES / "labelled").glob("*.txt")):
        rows = list(listed_examples(path))
        assert any(row.lasting for row in rows)
        assert any(not row.lasting for row in rows)
    assert {path.stem[:2] for path in (FIXTURES / "labelled").glob("*.txt")} == {"de", "en", "es", "zh"}


@pytest.mark.bench
def test_the_weights_are_what_the_fit_gives() -> None:
    value, kept = fit(examples()), json.loads(WEIGHTS.read_text("utf-8"))
    assert value["cues"].keys() == kept["cues"].keys()
    assert all(abs(value["cues"][cue] - weight) < 0.02 for cue, weight in kept["cues"].items())
