"""The consolidation agent's model behind an OpenAI-compatible server: one conversation, one request per step.

Chat Completions with tools; Responses for OpenAI itself. Nothing is stored on the server (`store` false), and nothing
but the conversation is sent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ltmem_gui.domain.agent import AgentBrief, AgentCall, AgentMessage, AgentReply, ToolSpec
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.llm.answers import of_chat, of_responses, whole_calls
from ltmem_gui.llm.server_memory import Accepts
from ltmem_gui.llm.server_side import ServerSide

REASONING_EFFORT = "medium"


class OpenAIAgentModel(ServerSide):
    """Implement the port `AgentModel` for one server and model."""

    def opening(self, brief: AgentBrief) -> tuple[AgentMessage, ...]:
        """Return instructions and task of a run."""
        return (
            AgentMessage("system", self._prompts.consolidation_system(brief)),
            AgentMessage("user", self._prompts.consolidation_input(brief)),
        )

    async def step(self, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec]) -> AgentReply:
        """Send the conversation and return the reply. Raises `ProviderError`."""
        connection, model = self._connection, self._provider.model
        if self._provider.uses_responses:
            body = await connection.send("/responses", lambda accepts: _for_responses(model, messages, tools, accepts))
            answered = of_responses(connection, body)
        else:
            body = await connection.send(
                "/chat/completions", lambda accepts: _for_chat(model, messages, tools, accepts)
            )
            answered = of_chat(connection, body)
        calls = whole_calls(connection, answered)
        usage = answered.usage
        return AgentReply(answered.text, calls, usage.input, usage.output, usage.cached)


def _for_chat(
    model: str, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec], accepts: Accepts
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [_chat_message(message) for message in messages],
        "tools": [_chat_tool(tool) for tool in tools],
    }
    if accepts.effort:
        body["reasoning_effort"] = REASONING_EFFORT
    return body


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


def _for_responses(
    model: str, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec], accepts: Accepts
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "instructions": "\n\n".join(message.text for message in messages if message.role == "system"),
        "input": [item for message in messages if message.role != "system" for item in _items(message)],
        "tools": [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in tools
        ],
        "store": False,
    }
    if accepts.effort:
        body["reasoning"] = {"effort": REASONING_EFFORT}
    return body


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
