"""`recover`: name what a crash cut off; finish it or take it back."""

from __future__ import annotations

import argparse

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.errors import ExitCode, UsageError
from ltmem_gui.pipeline.ports import ApplyRecovery, InterruptedOperation

_SHORTEST_PREFIX = 8


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("recover", help="list applies that a crash cut off; finish them or roll them back")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--finish", action="store_true", help="carry the operation to its end")
    ways.add_argument("--roll-back", action="store_true", help="restore the folder as it was before")
    ways.add_argument("--steps", action="store_true", help="list the steps of an apply")
    parser.add_argument("--digest", metavar="D", help="the operation, by the digest of its plan (8 or more characters)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run_recover)


def _run_recover(args: argparse.Namespace, context: Context) -> int:
    if args.digest and not (args.finish or args.roll_back):
        raise UsageError("--digest says of what, not what to do", "add --finish or --roll-back")
    if args.steps:
        return _print_steps(args, context)
    recovery = context.adapters.recovery(context.need_home())
    if not (args.finish or args.roll_back):
        return _print_pending(args, context, recovery.pending())
    digest = _digest(args.digest, recovery)
    if args.finish:
        receipt = recovery.finish(digest)
        if args.json:
            context.print_json(receipt.model_dump(mode="json"))
        else:
            context.say(f"finished: operation {receipt.operation_number}, {len(receipt.files)} files")
        return ExitCode.DONE
    recovery.roll_back(digest)
    if args.json:
        context.print_json({"rolled_back": digest})
    else:
        context.say("rolled back: the folder is as it was")
    return ExitCode.DONE


def _print_steps(args: argparse.Namespace, context: Context) -> int:
    if args.json:
        context.print_json({"steps": list(Step)})
    else:
        for step in Step:
            context.say(step)
    return ExitCode.DONE


def _print_pending(args: argparse.Namespace, context: Context, pending: tuple[InterruptedOperation, ...]) -> int:
    if args.json:
        listed = [{"digest": o.digest, "step": o.step, "files": list(o.files)} for o in pending]
        context.print_json({"operations": listed})
        return ExitCode.DONE
    if not pending:
        context.say("nothing was interrupted")
    for operation in pending:
        context.say(f"{operation.digest}  {operation.operation} of {operation.root}, cut off at step {operation.step}")
        for path in operation.files:
            context.say(f"    {path}")
        if operation.recorded:
            context.say("    the receipt exists: only the clean-up is left; use --finish")
        else:
            context.say("    use --finish or --roll-back, with --digest")
    return ExitCode.DONE


def _digest(given: str | None, recovery: ApplyRecovery) -> str:
    """Return the full digest of one interrupted operation. Raises `UsageError` when it is not clear which is meant."""
    if not given:
        raise UsageError("which operation is meant?", "give --digest; `ltmem-gui recover` lists them")
    if len(given) < _SHORTEST_PREFIX:
        raise UsageError(f"the digest {given} is too short", f"give at least {_SHORTEST_PREFIX} characters")
    found = [o.digest for o in recovery.pending() if o.digest.startswith(given)]
    return found[0] if len(found) == 1 else given
