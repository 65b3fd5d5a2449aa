"""Read tool calls with their results: what failed, what then worked, and what the person refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.memory_items import tool_command
from ltmem_gui.domain.rollouts import RolloutItem

LOOK_AHEAD = 5
EDGE = 400
MAX_COMMAND = 300

_EXIT = re.compile(
    r"\(exit (?:code )?(\d+)\)|exited with code (\d+)|\bexit(?:ed)?[ _](?:code|status)\"?:?\s*(\d+)|"
    r"\"exit_code\":\s*(\d+)",
    re.IGNORECASE,
)
_ERROR_LINE = re.compile(
    r"error|fatal|denied|not found|no such|cannot|can't|could not|refused|failed|failure|missing|"
    r"unsupported|forbidden|timed out|invalid|must |held|required",
    re.IGNORECASE,
)
_LOOKING = re.compile(
    r"^(?:sudo )?(?:ls|cat|head|tail|grep|rg|find|fd|sed -n|wc|pwd|which|whoami|echo|env|printenv|tree|"
    r"stat|file|du|df|ps|date|less|git (?:status|diff|log|show|blame|branch))\b"
)
_PREPARES = re.compile(
    r"\b(?:install|add|init|login|auth|setup|start|up|enable|create|mkdir|chmod|export|source|migrate|"
    r"generate|gen|sync|restore|pull|build|link|use|unset|rm -rf|clean|prune)\b"
)
_SELECTORS = frozenset({"-x", "-q", "-v", "-vv", "-s", "-k", "--lf", "-rA", "--ff", "-n", "--no-header"})
_ENV = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=\S*$")
_REFUSED = re.compile(
    r"\A\s*(?:The user doesn't want to (?:proceed with this tool use|take this action)|"
    r"\[Request interrupted by user|(?:exec command )?rejected by user)[^\n]*?"
    r"(?:the user said:|reason(?: was)?:|said:)\s*(?P<reason>.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_REFUSED_MULTI = re.compile(
    r"\A\s*The user doesn't want to (?:proceed with this tool use|"
    r"take this action).{0,400}?(?:the user said:|reason[^:\n]{0,80}:)\s*(?P<reason>.+)\Z",
    re.DOTALL,
)
_WRAPPER = re.compile(r"^(?:Chunk ID|Wall time|Process exited|Original token count|Output:|Script completed|Exit code)")


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One call with its result; `index` is the call's place among the items, `line`s are citation places."""

    index: int
    command: str
    line: int
    output_line: int
    ok: bool
    error: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A command that failed and the one that made it work."""

    failed: ToolRun
    worked: ToolRun
    sure: bool


def tool_runs(items: Sequence[RolloutItem]) -> list[ToolRun]:
    """Pair calls and outputs, by call id where there is one, else by order; calls without command text are left out."""
    outputs = {
        i.tool.call_id: i for i in items if i.kind == "tool_output" and i.tool and i.tool.call_id and not i.inherited
    }
    runs: list[ToolRun] = []
    for index, item in enumerate(items):
        if item.kind != "tool_call" or item.inherited:
            continue
        output = outputs.get(item.tool.call_id) if item.tool and item.tool.call_id else None
        if output is None:
            following = items[index + 1] if index + 1 < len(items) else None
            output = following if following and following.kind == "tool_output" else None
        command = command_of(item)
        line = item.line if item.line is not None else item.row
        if not command or output is None or line is None:
            continue
        place = output.line if output.line is not None else output.row
        failed = run_failed(output)
        runs.append(
            ToolRun(
                index,
                command,
                line,
                line if place is None else place,
                not failed,
                error_of(output.text) if failed else "",
            )
        )
    return runs


def command_of(item: RolloutItem) -> str:
    """Return the shell command of a call on one line, empty for other tools and for patches."""
    command = tool_command(item)
    if command is None or "*** Begin Patch" in command:
        return ""
    return one_line(command, MAX_COMMAND)


def run_failed(output: RolloutItem) -> bool:
    """Tell whether a result names a failure: the flag of the format, or an exit code at either end of the text."""
    if output.tool and output.tool.failed:
        return True
    text = output.text
    edges = text if len(text) <= 2 * EDGE else text[:EDGE] + "\n" + text[-EDGE:]
    codes = [next(code for code in match.groups() if code is not None) for match in _EXIT.finditer(edges)]
    return bool(codes) and codes[-1] != "0"


def error_of(text: str) -> str:
    """Return the line of an output that says most about the failure, at most 160 characters."""
    lines = [line.strip() for line in text[:4000].split("\n") if line.strip() and not _WRAPPER.match(line.strip())]
    for line in lines:
        if _ERROR_LINE.search(line) and not _EXIT.fullmatch(line):
            return one_line(line, 160)
    return one_line(lines[0], 160) if lines else ""


def repairs(runs: Sequence[ToolRun]) -> list[Repair]:
    """Find failures that a preparing step, or a changed command, put right soon after."""
    found: list[Repair] = []
    taken: set[int] = set()
    for at, failed in enumerate(runs):
        if failed.ok or failed.index in taken or _LOOKING.match(failed.command):
            continue
        for later in range(at + 1, min(len(runs), at + 1 + LOOK_AHEAD)):
            repair = _repair(runs, at, later)
            if repair is not None:
                found.append(repair)
                taken |= {run.index for run in runs[at:later] if run.error == failed.error}
                break
    return _best(found)


def _best(found: Sequence[Repair]) -> list[Repair]:
    """Keep one repair per working command: the failure nearest to it."""
    nearest = {repair.worked.index: repair for repair in found}
    return list(nearest.values())


def failed_before(items: Sequence[RolloutItem], runs: Sequence[ToolRun]) -> frozenset[int]:
    """Return the indexes of the person's messages that follow a failed run of the same turn."""
    failed = {run.index for run in runs if not run.ok}
    found: set[int] = set()
    open_failure = False
    for index, item in enumerate(items):
        if index in failed:
            open_failure = True
        if item.role == "user" and item.kind == "message" and not item.injected:
            if open_failure:
                found.add(index)
            open_failure = False
    return frozenset(found)


