"""`redact` cleans a text; `scan-secrets` looks for secrets in a memory folder and in all that git keeps of it.

Both only read. Values are never printed by `scan-secrets`: it names place and kind.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from ltmem_gui.cli.context import Context, Subparsers
from ltmem_gui.domain.errors import ExitCode, InputError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.measures import plural
from ltmem_gui.domain.redaction.policy import allow_digest
from ltmem_gui.domain.secrets import SecretFinding
from ltmem_gui.pipeline.ports import Redactor

_SHORT = 12


def register(commands: Subparsers) -> None:
    """Add the commands of redaction."""
    redact = commands.add_parser(
        "redact",
        help="replace secrets in a text by placeholders",
        description="Print FILE with every secret replaced by [REDACTED:kind]. The file stays as it is; how many "
        "secrets of which kind were replaced is said on standard error.",
    )
    redact.add_argument("file", nargs="?", metavar="FILE", help="the text; standard input when left out")
    form = redact.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the text and the findings as JSON")
    form.add_argument("--jsonl", action="store_true", help='read {"id", "text"} a line, answer with findings a line')
    form.add_argument("--digest", metavar="SALT", help="print the salted digest of a value, for redaction_allowed")
    redact.add_argument(
        "--engine",
        choices=("full", "layer"),
        default="full",
        help="full: kingfisher and our rules; layer: our rules alone",
    )
    redact.set_defaults(run=_run_redact)

    scan = commands.add_parser(
        "scan-secrets",
        help="find secrets in a memory folder and in its git objects",
        description="List every secret in the files of the folder that --memory-root DIR names, and in all that git "
        "keeps of it: by place and kind, never by value. Nothing is changed; exit 1 when something is found.",
    )
    scan.add_argument("--json", action="store_true", help="print the findings as JSON")
    scan.set_defaults(run=_run_scan)


def _run_redact(args: argparse.Namespace, context: Context) -> int:
    if args.digest is not None:
        value, _ = _decoded(_read(args.file, context.stdin))
        context.say(allow_digest(args.digest.encode(), value.removesuffix("\n")))
        return int(ExitCode.DONE)
    redactor = context.adapters.layer_redactor() if args.engine == "layer" else context.adapters.redactor
    text, errors = _decoded(_read(args.file, context.stdin))
    if args.jsonl:
        _redact_lines(redactor, text, context)
        _say_engine(redactor, context)
        return int(ExitCode.DONE)
    redaction = redactor.redact(text)
    if args.json:
        context.print_json({"text": redaction.text, "findings": _findings_json(redaction.findings)})
    else:
        _write(context.out, redaction.text, errors)
        _summary(redaction.findings, context)
    _say_engine(redactor, context)
    return int(ExitCode.DONE)


def _say_engine(redactor: Redactor, context: Context) -> None:
    """Say when the full engine was wanted and our rules ran alone: nothing is skipped in silence."""
    if getattr(redactor, "degraded", False):
        context.warn(str(getattr(redactor, "status", "")))


def _redact_lines(redactor: Redactor, text: str, context: Context) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
        except ValueError as error:
            raise InputError(f"not JSON: {error}", "give one object a line", "redact --jsonl", number) from error
        if not isinstance(case, dict) or not isinstance(case.get("text"), str):
            raise InputError('an object with a string "text" is wanted', "", "redact --jsonl", number)
        redaction = redactor.redact(case["text"])
        answer = {"id": case.get("id"), "text": redaction.text, "findings": _findings_json(redaction.findings)}
        context.out.write(json.dumps(answer, ensure_ascii=True) + "\n")


def _summary(findings: Iterable[SecretFinding], context: Context) -> None:
    counts = Counter(finding.kind for finding in findings)
    found = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    context.warn(f"redacted: {found}" if found else "redacted: nothing; no secret was found")


def _findings_json(findings: Iterable[SecretFinding]) -> list[dict[str, Any]]:
    return [{"start": f.start, "end": f.end, "kind": f.kind, "engine": f.engine} for f in findings]


def _read(name: str | None, stdin: TextIO) -> bytes | str:
    """Read bytes where there are any: a text stream would already have changed line ends."""
    if name is not None:
        try:
            return Path(name).expanduser().read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", "name a text file", name) from error
    buffer = cast("BinaryIO | None", getattr(stdin, "buffer", None))
    return stdin.read() if buffer is None else buffer.read()


def _decoded(data: bytes | str) -> tuple[str, str]:
    """Decode so that the same bytes come out again: UTF-8, lone surrogates, or anything else."""
    if isinstance(data, str):
        return data, "surrogatepass"
    for errors in ("strict", "surrogatepass"):
        try:
            return data.decode("utf-8", errors), "surrogatepass"
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "surrogateescape"), "surrogateescape"


def _write(out: TextIO, text: str, errors: str) -> None:
    buffer = cast("BinaryIO | None", getattr(out, "buffer", None))
    if buffer is None:
        out.write(text)
        return
    out.flush()
    buffer.write(text.encode("utf-8", errors))
    buffer.flush()


@dataclass(frozen=True)
class _Place:
    """A finding of a scan: `where` is a path or an object id, `of` what it is, `line` counts from 1."""

    where: str
    of: str
    path: str
    line: int
    finding: SecretFinding


def _run_scan(args: argparse.Namespace, context: Context) -> int:
    root = context.need_memory_root()
    snapshot = context.adapters.workspace.read(root)
    if not snapshot.exists:
        raise InputError("the memory folder does not exist", "give --memory-root DIR", str(root))
    redactor = context.adapters.redactor
    places: list[_Place] = []
    for path, file in sorted(snapshot.files.items()):
        # A name may hold a secret too; then it is shown without it.
        shown = redactor.redact(path).text
        places += _scan(redactor, shown, "file name", path.encode("utf-8", "surrogateescape"))
        places += _scan(redactor, shown, "file", file.data)
    paths = {blob: path for path, (blob, _mode) in sorted(snapshot.baseline_blobs.items(), reverse=True)}
    for item in context.adapters.memory_objects(root):
        shown = redactor.redact(item.name).text if item.kind == "file" else item.name
        beside = redactor.redact(paths.get(item.name, "")).text
        places += _scan(redactor, shown, f"git {item.kind}", item.data, beside)
    if args.json:
        context.print_json(_scan_json(root, places, snapshot.problems))
    else:
        _say_scan(places, snapshot.problems, context)
    _say_engine(redactor, context)
    return int(ExitCode.ERROR if places else ExitCode.DONE)


def _scan(redactor: Redactor, where: str, of: str, data: bytes, path: str = "") -> list[_Place]:
    text, _ = _decoded(data)
    found = redactor.redact(text).findings
    lines = _line_numbers(text, found)
    return [_Place(where, of, path, line, finding) for line, finding in zip(lines, found, strict=True)]


def _line_numbers(text: str, findings: Iterable[SecretFinding]) -> list[int]:
    lines: list[int] = []
    line, position = 1, 0
    for finding in findings:
        line += text.count("\n", position, finding.start)
        position = finding.start
        lines.append(line)
    return lines


def _scan_json(root: Path, places: Iterable[_Place], problems: Iterable[str]) -> Mapping[str, Any]:
    places = list(places)
    return {
        "memory_root": str(root),
        "findings": [
            {
                "where": place.where,
                "of": place.of,
                "path": place.path or (place.where if place.of in ("file", "file name") else None),
                "line": place.line,
                "start": place.finding.start,
                "end": place.finding.end,
                "kind": place.finding.kind,
                "engine": place.finding.engine,
            }
            for place in places
        ],
        "by_kind": dict(sorted(Counter(place.finding.kind for place in places).items())),
        "problems": list(problems),
    }


def _say_scan(places: list[_Place], problems: Iterable[str], context: Context) -> None:
    for place in places:
        name = place.where if place.of in ("file", "file name", "git file") else place.where[:_SHORT]
        beside = f" ({place.path})" if place.path else ""
        context.say(f"{place.of} {one_line(name)}{one_line(beside)}:{place.line}  {place.finding.kind}")
    for problem in problems:
        context.warn(one_line(problem))
    files = len({place.where for place in places if not place.of.startswith("git ")})
    stored = len({place.where for place in places if place.of.startswith("git ")})
    if places:
        kept = plural(stored, "thing that git keeps", "things that git keeps")
        context.say(f"{plural(len(places), 'secret')}: in {plural(files, 'file')} and in {kept}")
        context.say("to take them out: ltmem-gui plan redact --home DIR --memory-root DIR --json")
    else:
        context.say("no secret was found in the files and in git's objects")
