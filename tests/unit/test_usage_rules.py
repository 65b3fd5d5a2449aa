"""Which messages of a session credit which memories."""

from __future__ import annotations

from ltmem_gui.domain.rollouts import Rollout, RolloutItem
from ltmem_gui.domain.usage import CitedUse, cited_in, cited_names, credits_of, not_kept
from tests.helpers.memories import START, Said, output, thread_id

BLOCK = (
    "<citation_entries>\nMEMORY.md:1-2 |note=[x]\nrollout:t1:3-4 |note=[y]\n</citation_entries>\n"
    "<rollout_ids>\n{}\n</rollout_ids>"
)


def rollout(*items: RolloutItem) -> Rollout:
    return Rollout("s", "codex", "/s.jsonl", updated_at=99, items=items)


def said(text: str, **more: object) -> RolloutItem:
    return RolloutItem("assistant", "message", text, **({"line": 5} | more))  # type: ignore[arg-type]


def test_only_the_agents_own_answers_count() -> None:
    text = BLOCK.format("T2\nt2\nt1")
    others = (
        said(text, inherited=True), said(text, undone=True), said(text, injected=True), said("nothing cited"),
        said("<rollout_ids>\n\n</rollout_ids>"), RolloutItem("user", "message", text, line=1),
        RolloutItem("assistant", "tool_call", text, line=2),
    )  # fmt: skip
    assert cited_in(rollout(*others)) == ()
    uses = cited_in(rollout(said(text, at=7), said(text, line=None, row=3)))
    cited = ("T2", "t1", "MEMORY.md")
    assert uses == (CitedUse("line 5", cited, 7), CitedUse("row 3", cited, 99))


def test_credits_are_for_known_threads_once_per_message() -> None:
    row = output(1, [Said("Reusable knowledge:", "x", 3)])
    known = cited_names([row])
    (summary,) = (name for name in known if name.startswith("rollout_summaries/"))
    uses = [CitedUse("line 1", (row.thread_id.upper(), summary, "unknown"), 7), CitedUse("line 2", ("unknown",))]
    mine = {"thread_id": "s", "record": "line 1", "cited_id": row.thread_id}
    assert credits_of("s", uses, known) == [mine | {"used_at": "7"}]
    assert credits_of("s", [CitedUse("line 1", (summary,))], known) == [mine]
    assert row.thread_id == thread_id(1, START + 3_600)


def test_a_message_is_known_by_the_digest_of_its_id_and_without_one_by_its_place() -> None:
    """An id may be any text: a plan and the ledger would keep a secret that nobody looked for there."""
    text = BLOCK.format("t1")
    answers = [said(text, message_id=id_) for id_ in ("m1", "m1", "ghp_" + "a1B2c3D4e5" * 4, "\ud800", "x" * 999, "")]
    names = [use.message for use in cited_in(rollout(*answers))]
    assert names[0] == names[1]
    assert len(set(names)) == 5
    assert all(len(name) == len("message ") + 64 for name in names[:-1])
    assert not any("ghp_" in name for name in names)
    assert names[-1] == ""
    row = output(1, [Said("Reusable knowledge:", "x", 3)])
    found = credits_of("s", [CitedUse("row 4", (row.thread_id,), message="message m1")], cited_names([row]))
    assert found == [{"thread_id": "s", "record": "message m1", "place": "row 4", "cited_id": row.thread_id}]


def credit(record: str, place: str = "", thread: str = "s", cited: str = "c") -> dict[str, str]:
    return {"thread_id": thread, "record": record, "cited_id": cited} | ({"place": place} if place else {})


def test_a_file_and_a_database_that_are_read_at_once_count_what_a_row_was_kept_for_once() -> None:
    both = [credit("message a", "line 5"), credit("message a", "row 3")]
    assert not_kept(both, lambda *_: {"row 3"}) == ()


def test_an_older_ledger_knows_places_alone() -> None:
    """A line says nothing of a row, so each line that was kept stands for one row, and for no other line."""
    asked: list[tuple[str, str]] = []

    def kept(thread: str, cited: str) -> set[str]:
        asked.append((thread, cited))
        return {"line 5", "line 9", "message c"} if thread == "s" else set()

    rows = [credit(f"message {name}", f"row {number}") for number, name in enumerate("abcde")]
    assert not_kept(rows, kept) == (rows[3], rows[4])
    lines = [credit("line 5"), credit("message x", "line 9"), credit("line 11"), credit("message c", "line 12")]
    assert not_kept(lines, kept) == (lines[2],)
    twice = [credit("line 5", thread="t"), credit("line 5", thread="t"), credit("row 7", thread="t")]
    assert not_kept(twice, kept) == (twice[0],)
    assert asked == [("s", "c"), ("s", "c"), ("t", "c")]
