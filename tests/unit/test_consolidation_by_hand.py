"""Whatever stands in `MEMORY.md`: consolidation never fails, never loses a person's lines, and comes to rest."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.memory_document import render_document
from ltmem_gui.llm.builtin.consolidation import consolidate_builtin
from tests.helpers.memories import Said, output, request

PREF, KNOW = "Preference signals:", "Reusable knowledge:"
ROWS = [
    output(1, [Said(PREF, "use pnpm, never npm", 7), Said(KNOW, "the default branch is develop", 9)]),
    output(2, [Said(KNOW, "make test needs JOBS=1", 4)], cwd="/home/dev/billing-api", title="Fix the tests"),
    output(3, [Said(KNOW, "flags live in flags.toml", 5)], title="Add a flag", keywords="flags"),
]
SUMMARY = next(path for path in request(ROWS[:1]).inputs if path.startswith("rollout_summaries/"))
FIRST = {path: data for path, data in consolidate_builtin(request(ROWS)).files.items() if data is not None}
OURS = FIRST["MEMORY.md"].decode().split("\n")


def _in_ids(place: int) -> bool:
    before = OURS[:place]
    return before.count("<rollout_ids>") > before.count("</rollout_ids>")


def run(rows: list[object], text: str) -> dict[str, bytes]:
    proposal = consolidate_builtin(request(rows, {"MEMORY.md": text.encode()}))  # type: ignore[arg-type]
    return {path: data for path, data in proposal.files.items() if data is not None}


def lines_of(files: dict[str, bytes]) -> list[str]:
    return files["MEMORY.md"].decode().split("\n")


# A list of ids holds ids only; everywhere else a person may write.
PLACES = [place for place in range(len(OURS) + 1) if not _in_ids(place)]
mine = st.integers(0, 10**6).map(lambda n: f"- mine {n}") | st.integers(0, 10**6).map(lambda n: f"a thought {n}")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), mine), max_size=6, unique_by=lambda item: item[1]), st.data())
def test_lines_a_person_puts_anywhere_survive(inserted: list[tuple[int, str]], data: st.DataObject) -> None:
    lines = list(OURS)
    for place, line in sorted(inserted, reverse=True):
        lines.insert(place, line)
    kept = data.draw(st.lists(st.sampled_from(ROWS), unique_by=lambda row: row.thread_id))
    after = run(kept, "\n".join(lines))
    found = lines_of(after)
    for _, line in inserted:
        assert any(text.startswith(line) for text in found), line
    again = consolidate_builtin(request(kept, after)).files
    assert again == after


WORDS = [
    *OURS,
    "# Task Group: other",
    "applies_to: cwd=/home/dev/shop-web; reuse_rule=x",
    "## Task 3: by a model, success",
    "### rollout_summary_files",
    f"- {SUMMARY} (cwd=/x, rollout_path=/y, updated_at=z, thread_id={ROWS[0].thread_id})",
    "- rollout_summaries/gone.md (cwd=/x, rollout_path=/y, updated_at=z, thread_id=gone)",
    "- docs/own.md",
    "- a model wrote this [Task 1][Task 2]",
    "- use pnpm, never npm [Task 3]",
    "<citation_entries>",
    f"{SUMMARY}:1-2 |note=[own]",
    f"{SUMMARY}:1-2 |note=[c7 own]",
    "nonsense",
    "```",
    "# Task Group: Ad-hoc notes",
    "\ud800",
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=40), st.booleans())
def test_any_file_is_taken_and_comes_to_rest(lines: list[str], forget: bool) -> None:
    text = "\n".join(lines).encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    rows = ROWS[1:] if forget else ROWS
    files = {"MEMORY.md": text.encode("utf-8", "surrogateescape")}
    for _ in range(3):
        proposal = consolidate_builtin(request(rows, files))
        files = {path: data for path, data in proposal.files.items() if data is not None}
    assert consolidate_builtin(request(rows, files)).files == files


def test_a_citation_of_its_own_and_bad_lines_in_a_block_are_kept() -> None:
    text = FIRST["MEMORY.md"].decode()
    extra = f"{SUMMARY}:1-2 |note=[read this first]\nnot a citation"
    changed = text.replace("</citation_entries>", f"{extra}\n</citation_entries>", 1)
    after = run(ROWS, changed)
    assert set(extra.split("\n")) <= set(lines_of(after))
    assert run(ROWS, after["MEMORY.md"].decode()) == after
    gone = run(ROWS[1:], after["MEMORY.md"].decode())
    assert "read this first" not in gone["MEMORY.md"].decode()


def test_notes_a_person_left_inside_a_task_outlive_the_task() -> None:
    text = FIRST["MEMORY.md"].decode().replace("## User preferences", "call Bob first\n\n## User preferences", 1)
    assert "call Bob first" in lines_of(run(ROWS, text))
    assert "call Bob first" in lines_of(run(ROWS[:2], text))


def test_a_moved_statement_follows_its_kind() -> None:
    text = FIRST["MEMORY.md"].decode()
    line = next(x for x in OURS if "pnpm" in x and x.startswith("- "))
    moved = text.replace(line + "\n", "", 1).replace("## Reusable knowledge\n", f"## Reusable knowledge\n{line}\n", 1)
    after = run(ROWS, moved)
    assert after["MEMORY.md"].decode().count('- "use pnpm, never npm"') == 1
    assert after["MEMORY.md"].decode().index("pnpm") < after["MEMORY.md"].decode().index("## Reusable knowledge")


def test_layout_of_nothing_is_nothing() -> None:
    assert render_document(()) == ""
