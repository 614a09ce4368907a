"""Addresses that only a list names harm no order, are found in the end, and survive a stop."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mmcrawl.crawl import CrawlJob, FetchedPage, Reporter, place_of
from mmcrawl.frontier import NewLink, open_store
from mmcrawl.page import IN_FEED_WITH_MEDIA, IN_SITEMAP, Link, MediaResource, Page
from mmcrawl.page.lists import listed_link
from mmcrawl.scoring import LinkSimilarity, TopicTest
from mmcrawl.topic import topic_from_keywords
from tests.jobs import setup_of
from tests.tables import each

HOST = "http://h.test"
SITEMAP = f"{HOST}/sitemap.xml"
# Not urlrule-2009: where no pattern is found, it leaves all alone that it does not probe.
ALGORITHMS = ["urlrule", "learned", "shark-improved", "tag-path", "fish"]


@contextmanager
def job(store: str = "memory:", algo: str = "learned", most_links: int = 0) -> Iterator[CrawlJob]:
    """A crawl of one host for any audio."""
    topic = topic_from_keywords("*")
    opened, similarity = open_store(store), LinkSimilarity(topic)
    made = CrawlJob(
        opened,
        opened.job("test", {}),
        setup_of(topic, algo, {"audio"}, seeds=[f"{HOST}/"]),
        reporter=Reporter(TopicTest(topic, {"audio"}), similarity, most_links=most_links),
    )
    try:
        yield made
    finally:
        made.close()


def page(url: str, *paths: str, audio: bool = False, anchor: str = "more") -> FetchedPage:
    links = tuple(Link(HOST + path, anchor, "a", tag_path="ul li a") for path in paths)
    media = (MediaResource(f"{url}.mp3", "audio", "audio"),) if audio else ()
    return FetchedPage(Page(url, links=links, media=media))


def sitemap(*paths: str, words: str = "", tag_path: str = IN_SITEMAP) -> FetchedPage:
    links = tuple(listed_link(HOST + path, words, tag_path) for path in paths)
    return FetchedPage(Page(SITEMAP, links=links))


def begin(crawl: CrawlJob, listed: FetchedPage, *on_seed: str) -> None:
    """Fetch the seed and its sitemap."""
    seed = crawl.next()
    crawl.crawled(seed.id, page(seed.url, *on_seed), [NewLink(SITEMAP, priority=2)])
    asked = crawl.next()
    assert asked.url == SITEMAP
    crawl.crawled(asked.id, listed)
    crawl.commit()


def fetched(crawl: CrawlJob, *, audio: str = "none", most: int = 1_000) -> list[str]:
    """Fetch what comes, a page with audio where its path has a word; return the paths."""
    paths: list[str] = []
    while len(paths) < most and (link := crawl.next()):
        crawl.crawled(link.id, page(link.url, audio=audio in link.url))
        paths.append(link.url.removeprefix(HOST))
    return paths


@each("algo", ALGORITHMS)
def test_what_only_a_sitemap_names_comes_behind_all_that_pages_link_to(algo: str) -> None:
    clicked = [f"/a/{number}.htm" for number in range(30)]
    with job(algo=algo) as crawl:
        begin(crawl, sitemap(*(f"/s/{n}.htm" for n in range(70)), *clicked), *clicked)
        order = fetched(crawl)
    assert set(order[:30]) == set(clicked)
    assert len(order) == len(set(order)) == 100


def test_a_link_on_a_page_to_a_listed_address_is_an_ordinary_one_with_the_words_of_both() -> None:
    with job() as crawl:
        begin(crawl, sitemap("/a.htm", "/b.htm", words="Lenses"), "/start.htm")
        start = crawl.next()
        crawl.crawled(start.id, page(start.url, "/a.htm", anchor=""))
        number = crawl.frontier.lookup(f"{HOST}/a.htm")
        assert number is not None
        known = crawl.frontier.known(number)
    assert (known.parent, known.tag_path, known.anchor) == (start.id, "ul li a", "Lenses")
    assert known.logical_layer == 3


@each("algo", ["learned"])
def test_listed_addresses_follow_where_their_like_held_what_is_looked_for(algo: str) -> None:
    others = [f"/other/{number}.htm" for number in range(200)]
    clicked = [f"/show/{number}.htm" for number in range(6)]
    listed = [f"/show/{number}.htm" for number in range(6, 40)]
    with job(algo=algo) as crawl:
        begin(crawl, sitemap(*listed), *clicked, *others)
        order = fetched(crawl, audio="/show/", most=120)
    assert set(listed) <= set(order)


def test_listed_addresses_with_media_are_tried_and_left_where_they_bring_nothing() -> None:
    others = [f"/other/{number}.htm" for number in range(200)]
    listed = [f"/post-{number}/" for number in range(90)]
    with job() as crawl:
        begin(crawl, sitemap(*listed, tag_path=IN_FEED_WITH_MEDIA), *others)
        order = fetched(crawl, most=150)
    tried = set(listed) & set(order)
    assert 4 <= len(tried) <= 20


def test_no_limit_of_links_a_page_holds_for_a_sitemap() -> None:
    with job(most_links=10) as crawl:
        begin(crawl, sitemap(*(f"/{n}.htm" for n in range(60))))
        assert len(fetched(crawl)) == 60
        assert not crawl.refused["too many on one page"]


@each("algo", ["learned", "tag-path"])
def test_a_crawl_taken_up_again_goes_on_in_the_same_order(tmp_path: Path, algo: str) -> None:
    clicked = [f"/show/{number}.htm" for number in range(12)] + [f"/o/{n}.htm" for n in range(9)]
    listed = sitemap(*(f"/show/{n}.htm" for n in range(50)), *(f"/x/{n}.htm" for n in range(60)))
    orders = []
    for name, stops in (("once", [200]), ("twice", [30, 200])):
        store, order = f"sqlite:///{tmp_path / name}.db", []
        for number, most in enumerate(stops):
            with job(store, algo) as crawl:
                if number == 0:
                    begin(crawl, listed, *clicked)
                order += fetched(crawl, audio="/show/", most=most)
                crawl.stop("test", finished=False)
        orders.append(order)
    assert len(orders[0]) == len(set(orders[0])) == 119
    assert orders[0] == orders[1]


def test_places_tell_directories_and_scripts_apart_but_not_numbers_and_names() -> None:
    assert place_of(f"{HOST}/2014/a-post/") == place_of(f"{HOST}/2015/other/")
    assert place_of(f"{HOST}/wuli/1.htm") == place_of(f"{HOST}/wuli/abc.htm")
    assert place_of(f"{HOST}/show.asp?id=1") == place_of(f"{HOST}/show.asp?id=2")
    assert place_of(f"{HOST}/wuli/1.htm") != place_of(f"{HOST}/huaxue/1.htm")
    assert place_of(f"{HOST}/show.asp?id=1") != place_of(f"{HOST}/list.asp?id=1")
