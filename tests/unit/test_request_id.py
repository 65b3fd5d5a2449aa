"""A server's own name of a refused request stands in the reason, and nothing but a plain word does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import openai
import pytest

from ltmem_gui.llm.failures import of_status


def _said(header: str | None, message: str = "slow down", status: int = 429) -> str:
    headers = {} if header is None else {"x-request-id": header}
    request = SimpleNamespace(headers={})
    response: Any = SimpleNamespace(status_code=status, headers=headers, request=request)
    error = openai.APIStatusError(message, response=response, body={"error": {"message": message}})
    return of_status(error, "models.example").what


def test_the_id_is_named_also_beside_a_long_message() -> None:
    assert _said("req_8f3a-1") == "too many requests (429: slow down; request req_8f3a-1)"
    assert _said("req_8f3a-1", "long words " * 60, 500).endswith("; request req_8f3a-1)")


@pytest.mark.parametrize("header", [None, "", "a", "two words", "x" * 65, "<b>bold</b>"])
def test_anything_else_is_no_id(header: str | None) -> None:
    assert "request " not in _said(header).replace("requests", "")


@pytest.mark.parametrize("echo", ["Zk3qqqqq7hTgPwLm92xVb", "id-Zk3qqqqq7hTgPwLm92xVb", "Zk3qqqqq7hTgPw"])
def test_the_key_that_was_sent_is_no_id(echo: str) -> None:
    key = "Zk3qqqqq7hTgPwLm92xVb"
    request = SimpleNamespace(headers={"authorization": f"Bearer {key}"})
    for status in (400, 401, 500):
        response: Any = SimpleNamespace(status_code=status, headers={"x-request-id": echo}, request=request)
        error = openai.APIStatusError("no", response=response, body={"error": {"message": "no"}})
        said = of_status(error, "models.example").what
        assert echo not in said
        assert "; request" not in said
