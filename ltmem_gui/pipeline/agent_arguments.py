"""What a tool call asked for, as the transcript may tell it: checked for secrets first, then on one line, then cut.

Whatever the model wrote is told, also what cannot be read as arguments. The order matters: half a token is not
recognised, so nothing is cut before it was checked; of a text far longer than what is shown, the end is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ltmem_gui.domain.agent import TOOLS, AgentAction, CallArgument
from ltmem_gui.domain.hazards import one_line, visible
from ltmem_gui.pipeline.failure_words import LONGEST

MAX_ARGUMENT = 400
MAX_PER_CALL = 1_200
"""Characters that are shown of one argument, and of all of one call; of many, each shows at least `LEAST`."""
LEAST = 40
READ = 8_000
READ_LEAST = 1_000
"""Characters that are checked of all arguments of one call; of many, at least so many of each."""
UNSURE = 500
"""Characters at the end of a cut text that are not shown: a token may be cut there."""
MAX_TOLD = 128
"""Calls of one step whose arguments are told; what comes after them is counted and named."""
MAX_TOOL, MAX_PATH, MAX_DETAIL, MAX_SAID = 40, 200, 200, 300

_WRITTEN = frozenset({"content", "old_text", "new_text"})
_ESCAPED = re.compile(r"\\u00(2[013-9a-fA-F]|[3467][0-9a-fA-F]|5[0-9abd-fABD-F])")
_SIGNS = str.maketrans({"\n": "↵", "\t": "⇥"})

Words = Callable[[tuple[str, ...]], Awaitable[tuple[str, ...]]]


def given(values: Mapping[str, object]) -> tuple[CallArgument, ...]:
    """Return what a call gave beside its path, unchecked; each part of a list stands for itself."""
    parts = [
        (name, part)
        for name, value in values.items()
        if name != "path"
        for part in (cast("list[object]", value) if isinstance(value, list) else (value,))
    ]
    return tuple(_argument(name, _text(part), len(parts), told=name in _WRITTEN) for name, part in parts)


def unread(text: str) -> tuple[CallArgument, ...]:
    """Return arguments as the model wrote them, unchecked; letters written as numbers are told as letters."""
    if not text.strip():
        return ()
    read = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text[:READ])
    return (CallArgument("arguments", read, max(len(text) - READ, 0)),)


async def as_told(actions: Sequence[AgentAction], said: str, words: Words) -> tuple[tuple[AgentAction, ...], str]:
    """Return the calls of a step and what the model said with it, fit to be shown and kept.

    `words` takes the secrets out of texts, and withholds those that it cannot check.
    """
    known = [action if at < MAX_TOLD else replace(action, arguments=()) for at, action in enumerate(actions)]
    texts = {"": None, said[:LONGEST]: None}
    for action in known:
        texts |= dict.fromkeys((*_own(action), *(argument.text for argument in action.arguments)))
    asked = tuple(filter(None, texts))
    clean = dict(zip(asked, await words(asked), strict=True)) if asked else {}
    clean[""] = ""
    return tuple(_shown(action, clean) for action in known), one_line(clean[said[:LONGEST]], MAX_SAID)


def _own(action: AgentAction) -> tuple[str, ...]:
    """Return the words of a call that are not the program's: its tool where there is none such, path, answer."""
    tool = () if action.tool in TOOLS else (action.tool,)
    return (*tool, action.path, action.detail)


def _shown(action: AgentAction, clean: Mapping[str, str]) -> AgentAction:
    limit = max(MAX_PER_CALL // max(len(action.arguments), 1), LEAST)
    return replace(
        action,
        tool=action.tool if action.tool in TOOLS else one_line(clean[action.tool], MAX_TOOL),
        path=one_line(clean[action.path], MAX_PATH),
        detail=one_line(clean[action.detail], MAX_DETAIL),
        arguments=tuple(_cut(each, clean[each.text], min(limit, MAX_ARGUMENT)) for each in action.arguments),
    )


def _cut(argument: CallArgument, clean: str, limit: int) -> CallArgument:
    """Return an argument with its checked text, cut; what was never read counts as left out too."""
    text = visible(clean.translate(_SIGNS), keep="")
    kept = text[: max(len(text) - UNSURE, 0)] if argument.left_out else text
    if len(kept) > limit or argument.left_out:
        kept = kept[: limit - 1] + "…"
        return replace(argument, text=kept, left_out=argument.left_out + len(text) - len(kept) + 1)
    return replace(argument, text=kept)


def _argument(name: str, text: str, among: int, *, told: bool) -> CallArgument:
    room = max(READ // among, READ_LEAST)
    size = len(text.encode("utf-8", "surrogatepass")) if told else None
    return CallArgument(name, text[:room], max(len(text) - room, 0), size)


def _text(value: object) -> str:
    """Return a value of a call that could be read: a text, a number, or yes and no as JSON has them."""
    return str(value).lower() if isinstance(value, bool) else str(value)
