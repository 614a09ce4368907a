"""Reports of fetched pages, and the state of a crawl in figures.

A report holds plain values: everything that can be computed from the page alone. So the process
that parses a page need not be the one that adds it to the frontier.
"""

import json
import logging
from collections import deque
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from mmcrawl.errors import ItemError
from mmcrawl.page.model import Page
from mmcrawl.scoring.relevance import Signs, TopicTest, Verdict
from mmcrawl.scoring.similarity import LinkSimilarity

logger = logging.getLogger(__name__)

HARVEST_PAGES = 500


@dataclass(slots=True)
class FetchedPage:
    """A page on its way from the fetcher to the frontier.

    Attributes:
        extra: what pipelines added for the feeds, plain values by name.
    """

    page: Page
    http_status: int = 200  # status it came with
    digest: int = 0  # `page_digest` of its body, 0 if that is not known
    verdict: Verdict | None = None  # what the topic test says of it, None if it was not asked
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page that was fetched and parsed, as the frontier records it."""

    page: Page  # the page, its links under the real names of their hosts
    visited_at: float  # Unix time
    http_status: int  # status it came with
    digest: int  # its `page_digest`, 0 if that is not known
    words: list[str]  # its words, for the similarity of links
    signs: Signs  # what of the topic stands on it apart from its media
    links_left: int = 0  # how many more links it has, which are left out
    extra: str = ""  # what pipelines added for the feeds, a JSON object; "" for nothing


@dataclass(frozen=True, slots=True)
class Reporter:
    """Makes the reports of one crawl.

    Attributes:
        aliases: other names of hosts; links to them are reported under the main name.
    """

    test: TopicTest  # tells whether a page is relevant
    similarity: LinkSimilarity  # knows what counts as a word of a page
    aliases: Mapping[str, str] = field(default_factory=dict)
    most_links: int = 0  # most links of a page that are reported, the first ones; 0 for all

    def report(self, fetched: FetchedPage, visited_at: float) -> PageReport:
        """Return the report of a page; its verdict, if there is one, spares reading it again.

        Raises:
            ItemError: what pipelines added is no plain value.
        """
        page, verdict = fetched.page, fetched.verdict
        # A list is bounded by what reads it.
        links = page.links if page.is_listing else page.links[: self.most_links or None]
        if self.aliases:
            links = tuple(replace(link, url=self.real(link.url)) for link in links)
        return PageReport(
            page=page if links is page.links else replace(page, links=links),
            visited_at=visited_at,
            http_status=fetched.http_status,
            digest=fetched.digest,
            words=self.similarity.page_words(page),
            signs=self.test.signs(page) if verdict is None else verdict.signs,
            links_left=len(page.links) - len(links),
            extra=_as_json(fetched.extra),
        )

    def real(self, url: str) -> str:
        """Return `url` under the real name of its host."""
        if not self.aliases:
            return url
        parts = urlsplit(url)
        host = self.aliases.get(parts.netloc)
        return parts._replace(netloc=host).geturl() if host else url


def _as_json(extra: Mapping[str, Any]) -> str:
    try:
        return json.dumps(extra, ensure_ascii=False) if extra else ""
    except (TypeError, ValueError) as error:
        raise ItemError(f"a pipeline added a value that is not plain: {error}"[:200]) from error


class RecentHarvest:
    """Which of the last 500 pages were relevant."""

    def __init__(self) -> None:
        self._pages: deque[tuple[int, bool]] = deque(maxlen=HARVEST_PAGES)

    @property
    def rate(self) -> float:
        """Share of relevant pages, in [0, 1]."""
        found = sum(relevant for _, relevant in self._pages)
        return found / len(self._pages) if self._pages else 0.0

    def recall(self, pages: Iterable[tuple[int, bool]]) -> None:
        """Add pages of an earlier run, the last one last."""
        self._pages.extend(pages)

    def add(self, link: int, *, relevant: bool) -> None:
        """Add a page."""
        self._pages.append((link, relevant))

    def revise(self, links: Container[int]) -> None:
        """Record that pages reported as relevant are not."""
        recent = ((link, relevant and link not in links) for link, relevant in self._pages)
        self._pages = deque(recent, maxlen=HARVEST_PAGES)


@dataclass(frozen=True, slots=True)
class Totals:
    """Where a crawl stands.

    Attributes:
        held: links that may not be fetched for now, e.g. until they match a pattern.
        refused: links that were not followed, by reason.
    """

    pages: int = 0  # pages crawled, earlier runs of the job included
    media_pages: int = 0  # relevant pages found
    media: Mapping[str, int] = field(default_factory=dict)  # distinct resources by kind
    harvest_rate: float = 0.0  # share of relevant pages among the last 500, in [0, 1]
    waiting: int = 0  # links that may be fetched
    held: int = 0
    patterns: int = 0  # learnt patterns
    errors: int = 0  # links that could not be fetched
    refused: Mapping[str, int] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """Return the numbers as plain data, for `Totals(**plain)`."""
        return asdict(self)
