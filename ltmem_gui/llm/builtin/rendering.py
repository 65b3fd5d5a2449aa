"""Write what was found in the artifact schema (reference §8.1, §8.2); every bullet quotes the rollout and is cited.

Form of the raw memory, for whoever reads it back:

- front matter with `description`, `task`, `task_group`, `task_outcome`, `cwd`, `keywords`, in this order;
- `### Task <n>: <name>` blocks with `task:`, `task_group:`, `task_outcome:` and the sub-sections
  `Preference signals:`, `Reusable knowledge:`, `Failures and how to do differently:` that have bullets;
- each bullet is one line, `- <text> [c<k>]`; `<text>` is `"<quotation>"`, a signal continues `→ <implication>`;
- at the end one `<citation_entries>` block with a line `rollout:<thread id>:<start>-<end> |note=[c<k> <kind>]` per
  bullet, then `<rollout_ids>` with the thread id.

The summary cites by number, `… [k]`, and lists `[k] rollout:<thread id>:<start>-<end>` under `References`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ltmem_gui.domain.citations import defuse
from ltmem_gui.domain.extraction import Candidate, ExtractionInput
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.llm.builtin.lexicon import phrases
from ltmem_gui.llm.builtin.outcome import Task, TaskOutcome
from ltmem_gui.llm.builtin.sentences import own_words

MAX_TITLE = 80
MAX_TEXT = 480
MAX_KEYWORDS = 10
SLUG_LENGTH = 60

SIGNALS = "Preference signals:"
KNOWLEDGE = "Reusable knowledge:"
FAILURES = "Failures and how to do differently:"
_SECTION_OF = {"preference": SIGNALS, "correction": SIGNALS, "decision": SIGNALS, "failure-fix": FAILURES}
_TERM = re.compile(r"`([^`\n]{2,40})`|((?:[\w.@-]+/)+[\w.@-]+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b\w+(?:[._-]\w+)+\b)")
_WORDS = re.compile(r"[^\W_]+")
_STOP = phrases(
    """
the|a|an|and|or|to|of|in|on|for|with|from|at|by|is|are|be|it|this|that|please|can|you|could|we|me|my
i|do|not|all|why|what|how|und|der|die|das|ein|eine|bitte|mit|für|von|auf|den|im|el|la|los|las|un|una
de|en|con|por|para|que|y|favor
"""
)


@dataclass(frozen=True, slots=True)
class Noted:
    """A proposed statement with the last line it rests on."""

    candidate: Candidate
    end: int

    @property
    def start(self) -> int:
        """Return the first line it rests on."""
        return self.candidate.line or 0


@dataclass(frozen=True, slots=True)
class TaskNotes:
    """One task with its label and what was learnt in it, numbered from `first` over the whole rollout."""

    task: Task
    outcome: TaskOutcome
    notes: tuple[Noted, ...]
    first: int

    @property
    def title(self) -> str:
        """Return the request in one line: the person's own words."""
        return title_of(self.task.request.text)


def title_of(message: str) -> str:
    """Return the first words of a request, without what was pasted into it."""
    own = own_words(message).strip() or message
    first = re.split(r"(?<=[.!?。！？])\s|\n", own.strip(), maxsplit=1)[0]
    return _line(first.strip(" #-*:"), MAX_TITLE) or "untitled request"


def raw_memory(request: ExtractionInput, tasks: Sequence[TaskNotes]) -> str:
    """Return the raw memory of a rollout that has something to remember."""
    group = group_of(request)
    lines = [
        "---",
        f"description: {tasks[0].title}",
        f"task: {tasks[0].title}",
        f"task_group: {group}",
        f"task_outcome: {_overall(tasks)}",
        f"cwd: {_line(request.cwd, 400) or 'unknown'}",
        f"keywords: {', '.join(keywords(request, tasks))}",
        "---",
    ]
    for number, task in enumerate(tasks, 1):
        lines += [
            "",
            f"### Task {number}: {task.title}",
            f"task: {task.title}",
            f"task_group: {group}",
            f"task_outcome: {task.outcome}",
        ]
        for section, bullets in _sections(task):
            lines += ["", section, *(f"- {_bullet(note, section, group)} [c{number}]" for number, note in bullets)]
    lines += ["", "<citation_entries>"]
    for task in tasks:
        for number, note in enumerate(task.notes, task.first):
            lines.append(f"{_place(request, note)} |note=[c{number} {note.candidate.kind}]")
    lines += ["</citation_entries>", "<rollout_ids>", _line(request.thread_id, 200), "</rollout_ids>"]
    return "\n".join(lines) + "\n"


