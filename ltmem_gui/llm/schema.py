"""The schema that goes over the wire: strict, all fields required, nothing else allowed."""

from __future__ import annotations

import json
from typing import Any

from ltmem_gui.assets import prompts_dir

STAGE_ONE_NAME = "stage_one_output"


def stage_one_schema() -> dict[str, Any]:
    """Return the JSON schema of a Phase-1 reply."""
    return json.loads(stage_one_schema_text())


def stage_one_schema_text() -> str:
    """Return the schema as text, for servers that take it in the prompt only."""
    return (prompts_dir() / "stage_one.schema.json").read_text("utf-8").strip()


def chat_format(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Return `response_format` of Chat Completions."""
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def responses_format(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Return `text` of Responses: flat, without an inner `json_schema`."""
    return {"format": {"type": "json_schema", "name": name, "strict": True, "schema": schema}}