def said_with_refusal(item: RolloutItem) -> str:
    """Return the reason a person gave when they refused a tool call, empty for any other result.

    Only a result the format itself marks as failed and that begins with the host's own words is read.
    """
    if item.kind != "tool_output" or item.inherited or not (item.tool and item.tool.failed):
        return ""
    match = _REFUSED_MULTI.match(item.text) or _REFUSED.match(item.text)
    return match["reason"].strip()[:600] if match else ""


def _repair(runs: Sequence[ToolRun], at: int, later: int) -> Repair | None:
    """Compare a failed run with a later one: how was it put right, if it was?"""
    failed, worked = runs[at], runs[later]
    if _LOOKING.match(worked.command):
        return None
    if _same(failed.command, worked.command) or (not worked.ok and _related(failed.command, worked.command)):
        if not worked.ok and worked.error == failed.error:
            return None
        steps = [run for run in runs[at + 1 : later] if run.ok and _PREPARES.search(run.command)]
        steps = [run for run in steps if not _LOOKING.match(run.command)]
        return Repair(failed, steps[-1], sure=True) if steps else None
    if not worked.ok or not _related(failed.command, worked.command):
        return None
    added = _tokens(worked.command) - _tokens(failed.command)
    telling = {t for t in added if (_ENV.match(t) or t.startswith("-") or ":" in t) and t not in _SELECTORS}
    if telling or (failed.command in worked.command and "&&" in worked.command):
        return Repair(failed, worked, sure=True)
    changed_program = _head(failed.command) != _head(worked.command)
    return Repair(failed, worked, sure=False) if changed_program and later == at + 1 else None


def _related(one: str, two: str) -> bool:
    if one in two:
        return True
    return (_head(one) == _head(two) and fuzz.token_set_ratio(one, two) >= 75) or fuzz.token_sort_ratio(one, two) >= 80


def _same(one: str, two: str) -> bool:
    return " ".join(one.split()) == " ".join(two.split())


def _tokens(command: str) -> set[str]:
    return set(command.split())


def _head(command: str) -> str:
    words = [word for word in command.split() if not _ENV.match(word) and word not in ("sudo", "time", "env", "npx")]
    return words[0] if words else ""
