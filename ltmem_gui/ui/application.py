"""Build the application and its window, run them to their end. The only place that makes a `QApplication`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.bridge import loop as bridge
from ltmem_gui.ui.bridge.collecting import UiCollector
from ltmem_gui.ui.bridge.excepthook import BugReporter, Hooks
from ltmem_gui.ui.bridge.shutdown import Shutdown, Stage
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.bridge.words import use_rules
from ltmem_gui.ui.controller import Controller, DemoFactory, WindowParts
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.window_state import LayoutFile
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Scheme, Theme

SWITCH_SECONDS = 0.0005


async def _nothing() -> None:
    return


@dataclass(frozen=True)
class ApplicationOptions:
    """What a start needs. `close` shuts the executors down; `folders` are shown and read on a press; `closing` is
    called when the end begins.

    `started` is called once the window is shown, for tests and pictures.
    """

    operations: Operations
    demo: DemoFactory
    approver: Callable[[], str]
    folders: Folders = field(default_factory=Folders)
    demo_hint: str = ""
    open_demo: bool = False
    settings: Settings = field(default_factory=Settings)
    scheme: Scheme | None = None
    close: Callable[[], Awaitable[None]] = _nothing
    folders_named: Callable[[Folders], None] | None = None
    closing: Callable[[], object] | None = None
    prepare: Callable[[], None] = lambda: None
    redact: Callable[[str], str] | None = None
    rules: Callable[[str], Redaction] | None = None
    layout: LayoutFile | None = None
    started: Callable[[Running], None] | None = None


@dataclass(frozen=True)
class Running:
    """The parts of a running window."""

    window: MainWindow
    controller: Controller
    supervisor: Supervisor
    shutdown: Shutdown


def make_application(argv: list[str]) -> QApplication:
    """Return the application; high-DPI rounding is left alone so that 150 % stays 150 %."""
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    app = QApplication.instance() or QApplication(argv)
    assert isinstance(app, QApplication)
    app.setApplicationName("LTMem")
    app.setDesktopFileName("ltmem-gui")
    return app


def run(app: QApplication, options: ApplicationOptions) -> int:
    """Show the window and run until it is closed; return the exit code."""
    # Store and pool threads run Python too: with the usual 5 ms a repaint could wait for several of them in turn.
    sys.setswitchinterval(SWITCH_SECONDS)
    return bridge.run(app, lambda loop: _live(app, loop, options))


async def _live(app: QApplication, loop: bridge.WindowLoop, options: ApplicationOptions) -> int:
    if options.rules is not None:
        use_rules(app, options.rules)
    reporter = BugReporter(redact=options.redact)
    hooks = Hooks(reporter, loop)
    hooks.install()
    supervisor = Supervisor()
    theme = Theme.load(options.scheme or system_scheme())
    theme.apply()
    if options.scheme is None:
        app.styleHints().colorSchemeChanged.connect(lambda _scheme: theme.set_scheme(system_scheme()))
    window = MainWindow(options.operations, supervisor, theme)
    controller = Controller(window, _parts(options, supervisor, theme, reporter))
    if options.folders_named is not None:
        controller.workbench.folders_changed.connect(options.folders_named)
    shutdown = Shutdown(
        supervisor, cancel_work=controller.workbench.cancel_work, stages=(Stage("executors", options.close),)
    )
    if options.closing is not None:
        shutdown.begun.connect(options.closing)
    # A sitting ends with its receipt, also when the window is closed.
    shutdown.begun.connect(lambda _: window.citations.session.end())
    shutdown.begun.connect(lambda _: window.review.verdicts.end())
    if controller.rooms.layout is not None:
        shutdown.begun.connect(controller.rooms.layout.close)
    unlisten = shutdown.listen_to_signals(loop)
    window.closed.connect(shutdown.request)
    window.folders.demo.setText(options.demo_hint)
    controller.name_folders(options.folders)
    window.show()
    if options.open_demo:
        controller.open_demo(Path(options.demo_hint))
    collector = UiCollector()
    collector.start()
    if options.started is not None:
        options.started(Running(window, controller, supervisor, shutdown))
    try:
        await shutdown.wait()
    finally:
        unlisten()
        window.hide()
        window.deleteLater()
        await asyncio.sleep(0)
        collector.stop()
        hooks.remove()
    return 0


def _parts(options: ApplicationOptions, supervisor: Supervisor, theme: Theme, reporter: BugReporter) -> WindowParts:
    return WindowParts(
        operations=options.operations,
        supervisor=supervisor,
        theme=theme,
        reporter=reporter,
        settings=options.settings,
        approver=options.approver,
        demo=options.demo,
        prepare=options.prepare,
        layout=options.layout,
    )


def system_scheme() -> Scheme:
    """Return the desktop's scheme; light where it names none."""
    hints: Any = QGuiApplication.styleHints()
    return "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"
