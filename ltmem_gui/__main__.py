"""Hand over to the command line, which opens the window by default."""

from __future__ import annotations

import logging
import sys
from functools import partial

from ltmem_gui import bootstrap
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces
from ltmem_gui.cli.main import main as run
from ltmem_gui.workspace.veto import Veto


def main() -> int:
    """Guard this process, run the program and return its exit code."""
    veto = Veto()
    veto.install()
    handler = logging.StreamHandler()
    handler.addFilter(_redact_record)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="ltmem-gui: %(message)s")
    compose = partial(bootstrap.compose, veto=veto)
    return run(sys.argv[1:], Surfaces(compose=compose, launch_window=partial(_launch_window, veto=veto)))


def _redact_record(record: logging.LogRecord) -> bool:
    # Imported on demand: most runs log nothing, and the rules take a while to load.
    from ltmem_gui.redactor.logging import RedactingFilter

    return RedactingFilter().filter(record)


def _launch_window(options: WindowOptions, veto: Veto) -> int:
    # Imported on demand: the command line never loads Qt.
    from ltmem_gui import bootstrap_gui

    return bootstrap_gui.launch(options, veto)


if __name__ == "__main__":
    sys.exit(main())
