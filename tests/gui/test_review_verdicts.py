"""Verdicts in the review: by key, confirmed once, bound to the texts, and still there after the apply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import GrantMissing
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, RolloutRef
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store
from ltmem_gui.ui.models.sittings import AuditPowers
from ltmem_gui.ui.models.workbench import Notice
from ltmem_gui.ui.panels.review import ReviewPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.conftest import LoopHarness
from tests.gui.test_review_evidence import MEMORY
from tests.helpers.guard import Guard
from tests.helpers.reviews import plan_of_files
from tests.helpers.waiting import PATIENCE_MS

K = Qt.Key
SUMMARY = "thread_id: t1\n\n- never npm\n- always pnpm\n"


@dataclass
class Desk:
    panel: ReviewPanel
    harness: LoopHarness
    adapters: Composition
    request: Request
    plan: Plan
    asked: list[Plan] = field(default_factory=list)
    answer: bool = True
    told: list[Notice] = field(default_factory=list)

    async def confirm(self, plan: Plan, selection: Selection) -> bool:
        self.asked.append(plan)
        return self.answer

    def go(self, text: str) -> None:
        document = self.panel.model.document
        self.panel.view.set_cursor_row(next(at for at in range(document.count) if document.row(at).text == text))

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        self.harness.call(lambda: QTest.keyClick(focus, key, modifier))

    @property
    def verdict(self) -> str:
        label = self.panel.findChild(QLabel, "review.evidence.verdict")
        assert label is not None
        return label.text()

    def records(self) -> tuple[VerdictRecord, ...]:
        async def read() -> tuple[VerdictRecord, ...]:
            async with open_store(self.adapters, self.request.home, writing=False) as call:
                return await call(call.store.verdicts)

        return self.harness.run(read())


@pytest.fixture
def desk(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard) -> Iterator[Desk]:
    root, home = tmp_path / "memory", tmp_path / "home"
    (root / "rollout_summaries").mkdir(parents=True)
    before = {"MEMORY.md": MEMORY.format("use npm"), "rollout_summaries/a.md": SUMMARY}
    plan, base = plan_of_files(before, {**before, "MEMORY.md": MEMORY.format("use pnpm")})
    plan = plan.model_copy(update={"memory_root": str(root), "home": str(home)}).sealed()
    for path, data in base.items():
        (root / path).write_bytes(data)
    guard.protect(root, home)
    adapters = compose(home)
    theme = Theme.load("light")
    theme.apply()
    panel = ReviewPanel(Operations(adapters), harness.supervisor, theme)
    qtbot.addWidget(panel)
    request = Request(home, root, (), Settings())
    made = Desk(panel, harness, adapters, request, plan)
    panel.verdicts.lend(AuditPowers(lambda: request, made.confirm, lambda: "dev"))
    panel.verdicts.noticed.connect(made.told.append)
    panel.resize(1_112, 720)
    panel.show()
    panel.activateWindow()
    QTest.qWaitForWindowActive(panel, PATIENCE_MS)
    harness.call(lambda: panel.show_plan(plan))
    panel.focus_diff()
    yield made
    harness.call(panel.verdicts.end)
    adapters.close()


CLAIM = "- use pnpm [Task 1] [c1]"


def test_one_yes_then_one_verdict_after_the_other_by_key(desk: Desk) -> None:
    desk.go(CLAIM)
    assert desk.verdict == "Verdict: none yet"
    desk.press(K.Key_1)
    assert [effect.type for effect in desk.asked[0].effects] == ["CreateDataFolder", "StoreVerdicts"]
    assert desk.verdict == "Verdict: supports"
    desk.press(K.Key_2)
    field_ = QApplication.focusWidget()
    assert field_ is desk.panel.reasons.field
    QTest.keyClicks(field_, "only half of it")
    desk.press(K.Key_Return)
    assert QApplication.focusWidget() is desk.panel.view
    assert desk.verdict == "Verdict: partly — only half of it"
    desk.press(K.Key_0)
    assert desk.verdict == "Verdict: supports"
    assert len(desk.asked) == 1
    records = desk.records()
    assert [record.verdict for record in records] == ["supports", "partly", "undo"]
    assert {record.rater for record in records} == {"dev"}
    assert {record.frame for record in records} == {f"review of plan {desk.plan.digest[:8]}"}
    assert desk.panel.state.review is not None
    assert len(desk.panel.state.review.undecided) == 1  # judging decides nothing


def test_a_verdict_holds_after_the_apply(desk: Desk) -> None:
    desk.go(CLAIM)
    desk.press(K.Key_1)
    (desk.request.memory_root / "MEMORY.md").write_text(MEMORY.format("use pnpm"))  # type: ignore[operator]
    operations = Operations(desk.adapters)
    audit = desk.harness.run(operations.audit.load(desk.request, cancel=CancelToken(), listen=ignore))
    item = next(item for item in audit.found.items if item.claim == "use pnpm" and item.entry.path.endswith("a.md"))
    standing = audit.verdicts.of(item, "dev")
    assert standing is not None
    assert (str(standing.support), standing.is_stale) == ("supports", False)


def test_without_a_yes_nothing_is_stored(desk: Desk) -> None:
    desk.answer = False
    desk.go(CLAIM)
    desk.press(K.Key_1)
    assert len(desk.asked) == 1
    assert not desk.request.home.exists()
    assert desk.verdict == "Verdict: none yet"
    desk.press(K.Key_3)
    desk.press(K.Key_Escape)
    assert len(desk.asked) == 1


def test_what_cannot_be_judged_says_why(desk: Desk) -> None:
    said = desk.panel.foot.position
    desk.go("## User preferences")
    desk.press(K.Key_1)
    assert "no citation" in said.full_text
    assert desk.verdict == ""
    desk.go("- in a rollout [c2]")
    assert desk.verdict == "Not read, so not judged"
    desk.press(K.Key_1)
    assert "Read the rollout first" in said.full_text
    desk.go(CLAIM)
    desk.press(K.Key_0)
    assert "no verdict of this review" in said.full_text
    assert desk.asked == []
    desk.press(K.Key_E)
    desk.panel.edit.field.setPlainText("- use yarn [Task 1] [c1]\n")
    desk.panel.edit.keep()
    desk.panel.view.set_cursor_row(desk.panel.model.document.headers[0] + 2)
    desk.press(K.Key_1)
    assert desk.asked == []


def test_a_rollout_is_judged_once_it_was_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(ref: RolloutRef) -> Rollout:
        item = RolloutItem("user", "message", "in passing: always pnpm", line=9)
        return Rollout(id="t1", agent="codex", path=ref.path, items=(item,), updated_at=1)

    monkeypatch.setattr(desk.panel._operations, "load_rollout", read)
    desk.panel.show_rollouts({"t1": RolloutRef(agent="codex", path="/r.jsonl", size=0, mtime_ns=0)})
    desk.go("- in a rollout [c2]")
    button = desk.panel.findChild(QToolButton, "review.evidence.judge")
    assert button is not None
    assert not button.isVisible()
    desk.press(K.Key_S)
    assert desk.verdict == "Verdict: none yet"
    assert button.isVisible()
    desk.press(K.Key_1)
    assert desk.verdict == "Verdict: supports"
    assert desk.records()[0].thread_ids == ("t1",)


def test_the_sitting_ends_with_a_receipt_when_the_plan_goes(desk: Desk) -> None:
    desk.go(CLAIM)
    desk.press(K.Key_5)
    ended: list[bool] = []
    desk.panel.verdicts.ended.connect(lambda: ended.append(True))
    desk.harness.call(desk.panel.clear)
    assert ended == [True]
    receipts = desk.harness.run(Operations(desk.adapters).receipts(desk.request.home))
    assert [(receipt.operation, receipt.counts) for receipt in receipts] == [("audit", {"verdicts": 1})]


def test_a_plan_seen_again_knows_its_verdicts(desk: Desk) -> None:
    desk.go(CLAIM)
    desk.press(K.Key_1)
    desk.harness.call(desk.panel.clear)
    desk.harness.call(lambda: desk.panel.show_plan(desk.plan))
    desk.go(CLAIM)
    assert desk.verdict == "Verdict: supports"


def test_the_menu_lists_the_verdicts_and_acts(desk: Desk) -> None:
    desk.go(CLAIM)
    button = desk.panel.findChild(QToolButton, "review.evidence.judge")
    assert button is not None
    menu = button.menu()
    assert isinstance(menu, QMenu)
    assert menu.actions()[0].text() == "Verdict: supports"
    desk.harness.call(menu.actions()[4].trigger)
    assert desk.verdict == "Verdict: cannot judge"
    evidence = desk.panel.side._lines
    evidence.setFocus()
    desk.press(K.Key_1)
    assert desk.verdict == "Verdict: supports"


def test_a_verdict_that_cannot_be_stored_is_not_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.go(CLAIM)
    desk.press(K.Key_1)
    known: list[object] = []
    desk.harness.supervisor.known_raised.connect(known.append)

    async def refuse(record: VerdictRecord) -> VerdictRecord:
        await asyncio.sleep(0)
        raise GrantMissing("no more")

    monkeypatch.setattr(desk.panel.verdicts._sitting, "append", refuse)
    desk.press(K.Key_5)
    assert len(known) == 1
    assert desk.verdict == "Verdict: supports"
