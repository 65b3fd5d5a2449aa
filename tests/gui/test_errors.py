"""Errors have three classes and five mouths; one fault is shown once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from pytestqt.qtbot import QtBot

from ltmem_gui.bootstrap_gui import check_binding
from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.ui.bridge.excepthook import BugReport, BugReporter, Hooks
from ltmem_gui.ui.dialogs.messages import ErrorReport
from tests.gui.conftest import LoopHarness


@pytest.fixture
def reporter(harness: LoopHarness, monkeypatch: pytest.MonkeyPatch) -> Iterator[BugReporter]:
    calls: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda *a: calls.append("sys"))
    monkeypatch.setattr(threading, "excepthook", lambda a: calls.append("threading"))
    monkeypatch.setattr(sys, "unraisablehook", lambda a: calls.append("unraisable"))
    made = BugReporter(redact=lambda text: text.replace("hunter2", "***"))
    made.calls = calls  # type: ignore[attr-defined]
    hooks = Hooks(made, harness.loop)
    hooks.install()
    yield made
    hooks.remove()
    hooks.remove()


def fail(number: int) -> None:
    raise ValueError(f"hunter2 {number}")


def raised(number: int) -> ValueError:
    try:
        fail(number)
    except ValueError as error:
        return error
    raise AssertionError


def test_all_mouths_are_heard_and_earlier_hooks_called(qtbot: QtBot, reporter: BugReporter) -> None:
    error = raised(1)
    sys.excepthook(ValueError, error, None)
    threading.excepthook(threading.ExceptHookArgs((ValueError, raised(2), None, None)))

    class Unraisable:
        exc_value = RuntimeError("gone")

    sys.unraisablehook(Unraisable())  # type: ignore[arg-type]
    mouths = [report.mouth for report in reporter.reports]
    assert mouths == ["program", "finalizer"]
    assert reporter.calls == ["sys", "threading", "unraisable"]  # type: ignore[attr-defined]


def test_equal_faults_are_one_group(qtbot: QtBot, reporter: BugReporter) -> None:
    seen: list[BugReport] = []
    reporter.bug_reported.connect(seen.append)
    for number in range(3):
        reporter.report("program", raised(number))
    assert len(reporter.reports) == 1
    assert [report.count for report in seen] == [1, 2, 3]
    assert "hunter2" not in seen[0].text + seen[0].title


def test_known_errors_and_cancelling_are_no_bugs(qtbot: QtBot, reporter: BugReporter) -> None:
    known: list[object] = []
    reporter.known_reported.connect(known.append)
    reporter.report("program", InputError("gone"))
    for silent in (Cancelled(), KeyboardInterrupt()):
        reporter.report("program", silent)
    assert len(known) == 1
    assert reporter.reports == ()


@pytest.mark.log_expected
def test_the_loop_is_a_mouth(qtbot: QtBot, reporter: BugReporter, harness: LoopHarness) -> None:
    async def main() -> None:
        harness.loop.call_soon(fail, 7)
        harness.loop.call_exception_handler({"message": "odd"})
        import asyncio

        await asyncio.sleep(0.01)

    harness.run(main())
    assert [report.mouth for report in reporter.reports] == ["event loop", "event loop"]


def test_qt_messages_of_level_critical_are_heard(qtbot: QtBot, reporter: BugReporter) -> None:
    handler = qInstallMessageHandler(None)
    qInstallMessageHandler(handler)

    class Context:
        pass

    passed: list[str] = []
    hooks = Hooks(reporter)
    hooks._qt_before = lambda kind, context, message: passed.append(message)
    hooks._on_qt_message_sent(QtMsgType.QtCriticalMsg, Context(), "bad")  # type: ignore[arg-type]
    hooks._on_qt_message_sent(QtMsgType.QtDebugMsg, Context(), "fine")  # type: ignore[arg-type]
    assert [report.title for report in reporter.reports] == ["bad"]
    assert passed == ["bad", "fine"]


def test_the_report_dialog_counts_and_copies(qtbot: QtBot) -> None:
    dialog = ErrorReport(BugReport("abc", "program", "ValueError: x", "Traceback\n  line"))
    qtbot.addWidget(dialog)
    dialog.update_report(BugReport("abc", "program", "ValueError: x", "Traceback\n  line", 4))
    assert "seen 4×" in dialog._count.text()
    dialog._on_copy_clicked()


@pytest.mark.parametrize(
    ("version", "python", "refused"),
    [("6.12.0", (3, 11), True), ("6.12.1", (3, 10), True), ("6.11.3", (3, 11), False), ("6.12.0", (3, 12), False)],
)
def test_the_crashing_pair_is_refused_in_words(version: str, python: tuple[int, int], refused: bool) -> None:
    if not refused:
        check_binding(version, python)
        return
    with pytest.raises(InputError, match="crashes on Python"):
        check_binding(version, python)
