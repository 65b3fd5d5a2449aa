"""The choice of a model in the data folder: read when a folder is named, written after a yes of its own."""

from __future__ import annotations

from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.model_choice import MODEL_FILE, ModelChoice, from_toml, to_toml
from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.outside import OutsideGrant, WriteCopy
from ltmem_gui.pipeline.operations import Operations

MAX_BYTES = 64 * 1024
WHAT = "the choice of a model, without any key"


class ModelFile:
    """Read and write `model.toml` of a data folder; writing takes a grant like every act of its own."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    async def read(self, home: Path) -> ModelChoice | None:
        """Return what was saved, None where nothing was.

        A data folder that a person named through links is read where it is, as it is written. Raises `InputError`, and
        `RefusedError` for a file that is a link.
        """
        return await self._operations.adapters.offload.thread(self._read, home)

    async def plan(self, home: Path, choice: ModelChoice) -> WriteCopy:
        """Return what saving would write; nothing is written. Raises `InputError` where there is no data folder."""
        adapters = self._operations.adapters
        if not await adapters.offload.thread(home.is_dir):
            raise InputError("there is no data folder yet", "a confirmed run creates it; save afterwards", str(home))
        return await self._operations.outside.plan_copy(home / MODEL_FILE, to_toml(choice), WHAT)

    async def write(self, grant: OutsideGrant, choice: ModelChoice) -> None:
        """Write what was confirmed. Raises what the grant and the file system refuse."""
        await self._operations.outside.write(grant, to_toml(choice))

    def _read(self, home: Path) -> ModelChoice | None:
        outside = self._operations.adapters.outside
        try:
            path = outside.find(Place(str(outside.real_folder(home)), MODEL_FILE))
        except InputError:
            return None
        try:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputError(f"it cannot be read: {error.strerror}", "check its permissions", path) from error
        if len(data) > MAX_BYTES:
            raise InputError("it is larger than 64 KiB", "move it away", path)
        return from_toml(data, path)
