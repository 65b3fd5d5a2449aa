"""The layer of our own: every rule over a text, and over its decoded view where escapes hide something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ltmem_gui.domain.redaction.addresses import address_findings
from ltmem_gui.domain.redaction.commands import command_findings
from ltmem_gui.domain.redaction.context import assignment_findings
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.edges import DecodedView, neighbourhoods
from ltmem_gui.domain.redaction.files import file_findings
from ltmem_gui.domain.redaction.key_material import key_findings
from ltmem_gui.domain.redaction.logins import login_findings
from ltmem_gui.domain.redaction.prose import prose_findings
from ltmem_gui.domain.redaction.spoken import spoken_findings
from ltmem_gui.domain.redaction.vendors import vendor_findings
from ltmem_gui.domain.secrets import SecretFinding

_AROUND: Final = 512
_EDGE: Final = 64


def layer_findings(text: str) -> list[SecretFinding]:
    """Return what our own rules find, overlapping and in no promised order; spans in code points."""
    found = list(_rules(text))
    for left, right in neighbourhoods(text, _AROUND):
        view = DecodedView(text[left:right])
        for finding in _rules(view.text):
            start, end = (left + at for at in view.original(finding.start, finding.end))
            cut = (left > 0 and start < left + _EDGE) or (right < len(text) and end >= right - 1)
            if not cut:
                found.append(SecretFinding(start, end, finding.kind, finding.engine))
    return found


def _rules(text: str) -> Iterator[SecretFinding]:
    document = Document(text)
    yield from vendor_findings(document)
    yield from key_findings(document)
    yield from address_findings(document)
    yield from assignment_findings(document)
    yield from command_findings(document)
    yield from file_findings(document)
    yield from login_findings(document)
    yield from prose_findings(document)
    yield from spoken_findings(document)
