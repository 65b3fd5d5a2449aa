"""Citations in sessions raise the usage of what they cite, once ever, as an effect that is confirmed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ltmem_gui.domain.effects import CreditUsage
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.settings import Settings
from tests.helpers.agents import copied, extracted
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.sessions import thread_id, write_codex


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return extracted(tmp_path_factory.mktemp("usage"), ["Always use pnpm, never npm.", "The tests need PORT=8123."])


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    """A bench with two memories and no folder."""
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def threads(bench: Bench) -> list[str]:
    with bench.stores.reading(bench.home) as store:
        return [output.thread_id for output in store.outputs()]


def usage(bench: Bench) -> dict[str, tuple[int | None, int | None]]:
    with bench.stores.reading(bench.home) as store:
        return {output.thread_id: (output.usage_count, output.last_usage) for output in store.outputs()}


def block(*ids: str, entries: str = "MEMORY.md:1-2|note=[x]", tag: str = "rollout_ids") -> str:
    listed = "\n".join(ids)
    return (
        f"Done as you like it.\n<oai-mem-citation>\n<citation_entries>\n{entries}\n</citation_entries>\n"
        f"<{tag}>\n{listed}\n</{tag}>\n</oai-mem-citation>"
    )


def session(bench: Bench, *answers: str, number: int = 7, age: int = 3_600, **head: object) -> Path:
    turns = [turn for answer in answers for turn in (("user", "Thanks, go on."), ("assistant", answer))]
    return write_codex(bench.sessions, turns, number=number, at=NOW - DAY // 2 - age, cwd="/x", **head)


def planned(bench: Bench) -> Plan:
    return asyncio.run(bench.plan_extract())


def credited(plan: Plan) -> list[dict[str, str]]:
    return [credit for effect in plan.effects_of(CreditUsage) for credit in effect.credits]


def test_each_message_credits_each_cited_thread_once_ever(bench: Bench) -> None:
    first, second = threads(bench)
    session(bench, block(first, first, "not-a-thread"), block(first, second), "no citation")
    plan = planned(bench)
    citing = thread_id(7, NOW - DAY // 2 - 3_600)
    assert [(c["thread_id"], c["cited_id"]) for c in credited(plan)] == [
        (citing, first),
        (citing, first),
        (citing, second),
    ]
    assert usage(bench) == {first: (None, None), second: (None, None)}
    receipt = asyncio.run(bench.apply(plan))
    assert receipt.counts["credited"] == 3
    counts = usage(bench)
    assert (counts[first][0], counts[second][0]) == (2, 1)
    assert NOW - DAY < (counts[first][1] or 0) < NOW
    again = planned(bench)
    assert (credited(again), again.state) == ([], PlanState.EMPTY)


def test_credits_alone_are_a_plan(bench: Bench) -> None:
    first, _ = threads(bench)
    session(bench, block(first), source="exec")
    plan = planned(bench)
    assert [effect.type for effect in plan.effects] == ["CreditUsage"]
    asyncio.run(bench.apply(plan))
    assert usage(bench)[first][0] == 1


def test_a_model_is_not_asked_for_credits_alone(bench: Bench) -> None:
    first, _ = threads(bench)
    session(bench, block(first), source="exec")
    settings = Settings(max_rollout_age_days=3_650, provider_url="http://127.0.0.1:9/v1", extract_model="m")
    plan = asyncio.run(bench.plan_extract(provider="custom", settings=settings))
    asyncio.run(bench.apply(plan))
    assert usage(bench)[first][0] == 1


def test_a_grown_session_credits_what_is_new(bench: Bench) -> None:
    first, second = threads(bench)
    path = session(bench, block(first))
    asyncio.run(bench.apply(planned(bench)))
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": block(second)}]}
    stamp = path.read_text().split("\n")[0][15:39]
    row = {"timestamp": stamp, "type": "response_item", "payload": message}
    path.write_text(path.read_text() + json.dumps(row) + "\n")
    assert [credit["cited_id"] for credit in credited(planned(bench))] == [second]


def test_compaction_copies_and_forks_add_nothing(bench: Bench) -> None:
    first, _ = threads(bench)
    path = session(bench, block(first))
    lines = path.read_text().split("\n")
    cited = next(json.loads(line)["payload"] for line in lines if "oai-mem-citation" in line)
    stamp = json.loads(lines[0])["timestamp"]
    compacted = {"timestamp": stamp, "type": "compacted", "payload": {"message": "x", "replacement_history": [cited]}}
    path.write_text("\n".join([*lines[:-1], json.dumps(compacted), ""]))
    parent = thread_id(7, NOW - DAY // 2 - 3_600)
    fork = session(bench, "Going on elsewhere.", number=8, age=60, forked_from_id=parent)
    own = fork.read_text().split("\n")
    fork.write_text("\n".join([own[0], *lines[:-1], *own[1:]]))
    assert [(c["thread_id"], c["cited_id"]) for c in credited(planned(bench))] == [(parent, first)]


def test_entries_and_legacy_ids_name_threads_too(bench: Bench) -> None:
    first, second = threads(bench)
    with bench.stores.reading(bench.home) as store:
        names = bench.workspace.render_inputs(store.outputs())
    summary = next(name for name, data in names.items() if data.startswith(f"thread_id: {second}".encode()))
    session(
        bench,
        block(first.upper(), tag="thread_ids"),
        block(entries=f"{summary}:1-2|note=[y]\nrollout:{first}:3-4 |note=[z]"),
    )
    assert [credit["cited_id"] for credit in credited(planned(bench))] == [first, second, first]


def test_own_runs_and_rolled_back_turns_do_not_count(bench: Bench) -> None:
    first, _ = threads(bench)
    session(bench, block(first), source={"internal": "memory_consolidation"})
    path = session(bench, block(first), number=9, age=90)
    lines = path.read_text().split("\n")
    back = {"timestamp": json.loads(lines[0])["timestamp"], "type": "event_msg"}
    rolled = back | {"payload": {"type": "thread_rolled_back", "num_turns": 1}}
    path.write_text("\n".join([*lines[:-1], json.dumps(rolled), ""]))
    assert credited(planned(bench)) == []


def test_a_cited_row_is_not_pruned_by_the_same_plan(bench: Bench) -> None:
    first, second = threads(bench)
    session(bench, block(first))
    bench.now += 40 * DAY
    settings = Settings(max_rollout_age_days=3_650, max_unused_days=30)
    plan = asyncio.run(bench.plan_extract(settings=settings))
    pruned = [thread for effect in plan.effects if effect.type == "PruneOutputs" for thread in effect.thread_ids]
    assert pruned == [second]
