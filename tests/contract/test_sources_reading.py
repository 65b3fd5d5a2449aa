"""Read real files: every kind of damage costs only its own line, and line numbers are right."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.sources import lines, reading
from ltmem_gui.sources.decoding import Undecodable, clean, decode_record
from ltmem_gui.sources.library import load_rollout
from tests.helpers.session_lines import (
    SESSION,
    THREAD,
    assistant,
    claude,
    event,
    item,
    line,
    meta,
    rollout_name,
    to_bytes,
    user,
    write,
)

FUZZ_EXAMPLES = int(os.environ.get("LTMEM_FUZZ_EXAMPLES", "120"))

PLAIN = [
    meta(),
    user("Use uv."),
    event("user_message", message="Use uv."),
    assistant("Noted."),
    user("And ruff.", at=5),
]


def read(path: Path) -> Rollout:
    return load_rollout(RolloutRef("codex", str(path), 0, 0))


def put(tmp_path: Path, data: bytes, name: str = rollout_name()) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def skipped(rollout: Rollout) -> list[tuple[int, str]]:
    return [(entry.line, entry.reason) for entry in rollout.skipped_lines]


def test_lines_end_at_line_feeds_only(tmp_path: Path):
    odd = "a\u2028b\u2029c\u0085d\x0b\x0c"
    found = read(write(tmp_path / rollout_name(), [meta(), user(odd), b"", assistant("x"), user("y", at=5)]))
    assert found.user_texts == (odd, "y")
    assert [i.line for i in found.items] == [2, 4, 5]
    assert skipped(found) == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_bom(tmp_path: Path, end: bytes, bom: bytes):
    data = bom + to_bytes(PLAIN).replace(b"\n", end)
    found = read(put(tmp_path, data))
    assert found.user_texts == ("Use uv.", "And ruff.")
    assert [i.line for i in found.items] == [2, 4, 5]
    assert skipped(found) == []
    assert found.incomplete_tail_line is None


def test_every_undecodable_line_is_listed_and_the_rest_is_used(tmp_path: Path):
    glued = to_bytes([event("agent_message", message="cut")])[:60] + to_bytes([assistant("glued")])[:-1]
    rows: list[object] = [
        meta(),
        b"Error: ENOSPC: no space left on device, write",
        b"42",
        b"[1,2]",
        b"null",
        b'"text"',
        b'{"timestamp":"x","type":"event_msg","payload":{"message":"\xff\xfe"}}',
        b"\x00" * 40,
        glued,
        b"   ",
        line("hologram", {"type": "new"}),
        b"[" * 50_000,
        user("still here"),
        b"\x00\x00" + to_bytes([assistant("after a NUL run")])[:-1],
    ]
    found = read(put(tmp_path, to_bytes(rows)))
    assert found.user_texts == ("still here",)
    assert found.assistant_texts == ("after a NUL run",)
    assert skipped(found) == [
        (2, "invalid-json"),
        (3, "not-an-object"),
        (4, "not-an-object"),
        (5, "not-an-object"),
        (6, "not-an-object"),
        (7, "invalid-utf8"),
        (8, "nul-bytes"),
        (9, "invalid-json"),
        (12, "nested-too-deeply"),
    ]
    assert [i.line for i in found.items] == [13, 14]


def test_a_cut_last_line_is_unfinished_and_read_when_it_grows(tmp_path: Path):
    whole = to_bytes(PLAIN)
    last = to_bytes([user("The end.", at=9)])
    path = put(tmp_path, whole + last[:-20])
    found = read(path)
    assert found.user_texts == ("Use uv.", "And ruff.")
    assert found.incomplete_tail_line == 6
    assert skipped(found) == []
    before = path.read_bytes()
    path.write_bytes(before + last[-20:])
    again = read(path)
    assert again.user_texts == ("Use uv.", "And ruff.", "The end.")
    assert again.incomplete_tail_line is None


def test_a_whole_last_line_without_a_line_end_counts(tmp_path: Path):
    found = read(put(tmp_path, to_bytes(PLAIN)[:-1]))
    assert found.user_texts == ("Use uv.", "And ruff.")
    assert found.incomplete_tail_line is None


def test_a_nul_tail_is_damage(tmp_path: Path):
    found = read(put(tmp_path, to_bytes(PLAIN) + b"\x00" * 512))
    assert skipped(found) == [(6, "nul-bytes")]
    assert found.incomplete_tail_line is None


def test_lines_above_the_limit_are_passed_over_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = put(tmp_path, to_bytes([meta(), user("x" * 5000), user("short", at=5)]))
    with path.open("rb") as stream:
        found = list(lines.read_lines(stream, limit=1000))
    assert [(entry.number, entry.reason) for entry in found if entry.record is None] == [(2, "longer-than-1000-bytes")]
    assert found[-1].number == 3
    with path.open("rb") as stream:
        assert len(list(lines.read_lines(stream, limit=10))) == 3


def test_halves_of_surrogate_pairs_are_replaced_and_whole_pairs_stay(tmp_path: Path):
    half = to_bytes([user("HALF \U0001f600")]).replace(b"HALF", b"half \\ud83d")
    found = read(put(tmp_path, to_bytes([meta()]) + half))
    assert found.user_texts == ("half \ufffd \U0001f600",)
    assert found.user_texts[0].encode()


def test_another_writers_key_order_and_blanks_give_equal_results(tmp_path: Path):
    usual = read(write(tmp_path / "a" / rollout_name(), PLAIN))

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in sorted(value, reverse=True)}
        return [turned(part) for part in value] if isinstance(value, list) else value

    other = tmp_path / "b" / rollout_name()
    other.parent.mkdir()
    other.write_bytes(to_bytes([turned(record) for record in PLAIN], compact=False))
    assert read(other).items == usual.items


def test_the_format_is_told_by_content_whatever_the_name(tmp_path: Path):
    codex = read(write(tmp_path / "notes.txt", PLAIN))
    assert (codex.agent, codex.id) == ("codex", THREAD)
    other = read(write(tmp_path / rollout_name(), [{"type": "summary", "summary": "x"}, claude("user", 1, None, "hi")]))
    assert (other.agent, other.id, other.user_texts) == ("claude", SESSION, ("hi",))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (random.Random(1).randbytes(4000), "no line"),
        (b"just text\nand more\n", "line 1"),
        (b'{"session_id":"x","ts":1,"text":"a prompt"}\n' * 3, "no line"),
        (b'{"cut": ', "unfinished"),
        (b'{"a":1}\n' * 1500, "no line"),
    ],
)
def test_what_is_no_session_is_a_message_with_path_and_remedy(tmp_path: Path, data: bytes, words: str):
    path = put(tmp_path, data)
    with pytest.raises(InputError) as caught:
        read(path)
    assert words in caught.value.what
    assert caught.value.where == str(path)
    assert caught.value.remedy


def test_lines_without_a_message_are_a_warning_never_an_empty_success(tmp_path: Path):
    found = read(write(tmp_path / rollout_name(), [meta(), line("turn_context", {"cwd": "/x"})]))
    assert found.items == ()
    assert "2 lines and no message" in found.warnings[0]


def test_the_files_time_counts_only_where_no_record_has_one(tmp_path: Path):
    bare = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}
    path = write(tmp_path / "r.jsonl", [bare])
    os.utime(path, (1000, 1_700_000_000))
    assert read(path).updated_at == 1_700_000_000
    dated = write(tmp_path / rollout_name(), PLAIN)
    os.utime(dated, (1000, 1000))
    assert read(dated).updated_at == 1_772_614_805


@pytest.mark.parametrize("make", ["missing", "folder", "link", "fifo"])
def test_what_cannot_be_opened_is_named(tmp_path: Path, make: str):
    path = tmp_path / "r.jsonl"
    if make == "folder":
        path.mkdir()
    elif make == "link":
        path.symlink_to(write(tmp_path / "other" / "t.jsonl", PLAIN))
    elif make == "fifo":
        os.mkfifo(path)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.where == str(path)


# --- compressed ---


def test_compressed_files_are_read_like_plain_ones(tmp_path: Path):
    plain = to_bytes(PLAIN)
    # Two frames, as an appended archive has them.
    data = zstandard.compress(plain[:200]) + zstandard.compress(plain[200:])
    assert read(put(tmp_path, data, rollout_name() + ".zst")).items == read(put(tmp_path, plain)).items


def test_a_cut_compressed_file_gives_what_it_holds(tmp_path: Path):
    rows = [meta(), *(user(os.urandom(3000).hex(), at=n) for n in range(2, 90))]
    data = zstandard.compress(to_bytes(rows))
    found = read(put(tmp_path, data[: len(data) // 2], rollout_name() + ".zst"))
    assert 0 < len(found.user_texts) < 88
    assert any("ends early" in warning for warning in found.warnings)
    with pytest.raises(InputError, match="cut or damaged"):
        read(put(tmp_path, data[:40], "x.zst"))


# --- very large files ---


def big_rows() -> Iterator[dict[str, Any]]:
    yield meta()
    for n in range(60):
        yield user(f"typed {n}", at=n * 10)
        yield item(type="reasoning", summary=[], encrypted_content="g" * 500, at=n * 10 + 1)
        yield item(type="function_call", name="sh", arguments='{"cmd":"ls"}', call_id=f"c{n}", at=n * 10 + 2)
        yield item(type="function_call_output", call_id=f"c{n}", output="o" * 3000, at=n * 10 + 3)
        yield event("agent_message", message=f"said {n}", at=n * 10 + 4)
        yield assistant(f"said {n}", at=n * 10 + 4)
        limits = {"limit_id": "codex", "primary": {"used_percent": n}}
        yield event("token_count", info=None, rate_limits=limits, at=n * 10 + 5)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat files of a few kilobytes as very large ones."""
    monkeypatch.setattr(reading, "HUGE_BYTES", 1000)
    monkeypatch.setattr("ltmem_gui.sources.filtering.BLOCK_BYTES", 700)
    monkeypatch.setattr("ltmem_gui.sources.reading.FilterPass", _small_pass)


