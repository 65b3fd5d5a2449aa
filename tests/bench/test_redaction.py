"""Figures of redaction: recall and findings per MB on fresh inputs, speed per CPU second, freezes of another thread.

Run with `pytest -m bench tests/bench/test_redaction.py -s`; figures are printed, targets are asserted.
"""

from __future__ import annotations

import asyncio
import random
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import compose
from ltmem_gui.redactor.service import SecretRedactor
from ltmem_gui.ui.application import SWITCH_SECONDS
from tests.helpers.blind_clean import clean_texts
from tests.helpers.blind_secrets import blind_cases
from tests.helpers.gaps import longest_gap
from tests.helpers.secret_shapes import shape_cases, survives, token_cases, tokens

pytestmark = pytest.mark.bench
MEGABYTE = 1_000_000


@pytest.fixture(scope="module", params=["layer", "full"])
def redactor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SecretRedactor:
    cache = tmp_path_factory.mktemp("rules")
    cache.chmod(0o700)
    redactor = SecretRedactor(engine=request.param, cache_dir=cache)
    redactor.warm_up()
    return redactor


@pytest.fixture(scope="module")
def developer_text() -> list[str]:
    """Return 6 MB of the sources, data and prose of installed packages."""
    base = Path(sysconfig.get_paths()["purelib"])
    paths = sorted(p for suffix in ("py", "md", "js", "json", "rst", "txt") for p in base.rglob(f"*.{suffix}"))
    random.Random(7).shuffle(paths)
    texts: list[str] = []
    size = 0
    for path in paths:
        if size < 6 * MEGABYTE and path.stat().st_size < 600_000:
            texts.append(path.read_bytes().decode("utf-8", "surrogateescape"))
            size += len(texts[-1])
    return texts


def test_recall_on_fresh_inputs(redactor: SecretRedactor) -> None:
    cases = [case for seed in range(100, 106) for case in (*token_cases(seed), *shape_cases(seed))]
    missed = [
        case
        for case in cases
        if survives(case.text, case.start, case.end, [(f.start, f.end) for f in redactor.redact(case.text).findings])
    ]
    recall = 1 - len(missed) / len(cases)
    print(f"\nrecall {recall:.4f} of {len(cases)}; missed {[case.text[:80] for case in missed[:5]]}")
    assert recall >= 0.99


def test_findings_and_speed_on_developer_text(redactor: SecretRedactor, developer_text: list[str]) -> None:
    size = sum(map(len, developer_text)) / MEGABYTE
    started = time.process_time()
    found = sum(len(redactor.redact(text).findings) for text in developer_text)
    spent = time.process_time() - started
    print(f"\n{found / size:.2f} findings per MB, {size / spent:.2f} MB per CPU second")
    assert found / size <= 2
    assert size / spent >= 2


@pytest.mark.parametrize("form", ["one line", "escaped JSON"])
def test_five_megabytes_on_one_line(redactor: SecretRedactor, developer_text: list[str], form: str) -> None:
    text = "".join(developer_text)[: 5 * MEGABYTE]
    text = text.replace("\n", " ") if form == "one line" else text.replace("\\", "\\\\").replace("\n", "\\n")
    token = tokens(8)["forge-1"]
    text = f"{text} {token} end"

    started = time.process_time()
    result = redactor.redact(text)
    spent = time.process_time() - started

    print(f"\n{form}: {spent:.2f} s CPU")
    assert token not in result.text
    assert spent <= 5


def test_another_thread_is_never_frozen(redactor: SecretRedactor, developer_text: list[str]) -> None:
    text = "".join(developer_text)[: 5 * MEGABYTE]
    worker = threading.Thread(target=redactor.redact, args=(text,))
    worst = 0.0
    last = time.perf_counter()
    worker.start()
    while worker.is_alive():
        time.sleep(0.001)
        now = time.perf_counter()
        worst = max(worst, now - last)
        last = now
    print(f"\nworst gap {worst * 1000:.0f} ms")
    assert worst <= 0.25  # the figure is for a quiet machine; 50 ms is the target there


def test_recall_on_the_blind_corpus(redactor: SecretRedactor) -> None:
    cases = [case for seed in range(300, 310) for case in blind_cases(seed)]
    total: dict[str, int] = {}
    found: dict[str, int] = {}
    for case in cases:
        spans = [(f.start, f.end) for f in redactor.redact(case.text).findings]
        total[case.kind] = total.get(case.kind, 0) + 1
        found[case.kind] = found.get(case.kind, 0) + (not survives(case.text, case.start, case.end, spans))
    print()
    for kind in sorted(total):
        print(f"{kind:20} {found[kind] / total[kind]:.3f} of {total[kind]}")
    clean = [text for text in clean_texts() if redactor.redact(text).findings]
    print(f"all {sum(found.values()) / len(cases):.4f} of {len(cases)}; clean lines with a finding: {len(clean)}")
    assert sum(found.values()) / len(cases) >= 0.95


@pytest.mark.parametrize("form", ["document", "one line", "other scripts", "many findings"])
def test_the_window_is_not_held_while_five_megabytes_are_redacted(
    developer_text: list[str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way of the window: from its event loop to a worker process and back."""
    monkeypatch.setenv("LTMEM_REDACTOR", "layer")
    text = "".join(developer_text)[: 5 * MEGABYTE]
    if form == "one line":
        text = text.replace("\n", " ")
    elif form == "other scripts":
        text = "密码 🔑 " + text
    elif form == "many findings":
        text = "".join(f'password = "Xk3!fooBar{n}"\n' for n in range(60_000))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    adapters = compose(None, eager_workers=True)

    async def measured() -> tuple[float, float, object]:
        await adapters.redact_text("warm up")
        return await longest_gap(lambda: adapters.redact_text(text))

    try:
        seen, net, _ = asyncio.run(measured())
    finally:
        adapters.close()
        sys.setswitchinterval(interval)
    print(f"\n{form}: longest gap {seen * 1000:.0f} ms as seen, {net * 1000:.1f} ms without waiting for a processor")
    assert net <= 0.05
