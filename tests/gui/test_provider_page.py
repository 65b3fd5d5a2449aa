"""The page of providers: nothing is sent or kept without a yes of its own, and a key is never shown or written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDialog, QLabel, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from ltmem_gui.bootstrap import Composition
from ltmem_gui.domain.model_choice import MODEL_FILE, ModelChoice
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.bridge.excepthook import BugReporter
from ltmem_gui.ui.controller import Controller, WindowParts
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.provider import KEY_LIMIT, ProviderPage
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.provider_state import (
    ProviderForm,
    Use,
    form_now,
    form_of,
    in_words,
    listing,
    origin,
    storing,
    with_provider,
)
from ltmem_gui.ui.models.provider_state import (
    testing as said_of_testing,
)
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Theme
from tests.gui.agent_room import InlineComposition
from tests.gui.conftest import LoopHarness
from tests.helpers.guard import Guard
from tests.helpers.model_server import ModelServer, model_server
from tests.helpers.waiting import until

KEY = "sk-test-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


class MemoryKeyring(KeyringBackend):
    """A keyring that keeps keys in memory."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.keys.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.keys[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.keys[service, username]


class Room:
    """The window with the page of providers on top."""

    def __init__(self, window: MainWindow, controller: Controller, harness: LoopHarness) -> None:
        self.window, self.controller, self.harness = window, controller, harness

    @property
    def page(self) -> ProviderPage:
        found = self.window.findChild(ProviderPage)
        assert found is not None
        return found

    def show(self, work: Callable[[], Any]) -> None:
        """Open the page, do something on it, and close it unless it closed itself."""

        async def inside() -> None:
            self.window.registry.trigger("provider.open")
            await until(lambda: self.window.findChild(ProviderPage) is not None)
            await work()
            for page in self.window.findChildren(ProviderPage):
                if page.isVisible():
                    page.reject()
            await self.harness.supervisor.idle()

        self.harness.run(inside())

    def pick(self, name: str) -> None:
        combo = self.page.findChild(QComboBox, "provider.name")
        assert combo is not None
        combo.setCurrentIndex(combo.findData(name))

    def enter(self, name: str, text: str) -> None:
        line = self.page.findChild(QLineEdit, name)
        assert line is not None, name
        line.clear()
        QTest.keyClicks(line, text)

    def press(self, name: str) -> None:
        button = self.page.findChild(QAbstractButton, name)
        assert button is not None, name
        assert button.isEnabled(), name
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    async def answer(self, sheet: str, button: str) -> str:
        """Press a button of the armed sheet of an act; return what it said."""

        def ready() -> bool:
            found = self.page.findChild(QDialog, sheet)
            return found is not None and found.yes_button.isEnabled()  # type: ignore[attr-defined]

        await until(ready)
        found = self.page.findChild(QDialog, sheet)
        assert found is not None
        exact = [field.toPlainText() for field in found.findChildren(QPlainTextEdit)]
        words = "\n".join([*(label.text() for label in found.findChildren(QLabel)), *exact])
        pressed = found.findChild(QAbstractButton, button)
        assert pressed is not None
        QTest.mouseClick(pressed, Qt.MouseButton.LeftButton)
        await asyncio.sleep(0)
        return words

    async def settled(self) -> None:
        await until(lambda: not self.harness.supervisor.is_running("provider.act"))


@pytest.fixture
def keys() -> Iterator[MemoryKeyring]:
    before, made = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


@pytest.fixture
def adapters() -> Composition:
    return InlineComposition(None)


@pytest.fixture
def room(
    qtbot: QtBot,
    harness: LoopHarness,
    adapters: Composition,
    keys: MemoryKeyring,
    tmp_path: Path,
    guard: Guard,
    monkeypatch: pytest.MonkeyPatch,
) -> Room:
    monkeypatch.setattr(armed, "ARM_MS", 30)
    theme = Theme.load("light")
    theme.apply()
    operations = Operations(adapters)
    window = MainWindow(operations, harness.supervisor, theme)
    qtbot.addWidget(window)
    controller = Controller(
        window,
        WindowParts(
            operations=operations,
            supervisor=harness.supervisor,
            theme=theme,
            reporter=BugReporter(),
            settings=Settings(),
            approver=lambda: "dev",
            demo=lambda top: asyncio.sleep(0),  # type: ignore[arg-type,return-value]
        ),
    )
    window.show()
    window.activateWindow()
    guard.protect(tmp_path / "home")
    made = Room(window, controller, harness)
    harness.call(lambda: controller.name_folders(Folders(home=tmp_path / "home")))
    return made


