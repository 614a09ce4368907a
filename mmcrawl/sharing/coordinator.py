"""The coordinator of a shared crawl: takes in what workers report and leases links to them.

Every worker process has one, in a thread of its own, and one of them leads. The others watch it: it
shows a sign of life every second, and when none was seen for as long as a lease lasts, or it said
that it goes, another one takes over. Whoever leads holds the frontier and the scorer in a working
copy; nobody else computes scores. To take over, a coordinator fetches the newest snapshot of that
copy, replays the log after it, and writes an entry of its own: the one whose entry got the number
leads, and one that was replaced finds the number of its next entry taken. No clocks are compared,
only how long something did not change, by the clock of the one who looks.

The end of a crawl is told by what stays in the shared store: the job is finished, or the one who
led last has left a note why it stopped.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event as Signal
from threading import Thread

from mmcrawl.errors import StoreError
from mmcrawl.sharing.leader import SIGN_SECONDS, Leader, MakeJob
from mmcrawl.sharing.rules import ListeningClock, Rules
from mmcrawl.sharing.store import SharedStore
from mmcrawl.sharing.working_copy import FOLDER, working_folder

logger = logging.getLogger(__name__)


class Coordinator:
    """Leads a shared crawl, or waits to.

    Args:
        shared: where the crawl is shared.
        make_job: makes the crawl over a working copy of the store; called in the thread.
        worker: name of the worker whose process this is.
        rules: how the crawl is shared.

    Attributes:
        stopped: called from the thread when the crawl is over, with the reason.
        failed: called from the thread if it cannot go on, with the reason.
    """

    def __init__(
        self, shared: SharedStore, make_job: MakeJob, *, worker: str, rules: Rules
    ) -> None:
        self.stopped: Callable[[str], object] = lambda reason: None
        self.failed: Callable[[StoreError], object] = lambda error: None
        self._shared = shared
        self._make_job = make_job
        self._worker = worker
        self._rules = rules
        self._closing = Signal()
        self._reason = ""
        self._thread = Thread(target=self._run, name="mmcrawl-coordinator", daemon=True)

    def start(self) -> None:
        """Begin to watch, and lead when nobody does."""
        self._thread.start()

    def close(self, reason: str, timeout: float | None = None) -> None:
        """Hand over, or if no other worker is there note why the crawl stops; wait for it.

        Args:
            reason: why this worker stops.
            timeout: seconds to wait at most, None for as long as it takes.
        """
        self._reason = reason
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        watch = _Watch(self._shared, self._rules.lease)
        try:
            _sweep()
            while not self._closing.is_set():
                reason = watch.look()
                if watch.nobody_leads and not reason:
                    reason = self._lead()
                if reason:
                    self.stopped(reason)
                    return
                self._closing.wait(SIGN_SECONDS)
        except StoreError as error:
            self.failed(error)
        except Exception as error:
            logger.exception("The coordinator failed")
            self.failed(
                StoreError(f"the coordinator of the crawl failed: {type(error).__name__}: {error}")
            )

    def _lead(self) -> str:
        """Lead as long as possible; return why the crawl is over, "" if it is not."""
        with (
            working_folder() as folder,
            Leader(
                self._shared,
                self._make_job,
                folder,
                worker=self._worker,
                rules=self._rules,
                closing=self._closing,
            ) as leader,
        ):
            if not leader.begin():
                return ""
            while not self._closing.is_set():
                if not leader.step():
                    return leader.outcome
            leader.end(self._reason)
        return ""


class _Watch:
    """Sees whether a coordinator leads.

    Attributes:
        nobody_leads: whether none did when it looked last.
    """

    def __init__(self, shared: SharedStore, lease: float) -> None:
        self.nobody_leads = False
        self._shared = shared
        self._lease = lease
        self._clock = ListeningClock(lease / 2)
        self._sign: object = None
        self._changed = 0.0
        self._joined_in: int | None = None

    def look(self) -> str:
        """Look once; return why the crawl is over, "" if it goes on."""
        job = self._shared.refresh_job()
        if job.finished_at is not None:
            return job.reason
        leader = self._shared.leader() or {"term": 0, "gone": True}
        term = leader["term"]
        if self._joined_in is None:
            self._joined_in = term
        if leader.get("stop") and term > self._joined_in:
            return str(leader["stop"])
        sign = (term, leader.get("worker"), leader.get("sign"))
        now = self._clock.look()
        if sign != self._sign:
            self._sign, self._changed = sign, now
        self.nobody_leads = bool(leader.get("gone")) or now - self._changed > self._lease
        return ""


def _sweep() -> None:
    """Remove the working copies of processes that were killed on this machine."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}[0-9]*-*"):
        process = folder.name.removeprefix(FOLDER).partition("-")[0]
        with suppress(OSError):
            if process.isdigit() and folder.stat().st_uid == os.getuid() and not _runs(process):
                shutil.rmtree(folder, ignore_errors=True)


def _runs(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
