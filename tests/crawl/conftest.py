"""A crawl of a made-up web without the network."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.crawl import CrawlJob, FetchedPage
from mmcrawl.frontier import SqliteStore, open_store, page_digest
from mmcrawl.page import parse_page
from tests.jobs import job_of

SEED = "http://site.test/"
Web = Mapping[str, str]


def page(*hrefs: str, media: str = "", title: str = "optics", head: str = "") -> str:
    shown = f'<p><a href="{media}">film</a></p>' if media else ""
    links = "".join(f'<p><a href="{href}">{href}</a></p>' for href in hrefs)
    return f"<title>{title}</title>{head}{shown}{links}"


@pytest.fixture
def opened() -> Iterator[Callable[..., CrawlJob]]:
    """Open a job. The same store once more: it is left as a kill leaves it, and taken up again."""
    stores: dict[str, SqliteStore] = {}
    parameters = {
        "urlrule": {"m": 2},
        "urlrule-2009": {"m": 2, "num2": 2},
        "shark-improved": {"with_media": False},
    }

    def make(
        store: str = "memory:", algo: str = "breadth", seeds: tuple[str, ...] = (SEED,), **more: Any
    ) -> CrawlJob:
        if store in stores:
            stores[store].close()
        stores[store] = open_store(store)
        given = {"media": ("video", "animation"), "parameters": parameters.get(algo)} | more
        return job_of(stores[store], algo, seeds, **given)

    yield make
    for store in stores.values():
        store.close()


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'crawl.db'}"


def fetch(
    job: CrawlJob, web: Web, link: Any, between: Callable[[], object] | None = None
) -> bool | None:
    """Report one page, as pipeline and scheduler do; tell whether it is relevant."""
    body = web.get(link.url)
    if body is None:
        job.failed(link.id, "HTTP 404")
        return None
    parsed = parse_page(body.encode(), link.url)
    digest = page_digest(link.url, body.encode(), [shown.url for shown in parsed.media])
    verdict = job.judge(parsed, digest)
    if between is not None:
        between()
    return job.crawled(link.id, FetchedPage(parsed, digest=digest, verdict=verdict))


def crawl(job: CrawlJob, web: Web, most: int = 1000) -> list[str]:
    """Fetch up to `most` links; return their addresses in order."""
    taken: list[str] = []
    while len(taken) < most and (link := job.next()):
        taken.append(link.url)
        fetch(job, web, link)
        job.commit()
    return taken


def media_pages(job: CrawlJob) -> dict[str, list[str]]:
    return {found.url: [r.url for r in found.resources] for found in job.findings.media_pages()}
