"""Failures by cause, times, files left aside, empty answers of the filter, and the rows an action was not for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.domain.plan import Plan, Skip
from ltmem_gui.domain.rollouts import SkippedFile
from ltmem_gui.ui.models.job_rows import JobRow, build_rows
from ltmem_gui.ui.models.queue_figures import MAX_FILES, failures, times
from tests.gui.builders import NOW, extract_plan, scanned
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom, job


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def failed(number: int, group: str, at: int) -> JobRecord:
    return job(number, JobStatus.ERROR, error_group=group, last_error=f"words {number}", finished_at=at)


def rows(*jobs: JobRecord) -> list[JobRow]:
    return build_rows([scanned(number) for number in range(9)], jobs, NOW)


def test_failures_are_grouped_the_largest_first() -> None:
    found = failures(rows(failed(0, "timeout", NOW - 9), failed(1, "timeout", NOW - 3), failed(2, "auth", NOW - 5)))
    assert [(group.group, len(group.keys)) for group in found] == [("timeout", 2), ("auth", 1)]
    assert (found[0].first, found[0].last, found[0].sample) == (NOW - 9, NOW - 3, "words 1")
    assert found[0].when.startswith("first ")
    assert not found[1].when.startswith("first ")
    assert "key" in found[1].remedy
    good_again = job(0, JobStatus.DONE, last_outcome="succeeded", error_group="timeout")
    assert failures(rows(good_again)) == ()


def test_percentiles_need_five() -> None:
    def tries(*seconds: int) -> JobRecord:
        attempts = [Attempt(n, "o", NOW, NOW + took, "succeeded") for n, took in enumerate(seconds, 1)]
        return job(0, JobStatus.DONE, *attempts, started_at=NOW, input_watermark=NOW - 60)

    assert str(times(rows(tries(1, 2)))[0]) == "An extraction took: 2 ended, too few to tell"
    assert str(times(rows())[0]) == "An extraction took: none ended yet"
    found = times(rows(tries(*range(1, 101))))[0]
    assert (found.count, found.median, found.slow) == (100, 50, 95)
    assert str(found) == "An extraction took: half within 50 s, 95 % within 1 min (100 ended)"
    second = JobRecord(GLOBAL_KIND, GLOBAL_KEY, JobStatus.DONE, attempts=tries(*[7] * 5).attempts)
    assert times(rows(second))[2].median == 7
    assert times(rows(second))[0].count == 0
    lost = replace(tries(*[5] * 9), attempts=tuple(Attempt(n, "o", NOW, NOW, "failed") for n in range(9)))
    assert times(rows(lost))[0].count == 0


def test_the_page_shows_groups_and_leads_to_their_rows(room: QueueRoom, tmp_path: Path) -> None:
    room.fake.report = replace(
        room.fake.report, skipped_files=tuple(SkippedFile(f"/s/{n}", "no session") for n in range(MAX_FILES + 2))
    )
    room.fake.job_records = (failed(0, "timeout", NOW - 9), failed(1, "timeout", NOW - 3), failed(2, "auth", NOW))
    room.scan()
    room.act("queue.figures")
    page = room.dialog("figures")
    texts = "\n".join(label.text() for label in page.findChildren(QLabel))
    for words in ("✕ 2 × no answer in time", "words 1", "An extraction took", "Files left aside: 102", "and 2 more"):
        assert words in texts, words
    assert page.grab().save(str(tmp_path / "figures.png"))
    show = page.findChild(QPushButton, "figures.show.timeout")
    assert show is not None
    show.click()
    assert not page.isVisible()
    assert room.queue.filter.text() == 'error:"timeout"'
    assert room.queue.model.rowCount() == 2


def test_a_group_is_retried_by_one_small_plan(room: QueueRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    plan = extract_plan(room.home).model_copy(
        update={"skipped": (Skip(id=scanned(1).id, reasons=("it is held; release it first",)),)}
    )

    async def plan_queue_action(request: object, action: object, ids: tuple[str, ...], **_: object) -> Plan:
        asked.append((str(action), *ids))
        return plan.sealed()

    async def yes(*_: object) -> bool:
        return True

    monkeypatch.setattr(room.fake, "plan_queue_action", plan_queue_action, raising=False)
    room.controller.workbench._confirm = yes
    room.fake.job_records = (failed(0, "timeout", NOW - 9), failed(1, "timeout", NOW - 3))
    room.scan()
    room.act("queue.figures")
    retry = room.dialog("figures").findChild(QPushButton, "figures.retry.timeout")
    assert retry is not None
    room.harness.call(retry.click)
    assert asked == [("retry", scanned(0).id, scanned(1).id)]
    assert "Not for 1 row: it is held" in room.window.messages._remedy.text()
    button = room.window.findChild(QPushButton, "message_bar.action")
    assert button is not None
    assert button.text() == "Show the others"
    button.click()
    assert [row.thread_id for row in room.queue.selected_rows()] == [scanned(1).id]


def test_a_filter_without_an_answer_says_so(room: QueueRoom) -> None:
    room.scan()
    room.queue.filter.setText("nothing like this")
    assert room.queue._nothing.isVisible()
    show = room.window.findChild(QPushButton, "queue.nothing.action")
    assert show is not None
    show.click()
    assert room.queue.model.rowCount() == 3
    assert room.queue.table.isVisible()
