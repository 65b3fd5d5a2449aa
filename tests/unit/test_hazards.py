from __future__ import annotations

import pytest

from ltmem_gui.domain.hazards import Tag, is_hidden, line_end, one_line, tags, usual_line_end, visible


@pytest.mark.parametrize("char", ["\u202e", "\u200b", "\u2028", "\x85", "\x07", "\r", "\ue000", "\ud83d", "\u00ad"])
def test_characters_that_cannot_be_seen(char: str) -> None:
    assert is_hidden(char)
    assert visible(f"a{char}b") == f"a⟨U+{ord(char):04X}⟩b"


@pytest.mark.parametrize("char", ["a", "\n", "\t", "ä", "日", "😀", " "])
def test_characters_that_can(char: str) -> None:
    assert not is_hidden(char)


def test_kept_characters_stay() -> None:
    assert visible("a\tb\r") == "a\tb⟨U+000D⟩"
    assert visible("a\tb\r", keep="\t\r") == "a\tb\r"
    assert visible("a\tb\n", keep="") == "a⟨U+0009⟩b⟨U+000A⟩"
    assert visible("plain") == "plain"


def test_one_line_is_one_line_and_short() -> None:
    assert one_line("a\n b\t c") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("x\u202ey") == "x⟨U+202E⟩y"


def test_characters_that_need_a_tag_are_named() -> None:
    assert tags("plain ascii") == ()
    assert tags("a\tb\u00a0c\u202e") == (
        Tag(1, "TAB", "tab"),
        Tag(3, "NBSP", "no-break space"),
        Tag(5, "RLO", "right-to-left override"),
    )
    assert tags("日\u2003\ue000") == (Tag(1, "U+2003", "em space"), Tag(2, "U+E000", "u+e000"))


def test_ends_of_lines() -> None:
    assert [line_end(line) for line in ("a\r\n", "a\n", "a")] == ["\r\n", "\n", ""]
    assert usual_line_end(["a\r\n", "b\r\n", "c\n"]) == "\r\n"
    assert usual_line_end(["a\n", "b\r\n"]) == "\n"
    assert usual_line_end([]) == "\n"
