"""The page where a model is chosen, as values: what was entered, what it means, and the words of each act it offers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import ValidationError

from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.prices import plain
from ltmem_gui.domain.providers import BUILTIN, LABELS, LOCAL, PRESETS, ConnectionReport
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.provider_choice import ProviderNote
from ltmem_gui.ui.bridge.words import told
from ltmem_gui.ui.models.act_words import ActWords
from ltmem_gui.ui.models.formats import plural


class Use(StrEnum):
    """What a model is used for; the built-in rules do the rest."""

    BOTH = "Extraction and consolidation"
    EXTRACT = "Extraction only; the built-in rules consolidate"
    CONSOLIDATE = "Consolidation only; the built-in rules extract"


@dataclass(frozen=True, slots=True)
class ProviderForm:
    """What stands on the page. `url` is as shown: the preset's own address where nothing else was entered.

    `priced` is the provider and model whose price the page showed when it was opened: an empty price takes back only
    what was seen.
    """

    name: str = BUILTIN
    url: str = ""
    model: str = ""
    consolidation_model: str = ""
    key_env: str = ""
    use: Use = Use.BOTH
    price: str = ""
    money_limit: str = ""
    priced: tuple[str, str] = ("", "")

    @property
    def is_server(self) -> bool:
        """Tell whether there is an address, a key and a connection to test."""
        return self.name in PRESETS

    def choice(self) -> ModelChoice:
        """Return what it means. Raises `UsageError` saying what cannot be meant."""
        if self.name == BUILTIN:
            return ModelChoice()
        url = self.url.strip().rstrip("/")
        own = "" if url == PRESETS.get(self.name, "").rstrip("/") else url
        use = Use.EXTRACT if self.name == LOCAL else self.use
        try:
            return ModelChoice(
                extract=BUILTIN if use is Use.CONSOLIDATE else self.name,
                consolidate=BUILTIN if use is Use.EXTRACT else self.name,
                provider_url=own if self.is_server else "",
                extract_model=self.model.strip(),
                consolidation_model=self.consolidation_model.strip(),
                provider_key_env=self.key_env.strip() if self.is_server else "",
                price=self.price.strip() if self.is_server else "",
                money_limit=self.money_limit.strip() if self.is_server else "",
            )
        except ValidationError as error:
            first = error.errors()[0]
            name = _TITLES.get(str(first["loc"][0]), str(first["loc"][0]))
            raise UsageError(f"{name}: {one_line(first['msg'], 200)}") from error

    def settings(self, base: Settings) -> Settings:
        """Return the settings of a run with it. Raises `UsageError`."""
        choice = self.choice()
        if not self.is_server:
            return choice.settings(base)
        seen = bool(choice.price) or self.priced == (self.name, choice.extract_model)
        return choice.settings(choice.without_money(base, price=seen))

    @property
    def missing(self) -> str:
        """Return what has to be entered first, empty when nothing is missing."""
        if self.name == BUILTIN:
            return ""
        if self.is_server and not self.url.strip():
            return "Enter the address of the server first."
        if not self.model.strip():
            return "Choose a model file first." if self.name == LOCAL else "Choose a model first."
        try:
            self.choice()
        except UsageError as error:
            return one_line(told(error).what, 120)
        return ""


_TITLES = {
    "provider_url": "address",
    "extract_model": "model",
    "consolidation_model": "model that consolidates",
    "provider_key_env": "environment variable",
    "price": "price",
    "money_limit": "limit of money",
}


def form_of(choice: ModelChoice) -> ProviderForm:
    """Return the page that shows a choice."""
    if choice.extract == choice.consolidate:
        use = Use.BOTH
    else:
        use = Use.CONSOLIDATE if choice.extract == BUILTIN else Use.EXTRACT
    name = choice.server
    return ProviderForm(
        name,
        choice.provider_url or PRESETS.get(name, ""),
        choice.extract_model,
        choice.consolidation_model,
        choice.provider_key_env,
        use,
        choice.price,
        choice.money_limit,
        (name, choice.extract_model) if choice.price else ("", ""),
    )


def form_now(settings: Settings, chosen: ModelChoice) -> ProviderForm:
    """Return the page that shows what is used now. Raises `UsageError` where settings hold what no page can.

    A limit of money that is set is shown with any provider: what is not shown would be lost with the next choice.
    """
    form = form_of(ModelChoice.of(settings, chosen.extract, chosen.consolidate))
    limit = settings.max_cost_per_run
    return replace(form, money_limit=plain(limit)) if limit > 0 else form


def with_provider(form: ProviderForm, name: str) -> ProviderForm:
    """Return the page after another provider was picked: its own address, and nothing that was meant for another.

    Models, price and above all the variable with the key belong to the server they were named for.
    """
    if name == form.name:
        return form
    url = PRESETS.get(name, "")
    return replace(form, name=name, url=url, model="", consolidation_model="", key_env="", price="")


def origin(url: str) -> str:
    """Return what a key is meant for: scheme, host and port of an address; empty where it has none."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.lower()}" if parts.netloc else ""


