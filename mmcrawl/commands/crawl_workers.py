"""`-a workers=N`: a process that starts the workers of a crawl, and restarts those that die.

The workers run the same command, in sessions of their own, with `WORKER` in their environment. If
this process dies, they finish; the same command joins them, or continues.
"""

from __future__ import annotations

import itertools
import logging
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from mmcrawl.cluster.members import free_leases
from mmcrawl.cluster.places import WORKER, Rules
from mmcrawl.cluster.views.observing import CrawlView, Observer
from mmcrawl.commands.terminal.tables import Progress, progress_line, progress_panel
from mmcrawl.errors import StoreError
from mmcrawl.store.child_process import cores, signals_to
from mmcrawl.text.writing import program

if TYPE_CHECKING:
    from mmcrawl.cluster.store import SharedStore

logger = logging.getLogger(__name__)

_MEMORY = 500 << 20  # bytes of a worker
_MOST = 64
_PAUSES = (1.0, 60.0)  # seconds before a worker is started again: the first time, and at most
_LIVED = 300.0  # seconds after which a worker that dies counts as one that dies for the first time
_MOST_DEATHS = 10  # in a row
_STEP = 0.1
_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_SECONDS, _LINE_SECONDS = 2.0, 10.0
_ENDED = (0, 1, 2)  # exit codes of a crawl that ended by itself
_FOUND_NOTHING = ("nothing_fetched", "nothing_found")
_PROGRAMS = {
    "scrapy": "from scrapy.cmdline import execute; sys.argv[0] = 'scrapy'; execute()",
    "mmcrawl": "from mmcrawl.commands.program import main; sys.argv[0] = 'mmcrawl'; main()",
}


def this_command() -> list[str]:
    """Return the command that runs in this process."""
    words = sys.argv[1:]  # where Scrapy may have taken the name of the command out
    if words[:1] != ["crawl"]:
        words.insert(0, "crawl")
    return [*program_command(), *words]


def program_command() -> list[str]:
    """Return the program that runs in this process, which a signal ends without a traceback."""
    quiet = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL)"
    return [sys.executable, "-c", f"{quiet}; {_PROGRAMS[program()]}"]


