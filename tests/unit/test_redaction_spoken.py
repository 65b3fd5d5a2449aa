"""Passwords that are plain words in a sentence: a corpus written before the rules, and the borders of each frame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.redaction import RedactionPolicy, redact_text
from tests.helpers.secret_shapes import survives

CORPUS = Path(__file__).parents[1] / "fixtures" / "redaction_spoken.jsonl"


def corpus() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]


def test_words_that_sentences_give_as_passwords_are_found() -> None:
    missed: list[str] = []
    secrets = [case for case in corpus() if case["redact"]]
    for case in secrets:
        result = redact_text(case["text"])
        spans = [(f.start, f.end) for f in result.findings]
        if any(survives(case["text"], start, end, spans) for start, end in case["redact"]):
            missed.append(case["text"])
        assert sum(end - start for start, end in spans) <= sum(end - start for start, end in case["redact"])
        assert redact_text(result.text).findings == (), case["text"]
    assert len(secrets) > 200
    assert len(missed) <= 0.06 * len(secrets), missed


def test_sentences_about_passwords_are_left_alone() -> None:
    clean = [case["text"] for case in corpus() if not case["redact"]]
    assert len(clean) > 250
    assert [text for text in clean if redact_text(text).findings] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**`bluehorse`** is our password", "**`[REDACTED:password]`** is our password"),
        ("the password is **`bluehorse`**", "the password is **`[REDACTED:password]`**"),
        ("bluehorse is the admin password", "[REDACTED:password] is the admin password"),
        ("the password is Sonnenblümchen", "the password is [REDACTED:password]"),
        ("Das Datenbankpasswort ist Erdbeeren", "Das Datenbankpasswort ist [REDACTED:password]"),
        ("the passphrase is silver moon over quiet water", "the passphrase is [REDACTED:password]"),
        ("the password is blue-horse-rides-daily", "the password is [REDACTED:password]"),
        ("use blue7horse as the password", "use [REDACTED:password] as the password"),
        ("用 required 或 用 bluehorse 作为密码", "用 required 或 用 [REDACTED:password] 作为密码"),
        ("admin password => marigold", "admin password => [REDACTED:password]"),
        ("set the password to marigold in the container", "set the password to [REDACTED:password] in the container"),
        ("changed the password to marigold yesterday", "changed the password to [REDACTED:password] yesterday"),
        ("ssh in with pi and marigold as pw", "ssh in with pi and [REDACTED:password] as pw"),
        ("here's the password marigold", "here's the password [REDACTED:password]"),
        ("Zugang: max / sommerregen", "Zugang: max / [REDACTED:password]"),
        ("sign in as bob@corp.example with marigold", "sign in as bob@corp.example with [REDACTED:password]"),
        ("nmcli dev wifi connect Home password marigold", "nmcli dev wifi connect Home password [REDACTED:password]"),
        ("Password for the vpn - octopus_tea8", "Password for the vpn - [REDACTED:password]"),
        ("wifi-password is marigold", "wifi-password is [REDACTED:password]"),
    ],
)
def test_words_in_their_frames(text: str, expected: str) -> None:
    assert redact_text(text).text == expected
    assert redact_text(expected).text == expected


@pytest.mark.parametrize("lead", ["", "x\n", 'tool said "', "say\\n", "\u202bx ", "你好。"])
@pytest.mark.parametrize("tail", ["", ".", "\nnext", '\\nnext"}', " (ask Jo)", " and go"])
def test_edges_of_a_sentence_change_nothing(lead: str, tail: str) -> None:
    text = f"{lead}the wifi password is bluehorse{tail}"
    assert redact_text(text).text == f"{lead}the wifi password is [REDACTED:password]{tail}"


@pytest.mark.parametrize(
    "text",
    [
        'the password is "bluehorse',
        'the password is ""',
        'the password is " bluehorse"',
        "the password is “blue\nhorse”",
        "the password is **",
        "use bluehorse as a password",
        "never use bluehorse as the password",
        "if the password is bluehorse then stop",
        "the password is BLUEHORSE_X",
        "the passwords are bluehorse",
        "the clave is bluehorse",
        "the pass is bluehorse",
        "config.password is bluehorse",
        "--password is bluehorse",
        "seed phrase: bluehorse",
        "the password is rock-and-roll",
        "the password is well-hidden",
        "log in with bob / bluehorse / carol",
        "relogin with bob / bluehorse",
        "the passphrase is kept in one place only",
        "the passphrase is moon in tea",
        "the passphrase is moon for rain for tea",
        "the passphrase is in moon rain tea cup",
        "the passphrase is encrypted silver moon water",
        "the password is 'ok go'",
        "the password is 'Blue Horse'",
        "the password is pre-shared-by-vault",
        "the password is see-through",
        "the password is base64-encoded",
        "log in as bob@corp.example with google",
        "log in as bob@corp.example and continue",
        "log in with bob@corp.example using cookies",
        "use sha256-hashed as the password",
        "using the password unlocks",
        "the password is them-bluehorse",
        "the password is correct-bluehorse",
        "mnemonic as bluehorse",
        "wifi pw → x7",
        "Password for the NAS: see ticket#4711-x",
        "password — ab#cd",
        "the password is ÜNÏCÖDE",
        "the password is super-secret",
        "the password is required-bluehorse",
        "marigold ist kein Passwort",
        "bluehorse 作为 bluehorse2 密码",
        "用户 bluehorse 作为密码",
        "用required作为密码",
    ],
)
def test_what_gives_no_password(text: str) -> None:
    assert redact_text(text).findings == ()


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("I need one thing.\nWhat is the database password?", "bluehorse", "[REDACTED:password]"),
        ("Which password should I use for the admin account?", "use bluehorse", "use [REDACTED:password]"),
        ("Please send me the passphrase.", '"blue horse in rain"', '"[REDACTED:password]"'),
        ("请告诉我数据库密码", "bluehorse", "[REDACTED:password]"),
        ("What is the database password?", "it's in the vault", "it's in the vault"),
        ("What is the database password?", "cancel", "cancel"),
        ("What is the database called?", "bluehorse", "bluehorse"),
        ("What is the password? I ask before I go on with the rest.", "bluehorse", "bluehorse"),
        ("the password changed.", "bluehorse", "bluehorse"),
    ],
)
def test_a_turn_that_answers_the_turn_before_it(before: str, text: str, expected: str) -> None:
    assert redact_text(text, before=before).text == expected
    assert redact_text(text).text == text


def test_an_answer_that_is_allowed_stays() -> None:
    policy = RedactionPolicy(off=frozenset({"password"}))
    assert redact_text("bluehorse", before="What is the password?", policy=policy).text == "bluehorse"
