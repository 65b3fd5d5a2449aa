"""The window as a program while the consolidation agent works: it starts the agent and waits to be closed.

Arguments: data folder, memory folder, address of the model server, and `real` for the real limits of time.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from ltmem_gui import bootstrap_gui
from ltmem_gui.bootstrap import compose
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.settings import Settings
from ltmem_gui.ui import application
from ltmem_gui.ui.application import Running
from tests.gui.closing_program import be_patient, confirm

TASKS: set[asyncio.Task[None]] = set()


def main(argv: list[str]) -> int:
    """Run the window as the program does."""
    home, root, url, real = Path(argv[0]), Path(argv[1]), argv[2], argv[3:] == ["real"]

    def started(running: Running) -> None:
        def tell(events: tuple[object, ...]) -> None:
            if any(isinstance(event, AgentStep) for event in events):
                print("running", flush=True)

        if not real:
            be_patient(running)
        bench = running.controller.workbench
        bench.events_arrived.connect(tell)
        bench.choose_model(ModelChoice(consolidate="custom", provider_url=url, extract_model="small"))
        TASKS.add(asyncio.get_running_loop().create_task(confirm(running)))
        running.window.registry.trigger("run.consolidate")

    options = WindowOptions(home, root, (), Settings(max_unused_days=3_650))
    app = application.make_application(["ltmem-gui"])
    made = bootstrap_gui.application_options(compose(home), options)
    return application.run(app, replace(made, started=started))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
