"""Cookies are kept without a look at the network."""

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares import cookies
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.test import get_crawler

from mmcrawl.middlewares import CookiesMiddleware
from spiders.focused import FocusedSpider


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


@pytest.mark.parametrize(
    ("answered", "cookie", "asked", "expected"),
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
    assert [name for name in used if "Cookies" in name] == ["mmcrawl.middlewares.CookiesMiddleware"]
