"""A loopback server that speaks Chat Completions and Responses over real sockets, as strictly as OpenAI does.

It records every request, checks strict schemas, answers with tools where they are offered, and plays faults: either by
`plan("429", "ok", …)`, one per request, or for all requests of a model whose name ends in `:<scenario>`. What shall
happen while calls are in flight is made so by a gate, `holds=8` or `hold()`, never by a latency.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.helpers.waiting import PATIENCE_SECONDS

EMPTY = {"raw_memory": "", "rollout_summary": "", "rollout_slug": ""}
MEMORY = {
    "raw_memory": "---\ndescription: x\n---\n\n### Task 1: x\ntask: x\n",
    "rollout_summary": "# It was done\n",
    "rollout_slug": "it-was-done",
}


@dataclass(frozen=True)
class ToolCall:
    """What the model asks a tool to do; arguments given as text go out as they are, JSON or not."""

    name: str
    arguments: dict[str, Any] | str
    call_id: str = "call_1"


@dataclass(frozen=True)
class Recorded:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """Return everything that was said to the model."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def system(self) -> str:
        messages = self.body.get("messages")
        return messages[0]["content"] if messages else str(self.body.get("instructions") or "")

    @property
    def user(self) -> str:
        messages = self.body.get("messages")
        return messages[-1]["content"] if messages else str(self.body.get("input") or "")


Answering = Callable[[Recorded], "str | list[ToolCall]"]


def remember_rules(request: Recorded) -> str:
    """Answer like a sensible model: a memory where somebody says "always" or "never", nothing elsewhere."""
    material = request.user.lower()
    return json.dumps(MEMORY if "always" in material or "never" in material else EMPTY)


@dataclass
class ModelServer:
    """The server's state; `url` is the base URL a client is given."""

    url: str = ""
    latency: float = 0.0
    """Seconds before each answer, for figures alone."""
    holds: int = 0
    """Nobody is answered before this many requests were in flight at once."""
    held: bool = False
    answer: Answering = remember_rules
    key: str = ""
    echo: str = ""
    """What the `echo-…` scenarios say, beside the key that was sent."""
    context_tokens: int = 0
    names_limit: bool = True
    """Whether a refusal of too much text says how much would do."""
    accepts: frozenset[str] = frozenset({"json_schema", "json_object", "reasoning"})
    refuses: frozenset[str] = frozenset()
    """Names of parameters the server does not know."""
    models: tuple[str, ...] | None = ("small", "large")
    """What is listed; None for a list that cannot be read."""
    headers: dict[str, str] = field(default_factory=dict)
    """What every answer to a POST carries, e.g. what is left of the limits."""
    usage: tuple[int, int, int] | None = (120, 30, 0)
    """Tokens sent, received, and sent but cached; None for a server that does not count."""
    requests: list[Recorded] = field(default_factory=list)
    too_long: list[Recorded] = field(default_factory=list)
    """The requests that were refused as too much text; they are in `requests` too."""
    in_flight: int = 0
    most_in_flight: int = 0
    planned: deque[str] = field(default_factory=deque)
    moved: threading.Condition = field(default_factory=threading.Condition)
    """Notified when a request came, when the gate was opened, and when the server ended."""
    complaints: list[str] = field(default_factory=list)
    """What fails the test at its end: requests that were held and never released."""
    stop: Callable[[], None] = lambda: None
    """End the server for good: it takes no connection any more, and open ones are reset."""
    gone: bool = False

    def plan(self, *scenarios: str) -> None:
        """Play these scenarios, one per request; afterwards `ok`."""
        self.planned.extend(scenarios)

    def hold(self) -> None:
        """Answer nobody from now on, until `release`; who is still held when the server ends is reset."""
        with self.moved:
            self.held = True

    def release(self) -> None:
        """Answer again."""
        with self.moved:
            self.held = False
            self.moved.notify_all()

    def end(self) -> None:
        """Let go of everybody who is held."""
        with self.moved:
            self.gone = True
            self.moved.notify_all()

    @property
    def posts(self) -> list[Recorded]:
        return [request for request in self.requests if request.method == "POST"]


