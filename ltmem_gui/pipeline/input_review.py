"""The review of inputs: each row is accepted, left out until lifted, or edited; single lines are never decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ltmem_gui.domain.effects import StoreOutputs
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.pipeline.ports import Adapters
from ltmem_gui.pipeline.requests import Request

LEFT_OUT = "left out in the review"
EDITABLE = ("raw_memory", "rollout_summary")


@dataclass(frozen=True, slots=True)
class ReviewedInputs:
    """The rows that may be selected, why others may not, and what the decisions change in the database."""

    outputs: tuple[StageOneOutput, ...]
    left_out: Mapping[str, str]
    effects: tuple[StoreOutputs, ...]


async def review_inputs(
    adapters: Adapters, request: Request, outputs: Sequence[StageOneOutput], excluded: Mapping[str, str]
) -> ReviewedInputs:
    """Apply the decisions of a request to the stored rows.

    Raises `UsageError` for a thread without a row, `RedactionFailed` for an edit that cannot be checked.
    """
    known = {output.thread_id for output in outputs}
    for thread in (*request.exclude, *request.edits):
        if thread not in known:
            raise UsageError(f"there is no memory of thread {thread!r}", "see: ltmem-gui jobs")
    changes: list[dict[str, str]] = []
    left_out = {thread: reason for thread, reason in excluded.items() if thread not in request.lift}
    changes += [{"thread_id": t, "excluded": ""} for t in sorted(request.lift & excluded.keys())]
    for thread in sorted(request.exclude - left_out.keys()):
        left_out[thread] = LEFT_OUT
        changes.append({"thread_id": thread, "excluded": LEFT_OUT})
    kept: list[StageOneOutput] = []
    for output in outputs:
        edit = request.edits.get(output.thread_id)
        if edit is not None:
            output = replace(output, raw_memory=(await adapters.redact_text(edit)).text)
            source = str(output.source_updated_at)
            changes.append(
                {"thread_id": output.thread_id, "source_updated_at": source, "raw_memory": output.raw_memory}
            )
        if output.thread_id not in left_out:
            kept.append(output)
    effects = (StoreOutputs(count=0, edited=tuple(changes)),) if changes else ()
    return ReviewedInputs(tuple(kept), left_out, effects)


def standing_refusals(
    request: Request, refused: Sequence[RefusedHunk]
) -> tuple[tuple[RefusedHunk, ...], tuple[StoreOutputs, ...]]:
    """Return the rejected hunks that still hold, and the effect that lifts the others.

    A key may be cut to its first characters. Raises `UsageError` for one that names no rejected hunk.
    """
    for key in request.take_again:
        if not key or not any(hunk.key.startswith(key) for hunk in refused):
            raise UsageError(f"no rejected hunk has the key {key!r}", "see: ltmem-gui refused")
    lifted = tuple(hunk for hunk in refused if any(hunk.key.startswith(key) for key in request.take_again))
    effects = (StoreOutputs(count=0, lifted=tuple(hunk.key for hunk in lifted)),) if lifted else ()
    return tuple(hunk for hunk in refused if hunk not in lifted), effects


async def redacted_hunks(adapters: Adapters, hunks: Sequence[RefusedHunk]) -> tuple[RefusedHunk, ...]:
    """Return hunks without the secrets of their lines and notes; a key may go over several lines.

    Raises `RedactionFailed`.
    """
    texts = tuple(text for hunk in hunks for text in ("".join(hunk.old), "".join(hunk.new), hunk.note))
    clean = [redaction.text for redaction in await adapters.redact_texts(texts)]
    return tuple(
        replace(hunk, old=_lines(old), new=_lines(new), note=note)
        for hunk, old, new, note in zip(hunks, clean[::3], clean[1::3], clean[2::3], strict=True)
    )


def _lines(text: str) -> tuple[str, ...]:
    *whole, rest = text.split("\n")
    return (*(f"{line}\n" for line in whole), *([rest] if rest else []))
