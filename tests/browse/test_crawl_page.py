"""The page of a crawl: what that crawl found, and why links came to no page."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.browse import CrawlWatch, Options, kind_of_error
from mmcrawl.cluster import open_shared_store
from mmcrawl.crawl import Totals
from mmcrawl.frontier import Findings, MediaPageRecord, open_store
from mmcrawl.page import MediaResource
from tests.browse.catalogue import FILM, START, browsing
from tests.cluster.memory import made_lease
from tests.databases import mongodb_uri
from tests.tables import each

PAGES = 30


def found_page(number: int) -> MediaPageRecord:
    """Return a page; a higher number is better on topic, the best stands in the archive."""
    last = number == PAGES - 1
    return MediaPageRecord(
        FILM if last else f"http://films.test/{number}",
        f"Film <b>{number}",
        number / 100,
        ("wave", "波"),
        200,
        START,
        (
            MediaResource("http://films.test/tone.mp3", "audio", "a", "a tone"),
            MediaResource("http://films.test/waves.mp4", "video", "a", "A film of water"),
            *(
                MediaResource(f"http://films.test/{number}/{each}.mp4", "video", "a", "")
                for each in range(10)
            ),
        ),
    )


@pytest.fixture(scope="module", params=["sqlite", "mongodb"])
def client(request, archived, tmp_path_factory) -> Iterator[TestClient]:  # type: ignore[no-untyped-def]
    """Give a client that browses a store with two crawls, of which one found something."""
    if request.param == "mongodb":
        with mongodb_uri() as uri:
            for name, pages in (("films", PAGES), ("a/b &c", 0)):
                arguments = {"topic": "waves"}
                with closing(open_shared_store(uri, job=name, arguments=arguments)) as shared:
                    shared.publish([found_page(n) for n in range(pages)])
                    totals = Totals(media_pages=pages).as_plain()
                    made_lease(shared, 1, facts={"totals": totals})
            with browsing(archived, Options(store=uri)) as (client, _):
                yield client
        return
    uri = f"sqlite:///{tmp_path_factory.mktemp('crawl') / 'crawl.db'}"
    with open_store(uri) as store:
        findings = Findings(store, store.job("films", {"topic": "waves"}))
        for number in range(PAGES):
            findings.add_media_page(found_page(number))
        store.job("a/b &c", {"topic": "waves"})
        store.commit()
    with browsing(archived, Options(store=uri)) as (client, _):
        yield client


def tree(client: TestClient, **params: object) -> html.HtmlElement:
    answer = client.get("/crawl", params=params)
    assert answer.status_code == 200, answer.text
    return html.document_fromstring(answer.content)


def test_a_crawl_shows_what_it_found_the_best_on_topic_first(client: TestClient) -> None:
    titles = [one.text_content() for one in tree(client, job="films").cssselect(".hits h2")]
    assert titles == [f"Film <b>{number}" for number in range(PAGES - 1, PAGES - 26, -1)]
    last = tree(client, job="films", p=2)
    titles = [one.text_content() for one in last.cssselect(".hits h2")]
    assert titles == [f"Film <b>{number}" for number in range(4, -1, -1)]
    assert last.cssselect("ol.hits")[0].get("start") == "26"
    assert client.get("/crawl", params={"job": "films", "p": 3}).status_code == 404


def test_each_has_its_score_words_and_media_by_title(client: TestClient) -> None:
    best, other = tree(client, job="films").cssselect(".hits > li")[:2]
    assert "29% on topic" in best.text_content()
    assert "wave · 波" in best.text_content()
    assert [one.text_content() for one in best.cssselect(".media")] == ["audio", "video × 11"]
    media = [one.text_content() for one in best.cssselect(".found-media li")]
    assert media[:2] == ["A film of water video · waves.mp4", "a tone audio · tone.mp3"]
    assert (len(media), media[-1]) == (9, "and 4 more")
    assert best.cssselect("h2 a")
    assert not other.cssselect("a"), "what is not in the archive is no link into it"


def test_another_crawl_of_the_store_shows_none_of_it_and_one_that_is_not_there_is_said(client):
    page = tree(client, job="a/b &c")
    assert not page.cssselect(".hits")
    assert "Nothing found yet" in page.text_content()
    listed = html.document_fromstring(client.get("/crawls").content)
    links = sorted(one.get("href") for one in listed.cssselect(".crawl h2 a"))
    assert links == ["/crawl?job=a%2Fb+%26c", "/crawl?job=films"]
    answer = client.get("/crawl", params={"job": "<i>"})
    assert answer.status_code == 404
    assert "The store has no crawl &lt;i&gt;" in answer.text


@each(
    "reason, kind",
    [("trap: host has its share", "trap"), ("another address of a page that was fetched", "alias"),
     ("redirects to http://h.test/", "moved"), ("forbidden by robots.txt", "robots"),
     ("HTTP 410", "gone"), ("HTTP 403", "closed"), ("HTTP 503", "busy"), ("HTTP 500", "server"),
     ("HTTP 418", "other"), ("no sitemap or feed: HTTP 404", "list"), ("host not found", "name"),
     ("no answer in time", "slow"), ("broken compression", "connection"),
     ("spider failed: ValueError: HTTP 404", "other"), ("", "other")],
)  # fmt: skip
def test_reasons_have_kinds(reason: str, kind: str) -> None:
    assert kind_of_error(reason) == kind


def test_what_was_left_alone_on_purpose_is_no_error(archived, tmp_path):
    uri = f"sqlite:///{tmp_path / 'crawl.db'}"
    with open_store(uri) as store:
        store.job("films", {})
        reasons = ["HTTP 404", "HTTP 410", "trap: host has", "redirects to http://h.test/"]
        with store.writing() as db:
            db.execute("INSERT INTO host VALUES (0, 0, 'http://h.test')")
            for number, reason in enumerate(reasons):
                db.execute(
                    "INSERT INTO link VALUES (?, NULL, 0, '/', 'E', 0, 0, 0, NULL, 0, 0, 0, '', '',"
                    " '', NULL, ?, ?, '', '', NULL)",
                    (number, reason, number),
                )
        store.commit()
    [numbers] = CrawlWatch(uri).crawls()
    assert numbers.error_kinds == {"gone": 2, "moved": 1, "trap": 1}
    with browsing(archived, Options(store=uri)) as (client, _):
        page = html.document_fromstring(client.get("/crawl?job=films&lang=zh").content)
    found = page.cssselect(".tiles div, details")
    lists = {each[0].text_content(): each[1].text_content() for each in found}
    assert lists["错误"] == "2"
    assert lists["错误原因"] == "2 × 网页不存在（或已删除）"
    assert "转到另一个网址" in lists["有意略过的链接"]


def test_a_chosen_language_is_remembered(archived: str) -> None:
    with browsing(archived) as (client, _):
        assert "set-cookie" not in client.get("/help").headers
        cookie = client.get("/help?lang=zh").headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
        assert '<html lang="zh-CN">' in client.get("/help").text
        assert '<html lang="en">' in client.get("/help?lang=en").text
        assert client.get("/help?path=/x").status_code == 200  # a parameter may be called so
        assert '<html lang="en">' in client.get("/help", headers={"Accept-Language": "zh"}).text
        client.cookies.clear()
        unknown = client.get("/help", headers={"Cookie": "mmcrawl_language=xx"})
        assert '<html lang="en">' in unknown.text
