"""Figures of the window: the longest gap of its loop during a run, and the queue with 100,000 rows."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import pytest
from PySide6.QtCore import QSortFilterProxyModel, Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QTableView

from ltmem_gui import bootstrap_gui
from ltmem_gui.bootstrap import Composition
from ltmem_gui.domain.events import JobStarted
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.application import SWITCH_SECONDS
from ltmem_gui.ui.bridge import loop as bridge
from ltmem_gui.ui.bridge.collecting import UiCollector
from ltmem_gui.ui.bridge.excepthook import BugReporter
from ltmem_gui.ui.bridge.loop import WindowLoop
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.controller import Controller, WindowParts
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.job_rows import JobRow, apply_event, build_rows
from ltmem_gui.ui.models.job_table import JobTableModel
from ltmem_gui.ui.models.run_state import RunPhase
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Theme
from ltmem_gui.workers import Workers
from tests.gui.builders import NOW, scanned
from tests.helpers.sessions import write_codex

pytestmark = [pytest.mark.bench, pytest.mark.slow, pytest.mark.log_expected]

ROLLOUTS = 1_000
ROWS = 100_000
IDLE_SECONDS = 4.0


class Gaps:
    """Measure the longest time between two beats of 5 ms."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.beats: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._on_timer_fired)

    def start(self) -> None:
        self.longest = 0.0
        self.beats = []
        self._last = time.perf_counter()
        self._timer.start()

    def stop(self) -> float:
        self._timer.stop()
        return self.longest * 1000

    def _on_timer_fired(self) -> None:
        now = time.perf_counter()
        gap, self._last = now - self._last, now
        self.beats.append(gap)
        self.longest = max(self.longest, gap)


class ThreadOffload:
    """The named peer: the same work on two threads."""

    def __init__(self) -> None:
        self._cpu = ThreadPoolExecutor(2)
        self._store = ThreadPoolExecutor(1)

    async def cpu(self, function: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._cpu, function, *args)

    async def store(self, function: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._store, function, *args)

    thread = cpu

    def close(self) -> None:
        self._cpu.shutdown()
        self._store.shutdown()


class ThreadComposition(Composition):
    """The real adapters on threads only."""

    @property
    def offload(self) -> Any:
        return self._once("offload", ThreadOffload)


def sessions(top: Path) -> Path:
    """Write 1,000 sessions of about 20 KB."""
    for number in range(ROLLOUTS):
        turns = [("user", f"No, never use npm in project {number}. Always use pnpm.")]
        for step in range(8):
            turns += [("call", f"ls {step}"), ("output", "file.py " * 200), ("assistant", "I looked. " * 20)]
        turns.append(("user", "The tests need DJANGO_SETTINGS_MODULE=app.test, always."))
        write_codex(
            top, turns, number=number + 1, at=int(time.time()) - 86_400 - number * 60, cwd=f"/home/dev/p{number % 9}"
        )
    return top


async def run_once(loop: WindowLoop, adapters: Composition, top: Path, name: str) -> tuple[float, float, float]:
    """Scan and extract in the window; return idle, scan and run gaps in milliseconds."""
    theme = Theme.load("light")
    theme.apply()
    supervisor = Supervisor()
    operations = Operations(adapters)
    window = MainWindow(operations, supervisor, theme)
    parts = WindowParts(
        operations=operations,
        supervisor=supervisor,
        theme=theme,
        reporter=BugReporter(),
        settings=Settings(max_rollouts_per_run=ROLLOUTS),
        approver=lambda: "bench",
        demo=lambda folder: bootstrap_gui.lay_demo_folder(adapters, folder),
        prepare=lambda: bootstrap_gui.load_adapters(adapters) if isinstance(adapters.offload, Workers) else None,
    )
    controller = Controller(window, parts)
    window.show()
    collector = UiCollector()  # as the application does: Python's own collector would stop whatever runs
    collector.start()
    home = top / f"home-{name}"
    controller.name_folders(Folders((SourceSpec("codex", str(top / "sessions")),), None, home))
    gaps = Gaps()
    await asyncio.sleep(0.5)
    gaps.start()
    await asyncio.sleep(IDLE_SECONDS)
    idle = gaps.stop()
    gaps.start()
    controller.workbench.scan()
    await supervisor.idle()
    scan = gaps.stop()
    running = asyncio.Event()
    controller.workbench.events_arrived.connect(
        lambda events: running.set() if any(isinstance(e, JobStarted) for e in events) else None
    )
    window.registry.trigger("run.start")
    sheet = None
    while sheet is None or not sheet.yes_button.isEnabled():
        await asyncio.sleep(0.05)
        sheet = window.findChild(ConfirmationSheet)
        window.activateWindow() if sheet is None else sheet.activateWindow()
    gaps.start()
    sheet.yes_button.click()
    await supervisor.idle()
    run = gaps.stop()
    assert running.is_set()
    assert controller.workbench.run_state.phase is RunPhase.NOTHING_TO_DO, controller.workbench.run_state
    await bootstrap_gui.close_adapters(adapters)
    window.hide()
    window.deleteLater()
    collector.stop()
    return idle, scan, run


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_the_loop_is_never_held_for_long(qapp: QApplication, tmp_path: Path, kind: str) -> None:
    sessions(tmp_path / "sessions")
    made = (
        Composition(None, eager_workers=True) if kind == "processes" else ThreadComposition(None, eager_workers=False)
    )

    async def main(loop: WindowLoop) -> tuple[float, float, float]:
        return await run_once(loop, made, tmp_path, kind)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        idle, scan, run = bridge.run(qapp, main)
    finally:
        sys.setswitchinterval(interval)
    limit = max(16.0, 1.5 * idle)
    print(f"\n{kind}: idle {idle:.1f} ms, scan {scan:.1f} ms, run of {ROLLOUTS} {run:.1f} ms (limit {limit:.1f} ms)")
    if kind == "processes":
        assert run <= limit
        assert scan <= limit


