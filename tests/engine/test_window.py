"""How many pages are under way: over a simulated network and simulated time, and in a crawl."""

import heapq
from random import Random

from mmcrawl.engine import Window
from tests.tables import each

PAGES = 600
AT_ONCE = 8


class Crawl:
    """Pages come after a latency, and go through stages that take in one at a time.

    The first stage is the reactor, which sees what has come when it has nothing else to do. A
    pipeline of others takes in all side by side.

    Attributes:
        window: bounds them.
        speed: pages a second.
        most: under way at once, of the second half.
    """

    def __init__(
        self, latency: float, stages: tuple[float, ...], *, pipeline: float = 0.0, fixed: int = 0
    ) -> None:
        self._random = Random(20)
        self._now, self._handed_out, self._under_way, self._in_flight = 0.0, 0, 0, 0
        self._events: list[tuple[float, int, str]] = []
        self._latency, self._stages, self._free = latency, stages, [0.0] * len(stages)
        self._pipeline = pipeline
        self._busy = 0.0
        self.window = Window(fixed, lambda: self._now, self._busy_seconds)
        self.most = 0
        self._hand_out()
        while self._events:
            self._now, page, what = heapq.heappop(self._events)
            if what == "_come" and self._free[0] > self._now:
                self._later(self._free[0], page, what)
                continue
            getattr(self, what)(page)
            self._hand_out()
        self.speed = PAGES / self._now

    def _later(self, when: float, page: int, what: str) -> None:
        heapq.heappush(self._events, (max(when, self._now), page, what))

    def _busy_seconds(self) -> float:
        return self._busy - max(0.0, self._free[0] - self._now)

    def _hand_out(self) -> None:
        while self._handed_out < PAGES and self._in_flight < AT_ONCE and self.window.has_room():
            seconds = 0.001 + self._latency * self._random.uniform(0.9, 1.1)
            self._later(self._now + seconds, self._handed_out, "_come")
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
        self._later(end, page, "_pass_on")

    def _pass_on(self, page: int) -> None:
        self._under_way -= 1
        if self._pipeline:
            self.window.rests(page)
            self._later(self._now + self._pipeline, page, "_end")
        else:
            self._end(page)

    def _end(self, page: int) -> None:
        self.window.ended(page)


@each(
    "latency, stages, pipeline, most",
    [
        (0.0, (0.008,), 0.0, 3),
        (0.0, (0.020, 0.030), 0.0, 6),
        (0.05, (0.010, 0.015), 0.5, 12),
        (1.0, (0.008, 0.012, 0.008), 0.0, 18),
    ],
)
def test_as_few_pages_are_under_way_as_keep_the_crawl_at_work(latency, stages, pipeline, most):
    bounded = Crawl(latency, stages, pipeline=pipeline)
    unbounded = Crawl(latency, stages, pipeline=pipeline, fixed=PAGES)
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


def test_a_fixed_bound_stays_and_waits_for_pipelines():
    crawl = Crawl(0.3, (0.008,), pipeline=0.5, fixed=1)
    assert (crawl.window.size, crawl.most) == (1, 1)
    assert crawl.speed < 1 / 0.8


@each("size, most", [(100 << 10, 200), (1 << 20, 32), (40 << 20, 1)])
def test_bodies_on_the_way_are_bounded_by_what_the_last_ones_took(size, most):
    window = Window(200, lambda: 0.0)
    for link in range(3):
        window.handed_out(link)
        window.fetched(link, size)
        window.ended(link)
    on_the_way = 0
    while on_the_way < 200 and window.has_room():
        window.handed_out(on_the_way)
        on_the_way += 1
    assert on_the_way == most


