"""Between threads and the reactor: waiting for what takes its time, without holding up Scrapy."""

from collections.abc import Callable
from threading import Thread
from typing import ParamSpec, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(call: Callable[[], T]) -> Deferred[T]:
    """Return what `call` will return in a thread of its own.

    Unlike with `twisted.internet.threads`, the process may end before it does.
    """
    from twisted.internet import reactor

    result: Deferred[T] = Deferred()

    def run() -> None:
        try:
            value = call()
        except Exception:  # noqa: BLE001 - whoever waits gets it
            reactor.callFromThread(result.errback, Failure())  # type: ignore[no-untyped-call]
        else:
            reactor.callFromThread(result.callback, value)

    Thread(target=run, name="mmcrawl-waiting", daemon=True).start()
    return result


def in_reactor(call: Callable[P, object]) -> Callable[P, None]:
    """Return what lets `call` be called in the reactor's thread, from any other."""
    from twisted.internet import reactor

    def hand_over(*arguments: P.args, **keywords: P.kwargs) -> None:
        reactor.callFromThread(call, *arguments, **keywords)

    return hand_over
