"""What a person who audits a run of the agent finds afterwards: what was asked for, what was refused and why."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentAction, AgentStep, AgentTranscript, ToolOutcome
from ltmem_gui.domain.agent_kept import KEPT_BYTES, KeptState, bound, kept, kept_steps, steps_of
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.pipeline.failure_words import WITHHELD
from ltmem_gui.store.opening import DATABASE_NAME
from ltmem_gui.store.schema import MIGRATIONS
from tests.contract.test_agent_cli import call
from tests.helpers.agents import agent_server, consolidated, copied, do, plan_with, raw, run_with
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.stores import Home, a_receipt

SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
ESCAPED = "".join(f"\\u{ord(c):04x}" for c in SECRET)
NESTED = '{"a": ' * 400 + f'"{SECRET}"' + "}" * 400


def moves() -> list[Any]:
    """Return a run of a model that forges its calls."""
    return [
        [do("read", path="raw_memories.md", line_offset=2, max_lines=3), do("search", queries=["pnpm", "never\nnpm"])],
        [do("search", queries=["q" * 1_000_000]), do("search", queries=[f"{'x' * 380}{SECRET}"])],
        [do("read", path="../../etc/\u202epasswd"), do("write", path="/abs.md", content=f"the key {SECRET}")],
        [do("run_shell", cmd="id", env={"TOKEN": SECRET}), raw("shell", NESTED), raw("shell", f'{{"k": "{ESCAPED}"}}')],
        [raw("read", f'{{"path": "{SECRET}'), raw("write", "[1, {}]"), do("read", path=7), raw("list", '"x"')],
        [raw("list", '{"max_results": 1' + "0" * 5_000 + "}"), raw("list", '{"max_results": 1' + "0" * 4_000 + "}")],
        [do("write", path="own.md", content=f"first\npassword: {SECRET}\n{'long ' * 400}")],
        [do("edit", path="own.md", old_text="first", new_text=f"\u200b2nd {SECRET}"), do("delete", path="own.md")],
        [do("write", path="raw_memories.md", content="x"), do("search", queries=["\ud800"])],
        "Done.",
    ]


@dataclass
class Run:
    bench: Bench
    receipt: Receipt
    events: list[Any]

    def steps(self) -> tuple[AgentStep, ...]:
        found = kept_steps(self.receipt)
        assert found.state is KeptState.WHOLE
        return found.steps


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return consolidated(tmp_path_factory.mktemp("audit"))


@pytest.fixture(scope="module")
def played(template: Bench, tmp_path_factory: pytest.TempPathFactory) -> Run:
    bench = copied(template, tmp_path_factory.mktemp("played"))
    with agent_server(*moves()) as server:
        receipt = run_with(bench, plan_with(bench, server, note="look")).receipt
    return Run(bench, receipt, list(bench.events))


@pytest.fixture
def run(played: Run, tmp_path: Path, guard: Guard) -> Run:
    bench = copied(played.bench, tmp_path)
    guard.protect(bench.home, bench.memory)
    return Run(bench, played.receipt, played.events)


def actions(run: Run) -> Iterator[AgentAction]:
    for step in run.steps():
        yield from step.actions


def test_what_was_read_and_looked_for_is_kept(run: Run) -> None:
    read, search = run.steps()[0].actions
    assert read.asked == "line_offset 2 · max_lines 3"
    assert read.detail.startswith("lines 2-4 of ")
    assert search.asked == "queries pnpm · never↵npm"
    long, _ = run.steps()[1].actions
    assert (len(long.arguments[0].text), long.arguments[0].left_out) == (400, 1_000_000 - 399)


def test_what_was_written_is_kept_by_its_size_and_how_it_begins(run: Run) -> None:
    (write,) = run.steps()[6].actions
    (content,) = write.arguments
    assert content.size == len(f"first\npassword: {SECRET}\n{'long ' * 400}")
    assert content.text.startswith("first↵password: [REDACTED:")
    assert content.left_out > 1_000
    edit, delete = run.steps()[7].actions
    assert [argument.name for argument in edit.arguments] == ["old_text", "new_text"]
    assert "⟨U+200B⟩2nd [REDACTED" in edit.asked
    assert (delete.path, delete.detail, delete.arguments) == ("own.md", "deleted", ())


def test_each_refusal_says_why(run: Run) -> None:
    undone = [(a.tool, a.outcome.value, a.reason) for a in actions(run) if a.outcome is not ToolOutcome.DONE]
    assert undone == [
        ("read", "refused", "outside"),
        ("write", "refused", "outside"),
        ("run_shell", "refused", "unknown tool"),
        ("shell", "refused", "unknown tool"),
        ("shell", "refused", "unknown tool"),
        ("read", "error", "bad arguments"),
        ("write", "error", "bad arguments"),
        ("read", "error", "bad arguments"),
        ("list", "error", "bad arguments"),
        ("list", "error", "bad arguments"),
        ("write", "refused", "read-only"),
        ("search", "error", "bad arguments"),
    ]
    assert all(a.detail for a in actions(run) if a.outcome is not ToolOutcome.DONE)
    assert "refused: outside" in run.receipt.steps[2]


def test_no_secret_and_no_hidden_character_is_told_anywhere(run: Run) -> None:
    with run.bench.stores.reading(run.bench.home) as store:
        receipts = store.receipts()
    _, log, _ = call(run.bench, "log", "--home", str(run.bench.home))
    _, as_json, _ = call(run.bench, "log", "--home", str(run.bench.home), "--json")
    stored = b"".join(path.read_bytes() for path in run.bench.home.rglob("*") if path.is_file())
    for told in (repr(receipts), log, as_json, stored.decode("utf-8", "replace"), repr(run.events)):
        assert SECRET not in told
        assert SECRET[:12] not in told
        assert ESCAPED[:60] not in told
        assert "\u202e" not in told
        assert "\u200b" not in told
    assert "⟨U+202E⟩passwd" in log
    assert sum(len(receipt.transcript.body) for receipt in receipts if receipt.transcript) < 40_000 < KEPT_BYTES


def test_the_log_tells_each_call(run: Run) -> None:
    _, log, _ = call(run.bench, "log", "--home", str(run.bench.home))
    assert "step 1: read raw_memories.md [line_offset 2 · max_lines 3] (done): lines 2-4 of " in log
    assert "step 4: run_shell [arguments {" in log
    assert "(refused, unknown tool: there is no such tool" in log
    assert "(refused, outside: " in log
    assert "characters)]" in log
    _, text, _ = call(run.bench, "log", "--home", str(run.bench.home), "--json")
    (entry,) = [each for each in json.loads(text)["operations"] if "transcript" in each]
    transcript = entry["transcript"]
    assert (transcript["state"], transcript["calls_left_out"]) == ("whole", 0)
    search = transcript["steps"][0]["actions"][1]
    assert search["arguments"][0] == {"name": "queries", "text": "pnpm", "left_out": 0, "size": None}
    assert entry["body"]["transcript_sha256"] == run.receipt.transcript_sha256
    assert "transcript" not in entry["body"]


def test_the_log_counts_the_calls_that_had_no_room(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    flood = AgentTranscript((AgentStep(1, (AgentAction("list", "a", ToolOutcome.DONE),) * 50),))
    texts = kept(flood, (), room=2_000)
    with home.open() as store:
        store.record_receipt(a_receipt(steps=flood.rows(), transcript=texts, transcript_sha256=bound(texts)))
    adapters = Bench(tmp_path)
    _, log, _ = call(adapters, "log", "--home", str(home.path))
    assert " calls more are not kept" in log
    assert log.count("step 1: list a (done)") == 50 - steps_of(bound(texts), texts).left_out > 0


def test_the_same_is_told_while_it_works(run: Run) -> None:
    live = [event for event in run.events if isinstance(event, AgentStep)]
    assert [step.actions for step in live] == [step.actions for step in run.steps()]


def test_what_is_changed_by_hand_is_found(run: Run, guard: Guard) -> None:
    with guard.grant(), closing(sqlite3.connect(run.bench.home / DATABASE_NAME)) as db, db:
        db.execute("UPDATE agent_transcripts SET body = replace(body, 'outside', 'allowed')")
    code, text, _ = call(run.bench, "log", "--home", str(run.bench.home), "--verify")
    assert code == 1
    assert "what is kept of its calls was changed" in text
    _, log, _ = call(run.bench, "log", "--home", str(run.bench.home))
    assert "another program changed it" in log
    assert "allowed" not in log
    assert "read (refused: outside)" in log


def test_forgetting_a_session_takes_the_texts_and_leaves_the_calls(run: Run, guard: Guard) -> None:
    with guard.grant(), run.bench.stores.writing(run.bench.home) as store:
        thread = store.outputs()[0].thread_id
        assert store.forget(thread, reason="r", now=run.bench.now)["agent_transcripts"] == 1
        assert store.verify_log() is None
    assert b"line_offset" not in (run.bench.home / DATABASE_NAME).read_bytes()
    _, log, _ = call(run.bench, "log", "--home", str(run.bench.home))
    assert "went when a session was forgotten" in log
    assert "step 1: read raw_memories.md, search; " in log
    _, text, _ = call(run.bench, "log", "--home", str(run.bench.home), "--json")
    assert '"state": "removed"' in text


def test_words_that_cannot_be_checked_are_withheld(template: Bench, tmp_path: Path, monkeypatch: Any) -> None:
    from ltmem_gui.domain.errors import RedactionFailed

    bench = copied(template, tmp_path)
    checking = type(bench).redact_texts

    async def choosy(self: Bench, texts: tuple[str, ...], *rest: Any) -> Any:
        if any("UNCHECKABLE" in text for text in texts):
            raise RedactionFailed("the engine is gone", "look")
        return await checking(self, texts, *rest)

    async def one(self: Bench, text: str, *rest: Any, **more: Any) -> Any:
        if "UNCHECKABLE" in text:
            raise RedactionFailed("the engine is gone", "look")
        return await asking(self, text, *rest, **more)

    asking = type(bench).redact_text
    with agent_server([do("search", queries=["UNCHECKABLE word", "pnpm"])], "Done.") as server:
        plan = plan_with(bench, server, note="look")
        monkeypatch.setattr(type(bench), "redact_texts", choosy)
        monkeypatch.setattr(type(bench), "redact_text", one)
        receipt = run_with(bench, plan).receipt
    (search,) = kept_steps(receipt).steps[0].actions
    assert search.asked == f"queries {WITHHELD} · pnpm"
    assert "UNCHECKABLE" not in search.detail


def test_a_database_of_the_version_before_opens_with_its_receipts(tmp_path: Path) -> None:
    home = Home(tmp_path / "old")
    home.path.mkdir()
    body = a_receipt(kind="consolidate", steps=("1: read a.md, read (refused); 5 tokens sent, 2 received, 0 s",))
    old = body.model_dump(mode="json")
    del old["transcript_sha256"]
    with closing(sqlite3.connect(home.database)) as db, db:
        for version in (1, 2, 3):
            for statement in MIGRATIONS[version]:
                db.execute(statement)
        db.execute(
            "INSERT INTO operations VALUES (1, 5, 'receipt', ?, 1, ?, 'p', 'h')", (body.plan_digest, json.dumps(old))
        )
        db.execute("UPDATE operations_head SET number = 1, hash = 'h'")
        db.execute("PRAGMA user_version = 3")
    with home.stores.reading(home.path) as store:
        (receipt,) = store.receipts()
        assert store.transcripts() == {}
    assert receipt == body
    assert kept_steps(receipt).state is KeptState.NONE
    with home.open() as store:
        assert store.receipt_of(body.plan_digest) == body
        assert store.record_receipt(a_receipt("next")).operation_number == 2


@pytest.mark.parametrize("threads", ["no json", "7", "{}", '["a", 1]'])
def test_a_damaged_list_of_sessions_is_no_reason_to_lose_the_receipts(tmp_path: Path, threads: str) -> None:
    home = Home(tmp_path / "home").create()
    with home.open() as store:
        store.record_receipt(a_receipt())
        home.sql("INSERT INTO agent_transcripts VALUES (1, '{}', ?)", threads)
        home.sql("INSERT INTO agent_transcripts VALUES (9, '{}', '[]')")
        (receipt,) = store.receipts()
        assert receipt.transcript is not None
        assert kept_steps(receipt).state is KeptState.NONE
        assert store.verify_log() is None
