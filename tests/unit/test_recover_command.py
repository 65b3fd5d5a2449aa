"""The command `recover`: what is listed, what is carried out, and which calls are refused."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ltmem_gui.cli import recover
from ltmem_gui.cli.context import Context
from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.consent import Receipt, ReceiptFile
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import InterruptedOperation

DIGEST = "ab" * 32


class FakeRecovery:
    """Note what is asked for."""

    def __init__(self, *pending: InterruptedOperation) -> None:
        self.operations = pending
        self.calls: list[str] = []

    def pending(self) -> tuple[InterruptedOperation, ...]:
        return self.operations

    def finish(self, digest: str) -> Receipt:
        self.calls.append(f"finish {digest}")
        return Receipt(
            operation_number=7,
            operation="consolidate",
            kind="apply",
            plan_digest=digest,
            selection_digest="s",
            approver="a",
            surface="command line",
            started_at=1,
            finished_at=2,
            files=(ReceiptFile(path="a", old_sha256=None, new_sha256="x"),),
        )

    def roll_back(self, digest: str) -> None:
        self.calls.append(f"roll back {digest}")


def operation(recorded: bool = False) -> InterruptedOperation:
    """Return one interrupted operation."""
    return InterruptedOperation(DIGEST, "write", ("MEMORY.md", "b\x1b.md"), "/m", "consolidate", recorded)


def run(recovery: FakeRecovery, *arguments: str, home: Path | None = Path("/h")) -> tuple[int, str]:
    """Run the command and return exit code and output."""
    parser = argparse.ArgumentParser()
    recover.register(parser.add_subparsers())
    adapters: Any = SimpleNamespace(recovery=lambda home: recovery)
    out = io.StringIO()
    context = Context(adapters, home, None, (), Settings(), io.StringIO(), out, io.StringIO())
    args = parser.parse_args(["recover", *arguments])
    return args.run(args, context), out.getvalue()


def test_operations_are_listed_as_the_interface_says() -> None:
    code, out = run(FakeRecovery(operation()), "--json")
    assert code == 0
    assert json.loads(out) == {"operations": [{"digest": DIGEST, "step": "write", "files": ["MEMORY.md", "b\x1b.md"]}]}
    assert run(FakeRecovery(), "--json") == (0, '{\n  "operations": []\n}\n')


def test_a_person_reads_what_happened_and_what_to_do() -> None:
    assert run(FakeRecovery()) == (0, "nothing was interrupted\n")
    _, out = run(FakeRecovery(operation()))
    assert f"{DIGEST}  consolidate of /m, cut off at step write" in out
    assert "--finish or --roll-back" in out
    assert "\x1b" not in out
    _, recorded = run(FakeRecovery(operation(recorded=True)))
    assert "only the clean-up is left" in recorded


@pytest.mark.parametrize("given", [DIGEST, DIGEST[:8]])
@pytest.mark.parametrize("as_json", [True, False])
def test_one_operation_is_finished_or_rolled_back(given: str, as_json: bool) -> None:
    more = ["--json"] if as_json else []
    recovery = FakeRecovery(operation())
    code, out = run(recovery, "--finish", "--digest", given, *more)
    assert (code, recovery.calls) == (0, [f"finish {DIGEST}"])
    assert json.loads(out)["operation_number"] == 7 if as_json else "operation 7, 1 files" in out
    recovery = FakeRecovery(operation())
    code, out = run(recovery, "--roll-back", "--digest", given, *more)
    assert (code, recovery.calls) == (0, [f"roll back {DIGEST}"])
    assert json.loads(out) == {"rolled_back": DIGEST} if as_json else "as it was" in out


def test_an_unknown_digest_is_left_to_the_recovery_to_refuse() -> None:
    recovery = FakeRecovery(operation())
    run(recovery, "--finish", "--digest", "0" * 64)
    assert recovery.calls == ["finish " + "0" * 64]


@pytest.mark.parametrize("arguments", [["--finish"], ["--finish", "--digest", "abab"], ["--digest", DIGEST]])
def test_unclear_calls_are_refused(arguments: list[str]) -> None:
    recovery = FakeRecovery(operation())
    with pytest.raises(UsageError):
        run(recovery, *arguments)
    assert recovery.calls == []


def test_the_steps_are_listed_without_a_data_folder() -> None:
    assert run(FakeRecovery(), "--steps", home=None)[1].split("\n")[:-1] == list(Step)
    assert json.loads(run(FakeRecovery(), "--steps", "--json", home=None)[1]) == {"steps": list(Step)}
