"""Write down what a child process opens, changes, starts and connects to, one line an event.

The file is named in the environment. Put first on PYTHONPATH of a subprocess under test; it is the audit guard of the
tests, reaching into the program.
"""

import os
import sys

_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.mkdir": (0,),
    "os.rmdir": (0,),
    "os.truncate": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.chmod": (0,),
    "os.utime": (0,),
}


def _events(event, args):
    """Yield (kind, what) for the audit events that matter."""
    if event == "open" and isinstance(args[0], str | bytes):
        path, mode, flags = args
        writes = bool(set(str(mode or "")) & set("wax+")) or (isinstance(flags, int) and flags & _WRITE)
        yield ("write" if writes else "read"), path
    elif event in ("os.listdir", "os.scandir") and isinstance(args[0], str | bytes):
        yield "list", args[0]
    elif event in _CHANGES:
        for index in _CHANGES[event]:
            if isinstance(args[index], str | bytes):
                yield "change", args[index]
    elif event == "sqlite3.connect":
        yield "database", str(args[0])
    elif event == "socket.connect":
        yield "connect", str(args[1])
    elif event == "subprocess.Popen":
        yield "start", " ".join(str(part) for part in args[1])


def _install(target):
    log = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def see(event, args):
        for kind, what in _events(event, args):
            os.write(log, f"{kind}\t{os.fsdecode(what)!r}\n".encode("utf-8", "replace"))

    sys.addaudithook(see)


if os.environ.get("LTMEM_TEST_AUDIT"):
    _install(os.environ["LTMEM_TEST_AUDIT"])
