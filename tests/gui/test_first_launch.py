"""Seen from the kernel: a first launch, every panel and quitting change nothing and connect to nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.program import LIMIT_SECONDS

PROGRAM = Path(__file__).with_name("first_launch.py")
CHECKOUT = Path(__file__).resolve().parents[2]
CALLS = (
    "openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,connect,link,linkat,symlink,"
    "symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,utimensat,mknod,mknodat,fork,vfork,clone,clone3,execve"
)
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
QUIET_PATHS = re.compile(r'"(/dev/|/proc/|[^"]*fontconfig)')
THREADS = "CLONE_THREAD"


def changes(trace: str, program: str) -> list[str]:
    """Return the calls that changed, started or connected something."""
    found: list[str] = []
    for line in trace.split("\n"):
        call = re.sub(r"^\d+\s+", "", line)
        name = call.partition("(")[0]
        if not name or name.startswith(("+++", "---", "<...")) or "unfinished" in name:
            continue
        if name in ("open", "openat"):
            if WRITES.search(call) and not QUIET_PATHS.search(call):
                found.append(call)
        elif (name.startswith("clone") and THREADS in call) or (name == "execve" and program in call):
            continue
        elif not QUIET_PATHS.search(call):
            found.append(call)
    return found


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment with an empty HOME and nothing else."""
    (tmp_path / "home").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "QT_QPA_PLATFORM": "offscreen",
    }


def test_first_launch_changes_nothing(tmp_path: Path, bare: dict[str, str]) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    trace = tmp_path / "trace"
    done = subprocess.run(
        [
            strace,
            "-f",
            "--seccomp-bpf",
            "-qq",
            "-s",
            "300",
            "-o",
            str(trace),
            "-e",
            f"trace={CALLS}",
            sys.executable,
            str(PROGRAM),
        ],
        env=bare,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert (done.returncode, done.stdout) == (0, "looked\n"), done.stderr
    text = trace.read_text(encoding="utf-8", errors="replace")
    assert "openat(" in text
    assert changes(text, str(PROGRAM)) == []
    assert list((tmp_path / "home").iterdir()) == []


def test_the_judge_sees_what_it_must() -> None:
    trace = "\n".join(
        [
            '12 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3',
            '12 openat(AT_FDCWD, "/home/x", O_RDWR|O_CREAT, 0600) = 3',
            '12 openat(AT_FDCWD, "/dev/null", O_RDWR) = 3',
            '12 mkdir("/home/.cache/fontconfig", 0755) = 0',
            "12 connect(4, {sa_family=AF_INET}, 16) = 0",
            "12 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 13",
            "12 clone(child_stack=NULL, flags=SIGCHLD) = 14",
            '12 execve("python", ["python", "first.py"], 0x1) = 0',
            '12 unlink("/home/x") = 0',
        ]
    )
    names = [call.partition("(")[0] for call in changes(trace, "first.py")]
    assert names == ["openat", "connect", "clone", "unlink"]
