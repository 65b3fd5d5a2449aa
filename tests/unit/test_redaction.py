"""Redaction rules: what goes, what stays, where the spans lie."""

from __future__ import annotations

import json

import pytest

from ltmem_gui.domain.redaction import KINDS, redact_json, redact_text

GITHUB = "ghp_" + "q7Rk2ZxT9vLm4WcB8nJd" + "6HsPf3YgA1uEo5Ki"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("out\\n", "\\nmore"),
        ('{"o": "{\\"o\\": \\"a\\\\n', '\\\\n\\"}"}'),
        ("\x1b[1;33m", "\x1b[0m"),
        ("\\u001b[32m", "\\u001b[0m"),
        ("密钥是", "，请不要保存"),
        ("key ", ". Next"),
        ("(", ")"),
        ("[", "],"),
        ("<b>", "</b>"),
        ("`", "`"),
        ("x=", "&y=1"),
        ("\u202e", "\u202c"),
        ("\ufeff", "\x00"),
        ("\ud800", "\udc00"),
    ],
)
def test_a_token_is_found_whatever_touches_its_edges(before: str, after: str) -> None:
    result = redact_text(before + GITHUB + after)

    assert result.text == f"{before}[REDACTED:github_token]{after}"
    assert [(f.start, f.end, f.kind) for f in result.findings] == [
        (len(before), len(before) + len(GITHUB), "github_token")
    ]


def test_json_leaves_keys_and_json_in_json() -> None:
    value = {
        "password": "Xk3!fooBarQ",
        "note": "fine",
        "inner": json.dumps({"token": "aB3dE5gH7jK9mN1pQ3sT"}),
        "list": [1, None, True, {"name": "DB_PASSWORD", "value": "w8Rn!kq2"}],
    }

    clean, findings = redact_json(value)

    assert clean["password"] == "[REDACTED:password]"
    assert json.loads(clean["inner"]) == {"token": "[REDACTED:token]"}
    assert clean["list"] == [1, None, True, {"name": "DB_PASSWORD", "value": "[REDACTED:password]"}]
    assert clean["note"] == "fine"
    assert {f.kind for f in findings} <= set(KINDS)
    assert redact_json(clean) == (clean, ())
