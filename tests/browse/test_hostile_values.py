"""Whatever a page, title, address or header holds: it is text in a page of ours, and no more."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.archive import Capture
from mmcrawl.page import parse_page
from tests.browse.catalogue import START, browsing, fill
from tests.tables import each

_TYPE = ("Content-Type", "text/html; charset=utf-8")
SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"\"'>{SCRIPT}<img src=x onerror=alert(2)>"
URLS = [
    f"http://hostile.test/{HOSTILE}",
    "http://hostile.test/?a={{ 7*7 }}&b=%00\u202emoc.live",
    "http://hostile.test/%0d%0aSet-Cookie:x=1",
    "http://h<b>.test/",
    "javascript:alert(3)",
    "data:text/html,<script>alert(4)</script>",
    "http://hostile.test/" + "a/" * 3000,
]
BODY = (
    f"<title>{HOSTILE}</title><h1>trap {HOSTILE}</h1><p>trap \u202e\u2067 levers</p>"
    '<p><a href="javascript:alert(5)//a.mp4">trap film</a>'
    ' <a href="http://x.test;script-src%20*/a.mp4">trap policy</a>'
    ' <a href="http://media.test/;script-src%20*/a.mp4">trap path</a>'
    ' <a href="http://media.test/&quot;><script>alert(6)</script>.mp3">trap sound</a></p>'
)


def captures() -> Iterator[Capture]:
    headers = (_TYPE, ("X-<b>", f"a\r\nSet-Cookie: evil=1{HOSTILE}"), ("Server", "\x1b[31m\u202e"))
    for number, url in enumerate(URLS):
        yield Capture(url, BODY.encode(), START + number, headers=headers, reason=HOSTILE)
        changed = f"{BODY}<p>trap more {HOSTILE}</p>".encode()
        yield Capture(url, changed, START + 100 + number, headers=headers)
    title = "A" * 1_000_000
    body = f"<title>{title}</title><h1>trap {title}</h1>".encode()
    yield Capture("http://long.test/", body, START, headers=(_TYPE, ("X-Long", title)))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with browsing(fill(tmp_path_factory.mktemp("hostile"), captures())) as (client, _):
        yield client


def check(page: html.HtmlElement, text: str) -> None:
    """Fail if anything of the archive became more than text."""
    assert SCRIPT not in text
    for script in page.cssselect("script"):
        assert script.get("src") == "/static/browse.js"
        assert not script.text
    for element in page.iter():
        if isinstance(element.tag, str):
            assert not [name for name in element.attrib if name.startswith("on")]
            for name in ("href", "src", "action", "data"):
                address = element.get(name, "/")
                assert address.startswith(("/", "#", "http://", "https://")), address
                assert not address.startswith("//")
    assert not page.cssselect("img, object, embed, base, b")
    assert not [c for c in "\u202e\u2067\x1b\x00" if c in page.text_content()]
    assert "49" not in page.cssselect("h1")[0].text_content()


@each("path", ["/page", "/version", "/diff", "/view"])
def test_nothing_in_a_page_acts(client: TestClient, path: str) -> None:
    for url in URLS:
        answer = client.get(path, params={"url": url})
        assert answer.status_code == 200
        check(html.document_fromstring(answer.content), answer.text)
        assert "set-cookie" not in answer.headers


VERSION = "/version?" + urlencode({"url": URLS[2]})


def test_nothing_in_a_list_acts(client: TestClient) -> None:
    for path in ("/", "/sites", "/site?host=hostile.test", "/search?q=trap", VERSION):
        answer = client.get(path)
        assert answer.status_code == 200, path
        page = html.document_fromstring(answer.content)
        check(page, answer.text)
        for link in page.cssselect("a[href^='/media/item'], a[href^='/site']"):
            inner = client.get(link.get("href"))
            assert inner.status_code == 200
            if "csv" in link.get("class", ""):
                assert inner.headers["content-disposition"].startswith("attachment")
                assert inner.headers["x-content-type-options"] == "nosniff"
                continue
            check(html.document_fromstring(inner.content), inner.text)


def test_nothing_in_a_request_acts(client: TestClient) -> None:
    for path, names in (
        ("/page", ("url", "p", "lang")),
        ("/search", ("q", "kind", "topic", "p")),
        ("/site", ("host", "prefix")),
        ("/version", ("url", "at", "n")),
        ("/media/item", ("url", "m")),
        ("/find", ("q", "url")),
    ):
        for name in names:
            answer = client.get(path, params={name: HOSTILE + "\u202e"})
            assert answer.status_code < 500
            if answer.status_code != 303:
                page = html.document_fromstring(answer.content)
                assert SCRIPT not in answer.text
                assert not page.cssselect("img")


def test_a_title_of_a_megabyte_is_shortened(client: TestClient) -> None:
    for path in ("/version", "/page", "/view"):
        assert len(client.get(path, params={"url": "http://long.test/"}).content) < 20_000
    assert len(client.get("/search?q=trap").content) < 200_000


def test_a_player_may_ask_one_host_only_whatever_the_address_holds(client: TestClient) -> None:
    media = parse_page(BODY.encode(), URLS[2], "text/html; charset=utf-8").media
    assert len(media) > 1
    for one in media:
        asked = {"url": URLS[2], "n": 1, "m": one.url, "play": "1"}
        answer = client.get("/media/item", params=asked)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        if "<audio" in answer.text or "<video" in answer.text:
            assert policy.count("script-src") == 0
            assert policy.endswith("media-src http://media.test")
        else:
            assert "media-src" not in policy
