"""Why the memory is empty, and why a rollout was not taken: every rule with its value, every step with its action."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.eligibility import assess
from ltmem_gui.domain.jobs import JobStatus
from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline import explain
from ltmem_gui.pipeline.explain import Link, chain
from ltmem_gui.pipeline.requests import ScanReport
from ltmem_gui.ui.models.job_facts import remedy_of
from ltmem_gui.ui.models.job_rows import build_rows
from ltmem_gui.ui.models.why_words import step_of
from tests.gui.builders import NOW, scanned
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom, job


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path) -> Iterator[QueueRoom]:
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def test_the_command_lines_words_never_stand_in_the_window() -> None:
    source = Path(explain.__file__).read_text()
    said = {text for text in re.findall(r'"([^"\n]*)"', source) if "ltmem-gui " in text or "give --" in text}
    assert len(said) > 5
    for text in said:
        step = step_of(Link("x", False, "y", text))
        assert "ltmem-gui" not in step.words, text
        assert "--" not in step.words, text
        assert step.action, text


def test_each_broken_link_has_its_action_and_the_first_stands_out(room: QueueRoom) -> None:
    room.fake.files = {}

    async def no(*_: object) -> bool:
        return False

    room.controller.workbench._confirm = no
    room.scan()
    room.act("why.open")
    page = room.dialog("why")
    verdict = page.findChild(QLabel, "why.verdict")
    assert verdict is not None
    assert "empty" in verdict.text()
    buttons = [button for button in page.findChildren(QPushButton) if button.objectName().startswith("why.step.")]
    assert buttons[0].text() == "Run…"
    assert all(button.accessibleName() for button in buttons)
    bold = [label.text() for label in page.findChildren(QLabel) if label.font().bold() or label.font().weight() > 500]
    assert "Extraction" in bold
    room.harness.call(buttons[0].click)
    assert "apply extract" not in room.fake.calls
    assert "plan_extract" in room.fake.calls


def test_a_named_folder_is_read_for_the_answer_and_a_scan_is_the_first_step(room: QueueRoom) -> None:
    room.act("why.open")
    assert room.fake.calls == ["read_folder"]
    page = room.dialog("why")
    verdict = page.findChild(QLabel, "why.verdict")
    assert verdict is not None
    assert verdict.text() == "The memory is not empty."
    button = page.findChild(QPushButton, "why.step.0")
    assert button is not None
    assert button.text() == "Scan"
    room.harness.call(button.click)
    assert "scan" in room.fake.calls


def test_what_was_extracted_after_the_scan_counts_as_extracted() -> None:
    report = ScanReport((scanned(0), scanned(1)))
    done = job(0, JobStatus.DONE, last_outcome="succeeded", last_success_watermark=scanned(0).updated_at)
    texts = {link.name: link.text for link in chain(report, (done,), (), None)}
    assert texts["Rules"] == "1 can be taken, 1 were extracted before"
    assert texts["Extraction"].endswith("1 more wait for the next run")
    older = replace(done, last_success_watermark=1)
    assert {link.name: link.text for link in chain(report, (older,), (), None)}["Rules"].startswith("2 can be taken")


def test_every_rule_and_its_value_is_in_the_detail(room: QueueRoom) -> None:
    rollout = Rollout("t", "codex", "/s/1.jsonl", cwd="/home/dev/app", updated_at=NOW - 90 * 86_400)
    judged = assess(rollout, Settings(), NOW, memory_root="/m", home="/h", current_thread="t")
    room.fake.report = ScanReport((replace(scanned(0), eligibility=judged),))
    room.scan()
    room.queue.select_key(scanned(0).id)
    rules = room.queue.detail._rules
    shown = {rules.topLevelItem(n).text(0)[2:]: rules.topLevelItem(n).text(1) for n in range(rules.topLevelItemCount())}  # type: ignore[union-attr]
    assert shown == {reason.rule.replace("_", " "): reason.text for reason in judged.reasons}
    assert len(shown) == len(judged.reasons) == 13
    failed = [rules.topLevelItem(n).text(0) for n in range(3)]  # type: ignore[union-attr]
    assert all(text.startswith("✕ ") for text in failed)
    assert "limit 10 days" in shown["age"]
    row = build_rows([replace(scanned(0), eligibility=judged)], [], NOW)[0]
    assert remedy_of(row)
