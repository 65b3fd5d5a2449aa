"""A first launch as a program: show every panel, then quit. Run by the tests under strace."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from ltmem_gui import bootstrap_gui
from ltmem_gui.bootstrap import compose
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.domain.settings import Settings
from ltmem_gui.ui import application
from ltmem_gui.ui.application import Running
from ltmem_gui.ui.main_window import PANELS

TASKS: set[asyncio.Task[None]] = set()


async def walk(running: Running) -> None:
    """Look at everything there is without naming a folder."""
    for name in (*PANELS, "folders"):
        running.window.show_panel(name)
        running.window.grab()
        await asyncio.sleep(0.01)
    for id_ in ("keys.open", "about.open", "palette.open"):
        running.window.registry.trigger(id_)
        await asyncio.sleep(0.02)
    print("looked", flush=True)
    running.window.close()


def started(running: Running) -> None:
    """Begin to walk."""
    TASKS.add(asyncio.get_running_loop().create_task(walk(running)))


def main() -> int:
    """Run the window as the program does."""
    adapters = compose(None, eager_workers=True)
    options = WindowOptions(None, None, (), Settings())
    app = application.make_application(["ltmem-gui"])
    return application.run(app, replace(bootstrap_gui.application_options(adapters, options), started=started))


if __name__ == "__main__":
    sys.exit(main())
