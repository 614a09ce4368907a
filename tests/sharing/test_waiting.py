"""Who has nothing to do gets parts soon, and a crawl that is done ends soon."""

from __future__ import annotations

from functools import partial

import pytest

from mmcrawl.sharing import Rules

from .memory import Gang, MadeWeb, MemoryStore, Worker


class SeldomWorker(Worker):
    """A worker that is always fetching a page, and reports once a second, as with Scrapy."""

    def crawl(self) -> None:
        self.fetch()
        if self.gang.now % 1 == 0:
            self.job.commit()


class SeldomGang(Gang):
    """Workers that report once a second."""

    def _made(self, name: str) -> Worker:
        return SeldomWorker(self, name, MemoryStore(self.tables))


class ShyWorker(Worker):
    """A worker that leaves the first host alone."""

    def __init__(self, gang: Gang, name: str, store: MemoryStore) -> None:
        super().__init__(gang, name, store)
        self.asked: list[bool] = []
        self.job.next = partial(self.job.next, self._may_ask)  # type: ignore[method-assign]
        self.job._is_left_alone = lambda: bool(self.asked) and not any(self.asked)

    def fetch(self) -> None:
        self.asked.clear()
        super().fetch()

    def _may_ask(self, origin: str) -> bool:
        self.asked.append(not origin.endswith("//h0.test"))
        return self.asked[-1]


class ShyGang(Gang):
    """Workers that leave the first host alone."""

    def _made(self, name: str) -> Worker:
        return ShyWorker(self, name, MemoryStore(self.tables))


def gang_of_one(seed: int) -> Gang:
    """Return a worker that has links to pages of eight hosts."""
    gang = SeldomGang(MadeWeb(8, 30, seed), Rules(parts=16, rest=0.0), seed=seed)
    gang.pages_a_step = 1
    gang.join()
    while len(gang.web.fetched) < 10:
        gang.pass_time()
    return gang


def test_who_joins_has_links_after_two_looks_of_the_other() -> None:
    for seed in range(4):
        gang = gang_of_one(seed)
        joined, began = gang.join(), gang.now
        while not joined.under_way:
            gang.pass_time()
        assert gang.now - began <= 2.5, seed


def test_a_crawl_ends_soon_after_its_last_page() -> None:
    for seed in range(3):
        gang = gang_of_one(seed)
        gang.join()
        last = 0.0
        while gang.workers:
            gang.pass_time()
            gang.see_off()
            if gang.web.fetched.keys() != gang.web.urls:
                last = gang.now
        assert gang.now - last <= 3.0, seed


def test_parts_are_given_with_the_next_link_not_with_the_next_report() -> None:
    gang = gang_of_one(0)
    [worker] = gang.workers.values()
    gang.join()
    worker.job.parts.choose("w1", active=1, others=1)
    assert worker.job.parts.can_give
    worker.job.next()
    assert not worker.job.parts.can_give


@pytest.mark.parametrize("max_pages", [0, 500])
def test_a_crawl_ends_unfinished_once_only_hosts_wait_that_are_left_alone(max_pages: int) -> None:
    web = MadeWeb(4, 20, seed=1)
    gang = ShyGang(web, Rules(parts=16, rest=0.0, max_pages=max_pages), seed=1)
    gang.join()
    gang.join()
    assert gang.run(90.0) == "hosts_unreachable"
    assert web.fetched.keys() == {url for url in web.urls if "//h0.test/" not in url}
