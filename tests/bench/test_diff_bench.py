"""Figures of the diff: ratios taken in one run (performance §5): pytest -m bench tests/bench/test_diff_bench.py -s."""

from __future__ import annotations

import gc
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.hunks import make_hunks
from ltmem_gui.domain.diffing.layout import Look
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.unified import parse_patch
from ltmem_gui.domain.review import Review
from ltmem_gui.ui.models.diff_model import DiffModel, FileInput
from ltmem_gui.ui.theme import Theme, monospace
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_view import DiffView
from tests.helpers.reviews import plan_of_files

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytestmark = pytest.mark.bench

LINES = 76_213


def texts(lines: int, changed: float, seed: int = 1) -> tuple[str, str]:
    chance = random.Random(seed)
    words = ["memory", "agent", "uses", "pnpm", "never", "npm", "the", "cache", "lives", "in", "port", "tests"]
    old = [f"- {n} " + " ".join(chance.choice(words) for _ in range(8)) + "\n" for n in range(lines)]
    new: list[str] = []
    for line in old:
        dice = chance.random()
        if dice < changed / 2:
            new.append(line.replace("the", "a").replace("- ", "- changed ", 1))
        elif dice < changed * 0.75:
            continue
        elif dice < changed:
            new += [line, f"- added {chance.random()}\n"]
        else:
            new.append(line)
    return "".join(old), "".join(new)


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Highlighter(QSyntaxHighlighter):
    def highlightBlock(self, text: str) -> None:
        form = QTextCharFormat()
        form.setBackground(QColor("#ddecfb" if text.startswith("-") else "#ffffff"))
        self.setFormat(0, len(text), form)


def pump() -> None:
    QCoreApplication.sendPostedEvents()
    QCoreApplication.processEvents()


def plain_text(qtbot: QtBot, text: str) -> float:
    """Return the time to the first paint of a text edit with a highlighter."""
    edit = QPlainTextEdit()
    qtbot.addWidget(edit)
    edit.setFont(monospace())
    edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    edit.resize(1000, 700)
    highlighter = _Highlighter(edit.document())

    def first() -> None:
        edit.setPlainText(text)
        edit.show()
        pump()
        edit.grab()

    taken = timed(first)
    del highlighter
    return taken


@pytest.mark.parametrize("kind", ["added whole", "changed 5 %, unfolded"])
def test_first_paint_frames_and_memory(qtbot: QtBot, kind: str) -> None:
    old, new = texts(LINES, 0.05)
    before = {} if kind == "added whole" else {"MEMORY.md": old}
    plan, base = plan_of_files(before, {"MEMORY.md": new})
    review = Review(plan)
    lines = tuple(split_lines(base["MEMORY.md"].decode())) if base else ()
    theme = Theme.load("light")
    theme.apply()
    warm = DiffView(DiffModel(), DiffColors.of(theme), monospace())
    qtbot.addWidget(warm)
    warm.show()
    pump()
    gc.collect()
    held = rss()
    model = DiffModel()
    view = DiffView(model, DiffColors.of(theme), monospace())
    model.setParent(view)
    qtbot.addWidget(view)
    view.resize(1000, 700)

    def first() -> None:
        model.open(FileInput(plan.changes[0], lines), review, Look(whole=True))
        view.show()
        pump()
        view.grab()

    ours = timed(first)
    grown = (rss() - held) / 1e6
    frames = []
    bar = view.verticalScrollBar()
    for step in range(150):
        bar.setValue(int(bar.maximum() * (step * 37 % 150) / 150))
        frames.append(timed(lambda: view.viewport().repaint()))
    theirs = plain_text(qtbot, new)
    line = (
        f"{kind}: first paint {ours * 1e3:.0f} ms, plain text with highlighter {theirs * 1e3:.0f} ms, "
        f"ratio {ours / theirs:.3f}; frame median {statistics.median(frames) * 1e3:.1f} ms, "
        f"worst {max(frames) * 1e3:.1f} ms; memory +{grown:.0f} MB"
    )
    print(line, file=sys.stderr)
    assert ours <= 0.12 * theirs
    assert statistics.median(frames) <= 0.016
    assert grown <= 20


