"""Find the branches of a transcript that the person left behind.

The live branch runs from the last line upwards. A branch beside it is left behind when it begins with another
prompt of the person; the branches of parallel tool calls do not, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """One line's place in the tree; `typed`: it holds words of the person; `leaf`: it can end a branch."""

    uuid: str
    parent: str
    typed: bool
    leaf: bool
    side: bool = False


def abandoned(nodes: Sequence[Node]) -> frozenset[str]:
    """Return the uuids of all lines on branches that were left behind."""
    known = {node.uuid: node for node in nodes if node.uuid and not node.side}
    live = _live_branch(nodes, known)
    if not live:
        return frozenset()
    heads = _branch_heads(nodes, known, live)
    typed = {heads[node.uuid] for node in nodes if node.typed and node.uuid in heads}
    return frozenset(uuid for uuid, head in heads.items() if head in typed)


def _live_branch(nodes: Sequence[Node], known: dict[str, Node]) -> set[str]:
    last = next((n for n in reversed(nodes) if n.leaf and n.uuid and not n.side), None)
    live: set[str] = set()
    while last is not None and last.uuid not in live:
        live.add(last.uuid)
        last = known.get(last.parent)
    return live


def _branch_heads(nodes: Sequence[Node], known: dict[str, Node], live: set[str]) -> dict[str, str]:
    """Map each line off the live branch to the line at which its branch leaves the live one.

    A tree apart is in the result only when both trees begin with a prompt: then the first prompt was edited. The part
    before a compaction is a tree apart too, and stays.
    """
    live_root_typed = any(n.typed and not n.parent for n in nodes if n.uuid in live)
    heads: dict[str, str] = {}  # "" for lines that stay
    for node in nodes:
        if node.side or not node.uuid or node.uuid in live:
            continue
        trail: dict[str, None] = {}
        current: Node | None = node
        head = ""
        while current is not None and current.uuid not in trail:
            if current.uuid in heads:
                head = heads[current.uuid]
                break
            trail[current.uuid] = None
            if current.parent in live or (live_root_typed and current.typed and not current.parent):
                head = current.uuid
                break
            current = known.get(current.parent)
        heads.update(dict.fromkeys(trail, head))
    return {uuid: head for uuid, head in heads.items() if head}
