"""Choose who extracts and who consolidates. The page sends and keeps nothing; each button that would asks first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.errors import KnownError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.providers import BUILTIN, LOCAL
from ltmem_gui.pipeline.provider_choice import ProviderNote, ProviderOption
from ltmem_gui.ui.bridge.words import told
from ltmem_gui.ui.models.provider_state import ProviderForm, Use, origin, with_provider
from ltmem_gui.ui.theme import title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule, set_role

_KEYRING, _VARIABLE = "keyring", "variable"
LINE_LIMIT, KEY_LIMIT = 500, 4096
_KEY_TOO_LONG = f"A key has at most {KEY_LIMIT:,} characters. This one is longer: it was not taken whole."
Describe = Callable[[ProviderForm], ProviderNote]


class ProviderPage(QDialog):
    """Show the form.

    Signals, each with the `ProviderForm` as it stands: `list_asked`, `test_asked`, `look_asked` (where is the key),
    `store_asked`, `remove_asked`, `save_asked`. `describe` says where text would go; it sends nothing.
    """

    list_asked = Signal(object)
    test_asked = Signal(object)
    look_asked = Signal(object)
    store_asked = Signal(object)
    remove_asked = Signal(object)
    save_asked = Signal(object)

    def __init__(
        self,
        options: Sequence[ProviderOption],
        form: ProviderForm,
        describe: Describe,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("provider")
        self.setWindowTitle("Choose a model")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumWidth(600)
        self._describe = describe
        self._form, self._priced = form, form.priced
        self._filling = True
        self._build_fields(options)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._build_body(), 1)
        column.addWidget(self._build_foot())
        self._fill(form)
        self.name.setFocus()

    # what it holds, and what it is told

    @property
    def form(self) -> ProviderForm:
        """Return what stands on the page."""
        keyring = self.key_source.currentData() == _KEYRING
        return ProviderForm(
            name=str(self.name.currentData()),
            url=self.url.text().strip(),
            model=self.model.currentText().strip(),
            consolidation_model=self.consolidation_model.text().strip(),
            key_env="" if keyring else self.key_env.text().strip(),
            use=self.use.currentData(),
            price=self.price_figures.text().strip(),
            money_limit=self.money_limit.text().strip(),
            priced=self._priced,
        )

    def take_key(self) -> str:
        """Return the key that was typed, once: the field is empty afterwards."""
        key = self.key.text()
        self.key.clear()
        return key

    def show_models(self, models: Sequence[str]) -> None:
        """Offer what a server has; what was entered stays."""
        entered = self.model.currentText()
        self._filling = True
        self.model.clear()
        self.model.addItems([one_line(model, 200) for model in models])
        self.model.setEditText(entered or (one_line(models[0], 200) if len(models) == 1 else ""))
        self._filling = False
        self._update()

    def show_result(self, text: str, role: str = "") -> None:
        """Say how an act ended; `role` is good, bad, needs or muted."""
        set_role(self.outcome, "role", role)
        self.outcome.setText(text)
        self.outcome.setAccessibleName(text)

    def show_key_place(self, text: str) -> None:
        """Say where the key is."""
        self.key_place.setText(text)

    def set_busy(self, busy: bool) -> None:
        """Turn the buttons that ask a server off while one is asked."""
        self._busy = busy
        self._update()

    # building

    def _build_fields(self, options: Sequence[ProviderOption]) -> None:
        self._busy = False
        self.name = self._combo("provider.name", "Provider")
        for option in options:
            self.name.addItem(option.label, option.name)
        self.url = self._line("provider.url", "Address of the server", "for example http://127.0.0.1:8080/v1")
        self.model = self._combo("provider.model", "Model")
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.list = self._button("provider.list", "List…", "Asks the server for its models, after a yes")
        self.use = self._combo("provider.use", "Used for")
        for use in Use:
            self.use.addItem(use.value, use)
        self.consolidation_model = self._line(
            "provider.consolidation_model", "Model that consolidates", "the same model"
        )
        self.price_figures = self._line(
            "provider.price_figures", "Price per million tokens", "0.25 0.025 2 USD: sent, sent but cached, received"
        )
        self.money_limit = self._line(
            "provider.money_limit", "Limit of money for each phase", "1.50 in that currency, for each phase of a run"
        )
        self.key_source = self._combo("provider.key_source", "Where the key is")
        self.key_source.addItem("Keyring of this system", _KEYRING)
        self.key_source.addItem("Environment variable", _VARIABLE)
        self.key_env = self._line("provider.key_env", "Name of the environment variable", "for example OPENAI_API_KEY")
        self.key = self._line("provider.key", "Key, typed once", "type or paste the key, then store it", KEY_LIMIT)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.store = self._button("provider.store", "Store…", "Puts the key into the keyring, after a yes")
        self.remove = self._button("provider.remove", "Remove…", "Takes the key out of the keyring, after a yes")
        self.look = self._button("provider.look", "Is there a key?", "Looks into the keyring or the variable")
        self.key_place = plain_label(role="muted", wrap=True)
        self.key_place.setObjectName("provider.key_place")
        self.note = plain_label(wrap=True)
        self.note.setObjectName("provider.note")
        self.price = plain_label(role="muted", wrap=True)
        self.price.setObjectName("provider.price")
        self.test = self._button("provider.test", "Test connection…", "Sends at least three tiny requests, after a yes")
        self.outcome = plain_label(wrap=True, role="muted", selectable=True)
        self.outcome.setObjectName("provider.result")
        self.save = self._button("provider.save", "Save…", "Keeps the choice in the data folder, after a yes; no key")
        self.apply = self._button("provider.use_now", "Use in this window", "Nothing is sent before a run is confirmed")
        self.apply.setProperty("primary", "true")

    def _build_body(self) -> QVBoxLayout:
        body = QVBoxLayout()
        body.setContentsMargins(20, 16, 20, 16)
        body.setSpacing(8)
        body.addWidget(plain_label("Who extracts, and who consolidates?", font=title_font()))
        sentence = "Nothing is sent or kept from this page: each button with … shows what it does and asks first."
        body.addWidget(plain_label(sentence, role="muted", wrap=True))
        body.addSpacing(4)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, 132)
        grid.setColumnStretch(1, 1)
        self._rows = {
            "name": self._row(grid, "Provider", self.name),
            "url": self._row(grid, "Address", self.url),
            "model": self._row(grid, "Model", self.model, self.list),
            "use": self._row(grid, "Used for", self.use),
            "consolidation": self._row(grid, "To consolidate", self.consolidation_model),
            "price": self._row(grid, "Price", self.price_figures),
            "limit": self._row(grid, "Limit per phase", self.money_limit),
            "source": self._row(grid, "Key", self.key_source, self.look),
            "variable": self._row(grid, "", self.key_env),
            "key": self._row(grid, "", self.key, self.store, self.remove),
            "place": self._row(grid, "", self.key_place),
        }
        body.addLayout(grid)
        body.addSpacing(4)
        body.addWidget(rule())
        body.addWidget(self.note)
        body.addWidget(self.price)
        testing = QHBoxLayout()
        testing.setSpacing(12)
        testing.addWidget(self.test, 0, Qt.AlignmentFlag.AlignTop)
        testing.addWidget(self.outcome, 1)
        body.addLayout(testing)
        body.addStretch(1)
        return body

    def _build_foot(self) -> QFrame:
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        row.setSpacing(8)
        self.reason = plain_label(role="muted")
        self.reason.setObjectName("provider.reason")
        cancel = self._button("provider.cancel", "Cancel", "Leaves everything as it is")
        cancel.clicked.connect(self.reject)
        row.addWidget(self.save)
        row.addWidget(self.reason, 1)
        row.addWidget(cancel)
        row.addWidget(self.apply)
        self.name.currentIndexChanged.connect(self._on_provider_picked)
        for line in (
            self.url,
            self.consolidation_model,
            self.price_figures,
            self.money_limit,
            self.key_env,
            self.key,
        ):
            line.textChanged.connect(self._update)
        self.key_env.textEdited.connect(self._on_key_env_edited)
        self.url.editingFinished.connect(self._on_url_entered)
        for combo in (self.use, self.key_source):
            combo.currentIndexChanged.connect(self._update)
        self.model.editTextChanged.connect(self._update)
        self.apply.clicked.connect(self.accept)
        for button, signal in (
            (self.list, self.list_asked),
            (self.test, self.test_asked),
            (self.look, self.look_asked),
            (self.store, self.store_asked),
            (self.remove, self.remove_asked),
            (self.save, self.save_asked),
        ):
            button.clicked.connect(lambda _=False, signal=signal: self._ask(signal))
        return foot

    def _row(self, grid: QGridLayout, title: str, *widgets: QWidget) -> tuple[QWidget, ...]:
        at = grid.rowCount()
        label = plain_label(title)
        grid.addWidget(label, at, 0)
        beside = QHBoxLayout()
        beside.setSpacing(8)
        for place, widget in enumerate(widgets):
            beside.addWidget(widget, 1 if place == 0 else 0)
        grid.addLayout(beside, at, 1)
        return (label, *widgets)

    def _combo(self, name: str, title: str) -> QComboBox:
        combo = QComboBox()
        combo.setObjectName(name)
        combo.setAccessibleName(title)
        return combo

    def _line(self, name: str, title: str, hint: str, limit: int = LINE_LIMIT) -> QLineEdit:
        line = QLineEdit()
        line.setObjectName(name)
        line.setAccessibleName(title)
        line.setPlaceholderText(hint)
        # One more than is taken: the field cuts in silence, and a text that is too long is to be refused in words.
        line.setMaxLength(limit + 1)
        return line

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        return button

    # keeping it true

    def _fill(self, form: ProviderForm) -> None:
        self._filling = True
        self.name.setCurrentIndex(max(0, self.name.findData(form.name)))
        self.url.setText(form.url)
        self.model.setEditText(form.model)
        self.use.setCurrentIndex(list(Use).index(form.use))
        self.consolidation_model.setText(form.consolidation_model)
        self.price_figures.setText(form.price)
        self.money_limit.setText(form.money_limit)
        self.key_source.setCurrentIndex(self.key_source.findData(_VARIABLE if form.key_env else _KEYRING))
        self.key_env.setText(form.key_env)
        self._key_origin = origin(form.url)
        self._form = form
        self._filling = False
        self._update()

    def _on_provider_picked(self) -> None:
        if not self._filling:
            self.model.clear()
            self.key.clear()
            self.show_key_place("")
            self.show_result("")
            self._fill(with_provider(self._form, str(self.name.currentData())))
            layout = self.layout()
            assert layout is not None
            self.resize(self.width(), max(layout.totalHeightForWidth(self.width()), layout.totalSizeHint().height()))

    def _ask(self, signal: SignalInstance) -> None:
        self._on_url_entered()
        signal.emit(self.form)

    def _on_key_env_edited(self) -> None:
        self._key_origin = origin(self.url.text())

    def _on_url_entered(self) -> None:
        # A variable that was named before there was an address is meant for the first one.
        self._key_origin = self._key_origin or origin(self.url.text())

    def _keep_key_at_home(self) -> None:
        """Take the name of a variable back when the address comes to another server than it was named for."""
        named, meant = self.key_env.text().strip(), self._key_origin
        if not named or not meant or origin(self.url.text()) == meant:
            return
        self.key_env.clear()
        named, meant = one_line(named, 80), one_line(meant, 200)
        self.show_key_place(f"The key in {named} was meant for {meant}. Name it again if this server may have it.")

    def _update(self, _: object = None) -> None:
        if self._filling:
            return
        self._keep_key_at_home()
        if len(self.key.text()) > KEY_LIMIT:
            self.show_key_place(_KEY_TOO_LONG)
        elif self.key_place.text() == _KEY_TOO_LONG:
            self.show_key_place("")
        form = self._form = replace(self.form)
        variable = self.key_source.currentData() == _VARIABLE
        shown = {
            "url": form.is_server,
            "model": form.name != BUILTIN,
            "use": form.is_server,
            "consolidation": form.is_server and form.use is not Use.EXTRACT,
            "price": form.is_server,
            "limit": form.is_server and bool(form.price or form.money_limit),
            "source": form.is_server,
            "variable": form.is_server and variable,
            "key": form.is_server and not variable,
            "place": form.is_server and bool(self.key_place.text()),
        }
        for name, on in shown.items():
            for widget in self._rows[name]:
                widget.setVisible(on)
        self.list.setVisible(form.is_server)
        self.model.lineEdit().setPlaceholderText(  # type: ignore[union-attr]
            "whole path of a .gguf file" if form.name == LOCAL else "name of the model, as the server knows it"
        )
        label = self._rows["model"][0]
        assert isinstance(label, QLabel)
        label.setText("Model file" if form.name == LOCAL else "Model")
        self._show_note(form)
        self._allow(form)
        self._grow()

    def _grow(self) -> None:
        """Make room for what is said now; the page never shrinks under somebody's hands."""
        layout = self.layout()
        if layout is not None and self.isVisible():
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _show_note(self, form: ProviderForm) -> None:
        try:
            note = self._describe(form)
        except KnownError as raised:
            error = told(raised)
            set_role(self.note, "role", "muted")
            self.note.setText(one_line(f"{error.what}: {error.remedy}" if error.remedy else error.what, 400))
            self.price.setText("")
            return
        set_role(self.note, "role", "" if note.loopback else "needs")
        self.note.setText(note.note)
        self.price.setText(self._facts(form, note))

    def _facts(self, form: ProviderForm, note: ProviderNote) -> str:
        if form.name == BUILTIN:
            return "Deterministic rules: no AI model and no network. It costs nothing."
        if form.name == LOCAL:
            return "A child process of this program reads the file. It extracts only; the built-in rules consolidate."
        sent = {
            Use.BOTH: "The server gets each rollout, and the memory files that the agent reads; both redacted.",
            Use.EXTRACT: "The server gets each rollout, redacted.",
            Use.CONSOLIDATE: "The server gets the memory files that the agent reads, redacted.",
        }[form.use]
        idle = " A limit of money acts only on a model with a price." if form.money_limit and note.price is None else ""
        return f"{sent} Each run shows how much before it starts. Cost: {note.price_words}.{idle}"

    def _allow(self, form: ProviderForm) -> None:
        missing = form.missing
        self.reason.setText(missing)
        self.apply.setEnabled(not missing)
        self.save.setEnabled(not missing)
        self.test.setVisible(form.name != BUILTIN)
        self.test.setText("Check the file" if form.name == LOCAL else "Test connection…")
        self.test.setEnabled(not missing and not self._busy)
        self.list.setEnabled(bool(form.url) and not self._busy)
        given = bool(self.key.text().strip()) and len(self.key.text()) <= KEY_LIMIT
        self.store.setEnabled(given and bool(form.url) and not self._busy)
        self.remove.setEnabled(bool(form.url) and not self._busy)
        self.look.setEnabled(bool(form.url) and not self._busy)
