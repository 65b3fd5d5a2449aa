"""`provider`: what can be chosen, what a server offers, whether a model can be used, and where its key is.

Naming a provider is the consent for the two made-up requests of the test; the host is named on the error stream first.
A key is read from standard input, never from the command line, which other programs can see.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.errors import ExitCode
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.limits import ProviderLimits
from ltmem_gui.domain.providers import ConnectionReport
from ltmem_gui.pipeline.guard import limits_in_words
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.provider_choice import ProviderChoice, ProviderNote

LONGEST_KEY = 4_096


def register(commands: Subparsers) -> None:
    """Add the commands that look at providers."""
    provider = commands.add_parser("provider", help="list providers, their models and keys; test a connection")
    kinds = provider.add_subparsers(dest="provider_command", required=True, metavar="WHAT")
    listing = kinds.add_parser("list", help="list what can be chosen")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(run=_run_list)
    for name, run, text in (
        ("models", _run_models, "ask a server what it has (GET /models)"),
        ("test", _run_test, "try the model extract_model with two made-up requests; nothing of yours is sent"),
    ):
        parser = kinds.add_parser(name, help=text)
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--json", action="store_true")
        parser.set_defaults(run=run)
    for name, run, text in (
        ("set-key", _run_set_key, "keep a key in the system's keyring; it is read from standard input"),
        ("delete-key", _run_delete_key, "take a key out of the system's keyring"),
    ):
        parser = kinds.add_parser(name, help=text)
        parser.add_argument("name", metavar="NAME")
        parser.set_defaults(run=run)


def _providers(context: Context) -> ProviderChoice:
    return Operations(context.adapters).providers


def _run_list(args: argparse.Namespace, context: Context) -> int:
    options = _providers(context).options()
    if args.json:
        rows = [{"name": o.name, "label": o.label, "url": o.url or None} for o in options]
        context.print_json({"providers": rows})
        return int(ExitCode.DONE)
    for option in options:
        place = option.url or ("set provider_url" if option.needs_url else "")
        context.say(f"{option.name:<9}  {option.label:<32}  {place}".rstrip())
    return int(ExitCode.DONE)


def _run_models(args: argparse.Namespace, context: Context) -> int:
    note = _asked(args.name, context)
    models = asyncio.run(_providers(context).models(args.name, context.settings))
    if args.json:
        context.print_json({"provider": args.name, "host": note.host, "models": list(models)})
    else:
        for model in models:
            context.say(one_line(model, 200))
    return int(ExitCode.DONE if models else ExitCode.NOTHING_TO_DO)


def _run_test(args: argparse.Namespace, context: Context) -> int:
    note = _asked(args.name, context)
    report = asyncio.run(_providers(context).test_connection(args.name, context.settings))
    if args.json:
        context.print_json(_report_json(args.name, note, report))
    else:
        _say_report(context, note, report)
    return int(ExitCode.DONE if report.ok else ExitCode.ERROR)


def _asked(name: str, context: Context) -> ProviderNote:
    """Say where a request goes before it goes."""
    note = _providers(context).describe(name, context.settings)
    if note.host:
        context.warn(f"asking {note.host}")
    return note


def _report_json(name: str, note: ProviderNote, report: ConnectionReport) -> dict[str, Any]:
    return {
        "provider": name,
        "host": note.host,
        "loopback": note.loopback,
        "note": note.note,
        "price": note.price_words,
        "ok": report.ok,
        "schema_ok": report.schema_ok,
        "schema_ms": report.schema_ms,
        "no_op_ok": report.no_op_ok,
        "no_op_ms": report.no_op_ms,
        "form": report.rung.words,
        "detail": report.detail,
        "models": list(report.models),
        "limits": None if report.limits is None else report.limits.model_dump(mode="json"),
    }


def _say_report(context: Context, note: ProviderNote, report: ConnectionReport) -> None:
    context.say(f"{note.label} on {note.host}: {'it can be used' if report.ok else 'it cannot be used as it is'}")
    context.say(f"  remembers what lasts   {_verdict(report.schema_ok)}  {report.schema_ms} ms")
    context.say(f"  leaves out small talk  {_verdict(report.no_op_ok)}  {report.no_op_ms} ms")
    context.say(f"  form of the answers    {report.rung.words}")
    context.say(f"  price                  {note.price_words}")
    context.say(f"  limits                 {_limits(report.limits, context)}")
    context.say(f"  {note.note}")
    if report.detail:
        context.say(f"  {one_line(report.detail, 400)}")


def _limits(limits: ProviderLimits | None, context: Context) -> str:
    return "the server names none" if limits is None else limits_in_words(limits, context.adapters.clock())


def _verdict(ok: bool) -> str:
    return "yes" if ok else "no "


def _run_set_key(args: argparse.Namespace, context: Context) -> int:
    key = context.stdin.readline(LONGEST_KEY)
    asyncio.run(_providers(context).store_key(args.name, context.settings, key))
    place = asyncio.run(_providers(context).key_place(args.name, context.settings))
    context.say(f"the key of {args.name} is kept; it is found {place or 'nowhere: provider_key_env names no variable'}")
    return int(ExitCode.DONE)


def _run_delete_key(args: argparse.Namespace, context: Context) -> int:
    asyncio.run(_providers(context).delete_key(args.name, context.settings))
    context.say(f"the system's keyring holds no key of {args.name}")
    return int(ExitCode.DONE)
