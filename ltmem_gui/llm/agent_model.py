"""The consolidation agent's model behind an OpenAI-compatible server: one conversation, one request per step.

Chat Completions with tools; Responses for OpenAI itself. Nothing is stored on the server (`store` false), and nothing
but the conversation is sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltmem_gui.domain.agent import AgentBrief, AgentCall, AgentMessage, AgentReply, ToolSpec
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.llm.failures import details, failure, of_client
from ltmem_gui.llm.openai_client import Ladder, OnThread, build_client
from ltmem_gui.llm.prompts import Prompts

if TYPE_CHECKING:
    from openai import AsyncOpenAI

REASONING_EFFORT = "medium"


class OpenAIAgentModel:
    """Implement the port `AgentModel` for one server and model."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        ladder: Ladder | None = None,
        on_thread: OnThread | None = None,
        key: str = "",
    ) -> None:
        """Take the server and what runs blocking work; nothing is opened yet."""
        self._provider = provider
        self._ladder = ladder or Ladder()
        self._on_thread: OnThread = on_thread or asyncio.to_thread
        self._key = key
        self._prompts = Prompts()
        self._client: AsyncOpenAI | None = None

    @property
    def mark(self) -> ProviderMark:
        """Return the provider as plans bind it."""
        return self._provider.mark

    def opening(self, brief: AgentBrief) -> tuple[AgentMessage, ...]:
        """Return instructions and task of a run."""
        return (
            AgentMessage("system", self._prompts.consolidation_system(brief)),
            AgentMessage("user", self._prompts.consolidation_input(brief)),
        )

    async def step(self, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec]) -> AgentReply:
        """Send the conversation and return the reply. Raises `ProviderError`."""
        client = self._client
        if client is None:
            client = self._client = await self._on_thread(build_client, self._provider, self._key)
        while True:
            accepts = self._ladder.of(self._provider)
            try:
                return await self._once(client, messages, tools, effort=accepts.effort)
            except ProviderError:
                raise
            except Exception as error:
                if not (accepts.effort and _refuses_effort(error)):
                    raise of_client(error, self._provider.host) from error
                self._ladder.learn(self._provider, replace(accepts, effort=False))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _once(
        self, client: AsyncOpenAI, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec], *, effort: bool
    ) -> AgentReply:
        if self._provider.uses_responses:
            return await _by_responses(client, self._provider, messages, tools, effort=effort)
        return await _by_chat(client, self._provider, messages, tools, effort=effort)


async def _by_chat(
    client: AsyncOpenAI,
    provider: ProviderSettings,
    messages: Sequence[AgentMessage],
    tools: Sequence[ToolSpec],
    *,
    effort: bool,
) -> AgentReply:
    from openai.types.chat import ChatCompletion

    body: dict[str, Any] = {
        "model": provider.model,
        "messages": [_chat_message(message) for message in messages],
        "tools": [_chat_tool(tool) for tool in tools],
    }
    if effort:
        body["reasoning_effort"] = REASONING_EFFORT
    # Posted as it is: the client's typed method walks through the whole conversation again with each step.
    reply: Any = await client.post("/chat/completions", cast_to=ChatCompletion, body=body)
    choices: Any = getattr(reply, "choices", None)
    if isinstance(reply, str) or choices is None:
        raise failure("protocol", "the answer is not what the API promises", provider.host)
    if not choices or choices[0].message is None:
        raise failure("empty", "the server answered without any choice", provider.host)
    choice = choices[0]
    message = choice.message
    if getattr(message, "refusal", None) or choice.finish_reason == "content_filter":
        raise failure("refusal", f"the model refused: {message.refusal or 'content filter'}", provider.host)
    calls = tuple(
        AgentCall(str(call.id or f"call_{number}"), str(call.function.name or ""), str(call.function.arguments or ""))
        for number, call in enumerate(message.tool_calls or [])
        if getattr(call, "function", None) is not None
    )
    if not calls and choice.finish_reason == "length":
        raise failure("length", "the answer was cut at the token limit", provider.host)
    usage = reply.usage
    counted = (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)
    return AgentReply(str(message.content or ""), calls, *counted)


def _chat_message(message: AgentMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _echo(call)}}
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _chat_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


async def _by_responses(
    client: AsyncOpenAI,
    provider: ProviderSettings,
    messages: Sequence[AgentMessage],
    tools: Sequence[ToolSpec],
    *,
    effort: bool,
) -> AgentReply:
    from openai.types.responses import Response

    offered: list[dict[str, Any]] = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "strict": False,
        }
        for tool in tools
    ]
    body: dict[str, Any] = {
        "model": provider.model,
        "instructions": "\n\n".join(message.text for message in messages if message.role == "system"),
        "input": [item for message in messages if message.role != "system" for item in _items(message)],
        "tools": offered,
        "store": False,
    }
    if effort:
        body["reasoning"] = {"effort": REASONING_EFFORT}
    reply: Any = await client.post("/responses", cast_to=Response, body=body)
    if isinstance(reply, str) or not isinstance(getattr(reply, "output", None), list):
        raise failure("protocol", "the answer is not what the API promises", provider.host)
    if reply.status in ("failed", "cancelled"):
        said = getattr(reply.error, "message", "") or reply.status
        raise failure("server", f"the server gave up ({said})", provider.host)
    calls = tuple(
        AgentCall(str(item.call_id), str(item.name), str(item.arguments or ""))
        for item in reply.output
        if getattr(item, "type", "") == "function_call"
    )
    parts = [part for item in reply.output for part in (getattr(item, "content", None) or [])]
    refusals = [part.refusal for part in parts if getattr(part, "refusal", None)]
    if refusals:
        raise failure("refusal", f"the model refused: {refusals[0]}", provider.host)
    if reply.status == "incomplete" and not calls:
        why = getattr(reply.incomplete_details, "reason", "") or "no reason given"
        raise failure(
            "refusal" if why == "content_filter" else "length", f"the answer is incomplete ({why})", provider.host
        )
    text = "".join(part.text for part in parts if getattr(part, "type", "") == "output_text")
    usage = reply.usage
    counted = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
    return AgentReply(text, calls, *counted)


def _items(message: AgentMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
    items: list[dict[str, Any]] = [{"role": message.role, "content": message.text}] if message.text else []
    items += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _echo(call)}
        for call in message.calls
    ]
    return items


def _echo(call: AgentCall) -> str:
    """Return the arguments as they go back to the server: some fail on what is no JSON object."""
    try:
        whole = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return call.arguments if whole else json.dumps({"malformed": one_line(call.arguments, 200)})


def _refuses_effort(error: Exception) -> bool:
    import openai

    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return False
    code, message = details(error)
    parameter = str(getattr(error, "param", None) or "")
    return "reasoning" in f"{code} {message} {parameter}".lower()
