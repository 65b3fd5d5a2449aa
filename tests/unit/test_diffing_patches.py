from __future__ import annotations

import pytest

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.export import patch_of, patch_of_hunks, review_as_json, review_as_markdown
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.patch_names import name_of_header, quote_name, split_names, unquote_name
from ltmem_gui.domain.diffing.unified import hunk_header, parse_patch, write_patch
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.review import Review
from tests.helpers.reviews import finding, plan_of_files

HEADER_LIKE = b"""diff --git a/MEMORY.md b/MEMORY.md
index 1111111..2222222 100644
--- a/MEMORY.md
+++ b/MEMORY.md
@@ -1,4 +1,4 @@ # MEMORY
 # MEMORY

--- a sql note
-++ a plus note
+-- a newer sql note
+++ a newer plus note
@@ -16 +16,3 @@
 day first
+@@ -1,2 +1,2 @@ not a hunk
+diff --git a/x b/x
"""


def test_lengths_decide_where_a_hunk_ends_not_the_look_of_its_lines() -> None:
    (file,) = parse_patch(HEADER_LIKE)
    assert (len(file.hunks), file.count("+"), file.count("-")) == (2, 4, 2)
    assert [line.text for h in file.hunks for line in h.lines if line.sign == "-"] == [
        "-- a sql note\n",
        "++ a plus note\n",
    ]
    assert file.hunks[0].section == " # MEMORY"
    assert file.path == "MEMORY.md"
    # The stripped blank of an empty context line comes back as git writes it.
    assert write_patch([file]) == HEADER_LIKE.replace(b" # MEMORY\n\n---", b" # MEMORY\n \n---")


NO_NEWLINE = b"""diff --git a/n.md b/n.md
--- a/n.md
+++ b/n.md
@@ -3 +3,2 @@
-uv only
\\ No newline at end of file
+uv only
+day first
"""


def test_the_marker_is_a_fact_of_the_line_before_it() -> None:
    (file,) = parse_patch(NO_NEWLINE)
    assert [(line.sign, line.text) for line in file.hunks[0].lines] == [
        ("-", "uv only"),
        ("+", "uv only\n"),
        ("+", "day first\n"),
    ]
    assert write_patch([file]) == NO_NEWLINE


def test_crlf_and_separators_stay_inside_their_lines() -> None:
    patch = "--- a/n.md\t\n+++ b/n.md\t\n@@ -1,2 +1,2 @@\n-a\r\n+b\r\r\n \u2028c\u2029\x0b\n".encode()
    (file,) = parse_patch(patch)
    assert [line.text for line in file.hunks[0].lines] == ["a\r\n", "b\r\r\n", "\u2028c\u2029\x0b\n"]
    assert write_patch([file]) == patch


def test_bytes_that_are_no_text_pass_through() -> None:
    patch = b"--- a/n\n+++ b/n\n@@ -1 +1 @@\n-\xff\n+\xfe\n"
    assert write_patch(parse_patch(patch)) == patch


