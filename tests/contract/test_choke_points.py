"""No secret passes a single place of the list: each is planted with one of its own, and looked for everywhere.

The other half: where the redactor fails, the text is neither sent nor written, and the job or the plan says so.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import ProviderError, RedactionFailed
from ltmem_gui.domain.extraction import Candidate, ExtractionInput, ExtractionReply
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.review import from_flags
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.pipeline.failure_words import WITHHELD, checked_by, checked_words
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.redactor import service
from ltmem_gui.redactor.service import SecretRedactor
from tests.helpers.agents import SUMMARY, agent_server, agent_settings, copied, do, extracted, run_with, write_memory
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.guard import Guard
from tests.helpers.model_server import Recorded, model_server
from tests.helpers.secret_shapes import tokens
from tests.helpers.sessions import write_codex

KEY = "plainwordsaskey"
"""A key without any look of one: only who sends it knows it."""
ELSEWHERE = "walnut5518"
"""A password that one file names and another repeats."""
KNOWN = "maple7731"
"""A password that has a name in the input and none where a model repeats it."""


def planted(place: str) -> str:
    """Return the secret of a place."""
    return tokens(zlib.crc32(place.encode()))["forge-1"]


def stored(*folders: Path) -> bytes:
    """Return all bytes of all files below the folders.

    The undo image is left out: it is the memory folder as it was, to the byte, for a day (design §5.5).
    """
    files = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    return b"\0".join(path.read_bytes() for path in files if "undo" not in path.parts)


# --- Phase 1 ---

IN_SESSION = ("user", "assistant", "call", "output", "cwd", "branch")
IN_REPLY = ("raw_memory", "rollout_summary", "rollout_slug", "inbox", "error")


@dataclass
class PhaseOne:
    """What a run over two sessions came to."""

    plan: str
    asked: str
    events: str
    receipt: str
    data: bytes
    failed: str

    def everything(self) -> str:
        return "\n".join(
            (self.plan, self.asked, self.events, self.receipt, self.data.decode("utf-8", "replace"), self.failed)
        )


@pytest.fixture(scope="module")
def phase_one(tmp_path_factory: pytest.TempPathFactory) -> PhaseOne:
    bench = Bench(tmp_path_factory.mktemp("one"))
    turns = [
        ("user", f"Always use {planted('user')} here. The database password is {KNOWN}."),
        ("assistant", f"Noted {planted('assistant')}."),
        ("call", f"curl -H 'Authorization: Bearer {planted('call')}' https://x"),
        ("output", f"ok {planted('output')}"),
    ]
    git = {"branch": planted("branch"), "commit_hash": "0" * 40}
    write_codex(bench.sessions, turns, number=1, at=NOW - DAY, cwd=f"/p/{KNOWN}/{planted('cwd')}", git=git)
    write_codex(bench.sessions, [("user", f"Never say {KNOWN}; the password is {KNOWN}.")], number=2, at=NOW - 2 * DAY)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        if "Never say" in request.transcript:
            raise ProviderError(f"cannot keep {planted('error')}, nor {KNOWN}", group="refusal")
        said = reply(
            memory=f"- {planted('raw_memory')} and {KNOWN}",
            summary=f"# {planted('rollout_summary')} and {KNOWN}",
            slug=f"{planted('rollout_slug')}-{KNOWN}",
        )
        line = Candidate(f"{planted('inbox')} and {KNOWN}", 3, "rule", 50)
        return replace(said, inbox=(line,))

    scripted = bench.script(answer, host="model.invalid")

    async def run() -> tuple[Plan, Any]:
        plan = await bench.plan_extract()
        return plan, await bench.apply(plan)

    plan, receipt = asyncio.run(run())
    assert receipt.counts == {"succeeded": 1, "failed": 1}
    jobs = [job.last_error for job in bench.jobs().values() if job.last_error]
    return PhaseOne(
        plan.model_dump_json(),
        repr([(request.transcript, request.items, request.cwd, request.git_branch) for request in scripted.asked]),
        repr(bench.events),
        receipt.model_dump_json(),
        stored(bench.home),
        "\n".join(jobs),
    )


@pytest.mark.parametrize("place", [*IN_SESSION, *IN_REPLY])
def test_phase_one_lets_none_through(phase_one: PhaseOne, place: str) -> None:
    assert planted(place) not in phase_one.everything()


def test_a_value_that_was_named_once_is_gone_wherever_it_is_repeated(phase_one: PhaseOne) -> None:
    assert KNOWN not in phase_one.everything()
    assert phase_one.data.count(b"[REDACTED:") >= 8
    assert "cannot keep [REDACTED:github_token], nor [REDACTED:known_value]" in phase_one.failed


def test_the_report_of_a_run_counts_by_kind_and_place(phase_one: PhaseOne) -> None:
    assert '"redactions":{"input":{' in phase_one.receipt
    assert '"output":{"github_token":4' in phase_one.receipt


@pytest.mark.parametrize("scenario", ["echo-401", "echo-refusal", "echo-field"])
def test_what_a_server_says_in_phase_one_is_checked(
    tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch, scenario: str
) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home)
    monkeypatch.setenv("MODEL_KEY", KEY)
    write_codex(bench.sessions, [("user", "Always use pnpm.")], at=NOW - DAY)
    with model_server(echo=planted("server")) as server:
        server.plan(scenario)
        settings = agent_settings(server, provider_key_env="MODEL_KEY")
        plan = asyncio.run(bench.plan_extract(provider="custom", settings=settings))
        receipt = asyncio.run(bench.apply(plan))
    assert receipt.counts == {"failed": 1}
    (job,) = bench.jobs().values()
    assert job.last_error
    seen = stored(bench.home).decode("utf-8", "replace") + repr(bench.events) + receipt.model_dump_json()
    assert [secret for secret in (KEY, planted("server")) if secret in seen] == []


# --- Phase 2 ---

IN_FOLDER = ("own.md", "removed.md", "name")
BY_AGENT = ("MEMORY.md", "note", "skill", "said", "path", "tool", "query")


@dataclass
class PhaseTwo:
    """What an agent's run came to. `ours` is what the server was sent before its model named anything itself."""

    plan: Plan
    ours: str
    done: Applied
    events: str
    data: bytes


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A folder the built-in rules wrote, whose baseline holds a file with a secret that was deleted since."""
    bench = extracted(tmp_path_factory.mktemp("two"), ["Never use npm in this repo, always use pnpm."])
    bench.memory.mkdir()
    (bench.memory / "removed.md").write_text(f"old {planted('removed.md')}\n")

    async def consolidate() -> None:
        plan = await bench.plan_consolidate()
        override = {"secret-after:removed.md:1": "to see what becomes of it"}
        selection = from_flags(plan, reject=["removed.md:*"], rest="accept", overrides=override)
        operations = Operations(bench)
        grant = await operations.approve(plan, selection, approver="test", surface="command line")
        await operations.apply(grant, cancel=CancelToken(), listen=bench.events.append)

    asyncio.run(consolidate())
    (bench.memory / "removed.md").unlink()
    (bench.memory / "own.md").write_text(f"the key is {planted('own.md')}\n")
    (bench.memory / f"{planted('name')}.md").write_text("harmless\n")
    (bench.memory / "one.md").write_text(f"the database password is {ELSEWHERE}\n")
    (bench.memory / "two.md").write_text(f"try {ELSEWHERE} first\n")
    write_codex(bench.sessions, [("user", "Fix it."), ("user", "Always PORT=8123.")], number=2, at=NOW - 2 * DAY)
    asyncio.run(_extract(bench))
    return bench


async def _extract(bench: Bench) -> None:
    await bench.apply(await bench.plan_extract())


def moves() -> list[Any]:
    def write(request: Recorded) -> list[Any]:
        memory = write_memory(["rollout_summaries/x.md"]).replace("heeded [", f"heeded {planted('MEMORY.md')} [")
        memory = memory.replace("the session says it", f"the session says {planted('note')}")
        return [do("write", path="MEMORY.md", content=memory)]

    return [
        [do("list"), do("read", path="phase2_workspace_diff.md"), do("read", path="two.md")],
        write,
        [do("write", path="memory_summary.md", content=SUMMARY)],
        [do("write", path="skills/k/SKILL.md", content=f"the key is {planted('skill')}\n")],
        [
            do("read", path=f"x/{planted('path')}.md"),
            do(planted("tool"), path="x"),
            do("search", queries=["y" * 60, planted("query")]),
        ],
        f"{'x' * 280} {planted('said')}",
    ]


@pytest.fixture(scope="module")
def phase_two(written: Bench) -> PhaseTwo:
    with agent_server(*moves()) as server:
        settings = agent_settings(server)
        plan = asyncio.run(written.plan_consolidate(provider="custom", settings=settings))
        done = run_with(written, plan)
        ours = "\n".join(request.text for request in server.posts[:2])
    return PhaseTwo(plan, ours, done, repr(written.events), stored(written.home))


@pytest.mark.parametrize("place", IN_FOLDER)
def test_the_agent_never_reads_a_secret_of_the_folder(phase_two: PhaseTwo, place: str) -> None:
    assert planted(place) not in phase_two.ours
    assert planted(place) not in phase_two.data.decode("utf-8", "replace")


def test_a_value_that_one_file_names_is_gone_from_all(phase_two: PhaseTwo) -> None:
    assert ELSEWHERE not in phase_two.ours
    assert phase_two.done.proposal is not None
    changed = {change.path: change for change in phase_two.done.proposal.changes}
    assert [line for hunk in changed["two.md"].hunks for line in hunk.new] == ["try [REDACTED:known_value] first\n"]


def test_what_was_replaced_for_the_agent_is_a_hunk_with_a_finding(phase_two: PhaseTwo) -> None:
    assert phase_two.done.proposal is not None
    (change,) = [change for change in phase_two.done.proposal.changes if change.path == "own.md"]
    assert any("[REDACTED:github_token]" in line for hunk in change.hunks for line in hunk.new)
    assert "own.md" in {f.path for f in phase_two.done.proposal.findings if f.rule == "secret"}


@pytest.mark.parametrize("place", BY_AGENT)
def test_what_the_agent_says_and_writes_is_checked(phase_two: PhaseTwo, place: str) -> None:
    assert phase_two.done.proposal is not None
    kept = phase_two.done.proposal.model_dump_json() + phase_two.done.receipt.model_dump_json() + phase_two.events
    assert planted(place) not in kept
    assert planted(place)[:20] not in kept
    assert planted(place) not in phase_two.data.decode("utf-8", "replace")


def test_steps_are_cut_after_they_were_checked(phase_two: PhaseTwo) -> None:
    assert phase_two.done.transcript is not None
    steps = phase_two.done.transcript.steps
    assert "x [REDACTED:github_t…" in repr([step.said for step in steps])
    (odd,) = [step for step in steps if len(step.actions) == 3 and step.number > 1]
    assert repr(odd.actions).count("[REDACTED:github_token]") >= 3


@pytest.fixture
def bench(written: Bench, tmp_path: Path, guard: Guard) -> Bench:
    bench = copied(written, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def test_what_a_server_says_in_phase_two_is_checked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    with model_server(echo=planted("server")) as server:
        server.plan("echo-401")
        settings = agent_settings(server, provider_key_env="MODEL_KEY")
        plan = asyncio.run(bench.plan_consolidate(provider="custom", settings=settings))
        with pytest.raises(ProviderError) as caught:
            run_with(bench, plan)
    said = str(caught.value) + repr(caught.value)
    assert "the server refused the key" in said
    seen = stored(bench.home).decode("utf-8", "replace") + repr(bench.events) + said
    assert [secret for secret in (KEY, planted("server")) if secret in seen] == []


# --- rejected changes, reasons ---


def test_a_rejected_replacement_leaves_no_secret_in_the_database(written: Bench) -> None:
    with written.stores.reading(written.home) as store:
        hunks = store.refused_hunks()
    assert [(hunk.path, hunk.old) for hunk in hunks] == [("removed.md", ("old [REDACTED:github_token]\n",))]


# --- fail closed ---

ODD = "odd-text-that-breaks"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redactor that raises on every text with the odd word."""
    whole = service.redact_text

    def choosy(text: str, **more: Any) -> Any:
        if ODD in text:
            raise ValueError(f"the text was: {text}")
        return whole(text, **more)

    monkeypatch.setattr(service, "redact_text", choosy)


