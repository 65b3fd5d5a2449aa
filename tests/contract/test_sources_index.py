"""The cache of the scan, and reading on where one stopped."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.pipeline.ports import Discovery
from ltmem_gui.sources import following
from ltmem_gui.sources.following import SessionFollower
from ltmem_gui.sources.index import FILE_NAME, IndexedFile, ScanIndex
from ltmem_gui.sources.library import RolloutLibrary
from ltmem_gui.sources.reading import read_session
from tests.helpers.guard import Guard
from tests.helpers.session_lines import (
    OTHER,
    THREAD,
    assistant,
    claude,
    meta,
    rollout_name,
    to_bytes,
    user,
    write,
)


@pytest.fixture
def index(tmp_path: Path) -> ScanIndex:
    (tmp_path / "home").mkdir()
    return ScanIndex(tmp_path / "home" / FILE_NAME)


@pytest.fixture
def find(tmp_path: Path, index: ScanIndex) -> Callable[..., Discovery]:
    def discover(limit: int = 99) -> Discovery:
        spec = SourceSpec("codex", str(tmp_path / "s"))
        return RolloutLibrary(index).discover([spec], limit=limit, cancel=CancelToken(), listen=ignore)

    return discover


def test_unchanged_files_are_not_opened_again(tmp_path: Path, find: Callable[..., Discovery], guard: Guard):
    write(tmp_path / "s" / "a.jsonl", [meta(), user("x")])
    write(tmp_path / "s" / "b.jsonl", [claude("user", 1, None, "hi")])
    (tmp_path / "s" / "c.jsonl").write_bytes(b"junk\n")
    first = find()
    guard.watch(tmp_path / "s")
    assert find() == first
    assert not [name for name in guard.reads if name.endswith(".jsonl")]
    with (tmp_path / "s" / "c.jsonl").open("ab") as file:
        file.write(to_bytes([meta(OTHER), user("now a session")]))
    guard.reads.clear()
    assert len(find().refs) == 3
    assert {Path(name).name for name in guard.reads if name.endswith(".jsonl")} == {"c.jsonl"}


def test_without_an_index_nothing_is_written(tmp_path: Path, guard: Guard):
    write(tmp_path / "s" / "a.jsonl", [meta(), user("x")])
    guard.protect(tmp_path)
    RolloutLibrary().discover([SourceSpec("codex", str(tmp_path))], limit=9, cancel=CancelToken(), listen=ignore)
    assert RolloutLibrary().locate(THREAD) is None


def test_one_file_only_and_no_text_in_it(tmp_path: Path, find: Callable[..., Discovery]):
    write(tmp_path / "s" / "a.jsonl", [meta(), user("very private words")])
    find()
    assert [entry.name for entry in (tmp_path / "home").iterdir()] == [FILE_NAME]
    assert b"private" not in (tmp_path / "home" / FILE_NAME).read_bytes()


def test_a_thread_is_located_for_citations(tmp_path: Path, find: Callable[..., Discovery], index: ScanIndex):
    path = write(tmp_path / "s" / rollout_name(), [meta(), user("x")])
    assert RolloutLibrary(index).locate(THREAD) is None
    find()
    assert RolloutLibrary(index).locate(THREAD) == str(path)
    assert RolloutLibrary(index).locate(OTHER) is None


def test_a_resumed_session_seen_before_is_found_beyond_the_limit(tmp_path: Path, find: Callable[..., Discovery]):
    def day(number: int) -> Path:
        identity = f"019cb813-5280-7000-8000-{number:012x}"
        name = rollout_name(identity, f"2026-03-0{number}T09-00-00")
        path = write(tmp_path / "s" / "sessions" / "2026" / "03" / f"0{number}" / name, [meta(identity), user("x")])
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        return path

    old = day(1)
    find()
    for number in range(2, 7):
        day(number)
    os.utime(old, (1_800_000_000, 1_800_000_000))
    found = find(limit=3)
    assert found.refs[0].path == str(old)
    assert len(found.refs) == 3


@pytest.mark.parametrize("damage", [b"no database at all", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_broken_index_is_begun_anew(tmp_path: Path, find: Callable[..., Discovery], index: ScanIndex, damage: bytes):
    write(tmp_path / "s" / "a.jsonl", [meta(), user("x")])
    (tmp_path / "home" / FILE_NAME).write_bytes(damage)
    assert index.known() == {}
    assert index.paths_of(THREAD) == ()
    assert len(find().refs) == 1
    assert len(index.known()) == 1


def test_an_index_of_another_version_is_begun_anew(tmp_path: Path, index: ScanIndex):
    index.remember([IndexedFile("/p", 1, 2, "codex", "t")])
    with closing(sqlite3.connect(tmp_path / "home" / FILE_NAME)) as db:
        db.execute("PRAGMA user_version=99")
    assert index.known() == {}
    index.remember([IndexedFile("/p", 1, 2, "codex", "t")])
    assert list(index.known()) == ["/p"]


def test_an_index_that_cannot_be_written_is_a_message(tmp_path: Path):
    folder = tmp_path / "home" / FILE_NAME
    folder.mkdir(parents=True)
    with pytest.raises(InputError) as caught:
        ScanIndex(folder).remember([])
    assert caught.value.where == str(folder)


# --- following ---


def test_only_what_was_appended_is_read(tmp_path: Path):
    path = write(tmp_path / rollout_name(), [meta(), user("a"), b"junk"])
    follower = SessionFollower(str(path))
    assert follower.read() == read_session(str(path))
    assert follower.offset == path.stat().st_size
    tail = to_bytes([assistant("b", at=5), user("c", at=6)])
    for cut in (30, len(tail) - 1, len(tail)):
        path.write_bytes(to_bytes([meta(), user("a"), b"junk"]) + tail[:cut])
        assert follower.read() == read_session(str(path))
    assert follower.read().user_texts == ("a", "c")
    assert [entry.line for entry in follower.read().skipped_lines] == [3]


def test_a_replaced_or_shortened_file_is_read_anew(tmp_path: Path):
    path = write(tmp_path / rollout_name(), [meta(), user("a"), user("b", at=3)])
    follower = SessionFollower(str(path))
    follower.read()
    write(path, [meta(), user("a")])
    assert follower.read().user_texts == ("a",)
    write(path, [meta(cwd="/other/place"), *(user(f"new {n}", at=n) for n in range(9))])
    assert follower.read() == read_session(str(path))


def test_other_files_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    packed = tmp_path / "x.jsonl.zst"
    packed.write_bytes(zstandard.compress(to_bytes([meta(), user("x")])))
    assert SessionFollower(str(packed)).read().user_texts == ("x",)
    plain = write(tmp_path / "y.jsonl", [{"a": 1}])
    follower = SessionFollower(str(plain))
    with pytest.raises(InputError):
        follower.read()
    write(plain, [{"a": 1}, meta(), user("y")])
    assert follower.read().user_texts == ("y",)
    monkeypatch.setattr(following, "HUGE_BYTES", 10)
    assert SessionFollower(str(plain)).read().user_texts == ("y",)


ROWS: list[Any] = [meta(), user("a"), b"", b"junk", assistant("b", at=3), user("é", at=4), b"\x00\x00", user("z", at=9)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(to_bytes(ROWS))), min_size=1, max_size=6))
def test_in_whatever_pieces_it_grows_the_result_is_that_of_one_read(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
):
    data = to_bytes(ROWS)
    path = tmp_path_factory.getbasetemp() / "growing.jsonl"
    follower = SessionFollower(str(path))
    for cut in [*sorted(cuts), len(data)]:
        path.write_bytes(data[:cut])
        try:
            now = follower.read()
        except InputError:
            with pytest.raises(InputError):
                read_session(str(path))
        else:
            assert now == read_session(str(path))
