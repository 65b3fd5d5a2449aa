"""Single rules: the exact output for one text each, at the borders of each rule."""

from __future__ import annotations

import random
import string

import pytest

from ltmem_gui.domain.redaction import core, redact_json, redact_text, usable
from ltmem_gui.domain.redaction.edges import DecodedView, Offsets, encoded, engine_bytes, neighbourhoods, neutral_bytes
from ltmem_gui.domain.redaction.known import collect_known
from ltmem_gui.domain.redaction.names import LOOSE, name_kind
from ltmem_gui.domain.redaction.spans import aligned
from ltmem_gui.domain.secrets import SecretFinding

RANDOM = "aB3dE5gH7jK9mN1pQ3sTuV9x"
HEX = "3673cd024b99b9d79b9a0e65ffccb05f"
BASE64 = "YWRtaW46WXU2IUNocjBvcUpneDQxbQ=="


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # addresses
        (f"https://{RANDOM}@git.x/r.git", "https://[REDACTED:url_password]@git.x/r.git"),
        (f"https://{RANDOM}:x-oauth-basic@git.x/r", "https://[REDACTED:url_password]:x-oauth-basic@git.x/r"),
        ("redis://:1234@h", "redis://:1234@h"),
        ("odd://a:b/c?d=e@h", "odd://a:b/c?d=e@h"),
        (f"https://x.io/?key={RANDOM}", "https://x.io/?key=[REDACTED:api_key]"),
        (f"https://x.io/cb?code={RANDOM}&state=x", "https://x.io/cb?code=[REDACTED:url_secret]&state=x"),
        (f"https://x.io/?weather_key={RANDOM}&a=1", "https://x.io/?weather_key=[REDACTED:api_key]&a=1"),
        ("https://x.io/?pwd=tiger482&a=1", "https://x.io/?pwd=[REDACTED:url_secret]&a=1"),
        ("https://x.io/?q=tiger482x9&a=1", "https://x.io/?q=tiger482x9&a=1"),
        ("https://x.io/?token=your_token_here", "https://x.io/?token=your_token_here"),
        # headers
        (
            f'Authorization: Digest username="x", realm="y", response="{HEX}"\nA: b',
            'Authorization: Digest username="x", realm="y", response="[REDACTED:auth_header]"\nA: b',
        ),
        (
            f"Authorization: AWS4-HMAC-SHA256 SignedHeaders=host, Signature={HEX}",
            "Authorization: AWS4-HMAC-SHA256 SignedHeaders=host, Signature=[REDACTED:auth_header]",
        ),
        ("Authorization: Basic aaaabbbb", "Authorization: Basic aaaabbbb"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED:auth_header]"),
        ("Cookie: sid=<value>; a=b", "Cookie: sid=<value>; a=b"),
        ("cookies are set", "cookies are set"),
        # assignments
        (f"SOME_VENDOR_KEY={HEX}", "SOME_VENDOR_KEY=[REDACTED:api_key]"),
        (f"some_vendor_key: {HEX}", f"some_vendor_key: {HEX}"),
        ('password = "83649261"', 'password = "[REDACTED:password]"'),
        ("password = passwords.current", "password = passwords.current"),
        ("password=passage8812", "password=[REDACTED:password]"),
        ("password: pass_field", "password: pass_field"),
        (
            'passphrase: "correct horse battery staple anchor violet kettle ribbon tunnel meadow"',
            'passphrase: "[REDACTED:password]"',
        ),
        (
            "seed_phrase = 'ribbon tunnel meadow anchor violet kettle correct horse battery staple cloud river'",
            "seed_phrase = '[REDACTED:secret]'",
        ),
        ("DB_PASSWORD=kTqWzXvB", "DB_PASSWORD=[REDACTED:password]"),
        ('token = ("aB3dE5gH7jK9mN1p")', 'token = ("[REDACTED:token]")'),
        ("password: “tiger482”", "password: “[REDACTED:password]”"),
        ('password="tiger482', 'password="[REDACTED:password]'),
        ("https://token:x@h/p", "https://token:x@h/p"),
        ("private_key: ed25519.Ed25519PrivateKey", "private_key: ed25519.Ed25519PrivateKey"),
        ("secret: 'a b c d'", "secret: 'a b c d'"),
        # files and commands
        ("machine h login a password login_i", "machine h login a password [REDACTED:password]"),
        ("# login / password\n   login_i", "# login / password\n   login_i"),
        ("sshpass -p $PASS ssh h", "sshpass -p $PASS ssh h"),
        ("sshpass -p ", "sshpass -p "),
        ("echo tiger482 | sudo -S ls", "echo [REDACTED:password] | sudo -S ls"),
        ("echo 'root:tiger482' | chpasswd", "echo 'root:[REDACTED:password]' | chpasswd"),
        ("curl -u admin:$PASS https://x", "curl -u admin:$PASS https://x"),
        ("localhost:5432:db:user:$PGPASSWORD", "localhost:5432:db:user:$PGPASSWORD"),
        ("localhost:5432:db:user", "localhost:5432:db:user"),
        (f'{{"name": "weather_key", "value": "{RANDOM}"}}', '{"name": "weather_key", "value": "[REDACTED:api_key]"}'),
        ('{"name": "colour", "value": "aB3dE5gH7jK9"}', '{"name": "colour", "value": "aB3dE5gH7jK9"}'),
        ("name: TOKEN\nvalue: ", "name: TOKEN\nvalue: "),
        (f"_auth={BASE64}", "_auth=[REDACTED:auth_header]"),
        ("importer_auth = importer.get(1)", "importer_auth = importer.get(1)"),
        ("kind: Secret\ndata:\n  a: your\nkind: Secret\n", "kind: Secret\ndata:\n  a: your\nkind: Secret\n"),
        # keys
        ("Private-Lines: many", "Private-Lines: many"),
        ("Private-Lines: 2\n!", "Private-Lines: 2\n!"),
        ("LS0tLS1CRUdJTi" + "QUJD" * 12, "LS0tLS1CRUdJTi" + "QUJD" * 12),
        ("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"),
        (
            "PrivateKey = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=",
            "PrivateKey = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=",
        ),
        # sentences
        ('They chose "tiger482" as the password', 'They chose "[REDACTED:password]" as the password'),
        ("tiger482 is the wifi password", "[REDACTED:password] is the wifi password"),
        ("my pin is stored", "my pin is stored"),
        ("use password sha256 here", "use password sha256 here"),
        ("log in with admin:tiger482.", "log in with admin:[REDACTED:password]."),
        # makers
        ("M" + "a" * 25 + ".bbbbbb." + "c" * 30, "M" + "a" * 25 + ".bbbbbb." + "c" * 30),
        ("ghp_abc\ndef", "ghp_abc\ndef"),
        ("ghp_abc\ndef\nghi\njkl\nmno", "ghp_abc\ndef\nghi\njkl\nmno"),
        ("A" * 60 + "SK" + HEX, "A" * 60 + "SK" + HEX),
        ("a &#x73;k-" + RANDOM, "a [REDACTED:api_key]"),
        ("a &#115;k-" + RANDOM, "a [REDACTED:api_key]"),
        ("a &#0a;k-" + RANDOM + " \\x73k-" + RANDOM + "\\/", "a &#0a;k-" + RANDOM + " [REDACTED:api_key]\\/"),
    ],
)
def test_rule(text: str, expected: str) -> None:
    assert redact_text(text).text == expected


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("db_password", "password"),
        ("dbpassword", "password"),
        ("PGPASSWORD", "password"),
        ("pass", "password"),
        ("Pass", None),
        ("pin", "password"),
        ("card_pin", "password"),
        ("passwordField", None),
        ("max_tokens", None),
        ("next_page_token", None),
        ("authToken", "token"),
        ("GITHUB_PAT", "token"),
        ("pat", None),
        ("clientsecret", "secret"),
        ("apikey", "api_key"),
        ("accesstokens", "token"),
        ("mypwd", "password"),
        ("AWS_SECRET_ACCESS_KEY", "aws_key"),
        ("public_key", None),
        ("weather_key", LOOSE),
        ("key", None),
        ("salt", LOOSE),
        ("wallet_seed", "secret"),
        ("seed", None),
        ("recovery_phrase", "secret"),
        ("phrase", None),
        ("_auth", "auth_header"),
        ("sessionid", "cookie"),
        ("API_KEY_2_PROD", "api_key"),
        ("-", None),
        ("a_b_c_d_e_f_g_h_i_password", None),
    ],
)
def test_names_tell_the_kind(name: str, kind: str | None) -> None:
    assert name_kind(name) == kind


