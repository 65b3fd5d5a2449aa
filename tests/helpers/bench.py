"""The real adapters on a clock of the test's, with an extractor that answers from a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ltmem_gui.bootstrap import Composition
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt
from ltmem_gui.domain.events import Event
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.plan import Plan, ProviderMark
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import Extractor
from ltmem_gui.pipeline.requests import Request

NOW = 1_780_000_000
DAY = 86_400


def reply(memory: str = "- use pnpm", summary: str = "# Used pnpm", slug: str = "pnpm", **more: Any) -> ExtractionReply:
    """Return the reply of a well-behaved model."""
    text = json.dumps({"raw_memory": memory, "rollout_summary": summary, "rollout_slug": slug})
    return ExtractionReply(text=text, tokens_in=100, tokens_out=10, **more)


class Inline:
    """Run everything at once on the loop's thread: tests of order need no threads."""

    async def store(self, function: Callable[..., Any], *args: Any) -> Any:
        await asyncio.sleep(0)
        return function(*args)

    cpu = store
    thread = store


class ScriptedExtractor:
    """Answer each rollout from a script; record what was asked and how many at once."""

    def __init__(self, answer: Callable[[ExtractionInput], Awaitable[ExtractionReply]], host: str = "") -> None:
        self._answer = answer
        self.mark = ProviderMark(name="scripted", label="Scripted", host=host)
        self.asked: list[ExtractionInput] = []
        self.in_flight = 0
        self.peak = 0

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        self.asked.append(request)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self._answer(request)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        """Nothing was opened."""


class Bench(Composition):
    """A composition below one folder, with a clock that stands until it is moved."""

    def __init__(self, place: Path) -> None:
        super().__init__(place / "data", eager_workers=False)
        self.place = place
        self.now = NOW
        self.scripted: Extractor | None = None
        self.inline = Inline()
        self.events: list[Event] = []

    @property
    def clock(self) -> Callable[[], int]:
        return lambda: self.now

    @property
    def offload(self) -> Any:
        return self.inline

    def extractor(self, provider: str, settings: Settings) -> Extractor:
        return self.scripted if self.scripted is not None else super().extractor(provider, settings)

    def close(self) -> None:
        """Nothing was started."""

    @property
    def sessions(self) -> Path:
        return self.place / "sessions"

    @property
    def home(self) -> Path:
        return self.place / "data"

    @property
    def memory(self) -> Path:
        return self.place / "memory"

    def script(
        self, answer: Callable[[ExtractionInput], Awaitable[ExtractionReply]], host: str = ""
    ) -> ScriptedExtractor:
        """Answer extractions by a coroutine from now on."""
        self.scripted = scripted = ScriptedExtractor(answer, host)
        return scripted

    def request(self, **changes: Any) -> Request:
        """Return a request for the folders of this bench."""
        values: dict[str, Any] = {
            "home": self.home,
            "memory_root": self.memory,
            "sources": (SourceSpec("codex", str(self.sessions)),),
            "settings": Settings(max_rollout_age_days=3_650, max_unused_days=3_650),
        }
        return Request(**(values | changes))

    async def plan_extract(self, **changes: Any) -> Plan:
        return await Operations(self).plan_extract(
            self.request(**changes), cancel=CancelToken(), listen=self.events.append
        )

    async def plan_consolidate(self, **changes: Any) -> Plan:
        return await Operations(self).plan_consolidate(
            self.request(**changes), cancel=CancelToken(), listen=self.events.append
        )

    async def grant(self, plan: Plan) -> ApplyGrant:
        return await Operations(self).approve(plan, all_accepted(plan), approver="test", surface="command line")

    async def apply(self, plan: Plan, cancel: CancelToken | None = None) -> Receipt:
        return await Operations(self).apply(
            await self.grant(plan), cancel=cancel or CancelToken(), listen=self.events.append
        )

    def jobs(self) -> dict[str, Any]:
        """Return the stage-1 jobs by thread id."""
        with self.stores.reading(self.home) as store:
            return {job.job_key: job for job in store.jobs() if job.kind == "memory_stage1"}
