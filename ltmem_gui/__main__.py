"""Hand over to the command line, which opens the window by default."""

from __future__ import annotations

import logging
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

from ltmem_gui import bootstrap
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces
from ltmem_gui.cli.main import main as run
from ltmem_gui.workspace.veto import Veto

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from ltmem_gui.domain.secrets import Redaction


class LogRules:
    """Redact what is logged: by the rules alone until a call is composed, then with the person's own patterns too."""

    def __init__(self) -> None:
        """Know no composition yet."""
        self._adapters: bootstrap.Composition | None = None

    def compose(self, home: Path | None, *, veto: Veto) -> bootstrap.Composition:
        """Compose the adapters of a call, and log by its settings from then on."""
        self._adapters = bootstrap.compose(home, veto=veto)
        return self._adapters

    def __call__(self, record: logging.LogRecord) -> bool:
        """Rewrite a record in place."""
        # Imported on demand: most runs log nothing, and the rules take a while to load.
        from ltmem_gui.redactor.logging import RedactingFilter

        if self._adapters is None:
            return RedactingFilter().filter(record)
        return RedactingFilter(self._redact).filter(record)

    def _redact(self, text: str) -> Redaction:
        assert self._adapters is not None
        return self._adapters.layer_redactor().redact(text)


def main() -> int:
    """Guard this process, run the program and return its exit code."""
    veto = Veto()
    veto.install()
    rules = LogRules()
    handler = logging.StreamHandler()
    handler.addFilter(rules)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="ltmem-gui: %(message)s")
    _log_what_escapes()
    compose = partial(rules.compose, veto=veto)
    return run(sys.argv[1:], Surfaces(compose=compose, launch_window=partial(_launch_window, veto=veto)))


def _log_what_escapes() -> None:
    """Let errors that nobody catches go through the log: Python's own hooks would print them as they are."""
    log = logging.getLogger("ltmem_gui")

    def raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.critical("an error in the program", exc_info=(kind, error, trace))

    def of_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and args.exc_type is not SystemExit:
            log.error("an error in a thread", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    def unraisable(args: sys.UnraisableHookArgs) -> None:
        if args.exc_value is not None:
            log.error("an error at an end", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))

    sys.excepthook = raised
    threading.excepthook = of_thread
    sys.unraisablehook = unraisable


def _launch_window(options: WindowOptions, veto: Veto) -> int:
    # Imported on demand: the command line never loads Qt.
    from ltmem_gui import bootstrap_gui

    return bootstrap_gui.launch(options, veto)


if __name__ == "__main__":
    sys.exit(main())
