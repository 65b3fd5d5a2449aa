"""Plans to review: small ones by text, and large ones by size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import FileChange, Plan, PlanState, ProviderMark
from ltmem_gui.domain.settings import Settings


def plan_of(
    *changes: FileChange | None,
    findings: Sequence[Finding] = (),
    state: PlanState = PlanState.APPLYABLE,
    memory_root: str = "",
) -> Plan:
    """Return an apply plan of the given changes."""
    return Plan(
        kind="apply",
        operation="consolidate",
        id="p",
        created_at=1,
        state=state,
        home="/home",
        memory_root=memory_root,
        provider=ProviderMark(name="builtin", label="built-in"),
        settings=Settings(),
        changes=tuple(change for change in changes if change is not None),
        findings=tuple(findings),
    ).sealed()


def plan_of_files(
    before: Mapping[str, str | bytes], after: Mapping[str, str | bytes], findings: Sequence[Finding] = ()
) -> tuple[Plan, dict[str, bytes]]:
    """Return the plan that leads from one tree to another, and the first tree."""
    base = {path: _bytes(data) for path, data in before.items()}
    result = {path: _bytes(data) for path, data in after.items()}
    changes: list[FileChange | None] = []
    for path in sorted(base.keys() | result.keys()):
        inputs = path == "raw_memories.md" or path.startswith("rollout_summaries/")
        changes.append(file_change(path, base.get(path), result.get(path), unit="thread" if inputs else "hunk"))
    return plan_of(*changes, findings=findings), base


def finding(
    path: str, line: int | None, *, name: str = "f", severity: Severity = Severity.BLOCKING, rule: str = "secret"
) -> Finding:
    """Return a finding."""
    return Finding(id=name, rule=rule, severity=severity, path=path, line=line, text=f"{rule} on {path}")


def many_hunks(count: int, gap: int = 8) -> tuple[str, str]:
    """Return two texts that differ in `count` single lines, `gap` lines apart."""
    lines = [f"- fact number {n} of the memory\n" for n in range(count * gap)]
    changed = list(lines)
    for n in range(count):
        at = n * gap + gap // 2
        changed[at] = changed[at].replace("fact", "changed fact")
    return "".join(lines), "".join(changed)


def _bytes(data: str | bytes) -> bytes:
    return data.encode("utf-8") if isinstance(data, str) else data
