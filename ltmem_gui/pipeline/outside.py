"""Acts outside the named folders, from the wish to the deed: planned, shown, confirmed, then done once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.errors import RefusedError, UsageError
from ltmem_gui.domain.folders import is_within
from ltmem_gui.domain.opening import EXAMPLE, Place, editor_arguments
from ltmem_gui.domain.outside import OutsideAct, OutsideGrant, StartProgram, WriteCopy, mint_outside
from ltmem_gui.pipeline.ports import Adapters

NO_EDITOR = "no editor is set"
NO_EDITOR_REMEDY = f"start the program with --set 'editor={EXAMPLE}', with your own editor's name"


class OutsideActs:
    """Plan an act, turn a person's yes into a grant, carry it out."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters

    async def plan_editor(self, place: Place, template: str) -> StartProgram:
        """Return what opens a place in the person's editor.

        Raises `UsageError` where no editor is set, and what `OutsideActor.find` and `.program` raise.
        """
        if not template:
            raise UsageError(NO_EDITOR, NO_EDITOR_REMEDY)
        return await self._adapters.offload.thread(self._editor, place, template)

    async def plan_file_manager(self, place: Place) -> StartProgram:
        """Return what shows a place in the file manager. Raises like `plan_editor`."""
        return await self._adapters.offload.thread(self._manager, place)

    async def plan_copy(
        self, target: Path, data: bytes, what: str, *, roots: Sequence[Path] = (), redactions: int | None = None
    ) -> WriteCopy:
        """Return what writes `data` to `target`; `roots` are the folders the program keeps.

        `redactions` counts the secrets that were replaced; None where nobody looked, and nothing is said.

        Raises `RefusedError` and `InputError` for a target that cannot be written, and for one inside such a folder:
        there only a reviewed plan writes.
        """
        return await self._adapters.offload.thread(self._copy, target, data, what, tuple(roots), redactions)

    def approve(self, act: OutsideAct) -> OutsideGrant:
        """Turn a person's yes into a grant for exactly this act."""
        return mint_outside(act, self._adapters.clock)

    async def start(self, grant: OutsideGrant) -> None:
        """Start the program of a grant."""
        await self._adapters.offload.thread(self._adapters.outside.start, grant)

    async def write(self, grant: OutsideGrant, data: bytes) -> None:
        """Write the copy of a grant."""
        await self._adapters.offload.thread(self._adapters.outside.write, grant, data)

    def _editor(self, place: Place, template: str) -> StartProgram:
        outside = self._adapters.outside
        name, *rest = editor_arguments(template, outside.find(place), place.line)
        return StartProgram((outside.program(name, place.root), *rest), "editor", place)

    def _manager(self, place: Place) -> StartProgram:
        outside = self._adapters.outside
        name, *rest = outside.manager_command(outside.find(place))
        return StartProgram((outside.program(name, place.root), *rest), "file manager", place)

    def _copy(self, target: Path, data: bytes, what: str, roots: tuple[Path, ...], redactions: int | None) -> WriteCopy:
        outside = self._adapters.outside
        path = outside.real_folder(target.parent) / target.name
        if any(is_within(str(path), str(outside.real_folder(root))) for root in roots):
            what_is_wrong = "a copy is not written into the memory or data folder"
            raise RefusedError(what_is_wrong, "name a file elsewhere", str(path))
        return WriteCopy(str(path), len(data), content_hash(data), what, outside.file_at(path), redactions)
