"""In which kind of block each link of a page stands."""

import pytest

from mmcrawl.blocks import link_kinds, partition
from mmcrawl.page import Page, parse_page
from mmcrawl.replay import open_web
from tests.tables import each

URL = "http://h.test/wuli/1.htm"
LESSON = (
    "<title>Levers</title><body><nav><ul><li><a href=/>Home</a><li><a href=/about>Contact</a>"
    "<li><a href=2.htm>Pulleys</a></ul></nav>"
    "<main><h1>Levers</h1><p>A lever is a beam on a pivot, and the oldest machine that there is. "
    "With it, <a href=2.htm>a small force</a> moves a heavy load, if the arm is long enough for "
    "it. Whoever has rowed a boat has used one.<p>It turns about its pivot.</main>"
    "<aside><h3>Related</h3><ul><li><a href=3.htm>Levers and screws</a><li><a href=4.htm>Levers "
    "and wheels</a></ul></aside>"
    "<footer><p>Copyright 2008 <a href=/rights>All rights reserved</a></footer>"
)


def kinds_of(html: str | bytes, url: str = URL, method: str = "quark") -> dict[str, str]:
    body = html.encode() if isinstance(html, str) else html
    page = parse_page(body, url)
    return link_kinds(partition(body, method=method, url=url, encoding=page.encoding), url)


def test_links_have_the_kind_of_the_block_they_stand_in() -> None:
    assert kinds_of(LESSON, method="spcola") == {
        "http://h.test/": "navigation",
        "http://h.test/about": "navigation",
        "http://h.test/wuli/2.htm": "topic",
        "http://h.test/wuli/3.htm": "related-links",
        "http://h.test/wuli/4.htm": "related-links",
        "http://h.test/rights": "copyright",
    }


@each("bar_comes_first", [True, False])
def test_a_link_in_several_blocks_has_the_best_of_their_kinds(bar_comes_first: bool) -> None:
    bar = "<nav><ul><li><a href=2.htm>Pulleys</a><li><a href=/>Home</a></ul></nav>"
    text = "<p>A lever is a beam on a pivot. <a href=2.htm>Pulleys</a> are others." + "Oars. " * 20
    main = f"<main><h1>Levers</h1>{text}</main>"
    kinds = kinds_of(f"<body>{bar + main if bar_comes_first else main + bar}")
    assert kinds == {"http://h.test/wuli/2.htm": "topic", "http://h.test/": "navigation"}


@each(
    "base, address",
    [
        ("", "http://h.test/wuli/2.htm"),
        ("<base href='/other/'>", "http://h.test/other/2.htm"),
        ("<base target=_top><base href='http://o.test/x/y'>", "http://o.test/x/2.htm"),
        ("<base href=''><base href='../a/'><base href='../b/'>", "http://h.test/a/2.htm"),
        ("<base href='javascript:'>", "http://h.test/wuli/2.htm"),
    ],
)
def test_addresses_begin_where_the_page_says(base: str, address: str) -> None:
    html = f"<head>{base}</head><p><a href='2.htm#top'>Pulleys</a>"
    assert set(kinds_of(html)) == {address}
    assert {link.url for link in parse_page(html.encode(), URL).links} == {address}


def test_queries_are_written_in_the_encoding_of_the_page() -> None:
    body = "<meta charset=gbk><p><a href='/so?q=物理'>物理</a> 杠杆是一种简单机械。".encode("gbk")
    assert set(kinds_of(body)) == {"http://h.test/so?q=%CE%EF%C0%ED"}


def test_links_that_only_scripts_name_have_kinds_too() -> None:
    html = (
        "<p><a href=\"javascript:open('5.htm')\">one</a> <a href=# onclick=\"location='2.htm'\">"
        "two</a><p><select onchange='go()'><option value='/3.htm'>three<option value=x>x</select>"
    )
    addresses = {link.url for link in parse_page(html.encode(), URL).links} - {URL}
    assert addresses == {f"http://h.test/{path}" for path in ("wuli/5.htm", "wuli/2.htm", "3.htm")}
    assert addresses <= set(kinds_of(html))


def test_a_page_without_links_has_none() -> None:
    assert kinds_of("") == {}
    assert kinds_of("<p>Levers <a name=here>move</a> <a href='mailto:a@b.c'>the world</a>") == {}


def demo_pages() -> list[tuple[bytes, Page]]:
    web = open_web("demo")
    found, waiting = [], list(web.start_urls())
    seen = set(waiting)
    while waiting and len(found) < 120:
        url = waiting.pop(0)
        response = web.get(url, "GET")
        if response is None or b"<" not in response.body[:200]:
            continue
        page = parse_page(response.body, url)
        found.append((response.body, page))
        new = [link.url for link in page.links if link.url not in seen]
        seen.update(new)
        waiting += new
    return found


@pytest.fixture(scope="module")
def demo() -> list[tuple[bytes, Page]]:
    return demo_pages()


@each("method", ["quark", "spcola"])
def test_the_links_of_a_parsed_page_have_kinds(demo: list[tuple[bytes, Page]], method: str) -> None:
    links = named = 0
    for body, page in demo:
        blocks = partition(body, method=method, url=page.url, encoding=page.encoding)
        kinds = link_kinds(blocks, page.url, page.encoding)
        links += len(page.links)
        named += sum(link.url in kinds for link in page.links)
    assert links > 1000
    assert named >= 0.99 * links
