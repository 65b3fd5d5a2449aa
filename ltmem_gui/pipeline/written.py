"""What the last apply wrote, to look at while its undo image lives; older applies keep no text (design §5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ltmem_gui.domain.applying import WHOLE, result_bytes
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.pipeline.folder_plans import named_folder
from ltmem_gui.pipeline.ports import Adapters, UndoOffer, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request


@dataclass(frozen=True, slots=True)
class LastApply:
    """The changes of the last apply, as they were made, and the files before it.

    `plan_digest` names its plan, as its receipt does; the text is at hand until `expires_at` (Unix seconds).
    """

    plan_digest: str
    expires_at: int
    changes: tuple[FileChange, ...]
    before: Mapping[str, bytes]


async def last_apply(adapters: Adapters, request: Request) -> LastApply | None:
    """Return what the last apply to this folder changed, None when its undo image is gone.

    Reads only. Raises `WorkspaceMoved` naming a file that was changed since, `UsageError` without a memory folder.
    """
    snapshot = await named_folder(adapters, request)
    offer = await adapters.offload.store(adapters.undo.offer, request.home, adapters.clock(), snapshot)
    return None if offer is None else await adapters.offload.thread(_turned_round, offer, snapshot)


def _turned_round(offer: UndoOffer, snapshot: WorkspaceSnapshot) -> LastApply:
    """Turn what would take an apply back into what it did."""
    taken = Selection(plan_digest="", accepted={change.path: (WHOLE,) for change in offer.changes})
    before: dict[str, bytes] = {}
    made: list[FileChange] = []
    for change in offer.changes:
        file = snapshot.files.get(change.path)
        now = None if file is None else file.data
        old = result_bytes(now, change, taken)
        if old is not None:
            before[change.path] = old
        forward = file_change(change.path, old, now, old_mode=change.new_mode, new_mode=change.old_mode)
        made += [forward] if forward is not None else []
    return LastApply(offer.digest, offer.expires_at, tuple(made), before)
