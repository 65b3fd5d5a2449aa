"""What a person may set about redaction, from the command line to the text, the log and the window."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from ltmem_gui import bootstrap
from ltmem_gui.__main__ import LogRules
from ltmem_gui.cli import main as cli
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.redaction.policy import check_allowed, check_pattern
from ltmem_gui.workspace.veto import Veto
from tests.helpers.secret_shapes import tokens

ROOT = Path(__file__).resolve().parents[2]
TOKEN = tokens(4)["forge-1"]
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"
SURFACES = cli.Surfaces(compose=bootstrap.compose, launch_window=lambda options: 0)


def redact(text: str, *settings: str, surfaces: cli.Surfaces = SURFACES) -> tuple[int, str, str]:
    """Run `redact --engine layer` with settings of one call."""
    options = [part for setting in settings for part in ("--set", setting)]
    out, err = io.StringIO(), io.StringIO()
    code = cli.run([*options, "redact", "--engine", "layer"], surfaces, io.StringIO(text), out, err)
    return code, out.getvalue(), err.getvalue()


def digest(value: str, salt: str) -> str:
    out = io.StringIO()
    cli.run(["redact", "--digest", salt], SURFACES, io.StringIO(value + "\n"), out, io.StringIO())
    return out.getvalue().strip()


def test_an_extra_pattern_takes_its_values() -> None:
    code, out, err = redact("ticket ACME-123456, see b", r"redaction_patterns=ACME-\d{6}", r"redaction_patterns=b$")
    assert (code, out) == (0, "ticket [REDACTED:custom], see [REDACTED:custom]")
    assert err == "redacted: custom 2\n"


def test_a_kind_that_is_switched_off_stays_and_private_keys_never_do() -> None:
    assert redact(f"x {TOKEN}", "redaction_off=github_token,jwt")[1] == f"x {TOKEN}"
    code, out, err = redact(KEY, "redaction_off=private_key")
    assert (code, out) == (2, "")
    assert "private_key cannot be switched off" in err
    assert "unknown kind of secret 'jtw'" in redact("x", "redaction_off=jtw")[2]


def test_an_allowed_value_stays_by_its_salted_digest_only() -> None:
    salt = "a-salt-of-mine"
    allowed = (f"redaction_salt={salt}", f"redaction_allowed={digest(TOKEN, salt)}")
    other = tokens(5)["forge-1"]
    assert redact(f"{TOKEN} {other}", *allowed)[1] == f"{TOKEN} [REDACTED:github_token]"
    assert redact(TOKEN, "redaction_salt=another-salt", allowed[1])[1] == "[REDACTED:github_token]"


def test_values_that_match_an_allowed_pattern_as_a_whole_stay() -> None:
    setting = r"redaction_allowed_patterns=demo-[a-z]+\d+"
    text = "password: demo-tiger77\npassword: Xdemo-tiger77\n"
    assert redact(text, setting)[1] == "password: demo-tiger77\npassword: [REDACTED:password]\n"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((f"redaction_allowed={TOKEN}",), "takes digests, never the values"),
        (("redaction_allowed=" + "a" * 64,), "needs a redaction_salt of 6 characters"),
        (("redaction_allowed=" + "a" * 64, "redaction_salt=abc"), "needs a redaction_salt"),
        (("redaction_patterns=",), "empty or longer"),
        (("redaction_patterns=" + "a" * 1_001,), "empty or longer"),
        (("redaction_patterns=(",), "not a regular expression"),
        (("redaction_patterns=a*",), "matches an empty text"),
        ((r"redaction_patterns=\w+",), "matches ordinary text wholesale"),
        (("redaction_patterns=[^x]",), "matches an empty text"),
        (("redaction_patterns=(a+)+$",), "too slow"),
        ((r"redaction_patterns=(\w+\s?)+$",), "too slow"),
        (('redaction_patterns=("[^"]*"?)*x$',), "too slow"),
        ((r"redaction_patterns=([a-z]+)*=",), "too slow"),
        ((r"redaction_allowed_patterns=.+",), "matches"),
    ],
)
def test_settings_that_would_harm_are_refused_without_repeating_a_secret(settings: tuple[str, ...], said: str) -> None:
    started = time.process_time()
    code, out, err = redact(f"x {TOKEN}", *settings)
    assert (code, out) == (2, "")
    assert said in err
    assert TOKEN not in err
    assert time.process_time() - started < 30  # one that is not stopped takes for ever


def test_checks_of_their_own() -> None:
    assert check_allowed((), "") == frozenset()
    assert check_allowed(("a" * 64,), "salt-enough") == {"a" * 64}
    with pytest.raises(UsageError, match="wholesale"):
        check_pattern(r"[a-z]{3,}", time.thread_time)


def test_a_busy_machine_refuses_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern is judged by the processor it takes; on the wall, seconds may pass between two readings."""
    passing = count(0.0, 2.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(passing))
    monkeypatch.setattr(time, "monotonic", lambda: next(passing))
    assert redact("ticket ACME-123456", r"redaction_patterns=ACME-\d{6}")[:2] == (0, "ticket [REDACTED:custom]")


def test_the_log_of_a_call_knows_its_patterns(caplog: pytest.LogCaptureFixture) -> None:
    rules = LogRules()

    def logged(text: str) -> str:
        record = logging.LogRecord("x", logging.WARNING, __file__, 1, "said %s", (text,), None)
        assert rules(record)
        return record.getMessage()

    assert logged(f"ACME-123456 {TOKEN}") == "said ACME-123456 [REDACTED:github_token]"
    surfaces = cli.Surfaces(compose=lambda home: rules.compose(home, veto=Veto()), launch_window=lambda options: 0)
    redact("x", r"redaction_patterns=ACME-\d{6}", surfaces=surfaces)
    assert logged(f"ACME-123456 {TOKEN}") == "said [REDACTED:custom] [REDACTED:github_token]"


def test_errors_of_a_call_know_its_patterns(tmp_path: Path) -> None:
    missing = tmp_path / "ACME-123456.txt"
    out, err = io.StringIO(), io.StringIO()
    argv = ["--set", r"redaction_patterns=ACME-\d{6}", "redact", str(missing)]
    assert cli.run(argv, SURFACES, io.StringIO(""), out, err) == 1
    assert "[REDACTED:custom].txt" in err.getvalue()


def test_findings_say_which_engine_and_kind_and_never_the_value() -> None:
    out = io.StringIO()
    argv = ["--set", r"redaction_patterns=ACME-\d{6}", "redact", "--engine", "layer", "--json"]
    cli.run(argv, SURFACES, io.StringIO("é ACME-123456"), out, io.StringIO())
    assert json.loads(out.getvalue()) == {
        "text": "é [REDACTED:custom]",
        "findings": [{"start": 2, "end": 13, "kind": "custom", "engine": "layer"}],
    }


PROGRAM = """
import logging, sys, threading
from ltmem_gui.__main__ import LogRules, _log_what_escapes
handler = logging.StreamHandler()
handler.addFilter(LogRules())
logging.basicConfig(level=logging.WARNING, handlers=[handler])
_log_what_escapes()
def fail():
    raise ValueError("with " + sys.argv[1])
class Late:
    def __del__(self):
        fail()
thread = threading.Thread(target=fail)
thread.start()
thread.join()
Late()
fail()
"""


def test_errors_that_nobody_catches_are_printed_without_secrets() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, TOKEN], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )
    assert done.returncode == 1
    assert done.stderr.count("ValueError: with [REDACTED:github_token]") == 3
    assert TOKEN not in done.stderr
