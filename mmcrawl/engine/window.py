"""How many links may be in progress: as few as keep the crawl busy.

A link is chosen by what is known when it is handed out, so pages still in progress (on the network,
or fetched and not yet learnt from) cannot influence the choice. So no more are handed out than the
network and the crawl can work on at once.

The bound is a window as in FAST TCP (Jin, Wei, Low: FAST TCP, INFOCOM 2004, equation 5), with
waiting pages in place of packets in a router's queue: the time that pages spend in the crawl beyond
that of a page that meets no other is waiting. Time in the network, in a rendering browser or in a
pipeline of the user's does not count, since these work in parallel. Pages in such a pipeline are
bounded by Scrapy, by their bytes; all others by a budget: the bytes received of each, and for one
in progress as many more as the last ones had. For one second the size that a server declares counts
as received, which bounds a first burst of large pages. It does not count for longer, nor does an
overdue page delay others: otherwise one server that declares much and sends little would stop the
crawl.
"""

from collections.abc import Callable, Container
from math import exp
from time import monotonic, thread_time

from scrapy import Request, signals
from scrapy.http import Response
from scrapy.signalmanager import SignalManager

from mmcrawl.engine.requests import LINK_KEY

_FIRST = 4.0
_FEWEST = 2.0  # while one page is being recorded, the next one arrives
_WAITING = 2.0  # pages that wait for others, so that nobody waits for pages
_BUSY, _STEEP = 0.97, 40.0  # share of time the reactor is at work; with less it does more
_SPAN = 0.25  # seconds over which that is looked at, or what the network takes
_WEIGHT = 1 / 8  # of the last page in what is known of all
_LONGEST = 512  # pages after which one is let come alone, which costs its way and its work
_MOST_BYTES = 32 << 20  # of bodies, those that are expected among them: as large as one may be
_DECLARED = 1.0  # seconds for which a declared length counts: in these much comes, or it is slow
_OVERDUE, _SOONEST = 4.0, 1.0  # times what the network takes on average; seconds at least


