"""Which hosts may be sent a request now, and when the engine is to ask for one again."""

from collections import Counter
from collections.abc import Callable
from math import inf
from time import time
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import call_later

from mmcrawl.engine.unreachable import UnreachableHosts
from mmcrawl.settings import value_of


class FreeHosts:
    """The hosts of a crawl that the downloader has room for.

    Args:
        crawler: Whose downloader and engine.

    Attributes:
        unreachable: Those whose robots.txt cannot be had.
        left_alone: Whether the last test found no other than these, and each was asked enough.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.unreachable = UnreachableHosts(value_of(crawler.settings, "MMCRAWL_ROBOTS_PAUSE"))
        self.left_alone = False
        self._concurrency = crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._asked_at = inf

    def test(self) -> Callable[[str], bool]:
        """Return a test that tells of an origin whether a request may be sent there now.

        A host whose delay is not over is not free: its request would wait in the downloader, where
        it takes the place of one to another host. The engine will ask again when it is over.
        """
        downloader = self._crawler.engine.downloader
        busy = Counter(downloader.get_slot_key(request) for request in downloader.active)
        now = time()
        self.left_alone = False
        others = bool(downloader.active)

        def free(origin: str) -> bool:
            nonlocal others
            parts = urlsplit(origin)
            if pause := self.unreachable.wait(parts.netloc):
                enough = self.unreachable.asked_enough(parts.netloc)
                others |= not enough
                self.left_alone = not others
                self.ask_again(pause)
                return False
            others, self.left_alone = True, False
            host = parts.hostname or ""
            slot = downloader.slots.get(host)
            if slot is None:
                most = self._concurrency if not downloader._delay else 1
            else:
                most = slot.concurrency if not slot.delay else 1
                wait = slot.lastseen + slot.delay - now
                if wait > 0 and slot.delay:
                    self.ask_again(wait)
                    return False
            return busy[host] < most

        return free

    def ask_again(self, seconds: float) -> None:
        """Let the engine ask for a request after some time, unless it will before."""
        due = time() + seconds
        if due < self._asked_at:
            self._asked_at = due
            call_later(seconds, self.ask)

    def ask(self) -> None:
        """Let the engine ask for a request as soon as it can."""
        self._asked_at = inf
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()
