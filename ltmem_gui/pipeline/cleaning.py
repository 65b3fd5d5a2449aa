"""Pass whole files through the choke point, line by line to be shown; both ways to consolidate do it alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from ltmem_gui.domain.errors import RedactionFailed
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.redaction.known import collect_known
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.pipeline.ports import Adapters


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One file after redaction; what is no text stays as it is. `failed` says why it could not be checked."""

    path: str
    data: bytes
    kinds: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    failed: str = ""


async def cleaned_files(adapters: Adapters, files: Mapping[str, bytes]) -> AsyncIterator[Cleaned]:
    """Yield each file with its secrets replaced, and a finding on each line that held one.

    A value that one file shows to be a secret is replaced in all of them, also where it stands alone.
    """
    redactions: dict[str, tuple[str, Redaction]] = {}
    failed: dict[str, str] = {}
    known: dict[str, None] = {}
    for path, data in files.items():
        try:
            text = data.decode("utf-8")
            redactions[path] = text, await adapters.redact_text(text)
        except UnicodeDecodeError:
            continue
        except RedactionFailed as error:
            failed[path] = error.what
        else:
            known.update(dict.fromkeys(collect_known(text, redactions[path][1].findings)))
    for path, data in files.items():
        if path not in redactions:
            yield Cleaned(path, data, failed=failed.get(path, ""))
            continue
        text, redaction = redactions.pop(path)
        if any(value in redaction.text for value in known):
            try:
                redaction = await adapters.redact_text(text, tuple(known))
            except RedactionFailed as error:
                yield Cleaned(path, data, failed=error.what)
                continue
        yield _cleaned(path, data, text, redaction)


def _cleaned(path: str, data: bytes, text: str, redaction: Redaction) -> Cleaned:
    findings = tuple(
        secret_finding(
            path,
            text.count("\n", 0, found.start) + 1,
            f"a secret ({found.kind}) is replaced here",
            blocking=False,
        )
        for found in redaction.findings
    )
    kinds = tuple(found.kind for found in redaction.findings)
    return Cleaned(path, redaction.text.encode("utf-8") if kinds else data, kinds, findings)


def secret_finding(path: str, line: int | None, text: str, *, blocking: bool) -> Finding:
    """Say on a line that a secret is there, was there, or may be there."""
    severity = Severity.BLOCKING if blocking else Severity.WARNING
    return Finding(id=f"secret:{path}:{line or 0}", rule="secret", severity=severity, path=path, line=line, text=text)
