"""In which kind of block each link of a page stands."""

from collections.abc import Iterator

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


def kinds_of(html: str, method: str = "quark") -> dict[str, str]:
    return link_kinds(partition(html.encode(), method=method, url=URL), URL)


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
        ("<base target=_top><base href='http://o.test/x/y'>", "http://o.test/x/2.htm"),
        ("<base href=''><base href='../a/'><base href='../b/'>", "http://h.test/a/2.htm"),
        ("<base href='javascript:'>", "http://h.test/wuli/2.htm"),
    ],
)
def test_addresses_begin_where_the_page_says(base: str, address: str) -> None:
    html = f"<head>{base}</head><p><a href='2.htm#top'>Pulleys</a>"
    assert set(kinds_of(html)) == {address}
    assert {link.url for link in parse_page(html.encode(), URL).links} == {address}


def test_links_that_only_scripts_name_have_kinds_too() -> None:
    html = (
        "<p><a href=\"javascript:open('5.htm')\">one</a> <a href=# onclick=\"location='2.htm'\">"
        "two</a><p><select onchange='go()'><option value='/3.htm'>three<option value=x>x</select>"
    )
    addresses = {link.url for link in parse_page(html.encode(), URL).links} - {URL}
    assert addresses == {f"http://h.test/{path}" for path in ("wuli/5.htm", "wuli/2.htm", "3.htm")}
    assert addresses <= set(kinds_of(html))


def demo_pages(most: int) -> Iterator[tuple[bytes, Page]]:
    web = open_web("demo")
    waiting = list(web.start_urls())
    seen = set(waiting)
    while waiting and most:
        url = waiting.pop(0)
        response = web.get(url, "GET")
        if response is not None and b"<" in response.body[:200]:
            most -= 1
            page = parse_page(response.body, url)
            yield response.body, page
            waiting += [link.url for link in page.links if link.url not in seen]
            seen.update(waiting)


def test_the_links_of_a_parsed_page_have_kinds() -> None:
    links = named = 0
    for body, page in demo_pages(40):
        blocks = partition(body, method="quark", url=page.url, encoding=page.encoding)
        kinds = link_kinds(blocks, page.url, page.encoding)
        links += len(page.links)
        named += sum(link.url in kinds for link in page.links)
    assert links > 300
    assert named >= 0.99 * links
