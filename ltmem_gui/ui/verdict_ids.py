"""The five verdicts as actions, wherever they are given: `Support` has their words and the order of their keys."""

from __future__ import annotations

from ltmem_gui.domain.audit import Support


def verdict_ids(scope: str) -> dict[str, Support]:
    """Return action id → verdict for one place of judging, in the order of the keys 1 to 5."""
    return {f"{scope}.{support.name.lower()}": support for support in Support}


def verdict_titles(scope: str, front: str = "") -> dict[str, str]:
    """Return action id → its title, in the same order; `front` stands before the verdict's words."""
    return {
        id_: f"{front}{support}" if front else str(support).capitalize() for id_, support in verdict_ids(scope).items()
    }
