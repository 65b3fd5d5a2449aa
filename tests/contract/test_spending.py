"""What a run may spend, over real sockets: shown first, counted exactly, never passed; a provider's stop is heard."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from ltmem_gui.cli.main import Surfaces
from ltmem_gui.cli.main import run as run_command
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import SendToModel
from ltmem_gui.domain.errors import Cancelled, RefusedError
from ltmem_gui.domain.events import JobFinished, RunSpent
from ltmem_gui.domain.limits import ProviderLimits
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.prices import Money
from ltmem_gui.domain.settings import Settings
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.model_server import MEMORY, ModelServer, model_server
from tests.helpers.sessions import write_codex
from tests.helpers.waiting import until

PRICE = "prices=custom small 1 0.5 10 USD"
# What an answer of the test's server costs: 1,000 tokens in (400 of them cached) and 100 out.
EACH = Decimal("0.0018")
LIMITS = {"x-ratelimit-limit-requests": "100", "x-ratelimit-reset-requests": "30s"}


@pytest.fixture(autouse=True)
def _no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server(answer=lambda _: json.dumps(MEMORY), usage=(1_000, 100, 400)) as running:
        yield running


def lay(bench: Bench, count: int) -> None:
    for n in range(count):
        write_codex(bench.sessions, [("user", f"Rule {n}: always use pnpm.")], number=n, at=NOW - DAY - n)


def plan(bench: Bench, server: ModelServer, *overrides: str) -> Plan:
    base = Settings(max_rollout_age_days=3_650, max_unused_days=3_650, request_timeout_seconds=120)
    settings = base.with_overrides([f"provider_url={server.url}", "extract_model=small", *overrides])
    return asyncio.run(bench.plan_extract(settings=settings, provider="custom"))


def apply(bench: Bench, made: Plan) -> Receipt:
    return asyncio.run(bench.apply(made))


def attempts(bench: Bench) -> list[Any]:
    return [attempt for job in bench.jobs().values() for attempt in job.attempts]


def reasons(bench: Bench) -> set[str]:
    return {e.reason for e in bench.events if isinstance(e, JobFinished) and e.outcome == "skipped"}


# --- shown first ---


def test_without_a_price_it_is_unknown_and_a_limit_of_money_says_that_it_cannot_act(
    bench: Bench, server: ModelServer
) -> None:
    lay(bench, 2)
    (send,) = plan(bench, server).effects_of(SendToModel)
    assert (send.price, send.cost_low, send.currency) == ("price unknown", "", "")
    (send,) = plan(bench, server, "max_cost_per_run=0.01").effects_of(SendToModel)
    assert send.price == "price unknown; the limit of money cannot act without a price"
    receipt = apply(bench, plan(bench, server, "max_cost_per_run=0.01"))
    assert (receipt.counts, receipt.costs, receipt.cost_unknown) == ({"succeeded": 2}, {}, 2)
    assert [(a.cost, a.provider, a.model, a.tokens_cached) for a in attempts(bench)] == [
        (None, "custom", "small", 400)
    ] * 2


def test_with_a_price_the_sheet_names_a_range_the_limit_and_what_may_be_under_way(
    bench: Bench, server: ModelServer
) -> None:
    lay(bench, 12)
    (send,) = plan(bench, server, PRICE).effects_of(SendToModel)
    assert send.price.startswith("about 0.1")
    assert " to 2.0" in send.price
    assert "1 USD in, 0.5 USD cached, 10 USD out per million tokens" in send.price
    assert Decimal(send.cost_low) < Decimal(send.cost_high)
    assert (send.currency, send.cost_limit) == ("USD", "")
    (send,) = plan(bench, server, PRICE, "max_cost_per_run=1.5").effects_of(SendToModel)
    assert "stops at 1.50 USD" in send.price
    assert send.cost_limit == "1.5"
    assert Decimal(send.cost_in_flight) <= Decimal("1.5")
    assert server.requests == []


# --- counted exactly ---


def test_each_attempt_the_receipt_and_the_counter_know_the_cost(bench: Bench, server: ModelServer) -> None:
    lay(bench, 5)
    receipt = apply(bench, plan(bench, server, PRICE))
    assert receipt.costs == {"USD": "0.009"}
    assert receipt.cost_unknown == 0
    assert [(a.cost, a.currency) for a in attempts(bench)] == [(EACH, "USD")] * 5
    counted = [event for event in bench.events if isinstance(event, RunSpent)]
    assert [event.money for event in counted] == [Money(EACH * n, "USD") for n in range(1, 6)]
    assert str(counted[-1]) == "0.009 USD spent, 5,500 tokens"
    assert "max_completion_tokens" not in server.posts[0].body


@pytest.mark.parametrize("scenario", ["refusal", "length", "extra-field", "bad-json"])
def test_an_answer_that_cannot_be_used_costs_all_the_same(bench: Bench, server: ModelServer, scenario: str) -> None:
    lay(bench, 1)
    server.plan(scenario)
    receipt = apply(bench, plan(bench, server, PRICE))
    (attempt,) = attempts(bench)
    assert (receipt.counts, attempt.cost, receipt.costs) == ({"failed": 1}, EACH, {"USD": "0.0018"})


def test_a_server_that_does_not_count_leaves_the_cost_unknown(bench: Bench, server: ModelServer) -> None:
    lay(bench, 2)
    server.usage = None
    receipt = apply(bench, plan(bench, server, PRICE))
    assert (receipt.costs, receipt.cost_unknown) == ({"USD": "0"}, 2)
    assert [attempt.cost for attempt in attempts(bench)] == [None, None]
    assert "the cost of 2 is not known" in str([event for event in bench.events if isinstance(event, RunSpent)][-1])


def test_a_run_that_is_cancelled_does_not_call_the_cost_of_what_it_asked_known(
    bench: Bench, server: ModelServer
) -> None:
    lay(bench, 2)
    server.hold()
    made, cancel = plan(bench, server, PRICE, "max_cost_per_run=5"), CancelToken()

    async def run() -> None:
        work = asyncio.ensure_future(bench.apply(made, cancel=cancel))
        await until(lambda: server.in_flight == 2 or work.done(), "both requests at the server")
        cancel.cancel()
        with pytest.raises(Cancelled):
            await work

    asyncio.run(run())
    with bench.stores.reading(bench.home) as store:
        receipt = store.receipts()[0]
    assert (receipt.costs, receipt.cost_unknown) == ({"USD": "0"}, 2)


# --- never passed ---


def test_the_limit_of_money_is_never_passed_and_the_rest_stays_queued(bench: Bench, server: ModelServer) -> None:
    lay(bench, 30)
    server.usage = (1_000, 10_000, 0)  # 0.101 USD each, of at most 0.17
    receipt = apply(bench, plan(bench, server, PRICE, "max_cost_per_run=0.6"))
    paid = Decimal(receipt.costs["USD"])
    assert Decimal("0.4") < paid <= Decimal("0.6")
    assert receipt.counts["succeeded"] + receipt.counts["skipped"] == 30
    assert len(server.posts) == receipt.counts["succeeded"] == len(bench.jobs())
    assert {post.body["max_completion_tokens"] for post in server.posts} == {16_384}
    assert all("the limit of 0.60 USD leaves" in reason for reason in reasons(bench))
    server.usage = (1_000, 100, 0)
    rest = plan(bench, server, PRICE)
    assert len(rest.effects_of(SendToModel)) == 1
    assert apply(bench, rest).counts == {"succeeded": 30 - len(server.posts) + rest.effects_of(SendToModel)[0].requests}


def test_cost_nobody_reported_counts_as_the_most_it_can_be(bench: Bench, server: ModelServer) -> None:
    lay(bench, 20)
    server.usage = None
    receipt = apply(bench, plan(bench, server, PRICE, "max_cost_per_run=0.6"))
    assert receipt.counts == {"skipped": 17, "succeeded": 3}


def test_a_limit_below_one_session_takes_none_and_the_plan_says_so(bench: Bench, server: ModelServer) -> None:
    lay(bench, 3)
    made = plan(bench, server, PRICE, "max_cost_per_run=0.01")
    assert any("3 of them may cost more than the limit" in note for note in made.notes)
    assert apply(bench, made).counts == {"skipped": 3}
    assert (server.posts, bench.jobs()) == ([], {})


def test_a_shorter_answer_lets_more_sessions_fit(bench: Bench, server: ModelServer) -> None:
    lay(bench, 3)
    made = plan(bench, server, PRICE, "max_cost_per_run=0.05", "max_output_tokens=500")
    assert apply(bench, made).counts == {"succeeded": 3}
    assert {post.body["max_completion_tokens"] for post in server.posts} == {500}


def test_the_limit_of_tokens_acts_without_a_price(bench: Bench, server: ModelServer) -> None:
    lay(bench, 30)
    counts = apply(bench, plan(bench, server, "max_tokens_per_run=3000")).counts
    assert 3 <= counts["succeeded"] <= 10
    assert reasons(bench) == {"the limit of 3000 tokens is reached"}


# --- the provider says stop ---


@pytest.mark.parametrize(
    ("scenario", "group", "words"),
    [
        ("429", "rate_limit", "fewer requests"),
        ("quota", "quota", "no credit"),
        ("401", "auth", "refuses the key"),
        ("404", "model", "does not know the model"),
    ],
)
def test_what_would_meet_every_job_stops_the_run_and_costs_no_other_try(
    bench: Bench, server: ModelServer, scenario: str, group: str, words: str
) -> None:
    lay(bench, 30)
    server.plan(*[scenario] * 8)
    counts = apply(bench, plan(bench, server)).counts
    assert counts["failed"] <= 8
    assert counts["failed"] + counts["skipped"] == 30
    assert len(server.posts) == counts["failed"]
    assert {job.error_group for job in bench.jobs().values()} == {group}
    assert all(words in reason for reason in reasons(bench))


def test_a_server_that_only_fails_is_left_alone_after_a_while(bench: Bench, server: ModelServer) -> None:
    lay(bench, 40)
    server.plan(*["500"] * 40)
    counts = apply(bench, plan(bench, server)).counts
    assert 8 <= counts["failed"] <= 16
    assert all("8 requests failed one after another" in reason for reason in reasons(bench))


def test_failures_between_answers_stop_nothing(bench: Bench, server: ModelServer) -> None:
    lay(bench, 30)
    server.plan(*["500", "ok"] * 15)
    assert apply(bench, plan(bench, server)).counts == {"failed": 15, "succeeded": 15}


def test_a_limit_that_runs_low_stops_claiming_and_the_next_plan_is_refused(bench: Bench, server: ModelServer) -> None:
    lay(bench, 30)
    server.headers = LIMITS | {"x-ratelimit-remaining-requests": "20"}
    ready = plan(bench, server)
    counts = apply(bench, ready).counts
    assert counts["succeeded"] <= 8
    assert counts["succeeded"] + counts["skipped"] == 30
    assert len(bench.jobs()) == counts["succeeded"]
    assert all("20 requests of 100 (20 %) left" in reason for reason in reasons(bench))

    later = Bench(bench.place)  # another process: it knows what the last one stored
    later.now = NOW + 29
    with pytest.raises(RefusedError, match=r"20 requests of 100 \(20 %\) left, anew at .* UTC; at least 25 %") as low:
        plan(later, server)
    assert "set min_rate_limit_remaining_percent" in low.value.remedy
    assert plan(later, server, "min_rate_limit_remaining_percent=20").effects
    later.now = NOW + 30
    assert plan(later, server).effects


def test_exactly_what_must_be_left_goes_on(bench: Bench, server: ModelServer) -> None:
    lay(bench, 10)
    server.headers = LIMITS | {"x-ratelimit-remaining-requests": "25"}
    assert apply(bench, plan(bench, server)).counts == {"succeeded": 10}


def test_a_plan_made_before_a_refusal_is_refused_without_being_used_up(bench: Bench, server: ModelServer) -> None:
    lay(bench, 1)
    apply(bench, plan(bench, server))
    lay(bench, 4)
    made = plan(bench, server)
    with bench.stores.writing(bench.home) as store:
        store.keep_limits(made.provider, ProviderLimits(at=NOW, retry_at=NOW + 60))
    with pytest.raises(RefusedError, match="asked not to be called before") as refused:
        apply(bench, made)
    assert refused.value.remedy == "wait until then, or use --provider builtin"
    assert len(bench.jobs()) == 1
    bench.now = NOW + 61
    assert apply(bench, made).counts == {"succeeded": 3}


def test_a_refusal_with_a_date_is_kept_until_that_date(bench: Bench, server: ModelServer) -> None:
    lay(bench, 1)
    server.plan("429-date")
    made = plan(bench, server)
    apply(bench, made)
    (job,) = bench.jobs().values()
    assert job.retry_at == NOW + 7_200
    with bench.stores.reading(bench.home) as store:
        assert store.limits_of(made.provider) == ProviderLimits(at=NOW, retry_at=NOW + 7_200)
        assert store.limits_of(made.provider.model_copy(update={"model": "other"})) is None
    with sqlite3.connect(bench.home / "ltmem.sqlite") as database:
        database.execute("UPDATE provider_limits SET body = 'x'")
    database.close()
    with bench.stores.reading(bench.home) as store:
        assert store.limits_of(made.provider) is None


def test_the_cost_is_readable_from_the_queue_the_log_and_the_metrics(bench: Bench, server: ModelServer) -> None:
    lay(bench, 2)
    apply(bench, plan(bench, server, PRICE))

    def command(*argv: str) -> Any:
        out = io.StringIO()
        surfaces = Surfaces(compose=lambda _: bench, launch_window=lambda _: 0)
        assert run_command(["--home", str(bench.home), *argv], surfaces, io.StringIO(), out, out) == 0
        return json.loads(out.getvalue()) if "--json" in argv else out.getvalue()

    jobs = [job for job in command("jobs", "--json")["jobs"] if job["kind"] == "memory_stage1"]
    assert [job["cost"] for job in jobs] == [{"USD": "0.0018"}] * 2
    assert [job["attempts"][0]["cost"] for job in jobs] == ["0.0018"] * 2
    assert "cost 0.0018 USD" in command("jobs")
    receipts = [e["body"] for e in command("log", "--json")["operations"] if e["type"] == "receipt"]
    assert [(body["costs"], body["cost_unknown"]) for body in receipts] == [({"USD": "0.0036"}, 0)]
    figures = command("metrics", "--json")
    assert (figures["cost"], figures["runs"][0]["cost"]) == ({"USD": "0.0036"}, {"USD": "0.0036"})
    assert "0.0036  cost in USD" in command("metrics")


# --- what a server takes is remembered ---


def test_what_a_server_was_found_to_take_is_known_to_the_next_process(bench: Bench, server: ModelServer) -> None:
    server.accepts = frozenset({"json_object"})
    lay(bench, 9)
    apply(bench, plan(bench, server))
    assert len(server.posts) > 9
    refused = [post for post in server.posts if "json_schema" in post.text]
    server.requests.clear()

    later = Bench(bench.place)
    lay(later, 12)
    later.now = NOW + 3_600
    assert apply(later, plan(later, server)).counts == {"succeeded": 3}
    assert refused
    assert len(server.posts) == 3

    server.accepts = frozenset({"json_schema", "json_object", "reasoning"})
    server.requests.clear()
    renewed = Bench(bench.place)
    lay(renewed, 14)
    renewed.now = NOW + 8 * DAY
    apply(renewed, plan(renewed, server, "min_rollout_idle_hours=0"))
    assert all("json_schema" in post.text for post in server.posts)


def test_many_refusals_at_once_are_learnt_from_in_order(bench: Bench, server: ModelServer) -> None:
    server.accepts, server.holds = frozenset(), 8
    lay(bench, 8)
    assert apply(bench, plan(bench, server)).counts == {"succeeded": 8}
    # Each of the eight steps down: without effort, as an object, as plain text; none climbs up again.
    assert len(server.posts) <= 8 * 4
