"""The one choke point: everything that leaves, is stored, logged or shown passes one `SecretRedactor`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from ltmem_gui.domain.errors import RedactionFailed
from ltmem_gui.domain.redaction import (
    DEFAULT_POLICY,
    Engine,
    RedactionPolicy,
    redact_json,
    redact_text,
    secret_environment,
)
from ltmem_gui.domain.secrets import Redaction, SecretFinding


class SecretRedactor:
    """Redact with kingfisher and our layer (`full`), or with our layer alone (`layer`).

    Values of this process's environment whose names announce a secret are removed too, and `known` ones everywhere.
    The engine is built at the first use or by `warm_up`, by one thread; others wait. When it cannot be built the layer
    runs alone and `status` says so: nothing is skipped in silence. Safe to share between threads; picklable (a worker
    process builds its own engine).
    """

    def __init__(
        self,
        engine: Literal["full", "layer"] = "full",
        cache_dir: Path | None = None,
        known: Sequence[str] = (),
        policy: RedactionPolicy = DEFAULT_POLICY,
    ) -> None:
        """Keep the choice; nothing is imported, compiled or written yet."""
        self._wanted = engine
        self._cache_dir = cache_dir
        self._known = tuple(known)
        self._everywhere = tuple(dict.fromkeys((*self._known, *secret_environment(os.environ))))
        self._policy = policy
        self._engine: Engine | None = None
        self._status = "not started" if engine == "full" else "layer only, as asked"
        self._ready = engine == "layer"
        self._lock = threading.Lock()

    @property
    def status(self) -> str:
        """Say in words which engines run: for the run panel and for `--json` reports."""
        return self._status

    @property
    def degraded(self) -> bool:
        """Tell whether the full engine was asked for and could not be built."""
        return self._wanted == "full" and self._ready and self._engine is None

    def warm_up(self) -> str:
        """Build the engine now (seconds of CPU on the first start of all) and return the status."""
        self._built()
        return self._status

    def redact(self, text: str, *, known: Sequence[str] = (), before: str = "") -> Redaction:
        """Replace secrets by placeholders; `before` is the turn of a chat that `text` answers.

        Raises `RedactionFailed` rather than let a text through unchecked.
        """
        everywhere = (*self._everywhere, *known)
        try:
            return redact_text(text, engine=self._built(), known=everywhere, policy=self._policy, before=before)
        except Exception as error:
            raise _failed(error) from error

    def redact_json(self, value: Any, *, known: Sequence[str] = ()) -> tuple[Any, tuple[SecretFinding, ...]]:
        """Redact the decoded leaves of a JSON value. Raises `RedactionFailed`."""
        try:
            return redact_json(value, engine=self._built(), known=(*self._everywhere, *known), policy=self._policy)
        except RedactionFailed:
            raise
        except Exception as error:
            raise _failed(error) from error

    def _built(self) -> Engine | None:
        if self._ready:
            return self._engine
        with self._lock:
            if not self._ready:
                self._engine, self._status = _load(self._cache_dir)
                self._ready = True
        return self._engine

    def __getstate__(self) -> dict[str, Any]:
        return {
            "engine": self._wanted,
            "cache_dir": self._cache_dir,
            "known": self._known,
            "policy": self._policy,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)


def _load(cache_dir: Path | None) -> tuple[Engine | None, str]:
    """Build kingfisher; where its wheel does not load (old glibc, musl) or its rules do not compile, say so."""
    try:
        from ltmem_gui.redactor.engine import KingfisherEngine

        engine = KingfisherEngine(cache_dir)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        return None, f"layer only: the kingfisher engine cannot be used here ({type(error).__name__}: {error})"
    return engine, f"kingfisher and layer (rule cache: {engine.cache_status})"


def _failed(error: Exception) -> RedactionFailed:
    """Say what failed without the text: the message of an error may quote it."""
    return RedactionFailed(
        f"the redactor failed ({type(error).__name__}); the text is neither sent nor written",
        "report this with the kind of text; nothing of it was stored",
    )