@pytest.mark.usefixtures("broken")
def test_a_session_that_cannot_be_checked_is_not_sent(tmp_path: Path, guard: Guard) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home)
    write_codex(bench.sessions, [("user", "Always use pnpm."), ("user", ODD)], at=NOW - DAY)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        raise AssertionError("it was sent")

    bench.script(answer)
    receipt = asyncio.run(_applied(bench))
    assert receipt.counts == {"failed": 1}
    (job,) = bench.jobs().values()
    assert (job.error_group, "neither sent nor written" in job.last_error) == ("redaction", True)
    assert ODD.encode() not in stored(bench.home)


async def _applied(bench: Bench) -> Any:
    return await bench.apply(await bench.plan_extract())


FIELDS: dict[str, Callable[[], ExtractionReply]] = {
    "raw_memory": lambda: reply(memory=ODD),
    "rollout_summary": lambda: reply(summary=ODD),
    "rollout_slug": lambda: reply(slug=ODD),
    "inbox": lambda: replace(reply(), inbox=(Candidate(ODD, 3, "rule", 50),)),
}


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("field", FIELDS)
def test_an_output_that_cannot_be_checked_is_not_stored(tmp_path: Path, guard: Guard, field: str) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home)
    write_codex(bench.sessions, [("user", "Always use pnpm.")], at=NOW - DAY)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        return FIELDS[field]()

    bench.script(answer)
    assert asyncio.run(_applied(bench)).counts == {"failed": 1}
    (job,) = bench.jobs().values()
    assert job.error_group == "redaction"
    with bench.stores.reading(bench.home) as store:
        assert (store.outputs(), store.inbox(NOW)) == ((), ())
    assert ODD.encode() not in stored(bench.home)


