"""Figures of a running crawl for Prometheus, served at an address of this machine.

They are those of Scrapy's stats, where `CrawlProgress` keeps the crawl's own. Sums and rates are
left to the monitoring. Figures of the process itself (`process_…`) are prometheus_client's.
"""

import logging
from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from wsgiref.simple_server import WSGIServer

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

import mmcrawl
from mmcrawl.engine.scheduler import crawl_of
from mmcrawl.settings import value_of

if TYPE_CHECKING:
    from prometheus_client.core import Metric

logger = logging.getLogger(__name__)


class _Figure(NamedTuple):
    """A metric computed from stats."""

    stat: str  # name of the stat; of several, what their names begin with
    name: str  # of the metric
    kind: str  # `counter`, or `gauge` for what may fall, or is the whole job's
    help: str  # what it counts
    label: str = ""  # what the rest of the stats' names tells, "" for a single stat


_FIGURES = (
    _Figure("mmcrawl/pages", "pages", "gauge", "Pages fetched, by all runs of the job"),
    _Figure("mmcrawl/media_pages", "media_pages", "gauge", "Pages with media on topic"),
    _Figure("mmcrawl/media/", "media", "gauge", "Media on topic", "kind"),
    _Figure("mmcrawl/harvest_rate", "harvest_ratio", "gauge", "Share of the last 500 pages"),
    _Figure("mmcrawl/waiting", "waiting_links", "gauge", "Links that may be fetched"),
    _Figure("mmcrawl/held", "held_links", "gauge", "Links that the algorithm holds back"),
    _Figure("mmcrawl/errors", "failed_links", "gauge", "Links that ended in error"),
    _Figure("mmcrawl/refused/", "refused_links", "gauge", "Links not followed", "reason"),
    _Figure("mmcrawl/patterns", "patterns", "gauge", "Learnt URL patterns"),
    _Figure("mmcrawl/archive/pages", "archived_pages", "counter", "Pages given to the archive"),
    _Figure("mmcrawl/archive/new", "archived_versions", "counter", "New versions of these"),
    _Figure("mmcrawl/archive/bytes", "archived_bytes", "counter", "Bytes given to the archive"),
    _Figure("mmcrawl/archive/new_bytes", "archived_new_bytes", "counter", "New ones of these"),
    _Figure("downloader/request_count", "requests", "counter", "Requests sent"),
    _Figure("downloader/response_bytes", "response_bytes", "counter", "Bytes received"),
    _Figure("downloader/response_status_count/", "responses", "counter", "Answers", "status"),
    _Figure("downloader/exception_type_count/", "failures", "counter", "Failed requests", "type"),
    _Figure("log_count/", "log_lines", "counter", "Lines of the log", "level"),
)


class Metrics:
    """Serves a crawl's figures while it runs, if the setting MMCRAWL_METRICS says where.

    Args:
        crawler: whose stats are served.
        address: host and port, as 127.0.0.1:9410; port 0 is a free one, which is logged.

    Raises:
        NotConfigured: prometheus_client is not installed, or the address cannot be served at. Who
            started a crawl of weeks wants it to go on all the same; the log says so.
    """

    def __init__(self, crawler: Crawler, address: str) -> None:
        self._crawler = crawler
        self._labels = {"spider": ""}
        host, _, port = address.rpartition(":")
        try:
            client = import_module("prometheus_client")
        except ImportError as error:
            raise NotConfigured(
                "MMCRAWL_METRICS needs prometheus_client: pip install 'mmcrawl[metrics]'"
            ) from error
        self._core = import_module("prometheus_client.core")
        registry = client.CollectorRegistry()
        registry.register(self)
        client.ProcessCollector(registry=registry)
        served: tuple[WSGIServer, Thread]
        try:
            served = client.start_http_server(int(port), host.strip("[]"), registry)
        except OSError as error:
            raise NotConfigured(
                f"figures cannot be served at {address}: {error.strerror or error};"
                " give MMCRAWL_METRICS another port, or 0 for a free one"
            ) from error
        self._server, self._thread = served
        logger.info("Figures for Prometheus: http://%s:%d/metrics", host, self._server.server_port)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        address = value_of(crawler.settings, "MMCRAWL_METRICS")
        if not address:
            raise NotConfigured
        return cls(crawler, address)

    def collect(self) -> Iterator["Metric"]:
        """Yield the metrics as they stand; called in a thread of the server."""
        labels = self._labels
        info = self._core.InfoMetricFamily("mmcrawl", "The crawl", labels=labels)
        info.add_metric(tuple(labels.values()), {"version": mmcrawl.__version__})
        yield info
        # One step for Python's lock, since the crawl runs on.
        stats = dict(self._crawler.stats.get_stats())
        for figure in _FIGURES:
            yield self._metric(figure, stats, labels)

    def _opened(self, spider: Spider) -> None:
        job = crawl_of(self._crawler)
        of_job = {"job": job.job.name, "algo": job.algorithm} if job else {}
        self._labels = {"spider": spider.name, **of_job}

    def _metric(
        self, figure: _Figure, stats: Mapping[str, Any], labels: Mapping[str, str]
    ) -> "Metric":
        families = {
            "gauge": self._core.GaugeMetricFamily,
            "counter": self._core.CounterMetricFamily,
        }
        names = (*labels, *filter(None, (figure.label,)))
        family: Metric = families[figure.kind](f"mmcrawl_{figure.name}", figure.help, labels=names)
        values = tuple(labels.values())
        if not figure.label:
            family.add_metric(values, stats.get(figure.stat, 0))  # type: ignore[attr-defined]
        for name, value in stats.items() if figure.label else ():
            if name.startswith(figure.stat):
                rest = name.removeprefix(figure.stat)
                family.add_metric((*values, rest), value)  # type: ignore[attr-defined]
        return family

    def _closed(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