class Window:
    """Limits the links in progress.

    Args:
        fixed: as many at most; 0 adapts the bound.
        now: the time in seconds.
        busy: how long the reactor has been at work, in seconds.
    """

    def __init__(
        self,
        fixed: int = 0,
        now: Callable[[], float] = monotonic,
        busy: Callable[[], float] | None = None,
    ) -> None:
        self.size = float(fixed or _FIRST)  # the bound now
        self._fixed = bool(fixed)
        self._now, self._busy = now, busy or busy_seconds
        self._looked, self._at_work = (self._now(), self._busy()), 0.0
        self._on_the_way: dict[int, float] = {}
        self._fetched: dict[int, float] = {}
        self._resting: dict[int, float] = {}
        self._alone: set[int] = set()
        self._since_alone = 0
        self._held_back = self._was_full = False
        self._inside = 1.0  # pages that are there when one has come, itself included
        self._flight = _Mean()
        self._bytes = _Mean()
        self._come: dict[int, int] = {}  # bytes of those on the way and fetched
        self._all_come = 0
        self._declared: dict[int, tuple[int, float]] = {}  # bytes in all, and until when they count
        self._seconds = _Mean()
        self._seconds_alone = _Mean()

    def watch(self, signal: SignalManager, under_way: Container[int]) -> None:
        """Follow a crawl's links by the signals of its bytes and pages.

        Args:
            signal: of the crawl.
            under_way: the links that are.
        """

        def begins(body_length: object, request: Request) -> None:
            if isinstance(body_length, int):  # else it is not declared
                self.declares(request.meta.get(LINK_KEY, -1), body_length)

        def comes(data: bytes, request: Request) -> None:
            self.comes(request.meta.get(LINK_KEY, -1), len(data))

        def fetched(response: Response, request: Request) -> None:
            if (link := request.meta.get(LINK_KEY, -1)) in under_way:
                self.fetched(link, len(response.body))

        signal.connect(begins, signals.headers_received, weak=False)
        signal.connect(comes, signals.bytes_received, weak=False)
        signal.connect(fetched, signals.response_received, weak=False)

    def has_room(self) -> bool:
        """Return whether one more link may be handed out."""
        most = 1 if self._since_alone > _LONGEST else int(self.size)
        due = self._due()
        expected = self._all_come + self._yet_to_come() + (due + 1) * self._bytes.value
        if expected > _MOST_BYTES and (due or self._fetched):
            return False  # a wider window would not help
        if len(self._fetched) + (len(self._on_the_way) if self._fixed else due) < most:
            return True
        self._held_back = True
        return False

    def handed_out(self, link: int) -> None:
        """Record that a link was handed out."""
        self._on_the_way[link] = self._now()

    def declares(self, link: int, size: int) -> None:
        """Record the size that a server declares for a page."""
        if link in self._on_the_way:
            self._declared[link] = size, self._now() + _DECLARED

    def comes(self, link: int, size: int) -> None:
        """Record that more bytes of a page have arrived."""
        if link in self._on_the_way:
            self._come[link] = self._come.get(link, 0) + size
            self._all_come += size

    def _leaves(self, link: int) -> None:
        self._declared.pop(link, None)
        self._all_come -= self._come.pop(link, 0)

    def fetched(self, link: int, size: int = 0) -> None:
        """Record that the page of a link has arrived, and its size."""
        now = self._now()
        self._bytes.add(size)
        self._leaves(link)  # what came may have been compressed, or led to another page
        self.comes(link, size)
        self._flight.add(now - self._on_the_way.pop(link, now))
        self._since_alone += not self._fixed
        if not self._fetched:
            self._alone.add(link)
            self._since_alone = 0
        self._fetched[link] = now
        self._inside += _WEIGHT * (len(self._fetched) - self._inside)

    def rests(self, link: int) -> None:
        """Record that a page is in a user's pipelines: the crawl itself has no work with it."""
        if link in self._fetched and not self._fixed:
            self._leaves(link)
            self._resting[link] = self._now() - self._fetched.pop(link)

    def ended(self, link: int) -> None:
        """Record that a link has ended, and adapt the bound; it grows if it held links back."""
        self._on_the_way.pop(link, None)
        self._leaves(link)
        self.rests(link)
        seconds = self._resting.pop(link, None)
        if seconds is None:
            self._fetched.pop(link, None)
            return
        self._seconds.add(seconds)
        if link in self._alone:
            self._alone.remove(link)
            self._seconds_alone.add(seconds)
        self._adapt()

    def _yet_to_come(self) -> int:
        """Return how many declared bytes have not arrived, where that counts."""
        now, come = self._now(), self._come
        counting = ((link, size) for link, (size, end) in self._declared.items() if now < end)
        return sum(max(size - come.get(link, 0), 0) for link, size in counting)

    def _due(self) -> int:
        """Return how many of the pages in progress may arrive soon."""
        since = self._now() - max(_SOONEST, _OVERDUE * self._flight.value)
        return sum(begun > since for begun in self._on_the_way.values())

    def _adapt(self) -> None:
        alone, seconds = self._seconds_alone.value, self._seconds.value
        waiting = self._inside * (1 - min(alone / seconds, 1.0)) if seconds else 0.0
        change = min(_WAITING - waiting, _STEEP * (_BUSY - self._share_busy()))
        self._was_full |= change < 0
        if self._was_full:
            change /= self.size
        if change < 0 or self._held_back:
            self._held_back = False
            self.size = max(_FEWEST, self.size + min(change, 1.0))

    def _share_busy(self) -> float:
        """Return the share of recent time in which the reactor was busy, in [0, 1]."""
        then, self._looked = self._looked, (self._now(), self._busy())
        passed = self._looked[0] - then[0]
        if passed > 0:
            share = min((self._looked[1] - then[1]) / passed, 1.0)
            weight = 1 - exp(-passed / max(_SPAN, self._flight.value))
            self._at_work += weight * (share - self._at_work)
        return self._at_work


def busy_seconds() -> float:
    """Return how long this thread has been busy, or waiting for a core."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            on_core, for_core, _ = file.read().split()
    except (OSError, ValueError):  # not Linux
        return thread_time()
    return (int(on_core) + int(for_core)) / 1e9


class _Mean:
    """Of the last values; the first, when programs start and files are read, does not count."""

    def __init__(self) -> None:
        self.value = 0.0
        self._number = -1

    def add(self, value: float) -> None:
        self._number += 1
        if self._number:
            self.value += max(_WEIGHT, 1 / self._number) * (value - self.value)
