"""A memory folder without a secret in its files, whose baseline in git still holds one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.review import from_flags
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.agents import extracted
from tests.helpers.bench import Bench


def kept_by_git(place: Path, secret: str) -> Bench:
    """Return a bench with such a folder; the secret stood in `old.md`, which is deleted since."""
    bench = extracted(place, ["Never use npm in this repo, always use pnpm."])
    bench.memory.mkdir()
    (bench.memory / "old.md").write_text(f"the key was {secret}\n")
    asyncio.run(_consolidate(bench))
    (bench.memory / "old.md").unlink()
    return bench


async def _consolidate(bench: Bench) -> None:
    plan = await bench.plan_consolidate()
    override = {"secret-after:old.md:1": "it is the test's"}
    selection = from_flags(plan, reject=["old.md:*"], rest="accept", overrides=override)
    grant = await Operations(bench).approve(plan, selection, approver="test", surface="command line")
    await Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append)