def many() -> list[JobRow]:
    base = build_rows([scanned(0)], (), NOW)[0]
    return [
        replace(base, key=str(n), thread_id=str(n), title=f"Session {(n * 7919) % ROWS:06d}", tokens=n % 997)
        for n in range(ROWS)
    ]


def first_paint(model: Any) -> float:
    """Return seconds from an empty view to its first picture."""
    view = QTableView()
    view.resize(1200, 700)
    view.verticalHeader().setDefaultSectionSize(24)
    began = time.perf_counter()
    view.setModel(model)
    view.show()
    QApplication.sendPostedEvents()
    view.grab()
    seconds = time.perf_counter() - began
    view.hide()
    view.setModel(None)
    view.deleteLater()
    return seconds


def table(supervisor: Supervisor) -> JobTableModel:
    return JobTableModel(supervisor, lambda token: QColor("black"), lambda: float(NOW))


async def arrange_timings(model: JobTableModel, supervisor: Supervisor) -> dict[str, float]:
    """Return milliseconds of sort and filter, and the longest gap of the loop meanwhile."""
    gaps = Gaps()
    gaps.start()
    await asyncio.sleep(1.0)
    timings = {"idle gap": gaps.stop()}
    for name, act in (
        ("sort", lambda: model.sort(3)),
        ("filter", lambda: model.set_filter("99")),
        ("clear", lambda: model.set_filter("")),
    ):
        gaps.start()
        began = time.perf_counter()
        act()
        await supervisor.idle()
        timings[name] = (time.perf_counter() - began) * 1000
        await asyncio.sleep(0.05)
        timings[f"{name} gap"] = gaps.stop()
    return timings


async def update_cost(model: JobTableModel, rows: list[JobRow]) -> float:
    """Return the median milliseconds of one row's update at 50 Hz."""
    costs: list[float] = []
    for number in range(100):
        row = apply_event(rows[number], JobStarted(rows[number].thread_id, 1), NOW)
        began = time.perf_counter()
        model.update_rows({row.key: row})
        costs.append(time.perf_counter() - began)
        await asyncio.sleep(0.02)
    return sorted(costs)[len(costs) // 2] * 1000


def proxy_paint(rows: list[JobRow]) -> float:
    """Return the seconds of the first paint through the proxy, unsorted, as the peer's best case."""
    source = table(Supervisor())
    source.set_rows(rows)
    proxy = QSortFilterProxyModel()
    proxy.setSourceModel(source)
    proxy.setDynamicSortFilter(True)
    proxy.setFilterKeyColumn(3)
    proxy.setFilterFixedString("Session")
    return first_paint(proxy)


def test_a_hundred_thousand_rows(qapp: QApplication) -> None:
    rows = many()

    async def main(loop: WindowLoop) -> None:
        supervisor = Supervisor()
        model = table(supervisor)
        began = time.perf_counter()
        model.set_rows(rows)
        filled = time.perf_counter() - began
        paint = filled + first_paint(model)
        timings = await arrange_timings(model, supervisor)
        update = await update_cost(model, rows)
        peer = proxy_paint(rows)
        words = ", ".join(f"{name} {ms:.0f} ms" for name, ms in timings.items())
        print(f"\n{ROWS} rows: first paint {paint * 1000:.0f} ms (proxy, filtered {peer * 1000:.0f} ms)")
        print(f"{words}, update {update:.2f} ms")
        assert update <= 2.0
        assert paint <= 0.25 * peer

    bridge.run(qapp, main)
