"""The consolidation agent: a conversation with a model that may use six tools in a staged copy, and nothing else.

There is no shell, no sub-agent, no memory tool and no approval; the only thing that leaves is the conversation, to the
model's host. The run ends when the model stops calling tools and the files hold, or at a limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ltmem_gui.domain.agent import (
    AgentAction,
    AgentFailed,
    AgentMessage,
    AgentReply,
    AgentStep,
    AgentTranscript,
)
from ltmem_gui.domain.effects import AgentConstraints
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.memory_items import estimate_tokens
from ltmem_gui.pipeline.agent_arguments import Words, as_told
from ltmem_gui.pipeline.agent_ports import AgentModel
from ltmem_gui.pipeline.agent_tools import Toolbox, tool_specs
from ltmem_gui.pipeline.ports import Offload

CORRECTIONS = 2
"""How often a model that stopped too early is told what does not hold."""
MAX_CALLS_PER_STEP = 64
KEPT_RESULTS = 2
CANCEL_PATIENCE_SECONDS = 0.5
_LEFT_OUT = '{"left_out": "an earlier result, left out to save room; call the tool again if you need it"}'


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with the files, in words, empty when they hold; `fatal`: no proposal can be made of them."""

    wrong: str = ""
    fatal: bool = False


Check = Callable[[], Awaitable[Verdict]]


class AgentRun:
    """One run; lives on the event loop, and ends at once when its task is cancelled."""

    def __init__(
        self,
        model: AgentModel,
        toolbox: Toolbox,
        constraints: AgentConstraints,
        *,
        offload: Offload,
        listen: Listener,
        words: Words,
        room_tokens: int,
    ) -> None:
        """Take the model, its tools and the fence; `room_tokens` is what the model's context holds.

        `words` takes the secrets out of what steps and transcript say.
        """
        self._model = model
        self._toolbox = toolbox
        self._fence = constraints
        self._offload = offload
        self._listen = listen
        self._words = words
        self._room = room_tokens
        self._tools = tool_specs()
        self._messages: list[AgentMessage] = []
        self._weights: list[int] = []
        self._steps: list[AgentStep] = []
        self._tokens = 0

    @property
    def transcript(self) -> AgentTranscript:
        """Return what happened so far."""
        return AgentTranscript(tuple(self._steps), dict(self._toolbox.refusals))

    async def run(self, opening: Sequence[AgentMessage], check: Check) -> AgentTranscript:
        """Talk until the model is done and `check` has nothing fatal to say.

        Raises `AgentFailed` at a limit or for files that do not hold, `ProviderError` when the model is not reached.
        """
        self._say(*opening)
        try:
            async with asyncio.timeout(self._fence.max_seconds):
                await self._talk(check)
        except TimeoutError as error:
            raise AgentFailed(
                f"the agent was not done after {self._fence.max_seconds} s", "try a faster model"
            ) from error
        return self.transcript

    async def _talk(self, check: Check) -> None:
        told = 0
        while True:
            reply = await self._step()
            if reply.calls:
                continue
            verdict = await check()
            if not verdict.wrong or (told == CORRECTIONS and not verdict.fatal):
                return
            if told == CORRECTIONS:
                raise AgentFailed(f"the agent's result does not hold: {one_line(verdict.wrong, 300)}", "try it again")
            told += 1
            self._say(AgentMessage("user", f"{_CORRECTION}{verdict.wrong}"))

    async def _step(self) -> AgentReply:
        number = len(self._steps) + 1
        if number > self._fence.max_steps:
            raise AgentFailed(f"the agent was not done after {self._fence.max_steps} steps", "try another model")
        began = asyncio.get_running_loop().time()
        self._save_room()
        reply = await self._ask()
        sent = sum(self._weights)
        tokens_in = sent if reply.tokens_in is None else reply.tokens_in
        tokens_out = estimate_tokens(reply.text) if reply.tokens_out is None else reply.tokens_out
        self._tokens += tokens_in + tokens_out
        self._say(AgentMessage("assistant", reply.text, reply.calls))
        actions = await self._carry_out(reply)
        took = asyncio.get_running_loop().time() - began
        shown, said = await as_told(actions, reply.text, self._words)
        counted = reply.tokens_in is not None and reply.tokens_out is not None
        step = AgentStep(number, shown, said, tokens_in, tokens_out, took, reply.tokens_cached or 0, counted)
        self._steps.append(step)
        self._listen(step)
        return reply

    async def _ask(self) -> AgentReply:
        """Send the conversation; one that a server finds too long is shortened while there is something to drop."""
        while True:
            sent = sum(self._weights)
            if self._tokens + sent > self._fence.max_tokens:
                raise AgentFailed(
                    f"the agent used {self._tokens} tokens; the next step would pass {self._fence.max_tokens}",
                    "raise max_tokens_per_run, or consolidate fewer memories at once",
                )
            try:
                return await self._model.step(self._messages, self._tools)
            except ProviderError as error:
                if error.group != "too_large":
                    raise
                self._room = sent // 2
                self._save_room()
                if sum(self._weights) >= sent:
                    raise

    async def _carry_out(self, reply: AgentReply) -> tuple[AgentAction, ...]:
        """Answer every call, in order, in one go off the loop; the protocol wants an answer for each."""
        if not reply.calls:
            return ()

        def work() -> list[tuple[AgentAction, str]]:
            taken, rest = reply.calls[:MAX_CALLS_PER_STEP], reply.calls[MAX_CALLS_PER_STEP:]
            return [*map(self._toolbox.call, taken), *map(self._toolbox.too_many, rest)]

        working = asyncio.ensure_future(self._offload.thread(work))
        try:
            done = await asyncio.shield(working)
        except asyncio.CancelledError:
            # The copy is removed next: a call that is under way must not write into it while it goes.
            await asyncio.wait({working}, timeout=CANCEL_PATIENCE_SECONDS)
            working.add_done_callback(_forget)
            raise
        answers = zip(reply.calls, done, strict=True)
        self._say(*(AgentMessage("tool", text, call_id=call.id) for call, (_, text) in answers))
        return tuple(action for action, _ in done)

    def _save_room(self) -> None:
        """Leave the oldest results out once the conversation outgrows the model's context."""
        results = [i for i, message in enumerate(self._messages) if message.role == "tool"]
        for index in results[:-KEPT_RESULTS]:
            if sum(self._weights) <= self._room:
                return
            if self._weights[index] > _weight(_LEFT_OUT):
                self._messages[index] = replace(self._messages[index], text=_LEFT_OUT)
                self._weights[index] = _weight(_LEFT_OUT)

    def _say(self, *messages: AgentMessage) -> None:
        """Add to the conversation; each message is weighed once."""
        self._messages += messages
        self._weights += [_weight(m.text, *(call.arguments for call in m.calls)) for m in messages]


_CORRECTION = (
    "You stopped, but the program's check of the files found the following. Correct it with the tools, "
    "then stop again.\n\n"
)


def _forget(work: asyncio.Future[Any]) -> None:
    """Take what a call came to after its run was cancelled: the copy is gone by then, and nobody waits for it."""
    if not work.cancelled():
        work.exception()


def _weight(*texts: str) -> int:
    """Return the tokens that texts cost, estimated."""
    return sum(map(estimate_tokens, texts))