@contextmanager
def model_server(**options: Any) -> Iterator[ModelServer]:
    """Run a server on a free loopback port until the block ends."""
    state = ModelServer(**options)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(state))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()

    def stop() -> None:
        state.end()
        server.shutdown()
        server.server_close()

    state.stop = stop
    try:
        yield state
    finally:
        state.end()
        server.shutdown()
        server.server_close()
        thread.join()
    assert not state.complaints, state.complaints


def schema_problem(schema: Any, path: str = "schema") -> str:
    """Return what OpenAI would refuse in a strict schema, empty when it is fine."""
    if not isinstance(schema, dict):
        return f"{path} is no object"
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return f"Invalid schema: {path}: 'additionalProperties' is required to be supplied and to be false"
        if sorted(schema.get("required", [])) != sorted(properties):
            return f"Invalid schema: {path}: 'required' must be an array including every key"
        for name, part in properties.items():
            problem = schema_problem(part, f"{path}.{name}")
            if problem:
                return problem
    if "items" in schema:
        return schema_problem(schema["items"], f"{path}[]")
    return ""


class _Refusal(Exception):
    def __init__(
        self, status: int, message: str, code: str = "invalid_request_error", param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {
            "error": {"message": message, "type": "invalid_request_error", "code": code, "param": param or None}
        }


def _handler_of(state: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_state = state

    return Handler


class _Handler(BaseHTTPRequestHandler):
    server_state: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the test output clean."""

    def do_GET(self) -> None:
        state = self.server_state
        state.requests.append(Recorded("GET", self.path, dict(self.headers), {}))
        if state.key and self.headers.get("authorization") != f"Bearer {state.key}":
            self._send(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
        elif self.path == "/v1/models":
            names = state.models
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in names or ()]
            self._send(200, {"object": "list", "data": data if names is not None else "none"})
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        state = self.server_state
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        request = Recorded("POST", self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        with state.moved:
            state.requests.append(request)
            state.in_flight += 1
            state.most_in_flight = max(state.most_in_flight, state.in_flight)
            state.moved.notify_all()
            model = str(body.get("model", ""))
            scenario = state.planned.popleft() if state.planned else model.partition(":")[2] or "ok"
        try:
            time.sleep(state.latency)
            self._wait_at_the_gate()
            self._play(scenario, request)
        except _Refusal as refusal:
            self._send(refusal.status, refusal.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with state.moved:
                state.in_flight -= 1

    def _wait_at_the_gate(self) -> None:
        """Hold the request as long as the test wants it held."""
        state = self.server_state

        def opened() -> bool:
            return state.gone or not (state.held or state.most_in_flight < state.holds)

        with state.moved:
            if not state.moved.wait_for(opened, PATIENCE_SECONDS):
                wanted = f"{state.holds} requests at once" if state.holds else "a release"
                came = f"{state.most_in_flight} were in flight at once"
                state.complaints.append(f"waited {PATIENCE_SECONDS:g} s for {wanted}; {came}")
                raise _Refusal(500, state.complaints[-1], "server_error")

    def _play(self, scenario: str, request: Recorded) -> None:
        state = self.server_state
        fault = _FAULTS.get(scenario)
        if state.gone:
            self._drop()
        elif fault is not None:
            status, headers, body = fault
            self._send(status, body, headers)
        elif scenario == "echo-401":
            self._send(401, _error(f"Incorrect API key provided: {self._echo(request)}", "invalid_api_key"))
        elif scenario == "drop":
            self._drop()
        elif scenario == "slow":
            with state.moved:
                state.moved.wait_for(lambda: state.gone)
            self._drop()
        elif scenario == "cut":
            self._cut(request)
        else:
            self._check(request)
            answered = self._answered(scenario, request)
            if state.gone:
                self._drop()
            else:
                self._send(200, answered)

    def _check(self, request: Recorded) -> None:
        """Refuse what OpenAI, or a poorer server, would refuse."""
        state, body = self.server_state, request.body
        if state.key and request.headers.get("authorization") != f"Bearer {state.key}":
            raise _Refusal(401, "Incorrect API key provided", "invalid_api_key")
        if ("reasoning" in body or "reasoning_effort" in body) and "reasoning" not in state.accepts:
            raise _Refusal(400, "Unrecognized request argument: reasoning_effort", param="reasoning_effort")
        for name in state.refuses & body.keys():
            raise _Refusal(400, f"Unsupported parameter: {name}", "unsupported_parameter", name)
        form = body.get("response_format") or (body.get("text") or {}).get("format") or {}
        kind = form.get("type", "text")
        if kind != "text" and kind not in state.accepts:
            raise _Refusal(400, f"response_format of type {kind} is not supported", param="response_format")
        if kind == "json_schema":
            inner = form if "schema" in form else form.get("json_schema", {})
            problem = "" if inner.get("strict") is True and inner.get("name") else "strict and name are required"
            problem = problem or schema_problem(inner.get("schema"))
            if problem:
                raise _Refusal(400, problem, "invalid_json_schema", "response_format")
        tokens = len(json.dumps(body, ensure_ascii=False).encode()) // 4
        if state.context_tokens and tokens > state.context_tokens:
            state.too_long.append(request)
            message = (
                f"This model's maximum context length is {state.context_tokens} tokens. "
                f"However, your messages resulted in {tokens} tokens."
            )
            said = message if state.names_limit else "The prompt is too long."
            raise _Refusal(400, said, "context_length_exceeded", "messages")

    def _answered(self, scenario: str, request: Recorded) -> dict[str, Any]:
        answer = _TEXTS.get(scenario) or self.server_state.answer(request)
        if scenario == "echo-field":
            answer = json.dumps({**MEMORY, self._echo(request): 1})
        if scenario == "echo-refusal":
            scenario = f"refusal: I cannot keep {self._echo(request)}"
        counted = self.server_state.usage
        if request.path.endswith("/responses"):
            return _responses_body(scenario, request, answer) | {"usage": _usage(counted, "input", "output")}
        if not request.path.endswith("/chat/completions"):
            raise _Refusal(404, "no such path")
        return _chat_body(scenario, request, answer) | {"usage": _usage(counted, "prompt", "completion")}

    def _cut(self, request: Recorded) -> None:
        data = json.dumps(self._answered("ok", request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        self._drop()

    def _drop(self) -> None:
        """Reset the connection, as a crashed server does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _echo(self, request: Recorded) -> str:
        """Return what a careless server repeats: the key that was sent, and a secret of somebody's."""
        return f"{request.headers.get('authorization', '').rpartition(' ')[2]}, you sent {self.server_state.echo}"

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        html = isinstance(body, str)
        data = body.encode() if html else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "text/html" if html else "application/json")
        self.send_header("content-length", str(len(data)))
        limits = self.server_state.headers if self.command == "POST" else {}
        for name, value in {**limits, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def finish(self) -> None:
        """End the connection, also one that was reset on purpose."""
        try:
            super().finish()
        except (OSError, ValueError):
            self.close_connection = True


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "code": code, "param": None}}


