"""Rules for addresses in a crawl: learnt by one, exported, edited, and given to another."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.crawl import CrawlJob, FetchedPage, read_rules, rules_text
from mmcrawl.frontier import NewLink, SqliteStore, Status, open_store
from mmcrawl.page import parse_page
from mmcrawl.scoring import PinnedRule, PinnedRules, algorithm_names
from tests.jobs import job_of
from tests.tables import each

SEED = "http://h.test/"
START = f"{SEED}start.htm"
FILMS = [f"{SEED}films/{n}.htm" for n in range(12)]
NEWS = [f"{SEED}news/{n}.htm" for n in range(30)]


def page(*links: str, media: str = "") -> str:
    shown = f'<p><a href="{media}">film of a lens</a></p>' if media else ""
    return "<title>optics</title>" + shown + "".join(f'<p><a href="{a}">x</a></p>' for a in links)


WEB = {
    START: page("/"),
    SEED: page(*NEWS, *FILMS, "/forum/1.htm", "/away.htm"),
    **{url: page(media=f"{n}.mp4") for n, url in enumerate(FILMS)},
    **{url: page(f"/more/{n}.htm") for n, url in enumerate(NEWS)},
    f"{SEED}forum/1.htm": page("/forum/2.htm"),
}


@pytest.fixture
def opened() -> Iterator[Callable[..., CrawlJob]]:
    """Open a job; one of the same store is left as a kill leaves it, and taken up again."""
    stores: dict[str, SqliteStore] = {}

    def make(rules: PinnedRules, store: str = "memory:", algo: str = "breadth") -> CrawlJob:
        if store in stores:
            stores[store].close()
        stores[store] = open_store(store)
        return job_of(stores[store], algo, rules=rules)

    yield make
    for store in stores.values():
        store.close()


def crawl(job: CrawlJob, most: int = 1000) -> list[str]:
    taken: list[str] = []
    while len(taken) < most and (link := job.next()):
        taken.append(link.url)
        if link.url in WEB:
            job.crawled(link.id, FetchedPage(parse_page(WEB[link.url].encode(), link.url)))
        else:
            job.failed(link.id, "HTTP 404")
        job.commit()
    return taken


def rules(*lines: tuple[str, int]) -> PinnedRules:
    return PinnedRules(PinnedRule(pattern, weight) for pattern, weight in lines)


def test_what_one_crawl_learns_another_is_given_edited_or_not(opened: Any, tmp_path: Path) -> None:
    first = opened(PinnedRules(), algo="urlrule")
    assert set(crawl(first)[1:13]) != set(FILMS)
    file = tmp_path / "rules.txt"
    totals = first.totals()
    file.write_text(rules_text(first.patterns(), totals.media_pages / totals.pages))
    (rule,) = read_rules(str(file)).rules
    assert rule.pattern == f"{SEED}films/*"
    for algo in ("breadth", "urlrule"):
        fed_back = opened(read_rules(str(file)), f"sqlite:///{tmp_path}/{algo}.db", algo)
        assert set(crawl(fed_back)[1:13]) == set(FILMS)
    with file.open("a") as more:
        more.write("re:/(news|forum)/  never\n")
    edited = opened(read_rules(str(file)), f"sqlite:///{tmp_path}/edited.db")
    assert crawl(edited) == [SEED, *FILMS, f"{SEED}away.htm"]
    assert (edited.totals().held, edited.totals().media_pages) == (len(NEWS) + 1, len(FILMS))


@each("algo", algorithm_names())
def test_rules_count_with_every_algorithm(opened: Any, algo: str) -> None:
    job = opened(rules((f"{SEED}news/*", 0), (f"{SEED}films/9.htm", 2), ("re:films", 1)), algo=algo)
    taken = crawl(job)
    assert taken[:2] == [SEED, FILMS[9]]
    assert set(taken[1:13]) == set(FILMS)
    assert not set(taken) & set(NEWS)


def test_with_hard_focus_a_rule_frees_what_is_held(tmp_path: Path) -> None:
    def fetched(given: PinnedRules | None) -> list[str]:
        with open_store("memory:") as store:  # all links of a seed's page would be probed
            return crawl(
                job_of(store, "urlrule-2009", [START], parameters={"num2": 1}, rules=given)
            )

    assert len(set(fetched(None)) & set(FILMS)) < 12
    assert set(fetched(rules((f"{SEED}films/*", 1)))) >= set(FILMS)


def test_rules_edited_between_two_runs_count_at_once_and_the_log_says_so(opened, tmp_path, caplog):
    store = f"sqlite:///{tmp_path}/crawl.db"
    begun = crawl(opened(rules(("re:/news/", 3)), store), most=5)
    assert begun == [SEED, *NEWS[:4]]
    changed = "Rules for addresses have changed since the last run; these count from now on"
    with caplog.at_level(logging.INFO):
        job = opened(rules(("re:/news/", 3)), store)
        assert changed not in caplog.messages
        assert crawl(job, most=1) == NEWS[4:5]
        caplog.clear()
        job = opened(rules(("re:/news/", 0), ("re:/films/", 1)), store)
        assert caplog.messages == ["Rules for addresses that count in this crawl: 2", changed]
    taken = crawl(job)
    assert taken[:12] == FILMS
    assert not set(NEWS) & set(taken)


def test_a_crawl_at_its_end_goes_on_where_a_rule_is_lifted(opened: Any, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/crawl.db"
    never = rules(("re:/films/", 0))
    job = opened(never, store)
    assert not set(crawl(job)) & set(FILMS)
    job.stop("finished", finished=True)
    assert opened(never, store).job.finished_at is not None
    again = opened(PinnedRules(), store)
    assert again.job.finished_at is None
    assert crawl(again) == FILMS


def test_a_redirect_to_what_is_never_fetched_ends_there(opened: Any) -> None:
    job = opened(rules(("re:/forum/", 0), ("re:/away", 1)))
    crawl(job, most=1)
    link = job.next()
    assert link.url == f"{SEED}away.htm"
    job.redirected(link.id, NewLink(f"{SEED}forum/new.htm"))
    target = job.frontier.lookup(f"{SEED}forum/new.htm")
    assert job.frontier.record(target).status is Status.WAITING
    assert not [url for url in crawl(job) if "/forum/" in url]


def test_a_seed_that_is_never_fetched_is_told(opened, caplog):
    caplog.set_level("WARNING", "mmcrawl")  # another test may have asked for more
    job = opened(rules((SEED, 0)))
    assert crawl(job) == []
    assert caplog.messages == [f"The seed {SEED} is not fetched: a rule says never"]