def test_what_has_come_of_bodies_counts_until_their_pages_are_taken_in():
    window, size = Window(200, lambda: 0.0), 9 << 20
    for link in range(4):
        assert window.has_room()
        window.handed_out(link)
        if link % 2:
            window.declares(link, size)
        window.comes(link, size - 1)
        window.comes(link, 1)
    assert not window.has_room()
    for link in range(4):
        window.fetched(link, size)
    assert not window.has_room()
    for link in range(4):
        window.ended(link)
    assert window.has_room()


@each("fixed", [0, 200])
def test_a_server_that_declares_much_and_sends_little_does_not_stop_others(fixed):
    now, large, good = [0.0], 32 << 20, 100
    window = Window(fixed, lambda: now[0], lambda: 0.0)

    def good_page_comes():
        window.fetched(good, 10_000)
        window.ended(good)

    for _ in range(2):  # the first does not count
        window.handed_out(good)
        good_page_comes()
    for link in range(6):
        window.handed_out(link)
        window.declares(link, large)
        assert not window.has_room()  # a burst of large pages would be more than it may
        now[0] += 1.1
        window.comes(link, 1000)
        window.handed_out(good)
        assert window.has_room()  # beside one that is not overdue
        good_page_comes()
    window.comes(5, large)  # it hangs with all but its end
    assert window.has_room()
    window.handed_out(good)
    assert not window.has_room()  # one at a time
    good_page_comes()
    assert window.has_room()


NOTED = """
from mmcrawl.engine.window import Window
from mmcrawl.spiders.focused import FocusedSpider as Spider

def noted(name, note):
    def method(self, link, size):
        seen.append((name, size))
        note(self, link, size)
    return method

for name in ("comes", "declares"):
    setattr(Window, name, noted(name, getattr(Window, name)))
"""


def test_large_pages_are_counted_as_they_come(tools):
    server, words = tools.serve(), "<p>optics</p>" * 20_000
    server.pages = {"/": tools.links(*(f"/{n}" for n in range(6)))}
    server.pages |= {f"/{n}": f"{n}{words}" for n in range(6)}
    read_only = {"MMCRAWL_BLOCKS": "off", "MMCRAWL_ARCHIVE": "none"}
    (outcome,) = tools.crawl({"seeds": server.url()}, spider=NOTED, settings=read_only)
    assert outcome.finished
    large = len(words) + 1
    assert outcome.seen.count(["declares", large]) == 6
    comes = (size for name, size in outcome.seen if name == "comes")
    assert sum(size for size in comes if size < large) > 6 * large


WAITING = """
import asyncio

from mmcrawl.spiders.focused import FocusedSpider as Spider

class Pipeline:
    held = None  # the first page, which leads to the others, does not wait

    async def process_item(self, item):
        if self.held is None:
            self.held = []
            return item
        self.held.append(asyncio.get_running_loop().create_future())
        seen.append(len(self.held))
        if len(self.held) == AT_ONCE:
            while self.held:
                self.held.pop().set_result(None)
        else:
            await self.held[-1]
        return item
"""


def test_pages_that_wait_in_pipelines_hold_up_others_by_their_bytes_only(tools):
    pages, at_once, concurrent = 60, 30, 8
    server = tools.serve()
    server.pages = {"/": tools.links(*(f"/{n}" for n in range(pages)))}
    server.pages |= {f"/{n}": f"<p>page {n}</p>" for n in range(pages)}
    most = 1024 * (at_once + concurrent)  # Scrapy counts 1 kB for a page that has less
    crawls = [
        {
            "seeds": server.url(),
            "settings": {
                "ITEM_PIPELINES": {"spider_under_test.Pipeline": place},
                "SCRAPER_SLOT_MAX_ACTIVE_SIZE": most,
            },
        }
        for place in (10, 500)  # before and after those of the crawl
    ]
    for outcome in tools.crawl(*crawls, spider=WAITING.replace("AT_ONCE", f"{at_once}")):
        assert outcome.finished
        assert outcome.stats["item_dropped_count"] == outcome.stats["mmcrawl/archive/pages"] == 61
        assert max(outcome.seen) == at_once
