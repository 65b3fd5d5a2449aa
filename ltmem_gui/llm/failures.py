"""Name what went wrong with a model call: one failure group per kind, with the wait a server asked for.

Groups: `auth`, `model` (unknown model or address), `rate_limit`, `quota`, `too_large`, `request` (refused as it is),
`server`, `timeout`, `connection`, `refusal`, `length`, `empty`, `protocol` (no API answer), `provider` (the rest).
Nothing is tried again here: the job queue waits (mission: no hot loop). A server's words are shown on one line, cut.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.llm.budget import is_overflow

if TYPE_CHECKING:
    import openai

MAX_WAIT_SECONDS = 86_400
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_REMEDY = {
    "auth": "check the key and what it may use",
    "model": "check the address and the model's name; the connection test lists what the server has",
    "rate_limit": "it is tried again after the wait",
    "quota": "the account has no credit left; nothing is sent until you run it again",
    "too_large": "split the session, or choose a model with a larger context",
    "request": "the server refuses the request as it is; run the connection test",
    "server": "it is tried again after the delay",
    "timeout": "it is tried again after the delay; raise request_timeout_seconds for slow models",
    "connection": "check that the server runs and the address is right",
    "protocol": "the address answers, but not as an OpenAI-compatible server",
}


def failure(group: str, what: str, host: str, retry_after: int | None = None) -> ProviderError:
    """Return the error of a group."""
    return ProviderError(one_line(what, 240), _REMEDY.get(group, ""), host, group=group, retry_after=retry_after)


def of_status(error: openai.APIStatusError, host: str, now: float | None = None) -> ProviderError:
    """Name an answer with an error status."""
    status = error.status_code
    code, message = details(error)
    wait = retry_after(error.response.headers, time.time() if now is None else now)
    said = f"{status}: {message}" if message else f"status {status}"
    if status in (401, 403):
        return failure("auth", f"the server refused the key ({said})", host)
    if status == 404:
        return failure("model", f"the server does not know the model or the address ({said})", host)
    if status == 429:
        spent = code in _QUOTA_CODES or error.response.headers.get("x-should-retry") == "false"
        if spent:
            return failure("quota", f"the quota is used up ({said})", host, wait)
        return failure("rate_limit", f"too many requests ({said})", host, wait)
    if status == 413 or (status in (400, 422) and is_overflow(code, message)):
        return failure("too_large", f"the session does not fit the model ({said})", host)
    if status >= 500 or status in (408, 409, 425):
        return failure("server", f"the server failed ({said})", host, wait)
    if status < 400:
        return failure("protocol", f"the server sends elsewhere (status {status}); redirects are not followed", host)
    return failure("request", f"the server refused the request ({said})", host)


def of_client(error: Exception, host: str) -> ProviderError:
    """Name an error that carries no status: of the network, the client, or the form of the answer."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return of_status(error, host)
    if isinstance(error, openai.APITimeoutError):
        return failure("timeout", "the server did not answer in time", host)
    if isinstance(error, openai.APIConnectionError):
        cause = type(error.__cause__).__name__ if error.__cause__ else "no connection"
        return failure("connection", f"the connection failed ({cause})", host)
    if isinstance(error, openai.APIResponseValidationError | ValueError):
        return failure("protocol", "the answer is not what the API promises", host)
    return failure("provider", f"the client failed ({type(error).__name__})", host)


def details(error: openai.APIStatusError) -> tuple[str, str]:
    """Return (code, message) of an error body; an HTML page has neither."""
    body: Any = error.body
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return "", ""
    code = body.get("code") or body.get("type") or ""
    message = one_line(str(body.get("message") or ""), 200)
    figures = [f"{name}: {body[name]}" for name in ("n_prompt_tokens", "n_ctx") if isinstance(body.get(name), int)]
    return str(code), " ".join([message, *figures]).strip()


def retry_after(headers: Mapping[str, str], now: float) -> int | None:
    """Return the wait a server asked for, in seconds rounded up; None when it named none or nonsense."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return _bounded(seconds)
    if not text:
        return None
    try:
        return _bounded(parsedate_to_datetime(text).timestamp() - now)
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and value == value and value >= 0 else None


def _bounded(seconds: float) -> int:
    return int(min(max(-(-seconds // 1), 0), MAX_WAIT_SECONDS))
