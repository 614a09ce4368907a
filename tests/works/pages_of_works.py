"""Pages with media, read as a crawl reads them, for tests of works."""

from mmcrawl.blocks import partition
from mmcrawl.frontier import MediaPageRecord
from mmcrawl.page import parse_page
from mmcrawl.works import FoundPage, Sources, Work, WorksPage, describe, read_works_page

URL = "http://school.test/course/page.html"


def facts(html: str, url: str = URL) -> WorksPage:
    """Return what a page tells of its works."""
    body = html.encode()
    media = parse_page(body, url, "text/html; charset=utf-8").media
    return read_works_page(partition(body, encoding="utf-8", url=url), url, media)


def found(html: str, url: str = URL, topic: str = "") -> FoundPage:
    """Return a page as a crawl found it."""
    said = facts(html, url)
    record = MediaPageRecord(url, said.title, 1.0, (), 200, 1_700_000_000.0, ())
    return FoundPage(record, said, topic)


def works(*pages: FoundPage, sources: Sources | None = None) -> list[Work]:
    """Return the works of some pages."""
    return [work for work, _ in describe(pages, sources or Sources())]
