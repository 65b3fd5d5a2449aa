"""What a rejected change rests on: forgetting one of these sessions forgets its lines."""

from __future__ import annotations

import pytest

from ltmem_gui.domain.refusals import resting_on

GROUP = """# Task Group: {0}
applies_to: cwd=/{0}

## Task 1: build
### rollout_summary_files
- rollout_summaries/{0}.md (cwd=/{0}, thread_id={0}-file)
### keywords
- build

## Reusable knowledge
- "Use pnpm." [Task 1] [c1]

<citation_entries>
rollout:{0}-line:3-3 |note=[c1 "Use pnpm."]
</citation_entries>
<rollout_ids>
{0}
</rollout_ids>
"""


def lines(text: str) -> tuple[str, ...]:
    return tuple(f"{line}\n" for line in text.removesuffix("\n").split("\n"))


ONE, TWO = lines(GROUP.format("one")), lines(GROUP.format("two"))
FIRST = ("one", "one-file", "one-line")


@pytest.mark.parametrize(
    ("old", "new", "threads"),
    [
        ((), ONE, FIRST),
        (ONE, (), FIRST),
        (ONE, TWO, (*FIRST, "two", "two-file", "two-line")),
        ((), ("\n", *ONE), FIRST),
        ((), ("- a bullet\n", *ONE), ("a", "b", "one")),
        ((), ONE[:-4], ("a", "b", "one")),
        ((), ("- a bullet\n",), ("a", "b")),
        (("- a bullet\n",), ONE, ("a", "b", *FIRST)),
        ((), ("- as ONE said\n",), ("a", "b", "one")),
        ((), (), ()),
    ],
)
def test_whole_groups_name_their_sessions_and_other_lines_may_be_of_any(
    old: tuple[str, ...], new: tuple[str, ...], threads: tuple[str, ...]
) -> None:
    assert resting_on(old, new, selected=("b", "a"), known=("one", "else")) == threads
