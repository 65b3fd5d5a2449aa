"""What providers said of their limits, so that the next run knows before it asks."""

from __future__ import annotations

from pydantic import ValidationError

from ltmem_gui.domain.limits import ProviderLimits
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.store.database import storable
from ltmem_gui.store.part import StorePart


class ProviderLimitRows(StorePart):
    """One record per provider, host and model: the newest."""

    def keep_limits(self, mark: ProviderMark, limits: ProviderLimits) -> None:
        """Keep what the last answer said, in place of what was kept before."""
        with self._db.transaction():
            self._db.change(
                "INSERT OR REPLACE INTO provider_limits (provider, host, model, at, body) VALUES (?, ?, ?, ?, ?)",
                (*_key(mark), limits.at, limits.model_dump_json()),
            )

    def limits_of(self, mark: ProviderMark) -> ProviderLimits | None:
        """Return what is kept of a provider; a record that cannot be read is none."""
        found = self._db.sql(
            "SELECT body FROM provider_limits WHERE provider = ? AND host = ? AND model = ?", _key(mark)
        )
        try:
            return ProviderLimits.model_validate_json(found[0][0]) if found else None
        except ValidationError:
            return None


def _key(mark: ProviderMark) -> tuple[str, str, str]:
    return storable(mark.name), storable(mark.host), storable(mark.model)
