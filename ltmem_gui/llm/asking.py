"""Ask one question with a strict form for the answer, over either API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ltmem_gui.domain.providers import Rung
from ltmem_gui.llm.answers import Answered, of_chat, of_responses, whole_text
from ltmem_gui.llm.connection import Connection
from ltmem_gui.llm.schema import chat_format, responses_format
from ltmem_gui.llm.server_memory import Accepts

NO_LIMIT = (
    "the server takes no limit for the length of an answer, so that a limit of money cannot hold: "
    "clear max_cost_per_run, or choose another server"
)


@dataclass(frozen=True, slots=True)
class Question:
    """One request: `system` gives the instructions for a rung (the schema in words where the wire has none)."""

    system: Callable[[Rung], str]
    user: str
    schema: Mapping[str, Any]
    schema_name: str
    effort: str = "low"


async def ask(connection: Connection, question: Question) -> Answered:
    """Send a question and return its whole text. Raises `ProviderError` with the failure group."""
    if connection.provider.uses_responses:
        body = await connection.send("/responses", lambda accepts: _for_responses(connection, question, accepts))
        answered = of_responses(connection, body)
    else:
        body = await connection.send("/chat/completions", lambda accepts: _for_chat(connection, question, accepts))
        answered = of_chat(connection, body)
    whole_text(connection, answered)
    return answered


def _for_chat(connection: Connection, question: Question, accepts: Accepts) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": connection.provider.model,
        "messages": [
            {"role": "system", "content": question.system(accepts.rung)},
            {"role": "user", "content": question.user},
        ],
    }
    if accepts.rung is Rung.SCHEMA:
        body["response_format"] = chat_format(dict(question.schema), question.schema_name)
    elif accepts.rung is Rung.JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    if accepts.effort:
        body["reasoning_effort"] = question.effort
    if connection.provider.output_limit and accepts.limit_name:
        body[accepts.limit_name] = connection.provider.output_limit
    elif connection.provider.must_limit:
        raise connection.failure("request", NO_LIMIT)
    return body


def _for_responses(connection: Connection, question: Question, accepts: Accepts) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": connection.provider.model,
        "instructions": question.system(accepts.rung),
        "input": question.user,
        "store": False,
    }
    if accepts.rung is Rung.SCHEMA:
        body["text"] = responses_format(dict(question.schema), question.schema_name)
    elif accepts.rung is Rung.JSON_OBJECT:
        body["text"] = {"format": {"type": "json_object"}}
    if accepts.effort:
        body["reasoning"] = {"effort": question.effort}
    if connection.provider.output_limit:
        body["max_output_tokens"] = connection.provider.output_limit
    return body
