"""The shared piece that copies: what is told is what happened, once, and the last wish wins."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.errors import RedactionFailed
from ltmem_gui.domain.secrets import Redaction, SecretFinding
from ltmem_gui.ui.bridge import copying
from ltmem_gui.ui.bridge.copying import COPIED, FAILED, LEFT_OUT, Copier
from tests.helpers.waiting import PATIENCE_MS, PATIENCE_SECONDS

LONG = "x" * (copying.LONGEST_INLINE + 1)


class Rules:
    """Redaction that waits until it may go on, to see in which order copies end."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.threads: list[threading.Thread] = []
        self.error: Exception | None = None
        self.findings = 0

    def __call__(self, text: str) -> Redaction:
        self.threads.append(threading.current_thread())
        if len(text) > copying.LONGEST_INLINE:
            assert self.free.wait(PATIENCE_SECONDS)
        if self.error is not None:
            raise self.error
        return Redaction(text, (SecretFinding(0, 1, "k", "layer"),) * self.findings)


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    made = Rules()
    monkeypatch.setattr(copying, "cleaned", made)
    return made


@pytest.fixture
def made(qtbot: QtBot, rules: Rules) -> tuple[Copier, list[str]]:
    QGuiApplication.clipboard().setText("before")
    copier, said = Copier(), []
    copier.told.connect(said.append)
    return copier, said


Made = tuple[Copier, list[str]]


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


@pytest.mark.parametrize(
    ("findings", "words"), [(0, ""), (1, "; 1 secret was replaced in it"), (2, "; 2 secrets were replaced in it")]
)
def test_a_short_text_is_copied_at_once_and_told_once(made: Made, rules: Rules, findings: int, words: str) -> None:
    rules.findings = findings
    made[0].copy("short")
    assert clipboard() == "short"
    assert made[1] == [f"{COPIED}{words}"]


def test_a_long_text_is_checked_beside_the_window_and_told_when_it_is_there(
    made: Made, rules: Rules, qtbot: QtBot
) -> None:
    made[0].copy(LONG)
    assert made[1] == []
    assert clipboard() == "before"
    rules.free.set()
    qtbot.waitUntil(lambda: clipboard() == LONG, timeout=PATIENCE_MS)
    assert made[1] == [COPIED]
    assert rules.threads[0] is not threading.main_thread()


def by_itself(copier: Copier) -> None:
    copier.copy("later")


def by_another_panel(copier: Copier) -> None:
    other = Copier(copier)
    other.copy("later")


def by_anybody(copier: Copier) -> None:
    QGuiApplication.clipboard().setText("later")


@pytest.mark.parametrize("later", [by_itself, by_another_panel, by_anybody])
def test_a_slow_copy_never_replaces_a_later_one(
    made: Made, rules: Rules, qtbot: QtBot, later: Callable[[Copier], None]
) -> None:
    copier, said = made
    copier.copy(LONG)
    later(copier)
    rules.free.set()
    qtbot.waitUntil(lambda: LEFT_OUT in said, timeout=PATIENCE_MS)
    assert clipboard() == "later"
    assert said == [*([COPIED] if later is by_itself else []), LEFT_OUT]


@pytest.mark.parametrize("text", ["short", LONG])
def test_a_failure_is_told_and_nothing_is_copied(made: Made, rules: Rules, qtbot: QtBot, text: str) -> None:
    rules.error = RedactionFailed("the rules failed")
    rules.free.set()
    made[0].copy(text)
    qtbot.waitUntil(lambda: bool(made[1]), timeout=PATIENCE_MS)
    assert made[1] == [f"{FAILED}: the rules failed"]
    assert clipboard() == "before"


def test_a_bug_is_told_too_and_stays_a_bug(made: Made, rules: Rules) -> None:
    rules.error = ValueError("a bug")
    with capture_exceptions(), pytest.raises(ValueError, match="a bug"):
        made[0].copy("short")
    assert made[1] == [FAILED]
    assert clipboard() == "before"


def test_a_window_that_is_closed_meanwhile_copies_nothing(made: Made, rules: Rules, qtbot: QtBot) -> None:
    from shiboken6 import delete

    copier, said = made
    copier.copy(LONG)
    delete(copier)
    rules.free.set()
    rules.threads[0].join(PATIENCE_SECONDS)
    assert said == []
    assert clipboard() == "before"
