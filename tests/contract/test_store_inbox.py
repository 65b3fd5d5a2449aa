"""Inbox, rejected hunks and verdicts on real SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.inbox import INBOX_EXPIRY_SECONDS, INBOX_TOTAL
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.store.store import SqliteStore
from tests.helpers.stores import DAY, NOW, Home, a_reply, an_output, claimed, extracted


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def line(text: str, number: int | None = 3, kind: str = "fact", score: int = 50) -> Candidate:
    return Candidate(text, number, kind, score)


def no_op(store: SqliteStore, *inbox: Candidate, thread: str = "t1", source: int = NOW - DAY, now: int = NOW) -> None:
    store.succeed_stage1_no_output(claimed(store, thread, source, now=now), a_reply(*inbox), now=now)


def called(store: SqliteStore) -> int:
    job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    return 0 if job is None else job.input_watermark


def test_lines_of_a_no_op_and_of_a_success_wait_best_first(home: Home) -> None:
    with home.open() as store:
        no_op(store, line("weak", score=10), line("strong", score=90))
        store.succeed_stage1(claimed(store, "t2"), an_output("t2"), a_reply(line("middle", score=50)), now=NOW)
        found = store.inbox(NOW)
        assert [(w.text, w.thread_id, w.line, w.kind) for w in found] == [
            ("strong", "t1", 3, "fact"),
            ("middle", "t2", 3, "fact"),
            ("weak", "t1", 3, "fact"),
        ]
        assert len(store.outputs()) == 1


def test_six_lines_a_rollout_and_two_hundred_in_all(home: Home) -> None:
    with home.open() as store:
        no_op(store, *(line(f"a{n}", score=n) for n in range(9)), thread="first")
        assert len(store.inbox(NOW)) == 6
        for n in range(40):
            no_op(store, *(line(f"{n}-{m}", score=60) for m in range(6)), thread=f"t{n:02}")
        assert len(store.inbox(NOW)) == INBOX_TOTAL
        assert "first" not in {w.thread_id for w in store.inbox(NOW)}


def test_a_line_expires_after_thirty_days_and_extracting_again_does_not_make_it_younger(home: Home) -> None:
    with home.open() as store:
        no_op(store, line("old"))
        later = NOW + INBOX_EXPIRY_SECONDS - 1
        no_op(store, line("OLD"), line("new"), source=NOW, now=later)
        assert {w.text: w.created_at for w in store.inbox(later)} == {"OLD": NOW, "new": later}
        assert [w.text for w in store.inbox(later + 1)] == ["new"]
        no_op(store, line("other"), thread="t2", now=later + 1)
        assert home.sql("SELECT count(*) FROM inbox") == [(2,)]
        no_op(store, line("old"), line("new"), source=NOW + 5, now=later + 2)
        assert {w.text for w in store.inbox(later + 2)} == {"old", "new", "other"}


def test_a_new_extraction_replaces_the_waiting_lines_of_its_thread(home: Home) -> None:
    with home.open() as store:
        no_op(store, line("gone"), line("stays"))
        no_op(store, line("stays", 9), source=NOW)
        assert [(w.text, w.line) for w in store.inbox(NOW)] == [("stays", 9)]
        no_op(store, source=NOW + 1)
        assert store.inbox(NOW) == ()


def test_a_taken_line_becomes_a_bullet_of_the_row_and_calls_for_phase_2(home: Home) -> None:
    with home.open() as store:
        store.succeed_stage1(claimed(store), an_output(), a_reply(line("Use uv", 12, "preference")), now=NOW)
        before = called(store)
        assert store.take_inbox(store.inbox(NOW)[0].id, now=NOW) == "t1"
        row = store.output("t1")
        assert row is not None
        assert row.raw_memory == (
            "raw of t1\n\nPreference signals:\n- Use uv (rollout:t1:12-12 |note=[taken from the inbox])\n"
        )
        assert called(store) == before + 1
        assert store.inbox(NOW) == ()


def test_a_reworded_line_is_stored_in_the_persons_words(home: Home) -> None:
    with home.open() as store:
        store.succeed_stage1(claimed(store), an_output(), a_reply(line("Use uv", None)), now=NOW)
        store.take_inbox(store.inbox(NOW)[0].id, now=NOW, text="Prefer uv over pip")
        row = store.output("t1")
        assert row is not None
        assert row.raw_memory.endswith("Reusable knowledge:\n- Prefer uv over pip\n")
        assert "Use uv" not in row.raw_memory


def test_a_line_of_a_thread_without_row_makes_one(home: Home) -> None:
    with home.open() as store:
        no_op(store, line("Use uv", 4))
        store.take_inbox(store.inbox(NOW)[0].id, now=NOW)
        row = store.output("t1")
        assert row is not None
        assert "- Use uv (rollout:t1:4-4 |note=[" in row.raw_memory
        assert row.rollout_summary.strip()
        assert (row.cwd, row.rollout_path, row.git_branch) == ("/p", "/s/t1.jsonl", "main")
        assert row.source_updated_at == NOW - DAY
        assert called(store) == NOW - DAY


@pytest.mark.parametrize("again", ["row", "no-op"])
def test_a_taken_line_outlives_a_new_extraction_once(home: Home, again: str) -> None:
    with home.open() as store:
        no_op(store, line("Use uv", 4))
        store.take_inbox(store.inbox(NOW)[0].id, now=NOW)
        for source in (NOW, NOW + 1):
            if again == "row":
                extracted(store, source=source, raw_memory="new text")
            else:
                no_op(store, line("use UV", 4), source=source)
        row = store.output("t1")
        assert row is not None
        assert row.raw_memory.count("Use uv") == 1
        assert ("new text" in row.raw_memory) is (again == "row")
        assert store.inbox(NOW) == ()


def test_a_dropped_line_never_returns_whatever_thread_says_it(home: Home) -> None:
    with home.open() as store:
        no_op(store, line("Use uv"))
        assert store.drop_inbox(store.inbox(NOW)[0].id, now=NOW) == "t1"
        no_op(store, line("use  UV"), source=NOW)
        no_op(store, line("Use uv"), line("other"), thread="t2")
        assert [w.text for w in store.inbox(NOW)] == ["other"]
        assert store.outputs() == ()
        assert home.sql("SELECT count(*) FROM inbox_decisions WHERE bullet <> ''") == [(0,)]


def test_a_line_that_does_not_wait_any_more_is_refused(home: Home) -> None:
    with home.open() as store:
        no_op(store, line("a"))
        waiting = store.inbox(NOW)[0]
        for late in (waiting.id + 1, waiting.id):
            with pytest.raises(InputError, match="does not wait"):
                store.take_inbox(late, now=waiting.expires_at)
        store.drop_inbox(waiting.id, now=NOW)
        with pytest.raises(InputError):
            store.drop_inbox(waiting.id, now=NOW)


# --- rejected hunks ---


def test_rejected_hunks_last_until_lifted(home: Home) -> None:
    hunk = RefusedHunk("MEMORY.md", ("a\r\n",), ("b\ud800\n", "c"), NOW, "not true", ("t1", "t2"))
    with home.open() as store:
        assert store.refuse_hunks([hunk, RefusedHunk("MEMORY.md", (), ("z\n",), NOW + 1)]) == 2
        assert store.refuse_hunks([RefusedHunk("MEMORY.md", hunk.old, hunk.new, NOW + 9)]) == 0
    with home.open() as store:
        assert store.refused_hunks()[0] == hunk
        assert [h.new for h in store.refused_hunks()] == [hunk.new, ("z\n",)]
        assert store.lift_refusal(hunk.key)
        assert not store.lift_refusal(hunk.key)
        assert [h.new for h in store.refused_hunks()] == [("z\n",)]


# --- verdicts ---


def test_verdicts_are_appended_and_listed_by_frame(home: Home) -> None:
    one = VerdictRecord(NOW, "me", "frame-1", "MEMORY.md:3", "supports", "note", "hash", ("t1",))
    undo = VerdictRecord(NOW + 1, "me", "frame-1", "MEMORY.md:3", "undone")
    other = VerdictRecord(NOW, "you", "frame-2", "MEMORY.md:3", "partly")
    with home.open() as store:
        assert store.add_verdicts([one, undo, other]) == 3
        assert store.verdicts("frame-1") == (one, undo)
        assert store.verdicts() == (one, undo, other)
