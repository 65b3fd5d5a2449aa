"""Forgetting a session: a canary is in no byte of the data folder afterwards."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltmem_gui.domain.agent import AgentAction, AgentStep, AgentTranscript, CallArgument, ToolOutcome
from ltmem_gui.domain.agent_kept import KeptState, bound, kept, kept_steps
from ltmem_gui.domain.anchors import EvidenceSnapshot
from ltmem_gui.domain.audit_evidence import KeptEvidence
from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobStatus
from ltmem_gui.domain.plan import SelectedRow
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.store.opening import DATABASE_NAME
from ltmem_gui.store.store import SqliteStore
from tests.helpers.stores import NOW, Home, a_receipt, a_reply, an_output, claimed, claimed_global, extracted

CANARY = "canary-4711-sings"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def fill(store: SqliteStore) -> None:
    """Put the canary of thread `t1` wherever text of a thread can be, and neighbours beside it."""
    for n in range(30):
        extracted(store, f"other-{n}", raw_memory="x" * 900)
    failing = claimed(store, "t1", 90)
    store.fail_stage1(failing, outcome="failed", group="g", reason=f"bad {CANARY}", now=NOW, retry_after=None)
    # the first version of the row goes to the file before it is overwritten by a shorter one
    extracted(store, "t1", 100, raw_memory=f"{CANARY} one " * 2000, rollout_summary=CANARY, rollout_slug=CANARY)
    claim = claimed(store, "t1", 200)
    inbox = [Candidate(f"take {CANARY}", 1, "fact", 9), Candidate(f"wait {CANARY}", 2, "fact", 8)]
    output = an_output("t1", 200, raw_memory=f"{CANARY} two", cwd=f"/{CANARY}", rollout_path=f"/{CANARY}")
    store.succeed_stage1(claim, output, a_reply(*inbox), now=NOW)
    store.take_inbox(store.inbox(NOW)[0].id, now=NOW)
    store.refuse_hunks([RefusedHunk("MEMORY.md", (), (f"{CANARY}\n",), NOW, CANARY, ("t1", "other-1"))])
    store.add_verdicts([VerdictRecord(NOW, "me", "f", "i", "supports", CANARY, "", ("t1",))])
    quote = EvidenceSnapshot("a.md", 1, 1, CANARY, "0", CANARY, CANARY)
    store.keep_evidence("/m", [KeptEvidence("MEMORY.md", "n", quote, NOW, thread_ids=("t1",))])
    store.credit_usage([{"thread_id": "t1", "record": "1", "cited_id": "other-1"}], now=NOW)
    store.exclude("t1", reason=CANARY, now=NOW)


def keep_transcripts(store: SqliteStore) -> None:
    """Keep what two runs of an agent looked for: one knew `t1`, and one did not."""
    for threads in (("t1", "other-1"), ("other-2",)):
        looked_for = CallArgument("queries", CANARY if "t1" in threads else "else")
        action = AgentAction("search", "", ToolOutcome.DONE, arguments=(looked_for,))
        texts = kept(AgentTranscript((AgentStep(1, (action,)),)), threads)
        store.record_receipt(a_receipt(kind="consolidate", transcript=texts, transcript_sha256=bound(texts)))


def bytes_of(home: Home) -> bytes:
    return b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())


def test_the_canary_is_in_no_byte_afterwards_not_even_while_the_store_is_open(home: Home) -> None:
    with home.open() as store:
        fill(store)
        keep_transcripts(store)
    assert CANARY.encode() in bytes_of(home)
    with home.open() as store:
        counts = store.forget("t1", reason="forgotten", now=NOW)
        assert CANARY.encode() not in bytes_of(home)
        assert counts == {
            "stage1_outputs": 1,
            "jobs": 1,
            "attempts": 3,
            "inbox": 1,
            "inbox_decisions": 1,
            "usage_ledger": 1,
            "refused_hunks": 1,
            "verdicts": 1,
            "evidence": 1,
            "agent_transcripts": 1,
        }
        assert [kept_steps(receipt).state for receipt in store.receipts()] == [KeptState.REMOVED, KeptState.WHOLE]
        assert len(store.outputs()) == 30
        assert store.excluded() == {"t1": "forgotten"}
        assert store.verify_log() is None
    assert CANARY.encode() not in bytes_of(home)
    assert list(home.files()) == [DATABASE_NAME]


def test_rejected_lines_of_sessions_that_nobody_noted_are_forgotten_with_any(home: Home) -> None:
    """Earlier versions kept no threads with them."""
    kept_on = RefusedHunk("MEMORY.md", (), ("x\n",), NOW, "", ("other",))
    with home.open() as store:
        store.refuse_hunks([RefusedHunk("MEMORY.md", (), (f"{CANARY}\n",), NOW), kept_on])
        assert store.forget("t1", reason="r", now=NOW)["refused_hunks"] == 1
        assert store.refused_hunks() == (kept_on,)


@pytest.mark.log_expected
def test_a_damaged_file_that_was_set_aside_is_forgotten_too(home: Home) -> None:
    with home.open() as store:
        fill(store)
    data = bytearray(home.database.read_bytes())
    data[100:200] = b"\xa5" * 100
    home.database.write_bytes(bytes(data))
    with home.open() as store:
        assert CANARY.encode() in bytes_of(home)
        store.forget("t1", reason="r", now=NOW)
        assert CANARY.encode() not in bytes_of(home)
    assert list(home.files()) == [DATABASE_NAME]


def test_11_forgetting_a_selected_thread_calls_for_phase_2(home: Home) -> None:
    with home.open() as store:
        extracted(store, "t1", 100)
        extracted(store, "t2", 100)
        claim = claimed_global(store)
        rows = (SelectedRow(thread_id="t1", source_updated_at=100),)
        store.finish_global(claim, watermark=100, rows=rows, receipt=a_receipt(), now=NOW)
        store.forget("t2", reason="r", now=NOW)
        job = store.job(GLOBAL_KIND, GLOBAL_KEY)
        assert job is not None
        assert job.status is JobStatus.DONE
        store.forget("t1", reason="r", now=NOW)
        job = store.job(GLOBAL_KIND, GLOBAL_KEY)
        assert job is not None
        assert job.status is JobStatus.PENDING
        assert job.input_watermark >= NOW
        assert store.outputs() == ()


def test_a_reader_that_holds_the_log_delays_the_scrub_to_the_next_opening(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltmem_gui.store.opening.BUSY_SECONDS", 0.1)
    with home.open() as store:
        fill(store)
    with closing(sqlite3.connect(home.database, isolation_level=None)) as reader:
        with home.open() as store:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM jobs").fetchall()
            store.forget("t1", reason="r", now=NOW)
            assert store.output("t1") is None
            assert home.sql("SELECT name FROM chores") == [("scrub",)]
        reader.execute("COMMIT")
    with home.open():
        assert home.sql("SELECT name FROM chores") == []
        assert CANARY.encode() not in bytes_of(home)


def test_10_clearing_leaves_no_outputs_and_no_jobs_but_exclusions_and_the_log(home: Home) -> None:
    with home.open() as store:
        fill(store)
        keep_transcripts(store)
        store.record_receipt(a_receipt())
        store.exclude("t1", reason="mine", now=NOW)
        counts = store.clear_all()
        assert counts["stage1_outputs"] == 31
        assert store.outputs() == ()
        assert store.jobs() == ()
        assert store.inbox(NOW) == ()
        assert store.refused_hunks() == ()
        assert store.verdicts() == ()
        assert store.evidence("/m") == ()
        assert store.watermark() == 0
        assert store.excluded() == {"t1": "mine"}
        assert [receipt.transcript for receipt in store.receipts()] == [None, None, None]
        assert store.verify_log() is None
        assert CANARY.encode() not in bytes_of(home)


def test_clearing_keeps_the_lease_of_the_run_that_clears(home: Home) -> None:
    with home.open() as store:
        fill(store)
        claim = claimed_global(store)
        store.clear_all()
        assert store.owns_global(claim)
        assert [job.kind for job in store.jobs()] == [GLOBAL_KIND]
        assert len(store.jobs()[0].attempts) == 1
        assert store.watermark() == 0
        receipt = store.finish_global(claim, watermark=0, rows=(), receipt=a_receipt(operation="clear"), now=NOW)
        assert store.receipts() == (receipt,)
