"""The pages of a crawl with what they tell of works: from its store and its archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mmcrawl.archive.archive import Archive
from mmcrawl.blocks.partition import partition
from mmcrawl.collecting.works.describing import FoundPage
from mmcrawl.collecting.works.mentions import mentions_of
from mmcrawl.collecting.works.page_facts import PageFacts, facts_of_page
from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import MediaPageRecord

_MOST_RESOURCES = 100_000  # of a page


def found_pages(
    records: Iterable[tuple[str, MediaPageRecord]],
    archive: Archive | None,
    *,
    problem: Callable[[str], None] = lambda text: None,
) -> Iterator[FoundPage]:
    """Yield the pages of a crawl with what they tell of their works.

    A page that is not in the archive, or cannot be read there, is described by what the crawl noted
    of it: its title, and the texts of its links.

    Args:
        records: The media pages of the crawl, best first, each with the crawl's topic.
        archive: Open; None for a crawl without one.
        problem: Is told what could not be read, a sentence each.
    """
    for topic, record in records:
        facts = None
        if archive is not None:
            try:
                facts = _archived_facts(record, archive)
            except StoreError as error:
                problem(str(error))
        yield FoundPage(record, facts or _noted_facts(record), topic)


def _archived_facts(record: MediaPageRecord, archive: Archive) -> PageFacts | None:
    version = archive.get(record.url)
    if not version.method:
        return None
    body = archive.rebuild(version).body
    page = partition(
        body,
        method=version.method,
        level=version.level or 1,
        encoding=version.encoding or None,
        url=record.url,
    )
    return facts_of_page(page, record.url, record.resources[:_MOST_RESOURCES])


def _noted_facts(record: MediaPageRecord) -> PageFacts:
    mentions = mentions_of(record.resources[:_MOST_RESOURCES])
    return PageFacts(record.url, record.title, mentions=tuple(mentions.values()))