def rollout_summary(request: ExtractionInput, tasks: Sequence[TaskNotes]) -> str:
    """Return the summary of a rollout that has something to remember."""
    branch = f", branch {_line(request.git_branch, 80)}" if request.git_branch else ""
    lines = [
        f"# {tasks[0].title}",
        "",
        f"Rollout context: {request.agent} in {_line(request.cwd, 400) or 'unknown'}{branch}",
    ]
    for number, task in enumerate(tasks, 1):
        lines += ["", f"## Task {number}: {task.title}", f"Outcome: {task.outcome}"]
        sections = _sections(task)
        for section in (SIGNALS, FAILURES, KNOWLEDGE):
            for name, bullets in sections:
                if name == section:
                    lines += ["", section, *(f"- {_quoted(note)} [{k}]" for k, note in bullets)]
        if task.notes:
            lines += [
                "",
                "References",
                *(f"[{k}] {_place(request, note)}" for k, note in enumerate(task.notes, task.first)),
            ]
    return "\n".join(lines) + "\n"


def slug_of(request: ExtractionInput, tasks: Sequence[TaskNotes]) -> str:
    """Return a file-safe slug: the project and the first telling words of the request."""
    parts = _WORDS.findall(group_of(request).lower())
    parts += [word for word in _WORDS.findall(tasks[0].title.lower()) if word not in _STOP][:5]
    words: list[str] = []
    for word in (re.sub(r"[^a-z0-9]", "", part) for part in parts):
        if word and word not in words and len("-".join([*words, word])) <= SLUG_LENGTH:
            words.append(word)
    return "-".join(words) or "session"


def group_of(request: ExtractionInput) -> str:
    """Return the project: the last part of the working directory."""
    parts = [part for part in re.split(r"[\\/]+", request.cwd.strip()) if part]
    return _line(parts[-1], MAX_TITLE) if parts else "unknown"


def keywords(request: ExtractionInput, tasks: Sequence[TaskNotes]) -> list[str]:
    """Return greppable terms of the quotations: code, paths, names; then the words of the request."""
    found = [group_of(request)]
    for task in tasks:
        for note in task.notes:
            found += [m[1] or m[2] for m in _TERM.finditer(note.candidate.text)]
    found += [word for word in _WORDS.findall(tasks[0].title.lower()) if word not in _STOP and len(word) > 2]
    unique: list[str] = []
    for term in (_line(term, 40).replace(",", " ").strip().rstrip(".") for term in found):
        if term and "REDACTED" not in term.upper() and term.lower() not in (u.lower() for u in unique):
            unique.append(term)
    return unique[:MAX_KEYWORDS]


def _overall(tasks: Sequence[TaskNotes]) -> TaskOutcome:
    outcomes = {task.outcome for task in tasks}
    return outcomes.pop() if len(outcomes) == 1 else TaskOutcome.PARTIAL


def _sections(task: TaskNotes) -> list[tuple[str, list[tuple[int, Noted]]]]:
    grouped: dict[str, list[tuple[int, Noted]]] = {SIGNALS: [], KNOWLEDGE: [], FAILURES: []}
    for number, note in enumerate(task.notes, task.first):
        grouped[_SECTION_OF.get(note.candidate.kind, KNOWLEDGE)].append((number, note))
    return [(section, bullets) for section, bullets in grouped.items() if bullets]


def _bullet(note: Noted, section: str, group: str) -> str:
    return f"{_quoted(note)} → keep to this in {group}" if section == SIGNALS else _quoted(note)


def _quoted(note: Noted) -> str:
    text = _line(note.candidate.text, MAX_TEXT)
    return text if note.candidate.kind == "failure-fix" else f'"{text}"'


def _place(request: ExtractionInput, note: Noted) -> str:
    return f"rollout:{_line(request.thread_id, 200)}:{note.start}-{max(note.start, note.end)}"


def _line(text: str, limit: int) -> str:
    """Put hostile text on one line that can open or close no citation block."""
    return defuse(one_line(text, limit))
