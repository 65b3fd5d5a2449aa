"""The operation log: approvals and receipts, append-only and hash-chained; it never holds memory text.

No method changes or deletes an entry. Whoever changes one with other tools breaks the chain, which `verify_log` finds.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from ltmem_gui.domain.chain import ChainBreak, ChainEntry, ChainHead, EntryType, link, verify
from ltmem_gui.domain.consent import Approval, Receipt
from ltmem_gui.store.database import Database
from ltmem_gui.store.models import Operation
from ltmem_gui.store.part import StorePart


class OperationLog(StorePart):
    """Append to the log, read it, and check its chain."""

    def record_approval(self, approval: Approval) -> None:
        """Append a person's yes."""
        with self._db.durable_transaction():
            body = approval.model_dump(mode="json")
            _append(self._db, at=approval.at, kind="approval", plan_digest=approval.plan_digest, number=0, body=body)

    def record_receipt(self, receipt: Receipt) -> Receipt:
        """Append a receipt that needs no other row; return it with its number."""
        with self._db.durable_transaction():
            return append_receipt(self._db, receipt)

    def record_work(self, work: Callable[[], Receipt]) -> Receipt:
        """Do `work` on rows and append the receipt it returns, in one transaction: both are stored, or neither."""
        with self._db.durable_transaction():
            return append_receipt(self._db, work())

    def receipt_of(self, plan_digest: str) -> Receipt | None:
        """Return the newest receipt of a plan."""
        query = Operation.select(Operation.body).where(
            (Operation.plan_digest == plan_digest) & (Operation.type == "receipt")
        )
        found = self._db.row(query.order_by(Operation.number.desc()))
        return None if found is None else _receipt(found[0])

    def receipts(self) -> tuple[Receipt, ...]:
        """Return all receipts, oldest first."""
        query = Operation.select(Operation.body).where(Operation.type == "receipt").order_by(Operation.number)
        return tuple(_receipt(body) for (body,) in self._db.rows(query))

    def log(self) -> tuple[ChainEntry, ...]:
        """Return the whole log, oldest first."""
        columns = (
            Operation.number,
            Operation.at,
            Operation.type,
            Operation.plan_digest,
            Operation.operation_number,
            Operation.body,
            Operation.previous,
            Operation.hash,
        )
        return tuple(ChainEntry(*row) for row in self._db.rows(Operation.select(*columns).order_by(Operation.number)))

    def verify_log(self) -> ChainBreak | None:
        """Return the first break of the chain, None when it is whole."""
        return verify(self.log(), _head(self._db))


def append_receipt(db: Database, receipt: Receipt) -> Receipt:
    """Append a receipt inside the caller's transaction; return it with its number (receipts count from 1)."""
    number = db.sql("SELECT COALESCE(MAX(operation_number), 0) + 1 FROM operations")[0][0]
    numbered = receipt.model_copy(update={"operation_number": number})
    _append(
        db,
        at=numbered.finished_at,
        kind="receipt",
        plan_digest=numbered.plan_digest,
        number=number,
        body=numbered.model_dump(mode="json"),
    )
    return numbered


def _append(db: Database, *, at: int, kind: EntryType, plan_digest: str, number: int, body: object) -> None:
    head = _head(db)
    entry = link(head, at=at, kind=kind, plan_digest=plan_digest, operation_number=number, body=body)
    db.change(
        "INSERT INTO operations (number, at, type, plan_digest, operation_number, body, previous, hash)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.number,
            entry.at,
            entry.type,
            entry.plan_digest,
            entry.operation_number,
            entry.body,
            entry.previous,
            entry.hash,
        ),
    )
    db.change("UPDATE operations_head SET number = ?, hash = ? WHERE id = 1", (entry.number, entry.hash))


def _head(db: Database) -> ChainHead:
    number, value = db.sql("SELECT number, hash FROM operations_head WHERE id = 1")[0]
    return ChainHead(number, value)


def _receipt(body: str) -> Receipt:
    return Receipt.model_validate(json.loads(body))