def test_frames_of_long_changed_lines(qtbot: QtBot) -> None:
    """The worst a frame can be asked for: every visible pair as long as word marks go."""
    chance = random.Random(1)
    line = " ".join("abcdefgh"[chance.randrange(8)] * chance.randrange(1, 7) for _ in range(900))
    old = "".join(f"- {n} {line[:4000]}\n" for n in range(400))
    plan, base = plan_of_files({"MEMORY.md": old}, {"MEMORY.md": old.replace("a", "x").replace("cc ", "c d ")})
    theme = Theme.load("light")
    theme.apply()
    model = DiffModel()
    view = DiffView(model, DiffColors.of(theme), monospace())
    model.setParent(view)
    qtbot.addWidget(view)
    view.resize(1000, 700)
    lines = tuple(split_lines(base["MEMORY.md"].decode()))
    model.open(FileInput(plan.changes[0], lines), Review(plan), Look(whole=True))
    view.set_side_by_side(True)
    view.show()
    pump()
    frames = []
    bar = view.verticalScrollBar()
    for step in range(60):
        bar.setValue(int(bar.maximum() * (step * 37 % 60) / 60))
        frames.append(timed(lambda: view.viewport().repaint()))
    print(
        f"long lines: frame median {statistics.median(frames) * 1e3:.1f} ms, worst {max(frames) * 1e3:.1f} ms",
        file=sys.stderr,
    )
    assert statistics.median(frames) <= 0.016


def test_next_change_and_decision_at_20000_rows(qtbot: QtBot) -> None:
    old, new = texts(20_000, 0.2)
    plan, base = plan_of_files({"MEMORY.md": old}, {"MEMORY.md": new})
    review = Review(plan)
    theme = Theme.load("light")
    model = DiffModel()
    view = DiffView(model, DiffColors.of(theme), monospace())
    model.setParent(view)
    qtbot.addWidget(view)
    view.resize(1000, 700)
    model.open(FileInput(plan.changes[0], tuple(split_lines(base["MEMORY.md"].decode()))), review)
    model.set_look(Look(whole=True))
    view.show()
    pump()
    going, deciding = [], []
    for _ in range(60):

        def go() -> None:
            row = model.next_header(view.cursor_row, 1)
            assert row is not None
            view.set_cursor_row(row)
            view.viewport().repaint()

        going.append(timed(go))
        unit = model.document.row(view.cursor_row).unit
        assert unit is not None

        def decide(unit: str = unit) -> None:
            assert model.review is not None
            model.set_review(model.review.decide(unit, Decision.ACCEPT))
            assert model.review.undecided is not None
            view.viewport().repaint()

        deciding.append(timed(decide))
    print(
        f"{model.document.count} rows, {len(review.units)} changes: next {statistics.median(going) * 1e3:.1f} ms, "
        f"decide {statistics.median(deciding) * 1e3:.1f} ms",
        file=sys.stderr,
    )
    assert statistics.median(going) <= 0.016
    assert statistics.median(deciding) <= 0.050


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_diff_of_80000_lines_against_git(tmp_path: Path) -> None:
    old, new = texts(80_000, 0.05)
    (tmp_path / "a").write_text(old)
    (tmp_path / "b").write_text(new)

    def by_git() -> bytes:
        done = subprocess.run(
            ["git", "diff", "--no-index", "--no-color", "a", "b"], cwd=tmp_path, capture_output=True, check=False
        )
        return done.stdout

    patch = by_git()
    theirs = min(timed(by_git) for _ in range(3))
    ours = min(timed(lambda: make_hunks("MEMORY.md", old, new)) for _ in range(3))
    parsed = min(timed(lambda: parse_patch(patch)) for _ in range(3))
    print(
        f"git diff {theirs * 1e3:.0f} ms; our hunks {ours * 1e3:.0f} ms ({ours / theirs:.1f}×); "
        f"reading git's patch {parsed * 1e3:.0f} ms",
        file=sys.stderr,
    )
    assert ours <= 4 * theirs
