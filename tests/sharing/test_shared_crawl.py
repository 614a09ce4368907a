"""A shared crawl is what its log says, whoever reads it and from where."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest

from mmcrawl.crawling.job import CrawlJob
from mmcrawl.crawling.reports import FetchedPage, Reporter
from mmcrawl.errors import StoreError
from mmcrawl.frontier import Job, Limits, NewLink, SqliteStore, open_store
from mmcrawl.page import parse_page
from mmcrawl.scoring import LinkSimilarity, TopicTest, make_scorer
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules
from mmcrawl.sharing.allocator import Allocator, KnownWorker
from mmcrawl.sharing.crawl import SharedCrawl
from mmcrawl.sharing.messages import (
    Added,
    Entry,
    Event,
    Failed,
    Fetched,
    Grant,
    Lease,
    Message,
    Redirected,
    Retried,
    Returned,
)
from mmcrawl.sharing.rules import Rules
from mmcrawl.topic import topic_from_keywords

SEEDS = ("http://a.test/", "http://b.test/")


def page_at(url: str, rng: random.Random) -> bytes:
    links = "".join(
        f'<p><a href="http://{rng.choice("ab")}.test/d{rng.randrange(5)}/{rng.randrange(90)}.htm">'
        f"{rng.choice(['lens', 'optics', 'news', '光学'])}</a></p>"
        for _ in range(6)
    )
    film = '<p><a href="/f.mp4">film of a lens</a></p>' if rng.random() < 0.3 else ""
    return f"<title>{rng.choice(['optics', 'news'])}</title>{film}{links}".encode()


class Laboratory:
    """Crawls over working copies in a folder."""

    def __init__(self, folder: Path, algo: str) -> None:
        self.folder = folder
        self.algo = algo
        self.rules = PinnedRules()
        self.stores: list[SqliteStore] = []
        topic = topic_from_keywords("optics, lens, 光学")
        self.reporter = Reporter(TopicTest(topic, {"video"}), LinkSimilarity(topic))
        self.topic = topic

    def crawl(self, name: str, state: Mapping[str, object] | None = None) -> SharedCrawl:
        store = open_store(f"sqlite:///{self.folder / name}")
        self.stores.append(store)
        return SharedCrawl(self.job(store, store.job("test", {})), state)

    def job(self, store: SqliteStore, job: Job) -> CrawlJob:
        similarity = LinkSimilarity(self.topic)
        return CrawlJob(
            store,
            job,
            reporter=Reporter(TopicTest(self.topic, {"video"}), similarity),
            make_scorer=lambda source: make_scorer(self.algo, source, similarity),
            limits=Limits(per_shape=25),
            seeds=SEEDS,
            rules=self.rules,
        )

    def copy(self, name: str, new: str) -> None:
        for file in self.folder.glob(f"{name}*"):
            shutil.copy(file, self.folder / file.name.replace(name, new))

    def close(self) -> None:
        for store in self.stores:
            store.close()


@pytest.fixture
def laboratory(tmp_path: Path, request: pytest.FixtureRequest):
    made = Laboratory(tmp_path, getattr(request, "param", "shark"))
    yield made
    made.close()


def events_of(lab: Laboratory, leases: list[Lease], rng: random.Random) -> tuple[Event, ...]:
    """Fetch links, or let that fail in the ways it may."""
    events: list[Event] = []
    for lease in leases:
        link, number, fate = lease.link.id, lease.number, rng.random()
        if fate < 0.05:
            events.append(Failed(link, number, "HTTP 404"))
        elif fate < 0.1:
            events.append(Retried(link, number, None, -1))
        elif fate < 0.15:
            events.append(Returned(link, number))
        elif fate < 0.2:
            events.append(Redirected(link, number, NewLink(f"{SEEDS[0]}r{rng.randrange(20)}")))
        else:
            page = parse_page(page_at(lease.link.url, rng), lease.link.url, "text/html")
            report = lab.reporter.report(FetchedPage(page, digest=link), 1.7e9)
            events.append(Fetched(link, number, report))
    return tuple(events)


def lead(lab: Laboratory, crawl: SharedCrawl, steps: int, rng: random.Random) -> list[bytes]:
    """Play coordinator and two workers; return the log."""
    workers = {name: KnownWorker(0.0, capacity=6) for name in ("ann", "bob")}
    allocator = Allocator(crawl, Rules(rest=0.0))
    log = []
    for step in range(steps):
        known = crawl.known
        gone: tuple[str, ...] = ()
        messages = []
        if rng.random() < 0.1:
            gone = (rng.choice(list(workers)),)
            crawl.give_up(gone[0])
            allocator.forget(gone[0])
        for name in workers:
            held = list(crawl.leases.of(name))
            done = rng.sample(held, rng.randrange(len(held) + 1))
            message = Message(name, step, 0, 6, events_of(lab, done, rng)).encode()
            crawl.take(Message.decode(message))
            messages.append(message)
        starts = allocator.give(workers)
        entry = Entry(1, "ann", known, gone, tuple(messages), tuple(starts))
        crawl.advance(entry)
        log.append(entry.encode())
    return log


def picture(crawl: SharedCrawl) -> dict[str, object]:
    """Return everything that must be the same for all who read a log."""
    store = crawl.job.store
    return {
        "links": store.db.execute(
            "SELECT id, host, path, status, parent, logical_layer, priority, error, tag_path"
            " FROM link"
        ).fetchall(),
        "pages": store.db.execute(
            "SELECT id, url, relevant, topic_score, new_media FROM page ORDER BY id"
        ).fetchall(),
        "media": store.db.execute("SELECT page, url FROM media_resource").fetchall(),
        "state": crawl.state(),
    }


@pytest.mark.parametrize(
    "laboratory",
    ["shark", "urlrule", "urlrule-2009", "topicrank", "breadth", "learned"],
    indirect=True,
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_log_gives_the_same_crawl_to_all_who_read_it(laboratory: Laboratory, seed: int) -> None:
    first = laboratory.crawl("first.db")
    log = lead(laboratory, first, 40, random.Random(seed))
    assert first.job.pages > 50
    second = laboratory.crawl("second.db")
    for data in log:
        second.replay(Entry.decode(data))
    assert picture(second) == picture(first)
    assert "html body p a" in {link[-1] for link in picture(second)["links"]}


def granted(crawl: SharedCrawl, log: list[bytes]) -> list[str]:
    starts = [start for data in log for start in Entry.decode(data).starts]
    return [crawl.job.frontier.url(start.link) for start in starts if isinstance(start, Grant)]


def test_rules_decide_what_workers_are_given(laboratory: Laboratory) -> None:
    plain = laboratory.crawl("plain.db")
    without = granted(plain, lead(laboratory, plain, 20, random.Random(1)))
    laboratory.rules = PinnedRules([PinnedRule("re:/d0/", 0), PinnedRule("re:/d[12]/", 5)])
    ruled = laboratory.crawl("ruled.db")
    given = granted(ruled, lead(laboratory, ruled, 20, random.Random(1)))
    assert [url for url in without if "/d0/" in url]
    assert not [url for url in given if "/d0/" in url]
    first = [sum("/d1/" in url or "/d2/" in url for url in urls[:40]) for urls in (given, without)]
    assert first[0] > 1.3 * first[1]


@pytest.mark.parametrize("laboratory", ["shark", "learned", "urlrule-2009"], indirect=True)
@pytest.mark.parametrize("cut", [0, 1, 17, 39])
def test_a_snapshot_and_the_log_after_it_give_the_same_crawl(
    laboratory: Laboratory, cut: int
) -> None:
    rng = random.Random(cut)
    first = laboratory.crawl("first.db")
    log = lead(laboratory, first, cut, rng)
    first.job.commit()
    first.job.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    laboratory.copy("first.db", "copy.db")
    state = first.state()
    log += lead(laboratory, first, 40 - cut, rng)
    second = laboratory.crawl("copy.db", state)
    for data in log[cut:]:
        second.replay(Entry.decode(data))
    assert picture(second) == picture(first)


def test_a_log_of_as_many_but_other_links_is_refused(laboratory: Laboratory) -> None:
    first, second, third = (laboratory.crawl(f"{name}.db") for name in ("a", "b", "c"))
    for crawl, page in ((first, "x"), (second, "y"), (third, "x")):
        crawl.job.add([NewLink(f"http://a.test/{page}")])
    log = lead(laboratory, first, 3, random.Random(0))
    with pytest.raises(StoreError, match="other settings or another version"):
        second.replay(Entry.decode(log[0]))
    for data in log:
        third.replay(Entry.decode(data))
    assert third.known == first.known


def test_a_log_written_under_other_settings_is_refused(laboratory: Laboratory) -> None:
    log = lead(laboratory, laboratory.crawl("first.db"), 5, random.Random(0))
    second = laboratory.crawl("second.db")
    second.job.add([NewLink("http://a.test/x")])
    with pytest.raises(StoreError, match="other settings or another version"):
        second.replay(Entry.decode(log[0]))


def test_what_is_told_of_links_that_are_not_held_changes_nothing(laboratory: Laboratory) -> None:
    crawl = laboratory.crawl("first.db")
    allocator = Allocator(crawl, Rules())
    allocator.give({"ann": KnownWorker(0.0, capacity=2)})
    held = list(crawl.leases.of("ann"))
    events = events_of(laboratory, held, random.Random(5))
    before = picture(crawl)
    crawl.take(Message("bob", 0, events=events))
    assert picture(crawl)["links"] == before["links"]
    crawl.take(Message("ann", 0, events=events))
    after = picture(crawl)
    assert after != before
    crawl.take(Message("ann", 0, events=(Added((NewLink("http://a.test/x"),)),)))
    assert picture(crawl) == after


def test_a_message_that_comes_again_changes_nothing(laboratory: Laboratory) -> None:
    crawl = laboratory.crawl("first.db")
    link = NewLink("http://a.test/form", filtered=False)
    for _ in range(2):
        crawl.take(Message("ann", 3, events=(Added((link,)),)))
    assert len(crawl.job.frontier) == len(SEEDS) + 1


def test_a_host_goes_to_one_worker_and_no_worker_gets_more_than_it_wants(
    laboratory: Laboratory,
) -> None:
    crawl = laboratory.crawl("first.db")
    workers = {"ann": KnownWorker(0.0, capacity=3), "bob": KnownWorker(0.0, capacity=3)}
    allocator = Allocator(crawl, Rules(rest=0.0))
    rng = random.Random(9)
    for number in range(30):
        allocator.give(workers)
        for name in workers:
            held = list(crawl.leases.of(name))
            assert len(held) <= 3
            assert len({lease.link.url.split("/")[2] for lease in held}) <= 1
            crawl.take(Message(name, number, events=events_of(laboratory, held, rng)))
    assert crawl.job.pages > 60


def test_max_pages_counts_what_is_under_way(laboratory: Laboratory) -> None:
    crawl = laboratory.crawl("first.db")
    allocator = Allocator(crawl, Rules(rest=0.0, max_pages=7))
    workers = {"ann": KnownWorker(0.0, capacity=50)}
    rng = random.Random(4)
    for number in count():
        if allocator.is_over:
            break
        allocator.give(workers)
        held = list(crawl.leases.of("ann"))
        assert crawl.job.pages + len(held) <= 7
        crawl.take(Message("ann", number, events=events_of(laboratory, held, rng)))
    assert (allocator.is_over, crawl.job.pages) == ("max_pages", 7)
