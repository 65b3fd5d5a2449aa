"""The operation log on real SQLite: numbered, chained, append-only by its methods, broken by any other tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltmem_gui.domain.consent import Approval
from tests.helpers.stores import NOW, Home, a_receipt


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home").create()
    with home.open() as store:
        for n in range(3):
            plan = f"plan-{n}"
            store.record_approval(an_approval(plan))
            store.record_receipt(a_receipt(plan, counts={"done": n}))
    return home


def an_approval(plan_digest: str) -> Approval:
    return Approval(
        plan_digest=plan_digest,
        selection_digest="s",
        fingerprint="f",
        approver="me",
        surface="window",
        at=NOW,
        expires_at=NOW + 900,
    )


def test_receipts_are_numbered_from_1_and_found_by_their_plan(home: Home) -> None:
    with home.open() as store:
        assert [r.operation_number for r in store.receipts()] == [1, 2, 3]
        found = store.receipt_of("plan-1")
        assert found is not None
        assert found.counts == {"done": 1}
        assert store.receipt_of("plan-9") is None
        assert store.record_receipt(a_receipt("plan-9")).operation_number == 4


def test_the_log_holds_approvals_and_receipts_in_order_and_is_whole(home: Home) -> None:
    with home.stores.reading(home.path) as store:
        assert [(e.number, e.type) for e in store.log()] == [
            (1, "approval"),
            (2, "receipt"),
            (3, "approval"),
            (4, "receipt"),
            (5, "approval"),
            (6, "receipt"),
        ]
        assert store.verify_log() is None


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("UPDATE operations SET body = replace(body, '\"me\"', '\"you\"') WHERE number = 3", 3),
        ("UPDATE operations SET at = at + 1 WHERE number = 1", 1),
        ("UPDATE operations SET type = 'approval' WHERE number = 2", 2),
        ("UPDATE operations SET plan_digest = 'x' WHERE number = 4", 4),
        ("UPDATE operations SET operation_number = 9 WHERE number = 6", 6),
        ("UPDATE operations SET hash = previous WHERE number = 4", 4),
        ("UPDATE operations SET previous = hash WHERE number = 5", 5),
        ("UPDATE operations SET number = 9 WHERE number = 6", 6),
        ("DELETE FROM operations WHERE number = 2", 2),
        ("DELETE FROM operations WHERE number = 1", 1),
        ("DELETE FROM operations WHERE number >= 5", 5),
        ("DELETE FROM operations", 1),
        ("UPDATE operations_head SET number = 5", 7),
    ],
)
def test_any_change_by_other_tools_is_found(home: Home, statement: str, number: int) -> None:
    home.sql(statement)
    with home.stores.reading(home.path) as store:
        broken = store.verify_log()
    assert broken is not None
    assert broken.number == number
    assert broken.reason
