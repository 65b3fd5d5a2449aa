"""Carry long texts and what was found in them between processes in pieces.

A text of 5 MB that is pickled, sent or decoded in one call holds the interpreter, and with it the window, for longer
than 50 ms on a busy machine. Pieces do not, and the rest is done by small steps on a thread that only waits. Findings
travel and stay as numbers: a hundred thousand new objects set off a collection of garbage that holds every thread.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from ltmem_gui.domain.secrets import PackedFindings, Redaction

PIECE = 131_072
LONG = 262_144
"""From this many code points on a text is carried in pieces."""
_ENCODING = ("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Parcel:
    """A redaction as it travels: `spans` holds start and end in turn, `labels` one index into `names` per finding."""

    pieces: tuple[bytes, ...]
    spans: bytes
    labels: bytes
    names: tuple[tuple[str, str], ...]


def pack_text(text: str) -> tuple[bytes, ...]:
    """Encode a text piece by piece."""
    return tuple(text[at : at + PIECE].encode(*_ENCODING) for at in range(0, len(text), PIECE))


def unpack_text(pieces: Iterable[bytes]) -> str:
    """Return the text of the pieces."""
    return "".join([piece.decode(*_ENCODING) for piece in pieces])


def pack(redaction: Redaction) -> Parcel:
    """Pack a redaction."""
    names: dict[tuple[str, str], int] = {}
    spans, labels = array("Q"), array("H")
    for found in redaction.findings:
        spans.extend((found.start, found.end))
        labels.append(names.setdefault((found.kind, found.engine), len(names)))
    return Parcel(pack_text(redaction.text), spans.tobytes(), labels.tobytes(), tuple(names))


def unpack(parcel: Parcel) -> Redaction:
    """Return the redaction of a parcel; its findings stay packed until somebody looks at one."""
    found = PackedFindings(array("Q", parcel.spans), array("H", parcel.labels), parcel.names)
    return Redaction(unpack_text(parcel.pieces), found)
