"""The program's own guard refuses what no grant covers. Events are raised by hand: nothing is installed or sent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ltmem_gui.domain.errors import GrantMissing
from ltmem_gui.workspace.veto import Veto

ROOT = Path("/home/dev/.codex/memories")


@pytest.fixture
def veto() -> Veto:
    veto = Veto()
    veto.protect(ROOT)
    veto.protect(ROOT)
    return veto


CHANGES = [
    ("open", (str(ROOT / "MEMORY.md"), "w", os.O_WRONLY | os.O_CREAT)),
    ("open", (os.fsencode(ROOT / "MEMORY.md"), None, os.O_RDWR)),
    ("open", (ROOT / "x" / ".." / "MEMORY.md", "a", 0)),
    ("os.rename", ("/tmp/x", str(ROOT / "MEMORY.md"), -1, -1)),
    ("os.remove", (str(ROOT / "MEMORY.md"), -1)),
    ("os.mkdir", (str(ROOT), 0o777, -1)),
    ("os.symlink", ("/etc", str(ROOT / "etc"), -1)),
    ("os.chmod", (str(ROOT), 0o777, -1)),
]


@pytest.mark.parametrize(("event", "args"), CHANGES)
def test_a_change_below_a_memory_folder_needs_a_cover(veto: Veto, event: str, args: tuple[object, ...]) -> None:
    with pytest.raises(GrantMissing):
        veto.see(event, args)
    with veto.cover(ROOT):
        veto.see(event, args)
        with veto.cover(ROOT):
            pass
        veto.see(event, args)
    with pytest.raises(GrantMissing):
        veto.see(event, args)


@pytest.mark.parametrize(
    ("event", "args"),
    [
        ("open", (str(ROOT / "MEMORY.md"), "r", os.O_RDONLY)),
        ("open", ("/home/dev/.codex/memories-other/x", "w", os.O_WRONLY)),
        ("open", (7, "w", os.O_WRONLY)),
        ("os.remove", ("/home/dev/x", -1)),
        ("os.listdir", (str(ROOT),)),
        ("socket.getaddrinfo", (None, 0, 0, 0, 0)),
        ("socket.connect", (None, "/run/user/bus")),
    ],
)
def test_what_is_no_change_of_a_memory_folder_passes(veto: Veto, event: str, args: tuple[object, ...]) -> None:
    veto.see(event, args)


def test_before_a_folder_is_known_nothing_is_judged() -> None:
    Veto().see("open", (str(ROOT / "MEMORY.md"), "w", os.O_WRONLY))


def test_only_the_host_of_the_plan_may_be_reached(veto: Veto) -> None:
    look_up, connect = ("api.example", 443, 0, 0, 0), (None, ("192.0.2.1", 443))
    for event, args in (("socket.getaddrinfo", look_up), ("socket.connect", connect)):
        with pytest.raises(GrantMissing):
            veto.see(event, args)
    with veto.egress("API.example:443"):
        veto.see("socket.getaddrinfo", (b"api.example", 443, 0, 0, 0))
        veto.see("socket.connect", (None, ("192.0.2.1", 443)))
        with pytest.raises(GrantMissing, match=r"evil\.example"):
            veto.see("socket.getaddrinfo", ("evil.example", 443, 0, 0, 0))
    with pytest.raises(GrantMissing):
        veto.see("socket.connect", (None, ("192.0.2.1", 443)))
    with veto.egress("[::1]:8080"):
        veto.see("socket.getaddrinfo", ("::1", 8080, 0, 0, 0))


def test_a_name_relative_to_an_open_folder_is_judged_in_that_folder(tmp_path: Path) -> None:
    veto = Veto()
    veto.protect(tmp_path)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(GrantMissing):
            veto.see("os.remove", ("MEMORY.md", descriptor))
        with pytest.raises(GrantMissing):
            veto.see("os.rename", ("/tmp/x", "MEMORY.md", -1, descriptor))
        veto.see("os.remove", ("MEMORY.md", -1))
        veto.see("os.remove", ("MEMORY.md", 10_000))
    finally:
        os.close(descriptor)


STARTS = [
    ("subprocess.Popen", ("/usr/bin/code", ["/usr/bin/code", "-g", "x:1"], None, None)),
    ("subprocess.Popen", ("/bin/sh", ["/bin/sh", "-c", "true"], None, None)),
    ("subprocess.Popen", (str(ROOT / "git"), [str(ROOT / "git")], None, None)),
    ("os.exec", ("/usr/bin/code", ["code"], None)),
    ("os.posix_spawn", (b"/usr/bin/code", ["code"], {})),
    ("os.spawn", (0, "/usr/bin/code", ["code"], {})),
    ("os.startfile", (str(ROOT / "MEMORY.md"), "open")),
    ("os.system", (b"git status",)),
]


@pytest.mark.parametrize(("event", "args"), STARTS)
def test_no_program_is_started_without_a_grant(veto: Veto, event: str, args: tuple[object, ...]) -> None:
    with pytest.raises(GrantMissing, match="without a grant"):
        veto.see(event, args)


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "-c", "x", "status"],
        ["/usr/bin/git"],
        ["nice", "-n", "5", sys.executable],
        [sys.executable, "-m", "x"],
        ["lsb_release", "-a"],
    ],
)
def test_the_program_s_own_helpers_need_none(veto: Veto, argv: list[str]) -> None:
    veto.see("subprocess.Popen", (argv[0], argv, None, None))
    veto.see("os.posix_spawn", (argv[0], argv, {}))


def test_a_confirmed_command_may_be_started_once_and_only_to_the_letter(veto: Veto) -> None:
    argv = ("/usr/bin/code", "-g", "/m/MEMORY.md:3")
    with veto.starting(argv):
        for other in ([*argv, "--wait"], ["/usr/bin/code", "-g", "/m/MEMORY.md:4"]):
            with pytest.raises(GrantMissing):
                veto.see("subprocess.Popen", (other[0], other, None, None))
        veto.see("subprocess.Popen", (argv[0], list(argv), None, None))
        with pytest.raises(GrantMissing):
            veto.see("subprocess.Popen", (argv[0], list(argv), None, None))
    with veto.starting(argv):
        pass
    with pytest.raises(GrantMissing):
        veto.see("subprocess.Popen", (argv[0], list(argv), None, None))
