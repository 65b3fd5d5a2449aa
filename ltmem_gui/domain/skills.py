"""The schema of `skills/<name>/` (reference §8.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ltmem_gui.domain.anchors import line_count
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.memory_checks import Remark

SKILLS = "skills/"
MAX_LINES = 500
_NAME = re.compile(r"[a-z0-9-]{1,64}\Z")
_FIELD = re.compile(r"([a-z-]+):\s*(.*)\Z")
_KNOWN = frozenset(
    (
        *("name", "description", "argument-hint", "disable-model-invocation", "user-invocable"),
        *("allowed-tools", "context", "agent", "model"),
    )
)
_COVERS = (
    ("when to use it", re.compile(r"\bwhen\b", re.I)),
    ("its inputs", re.compile(r"\binputs?\b|\bcontext to gather\b", re.I)),
    ("a numbered procedure", re.compile(r"^\s*1[.)]\s", re.M)),
    ("pitfalls and fixes", re.compile(r"\bpitfalls?\b|\bfailures?\b", re.I)),
    ("a verification checklist", re.compile(r"\bverif(?:y|ication)\b|\bchecklist\b", re.I)),
)


def check_skills(files: Mapping[str, bytes]) -> Iterator[Remark]:
    """Yield what breaks the form of the skills."""
    names = sorted({path.split("/")[1] for path in files if path.startswith(SKILLS) and path.count("/") >= 2})
    for name in names:
        path = f"{SKILLS}{name}/SKILL.md"
        if not _NAME.match(name):
            yield _form(path, None, "the skill's name is a-z, 0-9 and -, at most 64 characters")
        if path not in files:
            yield Remark("missing-file", Severity.WARNING, path, None, f"the skill {name} has no SKILL.md")
        else:
            yield from _check_skill(path, name, files[path])


def _check_skill(path: str, name: str, data: bytes) -> Iterator[Remark]:
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    if line_count(data) >= MAX_LINES:
        yield Remark("size", Severity.WARNING, path, MAX_LINES, f"a skill has fewer than {MAX_LINES} lines")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if lines[0].strip() != "---" or end is None:
        yield _form(path, 1, "the front matter between --- lines is missing")
        end = 0
    fields: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines[1:end], 2):
        match = _FIELD.match(line)
        if match:
            fields[match[1]] = (number, match[2].strip().strip("\"'"))
            if match[1] not in _KNOWN:
                yield _form(path, number, f"{match[1]} is not a field of a skill", Severity.INFO)
    for field in ("name", "description") if end else ():
        if not fields.get(field, (0, ""))[1]:
            yield _form(path, 1, f"{field}: is missing in the front matter")
    if "name" in fields and fields["name"][1] not in ("", name):
        yield _form(path, fields["name"][0], f"the name differs from the folder {name}")
    body = "\n".join(lines[end:])
    for what, pattern in _COVERS:
        if not pattern.search(body):
            yield _form(path, None, f"the skill does not cover {what}", Severity.INFO)


def _form(path: str, line: int | None, text: str, severity: Severity = Severity.WARNING) -> Remark:
    return Remark("schema", severity, path, line, text)
