"""The confirmation: its words, and that nothing but its button on an attended window means yes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.effects import (
    AgentConstraints,
    CreditUsage,
    InboxDecision,
    PruneOutputs,
    StartAgent,
    StoreInboxDecisions,
    StoreOutputs,
    StoreVerdicts,
)
from ltmem_gui.domain.errors import WorkspaceMoved
from ltmem_gui.domain.plan import Plan, WorkspaceMark
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet, ask
from ltmem_gui.ui.models import folder_watch
from ltmem_gui.ui.models.effects_text import describe, loss_to_type, provider_text, removed_lines
from ltmem_gui.ui.models.folder_watch import FolderWatch
from tests.gui.builders import all_of, apply_plan, extract_plan
from tests.gui.conftest import LoopHarness
from tests.helpers.waiting import PATIENCE_MS, until


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Arm the button when the test says so; one test looks at the real time."""
    if "real_time" not in request.node.name:
        monkeypatch.setattr(confirmation, "ARM_MS", 3_600_000)


def sheet_of(qtbot: QtBot, plan: Plan, selection: Selection | None = None) -> ConfirmationSheet:
    sheet = ConfirmationSheet(plan, selection or all_of(plan), last_receipt="last receipt: no. 1")
    qtbot.addWidget(sheet)
    sheet.open()
    sheet.activateWindow()
    qtbot.waitUntil(sheet.isActiveWindow, timeout=PATIENCE_MS)
    return sheet


def arm(qtbot: QtBot, sheet: ConfirmationSheet) -> None:
    """Let the time pass that the button sleeps."""
    sheet._timer.start(0)
    qtbot.waitUntil(lambda: sheet._armed, timeout=PATIENCE_MS)


def words(sheet: ConfirmationSheet) -> str:
    return "\n".join(label.text() for label in sheet.findChildren(QLabel))


def test_yes_is_off_at_first_and_cancel_is_default(qtbot: QtBot, tmp_path: Path) -> None:
    sheet = sheet_of(qtbot, extract_plan(tmp_path))
    cancel = sheet.findChild(QPushButton, "confirmation.cancel")
    assert not sheet.yes_button.isEnabled()
    assert cancel.isDefault()
    assert cancel.hasFocus()
    sheet.yes_button.click()
    assert not sheet.confirmed
    arm(qtbot, sheet)
    qtbot.mouseClick(sheet.yes_button, Qt.MouseButton.LeftButton)
    assert sheet.confirmed
    assert not sheet.isVisible()


def test_the_button_wakes_after_half_a_second_in_real_time(qtbot: QtBot, tmp_path: Path) -> None:
    began = time.monotonic()
    sheet = sheet_of(qtbot, extract_plan(tmp_path))
    qtbot.waitUntil(sheet.yes_button.isEnabled, timeout=PATIENCE_MS)
    assert time.monotonic() - began >= 0.5
    sheet.close()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Space])
@pytest.mark.parametrize("armed", [False, True])
def test_no_key_on_a_fresh_sheet_means_yes(qtbot: QtBot, tmp_path: Path, key: Qt.Key, armed: bool) -> None:
    sheet = sheet_of(qtbot, extract_plan(tmp_path))
    if armed:
        arm(qtbot, sheet)
    qtbot.keyClick(sheet.focusWidget(), key)
    sheet.close()
    assert not sheet.confirmed
    assert sheet.result() == 0


def test_enter_in_the_text_and_a_foreign_accept_mean_no(qtbot: QtBot, tmp_path: Path) -> None:
    sheet = sheet_of(qtbot, extract_plan(tmp_path))
    arm(qtbot, sheet)
    sheet.yes_button.setFocus()
    qtbot.keyClick(sheet, Qt.Key.Key_Return)
    assert sheet.isVisible()
    sheet.accept()
    assert not sheet.confirmed
    assert sheet.result() == 0


def test_losing_the_window_disarms(qtbot: QtBot, tmp_path: Path) -> None:
    sheet = sheet_of(qtbot, extract_plan(tmp_path))
    arm(qtbot, sheet)
    sheet.changeEvent(QEvent(QEvent.Type.ActivationChange))
    assert not sheet.yes_button.isEnabled()
    arm(qtbot, sheet)
    sheet.close()


