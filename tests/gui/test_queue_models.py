"""States, rows, filters and order of the queue; the Run button's machine."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled
from ltmem_gui.domain.events import JobFinished, JobStarted, RunProgressed
from ltmem_gui.domain.jobs import STAGE1_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_filter import SORT_KEYS, Order, Query, arrange, compile_query
from ltmem_gui.ui.models.job_rows import JobRow, apply_event, build_rows, count_kinds
from ltmem_gui.ui.models.job_state import JobState, StateKind, state_of, state_of_outcome
from ltmem_gui.ui.models.job_table import COLUMNS, INLINE_LIMIT, JobTableModel
from ltmem_gui.ui.models.run_state import IllegalStep, RunPhase, RunState
from tests.gui.builders import DAY, NOW, scanned
from tests.gui.conftest import LoopHarness

HOUR = 3_600


def job(**changes: object) -> JobRecord:
    base = JobRecord(STAGE1_KIND, scanned(0).id, JobStatus.DONE, last_outcome="succeeded")
    return replace(base, **changes)  # type: ignore[arg-type]


def row(number: int, **changes: object) -> JobRow:
    made = build_rows([scanned(number)], (), NOW)[0]
    return replace(made, **changes)  # type: ignore[arg-type]


UP_TO_DATE = scanned(0, failed="up_to_date").eligibility


@pytest.mark.parametrize(
    ("record", "eligible", "kind", "name"),
    [
        (None, True, StateKind.WAITING, "queued"),
        (job(), True, StateKind.WAITING, "queued"),
        (job(), False, StateKind.GOOD, "done"),
        (job(last_outcome="nothing to remember"), False, StateKind.GOOD, "nothing to keep"),
        (job(last_outcome="made up"), False, StateKind.GOOD, "made up"),
        (job(status=JobStatus.RUNNING, lease_until=NOW + 3_600), True, StateKind.RUNNING, "running"),
        (job(status=JobStatus.RUNNING, lease_until=NOW + 9), True, StateKind.RUNNING, "heartbeat late"),
        (job(status=JobStatus.RUNNING, lease_until=NOW - 9, owner="h:1"), True, StateKind.BAD, "lease expired"),
        (job(status=JobStatus.HELD), True, StateKind.NEEDS, "held"),
        (job(status=JobStatus.PENDING), True, StateKind.WAITING, "queued"),
        (job(status=JobStatus.ERROR, retry_remaining=0), True, StateKind.BAD, "failed, no tries left"),
        (job(status=JobStatus.ERROR, retry_remaining=2), True, StateKind.BAD, "failed, can be retried"),
    ],
)
def test_states_have_a_type_and_a_name(record: JobRecord | None, eligible: bool, kind: StateKind, name: str) -> None:
    state = state_of(scanned(0).eligibility if eligible else UP_TO_DATE, record, NOW)
    assert (state.kind, state.name) == (kind, name)
    assert state.label.split(" ", 1)[1] == name


def test_back_off_names_the_time() -> None:
    waiting = state_of(scanned(0).eligibility, job(status=JobStatus.PENDING, retry_at=NOW + HOUR), NOW)
    assert waiting.name.startswith("backing off until ")
    failed = job(status=JobStatus.ERROR, retry_at=NOW + HOUR, retry_remaining=1, last_error="no answer")
    state = state_of(scanned(0).eligibility, failed, NOW)
    assert state.name.startswith("failed, again at ")
    assert state.reason == "no answer"


def test_a_skip_says_which_rule_and_why() -> None:
    state = state_of(scanned(0, failed="age").eligibility, None, NOW)
    assert (state.kind, state.name, state.reason) == (StateKind.STOPPED, "too old", "because of age")
    assert state_of(scanned(0, failed="new_rule").eligibility, None, NOW).name == "skipped"
    assert state_of(UP_TO_DATE, None, NOW).name == "done"
    assert state_of(None, job(last_outcome=""), NOW).name == "not in this scan"
    assert state_of_outcome("failed", "why").reason == "why"


def test_rows_join_scan_and_jobs_and_keep_keys_unique() -> None:
    attempt = Attempt(2, "host:1:2:w", NOW - 20, NOW - 10, "succeeded")
    record = job(attempts=(attempt,), started_at=NOW - 20, finished_at=NOW - 10, error_group="x")
    lost = job(job_key="elsewhere", title="gone", cwd="/x/y")
    rows = build_rows([scanned(0), scanned(0), scanned(1)], (record, lost), NOW)
    assert len({r.key for r in rows}) == 4
    assert (rows[0].attempt, rows[0].took) == (2, 10)
    assert rows[-1].title == "gone"
    assert rows[-1].project == "y"
    assert count_kinds(rows) == {"waiting": 3, "good": 1}


def test_a_job_newer_than_the_scan_counts() -> None:
    seen = scanned(0)
    fresh = job(last_success_watermark=seen.updated_at)
    done = build_rows([seen], (fresh,), NOW)[0]
    assert (done.state.name, done.scanned.eligibility.failed[0].rule) == ("done", "up_to_date")  # type: ignore[union-attr]
    older = job(last_success_watermark=NOW - 9 * DAY)
    assert build_rows([seen], (older,), NOW)[0].state.name == "queued"


def test_events_move_a_row_on() -> None:
    started = apply_event(row(0), JobStarted("t", 2), NOW)
    assert (started.state.kind, started.attempt, started.started_at) == (StateKind.RUNNING, 2, NOW)
    done = apply_event(started, JobFinished("t", "succeeded", "", 10, 5), NOW + 4)
    assert (done.state.kind, done.took, done.tokens) == (StateKind.GOOD, 4, 15)
    failed = apply_event(started, JobFinished("t", "failed", "too large"), NOW)
    assert (failed.state.kind, failed.reason, failed.tokens) == (StateKind.BAD, "too large", 1_000)
    assert apply_event(done, RunProgressed(1, 2), NOW) is done


ROWS = build_rows(
    [
        scanned(0),
        scanned(1, agent="claude", cwd="/home/dev/site"),
        scanned(2, failed="age"),
        scanned(3),
    ],
    (job(job_key=scanned(3).id, status=JobStatus.ERROR, error_group="quota", last_error="Quota is used up"),),
    NOW,
)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", [0, 1, 2, 3]),
        ("pnpm", [0, 1, 2, 3]),
        ('"number 1"', [1]),
        ('"number 2"', [2]),
        ("-agent:claude", [0, 2, 3]),
        ("agent:claude", [1]),
        ("project:site", [1]),
        ("state:waiting", [0, 1]),
        ("state:too", [2]),
        ("state:Failed", [3]),
        ("error:quota", [3]),
        ("error:age", []),
        ("age>1d", [2, 3]),
        ("age<12h", [0]),
        ("age>2", [3]),
        ("age>soon", [0, 1, 2, 3]),
        (f"id:{scanned(1).id}", [1]),
        ("unknown:thing", []),
        ("state:waiting agent:codex", [0]),
        ('"', []),
    ],
)
def test_queries(query: str, shown: list[int]) -> None:
    compiled = compile_query(query, NOW)
    if query == '"':
        arrange(ROWS, compiled, ())
        return
    assert arrange(ROWS, compiled, ()) == shown
    assert bool(compiled.problem) == (query == "age>soon")


def test_chips_filter_by_type() -> None:
    query = compile_query("", NOW, frozenset({StateKind.BAD, StateKind.STOPPED}))
    assert arrange(ROWS, query, ()) == [2, 3]


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_text_is_a_query(text: str) -> None:
    arrange(ROWS, compile_query(text, NOW), ())


def many(count: int) -> list[JobRow]:
    base = ROWS[0]
    return [
        replace(base, key=str(n), title=f"t{(n * 7919) % count:06d}", project=f"p{n % 3}", tokens=n % 11)
        for n in range(count)
    ]


@pytest.mark.parametrize("descending", [False, True])
def test_merged_chunks_sort_like_one_sort_and_keep_ties(descending: bool) -> None:
    rows = many(6_001)
    orders = (Order("project", descending), Order("tokens"))
    expected = sorted(range(len(rows)), key=lambda i: SORT_KEYS["tokens"](rows[i]))
    expected = sorted(expected, key=lambda i: SORT_KEYS["project"](rows[i]), reverse=descending)
    assert arrange(rows, Query(), orders) == expected


def test_arranging_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        arrange(many(5), Query(), (Order("title"),), token)


def test_every_column_can_be_sorted() -> None:
    for column in COLUMNS:
        assert len(arrange(ROWS, Query(), (Order(column.id),))) == 4


def make_model(harness: LoopHarness) -> JobTableModel:
    return JobTableModel(harness.supervisor, lambda token: QColor("red"), lambda: float(NOW))


def test_the_model_keeps_qt_content(qtbot: QtBot, harness: LoopHarness) -> None:
    model = make_model(harness)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(ROWS)
    for position in range(model.rowCount()):
        for column in range(model.columnCount()):
            index = model.index(position, column)
            for role in (
                Qt.ItemDataRole.DisplayRole,
                Qt.ItemDataRole.ToolTipRole,
                Qt.ItemDataRole.ForegroundRole,
                Qt.ItemDataRole.AccessibleTextRole,
                Qt.ItemDataRole.TextAlignmentRole,
                Qt.ItemDataRole.UserRole,
            ):
                model.data(index, int(role))
    assert model.data(model.index(0, 0)) == "● queued"
    assert model.data(model.index(0, 0), int(Qt.ItemDataRole.AccessibleTextRole)) == "Waiting: queued"
    model.sort(3, Qt.SortOrder.DescendingOrder)
    assert model.data(model.index(0, 3)) == "Use pnpm number 3"
    model.sort(1)
    assert [order.column for order in model.orders] == ["agent", "title"]
    assert model.data(model.index(0, 1)) == "claude"
    model.set_filter("state:waiting")
    assert model.rowCount() == 2
    model.sort(-1)
    assert model.orders == ()
    assert model.position_of(ROWS[2].key) is None
    assert model.row_of(ROWS[2].key) is ROWS[2]
    del tester


def test_neighbours_are_updated_as_one_range_and_nothing_moves(qtbot: QtBot, harness: LoopHarness) -> None:
    model = make_model(harness)
    model.set_rows(ROWS)
    ranges: list[tuple[int, int]] = []
    resets: list[int] = []
    model.dataChanged.connect(lambda first, last, roles: ranges.append((first.row(), last.row())))
    model.modelReset.connect(lambda: resets.append(1))
    changed = {r.key: apply_event(r, JobStarted(r.thread_id, 1), NOW) for r in (ROWS[0], ROWS[2])}
    model.update_rows({**changed, "unknown": ROWS[0]})
    assert ranges == [(0, 0), (2, 2)]
    ranges.clear()
    model.update_rows({r.key: r for r in ROWS[1:3]})
    assert ranges == [(1, 2)]
    assert not resets
    assert model.data(model.index(0, 0)) == "◐ running"
    ranges.clear()
    model.tick({ROWS[2].key, ROWS[3].key, "unknown"})
    assert ranges == [(2, 3)]


def test_a_large_list_is_arranged_on_a_thread(qtbot: QtBot, harness: LoopHarness) -> None:
    model = make_model(harness)
    rows = many(INLINE_LIMIT + 500)
    model.set_rows(rows)

    async def sort_twice() -> None:
        model.sort(3)
        model.sort(3, Qt.SortOrder.DescendingOrder)
        assert model.data(model.index(0, 3)) == "t000000"
        await harness.supervisor.idle()

    harness.run(sort_twice())
    assert model.data(model.index(0, 3)) == f"t{len(rows) - 1:06d}"


# --- the Run button ---


def test_the_usual_way_of_a_run() -> None:
    state = RunState()
    for phase in ("ESTIMATING", "CONFIRMING", "EXTRACTING", "WAITING_FOR_LOCK", "CONSOLIDATING", "PLAN_READY"):
        state = state.to(RunPhase[phase])
    assert state.button == "Plan ready: review"
    assert state.icon == "review"
    for phase in ("CONFIRMING", "APPLYING", "DONE", "ESTIMATING", "NOTHING_TO_DO", "SCANNING", "FAILED", "IDLE"):
        state = state.to(RunPhase[phase])
    assert state.button == "Run…"


def test_a_step_that_cannot_follow_is_a_bug() -> None:
    with pytest.raises(IllegalStep):
        RunState().to(RunPhase.APPLYING)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=12))
@settings(max_examples=60, deadline=None)
def test_progress_never_goes_back(steps: list[tuple[int, int]]) -> None:
    state = RunState(RunPhase.EXTRACTING)
    for done, total in steps:
        after = state.advanced(done, total)
        assert after.done >= state.done
        assert after.total >= state.total
        assert after.done <= after.total
        state = after


def test_time_left_is_told_from_five_on() -> None:
    state = RunState(RunPhase.EXTRACTING, began_at=100.0)
    assert state.advanced(4, 20).eta(110.0) == ""
    assert state.advanced(5, 20).eta(110.0) == "about 30 s left"
    assert state.advanced(20, 20).eta(110.0) == ""
    assert state.advanced(3, 12).button == "Extracting 3/12"
    assert state.can_cancel
    assert not RunState(RunPhase.APPLYING).can_cancel


def test_formats() -> None:
    assert formats.count(1_234_567) == "1\u202f234\u202f567"
    assert formats.tokens(None) == "–"
    assert (formats.tokens(999), formats.tokens(84_000)) == ("999", "84.0k")
    assert (formats.size(1), formats.size(2_048), formats.size(3 * 1024**2)) == ("1 B", "2.0 KiB", "3.0 MiB")
    assert (formats.ago(None, NOW), formats.ago(NOW - 3 * DAY, NOW)) == ("–", "3 d ago")
    assert formats.ago(NOW + 120, NOW) == "in 2 min"
    assert formats.folder("/home/dev/app", "/home/dev") == "~/app"
    assert formats.folder("/home/devil", "/home/dev") == "/home/devil"
    assert formats.project("C:\\work\\api") == "api"
    assert formats.project("") == "–"
    assert formats.middle("0123456789abcdef") == "012345…abcdef"
    assert formats.plural(1, "file") == "1 file"
    assert formats.plural(2, "entry", "entries") == "2 entries"
    assert formats.minutes(61) == "1:01"
    assert formats.absolute(None) == "–"
    assert formats.moment(None, NOW) == "–"
    assert formats.moment(NOW - 2 * DAY, NOW) == time.strftime("%m-%d", time.localtime(NOW - 2 * DAY))
    assert JobState(StateKind.BAD, "failed").label == "✕ failed"
