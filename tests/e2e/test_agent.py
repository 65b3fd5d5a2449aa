"""The real program consolidates with a model: plan, confirm, look at the proposal, confirm again."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import SECRET
from tests.helpers.agents import agent_server, do, whole_run
from tests.helpers.model_server import ModelServer
from tests.helpers.program import Program, tree


def options(server: ModelServer) -> list[str]:
    settings = (f"provider_url={server.url}", "extract_model=small", "consolidation_model=large")
    return ["--provider", "custom", *[part for setting in settings for part in ("--set", setting)]]


def test_two_confirmations_lead_from_rows_to_a_folder(program: Program, sessions: Path) -> None:
    assert program.apply(program.plan("extract", "--source", f"codex={sessions}")).code == 0
    with agent_server(*whole_run()) as server:
        planned = program.plan("consolidate", *options(server))
        assert planned.code == 0, planned.err
        assert (planned.json["kind"], server.requests) == ("consolidate", [])
        assert not planned.touched(program.home, program.memory)
        path = program.place / "agent.json"
        path.write_text(json.dumps(planned.json))
        shown = program("show", "--plan", path)
        assert "network: none but the model; no shell, no other program" in shown.out
        assert "model large" in shown.out
        proposed = program.apply(planned)
        assert proposed.code == 0, proposed.err
        assert all(request.body["model"] == "large" for request in server.posts)
        assert all(SECRET not in request.text for request in server.posts)
    assert "step 1: read phase2_workspace_diff.md (done)" in proposed.err
    assert not program.memory.exists()
    assert len({what for kind, what in proposed.events if kind == "connect"}) == 1
    proposal = proposed.json
    assert (proposal["kind"], proposal["operation"], proposal["state"]) == ("apply", "consolidate", "applyable")
    receipt = program.apply(proposal)
    assert receipt.code == 0, receipt.err
    assert tree(program.memory) == {c["path"]: c["new_sha256"] for c in proposal["changes"]}
    receipts = program("log", *program.where()[:2], "--json")
    assert receipts.code == 0
    with agent_server() as server:
        again = program.plan("consolidate", *options(server))
        assert (again.code, again.json["state"]) == (3, "empty")
        noted = program.plan("consolidate", *options(server), "--note", "say less")
        (agent,) = [effect for effect in noted.json["effects"] if effect["type"] == "StartAgent"]
        assert agent["note"] == "say less"


def test_a_failed_run_says_why_and_when_again(program: Program, sessions: Path) -> None:
    assert program.apply(program.plan("extract", "--source", f"codex={sessions}")).code == 0
    with agent_server([do("list")]) as server:
        planned = program.plan("consolidate", *options(server))
        server.plan("ok", "500")
        failed = program.apply(planned)
        assert (failed.code, "Traceback" in failed.err) == (1, False)
        busy = program.apply(planned)
        assert (busy.code, len(server.posts)) == (4, 2)
    jobs = program("jobs", "--home", program.home, "--json").json["jobs"]
    (job,) = [job for job in jobs if job["kind"] == "memory_consolidate_global"]
    assert job["status"] == "error"
    assert job["retry_at"]
    assert "500" in job["last_error"]
    assert not program.memory.exists()


def test_provider_mistakes_are_usage_errors(program: Program) -> None:
    unknown = program.plan("consolidate", "--provider", "nobody")
    assert (unknown.code, "Traceback" in unknown.err) == (2, False)
    no_model = program.plan("consolidate", "--provider", "custom", "--set", "provider_url=http://127.0.0.1:9/v1")
    assert no_model.code == 2
    assert "model" in no_model.err
