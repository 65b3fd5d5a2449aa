"""Rules of redaction, pure: no file, no clock, no engine (reference `redaction.md`).

`redact_text` and `redact_json` are the two ways in; `collect_known` carries values from an input to its output.
"""

from __future__ import annotations

from ltmem_gui.domain.redaction.core import DEFAULT_POLICY, Engine, redact_text
from ltmem_gui.domain.redaction.kinds import KINDS, PLACEHOLDER, kind_of_rule, placeholder
from ltmem_gui.domain.redaction.known import collect_known, secret_environment, usable
from ltmem_gui.domain.redaction.leaves import redact_json
from ltmem_gui.domain.redaction.policy import RedactionPolicy, allow_digest, check_pattern, check_switches

__all__ = [
    "DEFAULT_POLICY",
    "KINDS",
    "PLACEHOLDER",
    "Engine",
    "RedactionPolicy",
    "allow_digest",
    "check_pattern",
    "check_switches",
    "collect_known",
    "kind_of_rule",
    "placeholder",
    "redact_json",
    "redact_text",
    "secret_environment",
    "usable",
]
