"""Find prompts and resources: inside the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def prompts_dir() -> Path:
    """Return the folder of the jinja2 templates and schemas."""
    return _folder("prompts")


def resources_dir() -> Path:
    """Return the folder of icons, theme tokens and the demo's sample rollouts."""
    return _folder("resources")


def is_checkout() -> bool:
    """Tell whether the program runs from a source tree."""
    return not (_PACKAGE / "_data").is_dir()


def _folder(name: str) -> Path:
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name
