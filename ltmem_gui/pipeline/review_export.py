"""A review to keep or hand on: put into its form, and passed through the one choke point (D25)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.export import patch_of_decision, review_as_json, review_as_markdown
from ltmem_gui.domain.review import Review
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.pipeline.ports import Adapters, Redactor

ReviewFormat = Literal["markdown", "json", "accepted", "rejected"]

TITLES: dict[ReviewFormat, str] = {
    "markdown": "Review as Markdown",
    "json": "Review as JSON",
    "accepted": "Patch of what is accepted",
    "rejected": "Patch of what is rejected",
}
_ENDINGS: dict[ReviewFormat, str] = {
    "markdown": ".md",
    "json": ".json",
    "accepted": "-accepted.patch",
    "rejected": "-rejected.patch",
}


@dataclass(frozen=True, slots=True)
class ReviewExport:
    """A review in one form: clean text, and how many secrets were replaced in it."""

    text: str
    redactions: int


def export_name(review: Review, form: ReviewFormat) -> str:
    """Return a file name for an export."""
    return f"review-{review.plan.digest[:8]}{_ENDINGS[form]}"


def review_text(review: Review, base: Mapping[str, bytes], form: ReviewFormat) -> str:
    """Return a review in one form, not redacted yet; `base` are the files of the folder, for patches.

    Raises `StalePlan` for a patch when `base` is not what the plan was made from.
    """
    if form == "markdown":
        return review_as_markdown(review)
    if form == "json":
        return _dumped(review_as_json(review))
    decision = Decision.ACCEPT if form == "accepted" else Decision.REJECT
    return patch_of_decision(review, base, decision).decode("utf-8", "replace")


async def export_review(
    adapters: Adapters, review: Review, base: Mapping[str, bytes], form: ReviewFormat
) -> ReviewExport:
    """Return a review in one form, redacted. Raises `RedactionFailed` and what `review_text` raises."""
    if form == "json":
        # A JSON text is cleaned leaf by leaf: it stays JSON.
        clean = await adapters.offload.cpu(partial(_clean_json, adapters.redactor), review_as_json(review))
    else:
        text = await adapters.offload.thread(review_text, review, base, form)
        clean = await adapters.redact_text(text)
    return ReviewExport(clean.text, len(clean.findings))


def _clean_json(redactor: Redactor, value: object) -> Redaction:
    clean, findings = redactor.redact_json(value)
    return Redaction(_dumped(clean), findings)


def _dumped(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
