"""Run the git program so that no setting of the person, the machine or the folder has influence on it.

Each call opens, uses and closes: no process and no handle outlives it. The repository is always named by `GIT_DIR`,
which also makes another user's folder (`safe.directory`) and a repository further up harmless.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ltmem_gui.domain.errors import InputError

_NULL = os.devnull
_CONFIG = {
    "commit.gpgSign": "false",
    "core.attributesFile": _NULL,
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.excludesFile": _NULL,
    "core.fileMode": "true",
    "core.fsmonitor": "false",
    "core.fsync": "committed,index",
    "core.hooksPath": _NULL,
    "core.precomposeUnicode": "false",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.untrackedCache": "false",
    "diff.algorithm": "myers",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "diff.renames": "false",
    "fastimport.unpackLimit": "1",
    "gc.auto": "0",
    "i18n.commitEncoding": "utf-8",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "pack.compression": "1",
    "protocol.allow": "never",
}
# Neutral values: a library that copies the environment of the process can override a variable but not unset it.
_ENVIRONMENT = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_GLOBAL": _NULL,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_CONFIG_SYSTEM": _NULL,
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_DIFF_OPTS": "",
    "GIT_EXTERNAL_DIFF": "",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_GLOB_PATHSPECS": "0",
    "GIT_NOGLOB_PATHSPECS": "0",
    "GIT_ICASE_PATHSPECS": "0",
    "GIT_NAMESPACE": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_FLUSH": "0",
}
ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding !diff !merge !export-subst\n"
"""Lines for `info/attributes`: they outrank every `.gitattributes` below the root."""


class GitFailed(Exception):
    """A git command ended with an error; `stderr` is what it said."""

    def __init__(self, command: str, status: int, stderr: str) -> None:
        super().__init__(f"git {command} failed ({status}): {stderr.strip()[:500]}")
        self.stderr = stderr
        self.status = status


def require_git() -> None:
    """Raise `InputError` with the remedy when the git program is missing."""
    if shutil.which("git") is None:
        raise InputError("the git program was not found", "install git 2.30 or newer and make sure it is on PATH")


def quote(path: str, *, always: bool = False) -> bytes:
    """Return a path in git's C-style quotes where it needs them, or always."""
    raw = os.fsencode(path)
    if not always and all(32 <= byte != 127 and byte not in b'"\\' for byte in raw) and not path.startswith(" "):
        return raw
    escaped = "".join(f"\\{byte:03o}" if byte < 32 or byte in b'"\\\x7f' else chr(byte) for byte in raw)
    return b'"%s"' % escaped.encode("latin-1")


@dataclass(frozen=True)
class GitProgram:
    """Git bound to one git folder and, where files on disk matter, one work tree. Paths are absolute.

    `lender` is another object folder that is read too, and never written.
    """

    git_dir: Path
    work_tree: Path | None = None
    lender: Path | None = None

    def run(self, *arguments: str, data: bytes | None = None, ok: tuple[int, ...] = (0,)) -> bytes:
        """Return what a command printed; `data` is fed to its input.

        Raises `GitFailed` for an exit status not in `ok`, `InputError` when git is missing.
        """
        require_git()
        from git import Git  # GitPython takes 150 ms to import

        settings = [part for key, value in _CONFIG.items() for part in ("-c", f"{key}={value}")]
        process = Git(str(self.work_tree or self.git_dir)).execute(
            ["git", *settings, *arguments],
            istream=subprocess.PIPE if data is not None else None,
            as_process=True,
            env=self._environment(),
            shell=False,
        )
        stdout, stderr, status = _finish(process, data)
        if status not in ok:
            raise GitFailed(arguments[0], status, stderr.decode("utf-8", "replace"))
        return stdout

    def _environment(self) -> dict[str, str]:
        traces = {name: "0" for name in os.environ if name.startswith("GIT_TRACE")}
        places = {
            "GIT_DIR": str(self.git_dir),
            "GIT_COMMON_DIR": str(self.git_dir),
            "GIT_OBJECT_DIRECTORY": str(self.git_dir / "objects"),
            "GIT_INDEX_FILE": str(self.git_dir / "index"),
            "GIT_WORK_TREE": str(self.work_tree or self.git_dir),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": quote(str(self.lender), always=True).decode() if self.lender else "",
            "GIT_SHALLOW_FILE": str(self.git_dir / "shallow"),
            "GIT_GRAFT_FILE": _NULL,
        }
        return {**_ENVIRONMENT, **traces, **places}


def _finish(process: Any, data: bytes | None) -> tuple[bytes, bytes, int]:
    child = process.proc
    try:
        stdout, stderr = child.communicate(data)
    except BaseException:
        child.kill()
        child.wait()
        raise
    finally:
        # GitPython's wrapper ends the process a second time unless it is told that it is over.
        process.proc = None
    return stdout, stderr, child.returncode
