"""Faults that tests may ask for at the steps of an apply."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Protocol

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.errors import UsageError

FAULT_VARIABLE = "LTMEM_FAULT"
_ERRNO = {"enospc": errno.ENOSPC, "eio": errno.EIO, "eacces": errno.EACCES}
KINDS = ("kill", *_ERRNO)


class Reached(Protocol):
    """Be told that a step was reached; a step may be reached several times (once per file)."""

    def __call__(self, step: Step) -> None:
        """Return, or end the process or raise as a test asked for."""
        ...


class Faults:
    """Raise or kill at the step that `LTMEM_FAULT=step[@n]:kind` names, the n-th time it is reached (default 1)."""

    def __init__(self, wish: str | None = None) -> None:
        """Read `wish`, or the environment where tests run. Raises `UsageError` for a wish that cannot be read."""
        text = wish if wish is not None else (os.environ.get(FAULT_VARIABLE, "") if _is_test_ground() else "")
        self._step, self._number, self._kind = _parse(text)
        self._seen: Counter[Step] = Counter()

    def __call__(self, step: Step) -> None:
        """Note that `step` was reached."""
        self._seen[step] += 1
        if step is not self._step or self._seen[step] != self._number:
            return
        if self._kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        number = _ERRNO[self._kind]
        raise OSError(number, os.strerror(number), f"(fault at {step})")


def _parse(text: str) -> tuple[Step | None, int, str]:
    if not text:
        return None, 0, ""
    place, _, kind = text.partition(":")
    name, _, number = place.partition("@")
    if name not in set(Step) or kind not in KINDS or not (number or "1").isdecimal():
        raise UsageError(f"{FAULT_VARIABLE}={text} names no step or kind", "see: ltmem-gui recover --steps")
    return Step(name), int(number or "1"), kind


def _is_test_ground() -> bool:
    checkout = Path(__file__).resolve().parents[2] / "pyproject.toml"
    return checkout.is_file() or "PYTEST_CURRENT_TEST" in os.environ or "pytest" in sys.modules