def test_digest_and_effects_are_named(qtbot: QtBot, tmp_path: Path) -> None:
    plan = extract_plan(tmp_path, send=True)
    sheet = sheet_of(qtbot, plan)
    text = words(sheet)
    assert f"plan {plan.digest[:8]}" in text
    assert "tokens of redacted text to api.example.com" in text
    assert "Leaves this computer" in text
    assert "1 secret redacted" in text
    assert str(tmp_path) in text
    toggle = sheet.findChild(QToolButton, "confirmation.details")
    toggle.setChecked(True)
    assert toggle.text() == "Details ▾"
    sheet.close()


def test_a_loss_must_be_typed(qtbot: QtBot, tmp_path: Path) -> None:
    plan = apply_plan(tmp_path, tmp_path / "m", loss=True)
    sheet = sheet_of(qtbot, plan)
    line = sheet.findChild(QLineEdit, "confirmation.loss")
    arm(qtbot, sheet)
    assert not sheet.yes_button.isEnabled()
    qtbot.keyClicks(line, "7")
    assert not sheet.yes_button.isEnabled()
    line.setText("1")
    assert sheet.yes_button.isEnabled()
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert not sheet.confirmed
    sheet.close()


def test_ask_is_awaited(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> None:
    plan = extract_plan(tmp_path)

    async def no() -> bool:
        asking = asyncio.create_task(ask(plan, all_of(plan)))
        await until(lambda: any(isinstance(w, ConfirmationSheet) for w in qtbot_top_levels()), "the sheet")
        sheet = next(w for w in qtbot_top_levels() if isinstance(w, ConfirmationSheet))
        sheet.reject()
        return await asking

    assert harness.run(no()) is False


def qtbot_top_levels() -> list[object]:
    from PySide6.QtWidgets import QApplication

    return list(QApplication.topLevelWidgets())


# --- words ---


def test_groups_stand_in_order_with_numbers(tmp_path: Path) -> None:
    plan = apply_plan(tmp_path, tmp_path / "m")
    groups = describe(plan, all_of(plan))
    assert [group.group for group in groups] == ["leaves this computer", "writes", "deletes", "database", "git"]
    assert groups[0].quiet
    lines = {line.text: line for group in groups for line in group.lines}
    assert "file in the memory folder (+3 −2 lines)" in lines
    assert "new baseline commit without history (replaces abcdef01)" in lines


def test_numbers_are_those_of_the_selection(tmp_path: Path) -> None:
    plan = apply_plan(tmp_path, tmp_path / "m")
    selection = Selection(
        plan_digest=plan.digest,
        accepted={"MEMORY.md": ("h2",)},
        rejected={"MEMORY.md": ("h1",), "rollout_summaries/x.md": ("*",)},
    )
    groups = {group.group: group for group in describe(plan, selection)}
    assert groups["deletes"].quiet
    written = groups["writes"].lines[-1]
    assert written.text == "file in the memory folder (+2 −0 lines)"
    assert "100 B → 110 B   as decided" in written.details[0]
    assert removed_lines(plan, selection) == 0
    edited = Selection(plan_digest=plan.digest, edited={"MEMORY.md": {"h1": ()}}, accepted={"MEMORY.md": ("h2",)})
    assert removed_lines(plan, edited) == 2
    nothing = Selection(plan_digest=plan.digest, rejected={"MEMORY.md": ("h1", "h2")})
    assert all("memory folder (" not in line.text for group in describe(plan, nothing) for line in group.lines)


def test_the_loss_is_asked_for_only_where_the_planner_found_one(tmp_path: Path) -> None:
    plan = apply_plan(tmp_path, tmp_path / "m")
    assert loss_to_type(plan, all_of(plan)) == 0
    lossy = apply_plan(tmp_path, tmp_path / "m", loss=True)
    assert loss_to_type(lossy, all_of(lossy)) == 1


def test_who_works_and_what_leaves_is_said_once(tmp_path: Path) -> None:
    assert provider_text(extract_plan(tmp_path)) == "Built-in rules, no AI model, nothing leaves this computer"
    assert "sends to" in provider_text(extract_plan(tmp_path, send=True))


def test_changes_of_rows_are_said_one_by_one(tmp_path: Path) -> None:
    decisions = (
        InboxDecision(line_id=1, thread_id="t", decision="reword", quote="maybe tabs", text="tabs"),
        InboxDecision(line_id=2, thread_id="t", decision="drop", quote="or not"),
    )
    out, back = {"thread_id": "t1", "excluded": "private"}, {"thread_id": "t2", "excluded": ""}
    effects = (
        StoreInboxDecisions(count=2, decisions=decisions),
        StoreOutputs(count=0, edited=(out,)),
        StoreOutputs(count=0, edited=(out, back, {"thread_id": "t3", "raw_memory": "x"})),
    )
    plan = extract_plan(tmp_path).model_copy(update={"effects": effects})
    inbox, one, three = [line for group in describe(plan) for line in group.lines if line.number != "0"]
    assert inbox.details == ("reword line 1: “maybe tabs” as “tabs”", "drop line 2: “or not”")
    assert (one.number, one.text) == ("1", "session left out of the memory")
    assert one.details == ("t1   left out of the memory",)
    assert three.text == "sessions: 1 left out of the memory, 1 taken into the memory again, 1 with an edited memory"


def test_every_other_effect_has_words(tmp_path: Path) -> None:
    effects = (
        StartAgent(provider="openai", model="m", constraints=AgentConstraints(cwd="/tmp/x")),
        PruneOutputs(thread_ids=("t",), reason="unused"),
        CreditUsage(credits=({"thread_id": "t", "record": "line 1", "cited_id": "c"},)),
        StoreVerdicts(rater="dev", frame="all"),
        StoreInboxDecisions(count=2),
    )
    plan = extract_plan(tmp_path).model_copy(update={"effects": effects})
    text = "\n".join(line.text for group in describe(plan) for line in group.lines)
    for part in ("consolidation agent", "unused", "uses of 1 memory", "verdicts of dev", "inbox decisions"):
        assert part in text


class Moving:
    """Operations of a folder that moves after the second look."""

    def __init__(self, moves: bool = True) -> None:
        self.moves = moves
        self.looks = 0

    async def require_unmoved(self, plan: Plan) -> None:
        self.looks += 1
        if self.moves and self.looks > 1:
            raise WorkspaceMoved("the memory folder moved since the plan was made: MEMORY.md")


def with_base(plan: Plan, root: Path) -> Plan:
    return plan.model_copy(update={"base": WorkspaceMark(root=str(root), exists=True, baseline=None)}).sealed()


def test_a_sheet_closes_itself_when_the_folder_moves(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "SECONDS", 0.02)
    plan = with_base(apply_plan(tmp_path, tmp_path / "memory"), tmp_path / "memory")
    operations = Moving()
    watch = FolderWatch(operations, harness.supervisor)  # type: ignore[arg-type]
    with pytest.raises(WorkspaceMoved, match=r"MEMORY\.md"):
        harness.run(ask(plan, all_of(plan), watch=watch))
    assert operations.looks == 2


def test_a_folder_that_stays_is_watched_until_the_sheet_is_closed(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "SECONDS", 0.02)
    plan = with_base(apply_plan(tmp_path, tmp_path / "memory"), tmp_path / "memory")
    operations = Moving(moves=False)
    watch = FolderWatch(operations, harness.supervisor)  # type: ignore[arg-type]

    async def both() -> bool:
        asked = asyncio.ensure_future(ask(plan, all_of(plan), watch=watch))
        await until(lambda: operations.looks >= 3, "the third look")
        (sheet,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, ConfirmationSheet) and w.isVisible()]
        sheet.reject()
        return await asked

    assert not harness.run(both())
    assert not harness.supervisor.is_running(folder_watch.TASK)
    looks = operations.looks
    watch.start(extract_plan(tmp_path))  # made from no folder: nothing to look at
    assert not harness.supervisor.is_running(folder_watch.TASK)
    assert operations.looks == looks


def test_the_sheet_says_whether_there_is_a_way_back(qtbot: QtBot, tmp_path: Path) -> None:
    plan = apply_plan(tmp_path, tmp_path / "memory")
    assert "Can be undone from the history for 24 hours" in words(sheet_of(qtbot, plan))
    forget = plan.model_copy(update={"operation": "forget"}).sealed()
    assert "Cannot be undone" in words(sheet_of(qtbot, forget))


def test_taking_secrets_out_is_asked_as_what_it_is(qtbot: QtBot, tmp_path: Path) -> None:
    plan = apply_plan(tmp_path, tmp_path / "memory").model_copy(update={"operation": "redact"})
    for one in (plan, plan.model_copy(update={"changes": ()})):
        said = words(sheet_of(qtbot, one.sealed()))
        assert "Take the secrets out of the folder?" in said
        assert said.count("Cannot be undone") == 1
