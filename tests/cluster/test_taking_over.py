"""Parts of a worker that died, as the one who takes them over has them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from mmcrawl.cluster import Rules
from mmcrawl.crawl import settle
from tests.tables import each

from .memory import Gang, MadeWeb, Worker


def scores(worker: Worker) -> dict[str, float]:
    """Return the scores of the links that wait in the parts of a worker."""
    found = {}
    for job in worker.job.parts.jobs.values():
        for link in job.frontier.waiting():
            record = job.frontier.record(link)
            found[record.url] = record.score
    return found


@each("algo, most", [("shark", 1e-9), ("topicrank", 1e-9), ("hits", 1e-9), ("learned", 0.05)])
def test_links_that_wait_have_the_scores_they_had(algo: str, most: float) -> None:
    """Logs have older ones; what other parts taught meanwhile counts for all at once."""
    gang = Gang(MadeWeb(3, 40), Rules(parts=16, lease=4.0, rest=0.0), algo=algo)
    first = gang.join()
    for _ in range(12):
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    before = scores(first)
    assert len(before) > 10
    first.die()
    second = gang.join()
    for _ in range(40):
        gang.pass_time()
    after = scores(second)
    assert after.keys() == before.keys()
    assert after == {url: pytest.approx(score, abs=most) for url, score in before.items()}


def test_pages_are_fetched_while_a_part_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    gang = Gang(MadeWeb(8, 40), Rules(parts=8, lease=4.0, rest=0.0))
    first, second = gang.join(), gang.join()
    gang.pages_a_step = 4
    while gang.web.fetched.total() < 160 or not second.job.parts.ready:
        gang.pass_time()
    monkeypatch.setattr("mmcrawl.cluster.hearing._STEPS_AT_ONCE", 2)
    gang.pages_a_step = 1
    first.die()
    held, fetched = len(second.job.parts.held), Counter[bool]()
    while len(second.job.parts.held) < 8:
        before = gang.web.fetched.total()
        gang.pass_time()
        taking = not second.job._hearing.is_done
        fetched[taking] += gang.web.fetched.total() - before
    assert held < 8
    assert fetched[True] > 10
    gang.run()
    assert gang.web.fetched.keys() == gang.web.urls


def test_who_takes_much_over_gives_signs_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others would hold it for dead, and take over what it has not told of, by turns for ever."""
    monkeypatch.setattr("mmcrawl.cluster.holdings._SMALLEST_LOG", 1)
    gang = Gang(MadeWeb(40, 3), Rules(parts=64, lease=4.0, rest=0.0))
    first = gang.join()
    while len(gang.web.fetched) < 100:
        gang.pass_time()
    first.die()
    rival, second = gang.join(), gang.join()
    signs, claims = [gang.now], []

    def takes_time(operation: str, table: str) -> None:
        gang.now += 0.25 * (operation != "insert")  # many at a time
        if (operation, table) == ("change", "worker"):
            signs.append(gang.now)
        elif (operation, table) == ("insert", "log"):
            claims.append(gang.now)
            if len(claims) == 1:
                rival.job.exchange.holdings.take({*range(64)}, {})

    second.documents.before = takes_time
    for worker in (rival, second):
        worker.job.exchange._members.may_live = lambda _: False  # type: ignore[method-assign]
    second.job.exchange.holdings.take({*range(64)}, {})
    assert not second.job.exchange.holdings.parts
    second.job.exchange.holdings.take({*range(64)}, {})
    assert len(second.job.exchange.holdings.parts) == 64
    assert max(later - sign for sign, later in pairwise([*signs, gang.now])) <= 2.0


def test_a_page_that_cannot_be_taken_in_ends_in_error() -> None:
    gang = Gang(MadeWeb(1, 3), Rules(parts=4, lease=4.0, rest=0.0))
    worker = gang.join()
    gang.pages_a_step = 0
    gang.pass_time()
    link = worker.job.next()
    assert link is not None
    page = gang.web.page(link.url)
    page.extra["what"] = object()  # a pipeline's
    assert not settle(worker.job, link.id, lambda: worker.job.crawled(link.id, page))
    assert not worker.job.is_running(link.id)
    [(reason, count)] = worker.job.error_reasons().items()
    assert ("ItemError" in reason, count) == (True, 1)
