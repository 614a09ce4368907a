"""Hosts that are left alone because their robots.txt cannot be had, and when it is asked for again.

Of a host that answers with an error of its own, or not at all, nobody knows what it forbids: all of
it counts as forbidden until it answers (RFC 9309, 2.3.1.4). Its links wait.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from scrapy.exceptions import IgnoreRequest

_LONGEST = 3_600.0
_ENOUGH = 3


class RobotsUnreachableError(IgnoreRequest):
    """The robots.txt of a host cannot be had, as the message says."""


@dataclass(slots=True)
class _Host:
    reason: str
    asked: int
    due: float


class UnreachableHosts:
    """The hosts of a crawl whose robots.txt cannot be had.

    Args:
        pause: seconds until it is asked for a second time; each further pause is twice as long, up
            to an hour.
        clock: gives seconds.

    >>> hosts = UnreachableHosts(10, clock=lambda: 0)
    >>> hosts.note("h.test", "HTTP 503"), hosts.note("h.test", "HTTP 503")
    (10, 20)
    """

    def __init__(self, pause: float, clock: Callable[[], float] = monotonic) -> None:
        self._pause, self._clock = pause, clock
        self._hosts: dict[str, _Host] = {}

    def note(self, netloc: str, reason: str) -> float:
        """Note that a robots.txt could not be had; return after how many seconds to ask again."""
        host = self._hosts.setdefault(netloc, _Host(reason, 0, 0.0))
        pause = min(self._pause * 2.0**host.asked, _LONGEST) if host.asked < 99 else _LONGEST
        host.reason, host.asked, host.due = reason, host.asked + 1, self._clock() + pause
        return pause

    def answered(self, netloc: str) -> None:
        """Note that a robots.txt was had."""
        self._hosts.pop(netloc, None)

    def wait(self, netloc: str) -> float:
        """Return after how many seconds a host may be asked, 0 for now."""
        host = self._hosts.get(netloc)
        return max(host.due - self._clock(), 0.0) if host is not None else 0.0

    def reason(self, netloc: str) -> str:
        """Return why a robots.txt could not be had, "" where it was, or was not asked for."""
        host = self._hosts.get(netloc)
        return host.reason if host is not None else ""

    def asked_enough(self, netloc: str) -> bool:
        """Tell whether a crawl that has nothing else to do need not ask again."""
        host = self._hosts.get(netloc)
        return host is not None and host.asked >= _ENOUGH

    def told(self) -> dict[str, int]:
        """Return how often each was asked, with the reason."""
        return {f"{name}: {host.reason}": host.asked for name, host in self._hosts.items()}
