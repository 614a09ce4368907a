"""A crawl without the network: what a job makes of the pages that are reported to it."""

import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.crawl import CrawlJob, FetchedPage
from mmcrawl.frontier import (
    ALIAS,
    Findings,
    Limits,
    LinkScores,
    NewLink,
    PatternRecord,
    Status,
    page_digest,
)
from mmcrawl.page import parse_page
from mmcrawl.scoring import Breadth, CrawledPage, LinkSimilarity, TopicTest
from mmcrawl.topic import topic_from_keywords
from tests.crawl.conftest import SEED, Web, crawl, fetch, media_pages, page
from tests.tables import each


def test_a_crawl_fetches_what_its_pages_link_to_once_each(opened: Any) -> None:
    web = {SEED: page("a", "b", "a#x"), f"{SEED}a": page("b", "c", "/"), f"{SEED}b": page("gone")}
    job = opened()
    assert crawl(job, web) == [SEED, f"{SEED}a", f"{SEED}b", f"{SEED}c", f"{SEED}gone"]
    counts = {Status.CRAWLED: 3, Status.ERROR: 2, Status.WAITING: 0, Status.RUNNING: 0}
    assert job.frontier.counts == counts
    assert job.frontier.errors() == {"HTTP 404": 2}
    assert job.frontier.pages == 3


def test_a_page_is_recorded_with_the_way_to_it(opened: Any) -> None:
    job = opened()
    web = {SEED: page("a/"), f"{SEED}a/": page("b"), f"{SEED}a/b": page(media="f.mp4")}
    crawl(job, web)
    record = job.frontier.record(job.frontier.lookup(f"{SEED}a/b"))
    assert record.url_path == (SEED, f"{SEED}a/", f"{SEED}a/b")
    assert (record.logical_layer, record.physical_layer) == (3, 2)
    assert record.relevant
    assert record.contains_media
    seed = job.frontier.record(0)
    assert (seed.path_score, seed.total_path_score) == (1, 3)


def test_links_of_pages_off_topic_are_left_alone_if_so_wanted(opened: Any, store: str) -> None:
    web = {  # a seed's links are followed all the same
        SEED: page("cooking", "optics", title="nothing"),
        f"{SEED}cooking": page("lens", title="cooking"),
        f"{SEED}optics": page("lenses", title="optics"),
    }
    assert crawl(opened(), web) == [SEED, *(f"{SEED}{n}" for n in ("cooking", "optics"))] + [
        f"{SEED}{n}" for n in ("lens", "lenses")
    ]
    job = opened(store, limits=Limits(least_score=0.5))
    assert crawl(job, web) == [SEED, *(f"{SEED}{n}" for n in ("cooking", "optics", "lenses"))]
    assert job.refused == {"page off topic": 1}
    assert crawl(opened(store, limits=Limits(least_score=0.5)), web) == []  # taken up again


def test_links_that_fell_behind_come_first_again_once_their_area_brings_something(opened):
    names = "abcdefghijklmn"
    web = {SEED: page(*(f"x/{n}" for n in names), "y/a", "y/b", "y/c")}
    web |= {f"{SEED}x/{n}": page(title="news") for n in names[1:]}
    web |= {f"{SEED}x/a": page(media="film.mp4"), f"{SEED}y/a": page(title="news")}
    job = opened()
    crawl(job, web, 1)
    late = job.next()  # the first of the area, which is under way for long
    assert crawl(job, web, 11)[9:] == [f"{SEED}x/k", f"{SEED}y/a"]
    fetch(job, web, late)
    assert job.next().url == f"{SEED}x/l"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, bool]]:
    """Return new media and whether it is on topic, as the algorithm was told of each page last."""
    noted: dict[str, tuple[int, bool]] = {}
    crawled = Breadth.crawled

    def note(self: Breadth, page: CrawledPage) -> LinkScores:
        noted[page.url.removeprefix(SEED)] = page.new_media, page.on_topic
        return crawled(self, page)

    monkeypatch.setattr(Breadth, "crawled", note)
    return noted


