"""The sheet of effects on a real folder that moves while it is open."""

from __future__ import annotations

import pytest

from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.models import folder_watch
from tests.gui import test_window
from tests.gui.test_window import Desk, accept_everything, name_folders
from tests.helpers.waiting import until

adapters, desk = test_window.adapters, test_window.desk


@pytest.mark.log_expected
def test_a_folder_that_moves_closes_the_sheet_and_offers_a_fresh_plan(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "SECONDS", 0.05)
    name_folders(desk)
    desk.press("folders.scan")
    desk.act_and_answer("run.start", "confirmation.yes")
    accept_everything(desk)
    desk.act_and_answer("review.apply", "confirmation.yes")
    desk.press("history.undo")
    accept_everything(desk)
    memory = desk.root / "MEMORY.md"
    kept = memory.read_bytes()

    async def move_it() -> None:
        desk.window.review.registry.trigger("review.apply")
        await until(lambda: desk.window.findChild(ConfirmationSheet), "the sheet")
        memory.write_bytes(kept + b"by hand\n")
        await desk.harness.supervisor.idle()

    desk.harness.run(move_it())
    assert desk.window.shown_panel == "review"
    assert "Stale" in desk.window.review.messages.text
    assert "MEMORY.md" in desk.window.review.messages.text
    assert memory.read_bytes().endswith(b"by hand\n")
    assert desk.reporter.reports == ()