_FAULTS: dict[str, tuple[int, dict[str, str], Any]] = {
    "429": (429, {"retry-after": "7"}, _error("Rate limit reached", "rate_limit_exceeded")),
    # two hours after the day the tests stand still at
    "429-date": (429, {"retry-after": "Thu, 28 May 2026 22:26:40 GMT"}, _error("Rate limit reached", "slow_down")),
    "429-final": (429, {"x-should-retry": "false"}, _error("Rate limit reached", "rate_limit_exceeded")),
    "429-quota": (429, {}, _error("You exceeded your current quota", "insufficient_quota")),
    "429-long": (429, {"retry-after": "7200"}, _error("Rate limit reached", "rate_limit_exceeded")),
    "429-mad": (429, {"retry-after": "inf"}, _error("Rate limit reached", "rate_limit_exceeded")),
    "429-never": (429, {"retry-after": "99999999999"}, _error("Rate limit reached", "rate_limit_exceeded")),
    "402": (402, {}, _error("Insufficient Balance", "invalid_request_error")),
    "429-ms": (429, {"retry-after-ms": "1500"}, _error("Rate limit reached", "rate_limit_exceeded")),
    "quota": (429, {"x-should-retry": "false"}, _error("You exceeded your current quota", "insufficient_quota")),
    "500": (500, {}, _error("The server had an error", "server_error")),
    "503": (503, {"retry-after": "30"}, _error("overloaded", "server_error")),
    "html-502": (502, {}, "<html><body><h1>502 Bad Gateway</h1></body></html>"),
    "html-200": (200, {}, "<html><body>login</body></html>"),
    "401": (401, {}, _error("Incorrect API key provided", "invalid_api_key")),
    "403": (403, {}, _error("not allowed", "permission_denied")),
    "404": (404, {}, _error("The model does not exist", "model_not_found")),
    "413": (413, {}, _error("too large", "request_too_large")),
    "400": (400, {}, _error("temperature out of range", "invalid_request_error")),
    "redirect": (307, {"location": "http://127.0.0.1:9/v1/chat/completions"}, {}),
    "wrong-shape": (200, {}, {"hello": "world"}),
}