def test_media_that_lists_repeat_are_new_once_also_when_a_crawl_goes_on(opened, store, told):
    both = '<a href="one.mp4">1</a><a href="https://site.test/two.mp4">2</a>'
    web = {
        SEED: page("off", "list", "post", "tag", "more"),
        f"{SEED}off": page(media="one.mp4", title="cooking"),
        f"{SEED}list": page(head=both),
        f"{SEED}post": page(media="one.mp4"),
        f"{SEED}tag": page(head=both, media="three.mp4"),
        f"{SEED}more": page(head=both + both, media="four.mp4"),
    }
    crawl(opened(store), web, most=5)
    expected = {"": (0, True), "off": (0, False), "list": (2, True), "post": (0, True)}
    expected |= {"tag": (1, True)}
    assert told == expected
    told.clear()
    again = opened(store)
    assert told == expected
    crawl(again, web)
    assert told == expected | {"more": (1, True)}


def site_with_banner(pages: int, own: tuple[int, ...] = ()) -> dict[str, str]:
    """A chain of pages that all show one animation, and some a film of their own."""
    web = {}
    for n in range(pages):
        url = f"{SEED}{n}" if n else SEED
        film = f"/{n}.mp4" if n in own else ""
        web[url] = page(f"/{n + 1}", media=film, head='<embed src="/clouds.swf">')
    return web


def test_media_that_turn_out_site_wide_are_taken_back(opened: Any, store: str, told: Any) -> None:
    job = opened(store)
    web = site_with_banner(8, own=(2, 6))
    crawl(job, web, most=4)
    assert len(media_pages(job)) == 4
    assert job.harvest_rate == 1.0
    crawl(job, web, most=4)
    assert media_pages(job) == {f"{SEED}{n}": [f"{SEED}{n}.mp4"] for n in (2, 6)}
    records = {n: job.frontier.record(n) for n in range(8)}
    assert [n for n, record in records.items() if record.relevant] == [2, 6]
    assert [records[n].path_score for n in range(8)] == [2, 2, 2, 1, 1, 1, 1, 0]
    assert [records[n].total_path_score for n in range(8)] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert [new for new, _ in told.values()] == [1, 0, 1, 0, 0, 0, 1, 0]
    opened(store)  # what was taken back has shown nothing new
    assert [new for new, _ in told.values()] == [0, 0, 1, 0, 0, 0, 1, 0]


def test_media_of_one_page_under_many_addresses_are_not_site_wide(opened: Any) -> None:
    job = opened()
    web = {SEED: page(*(f"/post?view={n}" for n in range(8)))}
    web |= {f"{SEED}post?view={n}": page(media="/lens.swf") for n in range(8)}
    crawl(job, web)
    assert media_pages(job) == {f"{SEED}post?view=0": [f"{SEED}lens.swf"]}


def test_the_scorer_unlearns_what_site_wide_media_taught_it(opened: Any) -> None:
    job = opened(algo="urlrule")
    web = {SEED: page(*(f"/a/{n}.html" for n in range(9)), title="optics")}
    web |= {f"{SEED}a/{n}.html": page(media="/clouds.swf", title=f"optics {n}") for n in range(9)}
    crawl(job, web, most=5)
    assert [str(record.pattern) for record in job.findings.patterns()]
    crawl(job, web)
    assert job.findings.patterns() == []
    assert media_pages(job) == {}


def test_a_page_whose_bytes_came_under_another_address_does_not_count(opened: Any) -> None:
    film = page(media="/film.mp4")
    web = {SEED: page("a", "b", "http://www.site.test/a", "http://other.test/a")}
    web |= dict.fromkeys([f"{SEED}a", f"{SEED}b"], film)
    web |= dict.fromkeys(["http://www.site.test/a", "http://other.test/a"], film)
    job = opened(limits=Limits(sites="anywhere"))
    crawl(job, web)
    assert set(media_pages(job)) == {f"{SEED}a", "http://other.test/a"}
    assert [job.frontier.record(n).relevant for n in range(5)] == [False, True, False, False, True]


