"""How many pages are under way, over a simulated network and simulated time."""

import heapq
from random import Random

import pytest

from mmcrawl.engine import Window

PAGES = 600
AT_ONCE = 8


class Crawl:
    """Pages come after a latency, and go through stages that take in one at a time.

    The first stage is the reactor, which sees what has come when it has nothing else to do.

    Attributes:
        window: bounds them.
        speed: pages a second.
        most: under way at once, of the second half.
    """

    def __init__(self, latency: float, stages: tuple[float, ...], fixed: int = 0) -> None:
        self._random = Random(20)
        self._now, self._handed_out, self._under_way, self._in_flight = 0.0, 0, 0, 0
        self._events: list[tuple[float, int, bool]] = []
        self._latency, self._stages, self._free = latency, stages, [0.0] * len(stages)
        self._busy = 0.0
        self.window = Window(fixed, lambda: self._now, self._busy_seconds)
        self.most = 0
        self._hand_out()
        while self._events:
            self._now, page, has_come = heapq.heappop(self._events)
            if has_come and self._free[0] > self._now:
                heapq.heappush(self._events, (self._free[0], page, True))
                continue
            (self._come if has_come else self._end)(page)
            self._hand_out()
        self.speed = PAGES / self._now

    def _busy_seconds(self) -> float:
        return self._busy - max(0.0, self._free[0] - self._now)

    def _hand_out(self) -> None:
        while self._handed_out < PAGES and self._in_flight < AT_ONCE and self.window.has_room():
            seconds = 0.001 + self._latency * self._random.uniform(0.9, 1.1)
            heapq.heappush(self._events, (self._now + seconds, self._handed_out, True))
            self.window.handed_out(self._handed_out)
            self._handed_out += 1
            self._under_way += 1
            self._in_flight += 1
            if self._handed_out > PAGES / 2:
                self.most = max(self.most, self._under_way)

    def _come(self, page: int) -> None:
        self._in_flight -= 1
        self.window.fetched(page)
        end = self._now
        for number, mean in enumerate(self._stages):
            first = 30 if page == 0 else 1  # programs start with it
            seconds = mean * first * self._random.choice((0.5, 0.7, 0.9, 1.1, 2.0))
            end = self._free[number] = max(end, self._free[number]) + seconds
            self._busy += seconds if number == 0 else 0.0
        heapq.heappush(self._events, (end, page, False))

    def _end(self, page: int) -> None:
        self._under_way -= 1
        self.window.ended(page)


@pytest.mark.parametrize(
    ("latency", "stages", "most"),
    [
        (0.0, (0.008,), 3),
        (0.0, (0.008, 0.012, 0.008), 10),
        (0.05, (0.008,), 11),
        (0.3, (0.008,), 16),
        (1.0, (0.008, 0.012, 0.008), 16),
    ],
)
def test_as_few_pages_are_under_way_as_keep_the_crawl_at_work(latency, stages, most):
    bounded, unbounded = Crawl(latency, stages), Crawl(latency, stages, fixed=PAGES)
    assert bounded.speed > 0.87 * unbounded.speed
    assert bounded.most <= most


def test_requests_that_hang_leave_room_to_others():
    now = [0.0]
    window = Window(now=lambda: now[0])
    hanging = range(int(window.size))
    for link in hanging:
        assert window.has_room()
        window.handed_out(link)
    assert not window.has_room()
    now[0] = 1.1
    assert window.has_room()


def test_a_fixed_bound_stays():
    crawl = Crawl(0.3, (0.008,), fixed=1)
    assert (crawl.window.size, crawl.most) == (1, 1)
