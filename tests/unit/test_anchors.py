"""Where cited lines are: exact means equal, moved means found for sure, everything else says so."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.anchors import (
    CitedText,
    EvidenceSnapshot,
    Location,
    LocationStatus,
    inside_root,
    line_count,
    locate,
    snapshot,
)
from ltmem_gui.domain.citations import CitationEntry

S = LocationStatus
LINES = [f"line {n} says something of its own about topic {n * 7}" for n in range(1, 31)]


def text_of(lines: list[str]) -> CitedText:
    return CitedText("".join(line + "\n" for line in lines).encode())


def cite(start: int, end: int, path: str = "MEMORY.md") -> CitationEntry:
    return CitationEntry(path, start, end, "why")


def taken(start: int, end: int, lines: list[str] = LINES) -> EvidenceSnapshot:
    return snapshot("MEMORY.md", start, end, text_of(lines))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("MEMORY.md", "MEMORY.md"),
        ("./a//b/../c.md", "a/c.md"),
        ("notes/10:30 standup.md", "notes/10:30 standup.md"),
        ("..a/b", "..a/b"),
        ("", None),
        (".", None),
        ("..", None),
        ("a/../..", None),
        ("../a", None),
        ("/etc/passwd", None),
        ("~/x", None),
        ("C:x", None),
        ("\\\\host\\share", None),
        ("a\\b", None),
        ("a\x00b", None),
    ],
)
def test_paths_stay_inside(path: str, expected: str | None) -> None:
    assert inside_root(path) == expected


def test_lines_end_at_0x0a_only() -> None:
    assert [line_count(d) for d in (b"", b"a", b"a\n", b"a\nb", b"\n\n", b"a\rb\x0cc\xe2\x80\xa8d\n")] == [
        0,
        1,
        1,
        2,
        2,
        1,
    ]
    assert CitedText("a\u2028b\r\nc".encode()).lines == ["a\u2028b\r", "c"]
    assert CitedText(b"").lines == []


@pytest.mark.parametrize(
    ("start", "end", "status"),
    [
        (1, 30, S.EXACT),
        (30, 31, S.OUT_OF_RANGE),
        (0, 0, S.OUT_OF_RANGE),
        (0, 3, S.OUT_OF_RANGE),
        (9, 3, S.REVERSED),
    ],
)
def test_without_a_snapshot_only_the_range_is_asked(start: int, end: int, status: LocationStatus) -> None:
    assert locate(cite(start, end), text_of(LINES)).status is status


def test_missing_files_and_paths() -> None:
    assert locate(cite(1, 1), None).status is S.MISSING_FILE
    assert locate(cite(1, 1, ""), None).status is S.MALFORMED
    assert not S.MISSING_FILE.resolves
    assert S.MOVED.resolves


def test_a_snapshot_keeps_quote_context_and_hash() -> None:
    shot = snapshot("MEMORY.md", 5, 6, text_of(LINES), "abc")
    assert shot.quote == f"{LINES[4]}\n{LINES[5]}"
    assert shot.before.endswith(LINES[3] + "\n")
    assert shot.after.startswith(LINES[6])
    assert (shot.baseline, len(shot.sha256)) == ("abc", 64)
    for start, end in ((0, 1), (3, 2), (30, 31)):
        with pytest.raises(ValueError, match="not among them"):
            taken(start, end)


def test_lines_above_move_the_quote() -> None:
    found = locate(cite(5, 6), text_of(["a", "b", "c", *LINES]), taken(5, 6))
    assert (found.status, found.start, found.end, found.label) == (S.MOVED, 8, 9, "moved +3")
    gone = locate(cite(5, 6), text_of(LINES[2:]), taken(5, 6))
    assert (gone.start, gone.end, gone.label) == (3, 4, "moved -2")


def test_an_unchanged_place_is_exact_whatever_else_changed() -> None:
    assert locate(cite(5, 6), text_of([*LINES, "more", LINES[4]]), taken(5, 6)).status is S.EXACT


def test_a_snapshot_of_other_lines_is_not_asked() -> None:
    assert locate(cite(7, 8), text_of(LINES[1:]), taken(5, 6)).status is S.EXACT


def test_an_edited_quote_is_found_and_says_how_alike_it_is() -> None:
    lines = ["new first line", *LINES]
    lines[6] = lines[6].replace("something of its own", "something of their own")
    found = locate(cite(6, 7), text_of(lines), taken(6, 7))
    assert (found.status, found.start, found.end) == (S.EDITED, 7, 8)
    assert found.likeness is not None
    assert 0.85 <= found.likeness < 1
    assert found.label == f"edited ({found.likeness:.2f})"


def test_text_that_is_gone_is_not_guessed() -> None:
    lines = ["# Heading", "entirely other words stand here now", "and here as well, at length"]
    assert locate(cite(2, 3), text_of(lines), taken(2, 3)).status is S.MISSING_TEXT
    assert locate(cite(20, 21), text_of(lines), taken(20, 21)).status is S.OUT_OF_RANGE
    assert locate(cite(1, 1), text_of(["y", "z"]), taken(1, 1, ["x", "z"])).status is S.MISSING_TEXT
    assert locate(cite(20, 21), text_of([]), taken(20, 21)).status is S.OUT_OF_RANGE


def test_equal_places_are_told_apart_by_context_or_not_at_all() -> None:
    base = ["alpha heading of the first part", "- the same bullet twice", "omega", "beta heading of the second part"]
    base += ["- the same bullet twice", "psi"]
    moved = ["new line", *base]
    found = locate(cite(5, 5), text_of(moved), taken(5, 5, base))
    assert (found.status, found.start) == (S.MOVED, 6)
    twins = ["x", "- the same bullet twice", "y", "- the same bullet twice", "z"]
    unclear = locate(cite(5, 5), text_of(twins), taken(5, 5, base))
    assert unclear.status is S.AMBIGUOUS
    assert unclear.candidates == ((2, 2), (4, 4))
    assert unclear.label == "ambiguous (2 places)"


def test_a_copy_that_is_left_is_not_taken_for_the_one_that_was_cited() -> None:
    twice = "- the same bullet twice"
    base = ["alpha heading of the first part", twice, "omega", "beta heading of the second part", twice, "psi"]
    left = [base[0], "- something else altogether now", *base[2:]]
    found = locate(cite(2, 2), text_of(left), taken(2, 2, base))
    assert (found.status, found.candidates) == (S.AMBIGUOUS, ((5, 5),))


def test_neighbours_tell_nearly_equal_runs_apart() -> None:
    base = ["head of the first part", "", "head of the second part", "the port is 5433 for staging", "tail of it"]
    edited = [*base[:3], "the port is 5434 for staging", base[4], "the port is 5435 for staging"]
    found = locate(cite(4, 4), text_of(edited), taken(4, 4, base))
    assert (found.status, found.start, found.end) == (S.EDITED, 4, 4)
    grown = ["x", *base[:3], "the port is", "5433 for staging", base[4]]
    assert locate(cite(4, 4), text_of(grown), taken(4, 4, base)).end == 6
    far = [base[2], *["filler"] * 9, base[4]]
    assert locate(cite(4, 4), text_of(far), taken(4, 4, base)).status is S.MISSING_TEXT


def test_a_short_quote_needs_its_context() -> None:
    base = ["first heading here", "yes", "last line of the part"]
    assert locate(cite(2, 2), text_of(["new", *base]), taken(2, 2, base)).status is S.MOVED
    alone = locate(cite(2, 2), text_of(["other", "words", "yes"]), taken(2, 2, base))
    assert (alone.status, alone.label) == (S.AMBIGUOUS, "ambiguous (1 place)")


def test_two_places_nearly_alike_are_ambiguous() -> None:
    quote = "the staging database of the shop listens on port 5433 and nowhere else"
    base = ["head", quote, "tail"]
    lines = ["x", quote.replace("5433", "5434"), "y", quote.replace("5433", "5435"), "z"]
    found = locate(cite(2, 2), text_of(lines), taken(2, 2, base))
    assert found.status is S.AMBIGUOUS
    assert {place[0] for place in found.candidates} == {2, 4}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]), max_size=8), min_size=1, max_size=12), st.data())
def test_nothing_is_called_exact_or_moved_that_is_not_equal(lines: list[str], data: st.DataObject) -> None:
    old = CitedText("\n".join(lines).encode())
    if not old.lines:
        return
    start = data.draw(st.integers(1, len(old.lines)))
    end = data.draw(st.integers(start, len(old.lines)))
    shot = snapshot("m", start, end, old)
    edited = list(lines)
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(edited)))
        edited[place : place + data.draw(st.integers(0, 2))] = data.draw(
            st.lists(st.sampled_from([*lines, "new"]), max_size=2)
        )
    new = CitedText("\n".join(edited).encode())
    found = locate(cite(start, end, "m"), new, shot)
    if found.status in (S.EXACT, S.MOVED):
        assert new.quote(found.start, found.end) == shot.quote
    if found.status is S.EXACT:
        assert (found.start, found.end) == (start, end)


def test_moved_ranges_are_found_after_random_edits() -> None:
    chance = random.Random(3)
    words = ["cache", "index", "queue", "lease", "hunk", "token", "build", "deploy", "test", "shard", "tile", "flag"]
    lines = ["- " + " ".join(chance.choices(words, k=8)) for _ in range(400)]
    asked = right = 0
    for _ in range(20):
        edited: list[tuple[int, str]] = list(enumerate(lines, 1))
        for _ in range(chance.randint(1, 30)):
            place = chance.randrange(len(edited))
            edited[place : place + chance.randint(0, 1)] = [(0, "- " + " ".join(chance.choices(words, k=8)))]
        now = {old: position for position, (old, _) in enumerate(edited, 1) if old}
        text = text_of([line for _, line in edited])
        for _ in range(20):
            start = chance.randint(1, 396)
            end = start + chance.randint(0, 3)
            found = locate(cite(start, end), text, taken(start, end, lines))
            whole = [now.get(n) for n in range(start, end + 1)]
            first = whole[0]
            if first is None or whole != list(range(first, first + len(whole))):
                assert found.status not in (S.EXACT, S.MOVED)
            else:
                asked += 1
                right += found.status in (S.EXACT, S.MOVED) and found.start == first
    assert asked > 200
    assert right / asked >= 0.99


def long_text(seed: str) -> list[str]:
    lines = [f"- {seed} line {number} says something of its own about the matter" for number in range(1, 60)]
    return [*lines[:9], "", *lines[9:]]


def located(before: list[str], after: list[str], start: int, end: int) -> Location:
    taken = snapshot("a.md", start, end, CitedText("\n".join(before).encode()))
    return locate(CitationEntry("a.md", start, end), CitedText("\n".join(after).encode()), taken)


def test_a_long_quote_is_looked_for_by_the_lines_that_did_not_change() -> None:
    body = long_text("first")
    before = ["head", *body, "", "tail"]
    edited = [line.replace("something", "a thing") if number % 4 == 0 else line for number, line in enumerate(body)]
    found = located(before, ["x", "y", "other head", *edited, "z"], 2, 61)
    assert found.status is LocationStatus.EDITED
    assert (found.start, found.end) == (4, 63)
    longer = [*edited[:30], "- one more line in the middle of it", *edited[30:]]
    found = located(before, ["x", "other head", *longer, "z"], 2, 61)
    assert (found.status, found.start, found.end) == (LocationStatus.EDITED, 3, 63)
    twice = located(before, ["x", *edited, "between", "more", *edited, "z"], 2, 61)
    assert (twice.label, twice.candidates) == ("ambiguous (2 places)", ((64, 123), (2, 61)))
    assert located(before, ["x", *long_text("second")], 2, 61).status is LocationStatus.MISSING_TEXT
    assert located(before, ["x"], 2, 61).status is LocationStatus.OUT_OF_RANGE


def test_neighbours_that_stand_everywhere_tell_nothing() -> None:
    before = ["}", "- what was said here and nowhere else, in words", "}"]
    after = ["}", "", "}"] * 60
    assert located(before, after, 2, 2).status is LocationStatus.MISSING_TEXT
