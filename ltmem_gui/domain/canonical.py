"""The one JSON form that digests are taken of.

ASCII only, keys sorted, no white space, no floats: the same on every platform and Python version.
"""

from __future__ import annotations

import hashlib
import json
from operator import itemgetter
from typing import TypeGuard, cast

# A plan, its effects, one effect, its jobs: each job is written by one call. The encoder keeps the interpreter for a
# whole call, and a plan of a thousand jobs in one piece kept every other thread, the window's too, waiting for 9 ms.
PIECEWISE_LEVELS = 4


def canonical_json(value: object) -> str:
    """Write `value` in canonical form.

    Raises `ValueError` for floats, since their text is not guaranteed to be stable.
    """
    _refuse_floats(value)
    return _written(value, PIECEWISE_LEVELS)


def _written(value: object, levels: int) -> str:
    if levels and isinstance(value, list):
        members = (_written(item, levels - 1) for item in cast("list[object]", value))
        return f"[{','.join(members)}]"
    if levels and _has_names_only(value):
        named = sorted(value.items(), key=itemgetter(0))
        members = (f"{json.dumps(name)}:{_written(item, levels - 1)}" for name, item in named)
        return f"{{{','.join(members)}}}"
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _has_names_only(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict) and all(isinstance(name, str) for name in cast("dict[object, object]", value))


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def content_hash(data: bytes) -> str:
    """Return the SHA-256 of file content, in hex."""
    return hashlib.sha256(data).hexdigest()


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise ValueError("floats have no canonical form")
    if isinstance(value, dict):
        for item in value.values():  # pyright: ignore[reportUnknownVariableType]
            _refuse_floats(item)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list | tuple):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            _refuse_floats(item)  # pyright: ignore[reportUnknownArgumentType]
