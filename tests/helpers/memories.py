"""Made-up memories of many projects, as the two kinds of provider write them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.pipeline.ports import ConsolidationRequest
from ltmem_gui.workspace.layout import render_inputs

START = 1_767_225_600  # 2026-01-01, UTC
DAY = 86_400

PROJECTS = (
    "shop-web", "billing-api", "etl-nightly", "mobile-app", "infra-terraform", "docs-site", "auth-service",
    "search-index", "design-system", "data-lake", "notifier", "cli-tools", "reporting", "ml-ranking", "gateway",
    "inventory", "crm-sync", "payments", "legacy-php", "edge-cache", "feature-flags", "support-bot", "analytics",
    "video-encoder", "geo-tiles", "import-wizard", "audit-log", "scheduler", "mailer", "admin-panel",
)  # fmt: skip
TASKS = (
    ("Add a date picker to the checkout form", "date picker, checkout, react"),
    ("Fix the flaky login test", "login, flaky test, playwright"),
    ("Speed up the nightly import", "import, batch size, postgres"),
    ("Upgrade the linter and clean up warnings", "lint, ruff, warnings"),
    ("Rotate the signing keys without downtime", "signing keys, rotation, zero downtime"),
    ("Write the migration for archived orders", "migration, alembic, orders"),
    ("Investigate the memory leak in the worker", "memory leak, worker, tracemalloc"),
    ("Translate the settings page", "i18n, settings page, locale files"),
)
PREFERENCES = (
    "use pnpm, never npm, in this repo",
    "run the tests with pytest -q before you say it is done",
    "keep commit messages in the imperative and in English",
    "never edit files below generated/ by hand",
    "always ask before you add a dependency",
    "bitte antworte auf Deutsch, Code bleibt englisch",
    "no emojis in the docs",
    "show me the diff first, then apply it",
    "prefer small pull requests with one topic each",
)
KNOWLEDGE = (
    "the staging database listens on port 5433",
    "migrations run through make migrate, not through alembic directly",
    "config/prod.yaml is generated from config/base.yaml",
    "the integration tests need docker compose up redis first",
    "feature flags live in flags.toml and are reloaded every 30 seconds",
    "the default branch is develop",
)
FAILURES = (
    "`npm install` failed with ERESOLVE; pnpm install --frozen-lockfile worked",
    "pytest tests/e2e hung without a display; xvfb-run -a pytest tests/e2e passed",
    "terraform apply timed out on the DNS module; -target=module.network first, then the rest",
    "the build failed with out of memory; NODE_OPTIONS=--max-old-space-size=4096 fixed it",
)


@dataclass(frozen=True)
class Said:
    """One statement of a session with the line it stands on."""

    section: str
    text: str
    line: int


def thread_id(number: int, at: int) -> str:
    """Return a version-7 id that sorts by time, then number."""
    return str(UUID(int=((at * 1000) << 80) | (7 << 76) | (2 << 62) | number))


def output(
    number: int,
    said: Sequence[Said],
    *,
    cwd: str = "/home/dev/shop-web",
    title: str = "Add a date picker",
    keywords: str = "date picker, checkout",
    at: int | None = None,
    cited: bool = True,
) -> StageOneOutput:
    """Return a row as the built-in extractor (`cited`) or a model writes it."""
    when = START + number * 3600 if at is None else at
    thread = thread_id(number, when)
    project = cwd.rpartition("/")[2]
    lines = ["---", f"description: {title}", f"task: {title}", f"task_group: {project}", "task_outcome: success"]
    lines += [f"cwd: {cwd}", f"keywords: {keywords}", "---", "", f"### Task 1: {title}", f"task: {title}"]
    lines += [f"task_group: {project}", "task_outcome: success"]
    labels = ("Preference signals:", "Reusable knowledge:", "Failures and how to do differently:")
    for label in labels:
        rows = [(index, item) for index, item in enumerate(said, 1) if item.section == label]
        if rows:
            lines += ["", label, *(f"- {_quoted(item, project)}" + (f" [c{i}]" if cited else "") for i, item in rows)]
    if cited:
        lines += ["", "<citation_entries>"]
        lines += [f"rollout:{thread}:{item.line}-{item.line} |note=[c{i} said]" for i, item in enumerate(said, 1)]
        lines += ["</citation_entries>", "<rollout_ids>", thread, "</rollout_ids>"]
    summary = [f"# {title}", "", f"Rollout context: codex in {cwd}", "", f"## Task 1: {title}", "Outcome: success", ""]
    summary += [f"- {item.text}" for item in said]
    return StageOneOutput(
        thread, when, "\n".join(lines) + "\n", "\n".join(summary) + "\n", "slug", when, None, None, cwd,
        f"/home/dev/.codex/sessions/rollout-{thread}.jsonl", "main",
    )  # fmt: skip


def corpus(count: int = 500, projects: int = 30, seed: int = 7) -> list[StageOneOutput]:
    """Return sessions spread over projects and days; statements recur, as people repeat themselves."""
    chance = random.Random(seed)
    rows: list[StageOneOutput] = []
    for number in range(count):
        title, keywords = chance.choice(TASKS)
        project = PROJECTS[number % projects] if number < projects else chance.choice(PROJECTS[:projects])
        said: list[Said] = []
        for label, pool, most in (
            ("Preference signals:", PREFERENCES, 2),
            ("Reusable knowledge:", KNOWLEDGE, 2),
            ("Failures and how to do differently:", FAILURES, 1),
        ):
            picked = chance.sample(pool, chance.randint(0, most))
            said += [Said(label, _varied(text, chance), 10 + 3 * len(said) + i) for i, text in enumerate(picked)]
        at = START + number * DAY * 60 // count
        rows.append(output(number, said, cwd=f"/home/dev/{project}", title=title, keywords=keywords, at=at))
    return rows


def request(
    outputs: Iterable[StageOneOutput], existing: dict[str, bytes] | None = None, **more: object
) -> ConsolidationRequest:
    """Return a consolidation request with the rendered inputs of exactly these rows."""
    rows = tuple(sorted(outputs, key=lambda row: row.thread_id))
    return ConsolidationRequest(rows, render_inputs(rows), existing or {}, **more)  # type: ignore[arg-type]


def _quoted(item: Said, project: str) -> str:
    if item.section.startswith("Preference"):
        return f'"{item.text}" → keep to this in {project}'
    return item.text if item.section.startswith("Failures") else f'"{item.text}"'


def _varied(text: str, chance: random.Random) -> str:
    if chance.random() < 0.3:
        return f"please {text}"
    return text.replace("5433", str(chance.choice((5433, 5433, 5434)))) if "5433" in text else text
