"""Read the answers of Chat Completions and Responses: text, tool calls, tokens, and how they ended.

An answer is a server's word: every part may be missing or of another kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ltmem_gui.domain.agent import AgentCall
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.llm.connection import Connection


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back; `cut` says why an answer is not whole, empty where it is."""

    text: str
    usage: TokenUsage
    calls: tuple[AgentCall, ...] = ()
    cut: str = ""


def of_chat(connection: Connection, body: dict[str, Any]) -> Answered:
    """Read an answer of Chat Completions. Raises `ProviderError`: `protocol`, `empty`, `refusal`."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        raise connection.failure("protocol", "the answer is not what the API promises")
    usage = _usage(body, "prompt_tokens", "completion_tokens")
    choice = next(_objects(choices), {})
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _billed(connection.failure("empty", "the server answered without any choice"), usage)
    finish = choice.get("finish_reason")
    refusal = message.get("refusal")
    if refusal or finish == "content_filter":
        raise _billed(connection.failure("refusal", f"the model refused: {refusal or 'content filter'}"), usage)
    calls = tuple(
        _call(connection, _text(call.get("id")) or f"call_{number}", asked)
        for number, call in enumerate(_objects(message.get("tool_calls")))
        if isinstance(asked := call.get("function"), dict)
    )
    cut = "the answer was cut at the token limit" if finish == "length" else ""
    return Answered(connection.without_key(_text(message.get("content"))), usage, calls, cut)


def of_responses(connection: Connection, body: dict[str, Any]) -> Answered:
    """Read an answer of Responses. Raises `ProviderError`: `protocol`, `server`, `refusal`."""
    output, status = body.get("output"), body.get("status")
    if not isinstance(output, list):
        raise connection.failure("protocol", "the answer is not what the API promises")
    usage = _usage(body, "input_tokens", "output_tokens")
    if status in ("failed", "cancelled"):
        said = _text(_object(body.get("error")).get("message")) or status
        raise _billed(connection.failure("server", f"the server gave up ({said})"), usage)
    items = list(_objects(output))
    parts = [part for item in items for part in _objects(item.get("content"))]
    refusals = [part["refusal"] for part in parts if part.get("refusal")]
    if refusals:
        raise _billed(connection.failure("refusal", f"the model refused: {refusals[0]}"), usage)
    cut = ""
    if status == "incomplete":
        why = _text(_object(body.get("incomplete_details")).get("reason")) or "no reason given"
        cut = f"the answer is incomplete ({why})"
        if why == "content_filter":
            raise _billed(connection.failure("refusal", cut), usage)
    calls = tuple(
        _call(connection, _text(item.get("call_id")), item) for item in items if item.get("type") == "function_call"
    )
    text = "".join(_text(part.get("text")) for part in parts if part.get("type") == "output_text")
    return Answered(connection.without_key(text), usage, calls, cut)


def whole_text(connection: Connection, answered: Answered) -> str:
    """Return the text of an answer that must be whole. Raises `ProviderError`: `length`, `empty`."""
    if answered.cut:
        raise _billed(connection.failure("length", answered.cut), answered.usage)
    if not answered.text:
        raise _billed(connection.failure("empty", "the server answered without text"), answered.usage)
    return answered.text


def whole_calls(connection: Connection, answered: Answered) -> tuple[AgentCall, ...]:
    """Return the calls of an answer; one that was cut before any is a failure. Raises `ProviderError`: `length`."""
    if answered.cut and not answered.calls:
        raise _billed(connection.failure("length", answered.cut), answered.usage)
    return answered.calls


def _call(connection: Connection, call_id: str, asked: dict[str, Any]) -> AgentCall:
    return AgentCall(call_id, _text(asked.get("name")), connection.without_key(_text(asked.get("arguments"))))


def _billed(error: ProviderError, usage: TokenUsage) -> ProviderError:
    """Keep with a failure the tokens it took all the same."""
    return replace(error, usage=usage)


def _usage(body: dict[str, Any], sent: str, received: str) -> TokenUsage:
    usage = _object(body.get("usage"))
    # Chat Completions and Responses name the details after the count they belong to.
    into, out = _object(usage.get(f"{sent}_details")), _object(usage.get(f"{received}_details"))
    return TokenUsage(
        _count(usage.get(sent)),
        _count(usage.get(received)),
        _count(into.get("cached_tokens")),
        _count(out.get("reasoning_tokens")),
    )


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return value


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> Iterator[dict[str, Any]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
