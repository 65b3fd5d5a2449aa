"""The redactor with its real engine: exact spans, one start per process, failing closed, nothing outside its folder."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import pickle
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.domain.errors import RedactionFailed
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.domain.secrets import Redaction, SecretFinding
from ltmem_gui.redactor import service
from ltmem_gui.redactor.logging import FAILED, RedactingFilter
from ltmem_gui.redactor.parcels import LONG, PIECE, pack, pack_text, unpack, unpack_text
from ltmem_gui.redactor.service import SecretRedactor
from ltmem_gui.workers import RedactorChoice, prepare_rollout
from tests.helpers.secret_shapes import clean_lines, shape_cases, survives, token_cases, tokens
from tests.helpers.session_lines import assistant, meta, rollout_name, user, write

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def redactor(tmp_path_factory: pytest.TempPathFactory) -> SecretRedactor:
    cache = tmp_path_factory.mktemp("rules")
    cache.chmod(0o700)
    full = SecretRedactor(cache_dir=cache)
    full.warm_up()
    return full


def test_the_engine_starts_and_says_so(redactor: SecretRedactor) -> None:
    assert redactor.status.startswith("kingfisher and layer")
    assert not redactor.degraded


def test_both_together_find_every_maker_in_every_place(redactor: SecretRedactor) -> None:
    missed = []
    for case in (*token_cases(71), *shape_cases(72)):
        result = redactor.redact(case.text)
        if survives(case.text, case.start, case.end, [(f.start, f.end) for f in result.findings]):
            missed.append(case.text)
        assert redactor.redact(result.text).findings == (), case.text
    assert missed == []


@pytest.mark.parametrize("text", ["\n".join(clean_lines())])
def test_clean_texts_stay(redactor: SecretRedactor, text: str) -> None:
    assert redactor.redact(text).text == text


@pytest.mark.parametrize(
    "before", ["", "\ufeff", "\ufeff\ufeff", "\x00", "\ud800", "é🔑\u202e密", "a\x00b\x00c\x00d\x00", "x" * 5_000 + "é"]
)
def test_spans_of_the_engine_are_code_points(redactor: SecretRedactor, before: str) -> None:
    token = "sgp_" + "local_" + "ab12" * 10  # a maker that only the engine knows in this form
    case = before + " " + tokens(9)["forge-1"] + " " + token + " \ud83d"

    result = redactor.redact(case)

    assert result.text.startswith(before + " [REDACTED:github_token] ")
    assert result.text.endswith(" \ud83d")


def test_engine_findings_name_the_engine(redactor: SecretRedactor) -> None:
    text = "HUGE asaas: $aact_prod_" + "q7Rk2ZxT9vLm4WcB8nJd6HsPf3YgA1uEo5KiMq2w" * 4

    engines = {f.engine for f in redactor.redact(text + " " + tokens(1)["forge-1"]).findings}

    assert engines <= {"kingfisher", "layer"}


def test_no_network_and_no_validator(redactor: SecretRedactor, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("the redactor opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    redactor.redact("x " + tokens(1)["forge-1"])
    source = (ROOT / "ltmem_gui/redactor/engine.py").read_text()
    assert "import Rules, Scanner\n" in source
    assert not any(name in source for name in ("Validator(", "Revoker(", "DetectionPolicy", "DetectionScanner"))


def test_without_a_cache_folder_nothing_is_kept(tmp_path: Path) -> None:
    program = (
        "from ltmem_gui.redactor import engine\n"
        "from kingfisher_sdk import Rules\n"
        "seen = []\n"
        "class Spy:\n"
        "    cache_status = 'bypassed'\n"
        "    def __init__(self, **options): seen.append(options)\n"
        "engine.Rules, engine.Scanner = Spy, lambda *a, **k: None\n"
        "engine.KingfisherEngine()\n"
        "engine.KingfisherEngine(engine.Path('/c'))\n"
        "print(seen)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    ).stdout

    assert "'cache': False}" in out
    assert "'cache_dir': '/c'" in out


def test_when_the_engine_cannot_be_loaded_the_layer_runs_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    monkeypatch.delitem(sys.modules, "ltmem_gui.redactor.engine", raising=False)
    redactor = SecretRedactor()
    assert redactor.status == "not started"

    clean = redactor.redact("x " + tokens(1)["forge-1"])

    assert clean.text == "x [REDACTED:github_token]"
    assert redactor.degraded
    assert redactor.status.startswith("layer only: ")


def test_the_layer_alone_on_request() -> None:
    redactor = SecretRedactor(engine="layer", known=("tiger482",))

    assert redactor.warm_up() == "layer only, as asked"
    assert not redactor.degraded
    assert redactor.redact("say tiger482 and maple77x", known=("maple77x",)).text == (
        "say [REDACTED:known_value] and [REDACTED:known_value]"
    )
    assert redactor.redact_json({"a": "tiger482"})[0] == {"a": "[REDACTED:known_value]"}


def test_secret_values_of_the_environment_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_TOKEN", "aB3dE5gH7jK9mN1pQ3sT")

    assert SecretRedactor(engine="layer").redact("it printed aB3dE5gH7jK9mN1pQ3sT").text == (
        "it printed [REDACTED:known_value]"
    )


def test_a_failing_redactor_lets_nothing_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise ValueError("the text was: hunter2x9")

    monkeypatch.setattr(service, "redact_text", broken)
    monkeypatch.setattr(service, "redact_json", broken)
    redactor = SecretRedactor(engine="layer")

    for call in (lambda: redactor.redact("hunter2x9"), lambda: redactor.redact_json({"a": "hunter2x9"})):
        with pytest.raises(RedactionFailed) as caught:
            call()
        assert "hunter2x9" not in str(caught.value)


def test_too_deep_json_is_refused_by_its_own_words() -> None:
    value: Any = "x"
    for _ in range(300):
        value = [value]

    with pytest.raises(RedactionFailed, match="nested"):
        SecretRedactor(engine="layer").redact_json(value)


def test_many_threads_build_one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def load(cache_dir: Path | None) -> tuple[None, str]:
        built.append(cache_dir)
        return None, "layer only: test"

    monkeypatch.setattr(service, "_load", load)
    redactor = SecretRedactor()
    threads = [threading.Thread(target=redactor.redact, args=("x" * 20,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(built) == 1


def test_a_worker_process_gets_the_same_redactor() -> None:
    redactor = SecretRedactor(engine="layer", known=("tiger482",))

    assert pickle.loads(pickle.dumps(redactor)).redact("tiger482").text == "[REDACTED:known_value]"


def test_output_is_equal_in_two_processes() -> None:
    program = (
        "import json, sys\n"
        "from tests.helpers.secret_shapes import token_cases, shape_cases\n"
        "from ltmem_gui.domain.redaction import redact_text\n"
        "for case in [*token_cases(5), *shape_cases(5)]:\n"
        "    r = redact_text(case.text)\n"
        "    print(ascii((r.text, r.findings)))\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "77")
    ]

    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 10_000


# --- log records ---


@pytest.fixture
def log() -> tuple[logging.Logger, list[str]]:
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    logger = logging.Logger("redaction-test")
    handler = Keep()
    handler.addFilter(RedactingFilter())
    logger.addHandler(handler)
    return logger, lines


def test_log_records_lose_secrets_wherever_they_stand(log: tuple[logging.Logger, list[str]]) -> None:
    logger, lines = log
    token = tokens(1)["forge-1"]

    logger.warning("sent %s with %s", token, {"password": "Xk3!fooBarQ"}, stack_info=True)
    try:
        raise ValueError(f"bad token {token}")
    except ValueError:
        logger.exception("failed")

    assert token not in "".join(lines)
    assert "Xk3!fooBarQ" not in "".join(lines)
    assert lines[0].startswith("sent [REDACTED:github_token] with")
    assert "ValueError: bad token [REDACTED:github_token]" in lines[1]


def test_a_record_that_cannot_be_checked_is_withheld(
    log: tuple[logging.Logger, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger, lines = log
    logger.warning("%d of %s", "hunter2x9", "x")

    assert FAILED in lines[0]
    assert "hunter2x9" not in lines[0]


# --- long texts between processes ---


@pytest.mark.parametrize("text", ["", "x" * PIECE, "é🔑\ud800密" * 60_000, "a\x00b\n" * 50_000])
def test_a_long_text_arrives_as_it_left(text: str) -> None:
    assert unpack_text(pack_text(text)) == text
    found = (SecretFinding(0, 3, "token", "layer"), SecretFinding(2**33, 2**33 + 1, "jwt", "kingfisher"))
    redaction = Redaction(text, (*found, found[0]))
    there = unpack(pickle.loads(pickle.dumps(pack(redaction))))
    assert there == redaction
    assert there.findings[1] == found[1]


def test_findings_that_arrive_make_no_objects_before_they_are_looked_at() -> None:
    many = Redaction("x", tuple(SecretFinding(at, at + 1, "token", "layer") for at in range(20_000)))
    parcel = pack(many)
    gc.disable()
    try:
        before = gc.get_count()[0]
        there = unpack(parcel)
        made = gc.get_count()[0] - before
    finally:
        gc.enable()
    assert made < 200
    assert len(there.findings) == 20_000
    assert there.findings == many.findings


def test_long_texts_go_to_the_workers_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTMEM_REDACTOR", "layer")
    adapters = compose(None)
    text = "x " * LONG + tokens(1)["forge-1"]
    try:
        result = asyncio.run(adapters.redact_text(text, ("known7731",)))
        short = asyncio.run(adapters.redact_text("say known7731", ("known7731",)))
    finally:
        adapters.close()
    assert result.text == "x " * LONG + "[REDACTED:github_token]"
    assert [(f.start, f.end) for f in result.findings] == [(2 * LONG, len(text))]
    assert short.text == "say [REDACTED:known_value]"


def test_shared_everyday_case(redactor: SecretRedactor, shared: Path) -> None:
    value = json.loads((shared / "cases/redaction-everyday.json").read_text())
    expected = json.loads((shared / "cases/redaction-everyday.expected.json").read_text())

    clean, findings = redactor.redact_json(value)

    text = json.dumps(clean)
    assert not [word for word in expected["must_not_contain"] if word in text]
    assert not [word for word in expected["must_contain"] if word not in text]
    assert clean["raw_memory"].count("\n") + 1 == expected["line_count"]["raw_memory"]
    assert findings
    assert redactor.redact_json(clean) == (clean, ())


def test_a_password_that_answers_the_turn_before_it_reaches_no_prompt(tmp_path: Path) -> None:
    path = tmp_path / rollout_name()
    turns = [
        user("Set up the printer."),
        assistant("What is the wifi password?"),
        user("bluehorse"),
        assistant("Done."),
    ]
    write(path, [meta(), *turns])
    ref = RolloutRef("codex", str(path), path.stat().st_size, 1)

    prepared = prepare_rollout(ref, 100_000, RedactorChoice("layer", "", None))

    assert "bluehorse" not in prepared.transcript
    assert prepared.redactions == {"password": 1}
