"""Read a rollout that is too long in parts, and merge what they gave.

Never more requests than the plan named. A part that does not fit is not cut while requests are left: what is still
unread is split anew by the server's own measure. Results that are too long to merge at once are merged in halves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from ltmem_gui.domain.errors import KnownError, ProviderError
from ltmem_gui.domain.extraction import ExtractionInput, StageOneReply, decode_reply
from ltmem_gui.domain.memory_items import requests_for_parts
from ltmem_gui.domain.tokens import TokenUsage, together
from ltmem_gui.llm.answers import Answered
from ltmem_gui.llm.budget import cut_to, smaller_budget, split

Ask = Callable[[ExtractionInput, str], Awaitable[Answered]]
Merge = Callable[[list[str]], str]


class Parts:
    """One reading in parts; belongs to one rollout."""

    def __init__(self, ask: Ask, merge: Merge, *, prompt_tokens: int) -> None:
        """Take how to ask for a part (with an empty text) or with a text, and how to word a merge."""
        self._ask = ask
        self._merge = merge
        self._prompt_tokens = prompt_tokens
        self._usages: list[TokenUsage] = []
        self._left = 0

    async def read(self, request: ExtractionInput, part_tokens: int) -> Answered:
        """Return the merged answer with the tokens of all answers.

        A part that breaks the schema ends the work: its text is the answer, which is then refused for it, and nothing
        is merged over a gap. Raises `ProviderError` with the tokens of all answers.
        """
        self._left = requests_for_parts(request.tokens_before, part_tokens)
        try:
            text = await self._whole(request, part_tokens)
        except ProviderError as error:
            spent = together([*self._usages, *([error.usage] if error.usage else [])])
            raise replace(error, usage=spent) from error
        return Answered(text, together(self._usages))

    async def _whole(self, request: ExtractionInput, part_tokens: int) -> str:
        results: list[StageOneReply] = []
        waiting = list(split(request, part_tokens))
        while waiting:
            part = waiting.pop(0)
            try:
                answered = await self._one(part)
            except ProviderError as error:
                waiting = self._smaller(request, part, waiting, error)
                continue
            result = _decoded(answered.text)
            if result is None:
                return answered.text
            results.append(result)
        useful = [result.model_dump_json() for result in results if not result.is_no_op]
        return await self._merged(request, useful) if useful else StageOneReply.nothing().model_dump_json()

    async def _one(self, request: ExtractionInput, text: str = "") -> Answered:
        self._left -= 1
        answered = await self._ask(request, text)
        self._usages.append(answered.usage)
        return answered

    def _smaller(
        self, request: ExtractionInput, part: ExtractionInput, waiting: list[ExtractionInput], error: ProviderError
    ) -> list[ExtractionInput]:
        """Return what is to be read instead of a part that does not fit. Raises the error where nothing helps."""
        if error.group != "too_large" or self._left < 1:
            raise error
        size = smaller_budget(part, self._prompt_tokens, error.what)
        unread = [item for each in (part, *waiting) for item in each.items]
        anew = list(split(replace(request, items=tuple(unread)), size))
        # One request more merges; a part that is one long item cannot be split, only cut.
        if len(part.items) > 1 and len(anew) + 1 <= self._left and anew[0].tokens < part.tokens:
            return anew
        cut = cut_to(part, size)
        if cut.tokens >= part.tokens or len(waiting) + 2 > self._left:
            raise error
        return [cut, *waiting]

    async def _merged(self, request: ExtractionInput, texts: list[str]) -> str:
        if len(texts) == 1:
            return texts[0]
        try:
            return (await self._one(request, self._merge(texts))).text
        except ProviderError as error:
            if error.group != "too_large" or len(texts) < 3 or self._left < 3:
                raise
        middle = (len(texts) + 1) // 2
        halves = [await self._merged(request, half) for half in (texts[:middle], texts[middle:])]
        return await self._merged(request, halves)


def _decoded(text: str) -> StageOneReply | None:
    try:
        return decode_reply(text)
    except KnownError:
        return None
