"""Which provider works where, as a value and as the text of its file; a key is never part of either."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ltmem_gui.domain.errors import InputError, UsageError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.prices import Amount, newest_only, plain, price_from, price_of
from ltmem_gui.domain.providers import BUILTIN, LOCAL, PRESETS
from ltmem_gui.domain.settings import Settings

MODEL_FILE = "model.toml"
AMOUNT: Final[TypeAdapter[Decimal]] = TypeAdapter(Amount)
_LIMIT = 500
_KNOWN = (BUILTIN, *PRESETS, LOCAL)
_HEAD = "# The model chosen in the window; the command line takes --provider and --set. A key is never kept here.\n"


def _one_line(text: str) -> str:
    if text != one_line(text, _LIMIT):
        raise ValueError("it must be one line of visible characters")
    return text


def _known(name: str) -> str:
    if name not in _KNOWN:
        raise ValueError(f"known providers: {', '.join(_KNOWN)}")
    return name


def _price(text: str) -> str:
    if text:
        price_from(BUILTIN, "any", text)
    return text


def _amount(text: str) -> str:
    if text:
        AMOUNT.validate_python(text)
    return text


Line = Annotated[str, Field(max_length=_LIMIT), AfterValidator(_one_line)]
Provider = Annotated[str, AfterValidator(_known)]


class ModelChoice(BaseModel):
    """Who extracts and who consolidates, and where: the settings of the same names.

    An empty `consolidation_model` means the model that extracts; an empty `provider_url` the preset's own address.
    `provider_key_env` is the NAME of an environment variable; without one the key is in the OS keyring. `price` is what
    `extract_model` costs, as `INPUT [CACHED] OUTPUT CURRENCY` per million tokens; `money_limit` is what a run may cost
    in that currency. Where these two are empty, the settings keep what they have.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    extract: Provider = BUILTIN
    consolidate: Provider = BUILTIN
    provider_url: Line = ""
    extract_model: Line = ""
    consolidation_model: Line = ""
    provider_key_env: Annotated[Line, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    price: Annotated[Line, AfterValidator(_price)] = ""
    money_limit: Annotated[Line, AfterValidator(_amount)] = ""

    @property
    def server(self) -> str:
        """Return the provider that is not the built-in one, `builtin` where there is none."""
        return self.consolidate if self.extract == BUILTIN else self.extract

    def settings(self, base: Settings) -> Settings:
        """Return settings that name this choice."""
        changes = self.model_dump(exclude={"extract", "consolidate", "price", "money_limit"})
        if self.price and self.extract_model and self.server != BUILTIN:
            price = price_from(self.server, self.extract_model, self.price)
            changes["prices"] = newest_only((*base.prices, price))
        if self.money_limit:
            changes["max_cost_per_run"] = Decimal(self.money_limit)
        return base.model_copy(update=changes)

    def without_money(self, base: Settings, *, price: bool = True) -> Settings:
        """Return settings without a limit of money, before a person's own is set; with `price` without this model's."""
        named = (self.server, self.extract_model)
        others = tuple(each for each in base.prices if not price or (each.provider, each.model) != named)
        return base.model_copy(update={"prices": others, "max_cost_per_run": Decimal(0)})

    @classmethod
    def of(cls, settings: Settings, extract: str = BUILTIN, consolidate: str = BUILTIN) -> ModelChoice:
        """Return the choice that settings and the two names mean. Raises `UsageError` for texts out of bounds."""
        server = consolidate if extract == BUILTIN else extract
        price = price_of(settings.prices, server, settings.extract_model)
        limited = settings.max_cost_per_run > 0 and server != BUILTIN
        try:
            return cls(
                extract=extract,
                consolidate=consolidate,
                provider_url=settings.provider_url,
                extract_model=settings.extract_model,
                consolidation_model=settings.consolidation_model,
                provider_key_env=settings.provider_key_env,
                price="" if price is None else price.figures,
                money_limit=plain(settings.max_cost_per_run) if limited else "",
            )
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            raise UsageError(
                f"the setting {name} cannot be shown as a choice: {one_line(first['msg'], 200)}",
                f"change {name} in the settings",
            ) from error


def to_toml(choice: ModelChoice) -> bytes:
    """Write a choice as TOML that a person can read."""
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in choice.model_dump().items())
    return (_HEAD + "".join(lines)).encode()


def from_toml(data: bytes, where: str = "") -> ModelChoice:
    """Read a choice. Raises `InputError` for anything but a whole one of this program."""
    remedy = "the built-in rules are used and the file stays as it is; choose again, or move it away"
    try:
        return ModelChoice.model_validate(tomllib.loads(data.decode()))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(f"the choice of a model: {one_line(place, 80)}: {first['msg']}", remedy, where) from error
    except (ValueError, RecursionError) as error:
        raise InputError("the choice of a model cannot be read: it is no TOML", remedy, where) from error
