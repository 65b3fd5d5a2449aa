"""Prompts and resources are found in a checkout and inside a wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltmem_gui import assets


def test_a_checkout_has_them_beside_the_package() -> None:
    assert assets.is_checkout()
    assert (assets.prompts_dir() / "stage_one_system.md.j2").is_file()
    assert list((assets.resources_dir() / "demo").glob("*.jsonl"))


def test_a_wheel_has_them_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("prompts", "resources"):
        (tmp_path / "_data" / name).mkdir(parents=True)
    monkeypatch.setattr(assets, "_PACKAGE", tmp_path)
    assert not assets.is_checkout()
    assert assets.prompts_dir() == tmp_path / "_data" / "prompts"
    assert assets.resources_dir() == tmp_path / "_data" / "resources"
