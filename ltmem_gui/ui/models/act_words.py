"""What a person is told before one act beside the plans: something sent, kept, started or written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActWords:
    """What the sheet of an act says.

    `heading` says what a yes does with `exact`: the command, the path, the address, whole. `facts` stand below it;
    `warnings` need a look. `yes` is the button.
    """

    title: str
    heading: str
    exact: str
    facts: tuple[str, ...]
    yes: str
    warnings: tuple[str, ...] = ()
