"""Pictures of the diff in both schemes at 1× and 2×, compared block by block with the ones that were looked at.

Fonts differ from machine to machine, so the picture names its font; with another one only the bands are compared.
Make them anew with: python -m tests.gui.test_diff_goldens
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontInfo, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.review import Review
from ltmem_gui.ui.models.diff_model import DiffModel, FileInput
from ltmem_gui.ui.theme import Scheme, Theme, monospace
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_view import DiffView
from tests.helpers.reviews import finding, plan_of_files

FOLDER = Path(__file__).parent.parent / "fixtures" / "review"
SIZE = QSize(720, 560)
BLOCK = 8
NAMES = [(scheme, ratio, split) for scheme in ("light", "dark") for ratio in (1, 2) for split in (False, True)]

OLD = (
    "# Task Group: app\n- keep\n- Use npm for this\n- cache lives in /var/cache/app\n"
    + "".join(f"- fact {n}\n" for n in range(12))
    + "- server on port 8003\nend without newline"
)
NEW = (
    OLD.replace("- Use npm for this", "- Use pnpm, never npm")
    .replace("- cache lives in /var/cache/app\n", "")
    .replace("port 8003", "port 9003\n\ttab, no\u00a0break, zero\u200bwidth, bidi \u202eover\nCRLF here\r")
    .replace("end without newline", "# Task Group: new\n- one more\nend with newline\n")
)


def render(scheme: Scheme, ratio: int, split: bool) -> tuple[DiffView, QImage]:
    """Return the view and its picture at a device pixel ratio."""
    theme = Theme.load(scheme)
    theme.apply()
    found = [
        finding("n.md", 3, severity=Severity.WARNING, rule="uncited"),
        finding("n.md", 18, name="b", rule="bidi"),
        finding("n.md", None, name="s", severity=Severity.INFO, rule="size"),
    ]
    plan, base = plan_of_files({"n.md": OLD}, {"n.md": NEW}, found)
    review = Review(plan)
    keys = [unit.key for unit in review.units]
    review = review.decide(keys[0], Decision.ACCEPT).decide(keys[1], Decision.REJECT).note(keys[1], "a note")
    model = DiffModel()
    view = DiffView(model, DiffColors.of(theme), monospace())
    model.setParent(view)
    view.resize(SIZE)
    view.set_side_by_side(split)
    model.open(FileInput(plan.changes[0], tuple(split_lines(base["n.md"].decode()))), review)
    view.set_cursor_row(5)
    view.set_cursor_row(6, extend=True)
    view.verticalScrollBar().setValue(0)
    image = QImage(SIZE * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    view.render(image)
    image.setText("font", QFontInfo(monospace()).family())
    return view, image


def name_of(scheme: str, ratio: int, split: bool) -> str:
    return f"diff-{'split' if split else 'unified'}-{scheme}-{ratio}x.png"


def blocks(image: QImage, within: QRect) -> QImage:
    """Return the mean of every block, as a small picture."""
    part = image.copy(within)
    return part.scaled(
        part.width() // BLOCK,
        part.height() // BLOCK,
        Qt.AspectRatioMode.IgnoreAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    ).convertToFormat(QImage.Format.Format_RGB32)


def difference(one: QImage, other: QImage) -> tuple[float, int]:
    """Return the mean and the largest difference of two small pictures, 0 to 255 a channel."""
    apart = [abs(a - b) for a, b in zip(bytes(one.constBits()), bytes(other.constBits()), strict=True)]
    return sum(apart) / len(apart), max(apart)


@pytest.mark.parametrize(("scheme", "ratio", "split"), NAMES)
def test_the_picture_is_the_one_that_was_looked_at(qtbot: QtBot, scheme: Scheme, ratio: int, split: bool) -> None:
    view, image = render(scheme, ratio, split)
    qtbot.addWidget(view)
    golden = QImage(str(FOLDER / name_of(scheme, ratio, split))).convertToFormat(QImage.Format.Format_RGB32)
    assert not golden.isNull()
    assert golden.size() == image.size()
    same_font = golden.text("font") == image.text("font")
    # The right half of the band holds no text in most rows: it tells colours without telling fonts.
    whole = QRect(0, 0, image.width(), image.height())
    within = whole if same_font else QRect(image.width() * 5 // 8, 0, image.width() // 8, image.height())
    mean, largest = difference(blocks(image, within), blocks(golden, within))
    assert mean <= (1.5 if same_font else 12.0)
    assert largest <= 24 or not same_font


def test_the_comparison_can_fail(qtbot: QtBot) -> None:
    light, one = render("light", 1, False)
    dark, other = render("dark", 1, False)
    for view in (light, dark):
        qtbot.addWidget(view)
    whole = QRect(0, 0, one.width(), one.height())
    assert difference(blocks(one, whole), blocks(other, whole))[0] > 50


def main() -> None:
    """Write the pictures anew."""
    app = QApplication([])
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scheme, ratio, split in NAMES:
        _, image = render(scheme, ratio, split)  # type: ignore[arg-type]
        image.save(str(FOLDER / name_of(scheme, ratio, split)))
    app.quit()


if __name__ == "__main__":
    main()
