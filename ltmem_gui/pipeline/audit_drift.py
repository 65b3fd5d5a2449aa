"""What citations said at the baseline: files that were changed by hand since then must not move the evidence unseen.

Git is only asked when a cited file is not what the baseline holds; objects are read, nothing is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ltmem_gui.domain.anchors import CitedText, EvidenceSnapshot, inside_root, snapshot
from ltmem_gui.domain.citation_check import Snapshots, citing_files
from ltmem_gui.domain.citations import parse
from ltmem_gui.pipeline.ports import Adapters, MemoryObject, WorkspaceSnapshot


@dataclass(frozen=True, slots=True)
class AtBaseline:
    """What was there at the git baseline: what each citation of a changed file said, and those files whole."""

    places: Snapshots = field(default_factory=dict[tuple[str, int, int], EvidenceSnapshot])
    files: Mapping[str, CitedText] = field(default_factory=dict[str, CitedText])


async def baseline_snapshots(adapters: Adapters, folder: WorkspaceSnapshot) -> Snapshots:
    """Return what each citation of a changed file said at the baseline. Raises as `at_baseline` does."""
    return (await at_baseline(adapters, folder)).places


async def at_baseline(adapters: Adapters, folder: WorkspaceSnapshot) -> AtBaseline:
    """Return what citations of changed files said at the baseline; nothing when no cited file changed.

    Raises `InputError` when git's objects cannot be read.
    """
    changed = {path for path in folder.files if _is_changed(folder, path)}
    citing = [path for path in citing_files(folder.files) if path in folder.baseline_blobs]
    cited = changed & {name for path in citing for name in _cited(folder.files[path].data)}
    if not cited:
        return AtBaseline()
    wanted = {folder.baseline_blobs[path][0] for path in (*cited, *citing)}
    blobs = await adapters.offload.store(_blobs, adapters.memory_objects(Path(folder.root)), wanted)
    before = {path: blobs[folder.baseline_blobs[path][0]] for path in (*cited, *citing) if _blob(folder, path) in blobs}
    texts = {path: CitedText(before[path]) for path in cited if path in before}
    taken: dict[tuple[str, int, int], EvidenceSnapshot] = {}
    for entry in (entry for path in citing for entry in parse(_text(before.get(path, b""))).entries):
        text = texts.get(inside_root(entry.path) or "")
        if text is not None and 1 <= entry.start <= entry.end <= len(text.lines):
            place = (entry.path, entry.start, entry.end)
            taken[place] = snapshot(*place, text, folder.baseline)
    return AtBaseline(taken, texts)


def _blobs(objects: Iterable[MemoryObject], wanted: set[str]) -> Mapping[str, bytes]:
    return {item.name: item.data for item in objects if item.kind == "blob" and item.name in wanted}


def _is_changed(folder: WorkspaceSnapshot, path: str) -> bool:
    blob = _blob(folder, path)
    return bool(blob) and blob != _blob_id(folder.files[path].data, blob)


def _blob(folder: WorkspaceSnapshot, path: str) -> str:
    return folder.baseline_blobs[path][0] if path in folder.baseline_blobs else ""


def _blob_id(data: bytes, like: str) -> str:
    """Return git's id of a content, by the hash the repository uses."""
    name = "sha256" if len(like) == hashlib.sha256().digest_size * 2 else "sha1"
    return hashlib.new(name, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _cited(data: bytes) -> set[str]:
    return {inside_root(entry.path) or "" for entry in parse(_text(data)).entries}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
