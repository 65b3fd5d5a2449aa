"""What the window may say of an error or put on the clipboard: nothing that the rules of redaction find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

from PySide6.QtCore import QCoreApplication

from ltmem_gui.domain.errors import KnownError
from ltmem_gui.domain.redaction.kinds import placeholder
from ltmem_gui.domain.secrets import Redaction

Error = TypeVar("Error", bound=KnownError)

LONGEST_INLINE = 100_000
"""Redacting more than this at once would hold the window for longer than 50 ms."""
_RULES: Final = "ltmem.rules"
AROUND = 400
"""What is read beside a part that is copied."""


def told(error: Error) -> Error:
    """Return an error without secrets: a server, a file or git may have put one into its words."""
    from ltmem_gui.pipeline.failure_words import checked_by

    return checked_by(cleaned, error)


def use_rules(app: QCoreApplication, redact: Callable[[str], Redaction]) -> None:
    """Let this application clean with a redactor that knows the person's own patterns and allow-list."""
    app.setProperty(_RULES, redact)


def cleaned(text: str) -> Redaction:
    """Redact a short text. Raises what the rules raise: then nothing is shown or copied."""
    app = QCoreApplication.instance()
    rules: object = app.property(_RULES) if app is not None else None
    if callable(rules):
        return cast("Redaction", rules(text))
    # Imported at the first use: the rules take a while to load, and most sittings need them late or never.
    from ltmem_gui.domain.redaction import redact_text

    return redact_text(text)


def cleaned_part(text: str, start: int, end: int) -> str:
    """Return a part of a text without secrets; what stands around tells what the part holds.

    A part of more than 100,000 characters is cut there, and says so.
    """
    stop = min(end, start + LONGEST_INLINE)
    left = max(0, start - AROUND)
    parts: list[str] = []
    last = start
    for finding in cleaned(text[left : stop + AROUND]).findings:
        first, after = max(left + finding.start, start), min(left + finding.end, stop)
        if first < after:
            parts += (text[last:first], placeholder(finding.kind))
            last = after
    parts.append(text[last:stop])
    if stop < end:
        parts.append(f"\n… {end - stop:,} more characters were not copied: copy less at once\n")
    return "".join(parts)
