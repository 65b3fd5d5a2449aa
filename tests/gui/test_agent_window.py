"""Phase 2 with a model in the window, by actions and object names, against a model server on this computer."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui import bootstrap_gui
from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobRecord
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.bridge.excepthook import BugReporter
from ltmem_gui.ui.controller import Controller, WindowParts
from ltmem_gui.ui.dialogs import armed, confirmation
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.dialogs.provider import ProviderPage
from ltmem_gui.ui.dialogs.regenerate import RegenerateSheet
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.agent_work import Wish
from ltmem_gui.ui.models.run_state import RunPhase
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Theme
from tests.gui.agent_room import InlineComposition, extracted_samples
from tests.gui.conftest import LoopHarness
from tests.helpers.agents import Script, do, summary_paths, whole_run, write_memory
from tests.helpers.guard import Guard
from tests.helpers.model_server import ModelServer, Recorded, ToolCall, model_server, remember_rules
from tests.helpers.program import tree
from tests.helpers.waiting import PATIENCE_SECONDS, until

SETTINGS: dict[str, Any] = {"max_rollout_age_days": 3_650, "max_unused_days": 3_650, "extract_model": "small"}
ESCAPES = [
    [do("read", path="../../../etc/passwd"), do("write", path="/tmp/escaped", content="x")],
    [do("read", path="../\u202eb.md"), do("run_shell", path="id")],
]


@dataclass
class Desk:
    """A window on real adapters beside a model server."""

    window: MainWindow
    controller: Controller
    harness: LoopHarness
    server: ModelServer
    adapters: Composition
    top: Path
    errors: list[Any] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def root(self) -> Path:
        return self.top / "memory"

    @property
    def state(self) -> str:
        return self.window.agent.state_text

    def find(self, name: str) -> QWidget:
        found = self.window.findChild(QWidget, name)
        assert isinstance(found, QWidget), name
        return found

    def answer_moves(self, *moves: Any) -> None:
        """Let the model play these moves from now on."""
        self.server.answer = Script(list(moves))

    async def answer(self, button: str) -> str:
        """Press a button of the armed sheet and return what the sheet said."""

        def armed() -> bool:
            found = self.window.findChild(ConfirmationSheet)
            return found is not None and found.yes_button.isEnabled()

        await until(armed)
        sheet = self.window.findChild(ConfirmationSheet)
        assert sheet is not None
        words = "\n".join(label.text() for label in sheet.findChildren(QLabel))
        found = sheet.findChild(QAbstractButton, button)
        assert isinstance(found, QAbstractButton)
        QTest.mouseClick(found, Qt.MouseButton.LeftButton)
        await asyncio.sleep(0)
        return words

    def act(self, id_: str, *answers: str) -> list[str]:
        """Do an action, answer its sheets, and let the work end; return what the sheets said."""
        registry = self.window.registry
        if id_ not in {spec.id for spec in registry.specs}:
            registry = self.window.review.registry
        assert registry.action(id_).isEnabled(), registry.action(id_).toolTip()

        async def work() -> list[str]:
            registry.trigger(id_)
            said = [await self.answer(button) for button in answers]
            await asyncio.sleep(0)
            await self.harness.supervisor.idle()
            return said

        return self.harness.run(work())

    def accept_everything(self) -> None:
        review = self.window.review
        for path in list(review.state.files):
            self.harness.call(lambda path=path: review.open_file(path))
            for _ in range(2):  # a file with findings is accepted by the second press
                self.harness.call(lambda: review.registry.trigger("review.accept_file"))

    def job(self) -> JobRecord | None:
        with self.adapters.stores.reading(self.home) as store:
            return store.job(GLOBAL_KIND, GLOBAL_KEY)


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose sessions the built-in rules have extracted."""
    return extracted_samples(tmp_path_factory.mktemp("extracted"))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


