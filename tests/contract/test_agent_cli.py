"""The commands around an agent: what is said before, while it works, and after."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.cli.render import describe_effect
from ltmem_gui.domain import effects
from tests.helpers.agents import agent_server, copied, extracted, whole_run
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.model_server import ModelServer


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return extracted(tmp_path_factory.mktemp("cli"), ["Always use pnpm, never npm."])


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    """A bench with one memory and no folder."""
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def call(bench: Bench, *args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    surfaces = Surfaces(compose=lambda _home: bench, launch_window=lambda _options: 0)
    return run([*args], surfaces, io.StringIO(), out, err), out.getvalue(), err.getvalue()


def planned(bench: Bench, server: ModelServer, *more: str) -> Path:
    """Plan with the server's model and return the file of the plan."""
    where = ["--home", str(bench.home), "--memory-root", str(bench.memory)]
    settings = (f"provider_url={server.url}", "extract_model=small", "max_unused_days=3650")
    options = [part for setting in settings for part in ("--set", setting)]
    code, out, err = call(bench, "plan", "consolidate", *where, *options, "--provider", "custom", "--json", *more)
    assert code == 0, err
    path = bench.place / "plan.json"
    path.write_text(out)
    return path


def test_in_words_the_proposal_is_shown_and_the_loss_is_told_first(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        path = planned(bench, server, "--note", "mind pnpm")
        code, shown, _ = call(bench, "show", "--plan", str(path))
        assert code == 0
        assert "told: mind pnpm" in shown
        assert "hold the global lock while the agent runs" in shown
        digest = json.loads(path.read_text())["digest"]
        code, out, err = call(bench, "apply", "--plan", str(path), "--digest", digest)
    assert code == 0
    assert "Plan: consolidate (apply), applyable" in out
    assert "agent: 14 steps" in out
    lines = err.split("\n")
    assert "add --json and save what is printed" in lines[0]
    assert lines[1] == "step 1: read phase2_workspace_diff.md (done)"
    assert "step 14: I took in three sessions." in lines
    code, log, _ = call(bench, "log", "--home", str(bench.home))
    assert code == 0
    assert "consolidate" in log


def test_effects_in_words() -> None:
    uses = (
        {"thread_id": "a", "record": "line 1", "cited_id": "b"},
        {"thread_id": "a", "record": "line 9", "cited_id": "b"},
    )
    assert describe_effect(effects.CreditUsage(credits=uses)) == "2 uses of 1 memory credited, as agents cited them"
    held = effects.UpdateJobs(scope="global", count=3, action="hold the lock")
    assert describe_effect(held) == "1 record of this consolidation\n        hold the lock"
