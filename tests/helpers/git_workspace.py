"""Memory folders, granted plans and a ledger in one file, for the tests of the writer and its child processes."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ltmem_gui.domain.consent import APPROVAL_SECONDS, ApplyGrant, Approval, Receipt, Selection, mint
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.effects import DeleteFile, EnsureLayout, ResetBaseline, WriteFile
from ltmem_gui.domain.errors import AlreadyApplied, LeaseLost
from ltmem_gui.domain.jobs import Claim, Owner
from ltmem_gui.domain.naming import WORKSPACE_DIFF_FILENAME
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark, SelectedRow
from ltmem_gui.domain.settings import Settings
from ltmem_gui.workspace.reader import read

NOW = 1_790_000_000
Content = bytes | None


def clock() -> int:
    """Return a fixed time."""
    return NOW


def lay(root: Path, files: Mapping[str, bytes | tuple[bytes, int]]) -> Path:
    """Write files below `root`, with their permission bits where given."""
    root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        data, mode = content if isinstance(content, tuple) else (content, 0o644)
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(mode)
    return root


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below `root` but git's, with content and permission bits."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o7777)
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(root).parts
    }


def make_plan(
    home: Path,
    root: Path,
    wanted: Mapping[str, Content],
    *,
    modes: Mapping[str, int] | None = None,
    watermark: int | None = 500,
    operation: str = "consolidate",
    layout: bool = True,
    baseline: bool = True,
) -> Plan:
    """Return the plan that brings `wanted` into the folder (None deletes)."""
    snapshot = read(root)
    changes = []
    for path, data in wanted.items():
        old = snapshot.files.get(path)
        mode = (modes or {}).get(path, old.mode if old else None)
        change = file_change(path, old.data if old else None, data, old_mode=old.mode if old else None, new_mode=mode)
        if change is not None:
            changes.append(change)
    effects: list[Any] = [EnsureLayout(path=str(root), creates=("",))] if layout else []
    for change in changes:
        if change.change == "deleted":
            effects.append(DeleteFile(path=change.path, reason="test"))
        else:
            kind = change.change
            effects.append(
                WriteFile(
                    path=change.path,
                    change=kind,
                    size_before=change.old_size,
                    size_after=change.new_size,
                    lines_added=0,
                    lines_removed=0,
                )
            )
    if snapshot.leftover:
        effects.append(DeleteFile(path=WORKSPACE_DIFF_FILENAME, reason="left over"))
    if baseline:
        effects.append(ResetBaseline(path=str(root), previous=snapshot.baseline))
    return Plan(
        kind="apply",
        operation=operation,
        id=uuid.uuid4().hex,
        created_at=NOW,
        state=PlanState.APPLYABLE,
        home=str(home),
        memory_root=str(root),
        provider=ProviderMark(name="builtin", label="no AI model"),
        settings=Settings(),
        base=snapshot.mark(),
        effects=tuple(effects),
        changes=tuple(changes),
        rows=(SelectedRow(thread_id="t1", source_updated_at=watermark or 0),),
        watermark=watermark,
    ).sealed()


def select_all(plan: Plan) -> Selection:
    """Accept everything."""
    accepted = {
        change.path: tuple(h.id for h in change.hunks) if change.unit == "hunk" else ("*",) for change in plan.changes
    }
    return Selection(plan_digest=plan.digest, accepted=accepted)


def grant_for(plan: Plan, selection: Selection | None = None, **overrides: Any) -> ApplyGrant:
    """Mint a grant as the approval service would; `overrides` replace fields of the approval."""
    selection = selection or select_all(plan)
    values: dict[str, Any] = {
        "plan_digest": plan.digest,
        "selection_digest": selection.digest,
        "fingerprint": plan.base.fingerprint() if plan.base else "",
        "approver": "tester",
        "surface": "command line",
        "at": NOW,
        "expires_at": NOW + APPROVAL_SECONDS,
    }
    return mint(plan, selection, Approval(**{**values, **overrides}), clock)


def this_owner() -> Owner:
    """Return this process as a holder."""
    import socket

    import psutil

    return Owner(socket.gethostname(), os.getpid(), int(psutil.Process().create_time()), "test")


@dataclass
class FileLedger:
    """A ledger in one JSON file that is replaced as a whole; calls are noted in `calls`."""

    path: Path
    stolen: bool = False
    finish_error: Exception | None = None

    def __post_init__(self) -> None:
        self.calls: list[str] = []

    def recorded(self, plan_digest: str) -> Receipt | None:
        found = self._load()["receipts"].get(plan_digest)
        return Receipt.model_validate(found) if found else None

    def claim(self, plan: Plan) -> Claim:
        self.calls.append("claim")
        if self.recorded(plan.digest):
            raise AlreadyApplied("applied already")
        with self._changing() as state:
            state["token"] = uuid.uuid4().hex
        return Claim("global", state["token"], this_owner(), 400, 1, NOW + 3600)

    def heartbeat(self, claim: Claim) -> bool:
        self.calls.append("heartbeat")
        return self.owns(claim)

    def owns(self, claim: Claim) -> bool:
        return not self.stolen and self._load()["token"] == claim.token

    def finish(
        self,
        claim: Claim,
        plan: Plan,
        selection: Selection,
        receipt: Receipt,
        *,
        watermark: int | None,
        rows: Sequence[SelectedRow],
    ) -> Receipt:
        self.calls.append("finish")
        if self.finish_error is not None:
            raise self.finish_error
        if not self.owns(claim):
            raise LeaseLost("lost")
        with self._changing() as state:
            numbered = receipt.model_copy(update={"operation_number": len(state["receipts"]) + 1})
            state["receipts"][plan.digest] = numbered.model_dump(mode="json")
            state["watermark"] = max(state["watermark"], watermark or 0)
            state["rows"] = [row.thread_id for row in rows]
            state["selection"] = selection.digest
            state["token"] = None
        return numbered

    def fail(self, claim: Claim, reason: str) -> None:
        self.calls.append(f"fail: {reason}")

    def release(self, claim: Claim) -> None:
        self.calls.append("release")

    @property
    def watermark(self) -> int:
        return self._load()["watermark"]

    def _load(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"receipts": {}, "token": None, "watermark": 0, "rows": []}
        return json.loads(self.path.read_text())

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        with open(f"{self.path}.lock", "w") as lock:  # noqa: PTH123
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._load()
            yield state
            fresh = self.path.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps(state))
            fresh.replace(self.path)


def main() -> None:
    """Apply the plan in a file: `python -m tests.helpers.git_workspace HOME STATE PLAN`; faults come by environment."""
    from ltmem_gui.workspace.locking import RootLocks
    from ltmem_gui.workspace.writer import Writer

    home, state, plan_file = (Path(name) for name in sys.argv[1:4])
    plan = Plan.model_validate_json(plan_file.read_text())
    ledger = FileLedger(state / "ledger.json")
    writer = Writer(home, ledger=ledger, locks=RootLocks(clock, state), owner=this_owner(), clock=clock)
    started = time.perf_counter()
    writer.apply(grant_for(plan))
    print(f"{time.perf_counter() - started:.3f}")


if __name__ == "__main__":
    main()
