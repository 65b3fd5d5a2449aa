"""Find sessions: what is listed, what is left out and why, and that nothing else is looked at."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.domain.events import Event, ignore
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.pipeline.ports import Discovery
from ltmem_gui.sources.library import RolloutLibrary
from tests.helpers.guard import Guard
from tests.helpers.session_lines import (
    OTHER,
    SESSION,
    THREAD,
    assistant,
    claude,
    meta,
    rollout_name,
    to_bytes,
    user,
    write,
)

LIBRARY = RolloutLibrary()


def find(*paths: Path, limit: int = 5000) -> Discovery:
    specs = [SourceSpec("codex", str(path)) for path in paths]
    return LIBRARY.discover(specs, limit=limit, cancel=CancelToken(), listen=ignore)


def thread(number: int) -> str:
    return f"019cb813-5280-7000-8000-{number:012x}"


def day(home: Path, date: str, number: int, *records: dict[str, Any]) -> Path:
    name = rollout_name(thread(number), f"{date}T09-00-00")
    rows = records or (meta(thread(number)), user(f"hello {number}"))
    path = write(home / "sessions" / date.replace("-", "/") / name, rows)
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return path


def skipped(found: Discovery) -> dict[str, str]:
    return {Path(entry.path).name: entry.reason for entry in found.skipped}


def test_a_codex_home(tmp_path: Path, guard: Guard):
    first = day(tmp_path, "2026-03-04", 1)
    second = day(tmp_path, "2026-03-05", 2)
    archived = write(tmp_path / "archived_sessions" / rollout_name(thread(3)), [meta(thread(3)), user("old")])
    os.utime(archived, (1, 1))
    for name in ("auth.json", "config.toml", "history.jsonl"):
        (tmp_path / name).write_text("secret")
    write(tmp_path / "memories" / "notes.jsonl", [meta(), user("not a session of the home")])
    guard.watch(tmp_path)
    found = find(tmp_path)
    assert [ref.path for ref in found.refs] == [str(second), str(first), str(archived)]
    assert found.skipped == ()
    assert [LIBRARY.load(ref).archived for ref in found.refs] == [False, False, True]
    assert not [name for name in guard.reads if name.endswith(("auth.json", "config.toml", "history.jsonl"))]
    assert not [name for name in guard.reads if "memories" in name]


def test_nothing_outside_the_named_folder_is_looked_at(tmp_path: Path, guard: Guard):
    named = tmp_path / "named"
    day(named, "2026-03-04", 1)
    day(tmp_path / "other", "2026-03-04", 2)
    guard.watch(tmp_path)
    found = find(named)
    [LIBRARY.load(ref) for ref in found.refs]
    assert guard.reads
    assert all(name.startswith(str(named)) for name in guard.reads)


def test_a_claude_home_with_sub_agents(tmp_path: Path):
    project = tmp_path / "projects" / "-home-dev-app"
    main = write(project / f"{SESSION}.jsonl", [claude("user", 1, None, "hi")])
    agent = write(
        project / SESSION / "subagents" / "agent-ab12.jsonl",
        [claude("user", 2, None, "go", isSidechain=True, agentId="ab12")],
    )
    (agent.parent / "agent-ab12.meta.json").write_text("{}")
    (tmp_path / ".credentials.json").write_text("secret")
    found = LIBRARY.discover([SourceSpec("claude", str(tmp_path))], limit=9, cancel=CancelToken(), listen=ignore)
    assert {(ref.agent, ref.thread_id, ref.path) for ref in found.refs} == {
        ("claude", SESSION, str(main)),
        ("claude", "ab12", str(agent)),
    }
    assert found.skipped == ()


def test_any_folder_and_any_name_recognised_by_content(tmp_path: Path):
    write(tmp_path / "a" / "copy of a session.jsonl", [meta(), user("x")])
    write(tmp_path / "b" / "c.jsonl", [claude("user", 1, None, "hi")])
    (tmp_path / "b" / "binary.jsonl").write_bytes(b"\x00\x01\xff" * 99)
    (tmp_path / "b" / "empty.jsonl").write_bytes(b"")
    (tmp_path / "b" / "data.jsonl").write_bytes(b'{"a":1}\n')
    (tmp_path / "b" / "notes.txt").write_text("no session")
    found = find(tmp_path)
    assert {(ref.agent, ref.thread_id) for ref in found.refs} == {("codex", THREAD), ("claude", SESSION)}
    assert set(skipped(found)) == {"binary.jsonl", "empty.jsonl", "data.jsonl"}


def test_a_file_can_be_named_directly_also_through_a_link(tmp_path: Path):
    path = write(tmp_path / "x.jsonl", [meta(), user("x")])
    (tmp_path / "link.jsonl").symlink_to(path)
    assert [ref.path for ref in find(path).refs] == [str(path)]
    assert [ref.path for ref in find(tmp_path / "link.jsonl").refs] == [str(path)]
    (tmp_path / "bad.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        find(tmp_path / "bad.jsonl")


def test_links_are_not_followed_and_named(tmp_path: Path):
    outside = day(tmp_path / "outside", "2026-03-04", 1)
    home = tmp_path / "home"
    day(home, "2026-03-05", 2)
    (home / "sessions" / "2026" / "03" / "05" / "rollout-link.jsonl").symlink_to(outside)
    (home / "archived_sessions").symlink_to(outside.parent)
    os.mkfifo(home / "sessions" / "2026" / "03" / "05" / "pipe.jsonl")
    found = find(home)
    assert [ref.thread_id for ref in found.refs] == [thread(2)]
    assert "link" in skipped(found)["rollout-link.jsonl"]
    assert "link" in skipped(found)["archived_sessions"]
    assert "regular" in skipped(found)["pipe.jsonl"]


def test_a_missing_folder_is_a_message_and_an_empty_one_is_empty(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        find(tmp_path / "none")
    assert caught.value.where == str(tmp_path / "none")
    assert caught.value.remedy
    assert find(tmp_path) == Discovery(())


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_below_is_listed(tmp_path: Path):
    day(tmp_path, "2026-03-04", 1)
    locked = tmp_path / "sessions" / "2026" / "04"
    locked.mkdir(mode=0o000)
    assert "cannot be read" in skipped(find(tmp_path))["04"]
    locked.chmod(0o700)


def test_one_thread_in_several_files_is_one(tmp_path: Path):
    live = day(tmp_path, "2026-03-04", 1, meta(thread(1)), user("a"), user("b", at=5))
    write(tmp_path / "archived_sessions" / live.name, [meta(thread(1)), user("a")])
    write(live.with_name("a copy.jsonl"), [meta(thread(1)), user("a")])
    packed = live.with_name(live.name + ".zst")
    packed.write_bytes(zstandard.compress(live.read_bytes()))
    found = find(tmp_path)
    assert [ref.path for ref in found.refs] == [str(live)]
    assert all(entry.reason == f"the same thread as {live}" for entry in found.skipped)
    assert len(found.skipped) == 3
    live.unlink()
    (live.parent / "a copy.jsonl").unlink()
    assert next(iter(find(tmp_path).refs)).path == str(packed)


def test_the_newest_days_are_taken_first_and_the_rest_is_said(tmp_path: Path):
    for number in range(1, 9):
        day(tmp_path, f"2026-03-0{number}", number)
    found = find(tmp_path, limit=3)
    assert [ref.thread_id for ref in found.refs] == [thread(8), thread(7), thread(6)]
    assert "not listed" in found.skipped[0].reason
    assert find(tmp_path, limit=8).skipped == ()


def test_two_homes_below_one_folder_each_give_their_newest(tmp_path: Path):
    for number in range(1, 5):
        day(tmp_path / "a", f"2026-03-0{number}", number)
        day(tmp_path / "b", f"2026-03-0{number}", number + 10)
    found = find(tmp_path, limit=2)
    assert [ref.thread_id for ref in found.refs] == [thread(14), thread(13)]
    assert any("scan_limit" in entry.reason for entry in found.skipped)


def test_a_resumed_session_of_an_old_day_is_found_through_the_index(tmp_path: Path):
    paths = [day(tmp_path, f"2026-03-0{number}", number) for number in range(1, 6)]
    os.utime(paths[0], (1_800_000_000, 1_800_000_000))
    state(tmp_path, row(thread(1), f"/elsewhere/.codex/sessions/2026/03/01/{paths[0].name}", updated_at=1_800_000_000))
    found = find(tmp_path, limit=2)
    assert [ref.thread_id for ref in found.refs] == [thread(1), thread(5)]


def test_progress_and_cancel(tmp_path: Path):
    for number in range(600):
        write(tmp_path / f"{number}.jsonl", [meta(thread(number)), user("x")])
    events: list[Event] = []
    LIBRARY.discover([SourceSpec("codex", str(tmp_path))], limit=9, cancel=CancelToken(), listen=events.append)
    assert len(events) == 2
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        LIBRARY.discover([SourceSpec("codex", str(tmp_path))], limit=9, cancel=cancel, listen=ignore)


def test_fingerprints_tell_a_change(tmp_path: Path):
    path = day(tmp_path, "2026-03-04", 1)
    ref = find(tmp_path).refs[0]
    assert LIBRARY.fingerprint(ref) == ref
    path.write_bytes(path.read_bytes() + to_bytes([assistant("more")]))
    now = LIBRARY.fingerprint(ref)
    assert now is not None
    assert now.size > ref.size
    path.unlink()
    assert LIBRARY.fingerprint(ref) is None
    with pytest.raises(InputError, match="source missing"):
        LIBRARY.load(ref)


# --- forks and copies ---


def test_a_fork_without_signs_is_compared_with_its_parent(tmp_path: Path):
    parent = "019cc244-9340-7000-8000-0000000a3000"  # made on 2026-03-06
    write(
        tmp_path / "sessions" / "2026" / "03" / "06" / rollout_name(parent, "2026-03-06T08-00-00"),
        [meta(parent), user("parent's"), assistant("answer")],
    )
    day(tmp_path, "2026-03-20", 2, meta(thread(2), forked_from_id=parent), user("parent's"), user("own", at=9))
    found = {ref.thread_id: LIBRARY.load(ref) for ref in find(tmp_path).refs}
    assert found[thread(2)].user_texts == ("own",)
    day(tmp_path, "2026-03-21", 3, meta(thread(3), forked_from_id=OTHER), user("kept"))
    found = {ref.thread_id: LIBRARY.load(ref) for ref in find(tmp_path).refs}
    assert found[thread(3)].user_texts == ("kept",)


def test_lines_that_a_resumed_transcript_copied_are_inherited(tmp_path: Path):
    other = "c1a0c1a0-2222-4222-8222-222222222222"
    old = write(tmp_path / f"{SESSION}.jsonl", [claude("user", 1, None, "old"), claude("assistant", 2, 1, "ok")])
    os.utime(old, (1000, 1000))
    rows = [claude("user", 1, None, "old"), claude("assistant", 2, 1, "ok"), claude("user", 3, 2, "new")]
    write(tmp_path / f"{other}.jsonl", [{**row, "sessionId": other} for row in rows])
    found = {ref.thread_id: LIBRARY.load(ref) for ref in find(tmp_path).refs}
    assert found[SESSION].user_texts == ("old",)
    assert found[other].user_texts == ("new",)


# --- databases ---

THREAD_COLUMNS = {
    "id": "TEXT",
    "rollout_path": "TEXT",
    "created_at": "INTEGER",
    "updated_at": "INTEGER",
    "source": "TEXT",
    "cwd": "TEXT",
    "title": "TEXT",
    "archived": "INTEGER",
    "git_branch": "TEXT",
    "agent_nickname": "TEXT",
    "memory_mode": "TEXT",
    "thread_source": "TEXT",
    "name": "TEXT",
}


def row(identity: str, path: str = "", **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"id": identity, "rollout_path": path, "created_at": 1, "updated_at": 2, "source": "cli"}
    return {**base, "cwd": "/db/app", "title": "from the index", "memory_mode": "enabled", "archived": 0, **more}


def state(home: Path, *rows: dict[str, Any], name: str = "state_5.sqlite") -> Path:
    home.mkdir(exist_ok=True, parents=True)
    path = home / name
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE threads ({', '.join(f'{k} {v}' for k, v in THREAD_COLUMNS.items())})")
        for values in rows:
            db.execute(
                f"INSERT INTO threads ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", [*values.values()]
            )
    return path


def history(home: Path, *items: tuple[str, dict[str, Any]]) -> Path:
    home.mkdir(exist_ok=True, parents=True)
    path = home / "thread_history_1.sqlite"
    with closing(sqlite3.connect(path)) as db:
        fill_history(db, *items)
    return path


def fill_history(db: sqlite3.Connection, *items: tuple[str, dict[str, Any]]) -> None:
    db.execute("CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT, status TEXT)")
    db.execute(
        "CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT, rollout_ordinal INTEGER, "
        "created_at_ms INTEGER, completed_at_ms INTEGER, item_json TEXT)"
    )
    for number, (identity, value) in enumerate(items, 1):
        turn = value.pop("turn", "t1")
        at = 1_772_614_800_000 + number * 1000
        values = (identity, turn, f"i{number}", number + 7, at, at, json.dumps(value))
        db.execute("INSERT INTO thread_items VALUES (?,?,?,?,?,?,?)", values)
    db.execute("INSERT INTO thread_turns VALUES (?,?,?)", (THREAD, "t9", "rolledBack"))
    db.commit()


def said(text: str, kind: str = "userMessage", **more: Any) -> dict[str, Any]:
    if kind == "userMessage":
        return {"type": kind, "content": [{"type": "text", "text": text}], **more}
    return {"type": kind, "text": text, **more}


def test_what_the_index_knows_is_added(tmp_path: Path):
    day(tmp_path, "2026-03-04", 1)
    day(tmp_path, "2026-03-05", 2)
    day(tmp_path, "2026-03-06", 3, meta(thread(3), source=None, cwd=None), user("x"))
    state(
        tmp_path,
        row(thread(1), memory_mode="polluted", archived=1, name="Given name", git_branch="dev"),
        row(thread(2), source='{"subagent":{"thread_spawn":{"depth":1}}}'),
        row(thread(3), source="exec"),
        row(OTHER, source="{broken"),
    )
    state(tmp_path, row(thread(1)), name="state_3.sqlite")
    found = {ref.thread_id: LIBRARY.load(ref) for ref in find(tmp_path).refs}
    one, two, three = (found[thread(n)] for n in (1, 2, 3))
    assert (one.memory_mode, one.archived, one.title, one.git_branch, one.cwd) == (
        "polluted",
        True,
        "Given name",
        "dev",
        "/home/dev/app",
    )
    assert (two.source, two.source_detail) == ("subagent", "thread_spawn")
    assert (three.source, three.cwd) == ("exec", "/db/app")


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ({"thread_source": "memory_consolidation"}, "internal"),
        ({"thread_source": "subagent"}, "subagent"),
        ({"agent_nickname": "Kepler"}, "subagent"),
        ({"thread_source": "user"}, "cli"),
    ],
)
def test_second_signs_of_an_agent_in_the_index(tmp_path: Path, more: dict[str, Any], source: str):
    day(tmp_path, "2026-03-04", 1)
    state(tmp_path, row(thread(1), **more))
    assert LIBRARY.load(find(tmp_path).refs[0]).source == source


def test_the_legacy_index_names_threads(tmp_path: Path):
    day(tmp_path, "2026-03-04", 1)
    rows = [{"id": thread(1), "thread_name": name, "updated_at": "x"} for name in ("First", "Last")]
    write(tmp_path / "session_index.jsonl", [*rows, b"broken"])
    state(tmp_path, row(thread(1), memory_mode="disabled"))
    found = LIBRARY.load(find(tmp_path).refs[0])
    assert (found.title, found.memory_mode) == ("Last", "disabled")


def test_sessions_that_only_a_database_holds(tmp_path: Path):
    path = history(
        tmp_path / "home",
        (THREAD, said("typed")),
        (
            THREAD,
            {
                "type": "commandExecution",
                "command": "ls",
                "cwd": "/w",
                "aggregatedOutput": "a",
                "exitCode": 3,
                "id": "c",
            },
        ),
        (THREAD, said("answer", "agentMessage")),
        (THREAD, {"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": {"a": 1}, "result": {"r": 2}}),
        (THREAD, {"type": "mcpToolCall", "tool": "t", "error": {"message": "no"}}),
        (THREAD, {"type": "fileChange", "changes": [{"path": "x"}], "status": "completed"}),
        (THREAD, {"type": "webSearch", "query": "q"}),
        (THREAD, said("<environment_context></environment_context>")),
        (THREAD, {"type": "userMessage", "content": [{"type": "localImage"}]}),
        (THREAD, said("<subagent_notification></subagent_notification>")),
        (THREAD, said("rolled back", turn="t9")),
        (THREAD, {"type": "from2027"}),
        (OTHER, said("other")),
    )
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE thread_items SET item_json = '{cut' WHERE item_json LIKE '%2027%'")
    state(tmp_path / "home", row(THREAD, memory_mode="disabled"))
    (tmp_path / "home" / "sessions").mkdir()
    refs = {ref.thread_id: ref for ref in find(tmp_path / "home").refs}
    found = LIBRARY.load(refs[THREAD])
    assert found.user_texts == ("typed",)
    assert found.assistant_texts == ("answer",)
    assert (found.source, found.memory_mode, found.cwd) == ("cli", "disabled", "/db/app")
    assert all(entry.line is None and entry.row for entry in found.items)
    assert [entry.row for entry in found.items][:4] == [8, 9, 9, 10]
    tools = [(e.kind, e.tool.name, e.tool.failed) for e in found.items if e.tool]
    assert tools == [
        ("tool_call", "exec_command", False),
        ("tool_output", "exec_command", True),
        ("tool_call", "s.t", False),
        ("tool_output", "s.t", False),
        ("tool_call", "t", False),
        ("tool_output", "t", True),
        ("tool_call", "apply_patch", False),
        ("tool_call", "web_search", False),
    ]
    assert LIBRARY.fingerprint(refs[THREAD]) == refs[THREAD]
    direct = {ref.thread_id: ref for ref in find(path).refs}
    assert LIBRARY.load(direct[THREAD]).memory_mode == "disabled"


def test_a_file_and_its_database_rows_are_one_session(tmp_path: Path):
    path = day(tmp_path, "2026-03-04", 1)
    history(tmp_path, (thread(1), said("hello 1")))
    found = find(tmp_path)
    assert [ref.path for ref in found.refs] == [str(path)]
    assert found.skipped == ()


def test_the_write_ahead_log_is_read_and_nothing_is_written_beside_it(tmp_path: Path, guard: Guard):
    home = tmp_path / "home"
    home.mkdir()
    path = home / "thread_history_1.sqlite"

    def contents() -> dict[str, bytes]:
        return {entry.name: entry.read_bytes() for entry in home.iterdir()}

    with closing(sqlite3.connect(path)) as running:
        running.execute("PRAGMA journal_mode=WAL")
        fill_history(running, (THREAD, said("only in the log")))
        before = contents()
        assert before["thread_history_1.sqlite-wal"]
        guard.protect(home)
        found = find(path)
        assert LIBRARY.load(found.refs[0]).user_texts == ("only in the log",)
        assert contents() == before
        with guard.grant():
            running.execute("DELETE FROM thread_items")  # not locked by the reader
            running.commit()
            running.close()


def test_a_broken_database_costs_only_itself(tmp_path: Path):
    day(tmp_path, "2026-03-04", 1)
    (tmp_path / "state_5.sqlite").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    (tmp_path / "thread_history_1.sqlite").write_bytes(b"no database")
    found = find(tmp_path)
    assert [ref.thread_id for ref in found.refs] == [thread(1)]
    assert set(skipped(found)) == {"state_5.sqlite", "thread_history_1.sqlite"}
    with pytest.raises(InputError, match="cannot be read"):
        find(tmp_path / "state_5.sqlite")


def test_databases_of_other_shapes(tmp_path: Path):
    path = state(tmp_path, row(THREAD))
    with pytest.raises(InputError, match="no items"):
        find(path)
    gone = history(tmp_path, (THREAD, said("x")))
    ref = find(gone).refs[0]
    with closing(sqlite3.connect(gone)) as db, db:
        db.execute("DELETE FROM thread_items")
    assert LIBRARY.fingerprint(ref) is None
    with pytest.raises(InputError, match="no session"):
        LIBRARY.load(ref)
    with closing(sqlite3.connect(gone)) as db, db:
        db.execute("DROP TABLE thread_items")
    with pytest.raises(InputError, match="no items"):
        LIBRARY.load(ref)
    with closing(sqlite3.connect(tmp_path / "state_9.sqlite")) as db, db:
        db.execute("CREATE TABLE other (x)")
    day(tmp_path, "2026-03-04", 1)
    assert len(find(tmp_path).refs) == 1


def test_a_path_of_the_index_never_leads_out_of_the_home(tmp_path: Path):
    outside = write(tmp_path / "outside.jsonl", [meta(thread(9)), user("x")])
    home = tmp_path / "home"
    day(home, "2026-03-04", 1)
    linked = home / "sessions" / "linked"
    linked.symlink_to(tmp_path)
    state(
        home,
        row(thread(9), "/x/sessions/../../outside.jsonl"),
        row(thread(8), str(outside)),
        row(thread(7), "/x/sessions/linked/outside.jsonl"),
    )
    assert [ref.thread_id for ref in find(home).refs] == [thread(1)]


# --- real sessions ---


def test_real_sessions_say_the_same_in_file_and_database(shared: Path):
    home = shared / "data" / "real_codex" / "cli-0.171.0"
    files = {ref.thread_id: LIBRARY.load(ref) for ref in find(home).refs}
    rows = {ref.thread_id: LIBRARY.load(ref) for ref in find(home / "thread_history_1.sqlite").refs}
    assert len(files) == 5
    assert files.keys() == rows.keys()
    for identity, rollout in files.items():
        other = rows[identity]
        assert rollout.user_texts == other.user_texts
        assert rollout.assistant_texts == other.assistant_texts
        assert (rollout.cwd, rollout.source) == (other.cwd, other.source) == ("/home/dev/app", "cli")
        assert rollout.user_texts


def test_real_sessions_of_an_older_version(shared: Path):
    found = find(shared / "data" / "real_codex" / "cli-0.130.0")
    rollouts = [LIBRARY.load(ref) for ref in found.refs]
    assert len(rollouts) == 5
    assert found.skipped == ()
    assert all(rollout.user_texts and not rollout.warnings and not rollout.skipped_lines for rollout in rollouts)


def test_planted_lines_are_where_they_were_planted(shared: Path, tmp_path: Path):
    """Check every fact and secret of a generated tree, half of it damaged, against the answer key."""
    from tests.helpers.session_lines import make_tree

    key = make_tree(shared, tmp_path / "tree", count=60, seed=5)
    loaded = {ref.path: LIBRARY.load(ref) for ref in find(tmp_path / "tree").refs}
    checked = 0
    for group in ("facts", "secrets"):
        for entry in key[group]:
            rollout = loaded[str(tmp_path / "tree" / entry["file"])]
            blob = "\n".join(item.text for item in rollout.items if item.line == entry["line"])
            blob += blob.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
            for needle in entry.get("markers") or [entry["value"]]:
                assert needle in blob, entry
                checked += 1
    assert checked > 30
