"""Check the files of a memory folder before anyone relies on them (reference §8.4–8.6, design §2 and §4).

Blocking are only: a missing artifact, a wrong first line of `memory_summary.md`, citations that do not resolve, and
paths that lead outside. Form and style are warnings or remarks. Rendered inputs are the rows, and not checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from ltmem_gui.domain import citations
from ltmem_gui.domain.anchors import inside_root, line_count
from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.memory_checks import Remark, check_memory, check_references, check_text
from ltmem_gui.domain.memory_document import read_document, split_reference
from ltmem_gui.domain.memory_summary import VERSION_LINE, check_summary
from ltmem_gui.domain.skills import SKILLS, check_skills

MEMORY_FILE = "MEMORY.md"
SUMMARY_FILE = "memory_summary.md"
SUMMARIES = "rollout_summaries/"


def validate(
    files: Mapping[str, bytes],
    *,
    before: Mapping[str, bytes],
    loss_limit_percent: int,
    known_threads: frozenset[str],
) -> tuple[Finding, ...]:
    """Return what a reviewer must look at, by file and line.

    `files` is the whole folder as it would be, `before` as it is. `known_threads` are the sessions that can be opened;
    an empty set means that nobody knows, and `rollout:` citations are then not checked.
    """
    absent = [name for name in (MEMORY_FILE, SUMMARY_FILE) if name not in files]
    remarks = [Remark("missing-file", Severity.BLOCKING, name, None, f"{name} is missing") for name in absent]
    known = known_threads | threads_of(files) if known_threads else known_threads
    for path in sorted(files):
        if path in (MEMORY_FILE, SUMMARY_FILE) or path.startswith(SKILLS):
            remarks += _check_artifact(path, files, known)
    remarks += check_skills(files)
    remarks += _loss(files.get(MEMORY_FILE), before.get(MEMORY_FILE), loss_limit_percent)
    remarks += _order_churn(files, before)
    return _findings(remarks)


def threads_of(files: Mapping[str, bytes]) -> frozenset[str]:
    """Return the threads whose rendered summaries are among the files."""
    heads = (files[path].partition(b"\n")[0] for path in files if path.startswith(SUMMARIES))
    found = (head.removeprefix(b"thread_id: ") for head in heads if head.startswith(b"thread_id: "))
    return frozenset(thread.decode("utf-8", "replace").strip() for thread in found)


def citation_problem(
    entry: CitationEntry, lines_of: Callable[[str], int | None], known_threads: frozenset[str]
) -> tuple[str, str] | None:
    """Return (rule, words) for a citation that does not resolve, None for one that does.

    `lines_of` gives the number of lines of a file below the root, None for a missing one.
    """
    if entry.status != "ok":
        return "unresolved-citation", f"the cited range {entry.start}-{entry.end} is {entry.status}"
    thread = entry.thread_id
    if thread is not None:
        if known_threads and thread not in known_threads:
            return "unresolved-citation", f"no session {thread} is known"
        return None
    path = inside_root(entry.path)
    if path is None:
        return "path-escape", f"{entry.path} is outside the memory folder"
    count = lines_of(path)
    if count is None:
        return "unresolved-citation", f"{path} does not exist"
    if entry.end > count:
        return "unresolved-citation", f"{path} has {count} lines; {entry.start}-{entry.end} is out of range"
    return None


def _check_artifact(path: str, files: Mapping[str, bytes], known: frozenset[str]) -> Iterator[Remark]:
    try:
        text = files[path].decode("utf-8")
    except UnicodeDecodeError as error:
        line = files[path].count(b"\n", 0, error.start) + 1
        severity = Severity.BLOCKING if path == SUMMARY_FILE else Severity.WARNING
        yield Remark("schema", severity, path, line, "not UTF-8 text")
        text = files[path].decode("utf-8", "replace")
    if path == MEMORY_FILE:
        yield from check_memory(path, read_document(text))
    elif path == SUMMARY_FILE:
        if text.partition("\n")[0] != VERSION_LINE:
            yield Remark("schema", Severity.BLOCKING, path, 1, f"line 1 must be exactly {VERSION_LINE}")
        memory = files.get(MEMORY_FILE, b"").decode("utf-8", "replace")
        yield from check_summary(path, files[path], text, memory)
    yield from check_text(path, text)
    yield from check_references(path, text, files)
    yield from _check_citations(path, text, files, known)


def _check_citations(path: str, text: str, files: Mapping[str, bytes], known: frozenset[str]) -> Iterator[Remark]:
    parsed = citations.parse(text)
    counts: dict[str, int | None] = {}

    def lines_of(name: str) -> int | None:
        if name not in counts:
            counts[name] = line_count(files[name]) if name in files else None
        return counts[name]

    for entry in parsed.entries:
        problem = citation_problem(entry, lines_of, known)
        if problem is not None:
            yield Remark(problem[0], Severity.BLOCKING, path, entry.line, problem[1])
    for item in parsed.rejected:
        yield Remark("schema", Severity.WARNING, path, item.line, f"not a citation: {item.reason}")


def _loss(after: bytes | None, before: bytes | None, limit: int) -> Iterator[Remark]:
    """Say how many lines of `MEMORY.md` would be gone; moved and renumbered lines are not."""
    if before is None or after is None:
        return
    old, new = _line_bag(before), _line_bag(after)
    total, lost = old.total(), (old - new).total()
    if total and lost * 100 > limit * total:
        percent = lost * 100 // total
        words = f"{lost} of {total} lines of {MEMORY_FILE} ({percent} %) would be gone; the limit is {limit} %"
        yield Remark("loss", Severity.WARNING, MEMORY_FILE, None, words)


def _order_churn(files: Mapping[str, bytes], before: Mapping[str, bytes]) -> Iterator[Remark]:
    """Say which files would only get their lines in another order: a diff without a reason."""
    for path in sorted(files.keys() & before.keys()):
        old, new = before[path], files[path]
        if old != new and len(old) == len(new) and sorted(old.split(b"\n")) == sorted(new.split(b"\n")):
            yield Remark("order-churn", Severity.WARNING, path, None, "the same lines, only in another order")


def _line_bag(data: bytes) -> Counter[str]:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return Counter(split_reference(line)[0] for line in lines if line.strip())


def _findings(remarks: list[Remark]) -> tuple[Finding, ...]:
    seen: Counter[str] = Counter()
    findings: list[Finding] = []
    for remark in remarks:
        key = digest([remark.rule, remark.path, remark.text])[:12]
        seen[key] += 1
        findings.append(
            Finding(
                id=f"{key}-{seen[key]}",
                rule=remark.rule,
                severity=remark.severity,
                path=remark.path,
                line=remark.line,
                text=remark.text,
            )
        )
    return tuple(sorted(findings, key=lambda item: (item.path, item.line or 0)))
