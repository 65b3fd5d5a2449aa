"""Colours, fonts, icons and the little style sheet of the window, in a light and a dark scheme.

The scheme is given, never asked of Qt here: the offscreen plugin reports none. Colours come from
`resources/theme.toml` by dotted name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, Literal

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from ltmem_gui.assets import resources_dir

Scheme = Literal["light", "dark"]

ROW_HEIGHT = 24
GRID = 4
_ICON_SIZES = (16, 20, 24, 32, 48)
_TITLE_SCALE = 1.4
_SMALL_SCALE = 0.92

_ROLES: tuple[tuple[QPalette.ColorRole, str], ...] = (
    (QPalette.ColorRole.Window, "window"),
    (QPalette.ColorRole.WindowText, "text"),
    (QPalette.ColorRole.Base, "base"),
    (QPalette.ColorRole.AlternateBase, "alternate"),
    (QPalette.ColorRole.Text, "text"),
    (QPalette.ColorRole.Button, "raised"),
    (QPalette.ColorRole.ButtonText, "text"),
    (QPalette.ColorRole.BrightText, "accent_text"),
    (QPalette.ColorRole.ToolTipBase, "raised"),
    (QPalette.ColorRole.ToolTipText, "text"),
    (QPalette.ColorRole.PlaceholderText, "muted"),
    (QPalette.ColorRole.Highlight, "selection"),
    (QPalette.ColorRole.HighlightedText, "selection_text"),
    (QPalette.ColorRole.Link, "state.running"),
    (QPalette.ColorRole.Mid, "border"),
    (QPalette.ColorRole.Midlight, "hover"),
    (QPalette.ColorRole.Dark, "strong_border"),
    (QPalette.ColorRole.Light, "raised"),
    (QPalette.ColorRole.Shadow, "strong_border"),
)


class Theme(QObject):
    """Hold the tokens of one scheme.

    Signals: `changed` after `set_scheme`, for widgets that paint by themselves.
    """

    changed = Signal()

    def __init__(
        self, schemes: Mapping[str, Mapping[str, str]], scheme: Scheme, folder: Path, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._schemes = schemes
        self._scheme: Scheme = scheme
        self._icons_dir = folder / "icons"
        self._style = (folder / "style.qss").read_text(encoding="utf-8")
        self._colors: dict[str, QColor] = {}
        self._icons: dict[tuple[str, str], QIcon] = {}

    @classmethod
    def load(cls, scheme: Scheme = "light", folder: Path | None = None) -> Theme:
        """Read the tokens from the resources."""
        folder = folder or resources_dir()
        with (folder / "theme.toml").open("rb") as file:
            tables = tomllib.load(file)
        return cls({name: dict(_flat(table)) for name, table in tables.items()}, scheme, folder)

    @property
    def scheme(self) -> Scheme:
        """Return "light" or "dark"."""
        return self._scheme

    @property
    def tokens(self) -> Mapping[str, str]:
        """Return name → colour of the scheme."""
        return self._schemes[self._scheme]

    def color(self, token: str) -> QColor:
        """Return a colour by its dotted name. Raises `KeyError` for an unknown one."""
        if token not in self._colors:
            self._colors[token] = QColor(self.tokens[token])
        return self._colors[token]

    def set_scheme(self, scheme: Scheme) -> None:
        """Change the scheme of the running application."""
        if scheme == self._scheme:
            return
        self._scheme = scheme
        self._colors.clear()
        self._icons.clear()
        self.apply()
        self.changed.emit()

    def apply(self) -> None:
        """Give the application its style, palette and style sheet."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        style = self.style_sheet()
        if app.styleSheet() == style:
            return  # setting it again would polish every widget anew
        app.setStyle("Fusion")  # the one style that follows a palette on every platform
        app.setPalette(self.palette())
        app.setStyleSheet(style)

    def palette(self) -> QPalette:
        """Return the palette of the scheme."""
        palette = QPalette()
        for role, token in _ROLES:
            palette.setColor(role, self.color(token))
        for role in (
            QPalette.ColorRole.WindowText,
            QPalette.ColorRole.Text,
            QPalette.ColorRole.ButtonText,
            QPalette.ColorRole.HighlightedText,
        ):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("disabled"))
        palette.setColor(QPalette.ColorRole.Accent, self.color("accent"))
        return palette

    def style_sheet(self) -> str:
        """Return the style sheet: spacing and borders only, colours from the tokens."""
        values = {name.replace(".", "_"): value for name, value in self.tokens.items()}
        values["icons"] = self._icons_dir.as_posix()
        return Template(self._style).substitute(values)

    def icon(self, name: str, token: str = "text") -> QIcon:
        """Return an icon of `resources/icons`, drawn in a token's colour at every size."""
        key = (name, token)
        if key not in self._icons:
            self._icons[key] = self._draw(name, token)
        return self._icons[key]

    def _draw(self, name: str, token: str) -> QIcon:
        svg = (self._icons_dir / f"{name}.svg").read_text(encoding="utf-8")
        icon = QIcon()
        for mode, color in ((QIcon.Mode.Normal, token), (QIcon.Mode.Disabled, "disabled")):
            drawn = svg.replace("currentColor", self.tokens[color])
            renderer = QSvgRenderer(QByteArray(drawn.encode()))
            for size in _ICON_SIZES:
                icon.addPixmap(_pixmap(renderer, size), mode)
        return icon


def monospace() -> QFont:
    """Return the system's font for evidence and diffs, at the size of the interface font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(QGuiApplication.font().pointSizeF())
    return font


def title_font() -> QFont:
    """Return the largest of the three sizes."""
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(font.pointSizeF() * _TITLE_SCALE)
    font.setWeight(QFont.Weight.DemiBold)
    return font


def small_font() -> QFont:
    """Return the smallest of the three sizes."""
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(font.pointSizeF() * _SMALL_SCALE)
    return font


def bold_font() -> QFont:
    """Return the interface font in bold."""
    font = QFont(QGuiApplication.font())
    font.setWeight(QFont.Weight.DemiBold)
    return font


def contrast(one: QColor, two: QColor) -> float:
    """Return the contrast ratio of two colours (1–21, WCAG 2)."""
    light, dark = sorted((_luminance(one), _luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: QColor) -> float:
    def channel(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF())


def _pixmap(renderer: QSvgRenderer, size: int) -> QPixmap:
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in table.items():
        if isinstance(value, Mapping):
            found.extend(_flat(value, f"{prefix}{name}."))
        else:
            found.append((f"{prefix}{name}", str(value)))
    return found