def test_of_two_equal_pages_under_way_at_once_one_counts(opened: Any) -> None:
    film = page(media="/film.mp4").encode()
    job = opened(seeds=(f"{SEED}a", f"{SEED}b"))
    links = [job.next(), job.next()]
    pages = [parse_page(film, link.url) for link in links]
    digest = page_digest(SEED, film)
    verdicts = [job.judge(parsed, digest) for parsed in pages]
    assert [verdict.relevant for verdict in verdicts] == [True, True]
    told = [
        job.crawled(link.id, FetchedPage(parsed, digest=digest, verdict=verdict))
        for link, parsed, verdict in zip(links, pages, verdicts, strict=True)
    ]
    assert told == [True, False]
    assert set(media_pages(job)) == {f"{SEED}a"}


def test_pages_of_the_same_bytes_with_other_media_are_different_pages(opened: Any) -> None:
    job = opened(seeds=tuple(f"{SEED}{n}/play.htm" for n in range(3)))
    lesson = '<title>optics</title><embed src="main.swf">'
    crawl(job, {f"{SEED}{n}/play.htm": lesson for n in range(3)})
    assert len(media_pages(job)) == 3


def test_a_page_that_was_judged_is_not_judged_again(opened, monkeypatch):
    judged: list[str] = []
    whole = TopicTest.verdict

    def verdict(self: TopicTest, url: str, *args: Any) -> Any:
        judged.append(url)
        return whole(self, url, *args)

    monkeypatch.setattr(TopicTest, "verdict", verdict)
    job = opened()
    film = '<title>optics</title><embed src="lens.mp4">'
    web = {SEED: page("a", "b"), f"{SEED}a": film, f"{SEED}b": page("b")}
    assert crawl(job, web) == judged == [SEED, f"{SEED}a", f"{SEED}b"]
    assert set(media_pages(job)) == {f"{SEED}a"}


def test_two_answers_of_one_address_do_not_erase_each_other(opened: Any) -> None:
    job = opened()
    form = f"{SEED}search"
    job.add([NewLink(form, extra=b"POST1", filtered=False), NewLink(form, extra=b"POST2")])
    found, nothing = page(media="/film.mp4"), page(title="nothing")
    for body, link in zip((page(), found, nothing), iter(job.next, None), strict=False):
        fetch(job, {link.url: body}, link)
    assert set(media_pages(job)) == {form}


def tangled_site() -> dict[str, str]:
    """Four folders of pages that link to each other and to dead ones, two of them with films."""
    folders = ("films", "texts", "more", "talks")
    web = {SEED: page(*(f"{folder}/0.html" for folder in folders))}
    for folder, other in zip(folders, (*folders[1:], folders[0]), strict=True):
        for n in range(9):
            hrefs = [f"{(n + 1) % 9}.html", f"{(n + 2) % 9}.html", "/", f"/{other}/{n}.html"]
            hrefs.append(f"/{folder}/dead{n}.html")
            film = f"{n}.mp4" if folder in {"films", "talks"} else ""
            web[f"{SEED}{folder}/{n}.html"] = page(*hrefs, media=film, title=f"optics {n}")
    return web


def in_pieces(opened: Any, store: str, web: Web, most: int, **more: Any) -> list[str]:
    """Crawl to the end, leaving the job each time `most` links were fetched."""
    taken: list[str] = []
    while piece := crawl(opened(store, **more), web, most):
        taken += piece
    return taken


@pytest.mark.parametrize(("algo", "most"), [("breadth", 7), ("urlrule", 10)])
def test_a_job_that_is_left_and_taken_up_fetches_the_same_links_in_the_same_order(
    opened: Any, store: str, algo: str, most: int
) -> None:
    web = tangled_site()
    seeds = (SEED, f"{SEED}texts/8.html", f"{SEED}films/7.html", f"{SEED}texts/3.html")
    whole = crawl(opened(algo=algo, seeds=seeds), web)
    assert len(whole) == len(web) + 36
    assert in_pieces(opened, store, web, most, algo=algo, seeds=seeds) == whole


