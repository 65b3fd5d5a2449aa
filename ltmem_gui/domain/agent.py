"""What passes between the consolidation agent's model and its tools, and the transcript that is kept of it.

Everything a model says is untrusted text. Token counts are the server's own; None where it named none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from ltmem_gui.domain.errors import KnownError
from ltmem_gui.domain.tokens import TokenUsage


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One tool call as the model wrote it: `arguments` should be a JSON object, and may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """One message of the conversation; `call_id` names the call a message of role `tool` answers."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[AgentCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What the model said in one step; without calls it is done. `tokens_cached` is a part of `tokens_in`."""

    text: str
    calls: tuple[AgentCall, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ToolOutcome(StrEnum):
    """How a tool call ended: done, answered with an error, or refused because it left the fence."""

    DONE = "done"
    ERROR = "error"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class CallArgument:
    """One argument of a tool call, on one line; `left_out` counts the characters that are not shown.

    `size` in bytes is told of texts that are written; arguments that cannot be read stand whole under `arguments`.
    """

    name: str
    text: str
    left_out: int = 0
    size: int | None = None

    def in_words(self, *, named: bool = True) -> str:
        """Return it as a person reads it: what is left out is told in numbers."""
        size = "" if self.size is None else f" ({self.size:,} bytes)"
        more = f" (+{self.left_out:,} characters)" if self.left_out else ""
        return f"{self.name if named else ''}{size} {self.text}{more}".strip()


@dataclass(frozen=True, slots=True)
class AgentAction:
    """One tool call as the transcript shows it; `path` and `detail` on one line.

    `reason` names in the program's own words why it was not done (`outside`, `size`, `unknown tool` …), `detail` says
    what the model was told. `arguments` are what it asked for beside the path, cut.
    """

    tool: str
    path: str
    outcome: ToolOutcome
    detail: str = ""
    reason: str = ""
    arguments: tuple[CallArgument, ...] = ()

    @property
    def asked(self) -> str:
        """Return the arguments on one line."""
        return asked_in_words(self.arguments)


def asked_in_words(arguments: Sequence[CallArgument]) -> str:
    """Return arguments on one line; the parts of a list are named once."""
    names = ["", *(argument.name for argument in arguments)]
    return " · ".join(each.in_words(named=each.name != last) for last, each in zip(names, arguments, strict=False))


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One step: what the model asked for and what became of it. An event of a run, and a row of its transcript.

    `seconds` is how long it took, the model's answer included. `tokens_cached` is a part of `tokens_in`; `counted`
    tells whether the server counted the tokens, or they were estimated.
    """

    number: int
    actions: tuple[AgentAction, ...] = ()
    said: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    tokens_cached: int = 0
    counted: bool = True


@dataclass(frozen=True, slots=True)
class AgentTranscript:
    """A whole run."""

    steps: tuple[AgentStep, ...] = ()
    refusals: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def actions(self) -> tuple[AgentAction, ...]:
        """Return every tool call in order."""
        return tuple(action for step in self.steps for action in step.actions)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files that were written, edited or deleted, by path."""
        return tuple(sorted({a.path for a in self.actions if a.outcome is ToolOutcome.DONE and a.tool in CHANGING}))

    @property
    def tokens_in(self) -> int:
        """Return the tokens that were sent."""
        return sum(step.tokens_in for step in self.steps)

    @property
    def tokens_out(self) -> int:
        """Return the tokens that came back."""
        return sum(step.tokens_out for step in self.steps)

    @property
    def usage(self) -> TokenUsage:
        """Return what the server counted; unknown as soon as it did not count one step."""
        if not self.steps or not all(step.counted for step in self.steps):
            return TokenUsage()
        return TokenUsage(self.tokens_in, self.tokens_out, sum(step.tokens_cached for step in self.steps))

    def counts(self) -> dict[str, int]:
        """Return the figures that a receipt keeps."""
        return {
            "agent_steps": len(self.steps),
            "tool_calls": len(self.actions),
            "files_touched": len(self.files),
            "refused_calls": sum(self.refusals.values()),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }

    def rows(self) -> tuple[str, ...]:
        """Return one line per step for the receipt; a path is named only where there is such a file."""
        return tuple(
            f"{step.number}: {', '.join(_named(step.actions)) or 'no call'}; "
            f"{step.tokens_in} tokens sent, {step.tokens_out} received, {step.seconds:.0f} s"
            for step in self.steps
        )

    def in_words(self) -> tuple[str, ...]:
        """Return the lines that go with a proposal."""
        figures = (
            f"agent: {len(self.steps)} steps, {len(self.actions)} tool calls, "
            f"{self.tokens_in} tokens sent, {self.tokens_out} received"
        )
        touched = f"agent: changed {', '.join(self.files)}" if self.files else "agent: changed no file"
        refused = ", ".join(f"{reason} × {number}" for reason, number in sorted(self.refusals.items()))
        return (figures, touched, f"agent: refused calls: {refused}") if refused else (figures, touched)


def _named(actions: Sequence[AgentAction]) -> Iterator[str]:
    """Yield the calls of a step as its line names them; of a flood the first ones, and how many more."""
    yield from map(_row, actions[:MAX_NAMED])
    if len(actions) > MAX_NAMED:
        yield f"and {len(actions) - MAX_NAMED} more calls"


def _row(action: AgentAction) -> str:
    if action.outcome is ToolOutcome.DONE:
        return f"{action.tool} {action.path}".rstrip()
    why = f": {action.reason}" if action.reason else ""
    return f"{action.tool if action.tool in TOOLS else 'unknown tool'} ({action.outcome.value}{why})"


TOOLS = ("list", "read", "search", "write", "edit", "delete")
CHANGING = frozenset({"write", "edit", "delete"})
MAX_NAMED = 128


@dataclass(frozen=True, slots=True)
class AgentBrief:
    """What the prompt of a run is made from; all texts are data, none is an instruction.

    `status` lists the changed paths of the workspace diff; `refused` are changes a person turned down, `note` what
    the person wrote to this run. `extensions` names the folders below `extensions/`, empty when there is none.
    """

    mode: Literal["INIT", "INCREMENTAL"]
    diff_file: str
    status: tuple[str, ...]
    extensions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    note: str = ""
    max_steps: int = 0


class AgentFailed(KnownError):
    """The agent came to no usable end: a limit, or artifacts that do not hold."""