@pytest.mark.parametrize(
    ("patch", "kind", "old", "new"),
    [
        (b"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "added", None, "x"),
        (
            b"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "deleted",
            "x",
            None,
        ),
        (b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "added", None, "x"),
        (b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "deleted", "x", None),
        (b"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n", "added", None, "x"),
        (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "mode", "x", "x"),
        (b"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n", "renamed", "x", "y"),
        (b"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "copied", "x", "y"),
        (b"diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n", "modified", "x", "x"),
        (b"diff --git a/a b c/d e b/a b c/d e\nnew file mode 100644\n", "added", None, "a b c/d e"),
        (b"diff --git a/odd name b/other one two\nold mode 100644\nnew mode 100755\n", "mode", None, None),
    ],
)
def test_kinds_of_change(patch: bytes, kind: str, old: str | None, new: str | None) -> None:
    (file,) = parse_patch(patch)
    assert (file.kind, file.old_path, file.new_path) == (kind, old, new)
    assert file.path == (new or old or "")
    assert write_patch([file]) == patch


def test_modes_similarity_and_binary_are_read() -> None:
    (mode,) = parse_patch(b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n")
    assert (mode.old_mode, mode.new_mode) == (0o100644, 0o100755)
    (renamed,) = parse_patch(b"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n")
    assert renamed.similarity == 90
    (binary,) = parse_patch(b"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\nIc${MZ\n\n")
    assert binary.binary
    assert binary.tail[0] == "GIT binary patch\n"


def test_text_before_the_first_file_is_passed_over() -> None:
    assert parse_patch(b"commit abc\nAuthor: x\n\n    message\n") == ()
    assert len(parse_patch(b"From: x\n\n" + NO_NEWLINE)) == 1


@pytest.mark.parametrize(
    ("patch", "line", "what"),
    [
        (b"--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n a\n", 5, "ends before its length"),
        (b"--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n a\nx\n", 5, "ends before its length"),
        (b"--- a/n\n+++ b/n\n@@ -1 +1,2 @@\n a\n-b\n", 5, "ends before its length"),
        (b"--- a/n\n+++ b/n\n@@ -1,2 +1 @@\n a\n+b\n", 5, "ends before its length"),
        (b"--- a/n\n+++ b/n\n@@ -x +1 @@\n", 3, "not a hunk header"),
    ],
)
def test_damaged_hunks_are_named_with_their_line(patch: bytes, line: int, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        parse_patch(patch)
    assert caught.value.line == line


def test_odd_but_valid_headers_come_back_as_they_were() -> None:
    patch = b"--- a/n\n+++ b/n\n@@ -1,1 +1,1 @@\n-a\n+b\n"
    (file,) = parse_patch(patch)
    assert hunk_header(file.hunks[0]) == "@@ -1 +1 @@\n"
    assert write_patch([file]) == patch


@pytest.mark.parametrize(
    "name", ["plain", "na me", 'qu"ote', "tab\t", "new\nline", "back\\slash", "ä", "\x7f\x01", "\udcff"]
)
def test_names_are_quoted_and_read_back(name: str) -> None:
    quoted = quote_name(name)
    assert "\n" not in quoted
    assert unquote_name(quoted) == name
    assert unquote_name('"') == '"'


def test_names_of_a_git_line() -> None:
    assert split_names('"a/q\\"x" "b/q\\"x"') == ('q"x', 'q"x')
    assert split_names('"a/q\\"x" b/y') == ('q"x', "y")
    assert split_names('a/y "b/q\\"x"') == ("y", 'q"x')
    assert split_names('y"') is None
    assert split_names('"a/never closed') is None
    assert split_names("a/one b/two") == ("one", "two")
    assert name_of_header('"a/q\\"x"\t') == 'q"x'
    assert unquote_name('"\\303\\244"') == "ä"


def test_patches_of_equal_files_are_empty() -> None:
    assert patch_of("x", b"a", b"a") == b""
    assert patch_of("x", None, None) == b""


def test_hunk_headers_name_the_section() -> None:
    old = "# Task Group: a\n" + "".join(f"- {n}\n" for n in range(20))
    patch = patch_of("n.md", old.encode(), old.replace("- 15\n", "- x\n").encode()).decode()
    assert "@@ -14,7 +14,7 @@ Task Group: a\n" in patch


def sample() -> Review:
    plan, _ = plan_of_files(
        {"n.md": "one\n```\ntwo", "gone.md": "x\n"}, {"n.md": "ONE\n```\n````\ntwo"}, [finding("n.md", 1)]
    )
    review = Review(plan)
    keys = [unit.key for unit in review.units]
    return review.decide(keys[1], Decision.ACCEPT).note(keys[1], "good one").edit(keys[2], ("`````\n",))


def test_a_review_as_markdown_keeps_its_fences_closed() -> None:
    text = review_as_markdown(sample())
    assert "1 of 3 undecided" in text
    assert "- **accept** `n.md:" in text
    assert ": good one\n" in text
    assert "````diff\n-one\n+ONE\n````\n" not in text
    assert "```diff\n-one\n+ONE\n```\n" in text
    assert "`````diff\n+````\n`````\n" in text


def test_a_review_as_json_holds_decisions_lines_and_findings() -> None:
    data = review_as_json(sample())
    assert data["undecided"] == 1
    assert data["blocking"] == ["f"]
    by_decision = {change["decision"]: change for change in data["changes"]}
    assert by_decision["accept"]["pieces"][0]["new"] == ["ONE\n"]
    assert by_decision["accept"]["note"] == "good one"
    assert by_decision["edited"]["edited"] == ["`````\n"]
    assert by_decision["undecided"]["pieces"] == [{"path": "gone.md", "hunk": "*"}]
    assert data["findings"][0]["rule"] == "secret"


def test_a_hunk_without_a_final_newline_keeps_its_marker() -> None:
    plan, base = plan_of_files({"n.md": "a\nb"}, {"n.md": "a\nc"})
    patch = patch_of_hunks(plan.changes[0], split_lines(base["n.md"].decode()), plan.changes[0].hunks)
    assert patch.endswith("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n")