def test_a_job_killed_after_any_report_comes_to_the_same_end(opened: Any, tmp_path: Path) -> None:
    both = '<embed src="/clouds.swf"><a href="/intro.mp4">intro</a>'  # stand on every page
    web = {SEED: page("films/0.html", "talks/0.html", "films/3.html")}
    for folder, n in product(("films", "talks"), range(6)):
        own = f"/m/{n}.mp4" if folder == "films" else ""
        text = page(f"{n + 1}.html", "/", f"/{folder}/none{n}.html", media=own, head=both)
        web[f"{SEED}{folder}/{n}.html"] = text.replace("optics", f"optics {n}")

    def reports(job: CrawlJob, most: int = 1000) -> int:
        """Report pages, of which up to three are under way; commit now and then."""
        under_way: list[Any] = []
        for number in range(most):
            under_way += [link for _ in range(3 - len(under_way)) if (link := job.next())]
            if not under_way:
                return number
            fetch(job, web, under_way.pop(0), between=job.commit if number % 4 == 1 else None)
            if number % 4 == 3:
                job.commit()
        return most

    def outcome(job: CrawlJob) -> tuple[Any, ...]:
        job.commit()
        pages = job.store.db.execute("SELECT url, relevant FROM page ORDER BY url").fetchall()
        start = job.frontier.record(0)
        scores = start.path_score, start.total_path_score
        return pages, media_pages(job), job.frontier.counts, scores

    more = {"algo": "urlrule", "parameters": {"m": 1}, "media": {"video"}}
    whole = opened(f"sqlite:///{tmp_path}/whole.db", **more)
    count, expected = reports(whole), outcome(whole)
    assert count == 27
    assert len(media_pages(whole)) == 6  # the talks have only what stands on every page
    for killed_after in range(count):
        store = f"sqlite:///{tmp_path}/{killed_after}.db"
        reports(opened(store, **more), killed_after)
        again = opened(store, **more)
        reports(again)
        assert outcome(again) == expected, killed_after


def test_a_link_that_was_held_when_a_job_was_left_is_let_go_later(opened, store):
    names = [f"a/{n}" for n in range(8)]
    web = {SEED: page("list"), f"{SEED}list": page(*names), f"{SEED}a/target": page()}
    web |= {f"{SEED}{name}": page(title=f"optics {name}", media=f"/{name}.mp4") for name in names}
    job = opened(store, algo="urlrule-2009")
    crawl(job, web, most=2)
    probes = [job.next() for _ in range(4)]
    assert job.redirected(probes[0].id, NewLink(f"{SEED}a/target", physical_layer=2))
    assert job.next().url == f"{SEED}a/target"  # in place of the probe that led to it
    assert job.next() is None  # no more probes: the others wait for a pattern
    job.commit()
    again = opened(store, algo="urlrule-2009")
    assert set(crawl(again, web)) == web.keys() - {SEED, f"{SEED}list", probes[0].url}


def test_a_trap_is_left_once_its_bound_is_reached_also_by_links_that_wait(opened: Any) -> None:
    months = [f"/calendar?month={n}" for n in range(20)]
    job = opened(limits=Limits(per_shape=6))
    web = {SEED: page(*months, "/about")} | dict.fromkeys((f"{SEED}{m[1:]}" for m in months), "-")
    taken = crawl(job, web)
    assert taken == [SEED, *(f"{SEED}{m[1:]}" for m in months[:6]), f"{SEED}about"]
    reason = "trap: nothing found on pages like this"
    assert job.frontier.errors() == {reason: 14, "HTTP 404": 1}
    assert job.harvest_rate == 0.0


