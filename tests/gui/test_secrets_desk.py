"""Taking secrets out in the window: looked for on a press, shown as a plan to review, written on a yes alone."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.kept_by_git import kept_by_git
from tests.helpers.secret_shapes import tokens

ACTION = "memory.redact"
SECRET = tokens(6)["forge-1"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A folder without a secret whose baseline still holds one."""
    return kept_by_git(tmp_path_factory.mktemp("kept"), SECRET)


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path, real=True)
    guard.protect(made.home, made.root)
    yield made
    made.close()


def test_what_is_found_becomes_a_plan_to_review(room: QueueRoom, guard: Guard) -> None:
    with guard.grant():
        room.root.mkdir()
        (room.root / "own.md").write_text(f"the key is {SECRET}\n")
    room.act(ACTION)
    plan = room.controller.workbench.plan
    assert plan is not None
    assert (plan.operation, [change.path for change in plan.changes]) == ("redact", ["own.md"])
    assert SECRET in (room.root / "own.md").read_text()
    assert not room.home.exists()
    assert not room.window.registry.action(ACTION).isEnabled()
    assert "another plan waits for its review" in room.tip(ACTION)
    assert room.window.review.commands.summary().endswith("resets the baseline · cannot be undone")


def test_what_only_git_keeps_is_asked_for_at_once(
    room: QueueRoom, guard: Guard, kept: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmation, "ARM_MS", 20)
    with guard.grant():
        shutil.copytree(kept.memory, room.root)
        shutil.copytree(kept.home, room.home)
    said: list[str] = []

    async def both() -> None:
        assert room.window.registry.trigger(ACTION)
        while True:
            sheet = room.window.findChild(ConfirmationSheet)
            if sheet is not None and sheet.yes_button.isEnabled():
                break
            await asyncio.sleep(0.01)
        said.extend(label.text() for label in sheet.findChildren(QLabel))
        QTest.mouseClick(sheet.yes_button, Qt.MouseButton.LeftButton)
        await asyncio.sleep(0)
        await room.harness.supervisor.idle()

    room.harness.run(both())
    assert "Take the secrets out of the folder?" in said
    assert any("git keeps github_token × 1" in text for text in said)
    assert room.window.messages.text.startswith("Take secrets out: ")
    assert all(SECRET.encode() not in item.data for item in room.adapters.memory_objects(room.root))


def test_a_clean_folder_is_said_to_be_one(room: QueueRoom, guard: Guard) -> None:
    with guard.grant():
        room.root.mkdir()
        (room.root / "own.md").write_text("nothing here\n")
    room.act(ACTION)
    assert room.window.messages.text == "No secret was found in the files and in what git keeps."
    assert room.controller.workbench.plan is None


def test_a_folder_that_is_gone_is_told(room: QueueRoom) -> None:
    room.act(ACTION)
    assert "the memory folder does not exist" in room.window.messages.text
