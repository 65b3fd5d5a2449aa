"""The operation log: approvals and receipts, append-only and hash-chained; it never holds memory text.

No method changes or deletes an entry. Whoever changes one with other tools breaks the chain, which `verify_log` finds.
What an agent's calls asked for is kept in a table of its own, which forgetting empties; its receipt binds it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from ltmem_gui.domain.agent_kept import BINDS, KEPT_BYTES, KeptState, steps_of
from ltmem_gui.domain.chain import ChainBreak, ChainEntry, ChainHead, EntryType, link, verify
from ltmem_gui.domain.consent import Approval, KeptTranscript, Receipt
from ltmem_gui.store.database import Database
from ltmem_gui.store.models import Operation
from ltmem_gui.store.part import StorePart

_MOST: Final = 2 * KEPT_BYTES
_RECEIPTS: Final = (
    # A text that another program made too large is read up to where it cannot be the one that is bound.
    "SELECT o.body, t.operation_number, substr(t.body, 1, ?), t.thread_ids FROM operations o"
    " LEFT JOIN agent_transcripts t ON t.operation_number = o.operation_number WHERE o.type = 'receipt'"
)


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
        found = self._db.sql(f"{_RECEIPTS} AND o.plan_digest = ? ORDER BY o.number DESC", (_MOST, plan_digest))
        return _receipt(*found[0]) if found else None

    def receipts(self) -> tuple[Receipt, ...]:
        """Return all receipts, oldest first."""
        return tuple(_receipt(*row) for row in self._db.sql(f"{_RECEIPTS} ORDER BY o.number", (_MOST,)))

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
        """Return the first break of the chain, or the first transcript its receipt does not bind; None: all whole."""
        entries = self.log()
        broken = verify(entries, _head(self._db))
        if broken is not None:
            return broken
        texts = self.transcripts()
        for entry in entries:
            text = texts.get(entry.operation_number)
            if text is not None and steps_of(_binding(entry), text).state is KeptState.ALTERED:
                return ChainBreak(entry.number, "what is kept of its calls was changed after it was written")
        return None

    def transcripts(self) -> dict[int, KeptTranscript]:
        """Return what was kept of the calls of agents, by the number of the receipt."""
        rows = self._db.sql("SELECT operation_number, substr(body, 1, ?), thread_ids FROM agent_transcripts", (_MOST,))
        return {number: _transcript(text, threads) for number, text, threads in rows}


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
    if numbered.transcript is not None:
        threads = json.dumps(numbered.transcript.thread_ids)
        db.change(
            "INSERT OR REPLACE INTO agent_transcripts (operation_number, body, thread_ids) VALUES (?, ?, ?)",
            (number, numbered.transcript.body, threads),
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


def _binding(entry: ChainEntry) -> object:
    body = json.loads(entry.body)
    return body.get(BINDS) if isinstance(body, dict) else None


def _receipt(body: str, number: int | None, text: object, threads: object) -> Receipt:
    receipt = Receipt.model_validate(json.loads(body))
    if number is None:
        return receipt
    return receipt.model_copy(update={"transcript": _transcript(text, threads)})


def _transcript(text: object, threads: object) -> KeptTranscript:
    """Return what is kept of an agent's calls; of a damaged list of sessions there are none."""
    try:
        found = json.loads(str(threads))
    except ValueError:
        found = None
    return KeptTranscript(body=str(text), thread_ids=tuple(map(str, found)) if isinstance(found, list) else ())