@pytest.mark.usefixtures("broken")
def test_words_that_cannot_be_checked_are_withheld(tmp_path: Path, guard: Guard) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home)
    write_codex(bench.sessions, [("user", "Always use pnpm.")], at=NOW - DAY)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        raise ProviderError(f"the server said {ODD}", group="server", retry_after=60)

    bench.script(answer)
    asyncio.run(_applied(bench))
    (job,) = bench.jobs().values()
    assert job.last_error == f"ProviderError: {WITHHELD}"
    assert (job.error_group, ODD in repr(bench.events)) == ("server", False)


@pytest.mark.usefixtures("broken")
def test_the_agent_gets_and_leaves_nothing_unchecked(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        (bench.memory / "own.md").write_text(f"{ODD}\n")
    moves = [
        [do("list"), do("write", path="MEMORY.md", content=write_memory(["rollout_summaries/x.md"]))],
        [do("write", path="memory_summary.md", content=SUMMARY), do("write", path="new.md", content=f"{ODD}\n")],
        f"I said {ODD}.",
    ]
    with agent_server(*moves) as server:
        plan = asyncio.run(bench.plan_consolidate(provider="custom", settings=agent_settings(server)))
        done = run_with(bench, plan)
        assert ODD not in "\n".join(request.text for request in server.posts[:2])
    assert done.proposal is not None
    assert {(f.path, f.severity.value) for f in done.proposal.findings if f.rule == "secret"} >= {
        ("new.md", "blocking")
    }
    kept = done.proposal.model_dump_json() + done.receipt.model_dump_json() + repr(bench.events)
    assert ODD not in kept
    assert WITHHELD in repr(bench.events)


@pytest.mark.usefixtures("broken")
def test_a_diff_that_cannot_be_checked_stops_the_plan(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        (bench.memory / "own.md").write_text("x\n")
        (bench.memory / f"{ODD}.md").write_text("harmless\n")
    with agent_server() as server, pytest.raises(RedactionFailed):
        asyncio.run(bench.plan_consolidate(provider="custom", settings=agent_settings(server)))
    assert server.requests == []


def test_an_error_that_is_told_keeps_its_kind() -> None:
    error = ProviderError(f"said {planted('kind')}", "wait", "host", group="quota", retry_after=9)
    told = checked_by(SecretRedactor(engine="layer").redact, error)
    assert (type(told), told.group, told.retry_after, told.remedy) == (ProviderError, "quota", 9, "wait")
    assert told.what == "said [REDACTED:github_token]"
    same = ProviderError("nothing in it")
    assert checked_by(SecretRedactor(engine="layer").redact, same) is same


@pytest.mark.usefixtures("broken")
def test_what_cannot_be_checked_is_withheld_in_every_form() -> None:
    redact = SecretRedactor(engine="layer").redact
    assert checked_words(redact, ODD) == WITHHELD
    told = checked_by(redact, ProviderError(ODD, ODD, ODD, group="quota"))
    assert (told.what, told.remedy, told.where, told.group) == (f"ProviderError: {WITHHELD}", "", "", "quota")
