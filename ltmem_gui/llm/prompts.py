"""Render the prompts of both phases: strict, so that a missing value is an error and never an empty gap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import jinja2

from ltmem_gui.assets import prompts_dir
from ltmem_gui.domain.agent import AgentBrief
from ltmem_gui.domain.extraction import SELF_QUESTION, ExtractionInput
from ltmem_gui.domain.hazards import one_line, visible
from ltmem_gui.llm.schema import stage_one_schema_text

MAX_STATUS_LINES = 400
_FENCE_RUN = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


class Prompts:
    """The templates of `prompts/`; nothing is escaped, since no prompt is HTML."""

    def __init__(self) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(prompts_dir()),
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, **values: object) -> str:
        """Render one template. Raises `jinja2.UndefinedError` for a value that was not given."""
        return self._environment.get_template(name).render(**values)

    def stage_one_system(self, request: ExtractionInput, *, schema_in_prompt: bool) -> str:
        """Return the instructions of Phase 1; with the schema in words for servers that take none."""
        return self.render(
            "stage_one_system.md.j2",
            self_question=SELF_QUESTION,
            session_date=session_date(request),
            thread_id=one_line(request.thread_id),
            schema_in_prompt=schema_in_prompt,
            schema_text=stage_one_schema_text(),
        )

    def stage_one_input(self, request: ExtractionInput) -> str:
        """Return the transcript of one rollout as fenced data."""
        return self.render(
            "stage_one_input.md.j2",
            self_question=SELF_QUESTION,
            thread_id=one_line(request.thread_id),
            agent=one_line(request.agent),
            cwd=one_line(request.cwd, 400) or "unknown",
            git_branch=one_line(request.git_branch or ""),
            session_date=session_date(request),
            truncated=request.truncated,
            tokens=request.tokens,
            tokens_before=request.tokens_before,
            fence=fence_for(request.transcript),
            transcript=visible(request.transcript).rstrip("\n"),
        )

    def stage_one_merge(self, parts: Sequence[str]) -> str:
        """Return the request to merge the results of a rollout's parts."""
        shown = [visible(part).strip() for part in parts]
        fence = fence_for("\n".join(shown))
        return self.render("stage_one_merge.md.j2", self_question=SELF_QUESTION, parts=shown, fence=fence)

    def consolidation_system(self, brief: AgentBrief) -> str:
        """Return the instructions of Phase 2."""
        return self.render(
            "consolidation_system.md.j2",
            self_question=SELF_QUESTION,
            mode=brief.mode,
            diff_file=brief.diff_file,
            max_steps=brief.max_steps,
            extensions=tuple(one_line(name, 100) for name in brief.extensions),
        )

    def consolidation_input(self, brief: AgentBrief) -> str:
        """Return the task of a run; what other people wrote stands in fences."""
        status = [visible(line) for line in brief.status[:MAX_STATUS_LINES]]
        refused = [visible(text).rstrip("\n") for text in brief.refused]
        note = visible(brief.note).strip()
        return self.render(
            "consolidation_input.md.j2",
            mode=brief.mode,
            diff_file=brief.diff_file,
            status=status,
            left_out=max(len(brief.status) - len(status), 0),
            refused=refused,
            note=note,
            fence=fence_for("\n".join((*status, *refused, note))),
        )


def fence_for(text: str) -> str:
    """Return a fence that no line of the text can close."""
    longest = max((len(run) for run in _FENCE_RUN.findall(text)), default=2)
    return "`" * max(3, longest + 1)


def session_date(request: ExtractionInput) -> str:
    """Return the day the session ended, UTC."""
    return datetime.fromtimestamp(request.updated_at, UTC).strftime("%Y-%m-%d")
