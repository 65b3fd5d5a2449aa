"""Whatever is copied from the window has passed the rules of redaction."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QTextCursor
from pytestqt.qtbot import QtBot

from ltmem_gui.bootstrap import compose
from ltmem_gui.bootstrap_gui import application_options
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.redaction import RedactionPolicy
from ltmem_gui.domain.settings import Settings
from ltmem_gui.redactor.service import SecretRedactor
from ltmem_gui.ui.bridge.excepthook import BugReport, BugReporter
from ltmem_gui.ui.bridge.words import LONGEST_INLINE, cleaned, cleaned_part, told, use_rules
from ltmem_gui.ui.widgets.clean_text import CleanText
from ltmem_gui.ui.widgets.diff_long_line import LongLineDialog
from ltmem_gui.ui.widgets.line_view import LineView
from tests.helpers.program import LIMIT_SECONDS
from tests.helpers.secret_shapes import tokens

KEY = tokens(3)["forge-1"]
UI = Path(__file__).resolve().parents[2] / "ltmem_gui" / "ui"


def test_every_clipboard_gets_checked_text() -> None:
    """`report.text` and `redaction.text` were cleaned where they were made, the lines of a log when they came in."""
    clean = re.compile(r"cleaned\(|redaction\.text|_report\.text|self\.text\.toPlainText\(\)|log\.export\(\)")
    lines = [
        f"{path.name}: {line.strip()}"
        for path in sorted(UI.rglob("*.py"))
        for line in path.read_text().split("\n")
        if "clipboard().set" in line and clean.search(line) is None
    ]
    assert lines == []


def test_a_selection_is_copied_without_secrets(qtbot: QtBot) -> None:
    view = CleanText(f"the password is maple7731\nand {KEY} is a key\n")
    qtbot.addWidget(view)
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == (
        "the password is [REDACTED:password]\nand [REDACTED:github_token] is a key\n"
    )


PROGRAM = """
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from ltmem_gui.ui.widgets.clean_text import CleanText
app = QApplication([])
view = CleanText("use pnpm")
view.selectAll()
view.copy()
print(QGuiApplication.clipboard().text(), QGuiApplication.clipboard().mimeData().formats())
"""


def test_a_program_ends_well_with_its_copy_on_the_clipboard() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=UI.parents[1],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "use pnpm ['text/plain']\n"), done.stderr


def test_a_part_of_a_secret_is_known_by_what_stands_around(qtbot: QtBot) -> None:
    view = CleanText(f"the password is maple7731\nand {KEY} is a key\n")
    qtbot.addWidget(view)
    cursor = view.textCursor()
    cursor.setPosition(18)
    cursor.setPosition(40, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert view.createMimeDataFromSelection().text() == "[REDACTED:password]\nand [REDACTED:github_token]"


def test_characters_beyond_the_first_plane_move_no_edge(qtbot: QtBot) -> None:
    view = CleanText(f"🔑🔑 the password is maple7731 🔑 é\n{KEY}\n")
    qtbot.addWidget(view)
    cursor = view.textCursor()
    cursor.setPosition(5)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert view.createMimeDataFromSelection().text() == "the password is [REDACTED:password] 🔑 é"


def test_a_long_part_is_cut_and_says_so() -> None:
    text = "word " * 30_000 + KEY
    copied = cleaned_part(text, 0, len(text))
    assert copied.startswith(text[:LONGEST_INLINE])
    assert copied.endswith("50,040 more characters were not copied: copy less at once\n")
    assert cleaned_part("abc def", 4, 7) == "def"


@pytest.mark.parametrize("kind", [LineView, LongLineDialog])
def test_views_of_untrusted_text_copy_so(kind: type) -> None:
    source = Path(__import__(kind.__module__, fromlist=["x"]).__file__).read_text()
    assert issubclass(kind, CleanText) or "CleanText()" in source


def test_errors_are_told_without_secrets() -> None:
    error = told(InputError(f"the server said {KEY}", where=f"https://u:{KEY}@host"))
    assert (KEY in str(error), type(error)) == (False, InputError)


def test_copies_know_the_persons_own_patterns(qtbot: QtBot) -> None:
    app = QGuiApplication.instance()
    assert app is not None
    policy = RedactionPolicy(extra=(re.compile(r"ACME-\d{6}"),))
    use_rules(app, SecretRedactor(engine="layer", policy=policy).redact)
    try:
        assert cleaned("see ACME-123456").text == "see [REDACTED:custom]"
    finally:
        app.setProperty("ltmem.rules", None)
    assert cleaned("see ACME-123456").text == "see ACME-123456"


def test_a_crash_report_is_shown_without_secrets(qtbot: QtBot) -> None:
    adapters = compose(None)
    adapters.use_settings(Settings(redaction_patterns=(r"ACME-\d{6}",)))
    options = application_options(adapters, WindowOptions(None, None, (), Settings()))
    reporter = BugReporter(redact=options.redact)
    seen: list[BugReport] = []
    reporter.bug_reported.connect(seen.append)
    try:
        raise ValueError(f"with {KEY} of ACME-123456")
    except ValueError as error:
        reporter.report("program", error)
    (report,) = seen
    assert report.title == "ValueError: with [REDACTED:github_token] of [REDACTED:custom]"
    assert KEY not in report.text
    assert "ACME-123456" not in report.text


def test_a_report_that_cannot_be_checked_is_withheld(qtbot: QtBot) -> None:
    def broken(text: str) -> str:
        raise RuntimeError(text)

    reporter = BugReporter(redact=broken)
    seen: list[BugReport] = []
    reporter.bug_reported.connect(seen.append)
    reporter.report("program", ValueError(KEY))
    assert KEY not in seen[0].title + seen[0].text
    assert "withheld" in seen[0].text
