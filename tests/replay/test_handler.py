import asyncio
from pathlib import Path

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler
from twisted.internet.error import DNSLookupError

from mmcrawl.errors import WebError
from mmcrawl.replay import Latency, ReplayDownloadHandler, web_of
from tests.tables import each


def handler(web: str, **settings: object) -> ReplayDownloadHandler:
    crawler = get_crawler(Spider, {"MMCRAWL_WEB": web, **settings})
    return ReplayDownloadHandler.from_crawler(crawler)


def download(made: ReplayDownloadHandler, request: Request) -> Response:
    return asyncio.run(made.download_request(request))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "a.test").mkdir()
    (tmp_path / "a.test/index.html").write_bytes("<p>课件</p>".encode("gbk"))
    (tmp_path / "a.test/film.wmv").write_bytes(b"x" * 1_500_000)
    return str(tmp_path)


def test_a_response_has_the_class_status_and_headers_of_its_page(folder: str) -> None:
    made = handler(folder)
    request = Request("https://a.test/")
    page = download(made, request)
    assert isinstance(page, HtmlResponse)
    assert (page.status, page.headers["Content-Type"]) == (200, b"text/html")
    assert page.body.decode("gbk") == "<p>课件</p>"
    assert request.meta["download_latency"] >= 0
    assert download(made, Request("http://a.test/none")).status == 404
    assert download(made, Request("http://a.test/", method="HEAD")).body == b""


def test_a_large_file_comes_whole_and_off_the_engine_thread(folder, monkeypatch):
    threads = []

    async def spy(call, *args):  # type: ignore[no-untyped-def]
        threads.append(args)
        return call(*args)

    monkeypatch.setattr("mmcrawl.replay.handler.run_in_thread", spy)
    made = handler(folder)
    film = download(made, Request("http://a.test/film.wmv"))
    assert len(film.body) == 1_500_000
    assert threads == [("http://a.test/film.wmv", "GET")]
    download(made, Request("http://a.test/"))
    assert len(threads) == 1


def test_more_than_the_allowed_size_is_cancelled(folder: str) -> None:
    made = handler(folder, DOWNLOAD_MAXSIZE=1000)
    with pytest.raises(DownloadCancelledError, match="1500000 bytes"):
        download(made, Request("http://a.test/film.wmv"))
    allowed = Request("http://a.test/film.wmv", meta={"download_maxsize": 0})
    assert download(made, allowed).status == 200
    small = Request("http://a.test/", meta={"download_maxsize": 5})
    with pytest.raises(DownloadCancelledError):
        download(handler(folder), small)


def test_an_unknown_host_fails_as_a_name_that_cannot_be_resolved(folder: str) -> None:
    for kind in (DNSLookupError, CannotResolveHostError):
        with pytest.raises(kind, match=r"b\.test"):
            download(handler(folder), Request("http://b.test/"))


def test_latency_is_waited_for_per_host(folder: str) -> None:
    made = handler(folder, MMCRAWL_WEB_LATENCY={"a.test": 60})
    slow, fast = Request("http://a.test/"), Request("http://b.test/")
    download(made, slow)
    assert slow.meta["download_latency"] >= 0.05
    with pytest.raises(DNSLookupError):
        download(made, fast)
    assert fast.meta["download_latency"] < 0.05


@each("settings", [{}, {"MMCRAWL_WEB": "demo", "MMCRAWL_WEB_LATENCY": "x"}])
def test_a_web_that_cannot_be_opened_leaves_the_handler_unconfigured(settings):
    crawler = get_crawler(Spider, settings)
    with pytest.raises(NotConfigured):
        ReplayDownloadHandler.from_crawler(crawler)
    if "MMCRAWL_WEB_LATENCY" not in settings:
        with pytest.raises(WebError):
            web_of(crawler)


def test_latency_is_one_number_or_one_per_host() -> None:
    assert Latency.parse(None) == Latency.parse("") == Latency()
    assert Latency.parse("50").seconds("any.test") == 0.05
    assert Latency.parse(0.5).seconds("any.test") == 0.0005
    latency = Latency.parse('{"Slow.test": 900, "*": 20}')
    assert (latency.seconds("slow.test"), latency.seconds("a.test")) == (0.9, 0.02)
    assert Latency.parse({"slow.test": 900}).seconds("a.test") == 0
