"""Extract sessions with a provider that never answers, until this process is killed; the argument is the place."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from tests.helpers.bench import Bench


async def _hang(request: ExtractionInput) -> ExtractionReply:
    (Path(sys.argv[1]) / "asked").touch()
    await asyncio.Event().wait()
    raise AssertionError(request.thread_id)


async def _run() -> None:
    bench = Bench(Path(sys.argv[1]))
    bench.now = int(time.time())
    bench.script(_hang)
    await bench.apply(await bench.plan_extract(home=bench.place / "home"))


if __name__ == "__main__":
    asyncio.run(_run())
