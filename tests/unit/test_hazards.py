from __future__ import annotations

import pytest

from ltmem_gui.domain.hazards import is_hidden, one_line, visible


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