def number_of_workers(told: str) -> int:
    """Return the number of workers; for ``auto``, as cores and memory allow."""
    if told != "auto":
        return int(told)
    return max(1, min(cores(), _free_memory() // _MEMORY, _MOST))


def _is_stopped(pid: str) -> bool:
    """Whether a process is held up by a signal."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2][1] in "Tt"
    except (OSError, IndexError):
        return False


def _free_memory() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return _MEMORY * _MOST
    kilobytes = {name: rest.split()[0] for name, _, rest in (line.partition(":") for line in lines)}
    return int(kilobytes["MemAvailable"]) << 10


@dataclass(slots=True)
class _Worker:
    """One of the workers."""

    number: int  # from 0
    process: subprocess.Popen[str] | None = None  # none while there is none
    due: float = 0.0  # when it is to be started, by the monotonic clock
    began: float = 0.0  # when it was
    deaths: int = 0  # how often it died in a row, soon after it was started
    code: int | None = None  # exit code of the last one
    token: str = ""  # what the name of the last one ends with


class Workers:
    """The workers of a running crawl; `shown` if it is told how the crawl goes."""

    def __init__(
        self, shared: SharedStore, uri: str, count: int, command: Sequence[str], *, shown: bool
    ) -> None:
        self._shared, self._uri, self._command = shared, uri, command
        self._workers = [_Worker(number) for number in range(count)]
        self._shown, self._panel = shown, shown and sys.stderr.isatty()
        self._console = Console(stderr=True, highlight=False)
        self._asked = 0  # how often it was asked to end
        self._told = 0  # how often the workers were
        self._is_over = False
        # Seconds without a sign of life after which a worker hangs.
        self._hangs = 2.0 * shared.job.arguments.get("lease_seconds", Rules().lease)

    def run(self) -> str:
        """Run the workers; return why the crawl ended, as Scrapy's `finish_reason`."""
        logger.info("Workers of this machine: %d", len(self._workers))
        live = Live(console=self._console, auto_refresh=False, transient=True)
        panel = live if self._panel else nullcontext()
        with signals_to(self._count, *_ASKING), Observer(self._uri) as observer, panel:
            view: CrawlView | None = None
            looked_at = shown_at = time.monotonic()
            while self._step(time.monotonic()):
                now = time.monotonic()
                if now - looked_at >= _LOOK_SECONDS:
                    looked_at = now
                    view = self._look(observer) or view
                if self._shown and view and view.workers and now - shown_at >= self._pause:
                    shown_at = now
                    self._show(view, live)
                time.sleep(_STEP)
        return self._reason()

    @property
    def _pause(self) -> float:
        return _LOOK_SECONDS if self._panel else _LINE_SECONDS

    def _count(self, number: int) -> None:
        self._asked += 1

    def _step(self, now: float) -> bool:
        """Start and reap workers; return whether any runs, or will be started."""
        if self._asked > self._told:
            self._told += 1
            self._tell_to_end()
        for worker in self._workers:
            if worker.process is None:
                if worker.due <= now and not (self._asked or self._is_over):
                    self._start(worker, now)
            elif (code := worker.process.poll()) is not None:
                worker.process, worker.code = None, code
                self._see_off(worker, now)
        running = any(worker.process for worker in self._workers)
        waiting = any(worker.due < inf for worker in self._workers)
        return running or (waiting and not (self._asked or self._is_over))

    def _start(self, worker: _Worker, now: float) -> None:
        worker.began, worker.token = now, secrets.token_hex(6)
        worker.process = subprocess.Popen(  # noqa: S603 - this command
            self._command,
            env=os.environ | {WORKER: f"{worker.number}/{worker.token}"},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE if self._panel else None,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is for this process, which passes it on
        )
        if worker.process.stderr is not None:
            Thread(target=self._pass_on, args=(worker.process.stderr,), daemon=True).start()

    def _pass_on(self, lines: IO[str]) -> None:
        """Print a worker's output above the panel."""
        for line in lines:
            self._console.print(line.rstrip("\n"), markup=False, soft_wrap=True)

    def _tell_to_end(self) -> None:
        """Ask the workers to end; the second time, end them."""
        if self._told == 1:
            logger.info("Stopping; requests in progress will finish. Ctrl-C again ends at once")
        for worker in self._workers:
            if worker.process is not None:
                worker.process.send_signal(signal.SIGINT if self._told == 1 else signal.SIGKILL)

    def _see_off(self, worker: _Worker, now: float) -> None:
        """Record that a worker has ended; one that died is restarted after a while."""
        if worker.code in _ENDED:
            self._is_over = True
            return
        worker.deaths = worker.deaths + 1 if now - worker.began < _LIVED else 1
        pause = min(_PAUSES[0] * 2 ** (worker.deaths - 1), _PAUSES[1])
        worker.due = now + pause if worker.deaths <= _MOST_DEATHS else inf
        try:
            free_leases(self._shared, worker.token)
        except StoreError as error:  # its lease will run out
            logger.warning("%s", error)
        if not self._asked:
            again = f"another is started in {pause:g} s" if worker.due < inf else "given up"
            logger.warning("Worker %d died; %s", worker.number, again)

    def _look(self, observer: Observer) -> CrawlView | None:
        """Look at the crawl; end a worker that hangs, which may have locked the store."""
        try:
            crawl = observer.look(self._shared.job.name, time.monotonic())
        except StoreError as error:
            logger.warning("%s", error)
            return None
        others_live = any(view.alive for view in crawl.workers)
        for worker, view in itertools.product(self._workers, crawl.workers):
            if worker.process is None or not view.name.endswith(f"-{worker.token}"):
                continue
            pid = view.name.split("-")[-2]
            if view.silent_seconds > self._hangs and (others_live or _is_stopped(pid)):
                logger.warning("Worker %d gives no sign of life and is ended", worker.number)
                worker.process.kill()
        return crawl

    def _show(self, crawl: CrawlView, live: Live) -> None:
        rate = crawl.pages_per_second or 0.0
        progress = Progress(**crawl.totals.as_plain(), pages_per_second=rate)
        if self._panel:
            live.update(progress_panel(progress), refresh=True)
        else:
            logger.info(progress_line(progress))

    def _reason(self) -> str:
        """Return why it ended, as the workers found."""
        if self._asked:
            return "shutdown"
        codes = {worker.code for worker in self._workers}
        job = self._shared.refresh_job()
        if 2 in codes:
            return "bad_input"
        if not codes & {0, 1} or (1 in codes and job.reason not in _FOUND_NOTHING):
            return "store_error"
        return job.reason or "shutdown"
