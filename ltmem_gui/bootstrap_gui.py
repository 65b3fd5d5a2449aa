"""Open the window: check the binding, compose the adapters, hand over. Nothing is read or written here."""

from __future__ import annotations

import getpass
import os
import sys
import threading
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ltmem_gui.domain.errors import InputError

if TYPE_CHECKING:
    from ltmem_gui.bootstrap import Composition
    from ltmem_gui.cli.gui import WindowOptions
    from ltmem_gui.pipeline.requests import Request
    from ltmem_gui.ui.application import ApplicationOptions
    from ltmem_gui.ui.models.workbench import Folders
    from ltmem_gui.workspace.veto import Veto

EXIT_LIMIT_SECONDS = 4.2


def launch(options: WindowOptions, veto: Veto | None = None) -> int:
    """Open the window and return the exit code when it is closed.

    Raises `InputError` for a binding that is known to crash, or a display that cannot be opened.
    """
    check_binding(metadata.version("PySide6-Essentials"), sys.version_info[:2])
    from ltmem_gui.bootstrap import compose
    from ltmem_gui.ui import application

    adapters = compose(options.home, eager_workers=True, veto=veto)
    adapters.use_settings(options.settings)
    return application.run(application.make_application(sys.argv[:1]), application_options(adapters, options))


def application_options(adapters: Composition, options: WindowOptions) -> ApplicationOptions:
    """Put together what the window gets; nothing is read or built for it yet."""
    from ltmem_gui.pipeline.operations import Operations
    from ltmem_gui.ui.application import ApplicationOptions
    from ltmem_gui.ui.bridge.shutdown import leave_after
    from ltmem_gui.ui.models.workbench import Folders
    from ltmem_gui.workspace.window_file import WindowFile

    return ApplicationOptions(
        operations=Operations(adapters),
        demo=lambda top: lay_demo_folder(adapters, top),
        approver=person,
        folders=Folders(options.sources, options.memory_root, options.home or default_home()),
        demo_hint=str(fresh_demo_name()),
        open_demo=options.demo,
        redact=lambda text: adapters.layer_redactor().redact(text).text,
        rules=lambda text: adapters.layer_redactor().redact(text),
        layout=WindowFile(),
        settings=options.settings,
        close=lambda: close_adapters(adapters),
        prepare=lambda: load_adapters(adapters),
        folders_named=lambda folders: use_home(adapters, folders),
        # A thread that hangs in a system call must not hold the program; work was given back by then.
        closing=lambda: leave_after(EXIT_LIMIT_SECONDS, 0),
    )


def check_binding(version: str, python: tuple[int, ...]) -> None:
    """Refuse PySide6 6.12 on Python < 3.12: it loses references to None and aborts in mid-work."""
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if parts >= (6, 12) and tuple(python[:2]) < (3, 12):
        raise InputError(
            f"PySide6 {version} crashes on Python {python[0]}.{python[1]}",
            "install PySide6-Essentials below 6.12, or use Python 3.12 or newer",
        )


def person() -> str:
    """Return who confirms, as the system knows them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def default_home() -> Path:
    """Return where the data folder would be; nothing is created or opened."""
    import platformdirs

    return Path(platformdirs.user_data_path("ltmem", appauthor=False))


def fresh_demo_name() -> Path:
    """Return a name for the demo's folder; it is created only when a person presses the button."""
    # Not tempfile.gettempdir(): it writes a file to find out.
    folder = next((os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), os.sep + "tmp")
    return Path(folder) / time.strftime("ltmem-demo-%Y%m%d-%H%M%S")


async def lay_demo_folder(adapters: Composition, top: Path) -> Request:
    """Create the demo's folder. Raises `InputError` when it exists or cannot be made."""
    from ltmem_gui.pipeline.demo import demo_folder, lay_demo

    try:
        return await adapters.offload.thread(lay_demo, demo_folder(top), adapters)
    except FileExistsError as error:
        what = "the folder exists; the demo only works in one of its own"
        raise InputError(what, "name another", str(top)) from error
    except OSError as error:
        raise InputError(f"cannot create the folder: {error.strerror}", "name another", str(top)) from error


def use_home(adapters: Composition, folders: Folders) -> None:
    """Tell the adapters which data folder the work is for."""
    if folders.home is not None:
        adapters.use_home(folders.home)


def load_adapters(adapters: Composition) -> None:
    """Import and build what a first scan needs, and start the workers; called on a thread after a person's press."""
    import importlib

    for name in (
        "llm.builtin.extraction",
        "llm.builtin.consolidation",
        "workspace.writer",
        "store.opening",
        "domain.redaction",
    ):
        importlib.import_module(f"ltmem_gui.{name}")
    adapters.offload.start()
    for _ in (adapters.preparer, adapters.rollouts, adapters.workspace, adapters.stores, adapters.owner):
        continue


async def close_adapters(adapters: Composition) -> None:
    """Shut the executors down on a thread of its own: it waits for what runs, and the window must not."""
    import asyncio

    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def close() -> None:
        adapters.close()
        loop.call_soon_threadsafe(lambda: done.done() or done.set_result(None))

    threading.Thread(target=close, name="close", daemon=True).start()
    await done
