"""Citations in sessions raise the usage of what they cite, once ever, as an effect that is confirmed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.effects import CreditUsage
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.rollouts import SourceSpec
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
    chosen = Settings(max_rollout_age_days=3_650, provider_url="http://127.0.0.1:9/v1", extract_model="m")
    plan = asyncio.run(bench.plan_extract(provider="custom", settings=chosen))
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


def named_and_projected(bench: Bench, path: Path, *, name: bool = True) -> Path:
    """Give the answers of a session ids, and write the history database that holds the same answers under them."""
    rows = [json.loads(line) for line in path.read_text().split("\n") if line]
    thread = rows[0]["payload"]["id"]
    answers = [(n, row) for n, row in enumerate(rows) if row["payload"].get("role") == "assistant"]
    database = bench.home.parent / "projected" / "thread_history_1.sqlite"
    database.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(database)) as history, history:
        history.execute("DROP TABLE IF EXISTS thread_items")
        history.execute("CREATE TABLE thread_items (thread_id, item_id, rollout_ordinal, created_at_ms, item_json)")
        for ordinal, row in answers:
            row["payload"] |= {"id": f"msg_{ordinal}"}
            at = int(datetime.fromisoformat(row["timestamp"]).timestamp() * 1000)
            text = row["payload"]["content"][0]["text"]
            item = {"type": "agentMessage", "id": f"msg_{ordinal}", "text": text}
            values = (thread, item["id"], ordinal - 1, at, json.dumps(item))
            history.execute("INSERT INTO thread_items VALUES (?, ?, ?, ?, ?)", values)
    if name:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return database


def planned_from(bench: Bench, database: Path) -> Plan:
    return asyncio.run(bench.plan_extract(sources=(SourceSpec("codex", str(database)),)))


def applied(bench: Bench, plan: Plan) -> None:
    if plan.state is PlanState.APPLYABLE:
        asyncio.run(bench.apply(plan))


@pytest.mark.parametrize("known", ["by its message", "by its place"])
def test_a_session_that_goes_on_in_the_database_is_not_credited_again(bench: Bench, known: str) -> None:
    """The same answers are line N of a file and row M of a database; ledgers of before knew them by that alone."""
    first, second = threads(bench)
    path = session(bench, block(first), block(first, second), source="exec")
    database = named_and_projected(bench, path, name=known == "by its message")
    applied(bench, planned(bench))
    assert [count for count, _ in usage(bench).values()] == [2, 1]
    named_and_projected(bench, path)
    assert credited(planned(bench)) == []
    assert credited(planned_from(bench, database)) == []
    more = path.read_text().rstrip("\n").rsplit("\n", 1)[-1].replace("event_msg", "turn_context")
    answer = {"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": block(second)}]}
    path.write_text(path.read_text() + json.dumps(json.loads(more) | {"type": "response_item", "payload": answer}))
    named_and_projected(bench, path)
    grown = planned_from(bench, database)
    assert [credit["cited_id"] for credit in credited(grown)] == [second]
    applied(bench, grown)
    assert [count for count, _ in usage(bench).values()] == [2, 2]
    assert credited(planned(bench)) == []


@pytest.mark.parametrize("name", ["rolloutIds", "threadIds"])
def test_citations_that_the_database_keeps_beside_an_answer_count(bench: Bench, name: str) -> None:
    first, second = threads(bench)
    database = named_and_projected(bench, session(bench, "Done.", "Plain.", "Odd.", source="exec"))
    entry = {"path": f"rollout:{second}", "lineStart": 3, "lineEnd": 4, "note": "why"}
    odd = {"entries": [{"path": 7, "lineStart": -1, "lineEnd": "x"}, None], name: [None, 3]}
    kept = [{"entries": [entry], name: [first, first]}, None, odd]
    with closing(sqlite3.connect(database)) as history, history:
        rows = history.execute("SELECT item_id, item_json FROM thread_items ORDER BY rollout_ordinal").fetchall()
        for (item_id, text), citation in zip(rows, kept, strict=True):
            item = json.dumps(json.loads(text) | {"memoryCitation": citation})
            history.execute("UPDATE thread_items SET item_json = ? WHERE item_id = ?", (item, item_id))
    plan = planned_from(bench, database)
    assert {credit["cited_id"] for credit in credited(plan)} == {first, second}
    applied(bench, plan)
    assert [count for count, _ in usage(bench).values()] == [1, 1]
    assert credited(planned_from(bench, database)) == []


def test_a_session_of_the_database_is_not_credited_again_by_its_file(bench: Bench, guard: Guard) -> None:
    first, _ = threads(bench)
    path = session(bench, block(first), source="exec")
    database = named_and_projected(bench, path, name=False)
    with guard.grant(), bench.stores.writing(bench.home) as store:
        credit = {"thread_id": thread_id(7, NOW - DAY // 2 - 3_600), "cited_id": first}
        assert store.credit_usage([credit | {"record": "row 3"}], now=NOW) == 1
    assert credited(planned_from(bench, database)) == []
    assert credited(planned(bench)) == []


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


SHAPES = ("rollout_ids", "thread_ids", "summary", "rollout")


def shaped(shape: str, cited: list[str], files: dict[str, str]) -> str:
    """Cite threads in one of the four ways an agent can."""
    if shape in ("rollout_ids", "thread_ids"):
        return block(*cited, "unknown-thread", tag=shape)
    places = [files[thread] if shape == "summary" else f"rollout:{thread}" for thread in cited]
    return block(entries="\n".join(f"{place}:1-2|note=[x]" for place in places))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_credits_once(bench: Bench, shape: str) -> None:
    cited = threads(bench)
    session(bench, shaped(shape, [*cited, cited[0]], summary_files(bench)))
    assert [credit["cited_id"] for credit in credited(planned(bench))] == cited
    asyncio.run(bench.apply(planned(bench)))
    assert [count for count, _ in usage(bench).values()] == [1, 1]
    assert credited(planned(bench)) == []


def test_both_kinds_of_ids_are_never_merged(bench: Bench) -> None:
    """Legacy ids count only where their block has no others (reference §5.2)."""
    first, second = threads(bench)
    legacy = f"<thread_ids>\n{second}\n</thread_ids>\n</oai-mem-citation>"
    session(bench, block(first).replace("</oai-mem-citation>", legacy))
    assert [credit["cited_id"] for credit in credited(planned(bench))] == [first]


def summary_files(bench: Bench) -> dict[str, str]:
    """Return thread → the path of its summary."""
    with bench.stores.reading(bench.home) as store:
        rows = store.outputs()
    named = {row.thread_id: bench.workspace.render_inputs([row]) for row in rows}
    return {thread: next(path for path in files if path != "raw_memories.md") for thread, files in named.items()}


class World:
    """Sessions that cite, fork, compact and are scanned in any order, beside the number of uses that are due."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.threads = threads(bench)
        self.files = summary_files(bench)
        self.sessions: list[Path] = []
        self.due = dict.fromkeys(self.threads, 0)
        self.at = 0

    def start(self, **head: object) -> Path:
        """Begin a session, a minute after whatever was said last."""
        self.at += 60
        path = session(self.bench, number=20 + len(self.sessions), age=3_600 - self.at, source="exec", **head)
        self.sessions.append(path)
        return path

    def cite(self, index: int, shape: str, cited: list[int]) -> None:
        named = [self.threads[number] for number in cited]
        content = [{"type": "output_text", "text": shaped(shape, named, self.files)}]
        self._append(index, "response_item", {"type": "message", "role": "assistant", "content": content})
        for thread in set(named):
            self.due[thread] += 1

    def compact(self, index: int) -> None:
        """Replace the history by copies of what was said, as a compaction does."""
        said = [row["payload"] for row in self._rows(index) if row["payload"].get("role") == "assistant"]
        self._append(index, "compacted", {"message": "so far", "replacement_history": said})

    def fork(self, index: int) -> None:
        """Go on in a session of its own that begins with everything the other one holds."""
        parent = self._rows(index)
        identity = parent[0]["payload"]["id"]
        fork = self.start(forked_from_id=identity)
        own = fork.read_text().split("\n")
        fork.write_text("\n".join([own[0], *(json.dumps(row) for row in parent), *own[1:]]))

    def archive(self, index: int) -> None:
        """Move a session into another folder, as archiving does."""
        path = self.sessions[index % len(self.sessions)]
        target = path.parent.parent / "moved" / path.name
        target.parent.mkdir(exist_ok=True)
        self.sessions[index % len(self.sessions)] = path.rename(target)

    def scan(self) -> None:
        plan = planned(self.bench)
        if plan.state is PlanState.APPLYABLE:
            asyncio.run(self.bench.apply(plan))

    def _rows(self, index: int) -> list[dict[str, Any]]:
        text = self.sessions[index % len(self.sessions)].read_text()
        return [json.loads(line) for line in text.split("\n") if line]

    def _append(self, index: int, kind: str, payload: dict[str, Any]) -> None:
        path = self.sessions[index % len(self.sessions)]
        self.at += 60
        stamp = datetime.fromtimestamp(NOW - DAY // 2 - 3_600 + self.at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        with path.open("a") as file:
            file.write(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n")


steps = st.one_of(
    st.tuples(
        st.just("cite"), st.integers(0, 3), st.sampled_from(SHAPES), st.lists(st.integers(0, 1), min_size=1, max_size=3)
    ),
    st.tuples(st.sampled_from(["compact", "fork", "archive"]), st.integers(0, 3)),
    st.just(("scan",)),
)
FIRST = ("cite", 0, "rollout_ids", [0, 0, 1])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(steps, min_size=2, max_size=8))
@example(history=[FIRST, ("scan",), ("compact", 0), ("fork", 0), ("cite", 1, "thread_ids", [0])])
@example(history=[FIRST, ("fork", 0), ("fork", 1), ("compact", 2), ("scan",), ("archive", 0), ("archive", 2)])
def test_whatever_happens_each_citation_counts_once(
    template: Bench, tmp_path_factory: pytest.TempPathFactory, history: list[tuple[Any, ...]]
) -> None:
    world = World(copied(template, tmp_path_factory.mktemp("world")))
    world.start()
    for name, *arguments in history:
        getattr(world, name)(*arguments)
    world.scan()
    assert {thread: count or 0 for thread, (count, _) in usage(world.bench).items()} == world.due
    assert credited(planned(world.bench)) == []


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
    chosen = Settings(max_rollout_age_days=3_650, max_unused_days=30)
    plan = asyncio.run(bench.plan_extract(settings=chosen))
    pruned = [thread for effect in plan.effects if effect.type == "PruneOutputs" for thread in effect.thread_ids]
    assert pruned == [second]