def test_opening_and_leaving_the_page_changes_and_sends_nothing(room: Room, keys: MemoryKeyring) -> None:
    async def work() -> None:
        assert room.page.form == ProviderForm()
        assert room.page.note.text() == "Nothing leaves this computer."
        room.pick("openai")
        assert room.page.url.text() == "https://api.openai.com/v1"
        assert "api.openai.com, which is not this computer" in room.page.note.text()
        assert room.page.note.property("role") == "needs"
        assert "price unknown" in room.page.price.text()
        assert room.page.reason.text() == "Choose a model first."
        assert not room.page.apply.isEnabled()
        room.press("provider.cancel")

    room.show(work)
    assert room.controller.workbench.choice == ModelChoice()
    assert keys.keys == {}


def test_a_choice_is_used_by_the_next_runs(room: Room, server: ModelServer) -> None:
    async def work() -> None:
        room.pick("ollama")
        assert "Nothing leaves this computer" in room.page.note.text()
        room.enter("provider.url", server.url)
        room.page.model.setEditText("small")
        room.enter("provider.consolidation_model", "large")
        room.press("provider.use_now")

    room.show(work)
    bench = room.controller.workbench
    assert (bench.choice.extract, bench.choice.consolidate) == ("ollama", "ollama")
    assert bench.settings.provider_url == server.url
    assert (bench.settings.extract_model, bench.settings.consolidation_model) == ("small", "large")
    assert bench.request().provider == "ollama"
    assert room.window.run_bar.model.text() == "Model: Ollama · small"
    assert server.requests == []


def test_models_are_listed_after_a_yes(room: Room, server: ModelServer) -> None:
    async def work() -> None:
        room.pick("custom")
        assert "no address is set" in room.page.note.text()
        assert not room.page.list.isEnabled()
        room.enter("provider.url", server.url)
        room.press("provider.list")
        await room.answer("act", "act.cancel")
        await room.settled()
        assert server.requests == []
        room.press("provider.list")
        said = await room.answer("act", "act.yes")
        assert f"GET {server.url}/models" in said
        await room.settled()
        assert [room.page.model.itemText(i) for i in range(room.page.model.count())] == ["large", "small"]
        assert "2 models listed" in room.page.outcome.text()

    room.show(work)
    assert [(request.method, request.path) for request in server.requests] == [("GET", "/v1/models")]


def test_the_connection_is_tested_with_latency_and_nothing_of_the_persons(room: Room, server: ModelServer) -> None:
    async def work() -> None:
        room.pick("vllm")
        room.enter("provider.url", server.url)
        room.page.model.setEditText("small")
        room.press("provider.test")
        said = await room.answer("act", "act.yes")
        assert "nothing of your sessions" in said
        assert "price unknown" in said
        await room.settled()
        assert "✓ It can be used" in room.page.outcome.text()
        assert " ms" in room.page.outcome.text()

    room.show(work)
    assert len(server.posts) == 2


def test_a_server_that_is_gone_is_said_in_words(room: Room) -> None:
    async def work() -> None:
        room.pick("llamacpp")
        room.enter("provider.url", "http://127.0.0.1:9/v1")
        room.press("provider.list")
        await room.answer("act", "act.yes")
        await room.settled()
        assert "✕ the connection failed" in room.page.outcome.text()
        assert "check that the server runs" in room.page.outcome.text()
        assert room.page.list.isEnabled()

    room.show(work)


def test_closing_the_page_ends_what_it_asked(room: Room, server: ModelServer) -> None:
    server.hold()

    async def work() -> None:
        room.pick("custom")
        room.enter("provider.url", server.url)
        room.page.model.setEditText("small")
        room.press("provider.test")
        await room.answer("act", "act.yes")
        await until(lambda: server.in_flight > 0)
        room.press("provider.cancel")
        await room.settled()
        assert server.in_flight == 1

    room.show(work)


