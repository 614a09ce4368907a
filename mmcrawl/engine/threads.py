"""Waits for slow work in threads without blocking the reactor."""

import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from time import monotonic
from typing import Any, Generic, ParamSpec, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from mmcrawl.store.child_process import cores

P = ParamSpec("P")
T = TypeVar("T")


def use_monotonic_clock() -> None:
    """Let the reactor tell how long to wait by a clock that is never set.

    Twisted's is the time of day. What threads hand over waits in its heap as well: if the clock is
    put back an hour at that moment, it comes an hour later, and what waits for it with it.

    It is for the signal ``spider_opened``: Scrapy makes the spider before it has a reactor.
    """
    from twisted.internet import reactor as installed

    reactor: Any = installed  # Twisted declares functions, which could not be replaced
    if not reactor.getDelayedCalls():  # else their times are of the other clock
        reactor.seconds = monotonic


def in_thread(call: Callable[[], T]) -> Deferred[T]:
    """Return what `call` returns, run in a separate thread.

    Unlike with `twisted.internet.threads`, the process may end before it does.
    """
    from twisted.internet import reactor

    result: Deferred[T] = Deferred()

    def run() -> None:
        try:
            value = call()
        except Exception:  # noqa: BLE001 - passed on to the waiting caller
            reactor.callFromThread(result.errback, Failure())  # type: ignore[no-untyped-call]
        else:
            reactor.callFromThread(result.callback, value)

    Thread(target=run, name="mmcrawl-waiting", daemon=True).start()
    return result


def in_reactor(call: Callable[P, object]) -> Callable[P, None]:
    """Return a function that calls `call` in the reactor's thread, from any other."""
    from twisted.internet import reactor

    def hand_over(*arguments: P.args, **keywords: P.kwargs) -> None:
        reactor.callFromThread(call, *arguments, **keywords)

    return hand_over


class Completions(Generic[T]):
    """Passes the results of futures to the reactor's thread, in batches."""

    def __init__(self) -> None:
        self._ended: deque[tuple[Future[T], Deferred[T]]] = deque()
        self._lock = Lock()

    def of(self, future: Future[T]) -> Deferred[T]:
        """Return a deferred that ends in the reactor's thread when a future does."""
        deferred: Deferred[T] = Deferred()
        future.add_done_callback(lambda _: self._add(future, deferred))
        return deferred

    def _add(self, future: Future[T], deferred: Deferred[T]) -> None:
        from twisted.internet import reactor

        with self._lock:
            self._ended.append((future, deferred))
            is_first = len(self._ended) == 1
        if is_first:  # else the reactor has been called already
            reactor.callFromThread(self._tell)

    def _tell(self) -> None:
        while self._ended:
            # What is told leaves the queue afterwards: one that is empty calls the reactor.
            future, deferred = self._ended[0]
            error = future.exception()
            if error is None:
                deferred.callback(future.result())
            else:
                deferred.errback(error)
            self._ended.popleft()


def has_another_core() -> bool:
    """Return whether another process could run beside this one."""
    return bool(sys.executable) and cores() > 1
