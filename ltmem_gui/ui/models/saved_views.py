"""Views of the queue by name: those the program brings, and a person's own."""

from __future__ import annotations

from collections.abc import Sequence

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.job_state import StateKind
from ltmem_gui.ui.models.window_state import MAX_VIEWS, NAME_LENGTH, QueueView, SortLook

DEFAULT_VIEWS = (
    QueueView(name="All rollouts"),
    QueueView(name="In the next run", kinds=(StateKind.WAITING.value,)),
    QueueView(name="Needs a person", kinds=(StateKind.NEEDS.value,)),
    QueueView(name="Failed", kinds=(StateKind.BAD.value,), orders=(SortLook(column="reason"),)),
    QueueView(name="Not taken", kinds=(StateKind.STOPPED.value,), orders=(SortLook(column="reason"),)),
    QueueView(name="Most tokens first", orders=(SortLook(column="tokens", descending=True),)),
)


def with_view(views: Sequence[QueueView], view: QueueView) -> tuple[QueueView, ...]:
    """Add a view, in place of one of the same name.

    Raises `InputError` for a name of a view the program brings, an empty or long one, and above fifty views.
    """
    name = view.name.strip()
    if not name or len(name) > NAME_LENGTH or name != one_line(name, NAME_LENGTH):
        raise InputError("the name cannot be used", f"type up to {NAME_LENGTH} plain characters")
    if name.casefold() in {known.name.casefold() for known in DEFAULT_VIEWS}:
        raise InputError(f"the program brings a view of the name {name}", "choose another name")
    others = tuple(known for known in views if known.name.casefold() != name.casefold())
    if len(others) >= MAX_VIEWS:
        raise InputError(f"there are {MAX_VIEWS} views already", "remove one first")
    return (*others, view.model_copy(update={"name": name}))


def without_view(views: Sequence[QueueView], name: str) -> tuple[QueueView, ...]:
    """Take a view away."""
    return tuple(view for view in views if view.name != name)


def shown_view(views: Sequence[QueueView], now: QueueView) -> str:
    """Return the name of the view that is shown as it was saved, nothing when it was changed since.

    A view's own columns count only where it has some.
    """
    for view in reversed(views):
        same = (view.text, frozenset(view.kinds), view.orders) == (now.text, frozenset(now.kinds), now.orders)
        if same and (not view.columns or view.columns == now.columns):
            return view.name
    return ""
