"""What is told of a fetched page: plain values, made where it was parsed.

Who parses a page and who takes it into the frontier need not be one process. A report holds what
the second must know; everything that can be worked out from the page alone is worked out by the
first.

Where a crawl stands, in numbers.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from mmcrawl.page.model import MediaResource, Page
from mmcrawl.scoring.relevance import Signs, TopicTest, Verdict
from mmcrawl.scoring.similarity import LinkSimilarity


@dataclass(frozen=True, slots=True)
class ReportedLink:
    """A link on a page.

    Attributes:
        url: under the real name of its host.
        anchor: text of the link.
        group_title: title of its link group, "" for none.
        from_script: the link was a literal inside a script.
        nofollow: the page asks not to follow it.
        block: kind of the block it stands in, "" if that is not known.
    """

    url: str
    anchor: str = ""
    group_title: str = ""
    from_script: bool = False
    nofollow: bool = False
    block: str = ""


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page that was fetched and parsed.

    Attributes:
        url: its address.
        title, keywords, description: of its head.
        visited_at: Unix time.
        http_status: status it came with.
        digest: its `page_digest`, 0 if that is not known.
        layer: logical layer of the link that led to it.
        words: its words, for the similarity of links.
        signs: what of the topic stands on it apart from its media.
        media: all its media, site-wide ones included.
        links: its links in order.
        links_left: how many more it has, which are left out.
        nofollow: it asks that none of them is followed.
        extra: what pipelines added for the feeds, a JSON object; "" for nothing.
    """

    url: str
    title: str
    keywords: str
    description: str
    visited_at: float
    http_status: int
    digest: int
    layer: int
    words: list[str]
    signs: Signs
    media: tuple[MediaResource, ...]
    links: tuple[ReportedLink, ...]
    links_left: int = 0
    nofollow: bool = False
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Reporter:
    """Makes the reports of one crawl.

    Attributes:
        test: tells whether a page is relevant.
        similarity: knows what counts as a word of a page.
        aliases: other names of hosts; links to them are told under the name they stand for.
        most_links: most links of a page that are told of, the first ones; 0 for all.
    """

    test: TopicTest
    similarity: LinkSimilarity
    aliases: Mapping[str, str] = field(default_factory=dict)
    most_links: int = 0

    def report(
        self,
        page: Page,
        verdict: Verdict | None,
        *,
        visited_at: float,
        layer: int = 1,
        digest: int = 0,
        http_status: int = 200,
        extra: str = "",
    ) -> PageReport:
        """Return the report of a page; a `verdict` that was passed on it spares reading it again.

        Args:
            page: the parsed page.
            verdict: what the topic test said of it, None if it was not asked.
            visited_at: Unix time.
            layer: logical layer of the link that led to it.
            digest: the page's `page_digest`.
            http_status: status it came with.
            extra: what pipelines added for the feeds, see `PageReport`.
        """
        links = page.links[: self.most_links or None]
        return PageReport(
            url=page.url,
            title=page.title,
            keywords=page.keywords,
            description=page.description,
            visited_at=visited_at,
            http_status=http_status,
            digest=digest,
            layer=layer,
            words=self.similarity.page_words(page),
            signs=self.test.signs(page) if verdict is None else verdict.signs,
            media=page.media,
            links=tuple(
                ReportedLink(
                    self.real(link.url),
                    link.anchor,
                    page.groups[link.group].title if link.group >= 0 else "",
                    link.from_script,
                    link.nofollow,
                )
                for link in links
            ),
            links_left=len(page.links) - len(links),
            nofollow=page.nofollow,
            extra=extra,
        )

    def real(self, url: str) -> str:
        """Return `url` under the real name of its host."""
        if not self.aliases:
            return url
        parts = urlsplit(url)
        host = self.aliases.get(parts.netloc)
        return parts._replace(netloc=host).geturl() if host else url


def with_blocks(report: PageReport, kinds: Mapping[str, str]) -> PageReport:
    """Return a report with the kinds of the blocks that links stand in, by their addresses."""
    links = (replace(link, block=kinds.get(link.url, "")) for link in report.links)
    return replace(report, links=tuple(links))


@dataclass(frozen=True, slots=True)
class Totals:
    """Where a crawl stands.

    Attributes:
        pages: pages crawled, earlier runs of the job included.
        media_pages: relevant pages found.
        media: distinct resources by kind.
        harvest_rate: share of relevant pages among the last 500, in [0, 1].
        waiting: links that may be fetched.
        held: links that wait for a pattern or for their site to be guided.
        patterns: learnt patterns.
        errors: links that could not be had.
        refused: links that were not followed, by reason.
    """

    pages: int = 0
    media_pages: int = 0
    media: Mapping[str, int] = field(default_factory=dict)
    harvest_rate: float = 0.0
    waiting: int = 0
    held: int = 0
    patterns: int = 0
    errors: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """Return the numbers as plain data, for `Totals(**plain)`."""
        return asdict(self)
