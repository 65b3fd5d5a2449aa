"""Why a staged copy refuses: values that the agent's tools turn into answers to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.errors import KnownError

RefusalKind = Literal["outside", "hidden", "symlink", "not a file", "size", "count", "read-only"]


@dataclass(eq=False)
class StagingRefused(KnownError):
    """A path or a change that leaves the fence; `kind` is what is counted."""

    kind: RefusalKind = "outside"


class StagingMissing(KnownError):
    """There is no such file or folder in the copy."""
