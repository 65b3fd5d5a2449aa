"""Phase 1 through an OpenAI-compatible server: strict answers, one smaller try when it does not fit, probes.

What is sent is the redacted input only. The answer stays untrusted text: `decode_reply` judges it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ltmem_gui.domain.errors import KnownError, ProviderError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply, decode_reply
from ltmem_gui.domain.memory_items import estimate_tokens
from ltmem_gui.domain.providers import ConnectionReport, ProviderSettings, Rung
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.answers import Answered
from ltmem_gui.llm.asking import Question, ask
from ltmem_gui.llm.budget import cut_to, smaller_budget
from ltmem_gui.llm.connection import OnThread
from ltmem_gui.llm.failures import without_secrets
from ltmem_gui.llm.parts import Parts
from ltmem_gui.llm.schema import STAGE_ONE_NAME, stage_one_schema
from ltmem_gui.llm.server_memory import ServerMemory
from ltmem_gui.llm.server_side import ServerSide


class OpenAIExtractor(ServerSide):
    """Implement the `Extractor` port for one server and model."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        memory: ServerMemory | None = None,
        on_thread: OnThread | None = None,
        key: str = "",
        clock: Callable[[], float] = time.time,
        stopwatch: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Take what any server side takes; `stopwatch` returns seconds from anywhere."""
        super().__init__(provider, memory=memory, on_thread=on_thread, key=key, clock=clock)
        self._stopwatch = stopwatch

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        """Answer for one rollout. Raises `ProviderError`; group `too_large` after one smaller try."""
        try:
            return _reply(await self._ask(request))
        except ProviderError as error:
            if error.group != "too_large":
                raise
            smaller = cut_to(request, smaller_budget(request, self._prompt_tokens(request), error.what))
        try:
            return _reply(await self._ask(smaller))
        except ProviderError as error:
            if error.group != "too_large":
                raise
            raise self._connection.failure(
                "too_large",
                f"about {request.tokens} tokens do not fit the model, nor do {smaller.tokens}: {error.what}",
            ) from error

    async def extract_split(self, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
        """Extract a rollout in parts of at most `part_tokens` and merge the results through one more call.

        Raises `ProviderError` with the tokens of all answers.
        """
        parts = Parts(self._ask, self._prompts.stage_one_merge, prompt_tokens=self._prompt_tokens(request))
        return _reply(await parts.read(request, part_tokens))

    async def models(self) -> tuple[str, ...]:
        """Return what the server offers. Raises `ProviderError`."""
        return await self._connection.models()

    async def test_connection(self) -> ConnectionReport:
        """Send two tiny requests: one that has something to remember, one that has not.

        Raises `ProviderError` when the server cannot be used at all; a wrong answer is told in the result.
        """
        try:
            models = await self.models()
        except ProviderError as error:
            if error.group in ("auth", "connection", "timeout"):
                raise
            models = ()
        schema_ok, schema_ms, first = await self._probe(_DURABLE, expect_no_op=False)
        no_op_ok, no_op_ms, second = await self._probe(_TRIVIAL, expect_no_op=True)
        rung = self._connection.memory.of(self._provider).rung
        detail = "; ".join(part for part in (first, second) if part)
        return ConnectionReport(models, schema_ok, no_op_ok, schema_ms, no_op_ms, rung, detail, self.limits)

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return stage_one_schema()

    async def _probe(self, said: str, *, expect_no_op: bool) -> tuple[bool, int, str]:
        started = self._stopwatch()
        reply = await self.extract(probe_input(said))
        took = round((self._stopwatch() - started) * 1000)
        try:
            decoded = decode_reply(reply.text)
        except KnownError as error:
            return False, took, without_secrets(error.what)
        if expect_no_op and not decoded.is_no_op:
            return False, took, "it remembers small talk: expect memories without value from this model"
        return True, took, ""

    async def _ask(self, request: ExtractionInput, user: str = "") -> Answered:
        def system(rung: Rung) -> str:
            return self._prompts.stage_one_system(request, schema_in_prompt=rung is not Rung.SCHEMA)

        shown = user or self._prompts.stage_one_input(request)
        return await ask(self._connection, Question(system, shown, self._schema, STAGE_ONE_NAME))

    def _prompt_tokens(self, request: ExtractionInput) -> int:
        return estimate_tokens(self._prompts.stage_one_system(request, schema_in_prompt=False)) + 200


_DURABLE = "In this repository we always run `make check` before a commit. Please remember that."
_TRIVIAL = "How many kilometres are five miles? Thanks!"


def probe_input(said: str) -> ExtractionInput:
    """Return the input of a probe: one sentence of a person."""
    item = RolloutItem("user", "message", said, line=2)
    transcript = f"[2 user message]\n| {said}\n"
    return ExtractionInput(
        thread_id="00000000-0000-7000-8000-000000000000",
        agent="probe",
        rollout_path="",
        cwd="/probe",
        git_branch=None,
        started_at=None,
        updated_at=0,
        items=(item,),
        transcript=transcript,
        tokens_before=estimate_tokens(transcript),
        tokens=estimate_tokens(transcript),
    )


def _reply(answered: Answered) -> ExtractionReply:
    usage = answered.usage
    return ExtractionReply(
        text=answered.text,
        tokens_in=usage.input,
        tokens_out=usage.output,
        tokens_cached=usage.cached,
        tokens_reasoning=usage.reasoning,
    )