def _small_pass(size: int) -> Any:
    from ltmem_gui.sources.filtering import FilterPass

    return FilterPass(size, edge=20_000)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("compact", [True, False])
def test_a_very_large_session_is_read_but_for_the_tools_in_its_middle(tmp_path: Path, compact: bool):
    path = put(tmp_path, to_bytes(big_rows(), compact=compact))
    found = read(path)
    assert found.user_texts == tuple(f"typed {n}" for n in range(60))
    assert found.assistant_texts == tuple(f"said {n}" for n in range(60))
    rows = path.read_bytes().split(b"\n")
    for entry in found.items:
        record = json.loads(rows[(entry.line or 0) - 1])
        assert entry.text in json.dumps(record) or entry.text == '{"cmd":"ls"}'
    outputs = [entry for entry in found.items if entry.kind == "tool_output"]
    assert 8 <= len(outputs) < 30
    assert f"{60 - len(outputs)} tool calls and outputs in its middle were not read" in found.warnings[-1]
    assert sum(1 for entry in found.items if entry.kind == "tool_call") == 60
    assert found.updated_at == 1_772_614_800 + 595
    assert found.rate_limits is not None
    assert found.rate_limits.primary_used_percent == 59


@pytest.mark.usefixtures("small_limits")
def test_damage_in_a_very_large_session_is_listed_too(tmp_path: Path):
    rows: list[object] = list(big_rows())
    cut = to_bytes([event("agent_message", message="cut")])[:-8]
    rows[10] = cut + to_bytes([user("glued")])[:-1]
    rows[20] = to_bytes([event("agent_message", message="not closed")])[:-4]
    rows[30] = b"garbage"
    rows[40] = to_bytes([event("agent_message", message="NUL")])[:-1].replace(b"NUL", b"\x00\x00")
    rows[50] = to_bytes([event("agent_message", message="windows")])[:-1] + b"\r"
    found = read(put(tmp_path, to_bytes(rows)))
    assert skipped(found) == [(n, "invalid-json") for n in (11, 21, 31, 41)]
    tail = to_bytes([user("not finished")])[:-9]
    found = read(put(tmp_path, to_bytes(rows) + tail))
    assert found.incomplete_tail_line == len(rows) + 1


