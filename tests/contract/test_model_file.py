"""The choice of a model in the data folder: what was saved is read again, however the folder was named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.model_choice import MODEL_FILE, ModelChoice
from ltmem_gui.pipeline.model_file import ModelFile
from ltmem_gui.pipeline.operations import Operations

CHOICE = ModelChoice(extract_model="m")


@pytest.fixture
def operations() -> Iterator[Operations]:
    made = compose(None)
    yield Operations(made)
    made.close()


async def save(operations: Operations, home: Path) -> None:
    file = ModelFile(operations)
    act = await file.plan(home, CHOICE)
    await file.write(operations.outside.approve(act), CHOICE)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_was_saved_through_links_is_read_through_them(operations: Operations, tmp_path: Path, depth: int) -> None:
    home = tmp_path / "real"
    home.mkdir()
    for number in range(depth):
        link = tmp_path / f"link{number}"
        link.symlink_to(home)
        home = link
    assert asyncio.run(ModelFile(operations).read(home)) is None
    asyncio.run(save(operations, home))
    assert (tmp_path / "real" / MODEL_FILE).is_file()
    assert asyncio.run(ModelFile(operations).read(home)) == CHOICE


def test_a_file_that_is_a_link_is_not_read(operations: Operations, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text('extract_model = "m"\n')
    home = tmp_path / "home"
    home.mkdir()
    (home / MODEL_FILE).symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(RefusedError, match="symlink"):
        asyncio.run(ModelFile(operations).read(home))


def test_a_folder_that_is_missing_holds_no_choice(operations: Operations, tmp_path: Path) -> None:
    assert asyncio.run(ModelFile(operations).read(tmp_path / "none")) is None
