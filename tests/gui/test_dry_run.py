"""A dry run of both phases from the window: everything but the model calls and the writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark, Skip
from ltmem_gui.ui.models.dry_run_text import first_phase, second_phase
from tests.gui.builders import apply_plan, extract_plan
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom
from tests.helpers.guard import Guard
from tests.helpers.sessions import write_codex


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def _texts(room: QueueRoom) -> str:
    return "\n".join(label.text() for label in room.dialog("dry_run").findChildren(QLabel))


def test_both_phases_are_shown_and_nothing_is_asked_or_done(room: QueueRoom) -> None:
    room.act("run.dry")
    assert room.fake.calls == ["plan_extract", "plan_consolidate"]
    texts = _texts(room)
    for words in ("2 rollouts would be extracted, ~2.4k tokens.", "at most 2 at once", "2 files would change",
                  "Nothing was claimed, locked, sent or written."):  # fmt: skip
        assert words in texts, words
    page = room.dialog("dry_run")
    assert [button.text() for button in page.findChildren(QPushButton)] == ["Close"]
    folds = [b for b in page.findChildren(QToolButton) if b.objectName().startswith("dry_run.")]
    assert [fold.objectName() for fold in folds] == [
        "dry_run.rows.1",
        "dry_run.effects.1",
        "dry_run.rows.2",
        "dry_run.effects.2",
    ]
    folds[0].click()
    assert "Use pnpm number 0  ·  ~1.2k tokens" in texts
    assert folds[0].text() == "Which ▾"
    page.close()
    assert room.window.messages.text == ""


def test_it_begins_with_the_saved_model_as_the_run_would(room: QueueRoom) -> None:
    before: list[int] = []

    async def recall() -> None:
        before.append(len(room.fake.calls))

    room.controller.workbench.recall = recall
    room.act("run.dry")
    assert before == [0]
    room.dialog("dry_run").close()


def test_a_known_error_is_told_and_no_page_opens(room: QueueRoom) -> None:
    room.fake.error = InputError("the folder is gone", where="/sessions")
    room.act("run.dry")
    assert "the folder is gone" in room.window.messages.text
    assert room.window.findChild(QLabel, "dry_run") is None


def test_on_real_adapters_no_file_is_touched(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard) -> None:
    at = int(time.time()) - 90_000
    for number in range(2):
        write_codex(tmp_path / "sessions", [("user", "Always use pnpm.")], number=number, at=at - number)
    guard.protect(tmp_path / "home", tmp_path / "memory", tmp_path / "sessions")
    room = QueueRoom(qtbot, harness, tmp_path, real=True)
    try:
        room.act("run.dry")
        texts = _texts(room)
        assert "2 rollouts would be extracted" in texts
        assert "Nothing would change" in texts
        room.dialog("dry_run").close()
    finally:
        room.close()
    assert not (tmp_path / "home").exists()
    assert not (tmp_path / "memory").exists()


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    skips = tuple(Skip(id=str(n), reasons=(f"reason {n % 10}",)) for n in range(30))
    empty = extract_plan(tmp_path, state=PlanState.EMPTY).model_copy(update={"skipped": skips})
    phase = first_phase(empty)
    assert phase.answer == "No rollout would be extracted."
    assert phase.lines[0] == "Left out: 30 rollouts."
    assert "    3 × reason 0" in phase.lines
    assert phase.lines[-1] == "    and 2 other reasons"
    assert not phase.effects


def test_many_rollouts_and_a_model_are_said(tmp_path: Path) -> None:
    many = first_phase(extract_plan(tmp_path, 205, send=True))
    assert many.rows[-1] == "and 5 more"
    assert "requests to api.example.com: price unknown." in many.lines[1]


def test_a_consolidation_by_an_agent_is_not_foretold(tmp_path: Path) -> None:
    assert "No memory folder" in second_phase(None).answer
    plan: Plan = apply_plan(tmp_path / "home", tmp_path / "memory").model_copy(
        update={"kind": "consolidate", "changes": (), "provider": ProviderMark(name="openai", label="OpenAI", host="h")}
    )
    assert "An agent would work" in second_phase(plan).answer
    empty = apply_plan(tmp_path / "home", tmp_path / "memory", state=PlanState.EMPTY)
    assert "up to date" in second_phase(empty).answer
