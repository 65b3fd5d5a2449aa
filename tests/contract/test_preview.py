"""`preview extract`: one JSON line per session, nothing written, nothing learnt from sessions that must not be read."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.memory_items import memory_items, render_transcript
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.llm.builtin.extraction import BuiltinExtractor
from ltmem_gui.redactor.service import SecretRedactor
from ltmem_gui.sources.library import RolloutLibrary, load_rollout
from tests.helpers.extraction_cases import request_of

THREAD = "01a17720-ca00-71d5-ad7e-e9a1c73abab1"


class _Offload:
    async def store(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    cpu = store
    thread = store


class _Preparer:
    async def prepare(self, ref: RolloutRef, *, token_limit: int) -> ExtractionInput:
        rollout = load_rollout(ref)
        items = memory_items(rollout)
        text, before, tokens, cut = render_transcript(items, token_limit)
        request = request_of(list(items), thread=rollout.id, cwd=rollout.cwd)
        return replace(request, transcript=text, tokens_before=before, tokens=tokens, truncated=cut)


class _Fake:
    """A provider on another host with one fixed answer, or a failure."""

    mark = ProviderMark(name="custom", label="Fake", host="models.example")

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.closed = False

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        if isinstance(self.answer, Exception):
            raise self.answer
        return ExtractionReply(self.answer, 10, 5)

    async def close(self) -> None:
        self.closed = True


class _Adapters:
    def __init__(self, extractor: Any) -> None:
        self.rollouts = RolloutLibrary()
        self.offload = _Offload()
        self.preparer = _Preparer()
        self._extractor = extractor

    def clock(self) -> int:
        return 1_900_000_000

    def extractor(self, provider: str, settings_model: str) -> Any:
        return self._extractor

    async def redact_text(self, text: str, known: tuple[str, ...] = ()) -> Redaction:
        return Redaction(text.replace("hunter2", "[REDACTED]"), ())

    def layer_redactor(self) -> SecretRedactor:
        return SecretRedactor(engine="layer")

    def use_settings(self, settings: Settings) -> None:
        pass

    def close(self) -> None:
        pass


def session(path: Path, *messages: str, **meta: Any) -> Path:
    head = {"id": THREAD, "timestamp": "2026-10-26T07:33:20.000Z", "cwd": "/home/dev/shop", "source": "cli", **meta}
    rows: list[dict[str, Any]] = [{"timestamp": head["timestamp"], "type": "session_meta", "payload": head}]
    for text in messages:
        payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        rows.append({"timestamp": "2026-10-26T07:40:00.000Z", "type": "response_item", "payload": payload})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def preview(extractor: Any, *args: str) -> tuple[int, list[dict[str, Any]], str]:
    out, err = io.StringIO(), io.StringIO()
    surfaces = Surfaces(compose=lambda _home: _Adapters(extractor), launch_window=lambda _options: 0)
    code = run(["preview", "extract", *args], surfaces, io.StringIO(), out, err)
    rows = [json.loads(row) for row in out.getvalue().split("\n") if row] if "--json" in args else []
    return code, rows, err.getvalue() if rows else out.getvalue() + err.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"rollout-2026-10-26T07-33-20-{THREAD}.jsonl"


def test_a_line_has_exactly_the_promised_keys_and_old_sessions_are_shown(path: Path) -> None:
    session(path, "Add a date picker.", "No, never use npm in this repo. Always use pnpm.")
    before = path.stat()
    code, (row,), _ = preview(BuiltinExtractor(), str(path), "--json")
    assert (code, row["outcome"], row["id"]) == (0, "proposed", THREAD)
    assert list(row) == [
        "id",
        "outcome",
        "raw_memory",
        "rollout_summary",
        "rollout_slug",
        "proposed",
        "inbox",
        "findings",
        "tokens_in",
        "tokens_sent",
    ]
    assert [list(c) for c in row["proposed"]] == [["text", "line", "kind", "score"]]
    assert row["proposed"][0]["line"] == 3
    assert row["findings"] == []
    assert row["tokens_in"] >= row["tokens_sent"] > 0
    after = path.stat()
    assert (after.st_mtime_ns, after.st_size, sorted(path.parent.iterdir())) == (
        before.st_mtime_ns,
        before.st_size,
        [path],
    )


def test_only_an_inbox_is_a_no_op_with_the_inbox_kept(path: Path) -> None:
    session(path, "Draw the chart.", "the second bar in dark blue, use hatching for the others maybe")
    _, (row,), _ = preview(BuiltinExtractor(), str(path), "--json")
    assert (row["outcome"], row["raw_memory"], row["rollout_summary"], row["rollout_slug"]) == ("no-op", "", "", "")
    assert row["proposed"] == []


def test_a_session_that_must_not_be_read_is_not_and_says_why(path: Path) -> None:
    session(path, "Always use pnpm in this repo.", memory_mode="disabled")
    _, (row,), _ = preview(_Fake(AssertionError("it was asked")), str(path), "--json")
    assert (row["outcome"], row["tokens_sent"]) == ("no-op", 0)
    assert "memory mode is disabled" in row["findings"][0]["text"]


def test_what_a_run_would_skip_can_still_be_previewed(path: Path) -> None:
    session(path, "Always use pnpm in this repo.", source="exec")
    _, (row,), _ = preview(BuiltinExtractor(), str(path), "--json")
    assert row["outcome"] == "proposed"
    assert row["findings"][0]["severity"] == "info"


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (ProviderError("busy", group="rate_limit"), "rate_limit"),
        ("not json", "schema"),
        ('{"raw_memory": "x", "rollout_summary": "y", "rollout_slug": "", "more": 1}', "schema"),
    ],
)
def test_a_failure_is_a_line_of_its_own_and_the_exit_code(path: Path, answer: Any, rule: str) -> None:
    session(path, "Always use pnpm in this repo.")
    code, (row,), err = preview(_Fake(answer), str(path), "--provider", "custom", "--json")
    assert (code, row["outcome"], row["findings"][0]["rule"]) == (1, "failed", rule)
    assert "models.example" in err


def test_a_models_output_is_redacted_and_its_references_checked(path: Path) -> None:
    session(path, "Always use pnpm in this repo.")
    memory = f"- the password is hunter2 [c1]\nrollout:{THREAD}:99-99 |note=[c1 x]"
    answer = json.dumps({"raw_memory": memory, "rollout_summary": "# s", "rollout_slug": "hunter2"})
    fake = _Fake(answer)
    _, (row,), _ = preview(fake, str(path), "--json")
    assert "hunter2" not in json.dumps(row)
    assert [finding["rule"] for finding in row["findings"]] == ["unresolved-citation"]
    assert fake.closed


def test_without_json_it_reads_like_a_page_and_a_missing_path_is_named(path: Path) -> None:
    session(
        path, "Hello.", "Always use pnpm in this repo.", "maybe put the logo a bit to the left of it", source="exec"
    )
    code, _, page = preview(BuiltinExtractor(), str(path))
    assert code == 0
    assert "proposed" in page
    assert "line 3: Always use pnpm in this repo." in page
    assert "### Task 1" in page
    code, _, page = preview(BuiltinExtractor(), str(path.parent / "nowhere.jsonl"))
    assert (code, "nowhere.jsonl" in page) == (1, True)
    empty = path.parent / "empty"
    empty.mkdir()
    assert "no session is here" in preview(BuiltinExtractor(), str(empty))[2]


def test_the_built_in_provider_closes_without_having_opened_anything() -> None:
    assert asyncio.run(BuiltinExtractor().close()) is None


PRICE = ("--set", "prices=custom m 1 10 USD")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('{"raw_memory": "", "rollout_summary": "", "rollout_slug": ""}', "cost 0.00006 USD\n"),
        (ProviderError("no", group="refusal", usage=TokenUsage(10, 5)), "cost 0.00006 USD\n"),
        (ProviderError("no", group="refusal", usage=TokenUsage()), "cost 0 USD; of 1 more it is not known\n"),
        (ProviderError("no", group="timeout"), "cost 0 USD\n"),
    ],
)
def test_a_preview_says_the_price_first_and_the_cost_last(path: Path, answer: str | Exception, words: str) -> None:
    session(path, "Always use pnpm here.")
    fake = _Fake(answer)
    fake.mark = ProviderMark(name="custom", label="Fake", host="models.example", model="m")
    _, _, said = preview(fake, str(path), "--json", *PRICE)
    assert "to models.example; 1 USD in, 10 USD out per million tokens\n" in said
    assert said.endswith(words)
    _, _, said = preview(_Fake(answer), str(path), "--json")
    assert said.endswith("to models.example; price unknown\n")
