"""The coordinator of a shared crawl: takes in what workers report and leases links to them.

Every worker process has one, in a thread of its own, and one of them leads. The others watch it: it
shows a sign of life every second, and when none was seen for as long as a lease lasts, or it said
that it goes, another one takes over. Whoever leads holds the frontier and the scorer in a working
copy; nobody else computes scores. To take over, a coordinator fetches the newest snapshot of that
copy, replays the log after it, and writes an entry of its own: the one whose entry got the number
leads, and one that was replaced finds the number of its next entry taken. No clocks are compared,
only how long something did not change, by the clock of the one who looks.
"""

import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event as Signal
from threading import Thread

from mmcrawl.errors import StoreError
from mmcrawl.shared.board import Board
from mmcrawl.shared.reign import SIGN_SECONDS, MakeJob, Reign
from mmcrawl.shared.rules import Rules

__all__ = ["Coordinator"]

logger = logging.getLogger(__name__)


class Coordinator:
    """Leads a shared crawl, or waits to.

    Args:
        board: where the crawl is shared.
        make_job: makes the crawl over a working copy of the store; called in the thread.
        worker: name of the worker whose process this is.
        rules: how the crawl is shared.

    Attributes:
        failed: called from the thread if it cannot go on, with the reason.
    """

    def __init__(self, board: Board, make_job: MakeJob, *, worker: str, rules: Rules) -> None:
        self.failed: Callable[[StoreError], object] = lambda error: None
        self._board = board
        self._make_job = make_job
        self._worker = worker
        self._rules = rules
        self._closing = Signal()
        self._reason = ""
        self._thread = Thread(target=self._run, name="mmcrawl-coordinator", daemon=True)

    def start(self) -> None:
        """Begin to watch, and lead when nobody does."""
        self._thread.start()

    def close(self, reason: str) -> None:
        """Hand over, or if no other worker is there note why the crawl stops; wait for it."""
        self._reason = reason
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        watch = _Watch(self._board, self._rules.lease)
        try:
            while not self._closing.is_set():
                if watch.nobody_leads():
                    self._lead(watch)
                self._closing.wait(SIGN_SECONDS)
        except StoreError as error:
            self.failed(error)
        except Exception as error:
            logger.exception("The coordinator failed")
            self.failed(
                StoreError(f"the coordinator of the crawl failed: {type(error).__name__}: {error}")
            )

    def _lead(self, watch: "_Watch") -> None:
        folder = Path(tempfile.mkdtemp(prefix="mmcrawl-"))
        try:
            with Reign(
                self._board,
                self._make_job,
                folder,
                worker=self._worker,
                rules=self._rules,
                closing=self._closing,
            ) as reign:
                if not reign.begin(still_wanted=watch.nobody_leads):
                    return
                while not self._closing.is_set():
                    if not reign.step():
                        return
                reign.end(self._reason)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class _Watch:
    """Sees whether a coordinator leads."""

    def __init__(self, board: Board, lease: float) -> None:
        self._board = board
        self._lease = lease
        self._sign: object = None
        self._changed = self._looked = 0.0

    def nobody_leads(self) -> bool:
        """Tell whether the crawl goes on and has no coordinator."""
        if self._board.refresh_job().finished_at is not None:
            return False
        leader = self._board.leader()
        if leader is None or leader.get("gone"):
            return True
        sign = (leader["term"], leader["sign"])
        now = time.monotonic()
        held_up = now - self._looked > self._lease / 2  # it could not see signs either
        if sign != self._sign or held_up:
            self._sign, self._changed = sign, now
        self._looked = now
        return now - self._changed > self._lease
