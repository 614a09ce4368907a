"""Who has nothing to do gets parts soon, and a crawl that is done ends soon."""

from __future__ import annotations

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


def gang_of_one(seed: int) -> Gang:
    """Return a worker that has links to pages of eight hosts."""
    gang = SeldomGang(MadeWeb(8, 30, seed), Rules(parts=16, rest=0.0), seed=seed)
    gang.pages_a_step = 1
    gang.join()
    while len(gang.web.fetched) < 10:
        gang.pass_time()
    return gang


def test_who_joins_has_links_after_two_looks_of_the_other() -> None:
    for seed in range(8):
        gang = gang_of_one(seed)
        joined, began = gang.join(), gang.now
        while not joined.under_way:
            gang.pass_time()
        assert gang.now - began <= 2.5, seed


def test_a_crawl_ends_soon_after_its_last_page() -> None:
    for seed in range(5):
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