@pytest.mark.usefixtures("small_limits")
def test_a_line_above_the_limit_in_a_very_large_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ltmem_gui.sources.filtering.MAX_LINE_BYTES", 9000)
    rows: list[object] = list(big_rows())
    rows[10] = user("x" * 40_000)
    rows.append(user("y" * 40_000))
    found = read(put(tmp_path, to_bytes(rows)))
    assert [entry.line for entry in found.skipped_lines] == [11, len(rows)]
    assert found.user_texts[-1] == "typed 59"


# --- shared cases and real data ---


def case_files(shared: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for expected in sorted(shared.glob("cases/rollout*.expected.json")) + sorted(shared.glob("cases/*/expected.json")):
        case = json.loads(expected.read_bytes())
        for part in (case, case.get("parent", {}), case.get("child", {})):
            if "input" in part and case["kind"].startswith(("codex", "claude")):
                yield expected.parent / part["input"], part


def test_shared_cases(shared: Path, tmp_path: Path):
    seen = 0
    for path, case in case_files(shared):
        copy = tmp_path / path.name
        shutil.copyfile(path, copy)
        found = read(copy)
        seen += 1
        assert list(found.user_texts) == case.get("user_texts", case.get("user_texts_own")), path.name
        assert found.id == case.get("thread_id", case.get("session_id"))
        assert found.parent == case.get("parent_thread_id")
        if "assistant_texts" in case:
            assert list(found.assistant_texts) == case["assistant_texts"]
            assert [(e["line"], e["reason"]) for e in case["skipped_lines"]] == skipped(found)
            assert found.incomplete_tail_line == case.get("incomplete_tail_line")
            assert found.cwd == case["cwd"]
        assert copy.read_bytes() == path.read_bytes()
    assert seen >= 10


# --- fuzz ---


def strings_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield clean(value)
        if value[:1] == "{":
            with contextlib.suppress(ValueError, RecursionError):
                yield from strings_of(json.loads(value))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


SEEDS = [
    to_bytes(
        [
            *PLAIN,
            item(type="function_call_output", call_id="c", output="Exit code: 1\nx"),
            meta(),
            user("é\u2028", at=9),
        ]
    ),
    to_bytes(
        [
            claude("user", 1, None, "first"),
            claude("assistant", 2, 1, [{"type": "text", "text": "answer"}]),
            claude("user", 3, 2, [{"type": "tool_result", "tool_use_id": "t", "content": "out"}]),
            claude("user", 4, 3, [{"type": "text", "text": "second"}]),
        ]
    ),
]
MUTATION = st.tuples(
    st.sampled_from(["cut", "copy", "move", "flip", "nul", "split", "drop"]), st.integers(0), st.integers(0)
)


def mutate(data: bytes, kind: str, a: int, b: int) -> bytes:
    if not data:
        return data
    a, b = sorted((a % len(data), b % len(data)))
    match kind:
        case "cut":
            return data[:b]
        case "copy":
            return data[:b] + data[a:b] + data[b:]
        case "move":
            rows = data.split(b"\n")
            rows.insert(a % len(rows), rows.pop(b % len(rows)))
            return b"\n".join(rows)
        case "flip":
            return data[:a] + bytes([data[a] ^ (1 << b % 8)]) + data[a + 1 :]
        case "nul":
            return data[:a] + b"\x00" * (b % 9) + data[a:]
        case "split":
            return data[:a] + b"\n" + data[a:]
        case _:
            return data[:a] + data[b:]


@settings(max_examples=FUZZ_EXAMPLES, deadline=None)
@given(st.sampled_from(SEEDS), st.lists(MUTATION, min_size=1, max_size=5))
def test_fuzz(tmp_path_factory: pytest.TempPathFactory, seed: bytes, mutations: list[tuple[str, int, int]]):
    data = seed
    for kind, a, b in mutations:
        data = mutate(data, kind, a, b)
    path = tmp_path_factory.getbasetemp() / rollout_name()
    path.write_bytes(data)
    try:
        found = read(path)
    except InputError:
        return
    rows = data.split(b"\n")
    for entry in found.items:
        assert entry.line is not None
        raw = rows[entry.line - 1].removeprefix(b"\xef\xbb\xbf")
        record = decode_record(raw)
        assert record is not None
        texts = list(strings_of(record))
        assert all(any(part in text for text in texts) for part in entry.text.split("\n")), entry
    assert sum(len(entry.text.encode("utf-8", "replace")) for entry in found.items) <= 3 * len(data)
    for entry in found.skipped_lines:
        with pytest.raises(Undecodable):
            decode_record(rows[entry.line - 1].removeprefix(b"\xef\xbb\xbf"))