def test_what_a_site_wide_animation_made_look_good_is_bounded_like_the_rest(opened: Any) -> None:
    days = {f"{SEED}calendar?day={n}": f"/calendar?day={n + 1}" for n in range(60)}
    web = {url: page(next_day, head='<embed src="/clouds.swf">') for url, next_day in days.items()}
    job = opened(seeds=(f"{SEED}calendar?day=0",), limits=Limits(per_shape=20))
    assert len(crawl(job, web)) == 20
    assert media_pages(job) == {}


def test_a_trap_left_behind_is_drained_in_portions(opened: Any) -> None:
    job = opened(limits=Limits(per_shape=2))
    web = {SEED: page(*(f"/n/{n}" for n in range(450)))}
    web |= dict.fromkeys((f"{SEED}n/{n}" for n in range(450)), "-")
    crawl(job, web, most=3)
    batches = []
    while job.frontier.ready:
        assert job.next() is None
        batches.append(job.interrupted)
    assert batches == [True, True, False]


def test_bounds_hold_over_a_break(opened: Any, store: str) -> None:
    limits = Limits(per_shape=6, per_host=9)
    web = {SEED: page("/x", "/y", "/z", "/v", *(f"/n/{n}" for n in range(9)))}
    web |= dict.fromkeys((f"{SEED}n/{n}" for n in range(9)), "-")
    web |= dict.fromkeys((f"{SEED}{name}" for name in "xyzv"), "-")
    taken = []
    for _ in range(9):
        job = opened(store, limits=limits)
        taken += crawl(job, web, most=2)
    assert len(taken) == 9  # of the host, four of them in the folder


def test_seeds_are_fetched_whatever_the_bounds(opened: Any) -> None:
    seeds = tuple(f"{SEED}{n}" for n in range(5))
    job = opened(seeds=seeds, limits=Limits(per_shape=1, max_depth=1, max_layer=1, url_length=5))
    assert crawl(job, dict.fromkeys(seeds, page("more", "/7"))) == list(seeds)
    assert set(job.refused) <= {"address too long", "trap: nothing found on pages like this"}


NOFOLLOW = '<a rel="nofollow" href="/b">b</a>'


@each(
    "head, obey, taken, refused",
    [
        ("", True, ["a"], 1),
        ("", False, ["b", "a"], 0),
        ('<meta name="robots" content="index, nofollow">', True, [], 2),
        ('<meta name="robots" content="none">', False, ["b", "a"], 0),
    ],
)
def test_nofollow(opened: Any, head: str, obey: bool, taken: list[str], refused: int) -> None:
    job = opened(obey_nofollow=obey)
    assert crawl(job, {SEED: page("/a", head=head + NOFOLLOW)})[1:] == [f"{SEED}{n}" for n in taken]
    assert job.refused["nofollow"] == refused


def test_hosts_are_visited_under_their_real_names(opened: Any) -> None:
    aliases = {"www.site.test": "site.test", "old.test:8080": "site.test"}
    job = opened(seeds=("http://www.site.test/",), aliases=aliases)
    web = {
        SEED: page("http://www.site.test/a", "http://old.test:8080/a", "/a", "http://old.test/a"),
        f"{SEED}a": page(),
    }
    assert crawl(job, web) == [SEED, f"{SEED}a"]
    assert job.refused == {"other site": 1}


def test_who_is_led_to_another_name_of_a_host_asks_for_the_real_one(opened: Any) -> None:
    job = opened(seeds=(SEED, f"{SEED}b"), aliases={"old.test": "site.test"})
    job.redirected(job.next().id, NewLink("http://old.test/b", request=b"for old.test"))
    job.redirected(job.next().id, NewLink("http://old.test/c", request=b"for old.test"))
    link = job.next()
    assert (link.url, link.request) == (f"{SEED}c", None)


