"""Run the real program as a subprocess from an empty home folder, and read what it did."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 300.0
"""How long a program may take before it counts as hanging: far more than the slowest machine needs."""


@dataclass(frozen=True)
class Result:
    """One finished call; `events` are (kind, what) as written by the audit site."""

    code: int
    out: str
    err: str
    events: tuple[tuple[str, str], ...] = ()

    @property
    def json(self) -> Any:
        """Return the document that was printed."""
        return json.loads(self.out)

    def touched(self, *roots: Path, kinds: tuple[str, ...] = ("write", "change", "database")) -> list[str]:
        """Return what was changed below the given folders."""
        tops = tuple(str(root) for root in roots)
        return [
            f"{kind} {what}"
            for kind, what in self.events
            if kind in kinds and any(what == top or what.startswith(top + os.sep) for top in tops)
        ]


@dataclass
class Program:
    """The program with a home folder, a data folder and a memory folder of its own below `place`."""

    place: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.place / "data"

    @property
    def memory(self) -> Path:
        return self.place / "memory"

    def __call__(self, *args: str | Path, stdin: str = "", timeout: float = LIMIT_SECONDS) -> Result:
        """Run `ltmem-gui` with the arguments."""
        log = self.place / f"audit-{len(list(self.place.glob('audit-*')))}"
        done = subprocess.run(
            [sys.executable, "-m", "ltmem_gui", *map(str, args)],
            cwd=CHECKOUT,
            env=self.env(log),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr, tuple(_events(log)))

    def env(self, log: Path | None = None) -> dict[str, str]:
        """Return an environment with an empty home folder and nothing of the developer's."""
        fake_home = self.place / "user"
        fake_home.mkdir(exist_ok=True)
        keep = {
            k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TMPDIR", "VIRTUAL_ENV") or k.startswith("COV")
        }
        env = keep | {
            "HOME": str(fake_home),
            "PYTHONPATH": os.pathsep.join((str(CHECKOUT / "tests" / "helpers" / "audit_site"), str(CHECKOUT))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LTMEM_REDACTOR": "layer",
            "QT_QPA_PLATFORM": "offscreen",
            "LTMEM_STATE_DIR": str(self.place / "state"),
        }
        if log is not None:
            env["LTMEM_TEST_AUDIT"] = str(log)
        return env | self.environment

    def where(self) -> list[str]:
        """Return the global options that name the two folders."""
        return ["--home", str(self.home), "--memory-root", str(self.memory)]

    def plan(self, kind: str, *args: str | Path) -> Result:
        """Run `plan KIND --json` on the two folders."""
        return self("plan", kind, *self.where(), "--json", *args)

    def apply(self, plan: Result | dict[str, Any], *args: str | Path) -> Result:
        """Apply a printed plan with its own digest."""
        document = plan.json if isinstance(plan, Result) else plan
        path = self.place / "plan.json"
        path.write_text(json.dumps(document))
        return self("apply", *self.where(), "--plan", path, "--digest", document["digest"], "--json", *args)

    def run(self, *sources: str, settings: tuple[str, ...] = ()) -> None:
        """Extract and consolidate, each confirmed; fail where a step does not do what it should."""
        extra = [part for source in sources for part in ("--source", source)]
        extra += [part for setting in settings for part in ("--set", setting)]
        planned = self.plan("extract", *extra)
        assert planned.code == 0, planned.err
        applied = self.apply(planned)
        assert applied.code == 0, applied.err
        proposed = self.plan("consolidate", *[p for s in settings for p in ("--set", s)])
        assert proposed.code == 0, proposed.err
        written = self.apply(proposed)
        assert written.code == 0, written.err


@dataclass(frozen=True)
class Signalled:
    """A program that was told to end: the first line it printed, and how it ended how long after the signal."""

    line: str
    code: int
    errors: str
    seconds: float


def end_by_signal(command: list[str], environment: dict[str, str], number: int) -> Signalled:
    """Start a program, send it a signal once it has printed a line, and wait for its end; kill one that hangs."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        watch = threading.Timer(LIMIT_SECONDS, process.kill)
        watch.start()
        try:
            line = process.stdout.readline()
            began = time.monotonic()
            process.send_signal(number)
            _, errors = process.communicate()
            return Signalled(line, process.returncode, errors, time.monotonic() - began)
        finally:
            watch.cancel()


def tree(root: Path) -> dict[str, str]:
    """Return path → hash of every file below a folder, `.git` left out."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(root).parts:
            found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _events(log: Path) -> list[tuple[str, str]]:
    if not log.exists():
        return []
    events: list[tuple[str, str]] = []
    for line in log.read_text("utf-8").split("\n"):
        kind, separator, what = line.partition("\t")
        if separator:
            events.append((kind, str(ast.literal_eval(what))))
    return events
