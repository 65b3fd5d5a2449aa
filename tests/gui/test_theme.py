"""Colours one can read, in both schemes; icons that exist."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from ltmem_gui.ui.theme import Scheme, Theme, contrast
from tests.helpers.waiting import PATIENCE_MS

TEXT_ON = ("window", "base", "alternate", "raised", "hover")
STATES = ("waiting", "running", "good", "needs", "bad", "stopped")
BANNERS = ("info", "good", "warning", "error")


def pairs() -> list[tuple[str, str]]:
    found = [("text", back) for back in TEXT_ON]
    found += [("muted", back) for back in ("window", "base", "alternate", "raised")]
    found += [(f"state.{state}", back) for state in STATES for back in ("base", "alternate", "window")]
    found += [("text", f"banner.{kind}") for kind in BANNERS]
    found += [("selection_text", "selection"), ("accent_text", "accent"), ("accent_text", "accent_hover")]
    found += [
        ("text", f"diff.{kind}") for kind in ("added", "added_word", "removed", "removed_word", "current", "fold")
    ]
    found += [("diff.gutter_text", "diff.gutter")]
    found += [(f"diff.{kind}", "base") for kind in ("accept", "reject", "edited", "undecided")]
    found += [(f"finding.{kind}", "base") for kind in ("blocking", "warning", "info")]
    found += [("text", "cite.band"), ("cite.hazard", "base")]
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back"), pairs())
def test_text_is_readable(scheme: Scheme, front: str, back: str) -> None:
    theme = Theme.load(scheme)
    ratio = contrast(theme.color(front), theme.color(back))
    assert ratio >= 4.5, f"{front} on {back} is {ratio:.2f}:1 in {scheme}"


def test_both_schemes_name_the_same_tokens() -> None:
    assert set(Theme.load("light").tokens) == set(Theme.load("dark").tokens)


def test_contrast_of_black_on_white_is_the_largest() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)


def test_changing_the_scheme_repaints(qtbot: QtBot) -> None:
    theme = Theme.load("light")
    before = theme.color("base").name()
    with qtbot.waitSignal(theme.changed, timeout=PATIENCE_MS):
        theme.set_scheme("dark")
    assert theme.color("base").name() != before
    theme.set_scheme("light")


def test_icons_are_drawn(qtbot: QtBot) -> None:
    theme = Theme.load("dark")
    for name in ("queue", "review", "citations", "memory", "history", "run", "cancel"):
        assert not theme.icon(name).pixmap(16, 16).isNull()
