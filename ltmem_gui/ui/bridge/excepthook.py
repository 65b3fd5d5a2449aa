"""Hear errors from all five mouths and group them, so that one fault is shown once.

The mouths: `sys.excepthook` (slots and virtual methods too), `threading.excepthook`, `sys.unraisablehook`, the event
loop's handler, and Qt's messages of level critical and fatal. Each earlier hook is called too: the program's entry
puts hooks there that print without secrets.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

from ltmem_gui.domain.errors import Cancelled, KnownError
from ltmem_gui.pipeline.failure_words import WITHHELD

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}

_log = logging.getLogger("ltmem_gui")


@dataclass(frozen=True, slots=True)
class BugReport:
    """One group of equal faults: `mouth` is where it was first heard, `text` the traceback, `count` how often."""

    group: str
    mouth: str
    title: str
    text: str
    count: int = 1


class BugReporter(QObject):
    """Collect bugs.

    Signals: `bug_reported` (`BugReport`, also for a repetition, with its new count), `known_reported` (`KnownError`
    that escaped through a slot). Threads: `report` from anywhere.
    """

    bug_reported = Signal(object)
    known_reported = Signal(object)

    def __init__(self, *, redact: Callable[[str], str] | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._redact = redact or (lambda text: text)
        self._lock = threading.Lock()
        self._reports: dict[str, BugReport] = {}

    @property
    def reports(self) -> tuple[BugReport, ...]:
        """Return one report per group, in order of first sight."""
        with self._lock:
            return tuple(self._reports.values())

    def report(self, mouth: str, error: BaseException) -> None:
        """Take an error: cancelled ones are silent, known ones are told as such, the rest are bugs."""
        if isinstance(error, (Cancelled, asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)):
            return
        if isinstance(error, KnownError):
            self.known_reported.emit(error)
            return
        text = "".join(traceback.format_exception(error))
        self._add(mouth, _group_of(error), f"{type(error).__name__}: {error}", text)

    def report_text(self, mouth: str, text: str) -> None:
        """Take a fault that has no exception."""
        self._add(mouth, hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12], text, text)

    def _add(self, mouth: str, group: str, title: str, text: str) -> None:
        with self._lock:
            known = self._reports.get(group)
            if known is None:
                known = BugReport(group, mouth, self.cleaned(title)[:300], self.cleaned(text))
            else:
                known = replace(known, count=known.count + 1)
            self._reports[group] = known
        self.bug_reported.emit(known)

    def cleaned(self, text: str) -> str:
        """Take secrets out of a text; one that cannot be checked is withheld."""
        try:
            return self._redact(text)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the text must not pass
            return f"[{WITHHELD}: {type(error).__name__}]"


class Hooks:
    """Put the reporter on all mouths and take it off again; earlier hooks go on being called."""

    def __init__(self, reporter: BugReporter, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._reporter = reporter
        self._loop = loop
        self._before: tuple[Any, Any, Any] | None = None
        self._qt_before: Any = None

    def install(self) -> None:
        """Begin to listen."""
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._on_exception_raised
        threading.excepthook = self._on_thread_failed
        sys.unraisablehook = self._on_unraisable_raised
        self._qt_before = qInstallMessageHandler(self._on_qt_message_sent)
        if self._loop is not None:
            self._loop.set_exception_handler(self._on_loop_failed)

    def remove(self) -> None:
        """Stop listening and put the earlier hooks back."""
        if self._before is None:
            return
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
        self._before = None
        qInstallMessageHandler(self._qt_before)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.set_exception_handler(None)

    def _on_exception_raised(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._reporter.report("program", error)
        if self._before is not None:
            self._before[0](kind, error, trace)

    def _on_thread_failed(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._reporter.report("thread", args.exc_value)
        if self._before is not None:
            self._before[1](args)

    def _on_unraisable_raised(self, args: Any) -> None:
        if args.exc_value is not None:
            self._reporter.report("finalizer", args.exc_value)
        if self._before is not None:
            self._before[2](args)

    def _on_loop_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self._reporter.report("event loop", error)
        else:
            self._reporter.report_text("event loop", str(context.get("message", "unknown")))
        loop.default_exception_handler(context)

    def _on_qt_message_sent(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        level = _LEVELS.get(kind, logging.WARNING)
        if level >= logging.ERROR:
            self._reporter.report_text("Qt", message)
        if self._qt_before is not None:
            self._qt_before(kind, context, message)
        else:
            _log.log(level, "Qt: %s", message)


def _group_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    parts = [type(error).__qualname__, *(f"{f.filename}:{f.name}:{f.lineno}" for f in frames)]
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:12]
