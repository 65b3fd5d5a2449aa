"""What a run costs, in the words of the sheet, the receipt and the metrics."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ltmem_gui.cli.context import Context
from ltmem_gui.cli.render import describe_effect, describe_receipt
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import SendToModel
from ltmem_gui.domain.events import RunSpent
from ltmem_gui.domain.metrics import total_cost
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark
from ltmem_gui.domain.prices import Money
from ltmem_gui.domain.settings import Settings
from ltmem_gui.ui.models.effects_text import describe


def send(**changes: Any) -> SendToModel:
    return SendToModel(provider="openai", host="api.example.com", model="m", requests=2, tokens=2_400, **changes)


def sheet(effect: SendToModel) -> tuple[str, tuple[str, ...]]:
    plan = Plan(
        kind="extract",
        operation="extract",
        id="1",
        created_at=0,
        state=PlanState.APPLYABLE,
        home="/h",
        provider=ProviderMark(name="openai", label="OpenAI", host="api.example.com"),
        settings=Settings(),
        effects=(effect,),
    )
    line = describe(plan)[0].lines[0]
    return line.text, line.details


def receipt(**changes: Any) -> Receipt:
    values: dict[str, Any] = {
        "operation_number": 1,
        "operation": "extract",
        "kind": "extract",
        "plan_digest": "d",
        "selection_digest": "s",
        "approver": "a",
        "surface": "command line",
        "started_at": 0,
        "finished_at": 1,
    }
    return Receipt(**(values | changes))


def test_the_sheet_says_the_cost_beside_the_tokens() -> None:
    assert sheet(send())[0] == "tokens of redacted text to api.example.com; price unknown"
    priced = send(price="long words", cost_low="0.012", cost_high="0.5", currency="USD")
    text, details = sheet(priced)
    assert text.endswith("; about 0.012 to 0.50 USD")
    assert "cost: long words" in details
    assert sheet(priced.model_copy(update={"cost_limit": "0.3"}))[0].endswith("to 0.50 USD, stops at 0.30 USD")


def test_the_command_line_says_the_same() -> None:
    assert describe_effect(send()).split("\n")[0].endswith("; price unknown")
    assert describe_effect(send(price="about 1.00 USD")).split("\n")[0].endswith("; about 1.00 USD")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"costs": {"USD": "0.0124"}}, ["cost 0.012 USD"]),
        ({"cost_unknown": 3}, ["the cost of 3 is not known"]),
        ({}, []),
    ],
)
def test_a_receipt_says_what_was_paid(changes: dict[str, Any], words: list[str]) -> None:
    out = io.StringIO()
    context = Context(cast("Any", SimpleNamespace()), Path("/h"), None, (), Settings(), io.StringIO(), out, out)
    describe_receipt(context, receipt(**changes))
    assert all(word in out.getvalue() for word in words)
    assert ("cost" in out.getvalue()) is bool(words)
    assert json.loads(receipt(**changes).model_dump_json())["costs"] == changes.get("costs", {})


def test_all_runs_together_are_summed_by_currency() -> None:
    receipts = [receipt(costs={"USD": "0.1"}), receipt(costs={"USD": "0.2", "EUR": "1"}), receipt()]
    assert total_cost(receipts) == (Money(Decimal(1), "EUR"), Money(Decimal("0.3"), "USD"))
    assert total_cost([]) == ()


def test_the_live_counter_in_words() -> None:
    assert str(RunSpent(12_345)) == "12,345 tokens"
    spent, limit = Money(Decimal("0.1"), "USD"), Money(Decimal(1), "USD")
    assert str(RunSpent(5, spent)) == "0.10 USD spent, 5 tokens"
    assert str(RunSpent(5, spent, limit, 2)) == "0.10 USD spent of 1.00 USD, 5 tokens; the cost of 2 is not known"
