"""Phase 1 through an OpenAI-compatible server: strict answers, one smaller try when it does not fit, probes.

What is sent is the redacted input only. The answer stays untrusted text: `decode_reply` judges it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ltmem_gui.domain.errors import KnownError, ProviderError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply, decode_reply
from ltmem_gui.domain.memory_items import estimate_tokens
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.domain.rollouts import RolloutItem
from ltmem_gui.llm.budget import cut_to, smaller_budget, split
from ltmem_gui.llm.failures import failure
from ltmem_gui.llm.openai_client import Answer, Ladder, ModelClient, OnThread, Question, Rung
from ltmem_gui.llm.prompts import Prompts
from ltmem_gui.llm.schema import STAGE_ONE_NAME, stage_one_schema


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the connection test found; latencies in milliseconds, `detail` in words where a probe failed."""

    models: tuple[str, ...]
    schema_ok: bool
    no_op_ok: bool
    schema_ms: int
    no_op_ms: int
    rung: Rung
    detail: str = ""


class OpenAIExtractor:
    """Implement the `Extractor` port for one server and model."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        ladder: Ladder | None = None,
        on_thread: OnThread | None = None,
        key: str = "",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Take the server, what is already known of it, and what runs blocking work; nothing is opened yet."""
        self._client = ModelClient(provider, ladder=ladder, on_thread=on_thread, key=key)
        self._provider = provider
        self._prompts = Prompts()
        self._clock = clock

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it."""
        return self._provider.mark

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
            raise failure(
                "too_large",
                f"about {request.tokens} tokens do not fit the model, nor do {smaller.tokens}: {error.what}",
                self._provider.host,
            ) from error

    async def extract_split(self, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
        """Extract a rollout in parts of at most `part_tokens` and merge the results through one more call.

        Raises `ProviderError`, and `BadReply` for a part that breaks the schema.
        """
        parts = split(request, part_tokens)
        replies = [await self.extract(part) for part in parts]
        useful = [reply for reply in replies if not decode_reply(reply.text).is_no_op]
        if len(useful) < 2:
            last = useful[0] if useful else replies[-1]
            return _sum(last.text, replies)
        texts = [decode_reply(reply.text).model_dump_json() for reply in useful]
        merged = _reply(await self._ask(request, self._prompts.stage_one_merge(texts)))
        return _sum(merged.text, [*replies, merged])

    async def models(self) -> tuple[str, ...]:
        """Return what the server offers. Raises `ProviderError`."""
        return await self._client.models()

    async def test_connection(self) -> ProbeResult:
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
        rung = self._client.ladder.of(self._provider).rung
        detail = "; ".join(part for part in (first, second) if part)
        return ProbeResult(models, schema_ok, no_op_ok, schema_ms, no_op_ms, rung, detail)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _probe(self, said: str, *, expect_no_op: bool) -> tuple[bool, int, str]:
        started = self._clock()
        reply = await self.extract(probe_input(said))
        took = round((self._clock() - started) * 1000)
        try:
            decoded = decode_reply(reply.text)
        except KnownError as error:
            return False, took, error.what
        if expect_no_op and not decoded.is_no_op:
            return False, took, "it remembers small talk: expect memories without value from this model"
        return True, took, ""

    async def _ask(self, request: ExtractionInput, user: str = "") -> Answer:
        def system(rung: Rung) -> str:
            return self._prompts.stage_one_system(request, schema_in_prompt=rung is not Rung.SCHEMA)

        shown = user or self._prompts.stage_one_input(request)
        return await self._client.ask(Question(system, shown, stage_one_schema(), STAGE_ONE_NAME))

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


def _reply(answer: Answer) -> ExtractionReply:
    return ExtractionReply(
        text=answer.text,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        tokens_cached=answer.tokens_cached,
        tokens_reasoning=answer.tokens_reasoning,
    )


def _sum(text: str, replies: list[ExtractionReply]) -> ExtractionReply:
    def total(counts: Iterable[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return ExtractionReply(
        text=text,
        tokens_in=total(reply.tokens_in for reply in replies),
        tokens_out=total(reply.tokens_out for reply in replies),
        tokens_cached=total(reply.tokens_cached for reply in replies),
        tokens_reasoning=total(reply.tokens_reasoning for reply in replies),
    )
