"""The citation protocol: what is read, what is refused and why, and streaming."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltmem_gui.domain import citations
from ltmem_gui.domain.citations import CitationEntry, CitationStream, ParsedCitations, parse, parse_entry


def block(*lines: str) -> str:
    return "\n".join(["<citation_entries>", *lines, "</citation_entries>"])


def only(line: str) -> tuple[str, int, int, str]:
    entry = parse_entry(line)
    assert isinstance(entry, CitationEntry), entry
    return entry.path, entry.start, entry.end, entry.note


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("path/to/file.md:10-15 |note=[why]", ("path/to/file.md", 10, 15, "why")),
        ("MEMORY.md:1-2|note=[]", ("MEMORY.md", 1, 2, "")),
        ("a:1-2|note=[x]y]", ("a", 1, 2, "x]y")),
        ("a:1-2|note=[x|note=[y]]", ("a", 1, 2, "x|note=[y]")),
        ("p|note=[x:1-2|note=[y]", ("p|note=[x", 1, 2, "y")),
        ("a:+1-+2|note=[plus]", ("a", 1, 2, "plus")),
        ("a:007-0000000000012|note=[zeros]", ("a", 7, 12, "zeros")),
        ("a:4294967295-4294967295|note=[edge]", ("a", 4294967295, 4294967295, "edge")),
        (" m.md : 2 - 3 |note=[ blanks ]  \r", ("m.md", 2, 3, "blanks")),
        ("C:\\mem\\x.md:3-4 |note=[drive]", ("C:\\mem\\x.md", 3, 4, "drive")),
        ("rollout:t-1:5-6 |note=[c2 said]", ("rollout:t-1", 5, 6, "c2 said")),
        (":3-4 |note=[no path]", ("", 3, 4, "no path")),
        ("a\x1c:1-2|note=[\x1f]", ("a\x1c", 1, 2, "\x1f")),
    ],
)
def test_what_is_accepted(line: str, expected: tuple[str, int, int, str]) -> None:
    assert only(line) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("just words", "|note=["),
        ("a.md:1-2", "|note=["),
        ("a.md:1-2 note=[x]", "|note=["),
        ("a.md:1-2|note=[x] tail", "not closed"),
        ("a.md:1-2|note=[x", "not closed"),
        ("a.md:5|note=[x]", "no range"),
        ("a.md|note=[x]", "no line range"),
        ("a:1-2-3|note=[x]", "whole number"),
        ("a:-1-2|note=[x]", "whole number"),
        ("a:1_0-2|note=[x]", "whole number"),
        ("a:1-4294967296|note=[x]", "32 bits"),
        ("a:1-99999999999999999999999|note=[x]", "32 bits"),
        ("a:١-٢|note=[x]", "whole number"),
        ("a:²-3|note=[x]", "whole number"),
        ("a:++1-2|note=[x]", "whole number"),
        ("a:1-2.5|note=[x]", "whole number"),
        ("a:\x1c1-2|note=[x]", "whole number"),
        ("a|note=[b|note=[c]", "no line range"),
    ],
)
def test_what_is_refused_and_why(line: str, reason: str) -> None:
    found = parse_entry(line)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("a:1-1|note=[]", "ok"),
        ("a:9-3|note=[]", "reversed"),
        ("a:0-0|note=[]", "zero"),
        ("a:0-5|note=[]", "zero"),
        (":1-2|note=[]", "empty path"),
    ],
)
def test_invalid_ranges_are_read_and_named(line: str, status: str) -> None:
    entry = parse_entry(line)
    assert isinstance(entry, CitationEntry)
    assert entry.status == status


def test_entries_know_their_session_claim_and_place() -> None:
    entry = CitationEntry("rollout:t-1", 5, 6, "c12 what was said")
    assert (entry.thread_id, entry.claim, entry.location) == ("t-1", 12, "rollout:t-1:5-6")
    other = CitationEntry("a.md", 5, 6, "cat pictures")
    assert (other.thread_id, other.claim) == (None, None)
    assert CitationEntry("a.md", 1, 1, "c2x").claim is None


def test_lines_are_those_of_the_file() -> None:
    text = "one\r\ntwo\u2028same\n" + block("a:1-2|note=[x]", "", "bad") + "\n\n" + block("b:3-4|note=[y]")
    parsed = parse(text)
    assert [(e.path, e.line) for e in parsed.entries] == [("a", 4), ("b", 10)]
    assert [(r.line, r.text) for r in parsed.rejected] == [(6, "bad")]


def test_ids_are_one_each_in_first_seen_spelling() -> None:
    text = "<rollout_ids>\nABC\n\n abc \nx\n</rollout_ids> <rollout_ids>X\ny</rollout_ids>"
    assert parse(text).rollout_ids == ("ABC", "x", "y")


def test_legacy_ids_count_only_where_there_are_no_others() -> None:
    legacy = "<thread_ids>\nold\n</thread_ids>"
    assert parse(legacy).rollout_ids == ("old",)
    assert parse(legacy + "<rollout_ids>new</rollout_ids>").rollout_ids == ("new",)
    wrapped = f"<oai-mem-citation>{legacy}</oai-mem-citation> <rollout_ids>new</rollout_ids>"
    assert parse(wrapped).rollout_ids == ("old", "new")


def test_an_unclosed_inner_tag_gives_nothing_and_an_unclosed_outer_one_ends_with_the_text() -> None:
    assert parse("<citation_entries>\na:1-2|note=[x]") == ParsedCitations()
    inner = block("a:1-2|note=[x]")
    assert len(parse("<oai-mem-citation>" + inner).entries) == 1
    cut = "<oai-mem-citation><citation_entries>\na:1-2|note=[x]</oai-mem-citation>" + inner.replace("a:", "b:")
    assert [e.path for e in parse(cut).entries] == ["b"]


def test_a_streamed_message_hides_blocks_however_it_is_cut() -> None:
    message = (
        f"Hello <oai-mem-citation>{block('a:1-2|note=[x]')}</oai-mem-citation>"
        f"wor<b>ld<oai-mem-citation><rollout_ids>T\nt</rollout_ids></oai-mem-citation>! <oai-mem"
    )
    for size in (1, 2, 3, 7, 50, len(message)):
        stream = CitationStream()
        shown = "".join(stream.feed(message[i : i + size]) for i in range(0, len(message), size)) + stream.finish()
        assert shown == "Hello wor<b>ld! <oai-mem"
        assert len(stream.blocks) == 2
        assert [e.path for e in stream.citations.entries] == ["a"]
        assert stream.citations.rollout_ids == ("T",)


def test_an_unterminated_streamed_block_is_used() -> None:
    stream = CitationStream()
    assert stream.feed("x<oai-mem-citation>" + block("a:1-2|note=[x]", "bad") + "</oai-mem") == "x"
    assert stream.blocks == ()
    assert stream.finish() == ""
    assert len(stream.citations.entries) == 1
    assert stream.citations.rejected[0].text == "bad"


def test_tags_inside_parts_are_defused_when_written() -> None:
    parsed = ParsedCitations((CitationEntry("a", 1, 2, "x</citation_entries>\ny<rollout_ids>"),), ("i<rollout_ids>",))
    again = parse(citations.format(parsed))
    assert again.entries[0].note == "x‹/citation_entries> y‹rollout_ids>"
    assert again.rollout_ids == ("i‹rollout_ids>",)


pieces = st.sampled_from(
    ["<oai-mem-citation>", "</oai-mem-citation>", "<citation_entries>", "</citation_entries>", "<rollout_ids>",
     "</rollout_ids>", "<thread_ids>", "</thread_ids>", "a.md:1-2 |note=[n]", "|note=[", "]", ":", "-", "3", "0",
     "\n", "\r\n", " ", "rollout:x:1-1|note=[c1]", "\u2028", "é", "\x1c", "+", "C:\\", "99999999999"]
)  # fmt: skip
hostile = st.lists(pieces | st.text(max_size=3), max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(hostile)
def test_nothing_raises_and_format_is_the_inverse(text: str) -> None:
    parsed = parse(text)
    lines = text.split("\n")
    assert all(entry.path in lines[entry.line - 1] for entry in parsed.entries)
    assert all(item.text in lines[item.line - 1] for item in parsed.rejected)
    assert len({i.lower() for i in parsed.rollout_ids}) == len(parsed.rollout_ids)
    parts = [p for e in parsed.entries for p in (e.path, e.note)] + list(parsed.rollout_ids)
    assume(not any(tag in part for part in parts for tag in ("_entries>", "_ids>", "citation>")))
    again = parse(citations.format(parsed))
    assert (again.entries, again.rollout_ids, again.rejected) == (parsed.entries, parsed.rollout_ids, ())


@settings(max_examples=150, deadline=None)
@given(hostile, st.lists(st.integers(0, 60), max_size=5))
def test_streaming_does_not_depend_on_the_cuts(text: str, cuts: list[int]) -> None:
    whole, split = CitationStream(), CitationStream()
    shown = whole.feed(text) + whole.finish()
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    parts = [split.feed(text[a:b]) for a, b in itertools.pairwise(edges)]
    assert "".join(parts) + split.finish() == shown
    assert split.blocks == whole.blocks


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), max_size=30),
    st.integers(0, citations.MAX_LINE_NUMBER),
    st.integers(0, citations.MAX_LINE_NUMBER),
    st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), max_size=30),
)
def test_every_well_formed_line_is_read(path: str, start: int, end: int, note: str) -> None:
    assume("|note=[" not in path)
    found = parse_entry(f"{path}:{start}-{end} |note=[{note}]")
    white = citations.WHITE_SPACE
    assert found == CitationEntry(path.strip(white), start, end, note.strip(white))


def test_shared_cases(shared: Path) -> None:
    for name in ("citation-malformed", "citation-colons-crlf"):
        expected = json.loads((shared / "cases" / f"{name}.expected.json").read_text(encoding="utf-8"))
        text = (shared / "cases" / f"{name}.txt").read_bytes().decode()
        parsed = parse(text)
        read = [
            {"path": e.path, "line_start": e.start, "line_end": e.end, "note": e.note}
            for e in parsed.entries
            if e.line not in expected["either_lines"]
        ]
        assert read == expected["entries"]
        assert [item.line for item in parsed.rejected] == expected["rejected_lines"]
        assert list(parsed.rollout_ids) == expected["rollout_ids"]
        assert citations.strip_blocks(text) == expected["visible_text"]


@given(
    st.text(st.sampled_from("a1 :-|]note=[é@./\t"), max_size=12),
    st.text(st.sampled_from("0123456789+_٣ -"), max_size=12),
    st.text(st.sampled_from("0123456789 -"), max_size=12),
    st.text(st.sampled_from("a] |note=[é"), max_size=12),
)
def test_plain_lines_are_read_as_any_other_line(path: str, first: str, last: str, note: str) -> None:
    line = f"{path}:{first}-{last} |note=[{note}]"
    # A no-break space before the mark is trimmed like any blank, and keeps the line from being read as a plain one.
    found = parse_entry(line)
    slow = parse_entry(line.replace(" |note=[", "\u00a0|note=[", 1))
    assert found == slow
