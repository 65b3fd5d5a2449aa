from __future__ import annotations

from ltmem_gui.domain.rollouts import Rollout, RolloutItem
from ltmem_gui.ui.models.review_evidence import Provenance, Provenances, Support, said

MEMORY = """intro line

# Task Group: one
- outside of sections
## User preferences
- cited [c1]
  goes on here
- reversed [c2]
- bare

<citation_entries>
a.md:2-2 |note=[c1 why]
a.md:9-2 |note=[c2 odd]
</citation_entries>

# Task Group: two
## User preferences
- other [c1]

<citation_entries>
rollout:t:5-5 |note=[c1 said]
</citation_entries>
"""
LINES = [f"{line}\n" for line in MEMORY.split("\n")]


def of(text: str, rollouts: dict[str, Rollout] | None = None) -> Provenance:
    line = next(n for n, each in enumerate(LINES, 1) if each.startswith(text))
    return Provenances(LINES, {"a.md": "one\ntwo\nthree\n"}).of_line(line, rollouts or {})


def test_a_bullet_shows_the_lines_it_cites() -> None:
    found = of("- cited")
    assert found.support is Support.CITED
    (evidence,) = found.evidence
    assert [(line.label, line.cited) for line in evidence.lines] == [("1", False), ("2", True), ("3", False)]
    assert of("  goes on here").evidence == found.evidence
    assert of("a.md:2-2").evidence == found.evidence


def test_numbers_belong_to_their_own_group() -> None:
    (evidence,) = of("- other").evidence
    assert evidence.thread == "t"
    assert evidence.lines == ()
    rollout = Rollout(
        id="t",
        agent="codex",
        path="r",
        items=(
            RolloutItem("user", "message", "yes\nindeed", line=5),
            RolloutItem("assistant", "message", "far", line=50),
            RolloutItem("user", "message", "host", row=6, injected=True),
        ),
    )
    (read,) = of("- other", {"t": rollout}).evidence
    assert [(line.label, line.text, line.cited) for line in read.lines] == [
        ("5 user", "yes", True),
        ("", "indeed", True),
        ("6 user", "host", False),
    ]
    assert [line.text for line in said(rollout)] == ["yes", "indeed"]


def test_what_cannot_be_shown_says_why() -> None:
    assert of("- bare").support is Support.NO_SOURCE
    assert of("- reversed").evidence[0].problem == "the range is reversed"
    for text in ("intro line", "# Task Group: one", "## User preferences", "<citation_entries>"):
        assert of(text).support is Support.NOT_A_CLAIM
    known = Provenances(LINES, {})
    assert known.of_line(0, {}).support is Support.NOT_A_CLAIM
    assert known.of_line(999, {}).support is Support.NOT_A_CLAIM
    line = LINES.index("- cited [c1]\n") + 1
    assert "not in the memory folder" in known.of_line(line, {}).evidence[0].problem


def test_a_thread_shows_what_was_said_in_it() -> None:
    known = Provenances([], {})
    assert known.of_thread("t", {}).evidence[0].thread == "t"
