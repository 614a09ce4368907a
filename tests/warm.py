"""Python processes that begin at once, as Scrapy and mmcrawl are imported in them already.

``[python(), "-m", "scrapy", ...]`` does what ``[sys.executable, "-m", "scrapy", ...]`` would do
one or two seconds later: what begins is a fork of a process that has imported both. It has
arguments, environment, folder, files, limits, signals and exit code of its own, but another id than
the one that was started, from which ``SIGSTOP`` does not reach it; after ``SIGKILL`` it is gone
when its output ends. `sys.executable` is for tests for which that matters, of what is imported, of
the memory and the children of a process, and of options and variables that the interpreter itself
reads (``-W``, ``PYTHONHASHSEED``).
"""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from time import sleep
from types import ModuleType
from uuid import uuid4

from filelock import FileLock

FOLDER = Path(__file__).parent
OWN_RUN = uuid4().hex  # one server also for threads that ask at once


@cache
def python() -> str:
    """Return the path of what stands for `sys.executable`.

    The first call starts the server, of one for all workers of pytest-xdist. It ends, and removes
    its files, when the process that runs the tests does.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    runner = os.getppid() if run else os.getpid()
    place = Path(tempfile.gettempdir(), f"mmcrawl-tests-{run or OWN_RUN}")
    place.mkdir(mode=0o700, exist_ok=True)
    program, address = place / "python", place / "socket"
    with FileLock(place / "lock"):
        if not program.exists():
            server = subprocess.Popen(
                [sys.executable, FOLDER / "warm_server.py", address, str(runner)],
                stdin=subprocess.DEVNULL,
                cwd=FOLDER.parent,
                start_new_session=True,
            )
            while not address.exists():
                assert server.poll() is None, "the warm server did not start"
                sleep(0.02)
            code = (FOLDER / "warm_client.py").read_text(encoding="utf-8")
            code = code.replace('ADDRESS = ""', f"ADDRESS = {str(address)!r}")
            program.touch(mode=0o700)
            program.write_text(f"#!{sys.executable} -IS\n{code}", encoding="utf-8")
    return str(program)


def starts_warm(module: ModuleType, program: str = "") -> None:
    """Have a module that starts `sys.executable` start `program`, what `python` returns if none."""

    class Sys(ModuleType):
        executable = property(lambda self: program or python())

        def __getattr__(self, name: str) -> object:
            return getattr(sys, name)

    module.sys = Sys("sys")  # type: ignore[attr-defined]