def test_a_key_goes_to_the_keyring_once_and_is_never_shown(room: Room, keys: MemoryKeyring, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    room.harness.call(lambda: room.controller.name_folders(Folders(home=kept)))

    async def work() -> None:
        room.pick("openai")
        assert room.page.key.echoMode() is QLineEdit.EchoMode.Password
        room.enter("provider.key", KEY)
        room.press("provider.store")
        assert KEY not in await room.answer("act", "act.cancel")
        await room.settled()
        assert keys.keys == {}
        room.press("provider.store")
        said = await room.answer("act", "act.yes")
        assert "api.openai.com" in said
        assert KEY not in said
        await room.settled()
        assert room.page.key.text() == ""
        assert not room.page.store.isEnabled()
        room.press("provider.look")
        await room.settled()
        assert room.page.key_place.text() == "The key is in the system's keyring."
        room.page.model.setEditText("gpt")
        room.press("provider.save")
        await room.answer("outside", "outside.yes")
        await room.settled()
        assert "✓ Saved" in room.page.outcome.text()
        room.press("provider.remove")
        await room.answer("act", "act.yes")
        await room.settled()
        assert keys.keys == {}

    room.show(work)
    saved = (kept / MODEL_FILE).read_text()
    assert "openai" in saved
    assert KEY not in saved


def test_a_variable_is_named_never_its_value(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    async def work() -> None:
        room.pick("openai")
        room.page.key_source.setCurrentIndex(1)
        assert not room.page.key.isVisible()
        room.enter("provider.key_env", "MY_KEY")
        room.page.model.setEditText("gpt")
        room.press("provider.look")
        await room.settled()
        assert room.page.key_place.text() == "The key is in the environment variable MY_KEY."
        room.enter("provider.key_env", KEY)
        assert "environment variable" in room.page.note.text()
        room.enter("provider.key_env", "MY_KEY")
        room.press("provider.use_now")

    room.show(work)
    assert room.controller.workbench.settings.provider_key_env == "MY_KEY"


def test_a_model_file_extracts_only_and_explains_itself(room: Room) -> None:
    async def work() -> None:
        room.pick("local")
        assert room.page.reason.text() == "Choose a model file first."
        assert not room.page.url.isVisible()
        room.page.model.setEditText("/nowhere/model.gguf")
        assert "the built-in rules consolidate" in room.page.price.text()
        room.press("provider.test")
        await room.settled()
        assert room.page.outcome.text().startswith("✕ ")
        room.press("provider.use_now")

    room.show(work)
    choice = room.controller.workbench.choice
    assert (choice.extract, choice.consolidate, choice.extract_model) == ("local", "builtin", "/nowhere/model.gguf")


def test_a_file_that_is_far_too_large_is_not_taken(room: Room, tmp_path: Path) -> None:
    home = tmp_path / "large"
    home.mkdir()
    (home / MODEL_FILE).write_bytes(b"#" * 70_000)
    room.harness.call(lambda: room.controller.name_folders(Folders(home=home)))
    room.harness.call(room.controller.workbench.read_receipts)
    assert "larger than 64 KiB" in room.window.messages.text


def test_without_a_data_folder_nothing_can_be_saved(room: Room, tmp_path: Path) -> None:
    async def work() -> None:
        room.press("provider.save")
        await room.settled()
        assert "there is no data folder yet" in room.page.outcome.text()

    room.show(work)
    assert not (tmp_path / "home").exists()


def test_a_saved_choice_comes_back_on_a_press_and_a_broken_one_is_told(room: Room, tmp_path: Path) -> None:
    bench = room.controller.workbench
    for name, text in (
        ("good", 'consolidate = "vllm"\nextract_model = "m"\n'),
        ("bad", 'consolidate = "nobody"\n'),
    ):
        home = tmp_path / name
        home.mkdir()
        (home / MODEL_FILE).write_text(text)
    room.harness.call(lambda: room.controller.name_folders(Folders(home=tmp_path / "good")))
    assert bench.choice == ModelChoice()
    room.harness.call(bench.read_receipts)
    assert bench.choice.consolidate == "vllm"
    assert room.window.run_bar.model.text() == "Model: vLLM · m consolidates"
    bench.choose_model(ModelChoice())
    room.harness.call(lambda: room.controller.name_folders(Folders(home=tmp_path / "bad")))
    room.harness.call(bench.read_receipts)
    assert bench.choice == ModelChoice()
    assert "consolidate" in room.window.messages.text


def test_what_was_chosen_in_the_window_stays(room: Room, tmp_path: Path) -> None:
    home = tmp_path / "home2"
    home.mkdir()
    (home / MODEL_FILE).write_text('consolidate = "vllm"\nextract_model = "m"\n')

    async def work() -> None:
        room.press("provider.use_now")

    room.show(work)
    room.harness.call(lambda: room.controller.name_folders(Folders(home=home)))
    room.harness.call(room.controller.workbench.read_receipts)
    assert room.controller.workbench.choice == ModelChoice()


def test_forms_and_choices_say_the_same() -> None:
    for choice in (
        ModelChoice(),
        ModelChoice(extract="ollama", consolidate="ollama", extract_model="m"),
        ModelChoice(extract="custom", provider_url="http://127.0.0.1:1/v1", extract_model="m"),
        ModelChoice(consolidate="openai", extract_model="m", consolidation_model="n", provider_key_env="K"),
        ModelChoice(extract="local", extract_model="/m.gguf"),
    ):
        assert form_of(choice).choice() == choice
    form = with_provider(ProviderForm("ollama", "http://h/v1", "m"), "openai")
    assert (form.url, form.model) == ("https://api.openai.com/v1", "")
    assert with_provider(form, "openai") is form
    assert form_of(ModelChoice(extract="vllm")).use is Use.EXTRACT
    assert in_words(ModelChoice(extract="local", extract_model="/m")) == "Model file extracts"
    assert ProviderForm("custom").missing == "Enter the address of the server first."
    assert ProviderForm("local").missing == "Choose a model file first."


def test_a_price_and_a_limit_are_entered_used_kept_and_taken_back(room: Room, tmp_path: Path) -> None:
    home = tmp_path / "kept"
    home.mkdir()
    bench = room.controller.workbench
    room.harness.call(lambda: room.controller.name_folders(Folders(home=home)))

    async def enter() -> None:
        room.pick("openai")
        room.page.model.setEditText("m")
        assert not room.page.money_limit.isVisible()
        room.enter("provider.price_figures", "0.25 2")
        assert "price is written as INPUT" in room.page.reason.text()
        assert not room.page.apply.isEnabled()
        room.enter("provider.price_figures", "0.25 0.025 2 USD")
        assert "0.25 USD in, 0.025 USD cached, 2 USD out per million tokens" in room.page.price.text()
        room.enter("provider.money_limit", "-1")
        assert "limit of money" in room.page.reason.text()
        room.enter("provider.money_limit", "1.50")
        assert room.page.reason.text() == ""
        room.press("provider.save")
        await room.answer("outside", "outside.yes")
        await room.settled()
        room.press("provider.use_now")

    room.show(enter)
    assert [str(price) for price in bench.settings.prices] == ["openai m 0.25 0.025 2 USD"]
    assert str(bench.settings.max_cost_per_run) == "1.50"
    assert 'price = "0.25 0.025 2 USD"\nmoney_limit = "1.50"\n' in (home / MODEL_FILE).read_text()

    async def take_back() -> None:
        assert (room.page.form.price, room.page.form.money_limit) == ("0.25 0.025 2 USD", "1.5")
        room.enter("provider.price_figures", "")
        assert "price unknown" in room.page.price.text()
        assert "acts only on a model with a price" in room.page.price.text()
        assert room.page.money_limit.isVisible()
        room.enter("provider.money_limit", "")
        room.press("provider.use_now")

    room.show(take_back)
    assert (bench.settings.prices, bench.settings.max_cost_per_run) == ((), 0)


# --- a key stays with the server it is for ---


def test_a_key_named_for_one_server_goes_to_no_other_provider() -> None:
    form = ProviderForm("openai", "https://api.openai.com/v1", "m", "large", "OPENAI_API_KEY", price="1 2 USD")
    other = with_provider(form, "custom")
    assert (other.key_env, other.consolidation_model, other.model, other.price) == ("", "", "", "")
    assert origin("https://Api.example:443/v1") == "https://api.example:443"
    assert (origin("http://[broken"), origin("no address"), origin("")) == ("", "", "")


def test_a_changed_address_takes_the_name_of_the_variable_back_in_words(room: Room) -> None:
    async def work() -> None:
        room.pick("openai")
        room.page.key_source.setCurrentIndex(1)
        room.enter("provider.key_env", "OPENAI_API_KEY")
        room.page.url.setText("https://api.openai.com/v2")
        assert room.page.form.key_env == "OPENAI_API_KEY"
        room.page.url.setText("http://api.openai.com/v1")
        assert room.page.form.key_env == ""
        assert "OPENAI_API_KEY was meant for https://api.openai.com." in room.page.key_place.text()
        assert room.page.key_place.isVisible()
        await asyncio.sleep(0)
        assert room.page.key_place.height() >= room.page.key_place.heightForWidth(room.page.key_place.width())
        room.enter("provider.key_env", "OTHER_KEY")
        assert room.page.form.key_env == "OTHER_KEY"
        room.page.url.setText("https://llm.other.example/v1")
        assert room.page.form.key_env == ""
        room.pick("custom")
        room.page.key_source.setCurrentIndex(1)
        room.enter("provider.key_env", "MINE")
        room.enter("provider.url", "http://127.0.0.1:9/v1")
        assert room.page.form.key_env == "MINE"
        room.press("provider.look")
        await room.settled()
        room.page.url.setText("http://127.0.0.1:8/v1")
        assert room.page.form.key_env == ""

    room.show(work)


def test_the_sheets_name_the_key_the_host_and_what_is_unencrypted(room: Room) -> None:
    providers = room.controller.workbench.operations.providers
    url = "http://llm.example/v1"
    named = Settings(provider_url=url, provider_key_env="MY_KEY", extract_model="m")
    for words in (
        listing(providers.describe("custom", named), url),
        said_of_testing(providers.describe("custom", named), url, "m"),
    ):
        assert "The key in the environment variable MY_KEY is sent to llm.example." in words.facts
        assert any("unencrypted" in warning for warning in words.warnings)
    kept = providers.describe("custom", Settings(provider_url="https://llm.example/v1"))
    assert "The key that the keyring holds for llm.example is sent along, if there is one." in listing(kept, url).facts
    assert storing(kept).warnings == ("llm.example is not this computer.",)
    assert "at least three requests" in said_of_testing(kept, url, "m").heading
    near = providers.describe("custom", Settings(provider_url="http://127.0.0.1:9/v1"))
    assert storing(near).warnings == ()
    far = providers.describe("custom", Settings(provider_url="http://evil.localhost/v1"))
    assert not far.loopback


def test_a_long_key_is_kept_whole_and_one_that_is_too_long_refused(room: Room, keys: MemoryKeyring) -> None:
    async def work() -> None:
        room.pick("openai")
        room.page.key.setText("k" * 1_500)
        room.press("provider.store")
        await room.answer("act", "act.yes")
        await room.settled()
        room.page.key.insert("k" * (KEY_LIMIT + 1_000))
        assert not room.page.store.isEnabled()
        assert "at most 4,096 characters" in room.page.key_place.text()
        room.page.key.setText("k" * KEY_LIMIT)
        assert room.page.store.isEnabled()
        assert room.page.key_place.text() == ""
        room.page.model.setEditText("m")
        room.page.url.insert("h" * 600)
        assert "address" in room.page.reason.text()
        assert not room.page.apply.isEnabled()
        room.pick("vllm")
        assert room.page.key.text() == ""

    room.show(work)
    assert [len(key) for key in keys.keys.values()] == [1_500]


def test_where_a_key_is_after_storing_is_looked_up(room: Room, keys: MemoryKeyring) -> None:
    keys.set_password = lambda *_: None  # type: ignore[method-assign]

    async def work() -> None:
        room.pick("openai")
        room.enter("provider.key", KEY)
        room.press("provider.store")
        await room.answer("act", "act.yes")
        await room.settled()
        assert room.page.key_place.text() == "There is no key yet."

    room.show(work)


# --- what was set stays, what was saved is for one folder ---


def test_a_limit_of_money_that_was_set_is_shown_and_stays(room: Room) -> None:
    bench = room.controller.workbench
    given = Settings().with_overrides(["max_cost_per_run=1", "prices=openai big 2 8 USD"])
    assert form_now(Settings(), ModelChoice()) == ProviderForm()
    bench.settings = given

    async def work() -> None:
        room.pick("openai")
        assert room.page.money_limit.isVisible()
        assert room.page.money_limit.text() == "1"
        assert "each phase" in room.page.money_limit.accessibleName()
        room.page.model.setEditText("small")
        room.enter("provider.consolidation_model", "big")
        room.press("provider.use_now")

    room.show(work)
    assert bench.settings.max_cost_per_run == 1
    assert bench.settings.prices == given.prices


def test_a_saved_limit_does_not_lift_the_one_of_this_session(room: Room, tmp_path: Path) -> None:
    bench, home = room.controller.workbench, tmp_path / "kept"
    home.mkdir()
    (home / MODEL_FILE).write_text('extract = "openai"\nextract_model = "m"\nmoney_limit = "9"\n')
    bench.settings = Settings().with_overrides(["max_cost_per_run=1"])
    room.harness.call(lambda: room.controller.name_folders(Folders(home=home)))
    room.harness.call(bench.read_receipts)
    assert (bench.choice.extract, bench.settings.max_cost_per_run) == ("openai", 1)


def test_the_saved_model_of_one_folder_is_not_used_for_another(room: Room, tmp_path: Path) -> None:
    bench = room.controller.workbench
    for name in ("a", "b", "none"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        text = f'extract = "openai"\nextract_model = "m-{name}"\nprice = "1 2 USD"\nmoney_limit = "3"\n'
        (tmp_path / name / MODEL_FILE).write_text(text)
    for name, model in (("a", "m-a"), ("b", "m-b"), ("none", ""), ("a", "m-a")):
        room.harness.call(lambda name=name: room.controller.name_folders(Folders(home=tmp_path / name)))
        assert bench.choice == ModelChoice()
        assert bench.settings == Settings()
        room.harness.call(bench.read_receipts)
        assert bench.settings.extract_model == bench.choice.extract_model == model
    room.harness.call(lambda: room.controller.name_folders(Folders(home=tmp_path / "a", memory_root=tmp_path / "m")))
    assert bench.choice.extract_model == "m-a"


def test_settings_that_no_page_can_show_are_told_and_stay(room: Room, tmp_path: Path) -> None:
    bench, home = room.controller.workbench, tmp_path / "kept"
    home.mkdir()
    (home / MODEL_FILE).write_text('extract = "openai"\nextract_model = "m"\n')
    bench.settings = Settings(provider_url="http://h/" + "a" * 600)
    room.harness.call(lambda: room.controller.name_folders(Folders(home=home)))
    room.harness.call(bench.read_receipts)
    assert bench.choice == ModelChoice()

    async def inside() -> None:
        room.window.registry.trigger("provider.open")
        await room.harness.supervisor.idle()

    room.harness.run(inside())
    assert "provider_url cannot be shown" in room.window.messages.text


def test_a_price_that_the_page_never_showed_is_not_taken_back(room: Room) -> None:
    bench = room.controller.workbench
    bench.settings = Settings().with_overrides(["max_cost_per_run=1", "prices=openai m 1 2 USD"])

    async def choose() -> None:
        room.pick("openai")
        room.page.model.setEditText("m")
        assert "1 USD in, 2 USD out" in room.page.price.text()
        assert "acts only on" not in room.page.price.text()
        room.press("provider.use_now")

    room.show(choose)
    assert [str(price) for price in bench.settings.prices] == ["openai m 1 2 USD"]
    assert bench.settings.max_cost_per_run == 1

    async def change() -> None:
        assert room.page.price_figures.text() == "1 2 USD"
        room.page.model.setEditText("n")
        room.enter("provider.price_figures", "3 4 USD")
        room.press("provider.use_now")

    room.show(change)
    assert [str(price) for price in bench.settings.prices] == ["openai m 1 2 USD", "openai n 3 4 USD"]
