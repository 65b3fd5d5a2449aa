"""Redaction rules by kind: what goes, what stays, where the spans lie, and that a second run changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.redaction import KINDS, PLACEHOLDER, redact_text
from ltmem_gui.domain.redaction.layer import layer_findings
from ltmem_gui.domain.redaction.spans import merge
from ltmem_gui.domain.secrets import SecretFinding
from tests.helpers.secret_shapes import clean_lines, shape_cases, survives, token_cases, tokens

GITHUB = tokens(1)["forge-1"]


@pytest.mark.parametrize("seed", [11, 12])
def test_tokens_are_found_in_every_place(seed: int) -> None:
    missed = []
    for case in token_cases(seed):
        spans = [(f.start, f.end) for f in redact_text(case.text).findings]
        if survives(case.text, case.start, case.end, spans):
            missed.append((case.kind, case.place))
    assert missed == []


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_values_are_found_in_every_shape(seed: int) -> None:
    missed = []
    for case in shape_cases(seed):
        redaction = redact_text(case.text)
        spans = [(f.start, f.end) for f in redaction.findings]
        if survives(case.text, case.start, case.end, spans) or case.value in redaction.text:
            missed.append(case.text)
    assert missed == []


@pytest.mark.parametrize("text", clean_lines())
def test_clean_lines_stay(text: str) -> None:
    assert redact_text(text).findings == ()


def test_clean_lines_stay_in_one_text() -> None:
    assert redact_text("\n".join(clean_lines())).findings == ()


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
        ("x=", "&y=1"),
        ("\u202e", "\u202c"),
        ("\ufeff", "\x00"),
        ("\ud800", "\udc00"),
        ("🔑", "✅"),
        ("İ" * 50, "ß"),
    ],
)
def test_spans_are_exact_code_points_whatever_touches_the_edges(before: str, after: str) -> None:
    result = redact_text(before + GITHUB + after)

    assert result.text == f"{before}[REDACTED:github_token]{after}"
    assert [(f.start, f.end, f.kind) for f in result.findings] == [
        (len(before), len(before) + len(GITHUB), "github_token")
    ]


KEY_LINES = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "x7Qz" * 16, "Pq4+/w9s" * 5 + "=="]


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\\\n", "\n# ", " ", '\\n" +\n  "'])
def test_private_keys_lose_their_body_in_every_wrapping(label: str, newline: str) -> None:
    begin, end = f"-----BEGIN {label}PRIVATE KEY-----", f"-----END {label}PRIVATE KEY-----"

    clean = redact_text("x " + newline.join([begin, *KEY_LINES, end]) + " y").text

    assert "[REDACTED:private_key]" in clean
    assert begin in clean
    assert end in clean
    assert not any(line[:12] in clean for line in KEY_LINES)


def test_a_cut_private_key_loses_what_is_there() -> None:
    text = "head key.pem\n-----BEGIN PRIVATE KEY-----\n" + "\n".join(KEY_LINES[:2]) + "\nand then some words"

    assert redact_text(text).text == (
        "head key.pem\n-----BEGIN PRIVATE KEY-----\n[REDACTED:private_key]\nand then some words"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Private-Lines: 2\n" + "A7b" * 20 + "\n" + "Q9" * 30 + "\nPrivate-MAC: 00ff",
        '{"kty": "EC", "crv": "P-256", "d": "' + "a9B_" * 11 + '"}',
        "[Interface]\nPrivateKey = " + "aB3/" * 10 + "xY=" + "=",
        "key: " + "LS0tLS1CRUdJTi" + "BQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcwQkFRRUY",
        "kind: Secret\ndata:\n  tls.key: " + "Qk9xRm7b" * 7,
    ],
)
def test_other_forms_of_private_keys(text: str) -> None:
    assert {f.kind for f in redact_text(text).findings} & {"private_key", "secret"}


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\\\n  ", '" +\n    "', "\n> "])
def test_a_token_broken_over_two_lines_is_put_together(gap: str) -> None:
    left, right = GITHUB[:25], GITHUB[25:]

    clean = redact_text(f"x {left}{gap}{right} y").text

    assert clean == "x [REDACTED:github_token] y"


def test_a_long_token_takes_its_rest_on_the_next_line_along() -> None:
    token = tokens(5)["model-3"]
    text = f"The key of the project is {token[:80]}\n{token[80:]}\nbye"

    assert token[85:100] not in redact_text(text).text


def test_an_escape_is_never_cut_in_half() -> None:
    for seed in range(8):
        for token in tokens(seed).values():
            line = json.dumps({"o": f"a\n{token}\nb", "password": "Xk3!fooBarQ"})
            assert json.loads(redact_text(line).text)["o"].startswith("a\n")


def test_escaped_characters_inside_a_token() -> None:
    assert redact_text('{"v": "sk\\u002dproj\\u002d' + "8Nv7gG7M5aGx8zS6csc4yXoVR1nJEWMu" + '"}').text == (
        '{"v": "[REDACTED:api_key]"}'
    )
    assert redact_text('{"aws_secret_access_key": "wJdjsWsiEL7P+ARfnsYR\\/eg9f8dKo+ThrxrIo1U\\/"}').text == (
        '{"aws_secret_access_key": "[REDACTED:aws_key]"}'
    )


def test_an_aws_secret_beside_its_id_needs_no_name() -> None:
    secret = "wJdjsWsiEL7P/ARfnsYR+eg9f8dKo7ThrxrIo1Uq"

    assert secret not in redact_text(f"AK{'IA'}QT6X2XNE2PEIRWTA,{secret}").text


def test_redacting_twice_changes_nothing() -> None:
    for case in (*token_cases(31), *shape_cases(32)):
        once = redact_text(case.text)
        again = redact_text(once.text)
        assert (again.text, again.findings) == (once.text, ()), case.text


PIECES = st.sampled_from(
    [
        *list(tokens(41).values())[::6],
        "password: ",
        "DB_PASSWORD=",
        "Bearer ",
        "tiger482",
        '"',
        "\\",
        "\\n",
        "\n",
        " ",
        "://u:",
        "@host",
        "?token=",
        "[REDACTED:password]",
        "[REDACTED:",
        "-----BEGIN PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEF",
        "密码是",
        "\x1b[0m",
        "\ud800",
        "is ",
        "=",
        ",",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_mix_is_redacted_once_and_for_all(text: str) -> None:
    result = redact_text(text)

    assert redact_text(result.text).findings == ()
    assert all(0 <= f.start < f.end <= len(text) and f.kind in KINDS for f in result.findings)
    assert all(a.end <= b.start for a, b in zip(result.findings, result.findings[1:], strict=False))
    kept, last = [], 0
    for finding in result.findings:
        kept += [text[last : finding.start], f"[REDACTED:{finding.kind}]"]
        last = finding.end
    assert "".join([*kept, text[last:]]) == result.text


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 12), st.sampled_from(KINDS), st.sampled_from(["layer", "k"])),
        max_size=8,
    ),
    st.randoms(),
)
def test_merging_does_not_depend_on_the_order(spans: list[tuple[int, int, str, str]], shuffle: object) -> None:
    findings = [SecretFinding(start, start + size, kind, engine) for start, size, kind, engine in spans]
    mixed = list(findings)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]

    assert merge(mixed) == merge(findings)


def test_a_text_in_pieces_of_64_kb_is_read_as_one() -> None:
    token = tokens(51)["chat-3"]
    for offset in (65_536 - 40, 65_536 - 1, 65_536, 131_072 - 71):
        text = "x" * (offset - 1) + " " + token + " " + "y" * 70_000
        found = merge(layer_findings(text))
        assert [(f.start, f.end) for f in found] == [(offset, offset + len(token))]


@pytest.mark.parametrize(
    "unit", ["password=", "://a:", "sk-ant-", "eyJ", "AAAAAAA", '"kty"', "?a=", "密码", "BEGIN ", "\\"]
)
def test_repeats_do_not_cost_their_square(unit: str) -> None:
    """A hang shows as the timeout of the run: the square of 20,000 repeats takes minutes."""
    assert redact_text(unit * 20_000).text.count(unit[:2]) > 1_000


def test_shared_cases(shared: Path) -> None:
    spans = hit = 0
    for line in (shared / "data/redaction_cases.jsonl").read_text("utf-8").split("\n"):
        if not line:
            continue
        case = json.loads(line)
        found = [(f.start, f.end) for f in redact_text(case["text"]).findings]
        if case["polarity"] == "clean":
            assert found == [], case["id"]
        for start, end, _ in case["redact"]:
            spans += 1
            hit += not survives(case["text"], start, end, found)
        for start, end in case["must_keep"]:
            assert not any(left < end and start < right for left, right in found), case["id"]
    assert hit / spans >= 0.98


def test_placeholders_are_from_the_closed_list() -> None:
    assert len(KINDS) == len(set(KINDS)) <= 20
    for case in token_cases(61):
        for match in PLACEHOLDER.finditer(redact_text(case.text).text):
            assert match.group()[10:-1] in KINDS
