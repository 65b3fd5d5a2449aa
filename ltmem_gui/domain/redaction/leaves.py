"""Redact decoded JSON: string leaves, JSON inside strings, keys as context; what comes out is valid JSON again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from ltmem_gui.domain.errors import RedactionFailed
from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.context import acceptable
from ltmem_gui.domain.redaction.core import DEFAULT_POLICY, Engine, redact_text
from ltmem_gui.domain.redaction.kinds import placeholder
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.policy import RedactionPolicy
from ltmem_gui.domain.secrets import Redaction, SecretFinding

DEEPEST: Final = 200
_NAME_KEYS: Final = ("name", "key", "Name", "Key", "header", "variable", "env")
_VALUE_KEYS: Final = ("value", "Value", "val", "content", "default")
_HEADERS: Final = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie", "bearer"))

Leaf = Callable[[str], Redaction]


def redact_json(
    value: Any,
    *,
    engine: Engine | None = None,
    known: Sequence[str] = (),
    policy: RedactionPolicy = DEFAULT_POLICY,
) -> tuple[Any, tuple[SecretFinding, ...]]:
    """Return the redacted value and its findings; a finding's span lies in the leaf it was found in.

    Raises `RedactionFailed` for values nested deeper than 200 levels: they go nowhere (fail closed).
    """
    walker = _Walker(lambda text: redact_text(text, engine=engine, known=known, policy=policy), policy)
    return walker.value(value, "", 0), tuple(walker.findings)


class _Walker:
    """One walk over one value."""

    def __init__(self, leaf: Leaf, policy: RedactionPolicy) -> None:
        self._leaf = leaf
        self._policy = policy
        self.findings: list[SecretFinding] = []

    def value(self, value: Any, name: str, depth: int) -> Any:
        if depth > DEEPEST:
            raise RedactionFailed("the value is nested too deeply to be checked", "it is neither sent nor written")
        if isinstance(value, str):
            return self._text(value, name, depth)
        if isinstance(value, dict):
            return self._object(cast("dict[Any, Any]", value), depth)
        if isinstance(value, list | tuple):
            return [self.value(item, name, depth + 1) for item in cast("Sequence[Any]", value)]
        return value

    def _object(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        named = next((value[k] for k in _NAME_KEYS if isinstance(value.get(k), str)), "")
        result: dict[Any, Any] = {}
        for key, item in value.items():
            context = named if key in _VALUE_KEYS and named else str(key)
            clean = self._key(key)
            number = 2
            while clean in result:
                clean = f"{self._key(key)} {number}"
                number += 1
            result[clean] = self.value(item, context, depth + 1)
        return result

    def _key(self, key: Any) -> Any:
        if not isinstance(key, str) or len(key) < 12:
            return key
        redaction = self._leaf(key)
        self.findings += redaction.findings
        return redaction.text

    def _text(self, text: str, name: str, depth: int) -> str:
        inner = _container(text)
        if inner is not None:
            before = len(self.findings)
            clean = self.value(inner, name, depth + 1)
            return json.dumps(clean, ensure_ascii=False) if len(self.findings) > before else text
        kind = name_kind(name) if 0 < len(name) <= 64 else None
        if kind is not None and acceptable(text, kind, name, quoted=True):
            kind = kinds.API_KEY if kind == LOOSE else kind
            if not self._policy.keeps(kind, text):
                self.findings.append(SecretFinding(0, len(text), kind, kinds.LAYER))
                return placeholder(kind)
        if kind is not None or name.lower() in _HEADERS:
            return self._with_context(text, name)
        redaction = self._leaf(text)
        self.findings += redaction.findings
        return redaction.text

    def _with_context(self, text: str, name: str) -> str:
        """Read a leaf as the value after its key: `Authorization`: `Bearer …`."""
        head = f"{name}: "
        redaction = self._leaf(head + text)
        if not redaction.text.startswith(head):
            redaction = self._leaf(text)
            head = ""
        shift = len(head)
        self.findings += [SecretFinding(f.start - shift, f.end - shift, f.kind, f.engine) for f in redaction.findings]
        return redaction.text[shift:]


def _container(text: str) -> Any:
    """Return the object or list a string spells, None when it is other text."""
    head = text.lstrip()[:1]
    if head not in ("{", "[") or len(text) < 2 or text.rstrip()[-1:] not in ("}", "]"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
