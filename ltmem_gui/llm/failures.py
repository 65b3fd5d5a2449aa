"""Name what went wrong with a model call: one failure group per kind, with the wait a server asked for.

Groups: `auth`, `model` (unknown model or address), `rate_limit`, `quota`, `too_large`, `request` (refused as it is),
`server`, `timeout`, `connection`, `refusal`, `length`, `empty`, `protocol` (no API answer), `provider` (the rest).
Nothing is tried again here: the job queue waits (mission: no hot loop). A server's words are shown on one line, cut;
before they are cut, secrets are taken out, and the key that was sent goes wherever the server repeats it.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.llm.budget import is_overflow
from ltmem_gui.llm.keys import NO_KEY
from ltmem_gui.llm.limits import retry_after

if TYPE_CHECKING:
    import openai

LONGEST_WORDS = 20_000
SHORTEST_KEY = 8
WITHHELD = "the server's words could not be checked for secrets and were withheld"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{4,64}")
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_RATE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "requests", "tokens", "slow_down"})
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


def failure(group: str, what: str, host: str, wait: int | None = None, *, key: str = "") -> ProviderError:
    """Return the error of a group; `key` is what was sent, where a server's words may repeat it."""
    said = one_line(without_secrets(what, key), 240)
    return ProviderError(said, _REMEDY.get(group, ""), host, group=group, retry_after=wait)


def of_status(error: openai.APIStatusError, host: str, now: float | None = None) -> ProviderError:
    """Name an answer with an error status."""
    status = error.status_code
    code, message = details(error)
    wait = retry_after(error.response.headers, time.time() if now is None else now)
    said = f"{status}: {message}" if message else f"status {status}"
    if asked := _request_id(error):
        # The server's own name of the request: what its support asks for. A long message must not push it out.
        said = f"{one_line(said, 160)}; request {asked}"
    if status == 402:
        return failure("quota", f"the account has no credit ({said})", host, wait)
    if status in (401, 403):
        return failure("auth", f"the server refused the key ({said})", host)
    if status == 404:
        return failure("model", f"the server does not know the model or the address ({said})", host)
    if status == 429:
        final = error.response.headers.get("x-should-retry") == "false" and code not in _RATE_CODES
        spent = final or code in _QUOTA_CODES
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


def of_client(error: Exception, host: str, now: float | None = None) -> ProviderError:
    """Name an error of the network, the client, or the form of the answer; `now` in Unix seconds."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return of_status(error, host, now)
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
    said = without_secrets(str(body.get("message") or ""), _sent_key(error))
    message = one_line(said, 200)
    figures = [f"{name}: {body[name]}" for name in ("n_prompt_tokens", "n_ctx") if isinstance(body.get(name), int)]
    return str(code), " ".join([message, *figures]).strip()


def without_secrets(text: str, key: str = "") -> str:
    """Return a server's words without secrets and without the key that was sent; fail closed."""
    from ltmem_gui.domain.redaction import redact_text

    try:
        return redact_text(without_key(text[:LONGEST_WORDS], key)).text
    except Exception:  # noqa: BLE001 - whatever went wrong, the text must not pass
        return WITHHELD


def without_key(text: str, key: str) -> str:
    """Return a text without the key that was sent, by exact match: it goes even where it looks like none."""
    if len(key) < SHORTEST_KEY or key == NO_KEY or key not in text:
        return text
    from ltmem_gui.domain.redaction import placeholder
    from ltmem_gui.domain.redaction.kinds import KNOWN_VALUE

    return text.replace(key, placeholder(KNOWN_VALUE))


def _request_id(error: openai.APIStatusError) -> str:
    """Return the id the server gave the request; anything but a plain short word is none, and so is the key sent."""
    asked, key = error.response.headers.get("x-request-id", ""), _sent_key(error)
    # A part of the key is the key as well: the length of an id is bounded, that of a key is not.
    echoed = asked in key or without_key(asked, key) != asked
    return asked if _REQUEST_ID.fullmatch(asked) and not echoed else ""


def _sent_key(error: openai.APIStatusError) -> str:
    """Return the key of the request an error answers."""
    request = getattr(error.response, "request", None)
    sent = request.headers.get("authorization", "") if request is not None else ""
    return sent.rpartition(" ")[2] if sent else ""
