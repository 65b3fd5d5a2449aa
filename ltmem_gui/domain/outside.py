"""Acts outside the named folders: start the person's own program, write a copy of a review. Each needs its own yes.

They change nothing the program keeps, so they are no effects of a plan; but what is started or written is shown to the
letter first, and a grant is good for exactly that, once (design §2).
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.consent import APPROVAL_SECONDS
from ltmem_gui.domain.errors import GrantExpired, GrantReused
from ltmem_gui.domain.opening import Place


@dataclass(frozen=True, slots=True)
class StartProgram:
    """Start a program without a shell: `argv` is the whole command, its first word an absolute path."""

    argv: tuple[str, ...]
    purpose: Literal["editor", "file manager"]
    place: Place

    @property
    def command(self) -> str:
        """Return the command as one would type it."""
        return shlex.join(self.argv)


@dataclass(frozen=True, slots=True)
class FileThere:
    """The file that a copy would replace, as it was looked at: `size` in bytes, times in nanoseconds.

    One that was written since, or is another file of that name and size, is not equal.
    """

    size: int
    device: int = 0
    inode: int = 0
    written_ns: int = 0
    changed_ns: int = 0


@dataclass(frozen=True, slots=True)
class WriteCopy:
    """Write one file: `size` in bytes, `sha256` of exactly what is written.

    `replaces` is the file that is there already, None where there is none. `redactions` counts what was
    taken out; None where nobody looked for secrets.
    """

    path: str
    size: int
    sha256: str
    what: str
    replaces: FileThere | None = None
    redactions: int | None = None


OutsideAct = StartProgram | WriteCopy


class OutsideGrant:
    """The right to carry out one act once. Threads: `consume` is atomic. It cannot be copied, pickled or built."""

    __slots__ = ("_clock", "_expires_at", "_lock", "_used", "act")

    def __init__(self, act: OutsideAct, clock: Callable[[], int], *, mint: object) -> None:
        if mint is not _MINT:
            raise TypeError("grants are minted after a person's yes only")
        self.act = act
        self._clock = clock
        self._expires_at = clock() + APPROVAL_SECONDS
        self._used = False
        self._lock = threading.Lock()

    def consume(self) -> None:
        """Use the grant up. Raises `GrantReused` the second time and `GrantExpired` after 15 minutes."""
        with self._lock:
            if self._used:
                raise GrantReused("this confirmation was used already", "confirm again")
            if self._clock() > self._expires_at:
                raise GrantExpired("the confirmation is older than 15 minutes", "look again and confirm")
            self._used = True

    def __reduce__(self) -> str:
        raise TypeError("a grant cannot be copied")

    def __copy__(self) -> OutsideGrant:
        raise TypeError("a grant cannot be copied")


_MINT = object()


def mint_outside(act: OutsideAct, clock: Callable[[], int]) -> OutsideGrant:
    """Make the grant of an act. Called by `pipeline/outside.py` alone (checked by a test)."""
    return OutsideGrant(act, clock, mint=_MINT)
