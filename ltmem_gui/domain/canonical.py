"""The one JSON form that digests are taken of.

ASCII only, keys sorted, no white space, no floats: the same on every platform and Python version.
"""

from __future__ import annotations

import hashlib
import json


def canonical_json(value: object) -> str:
    """Write `value` in canonical form.

    Raises `ValueError` for floats, since their text is not guaranteed to be stable.
    """
    _refuse_floats(value)
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)


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
