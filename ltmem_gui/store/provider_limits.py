"""What providers said of their limits and were found to take, so that the next run knows before it asks."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from ltmem_gui.domain.limits import ProviderLimits, ServerForms
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.store.database import storable
from ltmem_gui.store.part import StorePart


class _Body(BaseModel):
    """What is kept of one provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limits: ProviderLimits | None = None
    forms: ServerForms | None = None


class ProviderLimitRows(StorePart):
    """One record per provider, host and model: the newest."""

    def keep_limits(self, mark: ProviderMark, limits: ProviderLimits) -> None:
        """Keep what the last answer said, in place of what was kept before."""
        with self._db.transaction():
            self._keep(mark, self._body(mark).model_copy(update={"limits": limits}), limits.at)

    def limits_of(self, mark: ProviderMark) -> ProviderLimits | None:
        """Return what is kept of a provider's limits; a record that cannot be read is none."""
        return self._body(mark).limits

    def keep_forms(self, mark: ProviderMark, forms: ServerForms) -> None:
        """Keep what a server was found to take, in place of what was kept before."""
        with self._db.transaction():
            self._keep(mark, self._body(mark).model_copy(update={"forms": forms}), forms.at)

    def forms_of(self, mark: ProviderMark) -> ServerForms | None:
        """Return what a server was found to take, None where nothing is kept."""
        return self._body(mark).forms

    def _keep(self, mark: ProviderMark, body: _Body, at: int) -> None:
        self._db.change(
            "INSERT OR REPLACE INTO provider_limits (provider, host, model, at, body) VALUES (?, ?, ?, ?, ?)",
            (*_key(mark), at, body.model_dump_json()),
        )

    def _body(self, mark: ProviderMark) -> _Body:
        found = self._db.sql(
            "SELECT body FROM provider_limits WHERE provider = ? AND host = ? AND model = ?", _key(mark)
        )
        try:
            return _Body.model_validate_json(found[0][0]) if found else _Body()
        except ValidationError:
            return _Body()


def _key(mark: ProviderMark) -> tuple[str, str, str]:
    return storable(mark.name), storable(mark.host), storable(mark.model)
