"""Blocking work in a few threads, so that a slow archive neither stops nor floods the server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from mmcrawl.browse.arguments import Problem

_R = TypeVar("_R")


class Pool:
    """Runs work in threads.

    A thread cannot be stopped: work that takes too long is answered for, and goes on. It counts
    until it ends, so there is never more of it than `threads`.

    Args:
        threads: At work at once, at least 1.
        waiting: Pieces of work that may wait for a thread; more are refused.
        seconds: Until work, waiting included, is given up.
    """

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="browse")
        self._most = threads + waiting
        self._seconds = seconds
        self._lock = Lock()
        self._count = 0

    async def run(self, work: Callable[[], _R]) -> _R:
        """Return what work returns, or raise what it raises.

        Raises:
            Problem: too much waits already (503), or it takes too long (504).
        """
        with self._lock:
            if self._count >= self._most:
                raise Problem(503, "busy")
            self._count += 1
        try:
            future = self._executor.submit(work)
        except BaseException:
            self._done()
            raise
        future.add_done_callback(self._done)
        result = asyncio.wrap_future(future)
        try:
            await asyncio.wait({result}, timeout=self._seconds)
            if result.done():
                return result.result()
        finally:
            result.cancel()  # what waits for a thread still is not begun
        raise Problem(504, "slow", seconds=f"{self._seconds:g}")

    def close(self) -> None:
        """Take on nothing more; what runs goes on."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _done(self, _: object = None) -> None:
        with self._lock:
            self._count -= 1
