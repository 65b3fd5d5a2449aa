"""Branches of the rules that everyday texts seldom reach: broken forms, lists that go on, values that are none."""

from __future__ import annotations

import random
import time

import pytest

from ltmem_gui.domain.redaction import collect_known, redact_json, redact_text
from ltmem_gui.domain.redaction.addresses import address_findings
from ltmem_gui.domain.redaction.document import Document
from ltmem_gui.domain.redaction.edges import free_left
from ltmem_gui.domain.redaction.files import file_findings
from ltmem_gui.domain.redaction.key_material import key_findings
from ltmem_gui.domain.redaction.layer import layer_findings
from ltmem_gui.domain.redaction.places import after_login, setting_line
from ltmem_gui.domain.redaction.policy import policy_of
from ltmem_gui.domain.redaction.values import is_dummy
from ltmem_gui.domain.secrets import SecretFinding
from ltmem_gui.domain.settings import Settings
from tests.helpers.secret_shapes import STD64, tokens

FORGE = tokens(5)["forge-1"]


@pytest.mark.parametrize(
    "text",
    [
        "printf nothing of a form",
        "printf 'password=%s'\n",
        "printf 'password=%s' | cat",
        'send "ls -la\\r" # no prompt near',
        'expect "Password:"; send "exit\\r"',
        "error code, 'verification_code', '482913'",
        "password|required",
        "password != 'sunshine'",
        "mfa_code == '482913'",
        "password => marigold",
        '{"auths": {"x": {"auth": "xxxxxxxxxxxxxxxx"}}}',
        "name: colour\nvalue: sunshine",
        "my password is 'x'",
        "the admin password is required.",
        "the admin password is Sunday",
        "login: alice / bob / carol",
        "credentials: admin / editor",
        "log in as admin with github",
        "npm login --scope=@x",
        "cargo login https://crates.example",
        "the pin is 2024",
        "username: string, password: marigold_type",
        'tool --password --"verbose"',
        "x = password",
        "https://x.example/r?next_token=q7Rk2ZxT9vLm4WcB8nJd",
        "xghp_tooshort1 and xghp_" + "a" * 36,
    ],
)
def test_these_hold_no_secret(text: str) -> None:
    assert redact_text(text).text == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Authorization: Basic dTpwYXNz\n", "dTpwYXNz"),
        ("Authorization: Basic SDpiaXlkbg==\n", "SDpiaXlkbg"),
        ("password: “Xk3!fooBarQ", "Xk3!fooBarQ"),
        ("printf '%s=%%s password=%s' a kingfisher", "kingfisher"),
        ("printf 'API_KEY=%s' q7Rk2ZxT9vLm4WcB8nJd", "q7Rk2ZxT9vLm4WcB8nJd"),
        ("printf 'x_key=%s' q7Rk2ZxT9vLm4WcB8nJd6Hs", "q7Rk2ZxT9vLm4WcB8nJd6Hs"),
        ("curl -u bob:Tiger77x https://x.example", "Tiger77x"),
        ("app --user-id 7 # curl\ncurl --user bob:Tiger77x x", "Tiger77x"),
        ("my password is 'marigold'", "marigold"),
        ("token＝q7Rk2ZxT9vLm4WcB8nJd", "q7Rk2ZxT9vLm4WcB8nJd"),
        ("https://x.example/r?reset_token=q7Rk2ZxT9vLm4WcB8nJd", "q7Rk2ZxT9vLm4WcB8nJd"),
        (f"tokenis{FORGE}and more", FORGE),
        ("FYI my password is sunny-tiger-lamp ok", "sunny-tiger-lamp"),
        ("our router password is Xk3!foo9 now", "Xk3!foo9"),
        ("| Password | marigold |", "marigold"),
        ('<a name="colour" value="b"/><a name="db_password" value="marigold"/>', "marigold"),
        ("login\nuser: carol\npassword: Marigold", "Marigold"),
    ],
)
def test_these_do(text: str, value: str) -> None:
    assert value not in redact_text(text).text


def test_a_long_row_of_cookies_is_read_to_a_limit() -> None:
    row = "Cookie: " + "; ".join(f"c{n}=v" for n in range(45)) + "; sessionid=q7Rk2ZxT9vLm4WcB"
    assert list(address_findings(Document(row))) == []
    assert "q7Rk2ZxT9vLm4WcB" not in redact_text(row).text


