"""Questions for a file or a folder. They are opened and awaited, and leave nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QSettings  # only to keep Qt from writing: see `keep_no_history`
from PySide6.QtWidgets import QFileDialog, QWidget

from ltmem_gui.ui.bridge.awaiting import opened


def keep_no_history() -> None:
    """Keep Qt from writing down which folders were visited, in a settings file of its own that no one confirmed.

    On Windows and macOS, where the system's own dialogs are shown, Qt keeps it where its path cannot be set.
    """
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, os.devnull)


async def ask_save_name(title: str, name: str, parent: QWidget | None = None) -> Path | None:
    """Ask where to save; the file is not written, and whether one is replaced is asked by who writes it."""
    keep_no_history()
    dialog = QFileDialog(parent, title)
    dialog.setObjectName("save.dialog")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
    dialog.selectFile(name)
    try:
        return Path(dialog.selectedFiles()[0]) if await opened(dialog) else None
    finally:
        dialog.deleteLater()


async def ask_folder(title: str, start: Path | None, parent: QWidget | None = None) -> Path | None:
    """Ask for a folder that is only to be read; nothing in it can be renamed or made from here."""
    keep_no_history()
    dialog = QFileDialog(parent, title)
    dialog.setObjectName("folder.dialog")
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.setOption(QFileDialog.Option.ReadOnly)
    if start is not None:
        dialog.setDirectory(str(start))
    try:
        return Path(dialog.selectedFiles()[0]) if await opened(dialog) else None
    finally:
        dialog.deleteLater()
