"""The demo web: its files, the links between them, and what a crawler falls over."""

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector
from scrapy.robotstxt import ProtegoRobotParser

from mmcrawl.replay import DemoWeb, StoredResponse
from tests.replay.fetching import fetch
from tests.tables import each

FOLDER = Path(__file__).resolve().parents[2] / "demo"
LINKS = "//a/@href | //area/@href | //frame/@src | //iframe/@src | //embed/@src | //source/@src"
FILES = "//img/@src | //script/@src | //link/@href | //video/@src | //param[@name='movie']/@value"
POPUP = re.compile(r"window\.open\('([^']+)'")
PLAYERS = {"www.youtube.com", "player.bilibili.com"}
WULI, PHYSICS, APP = "http://wuli.demo.test/", "http://physics.demo.test/", "http://app.demo.test/"
DEAD_LINKS = {f"{WULI}gaozhong/wuli/kejian/kj999.htm", f"{WULI}dating/"}


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb()


def references(url: str, response: StoredResponse, xpath: str) -> Iterator[str]:
    text = response.body.decode("gbk" if b"charset=gb2312" in response.body else "utf-8")
    for value in Selector(text).xpath(xpath).getall():
        popup = POPUP.search(value)
        if popup or not value.startswith(("javascript:", "mailto:")):
            yield urljoin(url, popup[1] if popup else value)


def endless(url: str) -> bool:
    return "/calendar?" in url or "PHPSESSID=" in url or ";jsessionid=" in url


def test_every_file_is_what_its_address_answers(web: DemoWeb) -> None:
    names = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()]
    pages = set(web.page_urls())
    assert len(names) > 600
    for name in names:
        if "/" not in name:
            continue
        path = re.sub(r"@(.*)[.]html$", r"?\1", name).removesuffix("index.html")
        url = f"http://{path}"
        answer, body = fetch(web, url), (FOLDER / name).read_bytes()
        unmarked = re.sub(rb"(;jsession|(\?|&amp;)PHPSESS)(id|ID)=\w{16}", b"", answer.body)
        assert (answer.status, unmarked) == (200, body), url
        kind = answer.header("Content-Type") or ""
        assert (url in pages or url == APP) == kind.startswith("text/html"), url
        assert kind.endswith("utf-8") == (kind[:9] == "text/html" and b"gb2312" not in body), url
        assert web.get(url, "HEAD") == StoredResponse(200, answer.headers, b"")


def test_every_link_resolves_or_is_meant_to_be_dead(web: DemoWeb) -> None:
    statuses: dict[int, set[str]] = {}
    for page in web.page_urls():
        response = fetch(web, page)
        for url in references(page, response, f"{LINKS} | {FILES}"):
            if urlsplit(url).netloc in PLAYERS:
                assert web.get(url) is None
            else:
                statuses.setdefault(fetch(web, url).status, set()).add(url)
    assert statuses[404] == DEAD_LINKS
    assert statuses[500] == {f"{WULI}search.asp?q="}
    assert statuses[301] == {f"{WULI}wuli/", f"{WULI}old/a.htm"}
    assert set(statuses) == {200, 301, 404, 500}


def test_relevant_pages_are_reached_without_what_robots_txt_forbids(web: DemoWeb) -> None:
    robots = {
        urlsplit(site).netloc: ProtegoRobotParser(fetch(web, f"{site}robots.txt").body, None)
        for site in (WULI, PHYSICS)
    }
    clicks = dict.fromkeys(web.start_urls(), 0)
    waiting = deque(clicks)
    while waiting:
        url = waiting.popleft()
        response = fetch(web, url)
        found = [response.header("Location") or ""] if response.status == 301 else []
        is_page = (response.header("Content-Type") or "").startswith("text/html")
        if response.status == 200 and is_page and b'content="nofollow"' not in response.body:
            found = list(references(url, response, LINKS))
        for target in found:
            host = urlsplit(target).netloc
            allowed = host not in robots or robots[host].allowed(target, "mmcrawl")
            if target not in clicks and allowed and host not in PLAYERS and not endless(target):
                clicks[target] = clicks[url] + (response.status == 200)
                waiting.append(target)
    assert len(web.relevant_urls()) == 100
    assert web.relevant_urls() <= clicks.keys() & set(web.page_urls())
    forbidden = {url for url in web.page_urls() if "/neibu/" in url or "/drafts/" in url}
    assert forbidden
    assert not forbidden & clicks.keys()
    assert max(clicks[url] for url in web.relevant_urls()) >= 5


def test_the_calendar_has_no_end(web: DemoWeb) -> None:
    url, seen = f"{PHYSICS}calendar?year=2009&month=9", set()
    for _ in range(40):
        seen.add(url)
        turning = references(url, fetch(web, url), "//a[contains(., 'Next')]/@href")
        url = next(turning)
    assert len(seen) == 40
    assert url.endswith("year=2013&month=1")
    months = Selector(fetch(web, f"{PHYSICS}calendar?year=2024&month=2").body.decode())
    assert months.xpath("//td/text()").getall() == [str(day) for day in range(1, 30)]
    assert months.xpath("//h1/text()").get() == "Calendar 2024-02"
    for query in ("year=0&month=1", "year=2009&month=13", "year=x&month=1", "month=1", ""):
        assert fetch(web, f"{PHYSICS}calendar?{query}").status == 404


@each("start", [f"{WULI}luntan/", "http://shop.demo.test/gouwuche/"])
def test_sessions_give_every_page_endless_new_addresses(web: DemoWeb, start: str) -> None:
    url, plain = start, set()
    for _ in range(20):
        links = [u for u in references(url, fetch(web, url), "//a/@href") if endless(u)]
        url = links[0]
        assert fetch(web, url).status == 200
        plain.add(url)
    assert len(plain) == 20


def test_redirects_lead_on_or_round_in_a_circle(web: DemoWeb) -> None:
    a, b = f"{WULI}old/a.htm", f"{WULI}old/b.htm"
    for url, target in {
        f"{WULI}wuli/": f"{WULI}gaozhong/wuli/",
        f"{WULI}gaozhong/wuli": f"{WULI}gaozhong/wuli/",
        a: b,
        b: a,
        "https://WWW.wuli.demo.test/xinwen/?x=1": "https://wuli.demo.test/xinwen/?x=1",
    }.items():
        answer = fetch(web, url)
        assert (answer.status, answer.header("Location")) == (301, target)
    assert web.aliases()["www.wuli.demo.test"] == "wuli.demo.test"


def test_lessons_of_the_app_are_one_empty_page(web: DemoWeb) -> None:
    shell = fetch(web, APP)
    assert fetch(web, f"{APP}lesson/momentum?x=1") == shell
    for name in ("lesson/none", "lesson/momentum/", "api/lesson/none.json", "api/lessons"):
        assert fetch(web, f"{APP}{name}").status == 404
    assert web.get(f"{APP}", "POST").status == 405
    assert web.get("http://www.app.demo.test/") is None


@given(
    st.one_of(
        st.text(), st.text().map(WULI.__add__), st.text().map((PHYSICS + "calendar?").__add__)
    )
)
def test_any_url_is_answered(web: DemoWeb, url: str) -> None:
    web.get(url)