def test_passes_end_even_when_an_engine_finds_more_each_time() -> None:
    def engine(text: str) -> list[SecretFinding]:
        at = text.find("q7")
        return [SecretFinding(at, at + 6, "token", "greedy")] if at >= 0 else []

    result = redact_text("q7Rk2Z " * 9, engine=engine)
    assert len(result.findings) == 6


def test_where_a_token_may_begin() -> None:
    assert not free_left("ab_sk", 3)
    assert free_left("ab_sk", 3, glued=True)
    assert free_left("__sk", 2)
    assert free_left("a __sk", 4)


def test_secrets_of_kubernetes_that_stand_close_together() -> None:
    text = (
        "kind: Secret\ndata:\n  a: c3Vuc2hpbmUx\n  b: xxxxxxxxxxxx\n---\n"
        "kind: Secret\ndata:\n  c: bWFyaWdvbGQy\nkind: Secret\n"
    )
    found = {text[f.start : f.end] for f in file_findings(Document(text))}
    assert found == {"c3Vuc2hpbmUx", "bWFyaWdvbGQy"}


def test_a_key_of_endless_length_and_one_that_is_no_base64() -> None:
    r = random.Random(3)
    body = "\n".join("".join(r.choices(STD64, k=64)) for _ in range(1_200))
    text = f"-----BEGIN PRIVATE KEY-----\n{body}\n"
    (found,) = list(key_findings(Document(text)))
    assert 65_000 < found.end - found.start < 66_000
    odd = "LS0tLS1CRUdJTi" + "-+" * 20 + "A"
    assert list(key_findings(Document(odd))) == []


def test_a_value_that_is_none_is_not_kept_as_known() -> None:
    text = "x changeme y"
    assert collect_known(text, [SecretFinding(2, 10, "password", "layer")]) == ()


def test_what_an_escape_cuts_is_left_to_the_whole_text() -> None:
    text = "x " * 400 + FORGE + " " + "y " * 230 + "y\\/b" + " z" * 400
    assert {(f.start, f.end) for f in layer_findings(text)} == {(800, 800 + len(FORGE))}


def test_a_key_that_is_a_secret_itself_goes_too() -> None:
    name = "AKIA" + "QRSTUVWXYZBCDEFG" + "_token"
    clean, _ = redact_json({name: "hello there"})
    assert list(clean.values()) == ["hello there"]
    assert name not in clean


def test_words_of_keyboards_are_dummies() -> None:
    assert is_dummy("qwerty12")
    assert is_dummy("123456ab")


def test_tokens_inside_a_blob_and_broken_over_lines() -> None:
    blob = "QUJD" * 11 + "QUJ/" + "hf_" + "a1B2c3D4e5F6g7H8i9J0k1"
    assert redact_text(blob).text == blob
    head, tail = FORGE[:20], FORGE[20:]
    for text in (f"{head}\n{tail[:4]}\n{tail[4:8]}\n{tail[8:]}", f"{head} and {tail}", f"{head}\n"):
        assert head in redact_text(text).text or "[REDACTED:" in redact_text(text).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: marigold\n", True),
        ("  - password: marigold  # rotate\n", True),
        ("x, password: marigold\n", False),
        ("password: marigold, x\n", False),
        ("{\npassword: marigold\n", False),
        ("password: marigold\n)\n", False),
        ("def f():\n  password: marigold\n", False),
        ("Password: marigold\n", False),
        ("DB_PASSWORD: marigold\n", True),
        ("password = marigold\n", False),
        ("[a]\npassword = marigold\n", True),
        ("db.password = marigold", True),
        ("password=marigold", True),
    ],
)
def test_settings_on_lines_of_their_own(text: str, expected: bool) -> None:
    start = next(
        at
        for at in (text.find("db.password"), text.lower().find("db_password"), text.lower().find("password"))
        if at >= 0
    )
    end = text.find("marigold") + len("marigold")
    separator = "=" if "=" in text else ":"
    spaced = f"{separator} " in text
    assert setting_line(text, start, end, separator, spaced=spaced) is expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("user: bob, ", True),
        ("username: string, ", False),
        ("login=alice ", True),
        ("the ", False),
        ("user: x ", False),
    ],
)
def test_what_follows_a_login(before: str, expected: bool) -> None:
    assert after_login(before + "password: x", len(before)) is expected


def test_the_policy_of_the_settings() -> None:
    policy = policy_of(Settings(redaction_off=("jwt",), redaction_patterns=("AB-\\d+",)), time.thread_time)
    assert policy.off == {"jwt"}
    assert [pattern.pattern for pattern in policy.extra] == ["AB-\\d+"]