def in_words(choice: ModelChoice) -> str:
    """Return who works, shortly: for a button."""
    if choice.server == BUILTIN:
        return "Built-in rules"
    label = LABELS.get(choice.server, "Model file")
    model = one_line(choice.extract_model, 40) if choice.server != LOCAL else ""
    part = {Use.EXTRACT: " extracts", Use.CONSOLIDATE: " consolidates"}.get(form_of(choice).use, "")
    return f"{label}{f' · {model}' if model else ''}{part}"


def listing(note: ProviderNote, url: str) -> ActWords:
    """Say what asking for the list of models sends."""
    return ActWords(
        f"Ask {note.label} for its models?",
        "Sends one request",
        f"GET {one_line(url, 400)}/models",
        ("Nothing of your sessions or memories is in it.", note.key_words),
        "Ask",
        _warnings(note),
    )


def testing(note: ProviderNote, url: str, model: str) -> ActWords:
    """Say what a connection test sends."""
    return ActWords(
        f"Test the connection to {note.label}?",
        "Sends at least three requests: for the list of models, and two made-up sentences to the model",
        f"{one_line(url, 400)}  model {one_line(model, 200)}",
        (
            "The sentences are part of this program: nothing of your sessions or memories is sent.",
            note.key_words,
            f"A server that refuses a form is asked again. Cost of each tiny request: {note.price_words}.",
        ),
        "Test",
        _warnings(note),
    )


def storing(note: ProviderNote) -> ActWords:
    """Say where a key is put."""
    return ActWords(
        "Put the key into the keyring of this system?",
        "Stores one key, which is only ever sent to",
        note.host,
        ("It is not written to any file, log or plan of this program, and never shown again.",),
        "Store",
        _warnings(note),
    )


def removing(note: ProviderNote) -> ActWords:
    """Say which key goes."""
    return ActWords(
        "Take the key out of the keyring of this system?",
        "Removes the key of",
        note.host,
        ("Runs with this server need another key afterwards.",),
        "Remove",
    )


def report_words(report: ConnectionReport) -> str:
    """Return what a connection test found."""
    sign = "✓ It can be used" if report.ok else "▲ It can be reached, but not be relied on"
    parts = [
        f"{sign}: answered in {report.schema_ms} ms and {report.no_op_ms} ms, {report.rung.words}",
        f"{plural(len(report.models), 'model')} listed" if report.models else "it lists no models",
    ]
    parts += [one_line(report.detail, 300)] if report.detail else []
    return "; ".join(parts)


def _warnings(note: ProviderNote) -> tuple[str, ...]:
    if note.loopback:
        return ()
    near = (f"{one_line(note.host, 200)} is not this computer.",)
    return (*near, "What is sent travels unencrypted (http), the key too.") if note.unencrypted else near
