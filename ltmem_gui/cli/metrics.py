"""`metrics`: the counters of all runs under Codex's names, summed from the receipts. They never leave this computer."""

from __future__ import annotations

import argparse
import re

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.errors import ExitCode
from ltmem_gui.domain.metrics import total, total_cost
from ltmem_gui.domain.prices import plain

_TAGGED = re.compile(r"(?P<name>[^{]+)\{(?P<tag>[a-z_]+)=(?P<value>[^}]*)\}")


def register(commands: Subparsers) -> None:
    """Add the command that prints the counters."""
    metrics = commands.add_parser("metrics", help="print the counters and the cost of all runs; they are never sent")
    metrics.add_argument("--json", action="store_true")
    metrics.set_defaults(run=_run_metrics)


def _run_metrics(args: argparse.Namespace, context: Context) -> int:
    with context.adapters.stores.reading(context.need_home(), strict=True) as store:
        receipts, jobs = store.receipts(), store.jobs()
    counters = total(receipts, jobs)
    if args.json:
        runs = [
            {
                "operation_number": r.operation_number,
                "operation": r.operation,
                "at": r.finished_at,
                "metrics": r.metrics,
                "cost": r.costs,
                "cost_unknown": r.cost_unknown,
            }
            for r in receipts
            if r.metrics
        ]
        paid = {each.currency: plain(each.amount) for each in total_cost(receipts)}
        unknown = sum(r.cost_unknown for r in receipts)
        context.print_json({"metrics": nested(counters), "cost": paid, "cost_unknown": unknown, "runs": runs})
        return int(ExitCode.DONE)
    for name, count in counters.items():
        context.say(f"{count:>12}  {name}")
    for each in total_cost(receipts):
        context.say(f"{plain(each.amount):>12}  cost in {each.currency}")
    if not counters:
        context.say("no run was counted yet")
    return int(ExitCode.DONE)


def nested(counters: dict[str, int]) -> dict[str, int | dict[str, int]]:
    """Return the counters by name; those with a tag as value → count."""
    result: dict[str, int | dict[str, int]] = {}
    for key, count in counters.items():
        found = _TAGGED.fullmatch(key)
        if found is None:
            result[key] = count
            continue
        values = result.setdefault(found["name"], {})
        assert isinstance(values, dict), "a counter has tags or has none"
        values[found["value"]] = count
    return result
