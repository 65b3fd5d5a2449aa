"""The layer of our own: every rule over a text, and over its decoded view where escapes hide something."""

from __future__ import annotations

from collections.abc import Iterator

from ltmem_gui.domain.redaction.addresses import address_findings
from ltmem_gui.domain.redaction.context import assignment_findings, lowered
from ltmem_gui.domain.redaction.edges import DecodedView, needs_decoding
from ltmem_gui.domain.redaction.files import file_findings
from ltmem_gui.domain.redaction.key_material import key_findings
from ltmem_gui.domain.redaction.prose import prose_findings
from ltmem_gui.domain.redaction.vendors import vendor_findings
from ltmem_gui.domain.secrets import SecretFinding


def layer_findings(text: str) -> list[SecretFinding]:
    """Return what our own rules find, overlapping and in no promised order; spans in code points."""
    found = list(_rules(text))
    if needs_decoding(text):
        view = DecodedView(text)
        for finding in _rules(view.text):
            start, end = view.original(finding.start, finding.end)
            found.append(SecretFinding(start, end, finding.kind, finding.engine))
    return found


def _rules(text: str) -> Iterator[SecretFinding]:
    low = lowered(text)
    yield from vendor_findings(text)
    yield from key_findings(text, low)
    yield from address_findings(text, low)
    yield from assignment_findings(text, low)
    yield from file_findings(text, low)
    yield from prose_findings(text, low)