def test_redirects_end_a_link_and_their_target_is_new_once(opened: Any) -> None:
    job = opened(seeds=(SEED, f"{SEED}b"))
    first, second = job.next(), job.next()
    assert job.redirected(first.id, NewLink(f"{SEED}target", logical_layer=1))
    assert not job.redirected(second.id, NewLink(f"{SEED}target#same"))
    assert crawl(job, {}) == [f"{SEED}target"]
    assert [job.frontier.record(n).status for n in (0, 1)] == [Status.CRAWLED] * 2
    assert job.frontier.pages == 0


def test_the_host_a_seed_redirects_to_is_one_of_the_crawl(opened: Any, store: str) -> None:
    new = "http://www.new.test/"
    web = {new: page("/a", "http://elsewhere.test/"), f"{new}a": page(media="/f.mp4")}
    job = opened(store)
    seed = job.next()
    assert job.redirected(seed.id, NewLink("http://new.test/"))
    step = job.next()
    assert job.redirected(step.id, NewLink(new))
    job.commit()
    job = opened(store)
    assert crawl(job, web) == [new, f"{new}a"]
    assert set(media_pages(job)) == {f"{new}a"}
    assert job.refused["other site"] == 1


def test_an_algorithm_that_fails_at_a_page_loses_no_link(opened: Any) -> None:
    web = {SEED: page("a", "b")}
    job = opened()
    job.scorer.crawled = lambda page: 1 / 0
    assert crawl(job, web) == [SEED, f"{SEED}a", f"{SEED}b"]


def test_harvest_rate_and_word_counts_are_those_of_all_pages_also_after_a_kill(opened, store):
    one, other = (LinkSimilarity(topic_from_keywords("optics, lens")) for _ in "12")
    names = [str(n) for n in range(560)]
    web = {SEED: page(*names)}
    for n, name in enumerate(names):
        web[f"{SEED}{name}"] = page(media=f"{n}.mp4" if n < 200 else "", title=f"optics {n}")
    job = opened(store, limits=Limits(per_shape=0), similarity=one)
    assert job.harvest_rate == 0.0
    crawl(job, web, most=401)
    assert job.harvest_rate == pytest.approx(200 / 401)
    crawl(job, web)
    assert job.harvest_rate == pytest.approx(140 / 500)  # of the last 500 pages
    opened(store, limits=Limits(per_shape=0), similarity=other)
    assert one.state() == other.state()


def test_patterns_are_written_only_when_they_have_changed(opened, store, monkeypatch):
    job = opened(store, algo="urlrule")
    web = {SEED: page(*(f"/a/{n}.html" for n in range(9)))}
    web |= {f"{SEED}a/{n}.html": page(media=f"{n}.mp4", title=f"optics {n}") for n in range(9)}
    kept = []
    original = Findings.keep_patterns

    def noted(findings: Findings, patterns: list[PatternRecord]) -> None:
        kept.append([record.urls for record in patterns])
        original(findings, patterns)

    monkeypatch.setattr(Findings, "keep_patterns", noted)
    crawl(job, web, most=5)
    job.commit()
    job.commit()
    assert kept == [[3], [4]]
    again = opened(store, algo="urlrule")
    assert [record.urls for record in again.findings.patterns()] == [4]
    assert kept == [[3], [4]]


def mirrored(pages: int) -> dict[str, str]:
    """A site that serves each page with a slash and without, and links to both."""
    names = [f"p{n}" for n in range(pages)]
    hrefs = [href for name in names for href in (f"/{name}", f"/{name}/")]
    web = {SEED: page(*hrefs)}
    for name in names:
        web[f"{SEED}{name}"] = web[f"{SEED}{name}/"] = page(title=name)
    return web


def test_other_addresses_of_known_links_come_last_and_are_left_out_once_they_are_the_same(
    opened, store
):
    job = opened()
    taken = crawl(job, mirrored(5))
    plain = [f"{SEED}p{n}" for n in range(5)]
    assert taken == [SEED, *plain, f"{SEED}p0/", f"{SEED}p1/"]
    assert job.frontier.errors() == {ALIAS: 3}
    assert in_pieces(opened, store, mirrored(5), most=4) == taken


