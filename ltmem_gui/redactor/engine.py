"""The kingfisher engine: scanning only. Its validators and revokers contact providers and are never imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kingfisher_sdk import Rules, Scanner

from ltmem_gui.domain.redaction.edges import Offsets, encoded, engine_bytes, neutral_bytes
from ltmem_gui.domain.redaction.kinds import kind_of_rule
from ltmem_gui.domain.secrets import SecretFinding

NAME = "kingfisher"


class KingfisherEngine:
    """Scan a text twice: as it is, and as a copy of the same length without what hides a token's edges."""

    def __init__(self, cache_dir: Path | None = None) -> None:
        """Compile the rules (seconds on the first start); keep them below `cache_dir` only, nowhere without it."""
        rules = (
            Rules(confidence="low", cache=False)
            if cache_dir is None
            else Rules(confidence="low", cache=True, cache_dir=str(cache_dir))
        )
        self.cache_status = rules.cache_status
        self._scanner = Scanner(rules, base64=False)

    def __call__(self, text: str) -> list[SecretFinding]:
        """Return findings in code points of `text`, kinds of ours."""
        raw = encoded(text)
        offsets = Offsets(text, raw)
        data = engine_bytes(raw)
        spans = {*self._scan(data), *self._scan(neutral_bytes(data))}
        return [
            SecretFinding(offsets.code_point(start), offsets.code_point(end), kind, NAME)
            for start, end, kind in sorted(spans)
        ]

    def _scan(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        for finding in self._scanner.scan(data):
            kind = kind_of_rule(finding.rule_id) if finding.visible else None
            if kind is not None:
                location = finding.location
                yield int(location["start_offset"]), int(location["end_offset"]), kind
