"""Cookies are kept without a look at the network."""

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares import cookies
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.test import get_crawler

from mmcrawl.engine import BoundedCookieJar, CookiesMiddleware
from mmcrawl.spiders import FocusedSpider
from tests.tables import each


def sent(answered: str, cookie: str, asked: str) -> str:
    """Return the cookies that are sent to `asked` after `answered` set one."""
    middleware = CookiesMiddleware.from_crawler(get_crawler())
    first, second = Request(f"http://{answered}/"), Request(f"http://{asked}/")
    response = Response(first.url, headers={"Set-Cookie": cookie})
    middleware.process_request(first)
    middleware.process_response(first, response)
    middleware.process_request(second)
    return (second.headers.get("Cookie") or b"").decode()


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where Scrapy's own extractor, which downloads the list, is asked."""

    def download(*_: object, **__: object) -> None:
        pytest.fail("the public suffix list was asked for")

    monkeypatch.setattr(cookies, "_split_domain", download)


@each(
    "answered, cookie, asked, expected",
    [
        ("a.school.test", "k=1", "a.school.test", "k=1"),
        ("a.school.test", "k=1", "b.school.test", ""),
        ("a.school.test", "k=1; Domain=school.test", "b.school.test", "k=1"),
        ("a.school.co.uk", "k=1; Domain=school.co.uk", "b.school.co.uk", "k=1"),
        ("a.co.uk", "k=1; Domain=co.uk", "b.co.uk", ""),
        ("a.github.io", "k=1; Domain=.github.io", "b.github.io", ""),
        ("github.io", "k=1; Domain=github.io", "github.io", "k=1"),
    ],
)
def test_a_cookie_goes_to_its_domain_and_never_to_a_public_suffix(
    answered: str, cookie: str, asked: str, expected: str
) -> None:
    assert sent(answered, cookie, asked) == expected


def test_a_crawl_uses_it_in_place_of_scrapys() -> None:
    settings = Settings()
    FocusedSpider.update_settings(settings)
    used = build_component_list(settings.getwithbase("DOWNLOADER_MIDDLEWARES"))
    assert [name for name in used if "Cookies" in name] == [
        "mmcrawl.engine.middlewares.CookiesMiddleware"
    ]


def jar_after(*cookies: tuple[str, str]) -> BoundedCookieJar:
    """Return the jar after hosts answered with cookies, one by one."""
    middleware = CookiesMiddleware.from_crawler(get_crawler())
    for host, cookie in cookies:
        request = Request(f"http://{host}/")
        response = Response(request.url, headers={"Set-Cookie": cookie})
        middleware.process_response(request, response)
    jar = middleware.jars[None]
    assert isinstance(jar, BoundedCookieJar)
    return jar


def test_a_site_keeps_as_many_cookies_as_in_a_browser_the_latest() -> None:
    hosts = ("a.school.co.uk", "b.school.co.uk")
    cookies = [(hosts[n % 2], f"k{n}=1; Path=/{n}") for n in range(400)]
    again = [(hosts[0], "k220=2; Path=/220"), (hosts[0], "new=1")]  # set again: not the oldest
    kept = {cookie.name for cookie in jar_after(("other.test", "mine=1"), *cookies, *again)}
    assert kept == {"mine", "new", "k220"} | {f"k{n}" for n in range(222, 400)}


def test_all_sites_together_keep_as_many_cookies_as_in_a_browser() -> None:
    jar = jar_after(*((f"h{n}.test", "k=1") for n in range(3100)))
    domains = {cookie.domain for cookie in jar}
    assert len(domains) == 3000
    assert "h99.test" not in domains
    assert "h100.test" in domains


@each(
    "cookie, kept",
    [
        ("k=" + "x" * 4095, True),
        ("k=" + "x" * 4096, False),
        ("k=1; Path=/" + "x" * 1023, True),
        ("k=1; Path=/" + "x" * 1024, False),
    ],
)
def test_a_cookie_may_be_as_long_as_in_a_browser(cookie: str, kept: bool) -> None:
    assert len(jar_after(("school.test", cookie))) == kept
