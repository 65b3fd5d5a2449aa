"""From the page of providers to what it asks for: a server is asked, a key or the choice is kept, each after a yes."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.errors import KnownError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.providers import LOCAL
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.model_file import ModelFile
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.provider_choice import ProviderNote
from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.bridge.words import told
from ltmem_gui.ui.dialogs.act_sheet import ask_act
from ltmem_gui.ui.dialogs.provider import ProviderPage
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.formats import plural
from ltmem_gui.ui.models.outside_text import describe_act
from ltmem_gui.ui.models.provider_state import (
    ProviderForm,
    form_now,
    listing,
    removing,
    report_words,
    storing,
    testing,
)
from ltmem_gui.ui.models.workbench import Workbench

PAGE_TASK = "provider.page"
ACT_TASK = "provider.act"

Act = Coroutine[Any, Any, None]


@dataclass(frozen=True, slots=True)
class _Recalled:
    """A saved choice that is used, and what stood there before."""

    home: Path
    choice: ModelChoice
    before: Settings


class ProviderDesk(QObject):
    """Open the page and carry out what a person asks for on it.

    Signals: `told` (kind, text, remedy) for the message bar.
    """

    told = Signal(str, str, str)

    def __init__(self, window: MainWindow, bench: Workbench, supervisor: Supervisor) -> None:
        super().__init__(window)
        self._window = window
        self._bench = bench
        self._supervisor = supervisor
        self._operations: Operations = bench.operations
        self._home: Path | None = None
        self._chosen = False
        self._recalled: _Recalled | None = None
        bench.folders_changed.connect(self._on_folders_changed)

    def open(self) -> None:
        """Open the page; it is only one."""
        if not self._supervisor.is_running(PAGE_TASK):
            self._supervisor.spawn(PAGE_TASK, self._choose())

    async def recall(self) -> None:
        """Take the choice that was saved in the named data folder, unless one was made already, here or at the start.

        Each folder is read once, on the first press after it was named. A file that cannot be used is told.
        """
        home, bench = self._bench.folders.home, self._bench
        if home is None or home == self._home or self._is_made():
            return
        self._home = home
        try:
            saved = await ModelFile(self._operations).read(home)
        except KnownError as error:
            self.told.emit("warning", told(error).what, error.remedy)
            return
        # While the file was read, another folder may have been named, or a model chosen.
        if saved is not None and home == bench.folders.home and not self._is_made():
            before = bench.settings
            # What a run may cost was set for this session: a saved limit does not lift it.
            used = saved.model_copy(update={"money_limit": ""}) if before.max_cost_per_run > 0 else saved
            self._recalled = _Recalled(home, used, before)
            bench.choose_model(used)

    def _is_made(self) -> bool:
        """Tell whether a person chose already; settings that no page can show are a choice, too."""
        bench = self._bench
        try:
            return self._chosen or bench.choice != ModelChoice() or ModelChoice.of(bench.settings) != ModelChoice()
        except KnownError:
            return True

    def _on_folders_changed(self, _: object = None) -> None:
        """Give a recalled choice back when another data folder is named: it was saved for one alone."""
        recalled, bench = self._recalled, self._bench
        if recalled is None or recalled.home == bench.folders.home:
            return
        self._recalled = self._home = None
        if not self._chosen and bench.choice == recalled.choice:
            bench.settings = recalled.before
            bench.choose_model(ModelChoice())

    async def _choose(self) -> None:
        bench = self._bench
        await self.recall()
        try:
            form = form_now(bench.settings, bench.choice)
        except KnownError as error:
            self.told.emit("error", told(error).what, error.remedy)
            return
        page = ProviderPage(self._operations.providers.options(), form, self._note, self._window)
        self._connect(page)
        try:
            if await opened(page):
                self._chosen = True
                choice = page.form.choice()
                bench.settings = page.form.settings(bench.settings)
                bench.choose_model(choice)
        except KnownError as error:
            self.told.emit("error", told(error).what, error.remedy)
        finally:
            self._supervisor.cancel(ACT_TASK)
            page.deleteLater()

    def _connect(self, page: ProviderPage) -> None:
        page.list_asked.connect(lambda form: self._start(page, self._list(page, form)))
        page.test_asked.connect(lambda form: self._start(page, self._test(page, form)))
        page.look_asked.connect(lambda form: self._start(page, self._look(page, form)))
        page.store_asked.connect(lambda form: self._start(page, self._store(page, form)))
        page.remove_asked.connect(lambda form: self._start(page, self._remove(page, form)))
        page.save_asked.connect(lambda form: self._start(page, self._save(page, form)))

    def _start(self, page: ProviderPage, act: Act) -> None:
        self._supervisor.spawn(ACT_TASK, self._guarded(page, act), policy="replace")

    async def _guarded(self, page: ProviderPage, act: Act) -> None:
        page.set_busy(True)
        try:
            await act
        except KnownError as error:
            said = told(error)
            text = f"{said.what} — {said.remedy}" if said.remedy else said.what
            page.show_result(f"✕ {one_line(text, 400)}", "bad")
        finally:
            page.set_busy(False)

    # what can be asked for

    async def _list(self, page: ProviderPage, form: ProviderForm) -> None:
        settings, note = self._settings(form), self._note(form)
        if not await ask_act("act", listing(note, form.url), page):
            return
        page.show_result("Asking…", "muted")
        models = await self._operations.providers.models(form.name, settings)
        page.show_models(models)
        page.show_result(f"✓ {plural(len(models), 'model')} listed" if models else "▲ It lists no models", "good")

    async def _test(self, page: ProviderPage, form: ProviderForm) -> None:
        settings, note = self._settings(form), self._note(form)
        if form.name == LOCAL:
            problem = await self._operations.providers.local_problem(settings)
            page.show_result(
                f"✕ {one_line(problem, 400)}" if problem else "✓ It can be tried", "bad" if problem else "good"
            )
            return
        if not await ask_act("act", testing(note, form.url, form.model), page):
            return
        page.show_result("Testing…", "muted")
        report = await self._operations.providers.test_connection(form.name, settings)
        page.show_result(report_words(report), "good" if report.ok else "needs")
        if report.models:
            page.show_models(report.models)

    async def _look(self, page: ProviderPage, form: ProviderForm) -> None:
        await self._show_key(page, form, self._settings(form))

    async def _show_key(self, page: ProviderPage, form: ProviderForm, settings: Settings) -> None:
        place = await self._operations.providers.key_place(form.name, settings)
        page.show_key_place(f"The key is {place}." if place.startswith("in ") else place or "There is no key yet.")

    async def _store(self, page: ProviderPage, form: ProviderForm) -> None:
        settings, note = self._settings(form), self._note(form)
        if not await ask_act("act", storing(note), page):
            return
        await self._operations.providers.store_key(form.name, settings, page.take_key())
        await self._show_key(page, form, settings)

    async def _remove(self, page: ProviderPage, form: ProviderForm) -> None:
        settings, note = self._settings(form), self._note(form)
        if not await ask_act("act", removing(note), page):
            return
        await self._operations.providers.delete_key(form.name, settings)
        page.show_key_place("There is no key in the keyring any more.")

    async def _save(self, page: ProviderPage, form: ProviderForm) -> None:
        choice, home = form.choice(), self._bench.request().home
        file = ModelFile(self._operations)
        with held(self._bench.folders_changed):
            act = await file.plan(home, choice)
            if not await ask_act("outside", describe_act(act), page):
                return
        await file.write(self._operations.outside.approve(act), choice)
        page.show_result("✓ Saved: it is chosen again when this data folder is named", "good")

    # what it means

    def _settings(self, form: ProviderForm) -> Settings:
        return form.settings(self._bench.settings)

    def _note(self, form: ProviderForm) -> ProviderNote:
        return self._operations.providers.describe(form.name, self._settings(form))
