"""The detail of a row: facts, attempts, log, links, and the cancel of one row."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.events import JobFinished, JobNoted, JobPrepared, JobStarted, LeaseRenewed
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.jobs import Attempt, JobStatus
from ltmem_gui.domain.leases import StageOne
from ltmem_gui.domain.opening import Place
from ltmem_gui.ui.dialogs.messages import RolloutWindow
from ltmem_gui.ui.models.job_facts import remedy_of
from ltmem_gui.ui.models.job_log import JOB_LINES, RING_LINES, JobLog, Level
from ltmem_gui.ui.models.job_rows import build_rows, cost_in_words
from ltmem_gui.ui.models.job_state import state_of
from ltmem_gui.ui.models.job_table import COLUMNS
from ltmem_gui.ui.widgets.labels import ElidedLabel
from tests.gui.builders import NOW, scanned
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom, job
from tests.helpers.waiting import until

SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def _attempt(number: int, outcome: str = "failed", **more: object) -> Attempt:
    at = NOW - 1_000 + number * 10
    return Attempt(number, "box:77:1:ltmem", at, at + 5, outcome, **more)  # type: ignore[arg-type]


def test_the_facts_of_a_failure_and_its_remedy(room: QueueRoom) -> None:
    tries = tuple(_attempt(n, error="the server says no", error_group="rate_limit") for n in range(1, 6))
    paid = Attempt(
        6, "box:77:1:ltmem", NOW - 60, NOW - 50, "failed", 1_000, 200, "rate_limit", "slow down",
        cost=Decimal("0.012"), currency="USD", model="m",
    )  # fmt: skip
    failed = job(
        0,
        JobStatus.ERROR,
        *tries,
        paid,
        last_error="slow down",
        error_group="rate_limit",
        retry_at=NOW + 600,
        retry_remaining=1,
        crash_count=1,
        started_at=NOW,
        input_watermark=NOW - 7_200,
    )
    room.fake.job_records = (failed,)
    room.scan()
    room.queue.select_key(scanned(0).id)
    detail = room.queue.detail
    assert detail._reason.text() == "slow down"
    assert "Wait" in detail._remedy.text()
    facts = room.facts()
    assert facts["Tries"].startswith(f"1 of {StageOne.RETRIES} left, next at")
    assert facts["Cost"] == "0.012 USD, all attempts together"
    assert facts["Crashes"] == "1 in a row"
    assert facts["Waited"].startswith("2 h")
    assert "tokens after filtering" in facts["Input"]
    newest, fold = detail._attempts.topLevelItem(0), detail._attempts.topLevelItem(1)
    assert newest is not None
    assert [newest.text(column) for column in (0, 1, 4, 5, 6)] == [
        "6",
        "failed",
        "1.2k",
        "0.012 USD",
        "box, process 77",
    ]
    assert fold is not None
    assert (fold.text(0), fold.childCount(), fold.isExpanded()) == ("5 replaced attempts", 5, False)


def test_a_lease_tells_its_owner_and_a_late_heartbeat(room: QueueRoom) -> None:
    late = job(0, JobStatus.RUNNING, owner="box:77:1:ltmem", lease_until=NOW + StageOne.JOB_LEASE_SECONDS - 200)
    state = state_of(None, late, NOW)
    assert state.name == "heartbeat late"
    fresh = job(1, JobStatus.RUNNING, owner="box:77:1:ltmem", lease_until=NOW + StageOne.JOB_LEASE_SECONDS - 100)
    assert state_of(None, fresh, NOW).name == "running"
    room.fake.job_records = (late,)
    room.scan()
    room.queue.select_key(scanned(0).id)
    assert "box, process 77, until" in room.facts()["Lease"]
    assert "not renewed" in room.queue.detail._reason.text()
    assert "another program" in room.tip("queue.cancel") or "not running" in room.tip("queue.cancel")


@pytest.mark.parametrize("rule", ["interactive", "age", "idle", "memory_mode", "root_session", "own_run", "memory_root",
                                  "data_folder", "archived", "ephemeral", "empty", "current"])  # fmt: skip
def test_every_rule_that_fails_has_a_remedy(rule: str) -> None:
    row = build_rows([scanned(1, failed=rule)], [], NOW)[0]
    assert remedy_of(row)


def test_costs_are_said_or_why_they_are_not() -> None:
    def words(*attempts: Attempt) -> str:
        return cost_in_words(build_rows([scanned(0)], [job(0, JobStatus.DONE, *attempts)], NOW)[0])

    assert words() == "nothing was asked yet"
    assert words(_attempt(1)) == "no AI model was asked"
    assert words(_attempt(1, tokens_in=5)).startswith("price unknown")
    paid = _attempt(2, cost=Decimal("0.5"), currency="USD")
    assert words(_attempt(1, model="m"), paid) == "0.50 USD, all attempts together; of 1 more the price is unknown"


def test_the_log_follows_a_run_and_is_filtered_by_level(room: QueueRoom) -> None:
    room.fake.job_records = (job(0, JobStatus.ERROR, _attempt(1, error=f"refused {SECRET}"), retry_remaining=2),)
    room.scan()
    room.queue.select_key(scanned(0).id)
    room.act("queue.log")
    log = room.queue.detail.log
    assert QApplication.focusWidget() is log.text
    id_ = scanned(0).id
    room.tell(
        JobStarted(id_, 2),
        JobPrepared(id_, 412_000, 150_000, True, {"openai": 2}),
        JobNoted(id_, "debug", "asking models.example, model m"),
        JobNoted(scanned(1).id, "error", "another row"),
        JobFinished(id_, "failed", f"the server said {SECRET}", 10, 2),
    )
    text = log.text.toPlainText()
    assert SECRET not in text
    assert "another row" not in text
    for words in ("attempt 1 began", "failed — refused", "attempt 2 began", "412.0k tokens after filtering",
                  "cut to 150.0k",
                  "2 secrets replaced (openai 2)", "asking models.example", "10 tokens in, 2 out"):  # fmt: skip
        assert words in text, words
    assert room.queue.detail._tabs.tabText(2) == "Log 6"
    log.level.setCurrentIndex(3)
    assert [line.split()[1] for line in log.text.toPlainText().split("\n")] == ["error", "error"]
    assert log._shown.text() == "4 quieter lines are hidden"
    copy = log.findChild(QPushButton, "queue.log.copy")
    assert copy is not None
    copy.click()
    assert QApplication.clipboard().text() == log.text.toPlainText()
    every = log.findChild(QPushButton, "queue.log.copy_all")
    assert every is not None
    every.click()
    assert "another row" in QApplication.clipboard().text()
    assert SECRET not in QApplication.clipboard().text()
    assert room.facts()["Input"] == "412.0k tokens after filtering, cut to 150.0k"
    assert room.facts()["Redacted"] == "2 secrets replaced (openai 2)"


def test_without_follow_the_place_stays(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(0).id)
    room.act("queue.log")
    log, id_ = room.queue.detail.log, scanned(0).id
    room.tell(JobStarted(id_, 1), *(JobNoted(id_, "info", f"line {n}") for n in range(60)))
    bar = log.text.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    log.follow.setChecked(False)
    bar.setValue(3)
    room.tell(JobNoted(id_, "info", "one more"))
    assert bar.value() == 3
    log.follow.setChecked(True)
    assert bar.value() == bar.maximum()


@given(st.lists(st.tuples(st.integers(0, 4), st.text(max_size=30)), max_size=60))
@settings(max_examples=25, deadline=None)
def test_the_ring_is_capped_and_redacted(notes: list[tuple[int, str]]) -> None:
    log = JobLog(lambda text: text.replace("a", "*"))
    for _ in range(15):
        log.take([JobNoted(str(job_number), "info", text) for job_number, text in notes], NOW)
    assert len(log) <= RING_LINES
    for number in range(5):
        lines = log.lines(str(number))
        assert len(lines) <= JOB_LINES
        assert all("a" not in line.text and "\n" not in line.text for line in lines)
        assert all(line.level is Level.INFO for line in lines)


def test_the_ring_keeps_the_newest_lines() -> None:
    log = JobLog(lambda text: text)
    log.take([JobNoted("a", "info", f"a {number}") for number in range(JOB_LINES + 50)], NOW)
    assert [line.text for line in log.lines("a")][:1] == ["a 50"]
    log.take([JobNoted(f"b{number}", "info", "x") for number in range(RING_LINES - JOB_LINES + 10)], NOW)
    assert len(log) == RING_LINES
    assert log.lines("a")[0].text == "a 60"
    log.take([JobNoted(f"c{number}", "info", "x") for number in range(RING_LINES)], NOW)
    assert log.lines("a") == ()
    assert log.export().count("\n") == RING_LINES - 1


def test_the_lease_of_a_running_row_is_shown_and_renewed(room: QueueRoom) -> None:
    room.scan()
    id_ = scanned(0).id
    room.queue.select_key(id_)
    room.tell(JobStarted(id_, 1, "box:77:1:w", NOW + 60))
    assert "box, process 77" in room.facts()["Lease"]
    at = [column.id for column in COLUMNS].index("lease")
    shown = room.queue.model.position_of(id_)
    assert shown is not None
    assert room.queue.model.index(shown, at).data() == "box:77 1:00"
    room.tell(LeaseRenewed(id_, NOW + 3_600))
    assert room.queue.model.index(shown, at).data() == "box:77 60:00"
    room.tell(JobFinished(id_, "succeeded"))
    assert room.queue.model.index(shown, at).data() == "–"
    assert room.queue.live == set()


def test_only_the_selected_row_is_announced(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(1).id)
    room.tell(JobStarted(scanned(0).id, 1))
    assert room.said == []
    room.tell(JobStarted(scanned(1).id, 1))
    room.tell(JobFinished(scanned(1).id, "failed", "no answer in time"))
    assert room.said == ["Use pnpm number 1: running", "Use pnpm number 1: failed. no answer in time"]


def test_input_and_output_are_shown_and_nothing_is_stored(room: QueueRoom) -> None:
    room.fake.job_records = (job(0, JobStatus.DONE, _attempt(1, "succeeded"), last_outcome="succeeded"),)
    room.fake.outputs = {scanned(0).id: StageOneOutput(scanned(0).id, NOW, "- pnpm\n", "# Used pnpm\n", "pnpm", NOW)}
    room.scan()
    assert "no row is selected" in room.tip("queue.input")
    assert not room.window.registry.action("queue.rollout").isEnabled()
    room.queue.select_key(scanned(0).id)
    room.act("queue.input")
    shown = room.dialog("input")
    assert isinstance(shown, RolloutWindow)
    assert [line.text for line in shown.text.lines] == ["[9 user message]", "| Always [REDACTED openai]."]
    shown.close()
    assert room.facts()["Redacted"] == "3 secrets replaced (github 1, openai 2)"
    room.act("queue.output")
    output = room.dialog("output")
    assert isinstance(output, RolloutWindow)
    texts = [line.text for line in output.text.lines]
    assert texts == ["RAW MEMORY", "- pnpm", "", "ROLLOUT SUMMARY · pnpm", "# Used pnpm"]
    output.close()
    room.queue.select_key(scanned(1).id)
    assert "nothing of it is stored" in room.tip("queue.output")
    assert room.fake.calls == ["scan", "jobs", "input_of", "output_of"]


def test_links_lead_to_citations_editor_and_file_manager(room: QueueRoom) -> None:
    room.scan()
    room.queue.select_key(scanned(0).id)
    assert "was not read" in room.tip("queue.citations")
    room.harness.call(room.controller.workbench.read_folder)
    room.queue.select_key(scanned(1).id)
    room.queue.select_key(scanned(0).id)
    room.act("queue.citations")
    assert room.window.shown_panel == "citations"
    assert room.window.citations.filter.text() == scanned(0).id
    assert room.window.citations.model.rowCount() >= 1
    room.window.show_panel("queue")
    opened: list[Place] = []
    room.controller.rooms.rows._on_place_pressed(opened.append)
    assert opened == [Place("/sessions", "0.jsonl")]


def test_the_rollout_opens_at_the_first_line_its_memory_cites(room: QueueRoom) -> None:
    id_ = scanned(0).id
    block = "<citation_entries>\nrollout:{}:10-10 |note=[c1 x]\nrollout:other:9-9 |note=[c2 y]\n</citation_entries>\n"
    room.fake.job_records = (job(0, JobStatus.DONE, _attempt(1, "succeeded"), last_outcome="succeeded"),)
    room.fake.outputs = {id_: StageOneOutput(id_, NOW, "- pnpm\n" + block.format(id_), "", None, NOW)}
    room.scan()
    room.queue.select_key(id_)
    room.act("queue.rollout")
    shown = room.dialog("rollout")
    assert isinstance(shown, RolloutWindow)
    assert "10" in shown.text.marked_labels
    assert "9" not in shown.text.marked_labels
    assert any("1 line cited by its memory" in label.full_text for label in shown.findChildren(ElidedLabel))
    shown.close()
    room.queue.select_key(scanned(1).id)
    room.act("queue.rollout")
    plain = room.dialog("rollout")
    assert isinstance(plain, RolloutWindow)
    assert plain.text.marked_labels == ()
    plain.close()


def test_one_row_is_cancelled_by_its_key_while_the_run_goes_on(room: QueueRoom) -> None:
    room.scan()
    tokens: list[CancelToken] = []
    enough = asyncio.Event()

    async def gate(cancel: CancelToken) -> None:
        tokens.append(cancel)
        await enough.wait()

    async def yes(*_: object) -> bool:
        return True

    room.fake.gate = gate  # type: ignore[assignment]
    room.controller.workbench._confirm = yes
    room.queue.select_key(scanned(0).id)

    async def run() -> None:
        room.window.registry.trigger("run.start")
        await until(lambda: room.queue.current_row().state.name == "running", "the row's start")  # type: ignore[union-attr]
        room.queue.table.setFocus()
        QTest.keyClick(room.queue.table, Qt.Key.Key_Delete)
        assert room.queue.current_row().state.name == "cancelling"  # type: ignore[union-attr]
        assert not tokens[0].cancelled
        assert tokens[0].part(scanned(0).id).cancelled
        assert not tokens[0].part(scanned(1).id).cancelled
        assert "no try is lost" in room.window.messages.text
        enough.set()
        await room.harness.supervisor.idle()

    room.harness.run(run())
    assert "not running" in room.tip("queue.cancel")
