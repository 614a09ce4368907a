"""Commands of mmcrawl that the browser starts: each is a process of its own, which ends with it.

The browser holds the other end of the process's standard input and writes one line to it, the task.
When that end is closed, by `end` or because the browser is gone, the process is interrupted as by
Ctrl-C: a crawl can be continued later, and what an export has written so far is removed. A process
may be started before its task is known, to load what it needs; it ends if no task comes.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from mmcrawl.browse.arguments import Problem

_MOST = 4  # exports, or topics that are learnt: each takes a processor, and memory
_PATIENCE = 20.0  # seconds for a crawl to end when the browser is ended
_AGAIN = 60.0  # seconds after which one that was interrupted is so at any price

_IDLE = 600.0  # seconds for which a process waits for its task
_MARGIN = 30.0  # seconds before it ends, in which it gets none any more
_PROGRAM = f"""
import importlib, json, os, select, signal, sys, threading, time

for module in sys.argv[1:]:
    importlib.import_module(module)
if not select.select([0], [], [], {_IDLE})[0]:
    sys.exit()
task = b""
while not task.endswith(b"\\n"):
    task += os.read(0, 1 << 16) or sys.exit()
whole, said, *sys.argv[1:] = json.loads(task)
file = os.open(said, os.O_WRONLY | os.O_APPEND)
for output in (1, 2)[not whole:]:
    os.dup2(file, output)

def watch(thread):
    while os.read(0, 1):
        pass
    while True:  # an interruption in a callback, or while a module is loaded, is lost
        signal.pthread_kill(thread, signal.SIGINT)
        time.sleep({_AGAIN})

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
arguments = (threading.main_thread().ident,)
try:
    threading.Thread(target=watch, args=arguments, daemon=True).start()
    from mmcrawl.commands.program import main
    main()
except KeyboardInterrupt:
    sys.exit(130)
"""


class Command(subprocess.Popen[bytes]):
    """A command.

    Args:
        modules: That are loaded before it begins.
    """

    def __init__(self, *modules: str) -> None:
        super().__init__(
            [sys.executable, "-c", _PROGRAM, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is for the browser
        )
        self._until = time.monotonic() + _IDLE - _MARGIN

    def begin(
        self, arguments: Sequence[str], said: Path, mode: str = "wb", *, whole: bool = False
    ) -> Self:
        """Begin it; what it says is written to a file, and its results too if that is `whole`."""
        said.parent.mkdir(parents=True, exist_ok=True)
        said.open(mode).close()
        self._said = said
        task = json.dumps([whole, str(said.absolute()), *arguments]).encode()
        if self.stdin is not None:
            self.stdin.write(task + b"\n")
            self.stdin.flush()
        return self

    @property
    def is_ready(self) -> bool:
        """Whether it still waits for its task."""
        return self.runs and time.monotonic() < self._until

    @property
    def runs(self) -> bool:
        return self.poll() is None

    @property
    def is_ending(self) -> bool:
        return self.runs and self.stdin is not None and self.stdin.closed

    @property
    def failure(self) -> str:
        """The last thing that it said when it failed, "" if it did not."""
        if not self.poll():
            return ""
        return self._said.read_text("utf-8", "replace").strip().rpartition("\n")[2]

    def end(self) -> None:
        """Interrupt it, once: Scrapy takes a second interruption for "at any price"."""
        if self.stdin is not None:
            with suppress(OSError):
                self.stdin.close()


class Programs(dict[Any, Command]):
    """The last command that was begun for each purpose."""

    def running(self) -> list[Any]:
        return [key for key, command in [*self.items()] if command.runs]

    def failure(self, key: Any) -> str:
        return self[key].failure if key in self else ""

    def require_room(self) -> None:
        """Refuse one more command where as many run as may at once."""
        if len(self.running()) >= _MOST:
            raise Problem(503, "programs", most=_MOST)

    def close(self) -> None:
        """Interrupt all and wait for them; those that take too long are ended by force."""
        ending = [self[key] for key in self.running()]
        for command in ending:
            command.end()
        for command in ending:
            try:
                command.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                command.kill()
                command.wait()
