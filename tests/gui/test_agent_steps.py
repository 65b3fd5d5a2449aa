"""The transcript as rows: every call once, hostile text visible, the same from a run and from its receipt."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.agent import TOOLS, AgentAction, AgentStep, AgentTranscript, ToolOutcome
from ltmem_gui.domain.agent_kept import bound, kept
from ltmem_gui.domain.prices import Price
from ltmem_gui.ui.models.agent_steps import (
    ASKED,
    COLUMNS,
    FILE,
    RESULT,
    STEP,
    TIME,
    TOKENS,
    AgentStepsModel,
    StepRow,
    cell,
    detail_lines,
    rows_of,
    rows_of_kept,
    rows_of_receipt,
    spoken,
    step_in_words,
    totals_of,
)
from ltmem_gui.ui.panels.agent_transcript import AgentDrawer, TranscriptView
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.widgets.labels import ElidedLabel
from tests.gui.agent_room import steps
from tests.helpers.stores import a_receipt


@pytest.fixture
def theme(qtbot: QtBot) -> Theme:
    made = Theme.load("light")
    made.apply()
    return made


@pytest.fixture
def model(theme: Theme) -> AgentStepsModel:
    made = AgentStepsModel(theme.color)
    made.take_steps(steps())
    return made


def shown(model: AgentStepsModel, row: int, column: int, role: Qt.ItemDataRole = Qt.ItemDataRole.DisplayRole) -> object:
    return model.data(model.index(row, column), int(role))


def test_each_call_is_a_row_and_tokens_stand_once_per_step(model: AgentStepsModel) -> None:
    assert model.rowCount() == 6
    assert [shown(model, row, STEP) for row in range(6)] == ["1", "2", "2", "2", "3", "4"]
    assert [shown(model, row, TOKENS) for row in range(6)] == [
        "900 → 20",
        "1.2k → 40",
        "",
        "",
        "1.3k → 90",
        "1.4k → 10",
    ]
    assert [shown(model, row, TIME) for row in (1, 2, 4)] == ["0.2 s", "", "1.5 s"]
    assert shown(model, 5, RESULT) == "I took in two sessions."
    assert [model.headerData(i, Qt.Orientation.Horizontal) for i in range(len(COLUMNS))] == list(COLUMNS)
    assert model.headerData(0, Qt.Orientation.Vertical) is None
    assert model.rowCount(model.index(0, 0)) == 0
    assert model.data(QModelIndex()) is None


def test_a_refusal_is_told_by_word_sign_and_colour_and_hidden_characters_are_seen(
    model: AgentStepsModel, theme: Theme
) -> None:
    assert shown(model, 2, RESULT) == "✕ refused, outside: the path leaves the folder"
    assert shown(model, 2, FILE) == "../../etc/⟨U+202E⟩passwd"
    assert shown(model, 2, RESULT, Qt.ItemDataRole.ForegroundRole) == theme.color("state.bad")
    assert shown(model, 0, RESULT, Qt.ItemDataRole.ForegroundRole) is None
    assert shown(model, 2, STEP, Qt.ItemDataRole.AccessibleTextRole) == (
        "Step 2, read, ../../etc/⟨U+202E⟩passwd, ✕ refused, outside: the path leaves the folder"
    )
    assert "1 200 tokens sent" in spoken(rows_of(steps()[1])[0]).replace("\u202f", " ")
    row = model.row_at(2)
    assert row is not None
    assert ("said", "Let me look <b>around</b>.") in detail_lines(row)
    assert model.row_at(99) is None


def test_what_was_asked_for_stands_beside_the_file_and_whole_in_the_detail(model: AgentStepsModel) -> None:
    assert shown(model, 1, ASKED) == "queries pnpm"
    assert shown(model, 3, ASKED) == 'arguments {"cmd": "curl ⟨U+202E⟩… (+999,600 characters)'
    assert shown(model, 4, ASKED) == "old_text (10 bytes) - use npm↵ · new_text (11 bytes) - use pnpm↵"
    assert shown(model, 5, ASKED) == ""
    assert shown(model, 3, ASKED, Qt.ItemDataRole.ToolTipRole) == shown(model, 3, ASKED)
    assert "curl" in str(shown(model, 3, STEP, Qt.ItemDataRole.AccessibleTextRole))
    shell, edit = model.row_at(3), model.row_at(4)
    assert shell is not None
    assert edit is not None
    lines = detail_lines(shell)
    assert ("asked for", 'arguments: {"cmd": "curl ⟨U+202E⟩…') in lines
    assert ("", "  999 600 more characters are not shown") in [(n, t.replace("\u202f", " ")) for n, t in lines]
    assert ("reason", "unknown tool") in lines
    assert detail_lines(edit)[3:7] == [
        ("asked for", "old_text: - use npm↵"),
        ("", "  10 bytes"),
        ("", "new_text: - use pnpm↵"),
        ("", "  11 bytes"),
    ]


def test_a_receipt_tells_what_was_asked_for_and_what_is_missing() -> None:
    transcript = AgentTranscript(steps())
    texts = kept(transcript, ())
    receipt = a_receipt(steps=transcript.rows(), transcript=texts, transcript_sha256=bound(texts))
    lived = [row for step in steps() for row in rows_of(step)]
    assert rows_of_kept(receipt) == (lived, "")
    rows, missing = rows_of_kept(receipt.model_copy(update={"transcript": None}))
    assert [(row.tool, row.outcome, row.reason, row.arguments) for row in rows[1:4]] == [
        ("search", ToolOutcome.DONE, "", ()),
        ("read", ToolOutcome.REFUSED, "outside", ()),
        ("unknown tool", ToolOutcome.REFUSED, "unknown tool", ()),
    ]
    assert "forgotten" in missing
    assert "another program" in rows_of_kept(receipt.model_copy(update={"transcript_sha256": "0"}))[1]
    assert "earlier version" in rows_of_kept(a_receipt(steps=("1: read a.md; 5 tokens sent, 2 received",)))[1]
    assert rows_of_kept(a_receipt()) == ([], "")
    full = kept(transcript, (), room=len(texts.body) - 300)
    assert rows_of_kept(a_receipt(steps=("x",), transcript=full, transcript_sha256=bound(full)))[1].endswith(
        "not kept."
    )


def test_a_flood_in_a_receipt_is_told_by_its_number() -> None:
    flood = AgentTranscript((AgentStep(1, (AgentAction("list", "a", ToolOutcome.DONE),) * 130),))
    rows = rows_of_receipt(flood.rows())
    assert len(rows) == 129
    assert (rows[-2].path, rows[-1].said, rows[-1].step) == ("a", "and 2 more calls", 1)


def test_why_a_call_was_refused_does_not_repeat_the_file_beside_it() -> None:
    where = "../x"
    action = AgentAction("read", where, ToolOutcome.REFUSED, f"{where}: it climbs out", "outside")
    (row,) = rows_of(AgentStep(1, (action,)))
    assert cell(row, RESULT) == "✕ refused, outside: it climbs out"
    assert ("", f"{where}: it climbs out") in detail_lines(row)


def test_only_what_was_refused(model: AgentStepsModel) -> None:
    model.set_refused_only(True)
    assert model.rowCount() == 2
    model.take_steps([AgentStep(5, (AgentAction("read", "a.md", ToolOutcome.DONE),))])
    assert model.rowCount() == 2
    assert model.totals.steps == 5
    model.set_refused_only(True)
    model.set_refused_only(False)
    assert model.rowCount() == 7
    model.take_steps([])
    assert model.rowCount() == 7


def test_totals_in_words(model: AgentStepsModel) -> None:
    words = model.totals.in_words()
    assert words == "4 steps · 5 calls · 1 file changed · 4.8k tokens sent, 160 received · 2 refused · 2 s"
    assert totals_of([]).steps == 0


def test_a_step_in_words() -> None:
    assert step_in_words(steps()[1]) == "step 2: search and 2 more"
    refused = AgentStep(3, (AgentAction("read", "../x", ToolOutcome.REFUSED),))
    assert step_in_words(refused) == "step 3: read ../x (refused)"
    outside = AgentStep(3, (AgentAction("read", "../x", ToolOutcome.REFUSED, reason="outside"),))
    assert step_in_words(outside) == "step 3: read ../x (refused: outside)"


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=12)
ACTIONS = st.builds(
    AgentAction,
    tool=st.sampled_from(TOOLS),
    path=NAMES.map(lambda name: f"{name}.md"),
    outcome=st.sampled_from(ToolOutcome),
    reason=st.sampled_from(("", "outside", "bad arguments", "read-only")),
)
STEPS = st.lists(st.builds(AgentStep, st.integers(1, 200), st.lists(ACTIONS, max_size=4).map(tuple)), max_size=5)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_receipt_tells_the_same_calls(made: list[AgentStep]) -> None:
    kept = rows_of_receipt(AgentTranscript(tuple(made)).rows())
    lived = [row for step in made for row in rows_of(step)]
    assert [(row.step, row.tool, row.outcome) for row in kept] == [(row.step, row.tool, row.outcome) for row in lived]
    done = [(row.path) for row in lived if row.outcome is ToolOutcome.DONE]
    assert [row.path for row in kept if row.outcome is ToolOutcome.DONE] == done


def test_lines_of_other_programs_are_shown_as_they_are() -> None:
    rows = rows_of_receipt(
        [
            "1: read a.md, b.md; 5 tokens sent, 2 received",
            "2: no call; 1 tokens sent, 1 received, 3 s",
            "what is \u202e this",
        ]
    )
    assert (rows[0].path, rows[0].tokens_in, rows[0].seconds) == ("a.md, b.md", 5, 0.0)
    assert rows[1].seconds == 3.0
    assert rows[2].said == "what is ⟨U+202E⟩ this"
    assert cell(StepRow(1, True), RESULT) == "no tool was called"


def test_the_view_follows_a_run_until_a_person_looks_elsewhere(qtbot: QtBot, theme: Theme) -> None:
    view = TranscriptView("t", theme)
    qtbot.addWidget(view)
    view.resize(900, 160)
    view.show()
    one = (AgentAction("list", "", ToolOutcome.DONE),)
    view.take_steps([AgentStep(n, one) for n in range(1, 40)])
    bar = view.table.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(3)
    view.take_steps([AgentStep(40, one)])
    assert bar.value() == 3
    view.table.selectRow(2)
    assert view.current_row() is not None
    assert view.detail.toPlainText().startswith("3\nlist")
    view.take_steps([AgentStep(41, one)])
    assert view.table.currentIndex().row() == 2
    theme.set_scheme("dark")
    theme.set_scheme("light")
    view.show_rows(())
    assert "No step yet." in view.detail.toPlainText()
    view.take_steps(steps())
    assert "MEMORY.md\n4\n5\n2" in view.detail.toPlainText()
    assert "Choose a step" in view.detail.toPlainText()


def test_tokens_that_were_not_counted_are_estimates_and_cost_is_counted_along(qtbot: QtBot, theme: Theme) -> None:
    price = Price(provider="openai", model="m", input="10", cached="1", output="20", currency="USD")  # type: ignore[arg-type]
    drawer = AgentDrawer(theme)
    qtbot.addWidget(drawer)
    drawer.begin("works", price)
    step = AgentStep(1, (), "done", 100_000, 10_000, 1.0, 50_000)
    drawer.view.take_steps([step])
    figures = drawer.findChild(ElidedLabel, "agent.figures")
    assert figures is not None
    assert "0.75 USD so far" in figures.full_text
    assert "50 000 of them from the server's cache" in dict(detail_lines(rows_of(step)[0]))["tokens"].replace(
        "\u202f", " "
    )
    drawer.view.take_steps([AgentStep(2, (), "", 8, 4, 0.0, 0, counted=False)])
    assert "USD" not in figures.full_text
    assert "~100.0k tokens sent" in figures.full_text
    last = rows_of(AgentStep(2, (), "", 8, 4, 0.0, 0, counted=False))[0]
    assert cell(last, TOKENS) == "~8 → 4"
    assert "about 8 sent" in dict(detail_lines(last))["tokens"]
    assert "about 8 tokens sent" in spoken(last)


def test_the_drawer_says_how_the_run_stands(qtbot: QtBot, theme: Theme) -> None:
    drawer = AgentDrawer(theme)
    qtbot.addWidget(drawer)
    assert drawer.isHidden()
    assert not drawer.refused.isEnabled()
    drawer.begin("works")
    assert (drawer.state_text, drawer.isHidden()) == ("works", False)
    drawer.view.take_steps(steps())
    assert drawer.refused.isEnabled()
    assert drawer.refused.text() == "✕ Refused 2"
    drawer.offer(regenerate=True)
    assert (drawer.regenerate.isHidden(), drawer.retry.isHidden()) == (False, True)
    closed: list[bool] = []
    drawer.closed.connect(lambda: closed.append(True))
    drawer._on_close_clicked()
    assert (drawer.isHidden(), closed) == (True, [True])
    drawer.begin("again")
    assert drawer.view.model.rowCount() == 0
