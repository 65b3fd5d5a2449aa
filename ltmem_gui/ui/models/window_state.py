"""How the window looks, as a value: columns, order, filter and views of the queue, and the size of the window.

The file may come from anywhere: every text and number is bounded, and what does not fit is an error in words, never a
half-taken layout.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.job_filter import SORT_KEYS, Order
from ltmem_gui.ui.models.job_state import StateKind

MAX_VIEWS = 50
NAME_LENGTH = 60
_WORD_LENGTH = 500


def _one_line(text: str) -> str:
    if text != one_line(text, _WORD_LENGTH):
        raise ValueError("it holds characters that are not shown as they are")
    return text


Word = Annotated[str, Field(max_length=_WORD_LENGTH), AfterValidator(_one_line)]
ViewName = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(_one_line)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ColumnLook(_Value):
    """One column, in the order shown; `width` in pixels that do not depend on the screen."""

    id: Annotated[str, Field(max_length=40)]
    width: Annotated[int, Field(ge=8, le=4_000)]
    hidden: bool = False


class SortLook(_Value):
    """One sort column."""

    column: Annotated[str, Field(max_length=40)]
    descending: bool = False


class QueueView(_Value):
    """What is shown of the queue; without `columns` a view leaves them as they are."""

    name: ViewName = "–"
    text: Word = ""
    kinds: Annotated[tuple[Annotated[str, Field(max_length=20)], ...], Field(max_length=20, strict=False)] = ()
    orders: Annotated[tuple[SortLook, ...], Field(max_length=20, strict=False)] = ()
    columns: Annotated[tuple[ColumnLook, ...], Field(max_length=60, strict=False)] = ()

    @property
    def state_kinds(self) -> frozenset[StateKind]:
        """Return the types of state that this program knows."""
        return frozenset(kind for kind in StateKind if kind.value in self.kinds)

    @property
    def sort_orders(self) -> tuple[Order, ...]:
        """Return the sort columns that this program knows."""
        return tuple(Order(order.column, order.descending) for order in self.orders if order.column in SORT_KEYS)


class WindowState(_Value):
    """Everything that is kept of the window. `selected` is the key of the queue's row."""

    version: Literal[1] = 1
    remember: bool = False
    attention: bool = False
    width: Annotated[int, Field(ge=0, le=20_000)] = 0
    height: Annotated[int, Field(ge=0, le=20_000)] = 0
    splitter: Annotated[tuple[Annotated[int, Field(ge=0, le=20_000)], ...], Field(max_length=4, strict=False)] = ()
    queue: QueueView = QueueView()
    selected: Word = ""
    views: Annotated[tuple[QueueView, ...], Field(max_length=MAX_VIEWS, strict=False)] = ()


class LayoutFile(Protocol):
    """Where the layout is kept."""

    def path(self, home: Path) -> Path:
        """Return where the file is, or would be."""
        ...

    def read(self, home: Path) -> bytes | None:
        """Return the bytes, None where there is no file. Raises `InputError`."""
        ...

    def write(self, home: Path, data: bytes) -> None:
        """Replace the file whole. Raises `InputError`."""
        ...


def to_bytes(state: WindowState) -> bytes:
    """Write a state as JSON that a person can read."""
    return (json.dumps(state.model_dump(mode="json"), indent=2, ensure_ascii=True) + "\n").encode()


def from_bytes(data: bytes, where: str = "") -> WindowState:
    """Read a state. Raises `InputError` for anything but a whole and plausible one."""
    remedy = "the usual layout is shown and the file stays as it is; move it away to begin anew"
    try:
        return WindowState.model_validate(json.loads(data.decode()))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][:4]) or "the whole"
        raise InputError(f"the layout cannot be used: {one_line(place, 80)}: {first['msg']}", remedy, where) from error
    except (ValueError, RecursionError) as error:
        raise InputError("the layout cannot be used: it is no JSON of this program", remedy, where) from error
