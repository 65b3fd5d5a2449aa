"""Hand over to the command line, which opens the window by default."""

from __future__ import annotations

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
    compose = partial(bootstrap.compose, veto=veto)
    return run(sys.argv[1:], Surfaces(compose=compose, launch_window=_launch_window))


def _launch_window(options: WindowOptions) -> int:
    # Imported on demand: the command line never loads Qt.
    from ltmem_gui import bootstrap_gui

    return bootstrap_gui.launch(options)


if __name__ == "__main__":
    sys.exit(main())