def test_a_page_that_only_its_other_address_leads_to_is_fetched_in_its_turn(opened: Any) -> None:
    web = {SEED: page("a", "a/", "b", "c"), f"{SEED}a/": page(media="f.mp4")}
    job = opened()
    assert crawl(job, web) == [SEED, f"{SEED}a", f"{SEED}a/", f"{SEED}b", f"{SEED}c"]
    assert media_pages(job) == {f"{SEED}a/": [f"{SEED}a/f.mp4"]}


def test_a_request_of_the_spider_keeps_its_priority_when_its_alias_fails(opened: Any) -> None:
    job = opened()
    fetch(job, {SEED: page("a", "b", "c")}, job.next())
    asked = NewLink(f"{SEED}z", priority=3), NewLink(f"{SEED}a/", priority=3)
    link = job.next()
    assert link.url == f"{SEED}a"
    job.add(asked)
    job.failed(link.id, "HTTP 404")
    assert crawl(job, {}) == [f"{SEED}z", f"{SEED}a/", f"{SEED}b", f"{SEED}c"]


def test_an_address_that_a_redirect_leads_to_is_fetched_in_its_turn(opened: Any) -> None:
    job = opened()
    fetch(job, {SEED: page("a", "a/", "b")}, job.next())
    link = job.next()
    assert link.url == f"{SEED}a"
    assert not job.redirected(link.id, NewLink(f"{SEED}a/"))
    assert crawl(job, {}) == [f"{SEED}a/", f"{SEED}b"]


@pytest.mark.parametrize("asked", [None, b"of the spider"])
def test_a_redirect_to_another_address_of_a_page_that_was_fetched_is_not_followed(opened, asked):
    job = opened()
    crawl(job, mirrored(3) | {SEED: page("p0", "p0/", "p1", "p1/", "p2")})
    job.add([NewLink(f"{SEED}old", request=asked)])
    # Scrapy's redirects are requests, with what they come from.
    assert job.redirected(job.next().id, NewLink(f"{SEED}p2/", request=b"redirected"))
    if asked is not None:
        assert job.next().url == f"{SEED}p2/"
    assert job.next() is None
    assert job.frontier.errors() == ({} if asked else {ALIAS: 1})


