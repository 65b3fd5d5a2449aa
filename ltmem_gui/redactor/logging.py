"""Log records pass the choke point too, by the rules alone: a record must never wait for an engine to start."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

from ltmem_gui.domain.redaction import redact_text
from ltmem_gui.domain.secrets import Redaction

FAILED = "[a log record was withheld: the redactor failed on it]"


class RedactingFilter(logging.Filter):
    """Replace secrets in message, arguments, exception and stack of every record; put it on each handler.

    A record that cannot be checked keeps its place and its level and loses its text (fail closed).
    """

    def __init__(self, redact: Callable[[str], Redaction] = redact_text) -> None:
        """Take the redactor of this run, so that the person's own patterns hold for the log too."""
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record in place; it is never dropped."""
        try:
            record.msg = self._redact(record.getMessage()).text
            if record.exc_info and not record.exc_text:
                record.exc_text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if record.exc_text:
                record.exc_text = self._redact(record.exc_text).text
            if record.stack_info:
                record.stack_info = self._redact(record.stack_info).text
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the text must not pass
            record.msg = f"{FAILED} ({type(error).__name__})"
            record.exc_text = record.stack_info = None
        record.args = None
        # The text form is final: a formatter must not render the exception again from its objects.
        record.exc_info = None
        return True
