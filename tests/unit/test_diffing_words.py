from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.diffing.hunks import make_hunks
from ltmem_gui.domain.diffing.intraline import MAX_CHARACTERS, Extent, compare_lines, pair_lines
from ltmem_gui.domain.diffing.moves import find_moves, order_only, renamed_from
from ltmem_gui.domain.diffing.searching import MAX_PLACES, Place, compile_search, find_in
from ltmem_gui.domain.errors import Cancelled, UsageError
from ltmem_gui.domain.hazards import line_end, tags, usual_line_end


def words(old: str, new: str) -> tuple[list[str], list[str]]:
    found = compare_lines(old, new)
    return [old[a:b] for a, b in found.old], [new[a:b] for a, b in found.new]


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"),
    [
        ("use npm here", "use yarn here", ["npm"], ["yarn"]),
        ("- Use npm, never x", "- Use pnpm, never x", [], ["p"]),
        ("port 8003", "port 9003", ["8"], ["9"]),
        ("a b c", "a b c d", [], [" d"]),
        ("a 😀 b", "a 😀 c", ["b"], ["c"]),
        ("one two three same", "uno dos three same", ["one two"], ["uno dos"]),
        ("same", "same", [], []),
        ("a", "a ", [], [" "]),
    ],
)
def test_changed_words_then_characters(old: str, new: str, removed: list[str], added: list[str]) -> None:
    assert compare_lines(old, new).extent is Extent.COMPARED
    assert words(old, new) == (removed, added)


def test_it_says_when_it_gives_up() -> None:
    assert compare_lines("x" * (MAX_CHARACTERS + 1), "x").extent is Extent.TOO_LONG
    assert compare_lines("x", "x" * (MAX_CHARACTERS + 1)).extent is Extent.TOO_LONG
    assert compare_lines("nothing in common here", "quite another sentence, really").extent is Extent.DIFFERENT


@given(st.text("ab c😀\t", max_size=30), st.text("ab d😀\t", max_size=30))
@settings(max_examples=150)
def test_what_is_not_marked_is_equal(old: str, new: str) -> None:
    found = compare_lines(old, new)
    if found.extent is not Extent.COMPARED:
        return

    def kept(line: str, spans: tuple[tuple[int, int], ...]) -> str:
        out, at = "", 0
        for start, end in spans:
            assert at <= start < end <= len(line)
            out += line[at:start]
            at = end
        return out + line[at:]

    left, right = kept(old, found.old), kept(new, found.new)
    # Marks may run over white space that parts two changed words; apart from it the rest is the same.
    assert "".join(left.split()) == "".join(right.split())


def test_unequal_blocks_pair_by_likeness() -> None:
    old = ["alpha beta gamma", "the cache lives here"]
    new = ["something new", "alpha beta delta", "the cache lives there"]
    assert pair_lines(old, new) == {0: 1, 1: 2}
    assert pair_lines(["a", "b"], ["c", "d"]) == {0: 0, 1: 1}
    assert pair_lines(["x"] * 30, ["y"] * 40) == {i: i for i in range(30)}
    assert pair_lines(new, old) == {1: 0, 2: 1}


def test_pairing_stops_when_asked() -> None:
    token = CancelToken()
    assert pair_lines(["ab"], ["ab", "c"], token) == {0: 0}
    token.cancel()
    with pytest.raises(Cancelled):
        pair_lines(["ab"], ["ab", "c"], token)


# --- moves ---

BLOCK = "- a fact that is long enough\n- and one more of the same\n"


def test_a_moved_block_knows_both_places() -> None:
    filler = "".join(f"line {n}\n" for n in range(6))
    hunks = make_hunks("n.md", BLOCK + filler + "end\n", filler + "end\n" + BLOCK)
    moves = find_moves(hunks)
    assert moves.old == {0: 7, 1: 8}
    assert moves.new == {7: 0, 8: 1}
    assert order_only(hunks)


def test_short_and_repeated_lines_do_not_move() -> None:
    assert find_moves(make_hunks("n.md", "}\nx\ny\nz\n", "x\ny\nz\n}\n")).old == {}
    twice = make_hunks("n.md", BLOCK + "m\nk\n", "m\n" + BLOCK + "k\n" + BLOCK)
    assert find_moves(twice).new == {}
    assert find_moves(make_hunks("n.md", "", BLOCK)).old == {}
    assert not order_only(make_hunks("n.md", "", BLOCK))
    assert not order_only(make_hunks("n.md", "a\n", "b\n"))