@pytest.fixture
def adapters(request: pytest.FixtureRequest) -> Iterator[Composition]:
    """Give the real adapters; only the whole job needs its worker processes and threads."""
    made = compose(None) if "whole_job" in request.node.name else InlineComposition(None)
    yield made
    made.close()


@pytest.fixture
def desk(
    qtbot: QtBot,
    harness: LoopHarness,
    adapters: Composition,
    server: ModelServer,
    extracted: Path,
    tmp_path: Path,
    guard: Guard,
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    monkeypatch.setattr(confirmation, "ARM_MS", 30)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    theme = Theme.load("light")
    theme.apply()
    top = tmp_path / "desk"
    shutil.copytree(extracted / "data", top / "home")
    shutil.copytree(extracted / "sessions", top / "sessions")
    guard.protect(top / "home", top / "memory", top / "fresh", top / "fresh-memory", top / "sessions")
    operations = Operations(adapters)
    window = MainWindow(operations, harness.supervisor, theme)
    qtbot.addWidget(window)
    parts = WindowParts(
        operations=operations,
        supervisor=harness.supervisor,
        theme=theme,
        reporter=BugReporter(),
        settings=Settings(**SETTINGS, provider_url=server.url),
        approver=lambda: "dev",
        demo=lambda top: bootstrap_gui.lay_demo_folder(adapters, top),
    )
    controller = Controller(window, parts)
    controller.workbench.folders_changed.connect(lambda folders: bootstrap_gui.use_home(adapters, folders))
    controller.name_folders(Folders((), top / "memory", top / "home"))
    chosen = ModelChoice(consolidate="custom", provider_url=server.url, extract_model="small")
    controller.workbench.choose_model(chosen)
    window.show()
    window.activateWindow()
    made = Desk(window, controller, harness, server, adapters, top)
    harness.supervisor.known_raised.connect(made.errors.append)
    return made


def test_from_two_confirmations_to_a_written_folder(desk: Desk) -> None:
    desk.answer_moves(*whole_run())
    (said,) = desk.act("run.consolidate", "confirmation.yes")
    for words in (
        "private copy",
        str(desk.root),
        "no shell",
        "network: none but the model",
        "approvals: never",
        "reasoning effort medium",
        "200 steps",
        "64.0 MiB",
        "(this computer)",
        "raw_memories.md",
    ):
        assert words in said, words
    assert not desk.root.exists()
    assert desk.window.shown_panel == "review"
    assert not desk.window.agent.isHidden()
    assert "proposal waits" in desk.state
    assert desk.window.agent.view.model.totals.steps == 14
    assert desk.window.agent.view.model.totals.files >= {"MEMORY.md", "memory_summary.md"}
    assert desk.controller.workbench.run_state.phase is RunPhase.PLAN_READY
    desk.accept_everything()
    desk.act("review.apply", "confirmation.yes")
    assert "lesson1, pnpm, npm" in (desk.root / "MEMORY.md").read_text()
    assert desk.window.shown_panel == "history"
    assert desk.window.agent.isHidden()
    desk.window.history.select(desk.controller.workbench.seen.receipts[-2].operation_number)
    kept = desk.window.history.steps
    assert not kept.isHidden()
    assert kept.model.totals.steps == 14
    assert kept.model.rows[0].path == "phase2_workspace_diff.md"


def test_the_whole_job_with_a_model_chosen_in_the_window(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the page of providers over both phases to the folder: three confirmations, each shown first."""
    monkeypatch.setattr(armed, "ARM_MS", 30)
    bench = desk.controller.workbench
    bench.choose_model(ModelChoice())
    home, root = desk.top / "fresh", desk.top / "fresh-memory"
    desk.controller.name_folders(Folders((SourceSpec("codex", str(desk.top / "sessions")),), root, home))

    async def choose() -> None:
        desk.window.registry.trigger("provider.open")
        await until(lambda: desk.window.findChild(ProviderPage) is not None)
        page = desk.window.findChild(ProviderPage)
        assert page is not None
        page.name.setCurrentIndex(page.name.findData("custom"))
        page.url.clear()
        QTest.keyClicks(page.url, desk.server.url)
        page.model.setEditText("small")
        QTest.mouseClick(page.apply, Qt.MouseButton.LeftButton)
        await desk.harness.supervisor.idle()

    desk.harness.run(choose())
    assert desk.server.requests == []
    play = Script(whole_run())
    desk.server.answer = lambda request: play(request) if "tools" in request.body else remember_rules(request)
    extract, consolidate = desk.act("run.start", "confirmation.yes", "confirmation.yes")
    assert "(this computer)" in extract
    assert "extractions" in extract
    assert "consolidation agent (small)" in consolidate
    assert not root.exists()
    assert "proposal waits" in desk.state
    desk.accept_everything()
    desk.act("review.apply", "confirmation.yes")
    assert "lesson1, pnpm, npm" in (root / "MEMORY.md").read_text()
    assert {request.path for request in desk.server.requests} == {"/v1/chat/completions"}
    assert desk.errors == []


def test_a_no_sends_nothing(desk: Desk) -> None:
    desk.answer_moves(*whole_run())
    desk.act("run.consolidate", "confirmation.cancel")
    assert desk.server.requests == []
    assert desk.controller.workbench.run_state.phase is RunPhase.IDLE
    assert desk.window.agent.isHidden()


def test_cancel_does_not_wait_for_the_model(desk: Desk) -> None:
    desk.server.hold()
    bench = desk.controller.workbench

    async def work() -> None:
        desk.window.registry.trigger("run.consolidate")
        await desk.answer("confirmation.yes")
        await until(lambda: desk.server.in_flight > 0, "the request at the server")
        assert bench.run_state.phase is RunPhase.CONSOLIDATING
        desk.window.registry.trigger("run.cancel")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await desk.harness.supervisor.idle()

    desk.harness.run(work())
    assert desk.server.in_flight == 1
    assert "cancelled" in desk.state
    assert bench.run_state.phase is RunPhase.IDLE
    assert not desk.root.exists()
    job = desk.job()
    assert job is not None
    assert job.last_outcome == "released"
    assert desk.errors == []


def test_a_server_that_is_gone_leaves_a_reason_and_a_time(desk: Desk) -> None:
    desk.server.plan("ok", "drop")
    desk.answer_moves([do("list")], [do("list")])
    desk.act("run.consolidate", "confirmation.yes")
    assert "failed: the connection failed" in desk.state
    assert "it may run again from 20" in desk.state
    assert "memory folder is as it was" in desk.state
    assert desk.window.agent.view.model.totals.steps == 1
    assert not desk.root.exists()
    assert desk.controller.workbench.run_state.button == "Try again…"
    assert not desk.window.agent.retry.isHidden()
    assert len(desk.errors) == 1

    async def lift() -> None:
        desk.window.agent.retry.click()
        await desk.answer("confirmation.yes")
        await desk.harness.supervisor.idle()

    desk.harness.run(lift())
    assert desk.window.agent.retry.isHidden()
    desk.answer_moves(*whole_run())
    desk.act("run.consolidate", "confirmation.yes")
    assert "proposal waits" in desk.state


def test_escapes_are_refused_counted_and_shown_as_text(desk: Desk) -> None:
    desk.answer_moves(*ESCAPES, *whole_run())
    desk.act("run.consolidate", "confirmation.yes")
    drawer = desk.window.agent
    assert drawer.view.model.totals.refused == 4
    assert drawer.refused.text() == "✕ Refused 4"
    QTest.mouseClick(drawer.refused, Qt.MouseButton.LeftButton)
    assert drawer.view.model.rowCount() == 4
    shown = [drawer.view.model.row_at(i) for i in range(4)]
    assert [row.step for row in shown if row is not None] == [1, 1, 2, 2]
    drawer.view.table.selectRow(2)
    words = drawer.view.detail.toPlainText()
    assert "✕ refused" in words
    assert "⟨U+202E⟩" in words
    assert not Path("/tmp/escaped").exists()
    assert not desk.root.exists()


def test_a_proposal_is_made_again_with_a_remark(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.answer_moves(*whole_run())
    desk.act("run.consolidate", "confirmation.yes")
    review = desk.window.review
    earlier = review.state.plan
    desk.harness.call(lambda: review.open_file("memory_summary.md"))
    desk.harness.call(lambda: review.registry.trigger("review.reject_file"))
    assert not desk.window.agent.regenerate.isHidden()
    asked = len(desk.server.posts)
    desk.answer_moves(*whole_run())

    async def work() -> str:
        review.registry.trigger("review.regenerate")
        await until(lambda: desk.window.findChild(RegenerateSheet) is not None)
        sheet = desk.window.findChild(RegenerateSheet)
        assert sheet is not None
        assert not sheet.plan.isEnabled()
        note = sheet.findChild(QPlainTextEdit, "regenerate.note")
        assert note is not None
        QTest.keyClicks(note, "Say it in half the words.")
        QTest.mouseClick(sheet.plan, Qt.MouseButton.LeftButton)
        said = await desk.answer("confirmation.yes")
        await desk.harness.supervisor.idle()
        return said

    said = desk.harness.run(work())
    assert "is told: Say it in half the words." in said
    assert "1 change you turned down" in said
    told = desk.server.posts[asked].user
    assert "Say it in half the words." in told
    assert "What's in Memory" in told
    assert review.state.plan is not earlier
    assert desk.controller.workbench.run_state.phase is RunPhase.PLAN_READY
    after = review.state.plan
    assert after is not None
    assert [f.path for f in after.findings if f.rule == "refused-before"] == ["memory_summary.md"]
    desk.harness.call(lambda: review.open_file("memory_summary.md"))
    assert "refused-before" in {finding.rule for finding in review.model.findings}
    anew = desk.controller.model_desk.anew(after, frozenset({"t"}))
    assert (anew.exclude, [hunk.key for hunk in anew.refused]) == ({"t"}, [hunk.key for hunk in after.refused])
    builtin = after.model_copy(update={"provider": after.provider.model_copy(update={"name": "builtin"})})
    assert desk.controller.model_desk.anew(builtin, frozenset()).refused == ()
    wishes: list[Wish] = []
    monkeypatch.setattr(desk.controller.workbench, "regenerate", wishes.append)
    review.rebase_requested.emit(after)
    review.leave_out_requested.emit(after, frozenset({"t"}))
    assert [wish.exclude for wish in wishes] == [frozenset(), frozenset({"t"})]
    assert [wish.refused for wish in wishes] == [anew.refused, anew.refused]


def test_findings_of_a_proposal_stand_on_their_lines(desk: Desk) -> None:
    bullet = "- a bullet without a source"
    old = "## User preferences\n"
    edit = do("edit", path="MEMORY.md", old_text=old, new_text=f"{old}{bullet}\n", replace_all=True)
    moves = whole_run()
    desk.answer_moves(*moves[:9], [edit], *moves[9:])
    desk.act("run.consolidate", "confirmation.yes")
    review = desk.window.review
    plan = review.state.plan
    assert plan is not None
    found = [f for f in plan.findings if f.rule == "uncited"]
    assert found
    desk.harness.call(lambda: review.open_file("MEMORY.md"))
    document = review.model.document
    lines = {row.new: row.text for row in document.rows(0, document.count) if row.new}
    assert {lines[finding.line] for finding in found if finding.line} == {bullet}
    assert {f.id for f in found} <= {f.id for f in review.model.findings}


def test_lost_citations_and_lost_lines_are_found(desk: Desk) -> None:
    desk.answer_moves(*whole_run())
    desk.act("run.consolidate", "confirmation.yes")
    desk.accept_everything()
    desk.act("review.apply", "confirmation.yes")

    def forget_much(request: Recorded) -> list[ToolCall]:
        kept = write_memory(summary_paths(request)[:1]).replace(" [c1]", "")
        return [do("write", path="MEMORY.md", content=kept)]

    desk.answer_moves([do("list", path="rollout_summaries")], forget_much)
    bench = desk.controller.workbench

    async def again() -> None:
        bench.regenerate(Wish(note="Keep the first lesson only."))
        await desk.answer("confirmation.yes")
        await desk.harness.supervisor.idle()

    desk.harness.run(again())
    plan = desk.window.review.state.plan
    assert plan is not None
    rules = {finding.rule for finding in plan.findings}
    assert rules >= {"dropped-citation", "loss"}, rules
    desk.harness.call(lambda: desk.window.review.open_file("MEMORY.md"))
    on_lines = {finding.rule for finding in desk.window.review.model.findings}
    assert "dropped-citation" in on_lines
    listed = desk.window.review.findings_model
    assert listed.rowCount() >= 2


def test_the_inputs_are_decided_by_session_before_the_agent_starts(desk: Desk) -> None:
    desk.act("run.inputs")
    review = desk.window.review
    plan = review.state.plan
    assert plan is not None
    assert plan.kind == "consolidate"
    assert desk.server.requests == []
    assert review.foot.button.text() == "Start the agent…"
    assert "nothing is written" in review.foot.summary.full_text
    assert not review.registry.action("review.regenerate").isEnabled()
    assert review.state.review is not None
    threads = [unit.key for unit in review.state.review.units if unit.kind == "thread"]
    others = [unit.key for unit in review.state.review.deciding if unit.key != threads[0]]
    review.state.decide(others, Decision.ACCEPT)
    review.state.decide([threads[0]], Decision.REJECT)
    desk.answer_moves(*whole_run())
    (said,) = desk.act("review.apply", "confirmation.yes")
    assert "left out of the memory" in said
    assert "Start the consolidation agent?" in said
    proposal = review.state.plan
    assert proposal is not None
    assert proposal.kind == "apply"
    assert len(proposal.rows) == len(threads) - 1
    assert review.foot.button.text() == "Apply…"


def test_inputs_taken_whole_start_the_agent_after_a_yes(desk: Desk) -> None:
    desk.act("run.inputs")
    desk.accept_everything()
    desk.act("review.apply", "confirmation.cancel")
    bench = desk.controller.workbench
    assert bench.run_state.phase is RunPhase.PLAN_READY
    assert desk.server.requests == []
    desk.answer_moves(*whole_run())
    desk.act("review.apply", "confirmation.yes")
    assert "proposal waits" in desk.state
    assert bench.plan is not None
    assert bench.plan.kind == "apply"
    desk.controller.name_folders(Folders((), desk.top / "other", desk.top / "other-home"))
    assert desk.window.agent.isHidden()
    assert desk.window.agent.view.model.rowCount() == 0
    assert "No agent has run" in desk.state


def test_the_built_in_rules_have_no_inputs_to_review(desk: Desk) -> None:
    desk.controller.workbench.choose_model(ModelChoice())
    action = desk.window.registry.action("run.inputs")
    assert not action.isEnabled()
    assert "choose a model first" in action.toolTip()


def test_the_steps_are_opened_and_closed_by_key(desk: Desk) -> None:
    drawer = desk.window.agent
    assert drawer.isHidden()
    desk.harness.call(lambda: desk.window.registry.trigger("agent.steps"))
    assert not drawer.isHidden()
    assert "No agent has run" in desk.state
    desk.harness.call(lambda: desk.window.registry.trigger("agent.steps"))
    assert drawer.isHidden()
    assert tree(desk.root) == {}