def test_addresses_that_differ_in_parameters_without_meaning_are_left_out_also_when_it_goes_on(
    opened: Any, store: str
) -> None:
    names = [f"p{n}" for n in range(6)]
    hrefs = [f"/{name}{query}" for name in names for query in ("", "?menu=a", "?menu=b")]
    web = {SEED: page(*hrefs)} | {f"{SEED}{href[1:]}": page(title=href[:3]) for href in hrefs}
    whole = crawl(opened(), web)
    assert [url for url in whole if "?" in url] == [
        f"{SEED}p0?menu=a",
        f"{SEED}p0?menu=b",
        f"{SEED}p1?menu=a",
    ]
    assert in_pieces(opened, store, web, most=3) == whole


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return what the algorithm was told of links from their start to their end."""
    told: list[tuple[str, int]] = []

    def note(name: str) -> None:
        method = getattr(Breadth, name)

        def noting(self: Breadth, what: Any) -> LinkScores:
            told.append((name, getattr(what, "id", what)))
            return method(self, what)

        monkeypatch.setattr(Breadth, name, noting)

    for name in ("started", "crawled", "failed", "repeated"):
        note(name)
    return told


def test_a_alias_ends_without_teaching_the_algorithm_anything(opened, store, ends):
    job = opened(store)
    crawl(job, mirrored(4))
    job.commit()
    live = list(ends)
    assert [name for name, _ in live].count("repeated") == 2
    assert "failed" not in {name for name, _ in live}
    assert [link for name, link in live if name == "started"] == [
        link for name, link in live if name != "started"
    ]
    ends.clear()
    opened(store)
    assert ends == live


def test_a_redirect_teaches_a_failure_only_if_its_target_was_not_known(opened, store, ends):
    job = opened(store)
    fetch(job, {SEED: page("to-seed", "to-waiting", "to-new", "to-late", "to-itself")}, job.next())
    targets = ["", "to-late", "new", "later", "to-itself"]
    for target in targets:
        link = job.next()
        job.redirected(link.id, NewLink(f"{SEED}{target}"))
    crawl(job, {f"{SEED}new": page("later2")})
    job.commit()
    told = [name for name, _ in ends if name != "started"]
    assert told[1:6] == ["repeated", "repeated", "failed", "failed", "failed"]
    live = list(ends)
    ends.clear()
    opened(store)
    assert ends == live


def test_a_target_that_became_known_after_the_redirect_to_it_stays_a_failure(
    opened: Any, store: str, ends: list[tuple[str, int]]
) -> None:
    limits = Limits(max_depth=2)
    job = opened(store, limits=limits)
    fetch(job, {SEED: page("a", "b")}, job.next())
    assert not job.redirected(job.next().id, NewLink(f"{SEED}c", logical_layer=3))
    assert job.redirected(job.next().id, NewLink(f"{SEED}c", logical_layer=1))
    job.commit()
    live = list(ends)
    assert [name for name, _ in live if name != "started"] == ["crawled", "failed", "failed"]
    ends.clear()
    opened(store, limits=limits)
    assert ends == live


DRAWN = {"one of two": "/show.asp?item={n}&zz={id}", "in the path": "/{id}/p{n}.htm"}


class SiteWithIds(dict[str, str]):
    """Twenty pages, some with films, whose addresses hold a new id wherever they are written."""

    def __init__(self, form: str) -> None:
        self._form, self._chance = form, random.Random(1)
        self._number = re.compile(r"(?:item=|/p)(\d+)\b")

    def get(self, url: str, default: Any = None) -> str:
        found = self._number.search(url)
        number = int(found[1]) if found else 0
        targets = ((3 * number + step) % 20 for step in range(1, 11))
        hrefs = [self._form.format(n=n, id=f"{self._chance.getrandbits(96):024x}") for n in targets]
        film = f"/f{number}.mp4" if number % 10 == 3 else ""
        return page(*hrefs, media=film, title=f"optics {number}")


@pytest.mark.parametrize("form", DRAWN.values(), ids=DRAWN)
def test_a_site_that_writes_new_ids_into_its_addresses_does_not_hold_a_crawl(
    opened: Any, store: str, form: str
) -> None:
    job = opened()
    taken = crawl(job, SiteWithIds(form))
    assert len({re.sub("[0-9a-f]{24}", "", url) for url in taken}) == 21
    assert len(taken) < 3 * 21
    assert len(media_pages(job)) == 2
    web = SiteWithIds(form)
    assert in_pieces(opened, store, web, most=11) == taken


def test_what_the_algorithm_remarks_is_logged_when_a_crawl_stops(opened, caplog):
    job = opened(algo="urlrule-2009")
    crawl(job, {SEED: page("a", "b"), f"{SEED}a": page(), f"{SEED}b": page()})
    assert caplog.text == ""
    job.stop("finished", finished=True)
    assert "urlrule-2009: No pattern was learnt on site.test: after probing," in caplog.text


def test_a_page_taken_back_before_it_was_reported_changes_no_counts(opened: Any) -> None:
    job, web = opened(), site_with_banner(8)
    web[SEED] = page(*(f"/{n}" for n in range(1, 8)), head='<embed src="/clouds.swf">')
    fetch(job, web, job.next())
    late = job.next()
    parsed = parse_page(web[late.url].encode(), late.url)
    verdict = job.judge(parsed)
    assert verdict.relevant
    crawl(job, web)
    assert job.crawled(late.id, FetchedPage(parsed, verdict=verdict)) is False
    assert media_pages(job) == {}
    assert job.frontier.record(0).path_score == 0
