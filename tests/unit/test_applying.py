"""The result of an apply is the base plus exactly the accepted hunks, byte for byte."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.applying import (
    apply_selection,
    is_chosen,
    result_bytes,
    result_mode,
    split_lines,
)
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.errors import InputError, WorkspaceMoved, WrongDigest
from ltmem_gui.domain.plan import FileChange, Plan, PlanState, ProviderMark
from ltmem_gui.domain.settings import Settings

PATH = "MEMORY.md"


def change_of(old: bytes | None, new: bytes | None, path: str = PATH, **more: object) -> FileChange:
    """Return the change between two contents, which differ."""
    change = file_change(path, old, new, **more)  # pyright: ignore[reportArgumentType]
    assert change is not None
    return change


def chosen(*ids: str, edited: dict[str, tuple[str, ...]] | None = None, path: str = PATH) -> Selection:
    """Return a selection that takes these hunks of one file."""
    return Selection(plan_digest="d", accepted={path: ids} if ids else {}, edited={path: edited} if edited else {})


def model(base: bytes | None, change: FileChange, taken: set[str]) -> bytes:
    """Work the result out in another way: replace from the end, so that positions stay true."""
    lines = split_lines(base or b"")
    for hunk in sorted(change.hunks, key=lambda h: (h.old_start, h.new_start), reverse=True):
        if hunk.id in taken:
            lines[hunk.old_start : hunk.old_start + len(hunk.old)] = [line.encode() for line in hunk.new]
    return b"".join(lines)


text = st.lists(st.sampled_from(["a\n", "b\n", "a\r\n", "\n", "\r\n", "--- x\n", "\u2028\n", "é"]), max_size=12).map(
    "".join
)


@settings(max_examples=150, deadline=None)
@given(old=text, new=text, data=st.data())
def test_any_decisions_give_base_plus_accepted_hunks(old: str, new: str, data: st.DataObject) -> None:
    base = old.encode()
    change = file_change(PATH, base, new.encode())
    if change is None:
        return
    taken = {h.id for h in change.hunks if data.draw(st.booleans())}
    result = result_bytes(base, change, chosen(*sorted(taken)))
    assert result == model(base, change, taken)
    assert result_bytes(base, change, chosen()) == base
    assert result_bytes(base, change, chosen(*(h.id for h in change.hunks))) == new.encode()


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("final", [True, False])
def test_one_of_two_hunks(end: bytes, final: bool) -> None:
    tail = end if final else b""
    base = end.join([b"one", b"two", b"three", b"four", b"five"]) + tail
    new = end.join([b"ONE", b"two", b"three", b"four", b"FIVE"]) + end
    change = change_of(base, new)
    first, second = change.hunks
    assert result_bytes(base, change, chosen(first.id)) == base.replace(b"one", b"ONE")
    assert result_bytes(base, change, chosen(second.id)) == new.replace(b"ONE", b"one")


def test_an_edited_hunk_takes_the_persons_lines() -> None:
    base = b"one\r\ntwo\r\nthree\r\n"
    change = change_of(base, b"one\r\nTWO\r\nthree\r\n")
    (hunk,) = change.hunks
    assert result_bytes(base, change, chosen(edited={hunk.id: ("zwei\r\n",)})) == b"one\r\nzwei\r\nthree\r\n"
    assert result_bytes(base, change, chosen(edited={hunk.id: ("zwei",)})) == b"one\r\nzwei\r\nthree\r\n"
    assert result_bytes(base, change, chosen(edited={hunk.id: ()})) == b"one\r\nthree\r\n"
    assert result_bytes(base, change, chosen(edited={hunk.id: ("",)})) == b"one\r\nthree\r\n"


def test_sections_that_touch_can_be_decided_alone() -> None:
    base = b"# Raw\n\n## Thread `b`\nb"
    new = b"# Raw\n\n## Thread `a`\na\n\n## Thread `c`\nc\n"
    change = change_of(base, new, "raw_memories.md", unit="thread")
    assert len(change.hunks) >= 2
    result = result_bytes(base, change, chosen(change.hunks[0].id, path="raw_memories.md"))
    assert result is not None
    assert b"b" in result
    assert result_bytes(base, change, chosen("*", path="raw_memories.md")) == new


def test_a_kept_last_line_without_an_end_gets_one_before_what_follows() -> None:
    base, new = b"# Raw\n\n## Thread `a`\na", b"# Raw\n\n## Thread `a`\nA\n\n## Thread `b`\nb\n"
    change = change_of(base, new, "raw_memories.md", unit="thread")
    last = change.hunks[-1]
    result = result_bytes(base, change, chosen(last.id, path="raw_memories.md"))
    assert result is not None
    assert all(b"a## Thread" not in line for line in split_lines(result))


def test_files_are_added_and_deleted() -> None:
    added = change_of(None, b"x\n")
    assert result_bytes(None, added, chosen(*(h.id for h in added.hunks))) == b"x\n"
    assert result_bytes(None, added, chosen()) is None
    deleted = change_of(b"x\n", None)
    assert result_bytes(b"x\n", deleted, chosen("*")) is None
    assert result_bytes(b"x\n", deleted, chosen(*(h.id for h in deleted.hunks))) is None
    assert result_bytes(b"x\n", deleted, chosen()) == b"x\n"
    empty = change_of(None, b"")
    assert result_bytes(None, empty, chosen("*")) == b""


def test_binary_files_are_decided_whole() -> None:
    change = change_of(b"\0old", b"\0new")
    assert result_bytes(b"\0old", change, chosen("*")) == b"\0new"
    with pytest.raises(InputError, match="no hunk"):
        result_bytes(b"\0old", change, chosen("nope"))
    with pytest.raises(InputError, match="no hunk"):
        result_bytes(b"\0old", change, chosen(edited={"*": ("x",)}))
    spoiled = change.model_copy(update={"content": "no base64!"})
    with pytest.raises(InputError, match="base64"):
        result_bytes(b"\0old", spoiled, chosen("*"))
    other = change.model_copy(update={"content": base64.b64encode(b"other").decode()})
    with pytest.raises(WrongDigest):
        result_bytes(b"\0old", other, chosen("*"))


def test_selections_that_do_not_fit_are_refused() -> None:
    base = b"one\ntwo\nthree\nfour\n"
    change = change_of(base, b"ONE\ntwo\nthree\nFOUR\n")
    first, second = change.hunks
    with pytest.raises(InputError, match="no hunk"):
        result_bytes(base, change, chosen(first.id, "nope"))
    with pytest.raises(InputError, match="no hunk"):
        result_bytes(base, change, chosen("*"))
    with pytest.raises(InputError, match="at once"):
        result_bytes(base, change, chosen(first.id, edited={first.id: ("x\n",)}))
    whole = change.model_copy(update={"unit": "whole"})
    with pytest.raises(InputError, match="as a whole"):
        result_bytes(base, whole, chosen(first.id))
    with pytest.raises(InputError, match="as a whole"):
        result_bytes(base, whole, chosen(first.id, second.id, edited={second.id: ("x\n",)}))
    assert result_bytes(base, whole, chosen(first.id, second.id)) == b"ONE\ntwo\nthree\nFOUR\n"


def test_another_base_is_refused() -> None:
    change = change_of(b"one\n", b"two\n")
    ids = [h.id for h in change.hunks]
    for base in (b"other\n", None):
        with pytest.raises(WorkspaceMoved):
            result_bytes(base, change, chosen(*ids))
    misplaced = change.model_copy(update={"old_sha256": content_hash(b"other\n")})
    with pytest.raises(WorkspaceMoved, match="does not fit"):
        result_bytes(b"other\n", misplaced, chosen(*ids))


def test_modes_follow_the_change_and_else_stay() -> None:
    change = change_of(b"x\n", b"x\n", old_mode=0o644, new_mode=0o755)
    assert result_bytes(b"x\n", change, chosen("*")) == b"x\n"
    assert result_mode(0o644, change, chosen("*")) == 0o755
    assert result_mode(0o644, change, chosen()) == 0o644
    kept = change_of(b"x\n", b"y\n", old_mode=0o600, new_mode=0o600)
    assert result_mode(0o600, kept, chosen(*(h.id for h in kept.hunks))) == 0o600
    added = change_of(None, b"x\n")
    assert result_mode(None, added, chosen(*(h.id for h in added.hunks))) == 0o644
    setuid = change_of(b"x\n", b"x\n", old_mode=0o644, new_mode=0o4755)
    assert result_mode(0o644, setuid, chosen("*")) == 0o755


def test_a_tree_is_the_base_plus_what_was_taken() -> None:
    base = {"a.md": b"a\n", "b.md": b"b\n", "c.md": b"c\n"}
    changes = (change_of(b"a\n", b"A\n", "a.md"), change_of(b"b\n", None, "b.md"), change_of(None, b"d\n", "d.md"))
    plan = Plan(
        kind="apply",
        operation="consolidate",
        id="x",
        created_at=0,
        state=PlanState.APPLYABLE,
        home="/h",
        provider=ProviderMark(name="builtin", label=""),
        settings=Settings(),
        changes=changes,
    )
    selection = Selection(
        plan_digest="d", accepted={"a.md": (changes[0].hunks[0].id,), "b.md": ("*",)}, rejected={"d.md": ("*",)}
    )
    assert [is_chosen(change, selection) for change in changes] == [True, True, False]
    assert apply_selection(base, plan, selection) == {"a.md": b"A\n", "c.md": b"c\n"}


def test_lines_end_at_0x0a_alone() -> None:
    data = b"a\r\nb\x0bc\x0cd\x85\xe2\x80\xa8e\n\nf"
    assert split_lines(data) == [b"a\r\n", b"b\x0bc\x0cd\x85\xe2\x80\xa8e\n", b"\n", b"f"]
    assert split_lines(b"") == []


@pytest.mark.parametrize("case", ["diff-header-like", "diff-no-final-newline"])
def test_shared_pairs_apply_hunk_by_hunk(shared: Path, case: str) -> None:
    before, after = sorted((shared / "cases" / case).glob("*before*")) + sorted(
        (shared / "cases" / case).glob("*after*")
    )
    base, new = before.read_bytes(), after.read_bytes()
    change = change_of(base, new)
    for hunk in change.hunks:
        assert result_bytes(base, change, chosen(hunk.id)) == model(base, change, {hunk.id})
    assert result_bytes(base, change, chosen(*(h.id for h in change.hunks))) == new
