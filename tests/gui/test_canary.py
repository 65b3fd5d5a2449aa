"""The binding must not lose references to None: PySide6 6.12.0 on Python < 3.12 does, and aborts."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot


def test_void_calls_keep_the_reference_count_of_none(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    for _ in range(20):
        label.setText("warm")
    before = sys.getrefcount(None)
    for index in range(300):
        label.setText(str(index))
    assert abs(sys.getrefcount(None) - before) < 100
