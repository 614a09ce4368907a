"""The figures of a crawl, as Prometheus reads them."""

import socket
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import MemoryStatsCollector

from mmcrawl.engine import Metrics
from mmcrawl.spiders import FocusedSpider
from tests.programs import typed


@pytest.fixture
def crawler() -> Crawler:
    """A crawler that has not begun, with the stats of one that has."""
    made = Crawler(FocusedSpider)
    made.stats = MemoryStatsCollector(made)
    for name, value in {
        "mmcrawl/pages": 12,
        "mmcrawl/media/video": 3,
        "mmcrawl/media/audio": 1,
        "mmcrawl/refused/other site": 7,
        "downloader/response_status_count/200": 11,
        "downloader/response_status_count/404": 2,
    }.items():
        made.stats.set_value(name, value)
    return made


@pytest.fixture
def port() -> Iterator[int]:
    """A port that somebody has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def figures(crawler: Crawler, caplog: pytest.LogCaptureFixture) -> dict[tuple[str, ...], float]:
    """Return what is served, by the name of the metric and the values of its labels."""
    caplog.set_level("INFO")
    Metrics(crawler, "127.0.0.1:0")
    address = caplog.messages[-1].removeprefix("Figures for Prometheus: ")
    try:
        with urlopen(address) as answer:
            text = answer.read().decode()
    finally:
        crawler.signals.send_catch_log(signals.spider_closed)
    with pytest.raises(OSError, match="refused"):
        urlopen(address)
    return {
        (sample.name, *filter(None, sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_figures_are_those_of_the_stats_while_the_crawl_runs(crawler, caplog):
    served = figures(crawler, caplog)
    assert served["mmcrawl_pages",] == 12
    assert served["mmcrawl_media", "video"] == 3
    assert served["mmcrawl_refused_links", "other site"] == 7
    assert served["mmcrawl_responses_total", "404"] == 2
    assert served["mmcrawl_waiting_links",] == 0
    assert any(name == "process_resident_memory_bytes" for name, *_ in served)


def test_an_address_that_is_taken_is_told_and_stops_no_crawl(crawler: Crawler, port: int) -> None:
    with pytest.raises(NotConfigured, match=f"served at 127.0.0.1:{port}: Address already in use"):
        Metrics(crawler, f"127.0.0.1:{port}")


def test_a_crawl_serves_them_and_says_where(tmp_path) -> None:  # type: ignore[no-untyped-def]
    options = ("-s", "MMCRAWL_METRICS=127.0.0.1:0", "-a", "store=memory:", "-a", "max_pages=3")
    said = typed("crawl", "focused", *options, folder=tmp_path)
    assert "Figures for Prometheus: http://127.0.0.1:" in said.stderr
    assert "Traceback" not in said.stderr
