"""Redaction of decoded JSON, known values, and what a person may set."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.errors import RedactionFailed, UsageError
from ltmem_gui.domain.redaction import (
    KINDS,
    RedactionPolicy,
    allow_digest,
    check_pattern,
    check_switches,
    collect_known,
    kind_of_rule,
    redact_json,
    redact_text,
    secret_environment,
    usable,
)
from ltmem_gui.domain.secrets import SecretFinding
from tests.helpers.secret_shapes import tokens

TOKENS = tokens(3)


def test_leaves_keys_and_json_in_json() -> None:
    value = {
        "password": "Xk3!fooBarQ",
        "note": "fine",
        "inner": json.dumps({"token": "aB3dE5gH7jK9mN1pQ3sT", "n": 1.5}),
        "list": [1, None, True, {"name": "DB_PASSWORD", "value": "w8Rn!kq2"}],
        "headers": {
            "Authorization": "Bearer aB3dE5gH7jK9mN1pQ3sTuV",
            "Cookie": "theme=dark; sessionid=k2J8dm3nQ9x7Lp4w",
        },
        TOKENS["forge-1"]: "used as a key",
    }

    clean, findings = redact_json(value)

    assert clean["password"] == "[REDACTED:password]"
    assert json.loads(clean["inner"]) == {"token": "[REDACTED:token]", "n": 1.5}
    assert clean["list"] == [1, None, True, {"name": "DB_PASSWORD", "value": "[REDACTED:password]"}]
    assert clean["headers"] == {
        "Authorization": "Bearer [REDACTED:auth_header]",
        "Cookie": "theme=dark; sessionid=[REDACTED:cookie]",
    }
    assert clean["[REDACTED:github_token]"] == "used as a key"
    assert clean["note"] == "fine"
    assert {f.kind for f in findings} <= set(KINDS)
    assert redact_json(clean) == (clean, ())


def test_json_in_json_that_is_clean_keeps_its_bytes() -> None:
    text = '{"a":  1.0, "b" : [ ]}'

    assert redact_json({"x": text, "y": "{not json}", "z": "[1, 2"}) == (
        {"x": text, "y": "{not json}", "z": "[1, 2"},
        (),
    )


def test_two_keys_that_become_equal_both_stay() -> None:
    clean, _ = redact_json({tokens(1)["forge-1"]: 1, tokens(2)["forge-1"]: 2})

    assert sorted(clean.values()) == [1, 2]


def test_a_loose_key_and_a_kind_that_is_off() -> None:
    value = {"weather_key": "aB3dE5gH7jK9mN1pQ3sTuV9x", "password": "Xk3!fooBarQ"}

    assert redact_json(value)[0]["weather_key"] == "[REDACTED:api_key]"
    kept, findings = redact_json(value, policy=RedactionPolicy(off=frozenset({"password", "api_key"})))
    assert (kept, findings) == (value, ())


def test_too_deep_a_value_is_refused() -> None:
    value: Any = "x"
    for _ in range(400):
        value = [value]

    with pytest.raises(RedactionFailed):
        redact_json(value)
    assert redact_json("[" * 5_000 + "]" * 5_000)[1] == ()


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.text(max_size=12),
    st.sampled_from([*list(TOKENS.values())[::7], "password: Xk3!fooBarQ", "[REDACTED:token]", "tiger482"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["password", "token", "a", "name", "value", "Authorization"]), inner, max_size=3
        ),
        inner.map(json.dumps),
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_any_value_comes_out_as_json_and_clean(value: Any) -> None:
    clean, _ = redact_json(value)

    assert json.loads(json.dumps(clean)) == clean
    assert redact_json(clean) == (clean, ())


# --- known values ---


def test_values_of_an_input_go_from_its_output_without_any_keyword() -> None:
    source = 'DB_PASSWORD=tiger482\n{"token": "a/b\\"cD3fG5hJ7kL9"}\npostgres://app:Rk4%40mmQ9@db/x'
    known = collect_known(source, redact_text(source).findings)

    clean = redact_text('They typed tiger482, then Rk4@mmQ9 and "Rk4%40mmQ9".', known=known)

    assert clean.text == (
        'They typed [REDACTED:known_value], then [REDACTED:known_value] and "[REDACTED:known_value]".'
    )
    assert {f.engine for f in clean.findings} == {"known"}


@pytest.mark.parametrize("value", ["tiger482", 'pa ss/wo"rd#1', "grün&blau77", "a\\b\\c99!"])
@pytest.mark.parametrize(
    "spelling",
    [
        lambda v: v,
        lambda v: json.dumps(v)[1:-1],
        lambda v: json.dumps(v, ensure_ascii=False)[1:-1],
        lambda v: json.dumps(json.dumps(v))[3:-3],
        lambda v: __import__("urllib.parse").parse.quote(v, safe=""),
        lambda v: __import__("html").escape(v),
    ],
)
def test_known_values_in_every_spelling(value: str, spelling: Callable[[str], str]) -> None:
    assert redact_text(f"x <{spelling(value)}> y", known=(value,)).text == "x <[REDACTED:known_value]> y"


def test_lines_of_a_known_key_are_found_alone() -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"]
    text = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(lines) + "\n-----END PRIVATE KEY-----"
    known = collect_known(text, redact_text(text).findings)

    assert redact_text(f"it held {lines[1]} somewhere", known=known).text == "it held [REDACTED:known_value] somewhere"


@pytest.mark.parametrize(
    "value", ["", "abc", "hello", "password", "token", "deployment", "12345", "2026", "[REDACTED:x]"]
)
def test_ordinary_words_are_no_known_values(value: str) -> None:
    assert not usable(value)
    text = f"say {value} and go"
    assert redact_text(text, known=(value,)).text == text


def test_a_short_known_value_is_not_cut_out_of_a_longer_word() -> None:
    assert redact_text("abc12x3d abc12x", known=("abc12x",)).text == "abc12x3d [REDACTED:known_value]"


def test_values_of_the_environment_by_their_names() -> None:
    environment = {
        "PATH": "/usr/bin",
        "GPG_KEY": "A035C8C19219BA821ECEA86B64E628F8D684696D",
        "MY_TOKEN": "aB3dE5gH7jK9mN1pQ3sT",
        "DB_PASSWORD": "tiger482",
        "SSH_AUTH_SOCK": "/run/user/1000/ssh",
        "API_KEY": "your-key-here",
    }

    assert secret_environment(environment) == ("aB3dE5gH7jK9mN1pQ3sT", "tiger482")


# --- what a person may set ---


def test_private_keys_cannot_be_switched_off() -> None:
    assert check_switches(["password"]) == {"password"}
    with pytest.raises(UsageError, match="cannot be switched off"):
        check_switches(["private_key"])
    with pytest.raises(UsageError, match="unknown kind"):
        check_switches(["pasword"])
    off = RedactionPolicy(off=frozenset(KINDS))
    assert not off.keeps("private_key", "x")
    assert off.keeps("password", "x")


def test_an_allowed_value_stays_and_is_stored_salted() -> None:
    policy = RedactionPolicy(salt=b"salt", allowed=frozenset({allow_digest(b"salt", "tiger482")}))

    assert redact_text("DB_PASSWORD=tiger482", policy=policy).findings == ()
    assert redact_text("DB_PASSWORD=tiger483", policy=policy).findings != ()
    assert allow_digest(b"salt", "tiger482") != allow_digest(b"other", "tiger482")
    by_pattern = RedactionPolicy(allowed_patterns=(re.compile("tiger[0-9]+"),))
    assert redact_text("DB_PASSWORD=tiger483", policy=by_pattern).findings == ()
    assert redact_text("They said tiger483", known=("tiger483",), policy=by_pattern).findings != ()


def ticking(step: float) -> Callable[[], float]:
    ticks: Iterator[int] = count()
    return lambda: next(ticks) * step


def test_an_extra_pattern_is_tried_before_it_is_taken() -> None:
    pattern = check_pattern(r"ACME-\d{6}", ticking(0.0))

    result = redact_text("see ACME-123456 there", policy=RedactionPolicy(extra=(pattern,)))

    assert result.text == "see [REDACTED:custom] there"


@pytest.mark.parametrize("source", ["", "(", "a*", "x" * 1_001, r"\s"])
def test_a_bad_extra_pattern_is_refused(source: str) -> None:
    with pytest.raises(UsageError):
        check_pattern(source, ticking(0.0))


def test_a_slow_extra_pattern_is_refused_at_its_first_slow_step() -> None:
    import time

    with pytest.raises(UsageError, match="too slow"):
        check_pattern(r"(x+x+)+y", time.thread_time)
    with pytest.raises(UsageError, match="too slow"):
        check_pattern("abc", ticking(1.0))


# --- kinds of a foreign engine ---


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("betterleaks.github-pat", "github_token"),
        ("betterleaks.private-key", "private_key"),
        ("betterleaks.azure-storage-account-name", None),
        ("betterleaks.salesforce-instance-url.1", None),
        ("betterleaks.brand-new-maker", "api_key"),
    ],
)
def test_rules_of_an_engine_map_to_our_kinds(rule: str, kind: str | None) -> None:
    assert kind_of_rule(rule) == kind


def test_findings_of_an_engine_are_filtered_and_cut_to_the_secret() -> None:
    def engine(text: str) -> list[SecretFinding]:
        return [SecretFinding(0, len(text), "api_key", "other")]

    assert redact_text("mongodb://u:Rk4mmQ9xx2@h.example/db", engine=engine).text == (
        "mongodb://u:[REDACTED:url_password]@h.example/db"
    )
    assert redact_text("odd://u:aaaa1bcd@h", engine=lambda _: [SecretFinding(0, 18, "api_key", "o")]).text == (
        "odd://u:[REDACTED:url_password]@h"
    )
    assert redact_text("YOUR_API_KEY", engine=lambda _: [SecretFinding(0, 12, "api_key", "o")]).findings == ()
    assert redact_text("plain-q8w7e6r5", engine=lambda _: [SecretFinding(6, 14, "token", "o")]).text == (
        "plain-[REDACTED:token]"
    )