def test_what_a_placeholder_uncovers_is_taken_out_in_the_same_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rule of today needs a second pass; if one does tomorrow, its spans are those of the input."""

    def layer(text: str) -> list[SecretFinding]:
        word = "first" if "first" in text else "second"
        at = text.find(word)
        return [SecretFinding(at, at + len(word), "token", "layer")] if at >= 0 else []

    monkeypatch.setattr(core, "layer_findings", layer)

    result = redact_text("a second, b first, c second.")

    assert result.text == "a [REDACTED:token], b [REDACTED:token], c [REDACTED:token]."
    assert [(f.start, f.end) for f in result.findings] == [(2, 8), (12, 17), (21, 27)]


def test_an_engine_finding_of_a_whole_address_is_cut_to_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "layer_findings", lambda _: [])

    def whole(text: str) -> list[SecretFinding]:
        return [SecretFinding(0, len(text), "api_key", "other")]

    assert redact_text("odd://u:aaaa1bcd@h", engine=whole).text == "odd://u:[REDACTED:url_password]@h"
    assert redact_text("odd://u:password@h", engine=whole).findings == ()
    assert redact_text("odd://h/q8w7e6r5t4", engine=whole).text == "[REDACTED:api_key]"


def test_a_leaf_whose_name_would_be_redacted_is_read_without_it() -> None:
    key = "token " + RANDOM + " cookie"

    clean, _ = redact_json({key: "Bearer " + RANDOM})

    assert RANDOM not in str(clean)


def test_spans_stay_whole_around_escapes() -> None:
    finding = SecretFinding(3, 9, "token", "layer")

    assert aligned("ab\\nXXXX\\n", finding) == SecretFinding(4, 8, "token", "layer")
    assert aligned("xxx\\\\\\\\\\\\n", finding) == finding


def test_known_values_of_several_kinds() -> None:
    assert usable("83649261") is False
    assert usable("836492611234")
    assert usable("correct-horse-battery")
    text = 'a "x\\q1y2z3" b'
    assert "x\\q1y2z3" in collect_known(text, [SecretFinding(3, 11, "password", "layer")])
    assert collect_known("a&amp;b1c2d3", [SecretFinding(0, 12, "password", "layer")]) == ("a&amp;b1c2d3", "a&b1c2d3")


def test_offsets_of_long_texts() -> None:
    text = "é" * 5_000 + "x" + "🔑" * 5_000
    data = encoded(text)

    offsets = Offsets(text, data)

    for at in (0, 1, 4_095, 4_096, 5_000, 5_001, 8_192, 9_999, 10_001):
        assert offsets.code_point(len(encoded(text[:at]))) == at
    assert Offsets("abc", b"abc").code_point(2) == 2


def test_neutral_copies_keep_their_length_and_hide_only_edges() -> None:
    r = random.Random(3)
    letters = string.ascii_letters + "\\\n .,;\x1b[31m\x00é密"
    text = "".join(r.choice(letters) for _ in range(150_000))
    data = engine_bytes(encoded(text))

    assert len(neutral_bytes(data)) == len(data) == len(encoded(text))
    assert neutral_bytes(b"a\\nghp_1. (x)\x1b[31my") == b"a  ghp_1   x      y"
    assert engine_bytes(b"\xef\xbb\xbfa\x00") == b"   a "
    assert len(neutral_bytes(b"x" * 200_000)) == 200_000


def test_decoded_views_and_their_neighbourhoods() -> None:
    view = DecodedView("a\\u002db\\/c%2Bd&#45;e")

    assert view.text == "a-b/c+d-e"
    assert view.original(1, 4) == (1, 10)
    text = "x" * 2_000 + "\\u002d" + "y" * 5_000 + "\\/" + "z" * 100 + "\\u0001"
    assert list(neighbourhoods(text, 512)) == [(1_488, 2_512), (6_494, len(text))]
    assert list(neighbourhoods("plain", 512)) == []