_TEXTS = {
    "bad-json": '{"raw_memory": "x", ',
    "extra-field": json.dumps({**MEMORY, "confidence": 0.9}),
    "missing-field": json.dumps({"raw_memory": "x", "rollout_summary": "y"}),
    "fenced": f"```json\n{json.dumps(MEMORY)}\n```\nHope this helps!",
    "no-op": json.dumps(EMPTY),
}


def _usage(counted: tuple[int, int, int] | None, sent: str, received: str) -> dict[str, Any] | None:
    if counted is None:
        return None
    into, out, cached = counted
    return {
        f"{sent}_tokens": into,
        f"{received}_tokens": out,
        "total_tokens": into + out,
        f"{sent}_tokens_details": {"cached_tokens": cached},
        f"{received}_tokens_details": {"reasoning_tokens": 0},
    }


def _raw(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _chat_body(scenario: str, request: Recorded, answer: str | list[ToolCall]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    finish = "stop"
    if isinstance(answer, str):
        message["content"] = answer
    else:
        finish = "tool_calls"
        message["tool_calls"] = [
            {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": _raw(c.arguments)}}
            for c in answer
        ]
    if scenario.startswith("refusal"):
        message.update(content=None, refusal=scenario.partition(": ")[2] or "I cannot help with that.")
    if scenario == "length":
        message["content"], finish = '{"raw_memory": "cut', "length"
    if scenario == "null":
        message["content"] = None
    choices = [] if scenario == "no-choices" else [{"index": 0, "message": message, "finish_reason": finish}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": request.body["model"],
        "choices": choices,
    }


def _responses_body(scenario: str, request: Recorded, answer: str | list[ToolCall]) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    status, incomplete = "completed", None
    if isinstance(answer, str):
        part: dict[str, Any] = {"type": "output_text", "text": answer, "annotations": []}
        if scenario.startswith("refusal"):
            part = {"type": "refusal", "refusal": scenario.partition(": ")[2] or "I cannot help with that."}
        output.append({"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]})
    else:
        output += [
            {
                "type": "function_call",
                "id": f"f_{c.call_id}",
                "call_id": c.call_id,
                "name": c.name,
                "arguments": _raw(c.arguments),
                "status": "completed",
            }
            for c in answer
        ]
    if scenario == "length":
        status, incomplete = "incomplete", {"reason": "max_output_tokens"}
    if scenario == "filtered":
        status, incomplete = "incomplete", {"reason": "content_filter"}
    if scenario in ("no-choices", "null"):
        output = []
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": request.body["model"],
        "status": "failed" if scenario == "failed" else status,
        "error": {"code": "server_error", "message": "it broke"} if scenario == "failed" else None,
        "incomplete_details": incomplete,
        "output": output,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