def test_a_deleted_and_an_added_file_of_like_content_are_a_rename() -> None:
    text = "".join(f"line {n}\n" for n in range(10))
    changes = [
        file_change("a.md", text.encode(), None),
        file_change("b.md", None, text.replace("line 3", "line three").encode()),
        file_change("c.md", None, b"something else\n"),
        file_change("d.bin", b"\0\1", None),
        file_change("e.bin", None, b"\0\1"),
        file_change("f.md", b"x\n", b"y\n"),
        file_change("g.md", None, text.encode()),
    ]
    assert renamed_from([c for c in changes if c]) == {"b.md": "a.md", "e.bin": "d.bin"}
    empty = [c for c in (file_change("x", None, b""), file_change("y", b"q\n", None)) if c]
    assert renamed_from(empty) == {}
    assert renamed_from([c for c in (file_change("x", None, b"z\n"),) if c]) == {}
    both = [c for c in (file_change("x", None, b""), file_change("y", b"", None)) if c]
    assert renamed_from(both) == {"x": "y"}


# --- find ---


def test_find_plain_text_and_regex() -> None:
    lines = ["Use pnpm, never npm\n", "a.b\n", "aXb\n"]
    plain = compile_search("NPM", regex=False, match_case=False)
    assert find_in(lines, range(3), "new", plain) == [Place("new", 0, 5, 8), Place("new", 0, 16, 19)]
    assert find_in(lines, range(3), "old", compile_search("NPM", regex=False, match_case=True)) == []
    assert len(find_in(lines, range(3), "new", compile_search("a.b", regex=True, match_case=True))) == 2
    assert len(find_in(lines, range(3), "new", compile_search("a.b", regex=False, match_case=True))) == 1
    assert find_in(lines, range(3), "new", compile_search("z*", regex=True, match_case=True)) == []


def test_find_is_bounded_and_bad_patterns_are_words() -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        compile_search("(", regex=True, match_case=True)
    assert (
        len(find_in(["a" * 9000, "a" * 9000, "a"], range(3), "new", compile_search("a", regex=False, match_case=True)))
        == MAX_PLACES
    )


@pytest.mark.parametrize("text", ["(a+)+b", "(a*)*", "(x|a+)*", "(?:\\w+\\s*)+$", "(a{2,})+", "(a+){3,}"])
def test_expressions_that_may_never_end_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="may never end"):
        compile_search(text, regex=True, match_case=True)
    assert compile_search(text, regex=False, match_case=True).search(text)


@pytest.mark.parametrize("text", ["(ab)+", "a+b*", "(a\\+)+", "(a|b)*c", "(a+)b", "[+*]+(x)?"])
def test_usual_expressions_are_searched(text: str) -> None:
    assert compile_search(text, regex=True, match_case=True).pattern == text


# --- tags ---


def test_hidden_characters_become_tags() -> None:
    shown = [(t.at, t.label) for t in tags("a\tb\u00a0c\u200bd\u202ee\rf\u2028g\ue000\u2003h\U000e0041")]
    assert shown == [
        (1, "TAB"),
        (3, "NBSP"),
        (5, "ZWSP"),
        (7, "RLO"),
        (9, "CR"),
        (11, "LS"),
        (13, "U+E000"),
        (14, "U+2003"),
        (16, "U+E0041"),
    ]
    assert tags("plain text, äöü and more") == ()
    assert tags("日本語 😀") == ()
    assert tags("\u202e")[0].spoken == "right-to-left override"
    assert tags("\u2003")[0].spoken == "em space"


def test_line_ends() -> None:
    assert [line_end(line) for line in ("a\r\n", "a\n", "a", "a\r")] == ["\r\n", "\n", "", ""]
    assert usual_line_end(["a\r\n", "b\r\n", "c\n"]) == "\r\n"
    assert usual_line_end([]) == "\n"


def test_a_moved_block_takes_the_lines_before_its_anchor_along() -> None:
    filler = "".join(f"line {n}\n" for n in range(6))
    block = "\n- a fact that is long enough\n"
    moves = find_moves(make_hunks("n.md", block + filler + "end\n", filler + "end\n" + block))
    assert moves.old == {0: 7, 1: 8}
